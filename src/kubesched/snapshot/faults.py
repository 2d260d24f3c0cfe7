"""What is wrong with a piece of JSON, in one sentence: the field, what was found, what is allowed."""

import re
from typing import Any, Final

import msgspec

__all__ = ["describe_fault", "first_null", "shorten"]

_PLACED: Final = re.compile(r"(?P<what>.*?)(?: - at (?:`key` in )?`\$\.?(?P<path>.*)`)?", re.DOTALL)
_EXPECTED: Final = re.compile(r"Expected `(?P<expected>[^`]*)`, got `(?P<got>[^`]*)`")
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]|\[(\.\.\.)\]")
_WORDS: Final = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "a map",
    "array": "a list",
    "null": "null",
}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
_MAX_SHOWN: Final = 60


def shorten(value: object) -> str:
    """The value as JSON, cut where it gets long."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def describe_fault(error: BaseException, raw: bytes) -> str:
    """Say what msgspec did not like about some JSON.

    Args:
        error: what the decoder raised.
        raw: the JSON that it was given.
    Returns: `spec.nodeName: found 5; allowed is a text`, or what is wrong with the JSON itself.
    """
    if isinstance(error, UnicodeDecodeError):
        return "a text in it is no UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    placed = _PLACED.fullmatch(str(error))
    what, path = (placed["what"], placed["path"] or "") if placed else (str(error), "")
    expected = _EXPECTED.match(what)
    if expected is None:
        return _as_said(path, what)
    allowed = [name.strip() for name in expected["expected"].split("|")]
    try:
        path, found = _find(raw, path, allowed)
    except (msgspec.DecodeError, UnicodeDecodeError) as worse:  # where the first decoder did not look
        return describe_fault(worse, raw)
    except (LookupError, TypeError, AttributeError, StopIteration):  # under a key that comes again, with another value
        return _as_said(path, what)
    words = " or ".join(_WORDS.get(name, name) for name in allowed)
    where = f"{path}: " if path else ""
    return f"{where}found {shorten(found)}; allowed is {words}"


def _as_said(path: str, what: str) -> str:
    path = path.replace("[...]", "")
    return f"{path}: {what[:1].lower()}{what[1:]}" if path else what


def first_null(error: BaseException) -> str:
    """The path of the field that is null where it may not be; empty when that is not the fault."""
    placed = _PLACED.fullmatch(str(error))
    if placed is None or not placed["what"].endswith("got `null`") or "..." in (placed["path"] or "..."):
        return ""
    return placed["path"]


def _find(raw: bytes, path: str, allowed: list[str]) -> tuple[str, Any]:
    """The value at a path; `[...]`, which stands for any key of a map, becomes the first key with a wrong value."""
    value = msgspec.json.decode(raw)
    named = ""
    for step in _STEP.finditer(path):
        name, index, _ = step.groups()
        if name is not None:
            value, named = value[name], f"{named}.{name}" if named else name
        elif index is not None:
            value, named = value[int(index)], f"{named}[{index}]"
        else:
            key = _first_wrong(value, allowed)
            value, named = value[key], f"{named}.{key}"
    return named, value


def _first_wrong(values: dict[str, Any], allowed: list[str]) -> str:
    types = tuple(t for name in allowed for t in _TYPES.get(name, ()))
    for key, value in values.items():
        if not isinstance(value, types) or (isinstance(value, bool) and "bool" not in allowed):
            return key
    return next(iter(values))
