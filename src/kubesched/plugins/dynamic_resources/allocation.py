"""What is written into a claim once its devices are chosen.

Rule: kube-scheduler v1.36 structured allocator: results in the order of the search; the configurations of the classes,
then those of the claim, as far as they are about requests with results; and the nodes that reach all devices.
"""

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any, Final

import msgspec

from kubesched.api import KubeObject, Pod, ResourceClaim, rewritten
from kubesched.plugins.dynamic_resources.capacity_use import consumed_of
from kubesched.plugins.dynamic_resources.device_search import Chosen, ChosenDevice
from kubesched.release import Release

FINALIZER: Final = "resource.kubernetes.io/delete-protection"

Document = dict[str, Any]


def allocated(
    claim: ResourceClaim,
    chosen: Chosen,
    node_name: str,
    pod: Pod,
    *,
    class_of: Callable[[str], KubeObject | None],
    rng: Random,
    release: Release,
) -> ResourceClaim:
    """The claim with its devices and one more user, without the time of the allocation.

    Args:
        class_of: gives a device class by its name.
        rng: draws the identities of shares.
        release: the version of Kubernetes that decides how it is written.
    """

    def allocate(document: Document) -> None:
        spec = (document.get("spec") or {}).get("devices") or {}
        of_classes = _class_config(chosen, class_of, release)
        results = [_result(one, spec, rng, release) for one in chosen]
        devices = {"results": results, "config": [*of_classes, *_claim_config(chosen, spec, release)]}
        allocation: Document = {"devices": {name: value for name, value in devices.items() if value}}
        selector = node_selector_of(chosen, node_name)
        if selector:
            allocation["nodeSelector"] = selector
        document["status"] = {**(document.get("status") or {}), "allocation": allocation}
        _add_user(document, pod)

    return rewritten(claim, allocate)


def deallocated(claim: ResourceClaim, pod: Pod) -> ResourceClaim:
    """The claim without its devices, and without a pod among its users."""

    def deallocate(document: Document) -> None:
        status = {name: value for name, value in (document.get("status") or {}).items() if name != "allocation"}
        document["status"] = _without_user(status, pod)

    return rewritten(claim, deallocate)


def allocated_as(claim: ResourceClaim, planned: ResourceClaim, pod: Pod) -> ResourceClaim:
    """The claim with the devices of an earlier version of it, and one more user."""

    def allocate(document: Document) -> None:
        allocation = planned.document["status"]["allocation"]
        document["status"] = {**(document.get("status") or {}), "allocation": allocation}
        _add_user(document, pod)

    return rewritten(claim, allocate)


def used_by(claim: ResourceClaim, pod: Pod) -> ResourceClaim:
    """The claim with one more user."""
    return rewritten(claim, lambda document: _add_user(document, pod))


def unused_by(claim: ResourceClaim, pod: Pod) -> ResourceClaim:
    """The claim without a pod among its users."""

    def release(document: Document) -> None:
        document["status"] = _without_user(document.get("status") or {}, pod)

    return rewritten(claim, release)


def is_used_by(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether a pod is among the users of a claim."""
    return any(user.uid == pod.uid for user in claim.status.reserved_for or ())


def protected(claim: ResourceClaim) -> ResourceClaim | None:
    """The claim with the finalizer that it has while it is allocated; None if it has it already."""
    if FINALIZER.encode() in claim.raw and FINALIZER in _finalizers(claim.document):  # the first is much quicker
        return None

    def protect(document: Document) -> None:
        document["metadata"]["finalizers"] = [*_finalizers(document), FINALIZER]

    return rewritten(claim, protect)


def unprotected(claim: ResourceClaim) -> ResourceClaim:
    """The claim without that finalizer."""

    def release(document: Document) -> None:
        document["metadata"]["finalizers"] = [one for one in _finalizers(document) if one != FINALIZER]

    return rewritten(claim, release)


def _finalizers(document: Document) -> list[str]:
    return document["metadata"].get("finalizers") or []


def _add_user(document: Document, pod: Pod) -> None:
    status = document.get("status") or {}
    user = {"resource": "pods", "name": pod.name, "uid": pod.uid}
    document["status"] = {**status, "reservedFor": [*(status.get("reservedFor") or ()), user]}


def _without_user(status: Document, pod: Pod) -> Document:
    left = [user for user in status.get("reservedFor") or () if user.get("uid") != pod.uid]
    kept = {name: value for name, value in status.items() if name != "reservedFor"}
    return {**kept, "reservedFor": left} if left else kept


def _result(chosen: ChosenDevice, spec: Document, rng: Random, release: Release) -> Document:
    """One entry of results."""
    ask, device = chosen.ask, chosen.device
    entry: Document = {"request": ask.name, "driver": device.driver, "pool": device.pool, "device": device.name}
    if ask.is_admin:
        entry["adminAccess"] = True
    if tolerations := _written(spec, ask.name).get("tolerations"):
        entry["tolerations"] = tolerations
    for name, conditions in (
        ("bindingConditions", device.spec.binding_conditions),
        ("bindingFailureConditions", device.spec.binding_failure_conditions),
    ):
        if conditions:
            entry[name] = list(conditions)
    if device.spec.allow_multiple_allocations:
        entry["shareID"] = _random_uuid(rng)
        entry["consumedCapacity"] = consumed_by(chosen, release)
    return {name: value for name, value in entry.items() if value != {}}


def consumed_by(chosen: ChosenDevice, release: Release) -> dict[str, str]:
    """What a share of a device consumes of its capacities."""
    asked = dict(chosen.ask.capacity)
    capacities = (chosen.device.spec.capacity or {}).items()
    return {name: consumed_of(capacity, asked.get(name), release) or "" for name, capacity in capacities}


def _written(spec: Document, name: str) -> Document:
    """A request or a subrequest as the claim has it."""
    request, _, sub = name.partition("/")
    found: Document = next((one for one in spec.get("requests") or () if one.get("name") == request), {})
    if not sub:
        return found.get("exactly") or {}
    return next((one for one in found.get("firstAvailable") or () if one.get("name") == sub), {})


def _random_uuid(rng: Random) -> str:
    """A UUID of version 4."""
    bits = rng.getrandbits(128) & ~(0xF << 76) | 4 << 76
    digits = f"{bits & ~(3 << 62) | 2 << 62:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _class_config(chosen: Chosen, class_of: Callable[[str], KubeObject | None], release: Release) -> Iterator[Document]:
    """The configurations that drivers get from classes.

    Rule: kube-scheduler names the requests of the class; since v1.37 only where these are not all.
    """
    requests_of: dict[str, list[str]] = {}
    for one in chosen:
        requests_of.setdefault(one.ask.class_name, []).append(one.ask.name)
    for class_name, requests in requests_of.items():
        is_for_all = len(requests_of) == 1 and not release.before(37)
        named = {} if is_for_all else {"requests": [*dict.fromkeys(requests)]}
        known = class_of(class_name)
        for config in (known.document.get("spec") or {}).get("config") or () if known is not None else ():
            yield {**config, "source": "FromClass", **named}


def _claim_config(chosen: Chosen, spec: Document, release: Release) -> Iterator[Document]:
    """The configurations of a claim that are about requests with results.

    Rule: kube-scheduler repeats one for each of the requests that it names; since v1.37 it is there once, without
        the names if these are all requests.
    """
    requests = {one.ask.name: one.ask.name.partition("/")[0] for one in chosen}
    for config in spec.get("config") or ():
        entry, named = {**config, "source": "FromClaim"}, config.get("requests") or ()
        n_concerned = sum(not {*names}.isdisjoint(named) for names in requests.items()) if named else 1
        if named and n_concerned == len(requests) and not release.before(37):
            del entry["requests"]
        yield from [entry] * (n_concerned if release.before(37) else min(n_concerned, 1))


def node_selector_of(chosen: Iterable[ChosenDevice], node_name: str) -> Document:
    """The nodes that reach all devices; empty for all nodes."""
    expressions: list[Document] = []
    fields: list[Document] = []
    for one in chosen:
        spec, slice_spec = one.device.spec, one.device.slice_spec
        where = spec if slice_spec.per_device_node_selection else slice_spec
        if where.node_name or spec.binds_to_node:
            own = {"key": "metadata.name", "operator": "In", "values": [node_name]}
            return {"nodeSelectorTerms": [{"matchFields": [own]}]}
        terms = (where.node_selector.node_selector_terms or ()) if where.node_selector else ()
        for term in msgspec.to_builtins(terms):
            expressions += [one for one in term.get("matchExpressions") or () if one not in expressions]
            fields += [one for one in term.get("matchFields") or () if one not in fields]
    merged = {name: found for name, found in (("matchExpressions", expressions), ("matchFields", fields)) if found}
    return {"nodeSelectorTerms": [merged]} if merged else {}
