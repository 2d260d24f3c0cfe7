"""InterPodAffinity: near some pods, away from others; what the pods already placed ask for is respected, too.

Rule: kube-scheduler v1.36 InterPodAffinity. Existing pods' terms are judged with the labels of the incoming pod's
namespace. The incoming pod's terms have their namespaceSelector resolved to names first; upstream up to 1.36.3 then
still evaluates the selector against an empty label set, so that one made of NotIn or DoesNotExist only matches every
namespace, and so does this.
"""

from collections.abc import Hashable, Iterator

import msgspec
import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, Node, Pod
from kubesched.engine import BoolVector, FloatVector, IntVector
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
from kubesched.plugins.affinity_details import anti_affinity_of_others, broken_anti_affinity, missed_affinity
from kubesched.plugins.args import InterPodAffinityArgs
from kubesched.plugins.pod_terms import (
    MANY_TERMS,
    all_match,
    group_of,
    meant_by,
    meets_every_namespace,
    resolved_terms,
    sums_of_many,
)
from kubesched.plugins.rules_of_versions import RuleOfVersion
from kubesched.plugins.shared_hints import is_placed, queue_if, registration
from kubesched.release import releases_after
from kubesched.state import AffinityTerms, DomainSums, Has, Identity, NodeInfo, Nodes, Rows, Selection, Snapshot, Term


class _Sums(msgspec.Struct):
    """Pods counted per domain, and what a what-if table adds to that, by topology key.

    Attributes:
        by_key: key -> (values,) float64 by the number of the label's value.
        deltas: key -> (positions,) float64, as seen from each node of the table; only in what-if states.
    """

    by_key: dict[str, FloatVector]
    deltas: dict[str, FloatVector] = {}

    def seen_from(self, nodes: Nodes, key: str) -> FloatVector:
        """(nodes,) how many pods there are in each node's domain; 0 where the node lacks the key."""
        codes = nodes.codes(key)
        by_code, delta = self.by_key.get(key), self.deltas.get(key)
        counts = np.zeros(len(nodes)) if by_code is None else by_code.take(codes)
        return counts if delta is None else np.where(codes > 0, counts + delta, 0)

    def move(self, key: str, positions: Rows | int, amounts: IntVector | int, n_nodes: int) -> None:
        """Count pods in, or out with negative amounts, of the domains of some nodes, each as seen from that node."""
        delta = self.deltas.get(key)
        if delta is None:
            delta = self.deltas[key] = np.zeros(n_nodes)
        np.add.at(delta, positions, amounts)

    def copy(self) -> "_Sums":
        return _Sums(self.by_key, {key: delta.copy() for key, delta in self.deltas.items()})


class AffinityState(msgspec.Struct):
    """What PreFilter found.

    Attributes:
        terms: the incoming pod's terms, namespaces resolved.
        affinity: existing pods that match all required affinity terms.
        anti_affinity: existing pods that match required anti-affinity terms.
        existing: required anti-affinity terms of existing pods that match the incoming pod.
        first_of_its_kind: whether the incoming pod matches its own required affinity terms.
    """

    terms: AffinityTerms
    affinity: _Sums
    anti_affinity: _Sums
    existing: _Sums
    first_of_its_kind: bool

    def copy(self) -> "AffinityState":
        """For a what-if state."""
        sums = self.affinity.copy(), self.anti_affinity.copy(), self.existing.copy()
        return AffinityState(self.terms, *sums, self.first_of_its_kind)


class ScoreState(msgspec.Struct):
    """What PreScore found: key -> (values,) points of each domain."""

    points: dict[str, FloatVector]


class InterPodAffinity(Plugin):
    """Affinity and anti-affinity between pods, required and preferred."""

    Args = InterPodAffinityArgs
    args: InterPodAffinityArgs
    depends_on = DependsOn.CLUSTER
    equal_by = ("identity", "terms")
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
        prepared = AffinityState(
            terms,
            _Sums(self._affinity_sums(terms, snapshot)),
            _Sums(self._anti_affinity_sums(terms, snapshot)),
            _Sums({sums.topology_key: sums.by_code for sums in existing}),
            all_match(terms.required_affinity, state.pod.identity.value),
        )
        state.write(prepared)
        return Status.SUCCESS

    @staticmethod
    def _terms_about(state: CycleState, snapshot: Snapshot) -> list[DomainSums]:
        """Required anti-affinity terms of existing pods that match the incoming pod, counted per domain."""
        counts = snapshot.cluster_state.required_anti_affinity
        matching = counts.about(state.pod.identity, snapshot.namespace_labels)
        return [] if matching is None else counts.sums(matching, snapshot.columns, by_weight=False)

    @staticmethod
    def _affinity_sums(terms: AffinityTerms, snapshot: Snapshot) -> dict[str, FloatVector]:
        wanted = terms.required_affinity
        if not wanted:
            return {}
        group = group_of(snapshot, *wanted)
        return {term.topology_key: group.by_domain(term.topology_key) for term in wanted}

    @staticmethod
    def _anti_affinity_sums(terms: AffinityTerms, snapshot: Snapshot) -> dict[str, FloatVector]:
        sums: dict[str, FloatVector] = {}
        hated = _with_domains(terms.required_anti_affinity, snapshot)
        if len(hated) >= MANY_TERMS:
            return {key: by_code for key, (by_code, _) in sums_of_many(snapshot, [(one, 1) for one in hated]).items()}
        for term in hated:
            by_code = group_of(snapshot, term).by_domain(term.topology_key)
            before = sums.get(term.topology_key)
            sums[term.topology_key] = by_code if before is None else before + by_code
        return sums

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """Affinity first, then anti-affinity, then what existing pods refuse."""
        counted = state.read(AffinityState, 'error reading "PreFilterInterPodAffinity" from cycleState: not found')
        verdicts = np.zeros(len(nodes), dtype=np.int16)
        for key in counted.existing.by_key.keys() | counted.existing.deltas.keys():
            verdicts[counted.existing.seen_from(nodes, key) > 0] = 3
        for key in counted.anti_affinity.by_key:
            verdicts[counted.anti_affinity.seen_from(nodes, key) > 0] = 2
        if counted.terms.required_affinity:
            verdicts[~self._affinity_satisfied(counted, nodes)] = 1
        return Verdicts(verdicts, self.reasons)

    @staticmethod
    def _affinity_satisfied(counted: AffinityState, nodes: Nodes) -> BoolVector:
        """A pod that matches its own terms may be the first of its kind anywhere."""
        keys = dict.fromkeys([term.topology_key for term in counted.terms.required_affinity])
        if not all(nodes.label(key).n_labelled for key in keys):
            return np.zeros(len(nodes), dtype=np.bool_)
        has_keys = np.ones(len(nodes), dtype=np.bool_)
        all_there = np.ones(len(nodes), dtype=np.bool_)
        n_anywhere = np.zeros(len(nodes))
        for key in keys:
            has_key = nodes.codes(key) > 0
            has_keys &= has_key
            all_there &= counted.affinity.seen_from(nodes, key) > 0
            n_anywhere += counted.affinity.by_key[key].sum()
            delta = counted.affinity.deltas.get(key)
            if delta is not None:
                n_anywhere += np.where(has_key, delta, 0)
        if counted.first_of_its_kind:
            all_there |= n_anywhere == 0
        return has_keys & all_there

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each term that its domain breaks, with the pods that break it."""
        snapshot = self.handle.snapshot()
        terms = resolved_terms(state.pod.terms, snapshot)
        if self.reasons[0].message in status.reasons:
            return missed_affinity(terms.required_affinity, node, snapshot)
        if self.reasons[1].message in status.reasons:
            return broken_anti_affinity(terms.required_anti_affinity, node, snapshot)
        keys = [sums.topology_key for sums in self._terms_about(state, snapshot)]
        return anti_affinity_of_others(state.pod.identity.value, keys, node, snapshot)

    def version_rules(self, state: CycleState, pod: Pod) -> Iterator[RuleOfVersion]:
        """A namespaceSelector that the version reads otherwise than others.

        Rule: kube-scheduler v1.34 to v1.36, kubernetes issue 141526, until the patches in CORRECTED.
        """
        if meets_every_namespace(state.pod.terms.value, self.release):
            text = "matches every namespace with a namespaceSelector of NotIn or DoesNotExist alone"
            first = next(releases_after(self.release)).version
            yield RuleOfVersion(
                f"{self.release.recorded} {text} (kubernetes issue 141526); {first} does not", may_fit_later=True
            )

    def add_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        self._move(state, changes, 1)

    def remove_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        self._move(state, changes, -1)

    def _move(self, state: CycleState, changes: PodChanges, sign: int) -> None:
        before = state.find(AffinityState)
        if before is None:
            return
        counted = before.copy()

        wanted = counted.terms.required_affinity
        if wanted and len(meant := changes.positions[changes.batch.selected(meant_by(*wanted))]):
            for key in {term.topology_key for term in wanted}:
                counted.affinity.move(key, meant, sign, len(changes.nodes))
        hated: dict[str, list[Selection]] = {}
        for term in _with_domains(counted.terms.required_anti_affinity, self.handle.snapshot()):
            hated.setdefault(term.topology_key, []).append(meant_by(term))
        for key, selections in hated.items():
            amounts = changes.batch.n_selecting(selections)
            if np.count_nonzero(amounts):
                counted.anti_affinity.move(key, changes.positions, sign * amounts, len(changes.nodes))
        self._move_existing(state, counted.existing, changes, sign)
        state.write(counted)

    def _move_existing(self, state: CycleState, existing: _Sums, changes: PodChanges, sign: int) -> None:
        """Count the moved pods' own required anti-affinity terms in or out."""
        me = state.pod.identity.value
        namespace_labels = self.handle.snapshot().namespace_labels(me.namespace)
        carrying = changes.batch.having(Has.ANTI_AFFINITY)
        nodes, is_counted = changes.nodes, changes.batch.is_placed  # pods on nodes are in PreFilter's sums
        matched_in = {key: by_code.take(nodes.codes(key)) > 0 for key, by_code in existing.by_key.items()}
        if is_counted:
            is_matched = np.zeros(len(nodes), dtype=np.bool_)
            for in_domain in matched_in.values():
                is_matched |= in_domain
            carrying = carrying[is_matched[changes.positions[carrying]]]
        at: dict[str, list[int]] = {}
        pods = changes.batch.chosen(carrying).infos
        for position, info in zip(changes.positions[carrying].tolist(), pods, strict=True):
            for term in info.terms.value.required_anti_affinity:
                key = term.topology_key
                if is_counted and (key not in matched_in or not matched_in[key][position]):
                    continue  # no term of this key matches the pod in this domain
                if term.matches(me.namespace, me.labels, namespace_labels):
                    at.setdefault(key, []).append(position)
        for key, positions in at.items():
            existing.move(key, np.array(positions, dtype=np.intp), sign, len(changes.nodes))

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
    def _add_own_terms(points: dict[str, FloatVector], terms: AffinityTerms, snapshot: Snapshot) -> None:
        weighted = [(term, term.weight) for term in _with_domains(terms.preferred_affinity, snapshot)]
        weighted += [(term, -term.weight) for term in _with_domains(terms.preferred_anti_affinity, snapshot)]
        if len(weighted) >= MANY_TERMS:
            points |= {key: by_code for key, (by_code, is_any) in sums_of_many(snapshot, weighted).items() if is_any}
            return
        for term, weight in weighted:
            by_code = group_of(snapshot, term).by_domain(term.topology_key)
            if by_code.any():
                _add(points, term.topology_key, by_code * weight)

    def _add_existing_terms(self, points: dict[str, FloatVector], state: CycleState, snapshot: Snapshot) -> bool:
        """Points that existing pods' terms give the incoming pod. Returns: whether any counted, even with 0."""
        placed, identity = snapshot.cluster_state, state.pod.identity
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
        summed = state.read(ScoreState, 'failed to read "PreScoreInterPodAffinity" from cycleState: not found')
        total = np.zeros(len(nodes))
        for key, by_code in summed.points.items():
            total += by_code.take(nodes.codes(key))
        return total.astype(np.int64)

    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        """The lowest becomes 0, the highest 100; all 0 when they are equal."""
        low, high = (int(scores.min()), int(scores.max())) if len(scores) else (0, 0)
        if low == high:
            return np.zeros_like(scores)
        return (100.0 * ((scores - low) / float(high - low))).astype(np.int64)

    # --- what may help ---

    def events_to_register(self) -> list[EventRegistration]:
        """Pods that come, go or change labels; nodes that come or change labels."""
        pods = ActionType.ADD | ActionType.UPDATE_POD_LABEL
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
        return [
            registration(EventResource.POD, pods, self._pod_hint, self._terms),
            registration(EventResource.POD, ActionType.DELETE, self._pod_hint, self._terms_and_identity),
            registration(EventResource.NODE, nodes, self._node_hint, self._terms),
        ]

    def _terms(self, pod: Pod) -> Hashable:
        return self.handle.cluster_state.pod_info(pod).terms

    def _terms_and_identity(self, pod: Pod) -> Hashable:
        info = self.handle.cluster_state.pod_info(pod)
        return info.terms, info.identity

    def _pod_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        if isinstance(old, Pod) and isinstance(new, Pod) and new.uid == pod.uid and old.labels != new.labels:
            return QueueingHint.QUEUE
        changed = new or old
        assert isinstance(changed, Pod)
        if not is_placed(changed):
            return QueueingHint.SKIP
        terms = self.handle.cluster_state.pod_info(pod).terms.value
        wanted, hated = terms.required_affinity, terms.required_anti_affinity
        if not isinstance(new, Pod):
            theirs = self.handle.cluster_state.pod_info(changed).terms.value.required_anti_affinity
            return queue_if(all_match(hated, _identity(changed)) or all_match(theirs, _identity(pod)))
        after = _identity(new)
        if not isinstance(old, Pod):
            return queue_if(all_match(wanted, after))
        before = _identity(old)
        appears = not all_match(wanted, before) and all_match(wanted, after)
        return queue_if(appears or (all_match(hated, before) and not all_match(hated, after)))

    def _node_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        terms = self.handle.cluster_state.pod_info(pod).terms.value
        wanted = [term.topology_key for term in terms.required_affinity]
        hated = [term.topology_key for term in terms.required_anti_affinity]
        after = new.labels
        if not isinstance(old, Node):
            return queue_if(bool(hated) or any(key in after for key in wanted))
        before = old.labels
        enters = any(key in after and before.get(key) != after[key] for key in wanted)
        return queue_if(enters or any(key in before and before[key] != after.get(key) for key in hated))


def _with_domains(terms: tuple[Term, ...], snapshot: Snapshot) -> list[Term]:
    """The terms whose topology key some node has: the others concern no node, however many there are."""
    label = snapshot.columns.label
    return [term for term in terms if label(term.topology_key).n_labelled]


def _add(points: dict[str, FloatVector], key: str, by_code: FloatVector) -> None:
    before = points.get(key)
    if before is None:
        points[key] = by_code
        return
    longer, shorter = (before, by_code) if len(before) >= len(by_code) else (by_code, before)
    total = longer.copy()
    total[: len(shorter)] += shorter
    points[key] = total


def _identity(pod: Pod) -> Identity:
    return Identity(pod.namespace, pod.labels)
