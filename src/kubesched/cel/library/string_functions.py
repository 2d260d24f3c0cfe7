"""Functions of texts: the standard ones, and the extension "strings" of version 2.

Rule: cel-go v0.26 ext.Strings; positions count characters.
"""

from typing import Any

from kubesched.cel.library.costs import MOST_CHARACTERS, check_size, cost_nothing, cost_of_search, cost_of_text, tenth
from kubesched.cel.library.text_format import formatted
from kubesched.cel.overloads import FunctionTable, no_such_overload
from kubesched.errors import CelRuntimeError

STRING_FUNCTIONS = FunctionTable()
declare = STRING_FUNCTIONS.declare

_SPACE = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER = {upper: upper + 32 for upper in range(65, 91)}
_UPPER = {lower: lower - 32 for lower in range(97, 123)}

declare("string: contains(string) -> bool", cost=cost_of_search, is_standard=True)(lambda text, part: part in text)
declare("string: startsWith(string) -> bool", cost=cost_of_text, is_standard=True)(str.startswith)
declare("string: endsWith(string) -> bool", cost=cost_of_text, is_standard=True)(str.endswith)
declare("string: lowerAscii() -> string", cost=cost_of_text)(lambda text: text.translate(_LOWER))
declare("string: upperAscii() -> string", cost=cost_of_text)(lambda text: text.translate(_UPPER))
declare("string: trim() -> string", cost=cost_of_text)(lambda text: text.strip(_SPACE))


def _checked(position: int, most: int) -> int:
    """A position in a text.

    Raises:
        CelRuntimeError: it is outside.
    """
    if not 0 <= position <= most:
        raise CelRuntimeError(f"index out of range: {position}")
    return position


@declare("string: charAt(int) -> string")
def _character(text: str, position: int) -> str:
    return text[_checked(position, len(text)) :][:1]


@declare("string: indexOf(string) -> int", "string: indexOf(string, int) -> int", cost=cost_nothing)
def _index(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise CelRuntimeError(f"index out of range: {offset}")
    return text.find(part, offset)


@declare("string: lastIndexOf(string) -> int", cost=cost_nothing)
def _last_index(text: str, part: str) -> int:
    return text.rfind(part)


@declare("string: lastIndexOf(string, int) -> int", cost=cost_nothing)
def _last_index_before(text: str, part: str, offset: int) -> int:
    if not part:
        return offset
    if offset < 0:
        raise CelRuntimeError(f"index out of range: {offset}")
    return text.rfind(part, 0, offset + len(part)) if offset <= len(text) else -1


@declare("string: substring(int) -> string", cost=cost_of_text)
def _rest(text: str, start: int) -> str:
    return text[_checked(start, len(text)) :]


@declare("string: substring(int, int) -> string", cost=cost_of_text)
def _part(text: str, start: int, end: int) -> str:
    if start > end:
        raise CelRuntimeError(f"invalid substring range. start: {start}, end: {end}")
    return text[_checked(start, len(text)) : _checked(end, len(text))]


@declare("string: replace(string, string) -> string", cost=cost_of_text, grows=True)
@declare("string: replace(string, string, int) -> string", cost=cost_of_text, grows=True)
def _replaced(text: str, old: str, new: str, count: int = -1) -> str:
    times = (text.count(old) if old else len(text) + 1) if count < 0 else count
    check_size(len(text) + times * len(new), MOST_CHARACTERS)
    return text.replace(old, new, max(count, -1))


@declare("string: split(string) -> list(string)", "string: split(string, int) -> list(string)", cost=cost_of_text)
def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if count < 0 or count >= len(text):
        return list(text)
    return [*text[: count - 1], text[count - 1 :]]


@declare("list(string): join() -> string", cost=lambda *values: tenth(len(values[-1])), grows=True)
@declare("list(string): join(string) -> string", cost=lambda *values: tenth(len(values[-1])), grows=True)
def _joined(texts: list[Any], separator: str = "") -> str:
    if any(type(text) is not str for text in texts):
        raise no_such_overload("join", "list")
    check_size(sum(map(len, texts)) + len(texts) * len(separator), MOST_CHARACTERS)
    return separator.join(texts)


declare("string: format(list(dyn)) -> string", cost=cost_of_text, grows=True)(formatted)

_QUOTED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


@declare("strings.quote(string) -> string", cost=cost_of_text, grows=True)
def _quoted(text: str) -> str:
    return '"' + "".join(_QUOTED.get(character, character) for character in text) + '"'
