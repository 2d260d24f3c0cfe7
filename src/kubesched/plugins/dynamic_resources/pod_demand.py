"""What a pod needs of the devices of the cluster: its claims, and the claim for its extended resources.

Claims that are allocated are used as they are, on the nodes that their allocation names. The others are allocated all
together, or not at all.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np

from kubesched.api import DeviceClaim, Pod, ResourceClaim
from kubesched.engine import IntVector
from kubesched.errors import ClaimError
from kubesched.framework import Status
from kubesched.plugins.dynamic_resources.asks import ClaimAsk, DeviceAsk, NamedAsk, claim_ask, missing_class
from kubesched.plugins.dynamic_resources.device_search import Chosen, ChosenDevice, Shortage, search
from kubesched.plugins.dynamic_resources.patience import Patience
from kubesched.plugins.dynamic_resources.pod_claims import claims_of
from kubesched.plugins.dynamic_resources.special_claim import SPECIAL_CLAIM, SpecialClaim, special_claim
from kubesched.state import ClusterFacts, DevicePool, Devices, Nodes, PoolDevice

if TYPE_CHECKING:
    from kubesched.cel import Reads


class PlaceFor(NamedTuple):
    """The place of a device among those of the node, and the request or subrequest that it is for."""

    ask: DeviceAsk
    place: int


Places = tuple[tuple[PlaceFor, ...], ...]
"""The devices of each claim to allocate, in order."""

Found = Places | Shortage | ClaimError
"""The devices, or why there are none."""

_FEW: Final = 16
_LASTING: Final = (
    Shortage.NOT_ENOUGH,
    Shortage.INVALID_POOLS,
    Shortage.TOO_LONG,
)  # what another search would find again


class PodDemand(msgspec.Struct, eq=False):
    """The claims of one pod.

    Attributes:
        pod: the pod.
        claims: in its order; one that it lists twice is there twice.
        waiting: those that have to be allocated.
        asks: what these ask for, in the same order.
        served: the extended resources that a device class serves, with the class.
        left_over: a claim for extended resources that an earlier attempt left; then the pod fits nowhere.
        special: the claim for extended resources, as far as it was asked for, and what it asks for, by the resources.
    """

    pod: Pod
    claims: Sequence[ResourceClaim] = ()
    waiting: Sequence[ResourceClaim] = ()
    asks: Sequence[NamedAsk] = ()
    served: Mapping[str, str] = {}
    left_over: ResourceClaim | None = None
    special: dict[tuple[str, ...], tuple[SpecialClaim, ClaimAsk]] = {}

    def key(self, cluster_state: ClusterFacts) -> Hashable:
        """What decides about nodes of all this: no names of claims."""
        allocations = (claim.status.allocation for claim in self.claims)
        selectors = tuple(one.node_selector for one in allocations if one is not None)
        special = self.special_claim(self.served, cluster_state)[1] if self.served else None
        return tuple(one.ask for one in self.asks), special, tuple(self.served), self.left_over is None, selectors

    def special_claim(self, served: Mapping[str, str], cluster_state: ClusterFacts) -> tuple[SpecialClaim, ClaimAsk]:
        """The claim for some of the extended resources that are served, and what it asks for."""
        known = self.special.get((*served,))
        if known is None:
            claim = special_claim(self.pod, served)
            known = claim, claim_ask(DeviceClaim(requests=claim.requests), cluster_state.objects)
            self.special[(*served,)] = known
        return known

    def wanted_selectors(self, cluster_state: ClusterFacts) -> Iterator[tuple[str, ...]]:
        """The CEL expressions that a device must meet to be of use, for each alternative of what is not allocated."""
        special = [self.special_claim(self.served, cluster_state)[1]] if self.served and self.left_over is None else []
        for ask in (*(one.ask for one in self.asks), *special):
            yield from ((*one.class_selectors, *one.selectors) for one in ask.asks)

    def served_on(self, nodes: Nodes, position: int) -> dict[str, str]:
        """The resources that devices have to serve on a node, because it has no device plugin for them."""
        resources, row = nodes.columns.resources, nodes.row(position)
        room = {name: resources.find(name) for name in self.served}
        return {
            name: class_name
            for name, class_name in self.served.items()
            if (place := room[name]) is None or nodes.columns.allocatable[place, row] <= 0
        }

    def asks_on(self, served: Mapping[str, str], cluster_state: ClusterFacts) -> list[NamedAsk]:
        """What has to be allocated where devices serve some of the resources.

        Rule: kube-scheduler v1.36: beside other claims, the claim for extended resources is allocated where it has no
            requests, too.
        """
        if not served and not (self.served and self.claims):
            return [*self.asks]
        _, special = self.special_claim(served, cluster_state)
        return [*self.asks, NamedAsk(special, f"{self.pod.namespace}/{SPECIAL_CLAIM}")]

    def allocate(
        self, cluster_state: ClusterFacts, nodes: Nodes, patience: Callable[[], Patience]
    ) -> tuple[IntVector, list[Found]]:
        """Allocate the claims on each node by itself.

        Nodes whose devices are alike get one search, also those of earlier pods that asked for the same. Where it
        fails, each of them gets its own, because the text may name what only this node has. Where it takes too long,
        the others are not searched.

        Args:
            patience: makes one for each search.
        Returns: (nodes,) which of the results a node has; and the results.
        """
        delivery, servings = self._deliveries(nodes)
        asks = [self.asks_on(served, cluster_state) for served in servings]
        if not any(asks):
            return np.zeros(len(nodes), dtype=np.int64), [()]
        devices, reads = cluster_state.devices, _reads(asks)
        contents = devices.alike(nodes, reads)
        tables = [devices.results(reads, tuple([one.ask for one in asked])) for asked in asks]
        first, numbers = _equal(contents * len(asks) + delivery)
        results: list[Found] = []

        def add(position: int) -> None:
            if results and results[-1] in (Shortage.TOO_LONG, Shortage.TIMED_OUT):
                results.append(results[-1])
                return
            serving, content = int(delivery[position]), int(contents[position])
            found = tables[serving].get(content)
            if found is None:
                found = _searched(devices, nodes.row(position), asks[serving], patience())
                if found in _LASTING or isinstance(found, tuple):
                    tables[serving][content] = found
            results.append(found)

        for position in first:
            add(position)
        for number in [i for i, found in enumerate(results) if isinstance(found, ClaimError)]:
            for position in np.flatnonzero(numbers == number).tolist():
                numbers[position] = len(results)
                add(position)
        return numbers, results

    def alike(self, cluster_state: ClusterFacts, nodes: Nodes) -> IntVector:
        """(nodes,) equal numbers: the devices are alike, as far as the claims see them."""
        delivery, servings = self._deliveries(nodes)
        asks = [self.asks_on(one, cluster_state) for one in servings]
        if not any(asks):
            return delivery
        return cluster_state.devices.alike(nodes, _reads(asks)) * len(asks) + delivery

    def choices(
        self, cluster_state: ClusterFacts, nodes: Nodes, patience: Callable[[], Patience]
    ) -> Iterator[tuple[int, dict[str, Chosen]]]:
        """What each claim gets on the nodes where all claims get something: the position of a node, and by claim."""
        numbers, results = self.allocate(cluster_state, nodes, patience)
        for position, number in enumerate(numbers.tolist()):
            found = results[number]
            if isinstance(found, tuple) and found:
                asks = self.asks_on(self.served_on(nodes, position), cluster_state)
                chosen = chosen_on(cluster_state.devices, nodes.row(position), found)
                yield position, {one.claim: devices for one, devices in zip(asks, chosen, strict=True)}

    def _deliveries(self, nodes: Nodes) -> tuple[IntVector, list[dict[str, str]]]:
        """(nodes,) which resources devices have to serve there, as a number; and what each number means."""
        bits = np.zeros(len(nodes), dtype=np.int64)
        if not self.served:
            return bits, [{}]
        for i, name in enumerate(self.served):
            place = nodes.columns.resources.find(name)
            bits |= (1 if place is None else (nodes.allocatable[place] <= 0).astype(np.int64)) << i
        first, numbers = _equal(bits)
        return numbers, [self.served_on(nodes, position) for position in first]


def demand_of(
    pod: Pod, cluster_state: ClusterFacts, wanted: Mapping[str, int], *, each_once: bool = False
) -> PodDemand | Status:
    """What a pod needs of devices; SKIP where it needs none, or why its claims cannot be allocated anywhere.

    Args:
        wanted: its requests, by resource.
        each_once: whether a claim counts once that the pod lists twice; kube-scheduler v1.36.3 can never write it.
    """
    classes = cluster_state.devices.classes
    served = classes.serving(wanted) if classes.by_resource else {}
    if not pod.spec.resource_claims and not served:
        return Status.SKIP
    claims = claims_of(pod, cluster_state.objects)
    if isinstance(claims, Status):
        return claims
    if not claims and not served:
        return Status.SKIP
    if each_once:
        claims = list({claim.key: claim for claim in claims}.values())
    left_over = cluster_state.devices.special_claims.of(pod) if served else None
    if left_over is not None and pod.status.start_time:  # what a pod that runs has is not left over
        claims, served, left_over = [*claims, left_over], {}, None
    waiting = [claim for claim in claims if claim.status.allocation is None]
    for claim in waiting:
        if problem := missing_class(claim.spec.devices, cluster_state.objects):
            return Status.unresolvable(problem)
    asks = [NamedAsk(claim_ask(one.spec.devices, cluster_state.objects), one.key) for one in waiting]
    return PodDemand(pod, claims, waiting, asks, served, left_over)


def _equal(values: IntVector) -> tuple[list[int], IntVector]:
    """The first place of each value, and (values,) which of them each place has."""
    if len(values) < _FEW:  # the rows that changed: a tenth of the time that NumPy takes for them
        number_of: dict[int, int] = {}
        in_order = [number_of.setdefault(value, len(number_of)) for value in values.tolist()]
        return [in_order.index(number) for number in number_of.values()], np.array(in_order)
    _, first, numbers = np.unique(values, return_index=True, return_inverse=True)
    return first.tolist(), numbers


def _reads(asks: Sequence[Sequence[NamedAsk]]) -> "Reads":
    return reduce(or_, [one.ask.reads for asked in asks for one in asked])


def _searched(devices: Devices, row: int, asks: Sequence[NamedAsk], patience: Patience) -> Found:
    """The result of a search on a node."""
    pools = devices.pools_of(row)
    try:
        found = search(pools, devices, asks, patience)
    except ClaimError as error:
        return error
    if isinstance(found, Shortage):
        return found
    places = {device.id: place for place, device in enumerate(_devices(pools))}
    return tuple([tuple([PlaceFor(one.ask, places[one.device.id]) for one in chosen]) for chosen in found])


def chosen_on(devices: Devices, row: int, found: Places) -> tuple[Chosen, ...]:
    """The devices of a node by their places."""
    here = _devices(devices.pools_of(row))
    return tuple([tuple([ChosenDevice(one.ask, here[one.place]) for one in of_claim]) for of_claim in found])


def _devices(pools: Sequence[DevicePool]) -> list[PoolDevice]:
    """All devices in order; those of nodes that are alike have the same places."""
    return [device for pool in pools for device in pool.devices]
