"""Finds a small part of a snapshot in which one pod still gets the same verdict, for a bug report.

Delta debugging: drop smaller and smaller groups of objects, and keep those without which the verdict changes. First
nodes are dropped with everything on them, then single pods, then single objects of any kind. The slices of one pool of
devices go together, and those of a node go with it where the pod needs devices. The result is small, but not always the
smallest.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from kubesched.api import (
    DeviceClass,
    KubeObject,
    Node,
    Pod,
    ResourceSlice,
    kind_of,
)
from kubesched.capture.device_words import requested_devices
from kubesched.controllers import node_of
from kubesched.explanation import Explanation, Fix, explain
from kubesched.framework import Status
from kubesched.naming import find_pod
from kubesched.setup import Setup
from kubesched.snapshot import ClusterObjects

_N_FIXES: Final = 3
_N_ROWS: Final = 3
_OF_DEVICES: Final = "DynamicResources"

Progress = Callable[[int, int], None]  # objects dropped so far, objects at the start
_Unit = tuple[KubeObject, ...]
_Reasons = tuple[str, str, tuple[str, ...]]


def smallest_around(
    cluster: ClusterObjects, pod: str, setup: Setup, *, progress: Progress | None = None
) -> ClusterObjects:
    """The smallest snapshot found in which `explain` gives the pod the same verdict.

    The verdict has the node that the pod goes to, or the node and the victims of preemption; which plugins reject nodes
    and for which reasons; the fault of a plugin; and the first fixes that explain offers: the texts of those that
    change the pod, and the kinds of those that change other objects, such as a pod that moves. The numbers of nodes
    that a plugin rejects and that a fix opens are not part of it. For the resource claims of the pod, it has the
    devices that they get on that node, or what is wrong with the devices of the nodes that are nearest to fitting. The
    controller of the pod, its resource claims, their templates and classes are kept, if they are in the cluster. The
    extenders of the configuration are not called.

    Args:
        pod: as for `find_pod`.
        progress: called after each try.
    Raises:
        InputError: there is no such pod, or no profile serves it.
        PluginError: a plugin cannot be started.
    """
    asked = find_pod(cluster.objects, pod)
    explanation = explain(cluster.objects, asked, setup)
    wanted = _verdict(explanation)
    claims = tuple(_claims(cluster.objects, asked))
    pinned = (asked, *_controller(cluster.objects, asked), *claims, *_classes(cluster.objects, claims))
    kept: Sequence[_Unit] = _units(cluster.objects, pinned)
    n_all = len(cluster.objects)

    def holds(units: Sequence[_Unit]) -> bool:
        objects = _in_order(cluster.objects, (*units, pinned))
        if progress is not None:
            progress(n_all - len(objects), n_all)
        return _verdict(explain(objects, asked, setup)) == wanted

    apart = _all_but_devices_apart if _needs_devices(explanation) else _all_apart
    for split in (_as_they_are, _pods_apart, apart):
        kept = _reduced(split(kept), holds)
    listed = cluster.listed_kinds | {kind_of(known) for known in cluster.objects}
    objects = tuple(_in_order(cluster.objects, (*kept, pinned)))
    return msgspec.structs.replace(cluster, objects=objects, listed_kinds=listed, notes=(), bad=())


class _Verdict(NamedTuple):
    fault: str
    best: str
    nominated: str
    victims: tuple[str, ...]
    reasons: frozenset[_Reasons]
    by_plugin: tuple[Hashable, ...]
    fixes: tuple[Hashable, ...]
    devices: Hashable


def _verdict(explanation: Explanation) -> _Verdict:
    preemption = explanation.preemption
    return _Verdict(
        fault="" if explanation.failure is None else explanation.failure.message,
        best=explanation.best[0] if explanation.best else "",
        nominated="" if preemption is None else preemption.node_name,
        victims=() if preemption is None else tuple(victim.key for victim in preemption.victims),
        reasons=_distinct(explanation.rejections.values()),
        by_plugin=tuple(
            (
                name,
                said.skipped,
                said.node_names is None,
                None if said.pre_filter is None else _reason(said.pre_filter),
                _distinct(said.rejections.values()),
            )
            for name, said in explanation.by_plugin.items()
        ),
        fixes=tuple(_said(fix) for fix in explanation.fixes[:_N_FIXES]),
        devices=_about_devices(explanation),
    )


def _about_devices(explanation: Explanation) -> Hashable:
    """The devices that the pod gets, or what is in the way of that on the nodes that are nearest to fitting."""
    if explanation.best:
        return msgspec.json.encode(explanation.allocations.get(explanation.best[0]))
    obstacles = (obstacle for row in explanation.rows[:_N_ROWS] for obstacle in row.obstacles)
    return tuple(obstacle.details for obstacle in obstacles if obstacle.plugin == _OF_DEVICES)


def _needs_devices(explanation: Explanation) -> bool:
    verdicts = explanation.by_plugin.get(_OF_DEVICES)
    return verdicts is not None and not verdicts.skipped


def _distinct(statuses: Iterable[Status]) -> frozenset[_Reasons]:
    return frozenset(_reason(status) for status in {id(status): status for status in statuses}.values())


def _reason(status: Status) -> _Reasons:
    return status.plugin, status.code.value, tuple(sorted(status.reasons))


def _said(fix: Fix) -> tuple[str, ...]:
    """What has to change of the pod, and the kinds of other changes: their texts name pods and nodes that can go."""
    return tuple(part.kind if part.change.edits else part.text for part in fix.parts or (fix,))


def _controller(objects: Iterable[KubeObject], pod: Pod) -> Iterator[KubeObject]:
    """The controller of the pod, if the cluster has it. Controllers of controllers are of kinds that are not read."""
    reference = pod.metadata.controller
    if reference is not None:
        wanted = (reference.kind, f"{pod.namespace}/{reference.name}")
        yield from (known for known in objects if (kind_of(known), known.key) == wanted)


def _claims(objects: Iterable[KubeObject], pod: Pod) -> Iterator[KubeObject]:
    """The resource claims of the pod, and the templates that its claims are made from."""
    status, entries = pod.status, pod.spec.resource_claims or ()
    claims = {one.resource_claim_name for one in entries}
    claims |= {one.resource_claim_name for one in status.resource_claim_statuses or ()}
    if status.extended_resource_claim_status is not None:
        claims.add(status.extended_resource_claim_status.resource_claim_name)
    wanted = {("ResourceClaim", f"{pod.namespace}/{name}") for name in claims}
    wanted |= {("ResourceClaimTemplate", f"{pod.namespace}/{one.resource_claim_template_name}") for one in entries}
    yield from (known for known in objects if (kind_of(known), known.key) in wanted)


def _classes(objects: Iterable[KubeObject], claims: Iterable[KubeObject]) -> Iterator[KubeObject]:
    """The device classes that claims and templates of claims name."""
    names = {one.device_class_name for one in requested_devices(claims)}
    yield from (known for known in objects if isinstance(known, DeviceClass) and known.name in names)


def _units(objects: Sequence[KubeObject], pinned: _Unit) -> list[_Unit]:
    """Each node with what is on it, each other pool of devices, every other object alone; without the pinned ones."""
    kept = {id(known) for known in pinned}
    nodes_of_pools: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for known in objects:
        if isinstance(known, ResourceSlice):
            nodes_of_pools[_pool_of(known)].add(known.spec.node_name)
    units: dict[Hashable, list[KubeObject]] = {}
    for known in objects:
        if id(known) not in kept:
            is_shared = isinstance(known, ResourceSlice) and len(nodes_of_pools[_pool_of(known)]) > 1
            node = "" if is_shared else node_of(known)
            units.setdefault(("on", node) if node else _identity(known), []).append(known)
    return [tuple(unit) for unit in units.values()]


def _pool_of(known: ResourceSlice) -> tuple[str, str]:
    return known.spec.driver, known.spec.pool.name


def _identity(known: KubeObject) -> Hashable:
    """What an object goes with: a slice with its pool, which would be incomplete without it."""
    return _pool_of(known) if isinstance(known, ResourceSlice) else id(known)


def _as_they_are(units: Sequence[_Unit]) -> list[_Unit]:
    return list(units)


def _pods_apart(units: Sequence[_Unit]) -> list[_Unit]:
    """The units with each pod as a separate unit."""
    apart: list[_Unit] = []
    for unit in units:
        pods = [known for known in unit if isinstance(known, Pod)]
        rest = tuple(known for known in unit if not isinstance(known, Pod))
        apart += [rest] if rest else []
        apart += [(pod,) for pod in pods]
    return apart


def _all_apart(units: Sequence[_Unit]) -> list[_Unit]:
    """Each object alone, and each pool."""
    apart: dict[Hashable, list[KubeObject]] = {}
    for unit in units:
        for known in unit:
            apart.setdefault(_identity(known), []).append(known)
    return [tuple(unit) for unit in apart.values()]


def _all_but_devices_apart(units: Sequence[_Unit]) -> list[_Unit]:
    """Each object alone, and each node with its slices."""
    apart: dict[Hashable, list[KubeObject]] = {}
    for unit in units:
        is_node = any(isinstance(known, Node) for known in unit)
        for known in unit:
            goes_with_node = is_node and isinstance(known, Node | ResourceSlice)
            apart.setdefault(id(unit) if goes_with_node else _identity(known), []).append(known)
    return [tuple(unit) for unit in apart.values()]


def _in_order(objects: Iterable[KubeObject], units: Iterable[_Unit]) -> list[KubeObject]:
    """The objects of the units, in the order of the snapshot, which breaks ties."""
    kept = {id(known) for unit in units for known in unit}
    return [known for known in objects if id(known) in kept]


def _reduced(units: list[_Unit], holds: Callable[[Sequence[_Unit]], bool]) -> list[_Unit]:
    """The units without those that can be dropped: all of them, then halves, quarters and so on to single ones."""
    size = len(units)
    while size and units:
        start = 0
        while start < len(units):
            rest = units[:start] + units[start + size :]
            if holds(rest):
                units = rest
            else:
                start += size
        size //= 2
    return units
