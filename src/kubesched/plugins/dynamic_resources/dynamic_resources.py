"""DynamicResources: the devices of resource claims, and of extended resources that device classes serve.

Rule: kube-scheduler v1.36 DynamicResources with its default gates. Parts: pod_claims (which claims a pod has), asks
(what they ask for), device_search (which devices of a node they get), special_claim (extended resources), allocation
(what is written), claim_hints.
"""

from collections.abc import Hashable, Iterator, Mapping
from typing import Final

import numpy as np

from kubesched.api import KubeObject, Pod, ResourceClaim
from kubesched.engine import BoolVector, IntVector
from kubesched.errors import ClaimError
from kubesched.framework import (
    Code,
    CycleState,
    DependsOn,
    Diagnosis,
    EqualScore,
    EventRegistration,
    Plugin,
    PostFilterResult,
    Status,
    Verdicts,
    WriteObject,
    default_normalize,
    keeps_equal,
)
from kubesched.plugins.args import DynamicResourcesArgs, UnboundDynamicResourcesArgs
from kubesched.plugins.dynamic_resources.allocation import allocated, deallocated, is_used_by, used_by
from kubesched.plugins.dynamic_resources.asks import alternatives_of
from kubesched.plugins.dynamic_resources.binding_conditions import attach, has_conditions, has_failed
from kubesched.plugins.dynamic_resources.claim_hints import claim_events
from kubesched.plugins.dynamic_resources.claim_plan import CLAIM, ClaimPlan, deletion, new_special_claim
from kubesched.plugins.dynamic_resources.device_reasons import device_reasons, elsewhere
from kubesched.plugins.dynamic_resources.device_search import PARTITIONS, Chosen, Shortage
from kubesched.plugins.dynamic_resources.patience import Patience
from kubesched.plugins.dynamic_resources.pod_claims import claims_of
from kubesched.plugins.dynamic_resources.pod_demand import Found, PodDemand, chosen_on, demand_of
from kubesched.plugins.dynamic_resources.request_devices import has_ignored
from kubesched.plugins.dynamic_resources.selector_refusals import failing_selectors
from kubesched.plugins.rules_of_versions import RuleOfVersion, gate_is_off
from kubesched.state import NodeInfo, Nodes, NodeTerms

_NOTHING_TO_FREE: Final = Status.unschedulable("no new claims to deallocate")
_STILL_NOT: Final = Status.unschedulable("still not schedulable")
_NOT_FOUND: Final = "not found"
_NOT_AVAILABLE: Final = "resourceclaim not available on the node"
_MOST_POINTS: Final = 8
_NO_POINTS: Final = EqualScore(0)
_NO_DEMAND: Final = PodDemand(Pod())

# What verdicts mean; those that end the attempt come behind them.
_REASONS: Final = (
    Status.unresolvable(Shortage.NOT_ENOUGH.value),
    Status.unresolvable(Shortage.INVALID_POOLS.value),
    Status.unresolvable(_NOT_AVAILABLE),
    Status.unresolvable("cannot schedule extended resource claim"),
)
_NUMBERS: Final = {Shortage.NOT_ENOUGH: 1, Shortage.INVALID_POOLS: 2}
_UNAVAILABLE: Final = 3
_LEFT_OVER: Final = 4
_TIMED_OUT: Final = -1  # the text names the node


class DynamicResources(Plugin):
    """Fit by the devices that the claims of a pod can have; reserve them, and write the claims."""

    Args = DynamicResourcesArgs
    args: DynamicResourcesArgs
    depends_on = DependsOn.DEVICES
    equal_by = ("own_claims", "requests")
    reads = ("DeviceClass", "ResourceClaim", "ResourceSlice")
    reasons = _REASONS

    def pre_enqueue(self, pod: Pod) -> Status:
        """Wait until the claims are there."""
        claims = claims_of(pod, self.handle.cluster_state.objects)
        return claims if isinstance(claims, Status) else Status.SUCCESS

    # --- filter ---

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Find the claims; skip where the pod needs none."""
        state.write(_NO_DEMAND)
        handle, wanted = self.handle, state.pod.requests.value.wanted
        demand = demand_of(pod, handle.cluster_state, wanted, each_once=handle.avoids_known_faults)
        if isinstance(demand, Status):
            return demand
        state.write(demand)
        return Status.SUCCESS

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """Allocate on each node by itself, then look where allocated claims are."""
        demand, statuses = state.read(PodDemand, _NOT_FOUND), [*_REASONS]
        if demand.left_over is not None:
            return Verdicts(np.full(len(nodes), _LEFT_OVER, dtype=np.int16), statuses)
        numbers, results = demand.allocate(self.handle.cluster_state, nodes, self._patience)
        verdicts = np.array([_verdict(found, statuses) for found in results])[numbers]
        for position in np.flatnonzero(verdicts == _TIMED_OUT).tolist():
            text = f"node {nodes.name(position)}: {Shortage.TIMED_OUT.value}"
            statuses.append(Status.error(text))
            verdicts[position] = len(statuses)
        for claim in demand.claims:
            if claim.status.allocation is not None:
                is_available = _is_available(claim, nodes) & (not self._has_failed(claim))
                verdicts[(verdicts == 0) & ~is_available] = _UNAVAILABLE
        return Verdicts(verdicts, statuses)

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        demand = state.read(PodDemand, _NOT_FOUND)
        failed = tuple([self._has_failed(claim) for claim in demand.claims])
        return demand.key(self.handle.cluster_state), failed

    def _has_failed(self, claim: ResourceClaim) -> bool:
        """Whether the devices of an allocated claim cannot be attached."""
        return has_conditions(claim) and has_failed(claim, self.handle.clock.now(), self.args.binding_limit)

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """What is in the way of each request, and where allocated claims are."""
        demand, nodes = state.find(PodDemand) or _NO_DEMAND, self.handle.snapshot().nodes
        position = nodes.position_of(node.name)
        if position is None or demand.left_over is not None:
            return
        here, cluster_state = nodes.select(np.array([position])), self.handle.cluster_state
        asks = demand.asks_on(demand.served_on(nodes, position), cluster_state)
        pools = cluster_state.devices.pools_of(nodes.row(position))
        if status.code is Code.ERROR:
            yield from failing_selectors(pools, asks, self.release)
        elif status.reasons == _REASONS[_UNAVAILABLE - 1].reasons:
            yield from elsewhere(claim for claim in demand.claims if not _is_available(claim, here).all())
        elif "ResourceSlice" not in cluster_state.objects:
            yield "there are no ResourceSlices, so there are no devices"
        elif status.reasons[0] in (Shortage.NOT_ENOUGH.value, Shortage.INVALID_POOLS.value):
            yield from device_reasons(pools, cluster_state.devices, asks)

    def explain_alike(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """Nodes whose devices are alike, as far as the claims see them."""
        return (state.find(PodDemand) or _NO_DEMAND).alike(self.handle.cluster_state, nodes)

    def version_rules(self, state: CycleState, pod: Pod) -> Iterator[RuleOfVersion]:
        """Rule: without the gate DRAPartitionableDevices, which is on since v1.36, no claim gets a part of a device."""
        demand, cluster_state = state.find(PodDemand) or _NO_DEMAND, self.handle.cluster_state
        if self.release.has(PARTITIONS) or not demand.asks:
            return
        nodes = self.handle.snapshot().nodes
        _, positions = np.unique(demand.alike(cluster_state, nodes), return_index=True)
        kinds = (cluster_state.devices.pools_of(nodes.row(position)) for position in positions.tolist())
        asks = [one for claim in demand.asks for one in claim.ask.asks]
        if any(has_ignored(pools, cluster_state.devices, ask) for pools in kinds for ask in asks):
            yield gate_is_off(self.release, PARTITIONS, "gives parts of devices to no claim")

    # --- when nothing fits ---

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[PostFilterResult | None, Status]:
        """Free a claim that is allocated where the pod cannot run, and that no other pod uses."""
        demand = state.find(PodDemand)
        if demand is None:
            return None, Status.error(_NOT_FOUND)
        if not demand.claims and not demand.served:
            return None, self._not_helped(_NOTHING_TO_FREE)
        if demand.left_over is not None:
            writes = tuple(deletion(demand.left_over))
            return PostFilterResult(writes=writes), Status.unschedulable("deletion of ResourceClaim completed")
        for claim in self._unavailable(demand, diagnosis):
            if all(user.uid == pod.uid for user in claim.status.reserved_for or ()):
                write = WriteObject(CLAIM, deallocated(claim, pod), "status")
                return PostFilterResult(writes=(write,)), Status.unschedulable(
                    "deallocation of ResourceClaim completed"
                )
        return None, self._not_helped(_STILL_NOT)

    def _not_helped(self, status: Status) -> Status:
        """That nothing was freed; since v1.37 without a text."""
        return status if self.release.before(37) else Status(status.code)

    def _unavailable(self, demand: PodDemand, diagnosis: Diagnosis) -> Iterator[ResourceClaim]:
        """The claims for which this plugin rejected some node."""
        if diagnosis.result is None:
            return
        statuses, reasons = diagnosis.statuses(), _REASONS[_UNAVAILABLE - 1].reasons
        wanted = [one.plugin == "DynamicResources" and one.reasons == reasons for one in statuses.distinct]
        nodes = diagnosis.result.nodes.select(np.flatnonzero(np.array(wanted)[statuses.index]))
        for claim in demand.claims:
            if self._has_failed(claim) or not _is_available(claim, nodes).all():
                yield claim

    def choices(self, demand: PodDemand, nodes: Nodes) -> Iterator[tuple[int, dict[str, Chosen]]]:
        """What each claim of a pod gets on the nodes where all claims get something: the position, and by claim."""
        return demand.choices(self.handle.cluster_state, nodes, self._patience)

    # --- score ---

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """Points for the alternatives that requests get: the more, the earlier the request lists them."""
        demand = state.read(PodDemand, _NOT_FOUND)
        if not _has_alternatives(demand):
            return np.zeros(len(nodes), dtype=np.int64)
        numbers, results = demand.allocate(self.handle.cluster_state, nodes, self._patience)
        return np.array([_points(demand, found) for found in results], dtype=np.int64)[numbers]

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        demand = state.read(PodDemand, _NOT_FOUND)
        if not _has_alternatives(demand):
            return _NO_POINTS
        allocated = [one for one in demand.claims if one.status.allocation is not None]
        return demand.key(self.handle.cluster_state), sum(map(_points_of_allocated, allocated))

    @keeps_equal
    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        """The best becomes 100."""
        return default_normalize(scores)

    # --- reserve and bind ---

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Assume what the claims get on the node, so that the next pod finds it taken."""
        plan = self.planned(state, node_name)
        if isinstance(plan, Status):
            return plan
        self.handle.cluster_state.assume_objects(pod.uid, plan.assumed)
        state.write(plan)
        return Status.SUCCESS

    def planned(self, state: CycleState, node_name: str) -> ClaimPlan | Status:
        """What the claims get on a node, or why they get nothing; SUCCESS if they need nothing.

        Args:
            state: what PreFilter left.
        """
        demand = state.find(PodDemand)
        if demand is None or not (demand.claims or demand.served):
            return Status.SUCCESS
        nodes = self.handle.snapshot().nodes
        position = nodes.position_of(node_name)
        if position is None:
            return Status.SUCCESS
        here = nodes.select(np.array([position]))
        numbers, results = demand.allocate(self.handle.cluster_state, here, self._patience)
        found = results[int(numbers[0])]
        if isinstance(found, Shortage | ClaimError):
            return Status.unschedulable(found.value if isinstance(found, Shortage) else str(found))
        chosen = chosen_on(self.handle.cluster_state.devices, nodes.row(position), found)
        return self._plan(demand, chosen, demand.served_on(nodes, position), node_name)

    def _plan(
        self, demand: PodDemand, chosen: tuple[Chosen, ...], served: Mapping[str, str], node_name: str
    ) -> ClaimPlan:
        """The claims of a pod with what they get; one that it lists twice is written twice."""
        pod, in_order = demand.pod, iter(chosen)
        planned: list[ResourceClaim] = []
        kept: list[ResourceClaim] = []
        latest: dict[str, ResourceClaim] = {}

        def with_devices(claim: ResourceClaim) -> ResourceClaim:
            rng, release = self.handle.rng, self.release
            return allocated(claim, next(in_order), node_name, pod, class_of=self._class_of, rng=rng, release=release)

        for claim in demand.claims:
            last = latest.get(claim.key, claim)
            if claim.status.allocation is None:
                last = with_devices(last)
            elif is_used_by(claim, pod):
                kept.append(claim)
                continue
            else:
                last = used_by(last, pod)
            latest[claim.key] = last
            planned.append(last)
        plan = ClaimPlan(planned, frozenset(claim.key for claim in demand.waiting), kept)
        if len(chosen) > len(demand.waiting) and (served or not self.handle.avoids_known_faults):
            plan.request, _ = demand.special_claim(served, self.handle.cluster_state)
            plan.special = with_devices(new_special_claim(pod, plan.request))
        return plan

    def _patience(self) -> Patience:
        return Patience(self.handle.clock, self.args.filter_timeout)

    def _class_of(self, name: str) -> KubeObject | None:
        return self.handle.get("DeviceClass", "", name)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Take back what PreBind wrote before a later step failed; forgetting the pod takes back what was assumed."""
        plan = state.find(ClaimPlan)
        for action in plan.undo(pod, self.handle.cluster_state.objects) if plan is not None else ():
            self.handle.emit(action)

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Skip where the pod has no claims."""
        return Status.SKIP if state.find(ClaimPlan) is None else Status.SUCCESS

    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Write the claims, and wait until drivers have attached their devices."""
        plan = state.find(ClaimPlan)
        if plan is None:
            return Status.SUCCESS
        error = await plan.write(self.handle, pod)
        if not error:
            claims = [claim.key for claim in state.read(PodDemand).claims]
            if plan.created is not None:
                claims.append(plan.created.key)
            error = await attach(self.handle, pod, claims, node_name, self.args.binding_limit)
        if not error:
            return Status.SUCCESS
        await plan.take_back(self.handle, pod)
        return Status.error(error)

    def events_to_register(self) -> list[EventRegistration]:
        """Devices and claims that come or change, and the nodes that have them."""
        handle = self.handle
        return claim_events(handle.cluster_state.objects, tries_at_once=handle.avoids_known_faults)


class UnboundDynamicResources(DynamicResources):
    """The same without the feature gates of binding conditions."""

    name = "DynamicResources"
    Args = UnboundDynamicResourcesArgs
    args: UnboundDynamicResourcesArgs


class UnscoredDynamicResources(UnboundDynamicResources):
    """The same before v1.35, which does not score."""

    name = "DynamicResources"
    score_nodes = Plugin.score_nodes
    score_part = Plugin.score_part
    normalize_score = Plugin.normalize_score


def _verdict(found: Found, statuses: list[Status]) -> int:
    """The number of a verdict; a claim that cannot be judged gets a further status."""
    if found is Shortage.TIMED_OUT:
        return _TIMED_OUT
    if isinstance(found, Shortage) and found in _NUMBERS:
        return _NUMBERS[found]
    if isinstance(found, Shortage | ClaimError):
        statuses.append(Status.undecided(found.value) if isinstance(found, Shortage) else Status.error(str(found)))
        return len(statuses)
    return 0


def _is_available(claim: ResourceClaim, nodes: Nodes) -> BoolVector:
    """(nodes,) bool: nodes that reach the devices of a claim; all of them where it has none yet."""
    allocation = claim.status.allocation
    if allocation is None or allocation.node_selector is None:
        return np.ones(len(nodes), dtype=np.bool_)
    return NodeTerms(allocation.node_selector).matches(nodes)


def _has_alternatives(demand: PodDemand) -> bool:
    """Whether the score can differ: something is to be allocated, and a request has alternatives."""
    if not demand.asks and not demand.served:
        return False
    requests = (request for claim in demand.claims for request in claim.spec.devices.requests or ())
    return any(request.first_available for request in requests)


def _points(demand: PodDemand, found: Found) -> int:
    """The points of a node.

    Rule: kube-scheduler v1.36: 8 for the first alternative of a request, 7 for the second, over all claims of the pod.
    """
    if isinstance(found, Shortage | ClaimError):
        return 0
    points, chosen = 0, iter(found)
    for claim in demand.claims:
        if claim.status.allocation is not None:
            points += _points_of_allocated(claim)
        else:
            points += _points_for(claim, {one.ask.name for one in next(chosen)})
    return points


def _points_of_allocated(claim: ResourceClaim) -> int:
    allocation = claim.status.allocation
    results = (allocation.devices.results or ()) if allocation is not None else ()
    return _points_for(claim, {result.request for result in results})


def _points_for(claim: ResourceClaim, names: set[str]) -> int:
    alternatives = [request for request in claim.spec.devices.requests or () if request.first_available]
    return sum(
        _MOST_POINTS - i
        for request in alternatives
        for i, (name, _) in enumerate(alternatives_of(request))
        if name in names
    )
