"""A NodeSelector, parsed once and judged over columns or for one node.

Rule: kube-scheduler v1.36 component-helpers nodeaffinity: terms are ORed; an empty term matches nothing; a term that
does not parse matches nothing either.
"""

import numpy as np

from kubesched.api import Node, NodeSelector, ParsedNodeTerm, parse_node_term
from kubesched.engine import BoolVector
from kubesched.errors import SelectorError
from kubesched.state.nodes import Nodes


class NodeTerms:
    """A parsed NodeSelector.

    Attributes:
        terms: those that can match.
        faults: what is wrong with those that do not parse.
    """

    __slots__ = ("faults", "terms")

    def __init__(self, selector: NodeSelector) -> None:
        self.terms: list[ParsedNodeTerm] = []
        self.faults: list[str] = []
        for i, term in enumerate(selector.node_selector_terms or ()):
            if not term.is_empty:
                try:
                    self.terms.append(parse_node_term(term, f"nodeSelectorTerms[{i}]."))
                except SelectorError as error:
                    self.faults += error.faults

    def matches(self, nodes: Nodes) -> BoolVector:
        """(nodes,) bool: nodes that some term matches."""
        matched = np.zeros(len(nodes), dtype=np.bool_)
        for term in self.terms:
            matched |= nodes.matching(term)
        return matched

    def matches_node(self, node: Node) -> bool:
        """Whether some term matches a node object."""
        return any(term.matches(node.labels, node.name) for term in self.terms)
