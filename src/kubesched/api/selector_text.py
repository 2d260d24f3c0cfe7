"""Parses label selectors as `kubectl get -l` takes them: `tier=front,zone in (a,b),!canary`.

Rule: k8s.io/apimachinery v1.36 labels.Parse: requirements separated by commas, all of which must hold. `key` and `!key`
ask for the label itself; `=`, `==`, `!=`, `in`, `notin`, `>` and `<` compare its value.
"""

import re
from typing import Final

from kubesched.api.selector_faults import requirement_faults
from kubesched.api.selectors import Requirement, Selector
from kubesched.errors import SelectorError

_KEY: Final = r"(?P<key>[^\s!=<>,()]+)"
_FORMS: Final = tuple(
    re.compile(rf"\s*{form}\s*(?:,|$)")
    for form in (
        rf"{_KEY}\s*(?P<operator>==?|!=|<|>)\s*(?P<value>[^\s!=<>,()]*)",
        rf"{_KEY}\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)",
        rf"(?P<operator>!?)\s*{_KEY}",
    )
)
_OPERATORS: Final = {
    "=": "In",
    "==": "In",
    "!=": "NotIn",
    "in": "In",
    "notin": "NotIn",
    ">": "Gt",
    "<": "Lt",
    "": "Exists",
    "!": "DoesNotExist",
}


def parse_selector_text(text: str) -> Selector:
    """Parse a selector; an empty text selects everything.

    Raises:
        SelectorError: a part is not a requirement, or a key or value is not valid.

    Example:
        assert parse_selector_text("tier in (front,back),!canary").matches({"tier": "front"})
    """
    requirements, start = [], 0
    while start < len(text) and text.strip():
        form = next((match for one in _FORMS if (match := one.match(text, start))), None)
        if form is None:
            raise SelectorError(
                f'"{text[start:].strip()}" is not a label requirement; expected for example '
                "pool=spot, pool!=spot, zone in (a,b), gpu or !gpu"
            )
        requirements.append(_requirement(form))
        start = form.end()
    return Selector(tuple(requirements))


def _requirement(form: re.Match[str]) -> Requirement:
    parts = form.groupdict()
    operator = _OPERATORS[parts["operator"]]
    values: tuple[str, ...] = ()
    if "values" in parts:
        values = tuple(value.strip() for value in parts["values"].split(","))
    elif "value" in parts:
        values = (parts["value"],)
    if faults := requirement_faults(parts["key"], operator, values or None):
        raise SelectorError(*faults)
    return Requirement(parts["key"], operator, values)
