"""Replaces the names in CEL expressions, and leaves the grammar.

A word of CEL stays where the grammar has it: a function before its parenthesis, a field of `device`, a literal such as
true. The same word in a string, in a comment, or as the name of an attribute is somebody's name and is replaced.
"""

import re
from collections.abc import Callable
from typing import Final

from kubesched.capture.kubernetes_words import is_amount
from kubesched.capture.replaced_words import WORD

_DOMAIN: Final = "resource.kubernetes.io"
_DEFINED_ATTRIBUTES: Final = frozenset((_DOMAIN, "pciBusID", "pcieRoot"))
"""Attributes of devices that Kubernetes defines, and their domain."""
_DEVICE_FIELDS: Final = frozenset(("allowMultipleAllocations", "attributes", "capacity", "driver"))
_BARE_WORDS: Final = frozenset(
    (
        *("device", "sets", "cel", "true", "false", "null", "in"),
        *("int", "uint", "double", "bool", "string", "bytes", "list", "map", "type", "null_type"),
    )
)
_FUNCTIONS: Final = frozenset(
    (
        *("has", "bind", "dyn", "type", "size", "optional", "of", "none", "value", "or", "orValue", "hasValue"),
        *("optMap", "optFlatMap", "ofNonZeroValue", "int", "uint", "double", "bool", "string", "bytes"),
        *("duration", "timestamp", "all", "exists", "exists_one", "filter", "map", "matches", "contains"),
        *("startsWith", "endsWith", "split", "join", "replace", "substring", "trim", "charAt", "indexOf", "format"),
        *("lowerAscii", "upperAscii", "lastIndexOf", "quantity", "isQuantity", "isInteger", "asInteger"),
        *("asApproximateFloat", "sign", "add", "sub", "compareTo", "isGreaterThan", "isLessThan", "semver"),
        *("isSemver", "major", "minor", "patch", "sum", "min", "max", "find", "findAll", "isSorted"),
        *("intersects", "equivalent", "in"),
    )
)
_STRING: Final = r"""
    "{3}(?:\\.|[^\\])*?(?:"{3}|\Z) | '{3}(?:\\.|[^\\])*?(?:'{3}|\Z) | "(?:\\.|[^"\\])*"? | '(?:\\.|[^'\\])*'?
"""
_TOKEN: Final = re.compile(
    rf"""
    (?P<function>(?:isQuantity|quantity|isSemver|semver|duration|timestamp|int|uint|double)\s*\(\s*)(?P<amount>{_STRING})
    | (?P<prefix>[rRbB]{{0,2}})(?P<string>{_STRING})
    | (?P<comment>//[^\n]*)
    | (?P<index>\]\s*)?(?P<dot>\.\s*\??\s*)?(?P<word>\w+)(?P<call>\s*\()?
    """,
    re.VERBOSE | re.DOTALL,
)


def replaced_expression(expression: str, text: Callable[[str], str]) -> str:
    """A CEL expression with other names; what cannot be read as CEL is replaced like a name.

    Rule: the variables and libraries that selectors of DeviceClasses and claims have, Kubernetes v1.36.

    Args:
        text: the replacement of a text.
    """
    return _TOKEN.sub(lambda token: _replaced_token(token, text), expression)


def replaced_string(string: str, text: Callable[[str], str]) -> str:
    """A string that an expression has or compares, such as the name of a driver."""
    is_attribute = string.startswith(f"{_DOMAIN}/") or string in _DEFINED_ATTRIBUTES
    return replaced_attribute(string, text) if is_attribute else text(string)


def replaced_amounts(string: str, text: Callable[[str], str]) -> str:
    """A version, quantity or time: its numbers stay, so that they keep their order."""
    return WORD.sub(lambda word: word[0] if is_amount(word[0]) else text(word[0]), string)


def replaced_attribute(name: str, text: Callable[[str], str]) -> str:
    """The name of an attribute or capacity of a device, with or without its domain."""
    return "".join(part if part in _DEFINED_ATTRIBUTES else text(part) for part in name.rpartition("/"))


def _replaced_token(token: re.Match[str], text: Callable[[str], str]) -> str:
    if token["comment"] is not None:
        return WORD.sub(lambda word: text(word[0]), token[0])
    if token["function"] is not None:
        return token["function"] + replaced_amounts(token["amount"], text)
    if (string := token["string"]) is not None:
        content = string.strip("\"'")
        return token["prefix"] + string.replace(content, replaced_string(content, text), 1)
    before, dot, word, call = token["index"] or "", token["dot"] or "", token["word"], token["call"] or ""
    return f"{before}{dot}{_replaced_word(word, bool(before), bool(dot), bool(call), text)}{call}"


def _replaced_word(word: str, is_indexed: bool, is_member: bool, is_call: bool, text: Callable[[str], str]) -> str:
    if word[0].isdigit():
        return replaced_amounts(word, text)
    if is_call:
        return word if word in _FUNCTIONS else text(word)
    if is_member:
        return word if word in _DEVICE_FIELDS and not is_indexed else replaced_attribute(word, text)
    return word if word in _BARE_WORDS else text(word)
