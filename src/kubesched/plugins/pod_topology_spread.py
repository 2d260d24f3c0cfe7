"""PodTopologySpread: keep the numbers of matching pods per topology domain close to each other, or prefer to.

Rule: kube-scheduler v1.36 PodTopologySpread. Traps kept on purpose: an empty selector counts no existing pod, but
selects the incoming one, and what-if moves do count with it; the score counts pods on all nodes but registers domains
of feasible nodes only; host names are counted per node whatever the node inclusion policies say; with System defaults
nodes without a zone form a separate domain, which adds nothing to their score.
"""

from collections.abc import Hashable, Iterator
from math import log
from typing import Final

import msgspec
import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, Node, Pod
from kubesched.engine import BoolVector, FloatVector, IntVector, floor_divide, round_half_away
from kubesched.errors import SelectorError
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
from kubesched.plugins.args import PodTopologySpreadArgs
from kubesched.plugins.hints import is_placed, queue_if, registration
from kubesched.plugins.rejection_words import absent_words, domain_words
from kubesched.plugins.spread_constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    SCHEDULE_ANYWAY,
    Constraint,
    DefaultConstraints,
    both,
    constraints_of,
    has_all_keys,
)
from kubesched.state import Identity, NodeInfo, Nodes, PodInfo, Rows, Snapshot

__all__ = ["PodTopologySpread"]

_NO_DOMAIN: Final = 2.0**31 - 1
_MISMATCH: Final = "node(s) didn't match pod topology spread constraints"


class _Domains(msgspec.Struct, eq=False):
    """Matching pods per domain of one hard constraint, and what a what-if table adds to that.

    Attributes:
        constraint: the constraint.
        counts: (values,) float64 by the number of the label's value.
        present: (values,) bool: whether some node that counts has the value.
        eligible: (slots,) bool per row: nodes that count and have all keys; None for all rows that have this key.
        delta: (positions,) float64, pods moved as seen from each node of a what-if table; None in the cycle itself.
    """

    constraint: Constraint
    counts: FloatVector
    present: BoolVector
    eligible: BoolVector | None
    delta: FloatVector | None = None

    def skew(self, nodes: Nodes) -> FloatVector:
        """(nodes,) what the skew of each node's domain becomes with the pod there."""
        codes = nodes.codes(self.constraint.topology_key)
        here = self.counts.take(codes) if self.delta is None else self.counts.take(codes) + self.delta
        least: float | FloatVector = 0.0  # when there are fewer domains than wanted
        if np.count_nonzero(self.present) >= self.constraint.min_domains:
            least = float(self.counts[self.present].min(initial=_NO_DOMAIN))
            if self.delta is not None:
                least = np.where(self.delta != 0, np.minimum(self._least_of_others()[codes], here), least)
        return here + self.constraint.selects_pod - least

    def _least_of_others(self) -> FloatVector:
        """(values,) the smallest count among the domains other than each."""
        codes = np.flatnonzero(self.present)
        counts = self.counts[codes]
        others = np.full(len(self.counts), counts.min(initial=_NO_DOMAIN))
        if len(codes):
            lowest = int(counts.argmin())
            others[codes[lowest]] = np.delete(counts, lowest).min(initial=_NO_DOMAIN)
        return others

    def moved(self, positions: Rows, sign: int, n_nodes: int) -> "_Domains":
        """These domains after pods were moved, each as seen from its own node."""
        delta = np.zeros(n_nodes) if self.delta is None else self.delta.copy()
        np.add.at(delta, positions, sign)
        return _Domains(self.constraint, self.counts, self.present, self.eligible, delta)


class SpreadState(msgspec.Struct):
    """What PreFilter found: the domains of each hard constraint."""

    domains: list[_Domains]


class SpreadScoreState(msgspec.Struct):
    """What PreScore found.

    Attributes:
        terms: (constraint, matching pods per domain or None for host names, weight).
        needed: the constraints whose keys a node must have to earn anything; none with System defaults.
        nodes: the feasible nodes.
        has_keys: (feasible nodes,) bool: those that have all needed keys; None for all.
    """

    terms: list[tuple[Constraint, FloatVector | None, float]]
    needed: tuple[Constraint, ...]
    nodes: Nodes
    has_keys: BoolVector | None

    def has_keys_of(self, nodes: Nodes) -> BoolVector | None:
        """(nodes,) bool: nodes of a table that have all needed keys; None for all."""
        return self.has_keys if nodes is self.nodes else has_all_keys(nodes, self.needed)


class PodTopologySpread(Plugin):
    """Spread pods over topology domains."""

    Args = PodTopologySpreadArgs
    args: PodTopologySpreadArgs
    depends_on = DependsOn.CLUSTER
    reasons = (
        Status.unresolvable(f"{_MISMATCH} (missing required label)"),
        Status.unschedulable(_MISMATCH),
    )

    def __init__(self, args: PodTopologySpreadArgs | None = None) -> None:
        super().__init__(args)
        self._defaults = DefaultConstraints(self.args)

    # --- filter ---

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Count matching pods per domain of each hard constraint."""
        snapshot = self.handle.snapshot()
        try:
            constraints = constraints_of(state.pod, DO_NOT_SCHEDULE, self._defaults, snapshot)
        except SelectorError as error:
            return Status.error(str(error))
        if not constraints:
            return Status.SKIP
        has_keys = has_all_keys(nodes, constraints)
        domains = []
        for constraint in constraints:
            eligible = both(has_keys, constraint.counting(nodes, state.pod))
            counts = self._counts(nodes, constraint, eligible, snapshot)
            present = nodes.values_present(constraint.topology_key, eligible)
            present[0] = False
            domains.append(_Domains(constraint, counts, present, _by_row(nodes, eligible)))
        state.write(SpreadState(domains))
        return Status.SUCCESS

    @staticmethod
    def _counts(nodes: Nodes, constraint: Constraint, eligible: BoolVector | None, snapshot: Snapshot) -> FloatVector:
        """(values,) matching pods, not terminating, on nodes that count, per domain."""
        key = constraint.topology_key
        n_values = len(nodes.label(key).values)
        if constraint.selector.is_empty:
            return np.zeros(n_values)
        group = constraint.group(snapshot)
        if eligible is None:
            return group.by_domain(key)
        counts = np.where(eligible, nodes.take(group.counts), 0)
        by_code: FloatVector = np.bincount(nodes.codes(key), weights=counts, minlength=n_values).astype(np.float64)
        by_code[0] = 0
        return by_code

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """The first constraint that a node breaks counts."""
        spread = state.read(SpreadState, 'reading "PreFilterPodTopologySpread" from cycleState: not found')
        verdicts = np.zeros(len(nodes), dtype=np.int16)
        for domains in reversed(spread.domains):
            verdicts[domains.skew(nodes) > domains.constraint.max_skew] = 2
            verdicts[nodes.codes(domains.constraint.topology_key) == 0] = 1
        return Verdicts(verdicts, self.reasons)

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each constraint that the pod would break on the node."""
        spread = state.find(SpreadState)
        nodes = self.handle.snapshot().nodes
        position = nodes.position_of(node.name)
        for domains in spread.domains if spread is not None and position is not None else ():
            constraint = domains.constraint
            if constraint.topology_key not in node.labels:
                yield absent_words(constraint.topology_key, nodes)
            elif domains.skew(nodes)[position] > constraint.max_skew:
                where = domain_words(constraint.topology_key, node.labels)
                yield f"one more such pod {where} would exceed maxSkew {constraint.max_skew}{_emptiest(domains, nodes)}"

    def add_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        self._move(state, changes, 1)

    def remove_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        self._move(state, changes, -1)

    @staticmethod
    def _move(state: CycleState, changes: PodChanges, sign: int) -> None:
        """Here terminating pods and empty selectors count, as upstream's AddPod and RemovePod have it."""
        spread = state.find(SpreadState)
        if spread is None:
            return
        identities, which = changes.batch.identities()
        moved = []
        for domains in spread.domains:
            constraint = domains.constraint
            if domains.eligible is None:
                counts = changes.nodes.codes(constraint.topology_key) > 0
            else:
                counts = domains.eligible[changes.nodes.all_rows]
            selected = np.array([constraint.selects(pod) for pod in identities], dtype=np.bool_)[which]
            positions = changes.positions[selected & counts[changes.positions]]
            moved.append(domains.moved(positions, sign, len(changes.nodes)))
        state.write(SpreadState(moved))

    # --- score ---

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Count matching pods per domain of each soft constraint, and weigh constraints by their number of domains."""
        snapshot = self.handle.snapshot()
        if not snapshot.n_nodes:
            return Status.SKIP
        try:
            constraints = constraints_of(state.pod, SCHEDULE_ANYWAY, self._defaults, snapshot)
        except SelectorError as error:
            return Status.error(str(error))
        if not constraints:
            return Status.SKIP
        requires_all = bool(state.pod.spread.value) or self.args.defaulting_type == "List"
        needed = constraints if requires_all else ()
        has_keys = has_all_keys(nodes, needed)
        terms: list[tuple[Constraint, FloatVector | None, float]] = []
        for constraint in constraints:
            counts: FloatVector | None = None
            if constraint.topology_key == HOSTNAME:
                size = len(nodes) if has_keys is None else int(np.count_nonzero(has_keys))
            else:
                size = _n_registered(nodes, constraint.topology_key, has_keys)
                counts = self._soft_counts(snapshot, constraint, needed, state.pod)
            terms.append((constraint, counts, log(size + 2)))
        state.write(SpreadScoreState(terms, needed, nodes, has_keys))
        return Status.SUCCESS

    def _soft_counts(
        self, snapshot: Snapshot, constraint: Constraint, needed: tuple[Constraint, ...], pod: PodInfo
    ) -> FloatVector:
        """Matching pods per domain over all nodes that count; a node must have the keys of the `needed` ones."""
        nodes = snapshot.nodes
        eligible = both(has_all_keys(nodes, needed), constraint.counting(nodes, pod))
        counts = self._counts(nodes, constraint, eligible, snapshot)
        empty = nodes.label(constraint.topology_key).code("")
        if not needed and empty > 0 and not constraint.selector.is_empty:
            counts = counts.copy()
            counts[empty] += self._without_key(snapshot, constraint, eligible)
        return counts

    @staticmethod
    def _without_key(snapshot: Snapshot, constraint: Constraint, eligible: BoolVector | None) -> float:
        """Matching pods on nodes that lack the key: they share the domain of nodes whose value is empty."""
        nodes = snapshot.nodes
        lacking = both(nodes.codes(constraint.topology_key) == 0, eligible)
        return float(nodes.take(constraint.group(snapshot).counts)[lacking].sum())

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The weighted number of matching pods around each node: more is worse, see normalize_score."""
        spread = state.read(SpreadScoreState, 'error reading "PreScorePodTopologySpread" from cycleState: not found')
        constraint, counts, weight = spread.terms[0]
        if len(spread.terms) == 1 and counts is not None:  # there are fewer domains than nodes to round the points of
            by_domain = round_half_away(_by_domain(constraint, counts, weight))
            scores = by_domain.take(nodes.codes(constraint.topology_key))
        else:
            total = self._points(nodes, constraint, counts, weight)
            for term in spread.terms[1:]:
                total += self._points(nodes, *term)
            scores = round_half_away(total)
        has_keys = spread.has_keys_of(nodes)
        if has_keys is not None:
            scores[~has_keys] = 0
        return scores

    def _points(self, nodes: Nodes, constraint: Constraint, counts: FloatVector | None, weight: float) -> FloatVector:
        """(nodes,) what a constraint counts against each node; 0 where it lacks the key."""
        codes = nodes.codes(constraint.topology_key)
        if counts is not None:
            return _by_domain(constraint, counts, weight).take(codes)
        points = np.zeros(len(nodes))
        if nodes.is_known and not constraint.selector.is_empty:
            points += nodes.take(constraint.group(self.handle.snapshot()).counts)
        points *= weight
        points += constraint.max_skew - 1
        points[codes == 0] = 0
        return points

    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        """The fewest pods become 100; nodes that lack a key 0."""
        has_keys = state.read(SpreadScoreState).has_keys
        counted = scores if has_keys is None else scores[has_keys]
        low = int(counted.min()) if len(counted) else 0
        high = int(counted.max(initial=0))
        if high == 0:
            normalized = np.full_like(scores, 100)
        else:
            normalized = floor_divide((high + low - scores) * 100, np.array(high))
        if has_keys is not None:
            normalized[~has_keys] = 0
        return normalized

    # --- what may help ---

    def events_to_register(self) -> list[EventRegistration]:
        """Pods that come, go or change; nodes that come, go, or change labels or taints."""
        pods = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.UPDATE_POD_TOLERATION | ActionType.DELETE
        nodes = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
        return [
            registration(EventResource.POD, pods, self._pod_hint, self._constraints_part),
            registration(EventResource.NODE, nodes, self._node_hint, self._constraints_part),
        ]

    def _constraints_part(self, pod: Pod) -> Hashable:
        """What hard constraints depend on: the pod's own; without any, what its services and its controller select."""
        info = self.handle.cluster_state.pod_info(pod)
        own = info.spread
        if not own.value:
            return info.identity, pod.metadata.controller
        keys = sorted({key for written in own.value for key in written.match_label_keys or ()})
        return own, pod.namespace, tuple([pod.labels.get(key) for key in keys])

    def _hard_constraints(self, pod: Pod) -> tuple[Constraint, ...]:
        cluster_state = self.handle.cluster_state
        return constraints_of(cluster_state.pod_info(pod), DO_NOT_SCHEDULE, self._defaults, cluster_state.snapshot())

    def _pod_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        changed = new or old
        assert isinstance(changed, Pod)
        is_target = changed.uid == pod.uid
        if not is_target and not (is_placed(changed) and changed.namespace == pod.namespace):
            return QueueingHint.SKIP
        constraints = self._hard_constraints(pod)
        if isinstance(old, Pod) and isinstance(new, Pod):
            before, after = Identity(old.namespace, old.labels), Identity(new.namespace, new.labels)
            if is_target and old.tolerations != new.tolerations and any(c.honors_taints for c in constraints):
                return QueueingHint.QUEUE
            helps = old.labels != new.labels and any(c.selects(before) != c.selects(after) for c in constraints)
        else:
            identity = Identity(changed.namespace, changed.labels)
            helps = any(constraint.selects(identity) for constraint in constraints)
        return queue_if(helps)

    def _node_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        keys = [constraint.topology_key for constraint in self._hard_constraints(pod)]
        had = isinstance(old, Node) and all(key in old.labels for key in keys)
        has = isinstance(new, Node) and all(key in new.labels for key in keys)
        if not isinstance(old, Node) or not isinstance(new, Node):
            return queue_if(had or has)
        moved = has and (old.taints != new.taints or any(old.labels.get(key) != new.labels.get(key) for key in keys))
        return queue_if(had != has or moved)


def _emptiest(domains: _Domains, nodes: Nodes) -> str:
    """The domain with the fewest matching pods, in words; empty where minDomains makes the least number 0."""
    codes = np.flatnonzero(domains.present)
    if not len(codes) or len(codes) < domains.constraint.min_domains:
        return ""
    code, key = int(codes[domains.counts[codes].argmin()]), domains.constraint.topology_key
    n_pods = int(domains.counts[code])
    short, value = key.rpartition("/")[2], nodes.label(key).values.values[code]
    where = f"node {value}" if short == "hostname" else f"{short} {value}"
    return f": {where} has {n_pods or 'none'}"


def _by_domain(constraint: Constraint, counts: FloatVector, weight: float) -> FloatVector:
    """(values,) what a constraint counts against the nodes of each domain."""
    points: FloatVector = counts * weight + (constraint.max_skew - 1)
    points[0] = 0
    return points


def _by_row(nodes: Nodes, eligible: BoolVector | None) -> BoolVector | None:
    """The same per row of the columns, so that a what-if table can look it up."""
    if eligible is None or nodes.rows is None:
        return eligible
    slots = np.zeros(nodes.columns.n_rows, dtype=np.bool_)
    slots[nodes.rows] = eligible
    return slots


def _n_registered(nodes: Nodes, key: str, has_keys: BoolVector | None) -> int:
    """Distinct values among the nodes that are scored; a missing label is the value ""."""
    seen = nodes.values_present(key, has_keys)
    empty = nodes.label(key).code("")
    if empty > 0 and seen[0] and seen[empty]:
        seen[0] = False
    return int(np.count_nonzero(seen))
