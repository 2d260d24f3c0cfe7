"""Splits the text of an expression into tokens, and reads the values of literals.

Rule: the lexer of CEL's grammar (cel-spec, "Syntax"), with the errors of cel-go v0.26.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from kubesched.cel.cel_values import Uint
from kubesched.cel.compile_errors import SourceErrors

_ESCAPE: Final = r"""\\(?:[abfnrtv\\"'`?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"""
_STRING: Final = "|".join(
    [
        r'[rR]"""[\s\S]*?"""',
        r"[rR]'''[\s\S]*?'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
    ]
)
_TOKEN: Final = re.compile(
    rf"""(?P<SPACE>(?:[\t\n\f\r ]|//[^\n]*)+)
    |(?P<NUM_FLOAT>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
    |(?P<NUM_UINT>(?:0x[0-9a-fA-F]+|\d+)[uU])
    |(?P<NUM_INT>0x[0-9a-fA-F]+|\d+)
    |(?P<BYTES>[bB](?:{_STRING}))
    |(?P<STRING>{_STRING})
    |(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<QUOTED>`[A-Za-z0-9_.\-/ ]+`)
    |(?P<OPERATOR>==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()\[\]{{}}])""",
    re.VERBOSE | re.ASCII,
)
_ESCAPED: Final = re.compile(_ESCAPE)
_PARTIAL_ESCAPE: Final = r"(?:\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?)?"
_BROKEN_STRING: Final = rf"""(?:"(?:{_ESCAPE}|[^\\"\n\r])*|'(?:{_ESCAPE}|[^\\'\n\r])*){_PARTIAL_ESCAPE}"""
_BROKEN: Final = re.compile(rf"[rRbB]{{0,2}}{_BROKEN_STRING}(?:[^\n]|$)|[&|=][^\n]?|[^\n]")
"""The lexer of upstream reads as far as a token could go on, and one character more."""

_SIMPLE: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_WORDS: Final = frozenset({"true", "false", "null", "in"})
_MAX_INT: Final = 2**63 - 1
_MAX_UINT: Final = 2**64 - 1


class TokenKind(Enum):
    """Kinds of tokens, under the names that errors list."""

    NUM_FLOAT = auto()
    NUM_INT = auto()
    NUM_UINT = auto()
    STRING = auto()
    BYTES = auto()
    IDENTIFIER = auto()
    QUOTED = auto()
    OPERATOR = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class CelToken:
    """A word of an expression, and where it is.

    Attributes:
        text: as written, `<EOF>` at the end. Keywords are operators.
    """

    kind: TokenKind
    text: str
    start: int
    end: int


def tokens_of(text: str, errors: SourceErrors) -> list[CelToken]:
    """The tokens of an expression without spaces and comments, with one at the end. Reports what is none."""
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            position = _report(text, position, errors)
            continue
        name, word = str(match.lastgroup), match[0]
        if name != "SPACE":
            kind = TokenKind.OPERATOR if word in _WORDS else TokenKind[name]
            tokens.append(CelToken(kind, word, position, match.end()))
        position = match.end()
    tokens.append(CelToken(TokenKind.END, "<EOF>", len(text), len(text)))
    return tokens


def _report(text: str, position: int, errors: SourceErrors) -> int:
    """Report what is no token, and return where to go on."""
    match = _BROKEN.match(text, position)
    end = match.end() if match else position + 1
    errors.add(position, f"Syntax error: token recognition error at: '{text[position:end]}'")
    return end


def value_of(token: CelToken, sign: str, errors: SourceErrors, at: int) -> int | float | str | bytes:
    """The value of a literal; a number may have a minus before it."""
    match token.kind:
        case TokenKind.NUM_INT:
            return _integer(sign + token.text, -_MAX_INT - 1, _MAX_INT, "int", errors, at)
        case TokenKind.NUM_UINT:
            return Uint(_integer(token.text[:-1], 0, _MAX_UINT, "uint", errors, at))
        case TokenKind.NUM_FLOAT:
            return _double(sign + token.text, errors, at)
        case TokenKind.BYTES:
            return _bytes(token.text[1:])
        case _:
            return _string(token.text, errors, at)


def _integer(text: str, least: int, most: int, kind: str, errors: SourceErrors, at: int) -> int:
    digits = text.lstrip("-")
    value = int(digits, 16) if digits.startswith("0x") else int(digits[:40])
    value = -value if text.startswith("-") else value
    if least <= value <= most and (len(digits) <= 40 or not digits.strip("0")):
        return value
    errors.add(at, f"invalid {kind} literal")
    return 0


def _double(text: str, errors: SourceErrors, at: int) -> float:
    value = float(text)
    if abs(value) == float("inf"):
        errors.add(at, "invalid double literal")
    return value


def _inner(text: str) -> tuple[str, bool]:
    """What is between the quotes, and whether it is raw."""
    is_raw = text[0] in "rR"
    text = text[1:] if is_raw else text
    width = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    return text[width:-width].replace("\r\n", "\n").replace("\r", "\n"), is_raw


def _string(text: str, errors: SourceErrors, at: int) -> str:
    inner, is_raw = _inner(text)
    if is_raw or "\\" not in inner:
        return inner
    try:
        return _ESCAPED.sub(lambda match: _character(match[0]), inner)
    except ValueError:
        errors.add(at, "invalid unicode code point")
        return ""


def _character(escape: str) -> str:
    """The character of an escape sequence."""
    code = _code(escape)
    if code is None:
        return _SIMPLE.get(escape[1], escape[1])
    if 0xD800 <= code < 0xE000:
        raise ValueError(escape)
    return chr(code)


def _code(escape: str) -> int | None:
    """The number in an escape sequence."""
    if escape[1] in "xXuU":
        return int(escape[2:], 16)
    return int(escape[1:], 8) if escape[1].isdigit() else None


def _bytes(text: str) -> bytes:
    inner, is_raw = _inner(text)
    if is_raw:
        return inner.encode()
    parts, last = [], 0
    for match in _ESCAPED.finditer(inner):
        parts += [inner[last : match.start()].encode(), _octets(match[0])]
        last = match.end()
    return b"".join([*parts, inner[last:].encode()])


def _octets(escape: str) -> bytes:
    r"""The bytes of an escape sequence: `\xff` is one byte, `\u00ff` two."""
    code = _code(escape)
    if code is None or escape[1] in "uU":
        return _character(escape).encode()
    return bytes([code])
