"""NodeAffinity: spec.nodeSelector, required and preferred node affinity, and what the arguments add for every pod.

PreFilter narrows the nodes to those that terms name by `metadata.name In [...]`; the filter takes such a field with
more than one name for a parse error, so that the term matches nothing. Rule: kube-scheduler v1.36 NodeAffinity.
"""

from collections.abc import Hashable, Iterator
from typing import Final

import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, Node, NodeSelectorTerm, Pod
from kubesched.config import bracketed
from kubesched.documents import joined
from kubesched.engine import IntVector, equal_rows
from kubesched.framework import (
    Codes,
    CycleState,
    DependsOn,
    EventRegistration,
    Plugin,
    PreFilterResult,
    QueueingHint,
    Status,
    default_normalize,
    keeps_equal,
)
from kubesched.plugins.args import NodeAffinityArgs
from kubesched.plugins.node_selection import (
    PreferredTerms,
    RequiredNodeAffinity,
    parse_preferred,
    required_node_affinity,
)
from kubesched.plugins.rejection_words import missed_terms, unmet
from kubesched.plugins.shared_hints import queue_if, registration
from kubesched.state import NodeChoice, NodeInfo, Nodes, NodeTerms, Part

_CONFLICT: Final = Status.unresolvable("pod affinity terms conflict")
_ADDED: Final = 1
_OWN: Final = 2


class NodeAffinity(Plugin):
    """Compare the pod's node selector and affinity with the labels and names of nodes."""

    Args = NodeAffinityArgs
    args: NodeAffinityArgs
    depends_on = DependsOn.NODE
    equal_by = ("node_choice",)
    reasons = (
        Status.unresolvable("node(s) didn't match scheduler-enforced node affinity"),
        Status.unresolvable("node(s) didn't match Pod's node affinity/selector"),
    )

    def __init__(self, args: NodeAffinityArgs | None = None) -> None:
        super().__init__(args)
        added = self.args.added_affinity
        self._added_required = NodeTerms(added.required) if added and added.required else None
        self._added_preferred = parse_preferred(added.preferred) if added and added.preferred else None

    # --- filter ---

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status | PreFilterResult:
        """Skips without requirements of pod and profile; narrows to the nodes that all terms name."""
        part = state.pod.node_choice
        choice = part.value
        if choice.affinity is None or choice.affinity.required is None:
            return Status.SUCCESS if choice.has_node_selector or self._added_required is not None else Status.SKIP
        narrowed: Status | PreFilterResult | None = part.compiled.get(PreFilterResult)
        if narrowed is None:
            terms = choice.affinity.required.node_selector_terms or ()
            narrowed = part.compiled[PreFilterResult] = _narrow(terms)
        return narrowed

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """1 where the added terms do not match, else 2 where the pod's own do not."""
        verdicts = np.zeros(len(nodes), dtype=np.int8)
        own = required_node_affinity(state.pod.node_choice)
        if own is not None:
            verdicts[~own.matches(nodes)] = _OWN
        if self._added_required is not None:
            verdicts[~self._added_required.matches(nodes)] = _ADDED
        return verdicts

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.pod.node_choice

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each label that the node selector misses, and what the nearest of the required terms misses."""
        own = required_node_affinity(state.pod.node_choice)
        if own is not None:
            nodes = self.handle.snapshot().nodes
            yield from (unmet(pair, node.node, nodes) for pair in own.pairs if not pair.matches(node.labels))
            yield from missed_terms(own.terms.terms, node.node, nodes) if own.terms is not None else ()
            if own.terms is not None and not own.terms.terms:
                why = joined(own.terms.faults) if own.terms.faults else "an empty term matches no node"
                yield f"no node can match the node affinity: {why}"

    def explain_alike(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """Nodes with the same labels, as far as the pod's node selector and terms read them."""
        own = required_node_affinity(state.pod.node_choice)
        terms = own.terms.terms if own is not None and own.terms is not None else []
        if own is None or any(term.fields for term in terms):  # names are all different
            return np.arange(len(nodes))
        read = [*own.pairs, *(requirement for term in terms for requirement in term.requirements)]
        return equal_rows(len(nodes), map(nodes.codes, dict.fromkeys(one.key for one in read)))

    # --- score ---

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Skips without preferences of pod and profile; finds terms that do not parse."""
        affinity = state.pod.node_choice.value.affinity
        if affinity is None or affinity.preferred is None:
            return Status.SKIP if self._added_preferred is None else Status.SUCCESS
        faults = _preferred(state.pod.node_choice).faults
        return Status.error(bracketed(faults)) if faults else Status.SUCCESS

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The weights of the matching terms, added ones and the pod's own; without PreScore, too."""
        own = _preferred(state.pod.node_choice)
        if own.faults:
            raise RuntimeError(bracketed(own.faults))
        total = own.score(nodes)
        return total if self._added_preferred is None else total + self._added_preferred.score(nodes)

    score_part = filter_part

    @keeps_equal
    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        """The highest sum becomes 100."""
        return default_normalize(scores)

    # --- what may help ---

    def events_to_register(self) -> list[EventRegistration]:
        """A node comes or gets other labels."""
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
        return [registration(EventResource.NODE, nodes, self._node_hint, self._choice)]

    def _choice(self, pod: Pod) -> Hashable:
        return self.handle.cluster_state.pod_info(pod).node_choice

    def _node_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Only the pod's own terms are compared with the old node; a term that does not parse may match anything."""
        assert isinstance(new, Node)
        if self._added_required is not None and not self._added_required.matches_node(new):
            return QueueingHint.SKIP
        affinity = pod.spec.affinity
        own = RequiredNodeAffinity(pod.node_selector.items(), affinity.node_affinity if affinity else None)
        if not own.matches_node(new):
            return queue_if(bool(own.faults))
        return queue_if(not (isinstance(old, Node) and own.matches_node(old)))


def _narrow(terms: tuple[NodeSelectorTerm, ...]) -> Status | PreFilterResult:
    """The nodes that the terms name; success where one of them names none, or where there is no term."""
    named = [_named_nodes(term) for term in terms]
    if not named or None in named:
        return Status.SUCCESS
    names: frozenset[str] = frozenset().union(*filter(None, named))
    return PreFilterResult(names) if names else _CONFLICT


def _named_nodes(term: NodeSelectorTerm) -> frozenset[str] | None:
    """The names that all `metadata.name In` fields of a term share; None where it has no such field."""
    fields = term.match_fields or ()
    lists = [frozenset(f.values or ()) for f in fields if f.key == "metadata.name" and f.operator == "In"]
    return frozenset.intersection(*lists) if lists else None


def _preferred(choice: Part[NodeChoice]) -> PreferredTerms:
    """The pod's own preferred terms, parsed once."""
    parsed: PreferredTerms | None = choice.compiled.get(PreferredTerms)
    if parsed is None:
        affinity = choice.value.affinity
        parsed = choice.compiled[PreferredTerms] = parse_preferred((affinity.preferred if affinity else None) or ())
    return parsed
