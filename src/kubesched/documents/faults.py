"""Describes what is wrong with a document in one sentence: the field, what is expected, what was found.

Only this module reads the texts of msgspec.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

_LOCATED: Final = re.compile(r"(?P<what>.*?)(?: - at (?:`key` in )?`\$\.?(?P<path>[^`]*)`)?", re.DOTALL)
_EXPECTED: Final = re.compile(r"Expected `(?P<type>[^`]*)`(?P<bound> [<>]=? -?\d+)?(?:, got `(?P<got>[^`]*)`)?")
_MISSING: Final = re.compile(r"Object missing required field `(?P<name>[^`]*)`")
_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_WORDS: Final = {
    "array": "a list",
    "bool": "true or false",
    "duration": "a duration such as 15s or 1m30s",
    "float": "a number",
    "int": "an integer",
    "null": "null",
    "object": "an object",
    "str": "a string",
}
_BOUNDS: Final = {"<": "below", "<=": "of at most", ">": "above", ">=": "of at least"}
_KINDS: Final = {bool: "bool", int: "int", float: "float", str: "str", list: "array", type(None): "null"}
_MAX_SHOWN: Final = 60
_NOTHING: Final = object()


class Fault(NamedTuple):
    """A fault and its place, such as `spec.nodeName` and `expected a string, found 5`; the root's path is empty."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


def shorten(value: object) -> str:
    """The value as JSON, cut where it gets long; what JSON does not have as its repr."""
    text = msgspec.json.encode(value, enc_hook=repr).decode()
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def describe_json_fault(error: BaseException, raw: bytes) -> Fault:
    """Describe why some JSON did not decode.

    Args:
        error: what the decoder raised.
        raw: the JSON that it was given.
    """
    if not str(error).startswith("Expected"):
        return describe_fault(error)
    try:
        return describe_fault(error, msgspec.json.decode(raw))
    except (msgspec.DecodeError, UnicodeDecodeError) as worse:  # where the first decoder did not look
        return describe_fault(worse)


def describe_fault(error: BaseException, document: Any = _NOTHING) -> Fault:
    """Describe why a value did not become a struct.

    Args:
        error: what msgspec raised.
        document: the plain values that it was given; without them the fault shows none, because they may be secret.
    """
    if isinstance(error, UnicodeDecodeError):
        return Fault("", "it has a string that is not valid UTF-8")
    if isinstance(error, RecursionError):
        return Fault("", "it is nested too deeply")
    what, path = _located(error)
    if missing := _MISSING.fullmatch(what):
        return Fault(f"{path}.{missing['name']}".lstrip("."), "Required value")
    expected, known_path = _EXPECTED.fullmatch(what), path.replace("[...]", "")
    if expected is None:
        return Fault(known_path, f"{what[:1].lower()}{what[1:]}" if known_path else what)
    wanted, got = _wanted(expected["type"], expected["bound"]), expected["got"]
    met = _find(document, path, got)
    if met is None:
        return Fault(known_path, f"expected {wanted}" + (f", found {_WORDS[got]}" if got else ""))
    path, value = met
    advice = "; put it in quotes" if expected["type"] == "str" and isinstance(value, bool | int | float) else ""
    return Fault(path, f"expected {wanted}, found {shorten(value)}{advice}")


def null_field(error: BaseException) -> str:
    """The path of the field that is null where it may not be; empty when that is not the fault."""
    what, path = _located(error)
    return path if what.endswith("got `null`") and "..." not in path else ""


def _located(error: BaseException) -> tuple[str, str]:
    """Msgspec's message without the place, and the place."""
    located = _LOCATED.fullmatch(str(error))
    return (located["what"], located["path"] or "") if located else (str(error), "")


def _wanted(kind: str, bound: str | None) -> str:
    members = [member.strip() for member in kind.split("|")]
    kinds = [m for m in members if m != "null" and not (m == "int" and "float" in members)]
    wanted = " or ".join(_WORDS.get(member, member) for member in kinds or members)
    if not bound:
        return wanted
    relation, limit = bound.split()
    return f"{wanted} {_BOUNDS[relation]} {limit}"


def _find(document: Any, path: str, got: str | None) -> tuple[str, Any] | None:
    """The value at a path of msgspec's, and its own path; None if another value is there, as under a repeated key.

    For any key of a map msgspec writes `[...]`: there it is the first value of the kind that it met.
    """
    candidates = _candidates(document, _STEP.findall(path), "")
    return next((one for one in candidates if got not in _KINDS.values() or _kind_of(one[1]) == got), None)


def _candidates(value: Any, steps: list[tuple[str, str]], path: str) -> Iterator[tuple[str, Any]]:
    if not steps:
        if value is not _NOTHING:
            yield path, value
        return
    (name, index), *rest = steps
    if isinstance(value, dict):
        for key in value if index == "..." else [name] if name in value else []:
            yield from _candidates(value[key], rest, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list) and index.isdecimal() and int(index) < len(value):
        yield from _candidates(value[int(index)], rest, f"{path}[{index}]")


def _kind_of(value: object) -> str:
    """The kind of a value in msgspec's words."""
    return "object" if isinstance(value, dict) else _KINDS.get(type(value), "")
