"""NodeResourcesFit: the pod's requests must fit what the pods on a node leave free; the score, emptier or fuller ones.

Rule: kube-scheduler v1.36 NodeResourcesFit. The filter honours pod-level resources, the score does not. Among scalar
resources the order of reasons is upstream's map order, which is none; ours is by name. With DRAExtendedResource, a
resource that a device class serves is left to DynamicResources on nodes that offer none of it. Since v1.34, a request
above what an empty node offers is unresolvable.
"""

from collections.abc import Collection, Hashable, Iterator
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import (
    ActionType,
    EventResource,
    KubeObject,
    Node,
    Pod,
    edited,
    in_words,
    is_extended_resource,
    is_scalar_resource,
    parse_quantity,
    whole_units,
)
from kubesched.documents import joined
from kubesched.engine import (
    BoolVector,
    Interner,
    IntMatrix,
    IntVector,
    equal_rows,
    floor_divide,
    round_half_away,
    weighted_sum,
)
from kubesched.framework import Code, CycleState, DependsOn, EventRegistration, Plugin, QueueingHint, Status, Verdicts
from kubesched.plugins.args import EarlierNodeResourcesFitArgs, NodeResourcesFitArgs, ScoringStrategyType
from kubesched.plugins.broken_line import broken_linear
from kubesched.plugins.rules_of_versions import RuleOfVersion
from kubesched.plugins.shared_hints import is_placed, queue_if, registration
from kubesched.state import CPU, MEMORY, NodeInfo, Nodes, Part, PodRequests, resources_of_class

BoolMatrix = npt.NDArray[np.bool_]

_BASIC: Final = ("cpu", "memory", "ephemeral-storage")
_CPU_AND_MEMORY: Final = [CPU, MEMORY]
_TOO_MANY_PODS: Final = 1
_MAX_BITS: Final = 29  # an int32 has two more: for the number of pods and for what no empty node would hold
_PODS_REASON: Final = "Too many pods"
_ZERO, _HUNDRED = np.array(0), np.array(100)  # arrays, because for the few rows that changed a number costs more


class FitState:
    """What the filter asks of a node.

    Attributes:
        names: what is asked for, in the order of reasons.
        amounts: (names, 1) int64.
        bits: (names,) int32, the bit of a verdict that says that a thing is short; 0 where they are more than fit.
        unresolvable: the bit that says that even an empty node would be too small; 0 as for `bits`.
        is_served: (names, 1) bool, what a device class serves, which is short only on nodes that offer some; None where
            nothing is.
        hopeless: the code of a node that would be too small even when it is empty.
    """

    __slots__ = ("_numbers", "_on_axis", "amounts", "bits", "hopeless", "is_served", "names", "unresolvable")

    def __init__(
        self,
        wanted: list[tuple[str, int]],
        served: Collection[str] = (),
        hopeless: Code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ) -> None:
        self.names = [name for name, _ in wanted]
        self.hopeless = hopeless
        self.is_served = np.array([[name in served] for name in self.names]) if served else None
        self.amounts = np.array([amount for _, amount in wanted], dtype=np.int64)[:, np.newaxis]
        bits = [2 << i for i in range(1 + len(wanted))] if len(wanted) <= _MAX_BITS else [0] * (1 + len(wanted))
        self.bits = np.array(bits[:-1], dtype=np.int32)
        self.unresolvable = np.int32(bits[-1])
        self._on_axis: _OnAxis | None = None
        self._numbers: dict[int, int] = {}

    def numbers(self, is_full: BoolVector, is_hopeless: BoolVector, short: BoolMatrix) -> IntVector:
        """(nodes,) a number for each combination of shortages, where a bit for each does not fit into a verdict.

        Args:
            short: (names, nodes) bool.
        """
        packed = np.packbits(np.vstack((is_full, short, is_hopeless)), axis=0, bitorder="little")
        kinds, which = np.unique(packed.T, axis=0, return_inverse=True)
        verdicts = [int.from_bytes(kind.tobytes(), "little") for kind in kinds]
        numbers = [self._numbers.setdefault(verdict, 1 + len(self._numbers)) if verdict else 0 for verdict in verdicts]
        return np.array(numbers, dtype=np.int64)[which.reshape(-1)]

    def status_of(self, number: int) -> Status:
        """The words of a number."""
        return self._words(next(verdict for verdict, known in self._numbers.items() if known == number))

    def on_axis(self, resources: Interner[str]) -> "_OnAxis":
        """The same with the places of the names on the resource axis, as long as those do not change."""
        if self._on_axis is None or self._on_axis.generation != resources.log.generation:
            self._on_axis = _OnAxis(self, resources)
        return self._on_axis

    def status(self, verdict: int) -> Status:
        """The words of a verdict: bit 0 for the number of pods, then a bit per resource, then `unresolvable`."""
        return self._words(verdict)

    def _words(self, verdict: int) -> Status:
        reasons = [_PODS_REASON] if verdict & _TOO_MANY_PODS else []
        reasons += [f"Insufficient {name}" for i, name in enumerate(self.names) if verdict >> (i + 1) & 1]
        is_hopeless = verdict >> (1 + len(self.names)) & 1
        return Status(self.hopeless if is_hopeless else Code.UNSCHEDULABLE, tuple(reasons))


class _OnAxis:
    """What is asked for, as the resource axis has it.

    Attributes:
        generation: of the axis.
        rows: the places of the names that some node or pod knows.
        amounts, bits: theirs.
        is_served: as in FitState.
        is_on_axis: (names,) bool, whether some node or pod knows the name.
        missing: the bits of a verdict on every node for names that are not on the axis and that no device class serves;
            0 where there are none.
    """

    __slots__ = ("amounts", "bits", "generation", "is_on_axis", "is_served", "missing", "rows")

    def __init__(self, fit: FitState, resources: Interner[str]) -> None:
        self.generation = resources.log.generation
        places = [resources.find(name) for name in fit.names]
        rows = [row for row in places if row is not None]
        self.rows = slice(0, len(rows)) if rows == list(range(len(rows))) else rows
        self.amounts, self.bits, self.is_served, self.missing = fit.amounts, fit.bits, fit.is_served, np.int32(0)
        self.is_on_axis = is_known = np.array([row is not None for row in places], dtype=np.bool_)
        if len(rows) < len(places):
            is_missing = ~is_known
            self.amounts, self.bits = fit.amounts[is_known], fit.bits[is_known]
            if fit.is_served is not None:
                self.is_served = fit.is_served[is_known]
                is_missing &= ~fit.is_served[:, 0]
            if is_missing.any():
                self.missing = np.bitwise_or.reduce(fit.bits[is_missing]) | fit.unresolvable


class Scored:
    """The resources that count in a pod's score.

    Attributes:
        generation: of the resource axis.
        rows: where they are on the resource axis.
        offered: the same, as a set.
        room_rows: the same, as a slice where they are its beginning.
        amounts: (rows, 1) int64, what the pod adds.
        weights, total_weight: (rows,) int64, and their sum.
    """

    __slots__ = ("amounts", "generation", "offered", "room_rows", "rows", "total_weight", "weights")

    def __init__(self, generation: int, counting: list[tuple[int, int, int]]) -> None:
        self.generation = generation
        self.rows = [row for row, _, _ in counting]
        self.offered = frozenset(self.rows)
        self.room_rows = slice(0, len(counting)) if self.rows == list(range(len(counting))) else self.rows
        self.amounts = np.array([[amount] for _, amount, _ in counting], dtype=np.int64)
        self.weights = np.array([weight for _, _, weight in counting], dtype=np.int64)
        self.total_weight = np.array(self.weights.sum())

    def counted(self, nodes: Nodes) -> IntMatrix:
        """(rows, nodes): what counts as used: cpu and memory with the scoring defaults, others as they are."""
        non_zero = nodes.non_zero_requested
        if self.rows == _CPU_AND_MEMORY:
            return non_zero
        requested = nodes.requested
        return np.array([non_zero[row] if row in _CPU_AND_MEMORY else requested[row] for row in self.rows])


class NodeResourcesFit(Plugin):
    """Fit by requests; score by how much stays free."""

    Args = NodeResourcesFitArgs
    args: NodeResourcesFitArgs
    depends_on = DependsOn.ROW
    equal_by = ("requests",)
    reads = ("DeviceClass",)

    def __init__(self, args: NodeResourcesFitArgs | None = None) -> None:
        super().__init__(args)
        strategy = self.args.scoring_strategy
        is_ratio = strategy.type == ScoringStrategyType.REQUESTED_TO_CAPACITY_RATIO
        ratio = strategy.requested_to_capacity_ratio if is_ratio else None
        shape = [(point.utilization, 10 * point.score) for point in ratio.shape] if ratio else []
        self._shape = broken_linear(shape) if shape else None
        self._is_least_allocated = strategy.type == ScoringStrategyType.LEAST_ALLOCATED

    # --- filter ---

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Note what the pod asks for; never skips, because the number of pods counts too."""
        part = state.pod.requests
        served = self._served(part)
        key = (self, served) if served else self
        wanted = part.compiled.get(key)
        if wanted is None:
            hopeless = Code.UNSCHEDULABLE if self.release.before(34) else Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            wanted = part.compiled[key] = FitState(self._checked(part.value), served, hopeless)
        state.write(wanted)
        return Status.SUCCESS

    def _served(self, part: Part[PodRequests]) -> tuple[str, ...]:
        """The resources of a pod that a device class serves."""
        classes = self.handle.cluster_state.devices.classes
        if not classes.by_resource or not self.release.has("DRAExtendedResource"):
            return ()
        return tuple(classes.serving(part.value.wanted))

    def _checked(self, requests: PodRequests) -> list[tuple[str, int]]:
        wanted = requests.wanted
        scalars = sorted(name for name in wanted if name not in _BASIC and self._is_checked(name))
        return [(name, wanted[name]) for name in (*_BASIC, *scalars) if wanted.get(name, 0) > 0]

    def _is_checked(self, name: str) -> bool:
        if not is_scalar_resource(name):
            return False
        args = self.args
        ignored = name in args.ignored_resources or name.partition("/")[0] in args.ignored_resource_groups
        return not (ignored and is_extended_resource(name))

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """A bit for each thing that is short."""
        fit = state.read(FitState, 'error reading "PreFilterNodeResourcesFit" from cycleState: not found')
        is_full = nodes.n_pods >= nodes.allowed_pods
        if len(fit.names) > _MAX_BITS:
            return Verdicts(self._numbered_shortages(is_full, fit, nodes), fit.status_of)
        verdicts = is_full.astype(np.int32)
        if fit.names:
            self._add_shortages(verdicts, fit, nodes)
        return Verdicts(verdicts, fit.status)

    @staticmethod
    def _numbered_shortages(is_full: BoolVector, fit: FitState, nodes: Nodes) -> IntVector:
        """(nodes,) what is short, for a pod with more resources than a verdict has bits."""
        asked = fit.on_axis(nodes.columns.resources)
        room, on_axis = nodes.allocatable[asked.rows], asked.is_on_axis
        lacking = room - nodes.requested[asked.rows] < asked.amounts
        if asked.is_served is not None:
            lacking &= ~asked.is_served | (room > 0)
        is_hopeless = np.logical_or.reduce(lacking & (asked.amounts > room), axis=0)
        missing = ~on_axis if fit.is_served is None else ~on_axis & ~fit.is_served[:, 0]
        short = np.repeat(missing[:, np.newaxis], len(nodes), axis=1)
        short[on_axis] = lacking
        is_hopeless |= bool(missing.any())
        return fit.numbers(is_full, is_hopeless, short)

    @staticmethod
    def _add_shortages(verdicts: npt.NDArray[np.int32], fit: FitState, nodes: Nodes) -> None:
        asked = fit.on_axis(nodes.columns.resources)
        room = nodes.allocatable[asked.rows]
        short = room - nodes.requested[asked.rows] < asked.amounts
        if asked.is_served is not None:
            short &= ~asked.is_served | (room > 0)
        if np.count_nonzero(short):
            for i, bit in enumerate(asked.bits):  # a product of matrices is slow where they are not floats
                verdicts |= short[i] * bit
            verdicts |= (short & (asked.amounts > room)).any(axis=0) * fit.unresolvable
        if asked.missing:
            verdicts |= asked.missing

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each resource that is short, with what is asked for and what is free."""
        offered, held = node.allocatable, node.requested
        for name, amount in state.pod.requests.value.wanted.items():
            if f"Insufficient {name}" in status.reasons:
                yield _shortage(name, amount, offered.get(name, 0), held.get(name, 0))
        if _PODS_REASON in status.reasons:
            yield f"all {offered['pods']} places for pods are in use"

    def version_rules(self, state: CycleState, pod: Pod) -> Iterator[RuleOfVersion]:
        """Rule: in kube-scheduler v1.33, nodes that can never take the pod count for preemption."""
        if self.release.before(34):
            if self._is_too_large(state.pod.requests.value):
                text = "v1.33 tries preemption on nodes that are too small even when empty; v1.34 does not"
                yield RuleOfVersion(text)
        elif pod.spec.resources and state.find(FitState) is not None:
            yield from _of_pod_level(state, pod, self.handle.snapshot().nodes)

    def _is_too_large(self, requests: PodRequests) -> bool:
        """Whether some node offers less of something than the pod asks for."""
        nodes = self.handle.snapshot().nodes
        rows = ((nodes.columns.resources.find(name), amount) for name, amount in self._checked(requests))
        return any(row is not None and bool((nodes.allocatable[row] < amount).any()) for row, amount in rows)

    def explain_alike(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """Nodes that offer and hold the same of what the pod wants."""
        places = map(nodes.columns.resources.find, state.pod.requests.value.wanted)
        rows = [place for place in places if place is not None]
        return equal_rows(len(nodes), [nodes.allowed_pods, *nodes.allocatable[rows], *nodes.requested[rows]])

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        part = state.pod.requests
        served = self._served(part)
        return (part, served) if served else part

    # --- score ---

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Nothing to prepare: the score reads the pod's requests themselves."""
        return Status.SUCCESS

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The weighted mean of the resources' scores; 0 where none counts."""
        scored = self._scored(state.pod.requests, nodes)
        if not scored.rows:
            return np.zeros(len(nodes), dtype=np.int64)
        room = nodes.allocatable[scored.room_rows]
        used = scored.counted(nodes) + scored.amounts
        all_count = scored.offered <= nodes.columns.offered_everywhere or np.count_nonzero(room) == room.size
        score = self._resource_scores(used, room if all_count else np.maximum(room, 1))
        if all_count and self._shape is None:
            mean: IntVector = weighted_sum(scored.weights, score) // scored.total_weight
            return mean
        counts = room > 0 if self._shape is None else (room > 0) & (score > 0)
        total = weighted_sum(scored.weights, score * counts)
        weight = np.maximum(weighted_sum(scored.weights, counts), 1)
        return floor_divide(total, weight) if self._shape is None else round_half_away(total / weight)

    def _scored(self, requests: Part[PodRequests], nodes: Nodes) -> "Scored":
        """The configured resources that can count for a pod; found again when the resource axis changes."""
        resources = nodes.columns.resources
        key, generation = (self, "score"), resources.log.generation
        known: Scored | None = requests.compiled.get(key)
        if known is None or known.generation != generation:
            amounts = requests.value.scored
            known = requests.compiled[key] = Scored(
                generation,
                [
                    (row, amounts.get(resource.name, 0), resource.weight)
                    for resource in self.args.scoring_strategy.resources
                    if (row := resources.find(resource.name)) is not None
                    and (resource.name in _BASIC or amounts.get(resource.name, 0))
                ],
            )
        return known

    def _resource_scores(self, used: IntMatrix, room: IntMatrix) -> IntMatrix:
        """(resources, nodes): each resource's score; `room` is positive, anything where the node has none."""
        if self._is_least_allocated:
            return floor_divide(np.maximum(room - used, _ZERO) * _HUNDRED, room)
        utilization = floor_divide(np.minimum(used, room) * _HUNDRED, room)
        return utilization if self._shape is None else self._shape[utilization]

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.pod.requests

    # --- what may help ---

    def events_to_register(self) -> list[EventRegistration]:
        """Room that appears: a pod leaves or shrinks, a node comes or grows, a device class serves a resource."""
        shrinks = ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN
        grows = ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE
        return [
            registration(EventResource.POD, shrinks, _pod_hint, self._requests),
            registration(EventResource.NODE, grows, self._node_hint, self._requests),
            registration(EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE, _class_hint, self._requests),
        ]

    def _requests(self, pod: Pod) -> Hashable:
        return self.handle.cluster_state.pod_info(pod).requests

    def _node_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        wanted, room = PodRequests(pod).wanted, allocatable_of(new)
        served = self.handle.cluster_state.devices.classes.serving(wanted)
        delegated = [name for name in served if room.get(name, 0) <= 0]
        asked = {name: amount for name, amount in wanted.items() if amount and name not in delegated}
        if room.get("pods", 0) < 1 or any(amount > room.get(name, 0) for name, amount in asked.items()):
            return QueueingHint.SKIP
        if not isinstance(old, Node) or delegated:
            return QueueingHint.QUEUE
        before = allocatable_of(old)
        return queue_if(any(room.get(name, 0) > before.get(name, 0) for name in ("pods", *asked)))


class EarlierNodeResourcesFit(NodeResourcesFit):
    """The same before v1.36, which checks its arguments otherwise."""

    name = "NodeResourcesFit"
    Args = EarlierNodeResourcesFitArgs
    args: EarlierNodeResourcesFitArgs


def missing_resources(state: CycleState, nodes: Nodes) -> tuple[list[str], IntMatrix]:
    """How much is missing on each node for one more such pod, by the resources that the filter checks.

    Args:
        state: of the pod, after PreFilter.
    Returns: the resources, `pods` first; and (resources, nodes) int64, 0 where there is enough.
    """
    fit = state.read(FitState)
    missing = np.zeros((1 + len(fit.names), len(nodes)), dtype=np.int64)
    missing[0] = nodes.n_pods + 1 - nodes.allowed_pods
    for i, name in enumerate(fit.names):
        row = nodes.columns.resources.find(name)
        is_served = fit.is_served is not None and fit.is_served[i, 0]
        if row is not None:
            room = nodes.allocatable[row]
            lacks = fit.amounts[i] - (room - nodes.requested[row])
            missing[i + 1] = np.where(room > 0, lacks, 0) if is_served else lacks
        elif not is_served:
            missing[i + 1] = fit.amounts[i]
    return ["pods", *fit.names], np.maximum(missing, 0)


def _pod_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(old, Pod)
    if not isinstance(new, Pod):
        return queue_if(is_placed(old))
    if new.uid == pod.uid:
        return QueueingHint.QUEUE
    if not new.node_name:
        return QueueingHint.SKIP
    before, after = PodRequests(old).held, PodRequests(new).held
    wanted = PodRequests(pod).wanted
    return queue_if(any(amount > 0 and after.get(name, 0) < before.get(name, 0) for name, amount in wanted.items()))


def _class_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    wanted = PodRequests(pod).wanted
    return queue_if(any(wanted.get(name, 0) for name in set(resources_of_class(new)) - set(resources_of_class(old))))


def _of_pod_level(state: CycleState, pod: Pod, nodes: Nodes) -> Iterator[RuleOfVersion]:
    """That what is short on some nodes is what the pod asks for itself, and not its containers.

    Rule: kube-scheduler v1.33 does not read spec.resources by default; v1.34 and later do.
    """
    without = edited(pod, spec=msgspec.structs.replace(pod.spec, resources=None))
    own, theirs = state.pod.requests.value.wanted, PodRequests(without).wanted
    names, missing = missing_resources(state, nodes)
    short = [names[i] for i in np.flatnonzero(missing.max(axis=1, initial=0) > 0).tolist()]
    names = [name for name in short if own.get(name, 0) != theirs.get(name, 0)]
    if names:
        mine = joined(f"{in_words(name, own.get(name, 0))} {name}" for name in names)
        asked = joined(f"{in_words(name, theirs.get(name, 0))} {name}" for name in names)
        text = f"the request for {mine} is the pod's own spec.resources, while its containers ask for {asked}"
        yield RuleOfVersion(f"{text}; v1.33 does not read spec.resources (feature gate PodLevelResources)")


def allocatable_of(node: Node) -> dict[str, int]:
    """What an empty node offers, in canonical units; only names that the scheduler keeps."""
    return {
        name: whole_units(name, parse_quantity(text))
        for name, text in (node.status.allocatable or {}).items()
        if name in _BASIC or name == "pods" or is_scalar_resource(name)
    }


def _shortage(name: str, wanted: int, offered: int, held: int) -> str:
    asked, room, free = in_words(name, wanted), in_words(name, offered), offered - held
    if offered <= 0:
        return f"requests {asked} {name}; the node has none"
    if wanted > offered:
        return f"requests {asked} {name}; the whole node has {room}"
    short = in_words(name, wanted - free)
    return f"{name} is short by {short}: requests {asked}, {in_words(name, max(free, 0))} of {room} free"
