"""VolumeBinding: every claim of the pod is bound to a volume that the node reaches, or will be when the pod is there.

Rule: kube-scheduler VolumeBinding; it scores only with the gate StorageCapacityScoring, which is on since v1.37.
Parts: volume_matching (bound claims, static matching), volume_provisioning, storage_scoring, binding_plan (what Reserve
assumes and PreBind writes).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import SELECTED_NODE, PersistentVolumeClaim, Pod, StorageClass
from kubesched.engine import IntVector
from kubesched.errors import ClaimError
from kubesched.framework import CycleState, DependsOn, EventRegistration, Plugin, Status, Verdicts, WriteObject
from kubesched.plugins.args import ScoringVolumeBindingArgs, VolumeBindingArgs
from kubesched.plugins.binding_plan import BindingPlan
from kubesched.plugins.broken_line import broken_linear
from kubesched.plugins.rules_of_versions import RuleOfVersion
from kubesched.plugins.storage_scoring import storage_scores
from kubesched.plugins.taken_volumes import TakenVolumes
from kubesched.plugins.volume_binding_hints import EVENTS
from kubesched.plugins.volume_matching import NO_VOLUME, ClaimWish, matching_volumes, reach_of_bound, wish_of
from kubesched.plugins.volume_provisioning import NO_STORAGE, NONE_TO_BIND, provisioning_problems
from kubesched.plugins.volume_rejections import alike_for_claims, not_provided, unreached
from kubesched.state import ClaimUse, NodeInfo, Nodes, is_bound, not_owned, storage_class_of

Problems = npt.NDArray[np.int16]

# Problems of the bound claims (0, 1, 2) and of the others (0, 1, 2) make a verdict of the form 3 * bound + other.
_UNREACHABLE: Final = 1
_VOLUME_GONE: Final = 2
_BOUND_TEXTS: Final = (
    "",
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
)
_OTHER_TEXTS: Final = {
    0: "",
    NONE_TO_BIND: "node(s) didn't find available persistent volumes to bind",
    NO_STORAGE: "node(s) did not have enough free storage",
}
_NOT_PROVIDED: Final = frozenset((_OTHER_TEXTS[NONE_TO_BIND], _OTHER_TEXTS[NO_STORAGE]))
_ORDER: Final = (_BOUND_TEXTS[_UNREACHABLE], *_OTHER_TEXTS.values(), _BOUND_TEXTS[_VOLUME_GONE])


def _verdict_status(verdict: int) -> Status:
    texts = {_BOUND_TEXTS[verdict // 3], _OTHER_TEXTS[verdict % 3]}
    return Status.unresolvable(*(text for text in _ORDER if text and text in texts))


_ATTRIBUTES_GATE: Final = "VolumeAttributesClass"


class PodClaims(msgspec.Struct, frozen=True):
    """The pod's claims, in its order.

    Attributes:
        bound: those that have their volume.
        delayed: those that get one when the pod is placed.
    """

    bound: tuple[PersistentVolumeClaim, ...] = ()
    delayed: tuple[PersistentVolumeClaim, ...] = ()


_NO_CLAIMS: Final = PodClaims()


class VolumesAtHand(msgspec.Struct):
    """By claim, why it finds no volume; the words are the same for all nodes."""

    words: dict[str, str] = {}


class VolumeBinding(Plugin):
    """Filter by where volumes can be had, reserve them, and see that they are bound before the pod is."""

    Args = VolumeBindingArgs
    args: VolumeBindingArgs
    depends_on = DependsOn.CLUSTER
    equal_by = ("own_claims",)
    reads = ("CSIDriver", "CSINode", "CSIStorageCapacity", "PersistentVolume", "PersistentVolumeClaim", "StorageClass")
    reasons = tuple(_verdict_status(verdict) for verdict in range(1, 9))

    # --- filter ---

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Find the claims and sort them into bound and delayed; any other rejects the pod."""
        uses = state.pod.volumes.claims
        if not uses:
            state.write(_NO_CLAIMS)
            return Status.SKIP
        claims = []
        for use in uses:
            claim = self.handle.get("PersistentVolumeClaim", pod.namespace, use.name)
            if not isinstance(claim, PersistentVolumeClaim):
                return Status.unresolvable(_missing(use))
            problem = _claim_problem(pod, use, claim)
            if problem:
                return Status.unresolvable(problem)
            claims.append(claim)
        return self._sorted(state, claims)

    def _sorted(self, state: CycleState, claims: Sequence[PersistentVolumeClaim]) -> Status:
        bound, delayed, n_immediate = [], [], 0
        for claim in claims:
            if is_bound(claim):
                bound.append(claim)
                continue
            storage_class = self.handle.get("StorageClass", "", storage_class_of(claim))
            mode = storage_class.volume_binding_mode if isinstance(storage_class, StorageClass) else "Immediate"
            if mode is None:
                return Status.error(f'VolumeBindingMode not set for StorageClass "{storage_class_of(claim)}"')
            if mode == "WaitForFirstConsumer" and not claim.spec.volume_name:
                delayed.append(claim)
            else:
                n_immediate += 1
        if n_immediate:
            return Status.unresolvable("pod has unbound immediate PersistentVolumeClaims")
        state.write(PodClaims(tuple(bound), tuple(delayed)))
        return Status.SUCCESS

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """A number for each combination of problems; the higher ones are faults."""
        claims = state.read(PodClaims, "not found")
        statuses = list(self.reasons)
        verdicts = self._bound_verdicts(claims.bound, nodes, statuses)
        if claims.delayed:
            self._add_delayed_verdicts(verdicts, claims.delayed, nodes, statuses)
        return Verdicts(verdicts, statuses)

    def _bound_verdicts(
        self, claims: Sequence[PersistentVolumeClaim], nodes: Nodes, statuses: list[Status]
    ) -> Problems:
        verdicts = np.zeros(len(nodes), dtype=np.int16)
        volumes = self.handle.cluster_state.volumes
        for claim in claims:
            fits = verdicts == 0
            known = volumes.persistent.find(claim.spec.volume_name)
            if known is None:
                verdicts[fits] = 3 * _VOLUME_GONE
                break
            reached, is_faulty = reach_of_bound(known, volumes, nodes)
            verdicts[fits & ~reached] = 3 * _UNREACHABLE
            if is_faulty is not None and is_faulty.any():
                verdicts[fits & is_faulty] = _add_error(statuses, known.translation_error)
        return verdicts

    def _add_delayed_verdicts(
        self, verdicts: Problems, claims: Sequence[PersistentVolumeClaim], nodes: Nodes, statuses: list[Status]
    ) -> None:
        """Claims whose provisioner got a node fit only there; without such claims, all nodes are judged."""
        is_faulty = verdicts > len(self.reasons)
        positions = _open_positions(claims, nodes)
        if positions is None:
            problems, error = self._problems(claims, nodes)
        else:
            problems = np.full(len(nodes), NONE_TO_BIND, dtype=np.int16)
            problems[positions], error = self._problems(claims, nodes.select(positions))
        if error:
            number = _add_error(statuses, error)
            verdicts[~is_faulty if positions is None else positions[~is_faulty[positions]]] = number
            is_faulty = verdicts > len(self.reasons)
        verdicts[~is_faulty] += problems[~is_faulty]

    def _problems(self, claims: Sequence[PersistentVolumeClaim], nodes: Nodes) -> tuple[Problems, str]:
        """The problem of delayed claims on each node, or why it cannot be determined."""
        problems = np.zeros(len(nodes), dtype=np.int16)
        try:
            matches = self._matches(claims, nodes)
        except ClaimError as error:
            return problems, str(error)
        snapshot = self.handle.snapshot()
        for claim in _selected(claims):
            problems = np.where(problems == 0, provisioning_problems(claim, snapshot, nodes), problems)
        for wanted, numbers in matches:
            if (numbers == NO_VOLUME).any():
                missing = provisioning_problems(wanted.claim, snapshot, nodes)
                problems = np.where((problems == 0) & (numbers == NO_VOLUME), missing, problems)
        return problems, ""

    def _matches(self, claims: Sequence[PersistentVolumeClaim], nodes: Nodes) -> list[tuple[ClaimWish, IntVector]]:
        """The volume that each claim without a node would get on each node, smallest claims first.

        Raises:
            ClaimError: a claim's selector does not parse, or it has an attributes class that the version does not know.
        """
        persistent = self.handle.cluster_state.volumes.persistent
        unmatched = [wish_of(claim) for claim in claims if SELECTED_NODE not in claim.annotations]
        taken = TakenVolumes()
        in_order = sorted(unmatched, key=lambda wanted: wanted.wish.size)
        if not self.release.has(_ATTRIBUTES_GATE):
            _check_attributes(wanted.claim for wanted in in_order)
        return [(wanted, matching_volumes(wanted, persistent, nodes, taken)) for wanted in in_order]

    def version_rules(self, state: CycleState, pod: Pod) -> Iterator[RuleOfVersion]:
        """Claims of an attributes class are an error without its gate.

        Rule: kube-scheduler; the gate is off in v1.33, and on since v1.34.
        """
        claims = (state.find(PodClaims) or _NO_CLAIMS).delayed
        if not self.release.has(_ATTRIBUTES_GATE) and any(one.spec.volume_attributes_class_name for one in claims):
            text = "an unbound claim with volumeAttributesClassName is an error in v1.33; in v1.34 it is not"
            yield RuleOfVersion(text, may_fit_later=True)

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each bound volume that the node does not reach; why other claims get no volume there."""
        claims, snapshot = state.find(PodClaims) or _NO_CLAIMS, self.handle.snapshot()
        yield from unreached(snapshot, claims.bound, node.node)
        position = snapshot.nodes.position_of(node.name)
        if position is not None and not _NOT_PROVIDED.isdisjoint(status.reasons):
            told = state.find(VolumesAtHand) or VolumesAtHand()
            state.write(told)
            yield from not_provided(snapshot, claims.delayed, snapshot.nodes.select(np.array([position])), told.words)

    def explain_alike(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """Nodes in the same places, as far as the volumes are concerned."""
        claims = state.find(PodClaims) or _NO_CLAIMS
        return alike_for_claims(self.handle.snapshot(), claims.bound, claims.delayed, nodes)

    # --- score ---

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        return Status.SKIP

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """0, because a pre_score that skips was not asked."""
        return np.zeros(len(nodes), dtype=np.int64)

    # --- reserve and bind ---

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Assume what the delayed claims get on the node, so that the next pod finds it taken."""
        claims = state.find(PodClaims)
        if claims is None:
            return Status.error("not found")
        if not claims.delayed:
            return Status.SUCCESS
        nodes = self.handle.snapshot().nodes
        position = nodes.position_of(node_name)
        if position is not None:
            plan = self._plan(claims.delayed, nodes.select(np.array([position])), node_name)
            self.handle.cluster_state.assume_objects(pod.uid, plan.assumed())
            state.write(plan)
        return Status.SUCCESS

    def _plan(self, claims: Sequence[PersistentVolumeClaim], node: Nodes, node_name: str) -> BindingPlan:
        persistent = self.handle.cluster_state.volumes.persistent
        provisioned = _selected(claims)
        bindings = []
        for wanted, numbers in self._matches(claims, node):
            if numbers[0] == NO_VOLUME:
                provisioned.append(wanted.claim)
            else:
                bindings.append((persistent.by_number(int(numbers[0])).volume, wanted.claim))
        return BindingPlan(node_name, bindings, provisioned)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Nothing to do: forgetting the pod takes back what was assumed with it."""

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Skip where all claims were bound before."""
        return Status.SKIP if state.find(BindingPlan) is None else Status.SUCCESS

    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Write volumes, then claims, and wait until others have bound them for good."""
        plan = state.find(BindingPlan)
        if plan is None:
            return Status.SUCCESS
        for kind, obj in plan.assumed():
            done = await self.handle.perform(WriteObject(kind, obj))
            if done.error:
                return Status.error(done.error)
            plan.note_written(done.answer)
        state_now = self.handle.cluster_state
        seconds = self.args.bind_timeout_seconds
        await self.handle.wait(lambda: plan.outcome(state_now, pod), seconds, lambda: plan.objects_read(state_now, pod))
        outcome = plan.outcome(state_now, pod)
        error = "context deadline exceeded" if outcome is None else outcome.error
        return Status.error(f"binding volumes: {error}") if error else Status.SUCCESS

    def events_to_register(self) -> list[EventRegistration]:
        """Everything that claims, volumes and capacity are read from, and nodes."""
        return list(EVENTS)


class ScoringVolumeBinding(VolumeBinding):
    """The same with the gate StorageCapacityScoring."""

    name = "VolumeBinding"
    Args = ScoringVolumeBindingArgs
    args: ScoringVolumeBindingArgs

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        return Status.SUCCESS

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The less of the storage is used then, the more, with the default shape."""
        delayed = (state.find(PodClaims) or _NO_CLAIMS).delayed
        if not delayed:
            return np.zeros(len(nodes), dtype=np.int64)
        shape = broken_linear([(point.utilization, 10 * point.score) for point in self.args.shape or ()])
        return storage_scores(_selected(delayed), self._matches(delayed, nodes), self.handle.snapshot(), nodes, shape)


def _missing(use: ClaimUse) -> str:
    if use.is_ephemeral:
        return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{use.name}"'
    return f'persistentvolumeclaim "{use.name}" not found'


def _claim_problem(pod: Pod, use: ClaimUse, claim: PersistentVolumeClaim) -> str:
    """Why the pod cannot be placed with this claim; empty when it can."""
    if claim.status.phase == "Lost":
        gone = claim.spec.volume_name
        return f'persistentvolumeclaim "{use.name}" bound to non-existent persistentvolume "{gone}"'
    if claim.is_terminating:
        return f'persistentvolumeclaim "{use.name}" is being deleted'
    if use.is_ephemeral and not claim.is_made_for(pod):
        return not_owned(claim, pod)
    return ""


def _check_attributes(claims: Iterable[PersistentVolumeClaim]) -> None:
    """Refuse attributes classes.

    Rule: kube-scheduler before v1.34, where the gate is off.
    """
    for claim in claims:
        if claim.spec.volume_attributes_class_name:
            raise ClaimError(
                f"unsupported volumeAttributesClassName is set on claim {claim.key} when the feature-gate "
                f"{_ATTRIBUTES_GATE} is disabled"
            )


def _selected(claims: Sequence[PersistentVolumeClaim]) -> list[PersistentVolumeClaim]:
    """Claims whose provisioner already got a node."""
    return [claim for claim in claims if SELECTED_NODE in claim.annotations]


def _open_positions(claims: Sequence[PersistentVolumeClaim], nodes: Nodes) -> npt.NDArray[np.intp] | None:
    """The entries that all selected claims agree on; None for all where no claim has a node."""
    names = {claim.annotations[SELECTED_NODE] for claim in _selected(claims)}
    if not names:
        return None
    position = nodes.position_of(names.pop()) if len(names) == 1 else None
    return np.array([] if position is None else [position], dtype=np.intp)


def _add_error(statuses: list[Status], text: str) -> int:
    statuses.append(Status.error(text))
    return len(statuses)
