"""Named formats: `format.dns1123Label().validate("a")` has the errors of a text.

Rule: Kubernetes v1.36 CEL library "format", on k8s.io/apimachinery validation.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Final

from kubesched.cel.cel_values import NONE, OptionalValue, register_type
from kubesched.cel.library.costs import tenth
from kubesched.cel.library.time_texts import parse_moment
from kubesched.cel.library.urls import url_problem
from kubesched.cel.overloads import FunctionTable

NAME_FORMATS = FunctionTable()
declare = NAME_FORMATS.declare


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format of texts.

    Attributes:
        problems: what is wrong with a text.
        cost: of ten characters.
    """

    name: str
    problems: Callable[[str], list[str]]
    cost: int

    def validate(self, text: str) -> OptionalValue:
        """The problems of a text, none if there is no problem."""
        problems = self.problems(text)
        return OptionalValue(problems, is_there=True) if problems else NONE


register_type(NamedFormat, "kubernetes.NamedFormat")

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_DNS_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_ALPHANUMERIC: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)


def _explained(rule: str, pattern: str, *examples: str) -> str:
    """A rule with examples, and the pattern that checks it."""
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"


_WORDS: Final = {
    "label": _explained(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character",
        _LABEL,
        "my-name",
        "123-abc",
    ),
    "subdomain": _explained(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character",
        _SUBDOMAIN,
        "example.com",
    ),
    "dns1035": _explained(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character",
        _DNS_1035,
        "my-name",
        "abc-123",
    ),
    "name": _explained(_ALPHANUMERIC, _NAME, "MyName", "my.name", "123-abc"),
    "value": _explained(
        f"a valid label must be an empty string or {_ALPHANUMERIC.removeprefix('must ')}",
        f"({_NAME})?",
        "MyValue",
        "my_value",
        "12345",
    ),
}


def _name_problems(pattern: str, words: str, most: int, text: str) -> list[str]:
    too_long = [f"must be no more than {most} characters"] if len(text.encode()) > most else []
    return too_long if re.fullmatch(pattern, text, re.ASCII) else [*too_long, words]


def _name(pattern: str, words: str, most: int, *, is_prefix: bool = False) -> Callable[[str], list[str]]:
    """A format of names; the beginning of one may end with a dash."""

    def problems(text: str) -> list[str]:
        whole = f"{text[:-1]}a" if is_prefix and text.endswith("-") and len(text) > 1 else text
        return _name_problems(pattern, _WORDS[words], most, whole)

    return problems


def _qualified_name_problems(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_WORDS['name']} {optional}"]
    problems = []
    if slash and not prefix:
        problems = ["prefix part must be non-empty"]
    elif slash:
        problems = [
            f"prefix part {problem}" for problem in _name_problems(_SUBDOMAIN, _WORDS["subdomain"], 253, prefix)
        ]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        problems.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_NAME, name, re.ASCII):
        problems.append(f"name part {_WORDS['name']}")
    return problems


def _label_value_problems(text: str) -> list[str]:
    too_long = ["must be no more than 63 bytes"] if len(text.encode()) > 63 else []
    return too_long if re.fullmatch(f"({_NAME})?", text, re.ASCII) else [*too_long, _WORDS["value"]]


def _uri_problems(text: str) -> list[str]:
    problem = url_problem(text)
    return [problem] if problem else []


def _uuid_problems(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte_problems(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return ["invalid base64"]
    return [] if text else ["invalid base64"]


def _date_problems(text: str) -> list[str]:
    try:
        date.fromisoformat(text)
    except ValueError:
        return ["invalid date"]
    return [] if _DATE.fullmatch(text) else ["invalid date"]


def _datetime_problems(text: str) -> list[str]:
    return [] if parse_moment(text.upper()) else ["invalid datetime"]


_FORMATS: Final = {
    name: NamedFormat(name, problems, cost)
    for name, problems, cost in (
        ("dns1123Label", _name(_LABEL, "label", 63), 8),
        ("dns1123Subdomain", _name(_SUBDOMAIN, "subdomain", 253), 15),
        ("dns1035Label", _name(_DNS_1035, "dns1035", 63), 8),
        ("dns1123LabelPrefix", _name(_LABEL, "label", 63, is_prefix=True), 8),
        ("dns1123SubdomainPrefix", _name(_SUBDOMAIN, "subdomain", 253, is_prefix=True), 15),
        ("dns1035LabelPrefix", _name(_DNS_1035, "dns1035", 63, is_prefix=True), 8),
        ("qualifiedName", _qualified_name_problems, 15),
        ("labelValue", _label_value_problems, 10),
        ("uri", _uri_problems, 276),
        ("uuid", _uuid_problems, 18),
        ("byte", _byte_problems, 21),
        ("date", _date_problems, 18),
        ("datetime", _datetime_problems, 18),
    )
}


def _declare_format(named: NamedFormat) -> None:
    declare(f"format.{named.name}() -> kubernetes.NamedFormat")(lambda: named)


for _format in _FORMATS.values():
    _declare_format(_format)


@declare("format.named(string) -> optional_type(kubernetes.NamedFormat)")
def _named(name: str) -> OptionalValue:
    return OptionalValue(_FORMATS[name], is_there=True) if name in _FORMATS else NONE


def _cost_of_validation(named: NamedFormat, text: str, _result: OptionalValue) -> int:
    return named.cost * tenth(len(text) + 1)


declare("kubernetes.NamedFormat: validate(string) -> optional_type(list(string))", cost=_cost_of_validation)(
    NamedFormat.validate
)
