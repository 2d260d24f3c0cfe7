"""InterPodAffinity: near some pods, away from others; what the pods already placed ask for is respected, too.

Rule: kube-scheduler v1.36 InterPodAffinity. Existing pods' terms are judged with the labels of the incoming pod's
namespace. The incoming pod's terms have their namespaceSelector resolved to names first; upstream up to 1.36.3 then
still evaluates the selector against an empty label set, so that one made of NotIn or DoesNotExist only matches every
namespace, and so does this.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject, Node, Pod
from kubesched.engine import FloatVector, IntVector
from kubesched.framework import (
    CycleState,
    DependsOn,
    EventRegistration,
    Plugin,
    PodChanges,
    QueueingHint,
    Status,
    Verdicts,
)
from kubesched.plugins.args import InterPodAffinityArgs
from kubesched.plugins.pod_terms import ResolvedTerms, all_match, any_matches, resolved_terms
from kubesched.plugins.rejection_words import domain_words, selector_words
from kubesched.state import DomainSums, Has, Identity, NodeInfo, Nodes, PodGroup, Rows, Snapshot, Term

__all__ = ["InterPodAffinity"]


class _Sums:
    """Pods counted per domain, and what a what-if table adds to that, by topology key.

    Attributes:
        by_key: key -> (values,) float64 by the number of the label's value.
        deltas: key -> (positions,) float64, as seen from each node of the table; only in what-if states.
    """

    __slots__ = ("by_key", "deltas")

    def __init__(self, by_key: dict[str, FloatVector]) -> None:
        self.by_key = by_key
        self.deltas: dict[str, FloatVector] = {}

    def seen_from(self, nodes: Nodes, key: str) -> FloatVector:
        """(nodes,) how many pods there are in each node's domain; 0 where the node lacks the key."""
        codes = nodes.codes(key)
        by_code = self.by_key.get(key)
        found = np.zeros(len(nodes)) if by_code is None else by_code.take(codes)
        delta = self.deltas.get(key)
        return found if delta is None else np.where(codes > 0, found + delta, 0)

    def moved(self, key: str, positions: Rows, sign: int, n_nodes: int) -> None:
        """Count pods in or out of the domains of some nodes, each as seen from that node."""
        delta = self.deltas.get(key)
        if delta is None:
            delta = self.deltas[key] = np.zeros(n_nodes)
        np.add.at(delta, positions, sign)

    def copy(self) -> "_Sums":
        twin = _Sums(self.by_key)
        twin.deltas = {key: delta.copy() for key, delta in self.deltas.items()}
        return twin


class AffinityState:
    """What PreFilter found.

    Attributes:
        terms: the incoming pod's terms, namespaces resolved.
        affinity: existing pods that match all required affinity terms.
        anti_affinity: existing pods that match required anti-affinity terms.
        existing: required anti-affinity terms of existing pods that mean the incoming pod.
        first_of_its_kind: whether the incoming pod matches its own required affinity terms.
    """

    __slots__ = ("affinity", "anti_affinity", "existing", "first_of_its_kind", "terms")

    def __init__(self, terms: ResolvedTerms, affinity: _Sums, anti_affinity: _Sums, existing: _Sums) -> None:
        self.terms = terms
        self.affinity = affinity
        self.anti_affinity = anti_affinity
        self.existing = existing
        self.first_of_its_kind = False

    def copy(self) -> "AffinityState":
        """For a what-if state."""
        twin = AffinityState(self.terms, self.affinity.copy(), self.anti_affinity.copy(), self.existing.copy())
        twin.first_of_its_kind = self.first_of_its_kind
        return twin


class ScoreState:
    """What PreScore found: key -> (values,) points of each domain."""

    __slots__ = ("points",)

    def __init__(self, points: dict[str, FloatVector]) -> None:
        self.points = points


class InterPodAffinity(Plugin):
    """Affinity and anti-affinity between pods, required and preferred."""

    Args = InterPodAffinityArgs
    args: InterPodAffinityArgs
    depends_on = DependsOn.CLUSTER
    reasons = (
        Status.unresolvable("node(s) didn't match pod affinity rules"),
        Status.unschedulable("node(s) didn't match pod anti-affinity rules"),
        Status.unschedulable("node(s) didn't satisfy existing pods anti-affinity rules"),
    )

    # --- filter ---

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Count the pods that matter in each domain."""
        written = state.pod.terms.value
        if written.error:
            return Status.unresolvable(f"parsing pod: {written.error}")
        snapshot = self.handle.snapshot()
        existing = self._terms_about(state, snapshot)
        if not existing and not written.required_affinity and not written.required_anti_affinity:
            return Status.SKIP
        terms = resolved_terms(state.pod.terms, snapshot)
        found = AffinityState(
            terms,
            _Sums(self._affinity_sums(terms, snapshot)),
            _Sums(self._anti_affinity_sums(terms, snapshot)),
            _Sums({sums.topology_key: sums.by_code for sums in existing}),
        )
        identity = state.pod.identity.value
        found.first_of_its_kind = all_match(terms.required_affinity, identity)
        state.write(found)
        return Status.SUCCESS

    @staticmethod
    def _terms_about(state: CycleState, snapshot: Snapshot) -> list[DomainSums]:
        """Required anti-affinity terms of existing pods that mean the incoming pod, counted per domain."""
        counts = snapshot.state.required_anti_affinity
        matching = counts.about(state.pod.identity, snapshot.namespace_labels)
        return [] if matching is None else counts.sums(matching, snapshot.columns, by_weight=False)

    @staticmethod
    def _affinity_sums(terms: ResolvedTerms, snapshot: Snapshot) -> dict[str, FloatVector]:
        wanted = terms.required_affinity
        if not wanted:
            return {}
        group = _group(snapshot, wanted, lambda pod: all_match(wanted, pod))
        return {term.topology_key: group.by_domain(term.topology_key) for term in wanted}

    @staticmethod
    def _anti_affinity_sums(terms: ResolvedTerms, snapshot: Snapshot) -> dict[str, FloatVector]:
        sums: dict[str, FloatVector] = {}
        for term in terms.required_anti_affinity:
            group = _group_of(snapshot, term)
            by_code = group.by_domain(term.topology_key)
            before = sums.get(term.topology_key)
            sums[term.topology_key] = by_code if before is None else before + by_code
        return sums

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """Affinity first, then anti-affinity, then what existing pods refuse."""
        found = state.find(AffinityState)
        if found is None:
            raise RuntimeError('error reading "PreFilterInterPodAffinity" from cycleState: not found')
        verdicts = np.zeros(len(nodes), dtype=np.int16)
        for key in found.existing.by_key.keys() | found.existing.deltas.keys():
            verdicts[found.existing.seen_from(nodes, key) > 0] = 3
        for key in {term.topology_key for term in found.terms.required_anti_affinity}:
            verdicts[found.anti_affinity.seen_from(nodes, key) > 0] = 2
        if found.terms.required_affinity:
            verdicts[~self._affinity_satisfied(found, nodes)] = 1
        return Verdicts(verdicts, self.reasons)

    @staticmethod
    def _affinity_satisfied(found: AffinityState, nodes: Nodes) -> npt.NDArray[np.bool_]:
        """A pod that matches its own terms may be the first of its kind anywhere."""
        has_keys = np.ones(len(nodes), dtype=np.bool_)
        all_there = np.ones(len(nodes), dtype=np.bool_)
        n_anywhere = np.zeros(len(nodes))
        for key in {term.topology_key for term in found.terms.required_affinity}:
            has_keys &= nodes.codes(key) > 0
            all_there &= found.affinity.seen_from(nodes, key) > 0
            n_anywhere += found.affinity.by_key[key].sum()
            delta = found.affinity.deltas.get(key)
            if delta is not None:
                n_anywhere += np.where(nodes.codes(key) > 0, delta, 0)
        if found.first_of_its_kind:
            all_there |= n_anywhere == 0
        return has_keys & all_there

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each term that its domain breaks; what existing pods refuse has no details."""
        snapshot = self.handle.snapshot()
        terms = resolved_terms(state.pod.terms, snapshot)
        if self.reasons[0].message in status.reasons:
            for term in terms.required_affinity:
                if term.topology_key not in node.labels:
                    yield f"label {term.topology_key} is absent"
                elif not _count(term, node, snapshot):
                    where = domain_words(term.topology_key, node.labels)
                    yield f"there is no pod with {selector_words(term.selector)} {where}"
        elif self.reasons[1].message in status.reasons:
            for term in terms.required_anti_affinity:
                if n := _count(term, node, snapshot):
                    there = "there is a pod" if n == 1 else f"there are {n} pods"
                    where = domain_words(term.topology_key, node.labels)
                    yield f"{there} with {selector_words(term.selector)} {where}"

    def add_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        """Count pods in."""
        self._move(state, changes, 1)

    def remove_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        """Count pods out."""
        self._move(state, changes, -1)

    def _move(self, state: CycleState, changes: PodChanges, sign: int) -> None:
        before = state.find(AffinityState)
        if before is None:
            return
        found = before.copy()
        identities, which = changes.batch.identities()
        for term in _distinct_keys(found.terms.required_affinity):
            matching = np.array([all_match(found.terms.required_affinity, pod) for pod in identities], dtype=np.bool_)[
                which
            ]
            found.affinity.moved(term.topology_key, changes.positions[matching], sign, len(changes.nodes))
        for term in found.terms.required_anti_affinity:
            matching = np.array([any_matches((term,), pod) for pod in identities], dtype=np.bool_)[which]
            found.anti_affinity.moved(term.topology_key, changes.positions[matching], sign, len(changes.nodes))
        self._move_existing(state, found, changes, sign)
        state.write(found)

    def _move_existing(self, state: CycleState, found: AffinityState, changes: PodChanges, sign: int) -> None:
        """Count the moved pods' own required anti-affinity terms in or out."""
        me = state.pod.identity.value
        namespace_labels = self.handle.snapshot().namespace_labels(me.namespace)
        carrying = changes.batch.having(Has.ANTI_AFFINITY)
        if changes.batch.is_placed:  # and so counted by PreFilter: elsewhere they have no term that means the pod
            is_meant = np.zeros(len(changes.nodes), dtype=np.bool_)
            for key, by_code in found.existing.by_key.items():
                is_meant |= by_code.take(changes.nodes.codes(key)) > 0
            carrying = carrying[is_meant[changes.positions[carrying]]]
        at: dict[str, list[int]] = {}
        pods = changes.batch.chosen(carrying).infos
        for position, info in zip(changes.positions[carrying].tolist(), pods, strict=True):
            for term in info.terms.value.required_anti_affinity:
                if term.matches(me.namespace, me.labels, namespace_labels):
                    at.setdefault(term.topology_key, []).append(position)
        for key, positions in at.items():
            found.existing.moved(key, np.array(positions, dtype=np.intp), sign, len(changes.nodes))

    # --- score ---

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Add up the points of each domain."""
        terms = state.pod.terms.value
        has_preferred = bool(terms.preferred_affinity or terms.preferred_anti_affinity)
        if self.args.ignore_preferred_terms_of_existing_pods and not has_preferred:
            return Status.SKIP
        snapshot = self.handle.snapshot()
        points: dict[str, FloatVector] = {}
        if has_preferred:
            self._add_own_terms(points, resolved_terms(state.pod.terms, snapshot), snapshot)
        is_carried = self._add_existing_terms(points, state, snapshot)
        if not points and not is_carried:
            return Status.SKIP
        state.write(ScoreState(points))
        return Status.SUCCESS

    @staticmethod
    def _add_own_terms(points: dict[str, FloatVector], terms: ResolvedTerms, snapshot: Snapshot) -> None:
        for sign, preferred in ((1, terms.preferred_affinity), (-1, terms.preferred_anti_affinity)):
            for term in preferred:
                by_code = _group_of(snapshot, term).by_domain(term.topology_key)
                if by_code.any():
                    _add(points, term.topology_key, by_code * (sign * term.weight))

    def _add_existing_terms(self, points: dict[str, FloatVector], state: CycleState, snapshot: Snapshot) -> bool:
        """Points that existing pods' terms give the incoming pod. Returns: whether any counted, even with 0."""
        placed, identity = snapshot.state, state.pod.identity
        hard = self.args.hard_pod_affinity_weight
        is_carried = False
        for counts, factor, by_weight in (
            (placed.required_affinity, hard, False),
            (placed.preferred_affinity, 1, True),
            (placed.preferred_anti_affinity, -1, True),
        ):
            matching = counts.about(identity, snapshot.namespace_labels) if factor else None
            if matching is None:
                continue
            is_carried = is_carried or counts.is_carried(matching)
            for sums in counts.sums(matching, snapshot.columns, by_weight=by_weight):
                _add(points, sums.topology_key, sums.by_code * factor)
        return is_carried

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The points of each node's domains; may be negative."""
        found = state.find(ScoreState)
        if found is None:
            raise RuntimeError('failed to read "PreScoreInterPodAffinity" from cycleState: not found')
        total = np.zeros(len(nodes))
        for key, by_code in found.points.items():
            codes = nodes.codes(key)
            total += by_code.take(codes)
        return total.astype(np.int64)

    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        """The lowest becomes 0, the highest 100; all 0 when they are equal."""
        low = int(scores.min(initial=0)) if not len(scores) else int(scores.min())
        spread = (int(scores.max()) if len(scores) else 0) - low
        if spread == 0:
            return np.zeros_like(scores)
        return (100.0 * ((scores - low) / float(spread))).astype(np.int64)

    # --- what may help ---

    def events_to_register(self) -> list[EventRegistration]:
        """Pods that come, go or change labels; nodes that come or change labels."""
        pods = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
        return [
            EventRegistration(ClusterEvent(EventResource.POD, pods), self._pod_hint),
            EventRegistration(ClusterEvent(EventResource.NODE, nodes), self._node_hint),
        ]

    def _pod_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        changed = new if isinstance(new, Pod) else old
        assert isinstance(changed, Pod)
        if isinstance(old, Pod) and isinstance(new, Pod) and new.uid == pod.uid and old.labels != new.labels:
            return QueueingHint.QUEUE
        if not changed.node_name and not changed.status.nominated_node_name:
            return QueueingHint.SKIP
        terms = self.handle.state.pod_info(pod).terms.value
        before = _identity(old) if isinstance(old, Pod) else None
        after = _identity(new) if isinstance(new, Pod) else None
        wanted, hated = terms.required_affinity, terms.required_anti_affinity
        if before is not None and after is not None:
            appears = not all_match(wanted, before) and all_match(wanted, after)
            leaves = all_match(hated, before) and not all_match(hated, after)
            return _queue_if(appears or leaves)
        if after is not None:
            return _queue_if(all_match(wanted, after))
        assert before is not None
        theirs = self.handle.state.pod_info(changed).terms.value.required_anti_affinity
        return _queue_if(all_match(hated, before) or all_match(theirs, _identity(pod)))

    def _node_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        terms = self.handle.state.pod_info(pod).terms.value
        before = old.labels if isinstance(old, Node) else None
        for term in terms.required_affinity:
            value = new.labels.get(term.topology_key)
            if value is not None and (before is None or before.get(term.topology_key) != value):
                return QueueingHint.QUEUE
        for term in terms.required_anti_affinity:
            if before is None or (
                term.topology_key in before and before[term.topology_key] != new.labels.get(term.topology_key)
            ):
                return QueueingHint.QUEUE
        return QueueingHint.SKIP


def _distinct_keys(terms: Iterable[Term]) -> Iterable[Term]:
    """One term for each topology key."""
    return {term.topology_key: term for term in terms}.values()


def _add(points: dict[str, FloatVector], key: str, by_code: FloatVector) -> None:
    before = points.get(key)
    if before is None:
        points[key] = by_code
        return
    longer, shorter = (before, by_code) if len(before) >= len(by_code) else (by_code, before)
    total = longer.copy()
    total[: len(shorter)] += shorter
    points[key] = total


def _group(snapshot: Snapshot, terms: tuple[Term, ...], predicate: Callable[[Identity], bool]) -> PodGroup:
    return snapshot.groups.group(("terms", *[term.key for term in terms]), predicate)


def _group_of(snapshot: Snapshot, term: Term) -> PodGroup:
    return _group(snapshot, (term,), lambda pod: any_matches((term,), pod))


def _count(term: Term, node: NodeInfo, snapshot: Snapshot) -> int:
    """How many pods a term means in the node's domain; none where the node lacks the key."""
    value = node.labels.get(term.topology_key)
    code = snapshot.nodes.label(term.topology_key).code(value) if value is not None else 0
    return int(_group_of(snapshot, term).by_domain(term.topology_key)[code]) if code else 0


def _identity(pod: Pod) -> Identity:
    return Identity(pod.namespace, pod.labels)


def _queue_if(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP
