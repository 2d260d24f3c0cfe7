"""A pod's requirements on node labels and names, parsed once per distinct wording and judged over columns.

NodeAffinity filters and scores by it; PodTopologySpread counts only nodes that it allows. Rule: kube-scheduler v1.36
component-helpers nodeaffinity: terms are ORed; an empty term matches nothing; a term that does not parse matches
nothing either, and its fault is reported only where no other term matches.
"""

from collections.abc import Iterable

import msgspec
import numpy as np

from kubesched.api import (
    AffinityToNodes,
    Node,
    ParsedNodeTerm,
    PreferredSchedulingTerm,
    Requirement,
    parse_node_term,
)
from kubesched.engine import BoolVector, IntVector
from kubesched.errors import SelectorError
from kubesched.state import NodeChoice, Nodes, NodeTerms, Part


class RequiredNodeAffinity:
    """spec.nodeSelector and the required node affinity of a pod: both must hold.

    Attributes:
        pairs: a requirement for each pair of the node selector, taken as written: its syntax is not checked.
        terms: the required terms; None where there is no such field, which allows every node.
    """

    __slots__ = ("pairs", "terms")

    def __init__(self, node_selector: Iterable[tuple[str, str]], affinity: AffinityToNodes | None) -> None:
        self.pairs = tuple(Requirement(key, "In", (value,)) for key, value in node_selector)
        required = affinity.required if affinity else None
        self.terms = None if required is None else NodeTerms(required)

    @property
    def faults(self) -> list[str]:
        """What is wrong with terms that do not parse."""
        return self.terms.faults if self.terms else []

    def matches(self, nodes: Nodes) -> BoolVector:
        """(nodes,) bool: nodes that the pod allows."""
        allowed = np.ones(len(nodes), dtype=np.bool_) if self.terms is None else self.terms.matches(nodes)
        for pair in self.pairs:
            allowed &= nodes.satisfying(pair)
        return allowed

    def matches_node(self, node: Node) -> bool:
        """Whether the pod allows a node object."""
        has_pairs = all(pair.matches(node.labels) for pair in self.pairs)
        return has_pairs and (self.terms is None or self.terms.matches_node(node))


def required_node_affinity(choice: Part[NodeChoice]) -> RequiredNodeAffinity | None:
    """The parsed requirements of a pod; None where it has none, so that every node will do."""
    value = choice.value
    if not value.node_selector and (value.affinity is None or value.affinity.required is None):
        return None
    parsed: RequiredNodeAffinity | None = choice.compiled.get(RequiredNodeAffinity)
    if parsed is None:
        parsed = choice.compiled[RequiredNodeAffinity] = RequiredNodeAffinity(value.node_selector, value.affinity)
    return parsed


class PreferredTerms(msgspec.Struct):
    """Node selector terms that earn points.

    Attributes:
        weighted: (weight, term) of each.
        faults: what is wrong with those that do not parse.
    """

    weighted: list[tuple[int, ParsedNodeTerm]] = []
    faults: list[str] = []

    def score(self, nodes: Nodes) -> IntVector:
        """(nodes,) int64: the sum of the weights of the matching terms."""
        total = np.zeros(len(nodes), dtype=np.int64)
        for weight, term in self.weighted:
            total += nodes.matching(term) * np.int64(weight)
        return total


def parse_preferred(terms: Iterable[PreferredSchedulingTerm]) -> PreferredTerms:
    """Parse preferred terms; those of weight 0 and empty ones are dropped unread."""
    parsed = PreferredTerms()
    for i, term in enumerate(terms):
        if term.weight and not term.preference.is_empty:
            try:
                parsed.weighted.append((term.weight, parse_node_term(term.preference, f"[{i}].")))
            except SelectorError as error:
                parsed.faults += error.faults
    return parsed
