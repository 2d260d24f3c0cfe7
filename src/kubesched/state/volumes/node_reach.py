"""Finds the nodes that can reach a volume: terms over node labels, parsed once, judged for all rows of a table."""

import numpy as np
import numpy.typing as npt

from kubesched.api import NodeSelector, NodeSelectorTerm, ParsedNodeTerm, parse_node_term
from kubesched.engine import BoolVector, IntVector
from kubesched.errors import SelectorError
from kubesched.state.labels import LabelColumn
from kubesched.state.nodes import Nodes


class NodeReach:
    """The required node affinity of a PersistentVolume.

    Rule: kube-scheduler v1.36 component-helpers storage/volume.CheckNodeAffinity: terms are ORed and hold for labels
    only. Fields are not looked at, so that a term of fields alone holds everywhere; an empty term and one that does
    not parse hold nowhere.

    Attributes:
        key, values: set when the affinity is a single term `key In values`; such volumes are found by the
            node's label.
    """

    __slots__ = ("__weakref__", "_terms", "key", "values")

    def __init__(self, required: NodeSelector | None) -> None:
        self._terms: list[ParsedNodeTerm] | None = None  # None: reached from everywhere
        self.key = ""
        self.values: frozenset[str] = frozenset()
        if required is None:
            return
        written = required.node_selector_terms or ()
        self._terms = [term for term in map(_parsed, written) if term is not None]
        if len(self._terms) == 1 and len(self._terms[0].requirements) == 1:
            only = self._terms[0].requirements[0]
            if only.operator == "In":
                self.key, self.values = only.key, only.values

    def rows(self, nodes: Nodes) -> BoolVector:
        """(n,) bool: nodes that reach the volume."""
        if self._terms is None:
            return np.ones(len(nodes), dtype=np.bool_)
        reached = np.zeros(len(nodes), dtype=np.bool_)
        for term in self._terms:
            reached |= nodes.matching(term)
        return reached


def _parsed(term: NodeSelectorTerm) -> ParsedNodeTerm | None:
    if term.is_empty:
        return None
    try:
        return ParsedNodeTerm(parse_node_term(term).requirements, ())
    except SelectorError:
        return None


class ValueIndex:
    """Finds for every row of a table which of some values of a label it has."""

    __slots__ = ("_by_code", "_column", "_generation", "key", "values")

    def __init__(self, key: str, values: list[str]) -> None:
        self.key = key
        self.values = values
        self._by_code: npt.NDArray[np.intp] = np.full(0, -1, dtype=np.intp)
        self._column: LabelColumn | None = None
        self._generation = -1

    def of(self, nodes: Nodes) -> IntVector:
        """(n,) index into `values`; -1 where the node has none of them."""
        column = nodes.label(self.key)
        if self._column is not column or self._generation != column.values.log.generation:
            self._column, self._generation = column, column.values.log.generation
            self._by_code = np.full(len(column.values), -1, dtype=np.intp)
            for index, value in enumerate(self.values):
                code = column.values.find(value)
                if code is not None:
                    self._by_code[code] = index
        return self._by_code[nodes.codes(self.key)]
