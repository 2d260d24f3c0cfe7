"""Finds a small part of a snapshot in which one pod still gets the same verdict, for a bug report.

Delta debugging: drop smaller and smaller groups of objects, and keep those without which the verdict changes. First
nodes are dropped with everything on them, then single pods, then single objects of any kind. The result is small, but
not always the smallest.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from kubesched.api import KubeObject, Pod, kind_of
from kubesched.controllers import node_of
from kubesched.explanation import Explanation, Fix, explain
from kubesched.framework import Status
from kubesched.naming import find_pod
from kubesched.setup import Setup
from kubesched.snapshot import ClusterObjects

_N_FIXES: Final = 3

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
    that a plugin rejects and that a fix opens are not part of it. The controller of the pod and its resource claims are
    kept, if they are in the cluster. The extenders of the configuration are not called.

    Args:
        pod: as for `find_pod`.
        progress: called after each try.
    Raises:
        InputError: there is no such pod, or no profile serves it.
        PluginError: a plugin cannot be started.
    """
    asked = find_pod(cluster.objects, pod)
    wanted = _verdict(explain(cluster.objects, asked, setup))
    pinned = (asked, *_controller(cluster.objects, asked), *_claims(cluster.objects, asked))
    kept: Sequence[_Unit] = _units(cluster.objects, pinned)
    n_all = len(cluster.objects)

    def holds(units: Sequence[_Unit]) -> bool:
        objects = _in_order(cluster.objects, (*units, pinned))
        if progress is not None:
            progress(n_all - len(objects), n_all)
        return _verdict(explain(objects, asked, setup)) == wanted

    for split in (_as_they_are, _pods_apart, _all_apart):
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
    )


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


def _units(objects: Iterable[KubeObject], pinned: _Unit) -> list[_Unit]:
    """Each node with what is on it; every other object alone; without the pinned objects."""
    kept = {id(known) for known in pinned}
    units: dict[Hashable, list[KubeObject]] = {}
    for known in objects:
        if id(known) not in kept:
            node = node_of(known)
            units.setdefault(("on", node) if node else id(known), []).append(known)
    return [tuple(unit) for unit in units.values()]


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
    return [(known,) for unit in units for known in unit]


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
