"""The text of a configuration as plain values: YAML as kubectl's reader takes it, or JSON.

Rule: sigs.k8s.io/yaml (YAML 1.1 with y/n booleans, no timestamps, no base-60 numbers; keys become texts; only the first
document counts) and Kubernetes' strict JSON. YAML mappings come out with sorted keys, as they do upstream, so that
findings stand in upstream's order.
"""

import json
import math
import re
from typing import Any, Final, NoReturn

import msgspec
import yaml

from kubesched.config.extent import Parser, check_extent
from kubesched.config.field_errors import quoted
from kubesched.errors import ConfigError

__all__ = ["Document", "JsonObject", "parse_document", "parse_value", "write_yaml"]


_MAX_DIGITS: Final = 1000  # of a number; Python itself stops at a few thousand


class Document(msgspec.Struct, frozen=True):
    """A parsed text.

    Attributes:
        value: mappings, lists, texts, numbers, booleans, None.
        duplicate_keys: a sentence for each repeated key of a YAML text; JSON objects keep theirs (`JsonObject`).
    """

    value: Any
    duplicate_keys: tuple[str, ...] = ()


class JsonObject(dict[str, Any]):
    """A JSON object, the last of repeated keys winning; `duplicates` are the keys that were repeated."""

    duplicates: tuple[str, ...] = ()


def parse_document(text: str) -> Document:
    """Read the first YAML document, or the JSON object, of a text; one that begins with a brace has to be JSON.

    Raises:
        ConfigError: neither; upstream's text for YAML.
    """
    return _parse_json(text) if text.lstrip().startswith("{") else _parse_yaml(text)


def parse_value(text: str) -> Document:
    """Read JSON, or else YAML, `{a: b}` too, which upstream does not know.

    Raises:
        ConfigError: neither.
    """
    try:
        return parse_document(text)
    except ConfigError:
        return _parse_yaml(text)


def _parse_json(text: str) -> Document:
    try:
        value = json.loads(
            text, object_pairs_hook=_json_object, parse_int=_parse_integer, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ConfigError("couldn't get version/kind; json parse error: exceeded max depth") from None
    except ValueError as error:
        raise ConfigError(f"couldn't get version/kind; json parse error: {error}") from None
    return Document(value)


def _parse_integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits is out of any range")
    return int(digits)


def _json_object(pairs: list[tuple[str, Any]]) -> JsonObject:
    result = JsonObject(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        result.duplicates = tuple(dict.fromkeys(key for key in keys if keys.count(key) > 1))
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _parse_yaml(text: str) -> Document:
    try:
        check_extent(text)
        loader = _Loader(text)
        try:
            value = loader.get_data() if loader.check_data() else None
            return Document(value, tuple(loader.duplicate_keys))
        finally:
            loader.dispose()
    except RecursionError:
        raise ConfigError("yaml: exceeded max depth") from None
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"yaml: {_place(error)}{error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"yaml: {str(error).splitlines()[0]}") from None


def _place(error: yaml.MarkedYAMLError) -> str:
    """The line as upstream counts it: what the parser misses, it reports one line early."""
    mark = error.problem_mark or error.context_mark
    line = mark.line if mark else 0
    if isinstance(error, yaml.parser.ParserError):
        return f"line {line}: " if line else ""
    return f"line {line + 1}: "


_TAG: Final = "tag:yaml.org,2002:"
_TRUE: Final = frozenset(("y", "yes", "true", "on"))
_BOOLEAN = re.compile("y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF")
_INTEGER = re.compile(r"[-+]?(0b[01_]+|0o?[0-7_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?")


class _Loader(Parser):  # type: ignore[misc, valid-type]
    """Reads scalars, keys and repeated keys as kubectl's reader does."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.duplicate_keys: list[str] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        self.flatten_mapping(node)
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            name = _key_text(key, key_node)
            if name in result:
                shown = quoted(key) if isinstance(key, str) else name
                self.duplicate_keys.append(f"line {key_node.start_mark.line + 1}: key {shown} already set in map")
            result[name] = self.construct_object(value_node, deep=True)
        return dict(sorted(result.items()))


def _construct_map(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    return loader.construct_mapping(node)


def _construct_seq(loader: _Loader, node: yaml.SequenceNode) -> list[Any]:
    return [loader.construct_object(child, deep=True) for child in node.value]


def _construct_bool(loader: _Loader, node: yaml.ScalarNode) -> bool:
    return loader.construct_scalar(node).lower() in _TRUE


def _construct_int(loader: _Loader, node: yaml.ScalarNode) -> int | float | str:
    digits = loader.construct_scalar(node).replace("_", "")
    octal = re.fullmatch(r"([-+]?)0([0-7]+)", digits)
    try:
        return int(f"{octal[1]}0o{octal[2]}" if octal else digits, 0)
    except ValueError:  # Python refuses thousands of digits, and there are none in `0b_`
        return _construct_float(loader, node)


def _construct_float(loader: _Loader, node: yaml.ScalarNode) -> int | float | str:
    """A number; a text where it is none that JSON has."""
    text: str = loader.construct_scalar(node)
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return int(number) if number.is_integer() else number


def _construct_text(loader: _Loader, node: yaml.ScalarNode) -> str:
    text: str = loader.construct_scalar(node)
    return text


def _key_text(key: object, node: yaml.Node) -> str:
    """A key as JSON has it: true, 1 and 1.5 become texts; null, lists and mappings are no keys."""
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int | float):
        return str(key)
    raise yaml.constructor.ConstructorError(None, None, "a key has to be a text", node.start_mark)


def write_yaml(value: object) -> str:
    """Write plain values as a YAML text that kubectl's reader and this one read back as they were."""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, width=4096)
    return text


class _Dumper(yaml.SafeDumper):
    """Quotes every text that the reader would take for something else, such as `y` and `1e3`; repeats shared values."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Text of several lines stands as it is, below a `|`, where YAML allows that."""
    return dumper.represent_scalar(f"{_TAG}str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)
for _name, _pattern, _first in (
    ("bool", _BOOLEAN, "yYnNtTfFoO"),
    ("int", _INTEGER, "-+0123456789"),
    ("float", _FLOAT, "-+0123456789."),
    ("null", re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
    ("merge", re.compile("<<"), "<"),
):
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"(?:{_pattern.pattern})$"), list(_first))
for _name, _constructor in (
    ("map", _construct_map),
    ("seq", _construct_seq),
    ("bool", _construct_bool),
    ("int", _construct_int),
    ("float", _construct_float),
    ("timestamp", _construct_text),
):
    _Loader.add_constructor(f"{_TAG}{_name}", _constructor)
