"""What is written about the resource claims of a pod that is placed, each write carried out in memory."""

from collections.abc import Coroutine, Iterator
from itertools import count
from typing import Any, TypeVar

import msgspec

from kubesched.api import Pod
from kubesched.framework import Action, Framework, Status
from kubesched.plugins import SPECIAL_CLAIM, ClaimPlan, PodDemand
from kubesched.scheduler import run_pre_bind
from kubesched.session.attempt import Attempt
from kubesched.session.memory_cluster import MemoryCluster

T = TypeVar("T")

_PLUGIN = "DynamicResources"
_OF_CREATED = ("annotations", "generateName", "labels", "namespace", "ownerReferences")


class WrittenClaim(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A claim as it was written, without what depends on the clock or on chance.

    Attributes:
        claim: `namespace/name`; that for extended resources has the name `<extended-resources>`.
        created: its metadata and spec, if it was created.
        allocation: as it was written; empty for a claim that had one before.
        reserved_for: its users.
        finalizers: as they are now.
    """

    claim: str
    created: dict[str, Any] = {}
    allocation: dict[str, Any] = {}
    reserved_for: tuple[dict[str, Any], ...] = ()
    finalizers: tuple[str, ...] = ()


class WrittenForPod(msgspec.Struct, frozen=True):
    """What was written for a pod.

    Attributes:
        claims: in the order of their names.
        extended: the new extendedResourceClaimStatus of the pod.
        reserve, pre_bind: what failed; None for nothing. If something did, the pod cannot be bound.
    """

    claims: tuple[WrittenClaim, ...] = ()
    extended: dict[str, Any] = {}
    reserve: Status | None = None
    pre_bind: Status | None = None


def write_claims(
    framework: Framework, cluster: MemoryCluster, tried: Attempt, pod: Pod, node_name: str
) -> WrittenForPod:
    """Reserve and write the claims of a pod, as far as DynamicResources is concerned.

    Args:
        pod: as it is assumed on the node.
    """
    demand = tried.state.find(PodDemand)
    if demand is None or not (demand.claims or demand.served):
        return WrittenForPod()
    only, state = framework.only(_PLUGIN), tried.state
    status = only.run_reserve(state, pod, node_name)
    if not status.is_success:
        return WrittenForPod(reserve=status)
    status = _carried_out(cluster, run_pre_bind(only, state, pod, node_name))
    if not status.is_success:
        only.run_unreserve(state, pod, node_name)
        return WrittenForPod(pre_bind=status)
    plan = state.find(ClaimPlan)
    if plan is None:
        return WrittenForPod()
    claims = tuple(sorted(_written(demand, plan), key=lambda one: one.claim))
    mappings = msgspec.to_builtins(plan.request.mappings)
    extended = {"resourceClaimName": SPECIAL_CLAIM, "requestMappings": mappings} if plan.created is not None else {}
    return WrittenForPod(claims, extended)


def _written(demand: PodDemand, plan: ClaimPlan) -> Iterator[WrittenClaim]:
    had_devices = {claim.key for claim in demand.claims if claim.status.allocation is not None}
    for claim in {claim.key: claim for claim in plan.written}.values():
        document = claim.document
        status, metadata = document.get("status") or {}, document["metadata"]
        is_created = plan.created is not None and claim.name == plan.created.name
        yield WrittenClaim(
            f"{claim.namespace}/{SPECIAL_CLAIM}" if is_created else claim.key,
            _created(document) if is_created else {},
            {} if claim.key in had_devices else _without_chance(status["allocation"]),
            tuple(status.get("reservedFor") or ()),
            tuple(metadata.get("finalizers") or ()),
        )


def _created(document: dict[str, Any]) -> dict[str, Any]:
    metadata = {name: value for name in _OF_CREATED if (value := document["metadata"].get(name))}
    return {"metadata": metadata, "spec": document["spec"]}


def _without_chance(allocation: dict[str, Any]) -> dict[str, Any]:
    """An allocation without its time; shares are numbered."""
    numbers = count(1)
    results = [
        {**one, "shareID": f"share-{next(numbers)}"} if "shareID" in one else one
        for one in allocation["devices"].get("results") or ()
    ]
    shown = {name: value for name, value in allocation.items() if name != "allocationTimestamp"}
    return {**shown, "devices": {**allocation["devices"], **({"results": results} if results else {})}}


def _carried_out(cluster: MemoryCluster, cycle: Coroutine[Any, Any, T]) -> T:
    """Run a cycle to its end; what it waits for has happened, or does not happen."""
    answer: object = None
    while True:
        try:
            request = cycle.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        answer = cluster.perform(request) if isinstance(request, Action) else bool(request.condition())
