"""Writes plain values as YAML that kubectl's reader and ours read back unchanged."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from kubesched.documents.yaml_scalars import Scalar, resolve_plain

_TAG: Final = "tag:yaml.org,2002:"
_NAMES: Final[dict[type, str]] = {str: "str", bool: "bool", int: "int", float: "float", type(None): "null"}
_COMMENT_WIDTH: Final = 100
_NO_COMMENTS: Final[Mapping[str, str]] = {}


def write_yaml(value: object, comments: Mapping[str, str] = _NO_COMMENTS) -> str:
    """Write plain values as a YAML text.

    Args:
        comments: by path, such as `spec.containers[0].image`: written above the field or the item. A comment on a path
            that the value does not have is left out; each of its lines begins a new one.
    """
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, width=4096)
    return _with_comments(text, comments) if comments else text


def _with_comments(text: str, comments: Mapping[str, str]) -> str:
    lines = text.splitlines(keepends=True)
    placed = [(line, comments[path]) for path, line in _places(yaml.compose(text, yaml.SafeLoader)) if path in comments]
    for line, comment in reversed(placed):
        indent = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
        lines[line:line] = [f"{indent}# {words}\n" for words in _wrapped(comment)]
    return "".join(lines)


def _wrapped(comment: str) -> list[str]:
    return [words for line in comment.splitlines() for words in textwrap.wrap(line, _COMMENT_WIDTH)]


def _places(node: yaml.Node | None, path: str = "") -> Iterator[tuple[str, int]]:
    """The path of every field and item, with the line that it starts in."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            field = f"{path}.{key.value}" if path else key.value
            yield field, key.start_mark.line
            yield from _places(value, field)
    elif isinstance(node, yaml.SequenceNode):
        for row, item in enumerate(node.value):
            yield f"{path}[{row}]", item.start_mark.line
            yield from _places(item, f"{path}[{row}]")


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
    return dumper.represent_scalar(f"{_TAG}str", str(text), style="|" if "\n" in text else None)


def _represent_float(dumper: _Dumper, number: float) -> yaml.ScalarNode:
    """Whole numbers are written without a point, as Go writes them and the reader reads them."""
    return dumper.represent_int(int(number)) if number.is_integer() else dumper.represent_float(number)


_Dumper.add_multi_representer(dict, yaml.SafeDumper.represent_dict)  # subclasses of dict and str, as readers make them
_Dumper.add_multi_representer(str, _represent_text)
_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(float, _represent_float)
