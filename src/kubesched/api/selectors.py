"""Label selectors and node selectors: their wire forms, and parsed forms with `matches`.

Rule: k8s.io/apimachinery v0.36 labels.Selector, kube-scheduler v1.36 component-helpers nodeaffinity. A selector that
is null selects nothing; `{}` selects everything. What does not parse raises SelectorError with upstream's field
errors.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from kubesched.api.meta import Value
from kubesched.api.selector_faults import as_int64, field_faults, requirement_faults
from kubesched.errors import SelectorError

_LABEL_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


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


class Selector(msgspec.Struct, frozen=True, eq=False):
    """A parsed LabelSelector.

    Attributes:
        requirements: all of them must hold.
        nothing: true for the null selector, which matches no object.
    """

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether this is `{}`, which selects everything; the null selector is not empty."""
        return not self.nothing and not self.requirements

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels satisfy every requirement."""
        if self.nothing:
            return False
        for requirement in self.requirements:  # no generator: it costs as much as what it runs
            value = labels.get(requirement.key)
            if not requirement.accepts(value):
                return False
        return True


def parse_selector(selector: LabelSelector | None, path: str = "") -> Selector:
    """Parse a LabelSelector; null gives the selector that matches nothing.

    Args:
        path: put before the field of an error, such as `spec.selector.`; upstream has none.
    Raises:
        SelectorError: the first requirement that Kubernetes does not accept, with all its faults.

    Example:
        selector = parse_selector(LabelSelector(match_labels={"app": "web"}))
        assert selector.matches({"app": "web", "tier": "front"})
    """
    if selector is None:
        return Selector(nothing=True)
    pairs = sorted((selector.match_labels or {}).items())
    written = [SelectorRequirement(key, "In", (value,)) for key, value in pairs]
    written += selector.match_expressions or ()
    for one in written:
        if one.operator not in _LABEL_OPERATORS:
            raise SelectorError(f'"{one.operator}" is not a valid label selector operator')
        if faults := requirement_faults(one.key, one.operator, one.values or None, path):
            raise SelectorError(*faults)
    return Selector(tuple(map(_parsed, written)))


class ParsedNodeTerm(msgspec.Struct, frozen=True, eq=False):
    """A parsed NodeSelectorTerm: label requirements and requirements on metadata.name, all ANDed."""

    requirements: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]

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
        SelectorError: what Kubernetes does not accept, of all requirements.
    """
    expressions, fields = term.match_expressions or (), term.match_fields or ()
    faults: list[str] = []
    for i, written in enumerate(expressions):
        faults += requirement_faults(written.key, written.operator, written.values, f"{path}matchExpressions[{i}].")
    for i, written in enumerate(fields):
        faults += field_faults(written.operator, written.values, f"{path}matchFields[{i}].")
    if faults:
        raise SelectorError(*faults)
    return ParsedNodeTerm(tuple(map(_parsed, expressions)), tuple(map(_parsed, fields)))


def _parsed(written: SelectorRequirement) -> Requirement:
    return Requirement(written.key, written.operator, written.values or ())
