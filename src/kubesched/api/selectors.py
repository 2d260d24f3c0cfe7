"""Label selectors and node selectors: their wire forms, and the parsed forms that answer `matches`.

Rule: k8s.io/apimachinery v0.36 labels.Selector, kube-scheduler v1.36 component-helpers nodeaffinity. A selector that is null
selects nothing; `{}` selects everything. A requirement that does not parse raises SelectorError with upstream's field error.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from kubesched.api.meta import Value
from kubesched.api.names import is_label_value, is_qualified_name
from kubesched.errors import SelectorError

__all__ = [
    "LabelSelector",
    "NodeSelector",
    "NodeSelectorTerm",
    "ParsedNodeTerm",
    "PreferredSchedulingTerm",
    "Requirement",
    "Selector",
    "SelectorRequirement",
    "as_int64",
    "parse_node_term",
    "parse_selector",
]

_DECIMAL = re.compile(r"[+-]?[0-9]+")
_INT64: Final = 2**63
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


class SelectorRequirement(Value, frozen=True, gc=False):
    """One entry of matchExpressions or matchFields, as written."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(Value, frozen=True, gc=False):
    """A LabelSelector, as written: matchLabels and matchExpressions are ANDed."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[SelectorRequirement, ...] | None = None


class NodeSelectorTerm(Value, frozen=True, gc=False):
    """One term of a NodeSelector, as written; an empty one matches nothing."""

    match_expressions: tuple[SelectorRequirement, ...] | None = None
    match_fields: tuple[SelectorRequirement, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Neither expressions nor fields."""
        return not self.match_expressions and not self.match_fields


class NodeSelector(Value, frozen=True, gc=False):
    """Terms that are ORed."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class PreferredSchedulingTerm(Value, frozen=True, gc=False):
    """A node selector term that earns `weight` points."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


def as_int64(text: str) -> int | None:
    """The text as a base-10 int64, or None where it is none."""
    if _DECIMAL.fullmatch(text) is None:
        return None
    value = int(text)
    return value if -_INT64 <= value < _INT64 else None


class Requirement:
    """One parsed requirement on a label (or on the field metadata.name).

    Attributes:
        key: the label key.
        operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.
        values: the operands of In and NotIn.
        bound: the operand of Gt and Lt.
    """

    __slots__ = ("bound", "key", "operator", "values")

    def __init__(self, key: str, operator: str, values: tuple[str, ...] = ()) -> None:
        self.key = key
        self.operator = operator
        self.values = frozenset(values)
        self.bound = int(values[0]) if operator in ("Gt", "Lt") else 0

    def accepts(self, value: str | None) -> bool:
        """Whether a label with this value, or without the key (None), satisfies the requirement."""
        operator = self.operator
        if operator == "In":
            return value is not None and value in self.values
        if operator == "NotIn":
            return value is None or value not in self.values
        if operator == "Exists":
            return value is not None
        if operator == "DoesNotExist":
            return value is None
        number = None if value is None else as_int64(value)
        if number is None:
            return False
        return number > self.bound if operator == "Gt" else number < self.bound

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels satisfy the requirement."""
        return self.accepts(labels.get(self.key))


class Selector:
    """A parsed LabelSelector.

    Attributes:
        requirements: all of them must hold.
        nothing: true for the null selector, which matches no object.
    """

    __slots__ = ("nothing", "requirements")

    def __init__(self, requirements: tuple[Requirement, ...] = (), *, nothing: bool = False) -> None:
        self.requirements = requirements
        self.nothing = nothing

    @property
    def is_empty(self) -> bool:
        """Whether this is `{}`, which selects everything; the null selector is not empty."""
        return not self.nothing and not self.requirements

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels satisfy every requirement."""
        if self.nothing:
            return False
        return all(requirement.accepts(labels.get(requirement.key)) for requirement in self.requirements)


def parse_selector(selector: LabelSelector | None, path: str = "") -> Selector:
    """Parse a LabelSelector; null gives the selector that matches nothing.

    Raises:
        SelectorError: a requirement that Kubernetes does not accept.
    """
    if selector is None:
        return Selector(nothing=True)
    pairs = sorted((selector.match_labels or {}).items())
    parsed = [_requirement(SelectorRequirement(key, "In", (value,)), f"{path}matchLabels") for key, value in pairs]
    for i, written in enumerate(selector.match_expressions or ()):
        if written.operator not in _OPERATORS[:4]:
            raise SelectorError(f'"{written.operator}" is not a valid label selector operator')
        parsed.append(_requirement(written, f"{path}matchExpressions[{i}]"))
    return Selector(tuple(parsed))


class ParsedNodeTerm:
    """A parsed NodeSelectorTerm: label requirements and requirements on metadata.name, all ANDed."""

    __slots__ = ("fields", "requirements")

    def __init__(self, requirements: tuple[Requirement, ...], fields: tuple[Requirement, ...]) -> None:
        self.requirements = requirements
        self.fields = fields

    def matches(self, labels: Mapping[str, str], node_name: str) -> bool:
        """Whether a node of this name with these labels satisfies the term."""
        return all(r.matches(labels) for r in self.requirements) and all(
            r.accepts(node_name if r.key == "metadata.name" else "") for r in self.fields
        )


def parse_node_term(term: NodeSelectorTerm, path: str = "") -> ParsedNodeTerm:
    """Parse one node selector term; the caller deals with empty ones, which match nothing.

    Args:
        path: put before the field of an error, such as `nodeSelectorTerms[0].`.
    Raises:
        SelectorError: a requirement that Kubernetes does not accept.
    """
    expressions = tuple(
        _requirement(r, f"{path}matchExpressions[{i}]") for i, r in enumerate(term.match_expressions or ())
    )
    fields = tuple(_field(r, f"{path}matchFields[{i}]") for i, r in enumerate(term.match_fields or ()))
    return ParsedNodeTerm(expressions, fields)


def _requirement(written: SelectorRequirement, path: str) -> Requirement:
    values = written.values or ()
    operator = written.operator
    if operator not in _OPERATORS:
        supported = ", ".join(f'"{name}"' for name in _OPERATORS)
        raise SelectorError(f'{path}.operator: Unsupported value: "{operator}": supported values: {supported}')
    _check_key(written.key, path)
    _check_count(operator, values, path)
    for i, value in enumerate(values):
        if not is_label_value(value):
            raise SelectorError(f'{path}.values[{i}][{written.key}]: Invalid value: "{value}": {_LABEL_VALUE_RULE}')
    return Requirement(written.key, operator, values)


def _check_key(key: str, path: str) -> None:
    if not is_qualified_name(key):
        raise SelectorError(f'{path}.key: Invalid value: "{key}": {_QUALIFIED_NAME_RULE}')


def _check_count(operator: str, values: tuple[str, ...], path: str) -> None:
    check = _COUNTS[operator]
    if operator in ("Gt", "Lt") and len(values) == 1 and as_int64(values[0]) is None:
        detail = "for 'Gt', 'Lt' operators, the value must be an integer"
        raise SelectorError(f'{path}.values[0]: Invalid value: "{values[0]}": {detail}')
    if not check[0](len(values)):
        listed = ",".join(f'"{value}"' for value in values)
        raise SelectorError(f"{path}.values: Invalid value: {f'[{listed}]' if values else 'null'}: {check[1]}")


def _field(written: SelectorRequirement, path: str) -> Requirement:
    values = written.values or ()
    if written.operator not in ("In", "NotIn"):
        raise SelectorError(
            f'{path}.operator: Unsupported value: "{written.operator}": supported values: "In", "NotIn"'
        )
    if len(values) != 1:
        raise SelectorError(f"{path}.values: Required value: must have one element")
    return Requirement(written.key, written.operator, values)


_SET: tuple[Callable[[int], bool], str] = (lambda n: n > 0, "for 'in', 'notin' operators, values set can't be empty")
_NONE: tuple[Callable[[int], bool], str] = (
    lambda n: n == 0,
    "values set must be empty for exists and does not exist",
)
_ONE: tuple[Callable[[int], bool], str] = (
    lambda n: n == 1,
    "for 'Gt', 'Lt' operators, exactly one value is required",
)
_COUNTS: Final = {"In": _SET, "NotIn": _SET, "Exists": _NONE, "DoesNotExist": _NONE, "Gt": _ONE, "Lt": _ONE}

_LABEL_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_QUALIFIED_NAME_RULE: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
