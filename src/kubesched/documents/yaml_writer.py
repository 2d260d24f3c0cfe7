"""Writes plain values as YAML that kubectl's reader and ours read back unchanged."""

from typing import Any, Final

import yaml

from kubesched.documents.yaml_scalars import Scalar, resolve_plain

_TAG: Final = "tag:yaml.org,2002:"
_NAMES: Final[dict[type, str]] = {str: "str", bool: "bool", int: "int", float: "float", type(None): "null"}


def write_yaml(value: object) -> str:
    """Write plain values as a YAML text."""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, width=4096)
    return text


class _Dumper(yaml.SafeDumper):
    """Quotes every text that the reader would take for something else, such as `y` and `1e3`; repeats shared values."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode and implicit[0]:
            return f"{_TAG}{'merge' if value == '<<' else _NAMES[type(_resolved(value))]}"
        return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]

    def ignore_aliases(self, data: object) -> bool:
        return True


def _resolved(text: str) -> Scalar:
    try:
        return resolve_plain(text)
    except ValueError:
        return 0.0


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Text of several lines is written unchanged, below a `|`, where YAML allows that."""
    return dumper.represent_scalar(f"{_TAG}str", text, style="|" if "\n" in text else None)


def _represent_float(dumper: _Dumper, number: float) -> yaml.ScalarNode:
    """Whole numbers are written without a point, as Go writes them and the reader reads them."""
    return dumper.represent_int(int(number)) if number.is_integer() else dumper.represent_float(number)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(float, _represent_float)
