"""Finds what Go's JSON decoder rejects in the syntax of an answer, and words it as the decoder does.

Rule: encoding/json of Go 1.26, with which kube-scheduler v1.36 is built: bytes up to the end of the first value count.
"""

import re
from typing import Final

_MAX_DEPTH: Final = 10_000
_VALUE: Final = "looking for beginning of value"
_KEY: Final = "looking for beginning of object key string"
_AFTER_KEY: Final = "after object key"
_AFTER: Final = {b"": "", b"{": "after object key:value pair", b"[": "after array element"}
_CLOSING: Final = {b"{": b"}", b"[": b"]"}

_SPACE: Final = re.compile(rb"[ \t\r\n]*+")
# (?>...) instead of )*+ and )?+: a possessive group that matches in part stays there in CPython 3.11.2
_TEXT: Final = rb'"(?>(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)'
_INTEGER: Final = rb"-?(?:0|[1-9][0-9]*+)"
_SCALAR: Final = re.compile(
    _TEXT + rb'"|' + _INTEGER + rb"(?:\.[0-9]++|(?!\.))(?:[eE][+-]?+[0-9]++|(?![eE]))|true|false|null"
)
_UNFINISHED: Final = [
    (re.compile(begin + rb"(?!" + allowed + rb")"), where)
    for begin, allowed, where in [
        (_TEXT, rb'["\\]', "in string literal"),
        (_TEXT + rb"\\", rb'["\\/bfnrtu]', "in string escape code"),
        (_TEXT + rb"\\u[0-9a-fA-F]{0,3}+", rb"[0-9a-fA-F]", "in \\u hexadecimal character escape"),
        (rb"-", rb"[0-9]", "in numeric literal"),
        (_INTEGER + rb"\.", rb"[0-9]", "after decimal point in numeric literal"),
        (_INTEGER + rb"(?>(?:\.[0-9]++)?)[eE][+-]?+", rb"[0-9]", "in exponent of numeric literal"),
        *(
            (word[:n].encode(), word[n].encode(), f"in literal {word} (expecting '{word[n]}')")
            for word in ("true", "false", "null")
            for n in range(1, len(word))
        ),
    ]
]
_ESCAPES: Final = dict(zip(b"\a\b\t\n\v\f\r\\'", (rf"\{c}" for c in "abtnvfr\\'"), strict=True))


def syntax_error(text: bytes) -> str:
    """Why Go rejects the syntax of the first value of a text; empty where Go accepts it."""
    state, stack, i, is_empty = _VALUE, [b""], 0, False
    while True:
        i = _end(_SPACE, text, i)
        character, inside = text[i : i + 1], stack[-1]
        if not character:
            return "unexpected EOF" if text.strip(b" \t\r\n") else "EOF"
        if (is_empty or state == _AFTER[inside]) and character == _CLOSING[inside]:
            stack.pop()
            state, end = _AFTER[stack[-1]], i + 1
        elif state == _VALUE and character in b"{[":
            if len(stack) > _MAX_DEPTH:
                return _invalid(text, i, "exceeded max depth")
            stack.append(character)
            state, i, is_empty = _KEY if character == b"{" else _VALUE, i + 1, True
            continue
        elif state == _VALUE or (state == _KEY and character == b'"'):
            end = _end(_SCALAR, text, i)
            if end < 0:
                return _unfinished(text, i)
            state = _AFTER_KEY if state == _KEY else _AFTER[inside]
        elif state == _AFTER_KEY and character == b":":
            state, end = _VALUE, i + 1
        elif state == _AFTER[inside] and character == b",":
            state, end = _KEY if inside == b"{" else _VALUE, i + 1
        else:
            return _invalid(text, i, state)
        if not state:
            return ""
        i, is_empty = end, False


def _end(pattern: re.Pattern[bytes], text: bytes, i: int) -> int:
    match = pattern.match(text, i)
    return match.end() if match else -1


def _unfinished(text: bytes, i: int) -> str:
    for pattern, where in _UNFINISHED:
        end = _end(pattern, text, i)
        if end >= 0:
            return _invalid(text, end, where) if end < len(text) else "unexpected EOF"
    return _invalid(text, i, _VALUE)


def _invalid(text: bytes, i: int, where: str) -> str:
    code, character = text[i], chr(text[i])
    escape = _ESCAPES.get(code) or (f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}")
    is_plain = character.isprintable() and code not in _ESCAPES
    return f"invalid character '{character if is_plain else escape}' {where}"
