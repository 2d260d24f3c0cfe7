"""Reads the text of a configuration into plain values: YAML as kubectl reads it, or Kubernetes' strict JSON.

Only the first document of a YAML text counts. Its mappings come out with sorted keys, as they do upstream, so that
findings are in upstream's order.
"""

import json
from collections.abc import Callable
from typing import Any, Final, NoReturn

import msgspec

from kubesched.documents import RepeatedKey, advice_on_comments, read_yaml
from kubesched.errors import ConfigError, YamlError

_TEMPLATE_MARK: Final = "{{"
_MAX_DIGITS: Final = 1000  # of a number; Python itself stops at a few thousand


class Document(msgspec.Struct, frozen=True):
    """A parsed text.

    Attributes:
        value: mappings, lists, texts, numbers, booleans, None.
        repeated_keys: of a YAML text; JSON objects keep theirs (`JsonObject`).
    """

    value: Any
    repeated_keys: tuple[RepeatedKey, ...] = ()


class JsonObject(dict[str, Any]):
    """A JSON object, the last of repeated keys winning; `duplicates` are the keys that were repeated."""

    duplicates: tuple[str, ...] = ()


def parse_document(text: str) -> Document:
    """Read the first YAML document, or the JSON object, of a text; one that begins with a brace has to be JSON.

    Raises:
        ConfigError: neither; upstream's text for YAML.
    """
    return _with_advice(_parse_json if text.lstrip().startswith("{") else _parse_yaml, text)


def parse_value(text: str) -> Document:
    """Read JSON, or else YAML, `{a: b}` too, which upstream does not know.

    Raises:
        ConfigError: neither.
    """
    try:
        return parse_document(text)
    except ConfigError:
        return _with_advice(_parse_yaml, text)


def _with_advice(parse: Callable[[str], Document], text: str) -> Document:
    try:
        return parse(text)
    except ConfigError as error:
        if _TEMPLATE_MARK not in text:
            raise
        raise ConfigError(
            f"{error}\n  the text has {{{{, as a template of a chart: give what `helm template` prints"
        ) from None


def _parse_json(text: str) -> Document:
    try:
        value = json.loads(
            text, object_pairs_hook=_json_object, parse_int=_parse_integer, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ConfigError("couldn't get version/kind; json parse error: exceeded max depth") from None
    except ValueError as error:
        advice = advice_on_comments(text, getattr(error, "lineno", 0), is_json=True)
        message = f"couldn't get version/kind; json parse error: {error}"
        raise ConfigError("\n  ".join(filter(None, (message, advice)))) from None
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
    raise ValueError(f"{name} is not a JSON number")


def _parse_yaml(text: str) -> Document:
    try:
        document = next(read_yaml(text, sort_keys=True), None)
    except YamlError as error:
        raise ConfigError("\n  ".join(filter(None, (error.upstream, error.advice)))) from None
    if document is None:
        return Document(None)
    return Document(document.value, document.repeated_keys)
