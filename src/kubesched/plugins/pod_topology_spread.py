"""PodTopologySpread: keep the numbers of matching pods per topology domain close to each other, or prefer to.

Rule: kube-scheduler v1.36 PodTopologySpread. Traps kept on purpose: an empty selector counts no existing pod, but
selects the incoming one, and what-if moves do count with it; the score counts pods on all nodes but registers domains
of feasible nodes only; host names are counted per node whatever the node inclusion policies say; with System defaults
nodes without a zone form a separate domain, which adds nothing to their score.
"""

from collections.abc import Hashable, Iterator, Sequence
from math import log
from typing import Final

import msgspec
import numpy as np

from kubesched.api import HOSTNAME, ActionType, EventResource, KubeObject, Node, Pod
from kubesched.engine import BoolVector, FloatVector, IntVector, equal_rows, floor_divide, round_half_away
from kubesched.errors import SelectorError
from kubesched.framework import (
    Codes,
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
from kubesched.plugins.rejection_words import absent_words, domain_words, too_few_words
from kubesched.plugins.shared_hints import is_placed, queue_if, registration
from kubesched.plugins.spread_constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    Constraint,
    DefaultConstraints,
    constraints_of,
    has_all_keys,
)
from kubesched.plugins.spread_counts import Counts, Domains
from kubesched.state import Identity, NodeInfo, Nodes

_MISMATCH: Final = "node(s) didn't match pod topology spread constraints"


class SpreadState(msgspec.Struct):
    """What PreFilter found: the domains of each hard constraint."""

    domains: list[Domains]


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
    equal_by = ("identity", "spread", "pod.metadata.controller")
    reasons = (Status.unresolvable(f"{_MISMATCH} (missing required label)"), Status.unschedulable(_MISMATCH))

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
        counts = Counts(nodes, state.pod, has_all_keys(nodes, constraints), snapshot)
        state.write(SpreadState([counts.domains(constraint) for constraint in constraints]))
        return Status.SUCCESS

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """The first constraint that a node breaks counts."""
        spread = state.read(SpreadState, 'reading "PreFilterPodTopologySpread" from cycleState: not found')
        verdicts: Codes = np.zeros(len(nodes), dtype=np.int16)
        for domains in reversed(_decisive(spread.domains, nodes)):
            codes = nodes.codes(domains.constraint.topology_key)
            if domains.delta is None:  # there are fewer domains than nodes
                by_domain = np.where(domains.skews() > domains.constraint.max_skew, 2, 0).astype(np.int16)
                by_domain[0] = 1
                verdict = by_domain.take(codes)
            else:
                verdict = np.where(domains.skew(nodes) > domains.constraint.max_skew, 2, 0).astype(np.int16)
                verdict[codes == 0] = 1
            verdicts = verdict if domains is spread.domains[-1] else np.where(verdict, verdict, verdicts)
        return Verdicts(verdicts, self.reasons)

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each constraint that the pod would break on the node."""
        spread = state.find(SpreadState)
        nodes = self.handle.snapshot().nodes
        position = nodes.position_of(node.name)
        for domains in spread.domains if spread is not None and position is not None else ():
            constraint = domains.constraint
            value = node.labels.get(constraint.topology_key)
            if value is None:
                yield absent_words(constraint.topology_key, nodes)
            elif domains.skews()[nodes.label(constraint.topology_key).code(value)] > constraint.max_skew:
                where = domain_words(constraint.topology_key, node.labels)
                yield f"one more such pod {where} would exceed maxSkew {constraint.max_skew}{_emptiest(domains, nodes)}"

    def explain_alike(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """Nodes in the same domains."""
        spread = state.find(SpreadState)
        keys = [domains.constraint.topology_key for domains in spread.domains] if spread is not None else []
        return equal_rows(len(nodes), map(nodes.codes, keys))

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
        moved = []
        for domains in spread.domains:
            counts = domains.counted(changes.nodes)[changes.positions]
            if np.count_nonzero(counts):
                positions = changes.positions[counts & changes.batch.selected(domains.constraint.selects)]
                if len(positions):
                    domains = domains.moved(positions, sign, len(changes.nodes))
            moved.append(domains)
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
        if _lacks_everywhere(needed, snapshot.nodes) is not None:  # no node earns anything
            state.write(SpreadScoreState([], needed, nodes, np.zeros(len(nodes), dtype=np.bool_)))
            return Status.SUCCESS
        has_keys = has_all_keys(nodes, needed)
        counts = Counts(snapshot.nodes, state.pod, has_all_keys(snapshot.nodes, needed), snapshot)
        sizes: dict[str, int] = {}
        terms: list[tuple[Constraint, FloatVector | None, float]] = []
        for constraint in constraints:
            key = constraint.topology_key
            if key not in sizes:
                sizes[key] = _n_domains(nodes, key, has_keys)
            by_domain = None if key == HOSTNAME else counts.with_lacking(constraint, needed)
            terms.append((constraint, by_domain, log(sizes[key] + 2)))
        state.write(SpreadScoreState(terms, needed, nodes, has_keys))
        return Status.SUCCESS

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The weighted number of matching pods around each node: more is worse, see normalize_score."""
        spread = state.read(SpreadScoreState, 'error reading "PreScorePodTopologySpread" from cycleState: not found')
        if not spread.terms:
            return np.zeros(len(nodes), dtype=np.int64)
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


def _decisive(domains: list[Domains], nodes: Nodes) -> list[Domains]:
    """The domains up to the first whose key no node has: nothing after that one changes a verdict."""
    at = _lacks_everywhere([one.constraint for one in domains], nodes)
    return domains if at is None else domains[: at + 1]


def _lacks_everywhere(constraints: Sequence[Constraint], nodes: Nodes) -> int | None:
    """Which constraint is the first whose key no node has."""
    label = nodes.label
    return next((i for i, one in enumerate(constraints) if not label(one.topology_key).n_labelled), None)


def _emptiest(domains: Domains, nodes: Nodes) -> str:
    """The domain with the fewest matching pods, in words, or that there are fewer domains than are wanted."""
    codes = np.flatnonzero(domains.present)
    if len(codes) < domains.constraint.min_domains:
        return f": {too_few_words(domains.constraint.topology_key, domains.constraint.min_domains, len(codes))}"
    if not len(codes):
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


def _n_domains(nodes: Nodes, key: str, has_keys: BoolVector | None) -> int:
    """Distinct values among the nodes that are scored, or these nodes for host names; no label is the value ""."""
    if key == HOSTNAME:
        return len(nodes) if has_keys is None else int(np.count_nonzero(has_keys))
    seen = nodes.values_present(key, has_keys)
    empty = nodes.label(key).code("")
    if empty > 0 and seen[0] and seen[empty]:
        seen[0] = False
    return int(np.count_nonzero(seen))
