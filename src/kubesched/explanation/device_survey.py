"""The devices of the nodes that cannot serve the claims of a pod: one node of each kind is looked at."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import msgspec
import numpy as np

from kubesched.api import ResourceClaim, Taint
from kubesched.engine import BoolVector, IntVector
from kubesched.explanation.evaluation import Evaluation
from kubesched.plugins import (
    DeviceAsk,
    NamedAsk,
    Nearness,
    PodDemand,
    RequestDevices,
    devices_for,
    refusal_of,
    untolerated_taints,
)
from kubesched.state import DevicePool, PoolDevice

PLUGIN: Final = "DynamicResources"
_MAX_KINDS: Final = 50  # of nodes, those of most nodes first


class NodeKind(msgspec.Struct, frozen=True, eq=False):
    """Nodes whose devices are alike, as far as the claims see them.

    Attributes:
        positions: of the nodes.
        pools: of the first of them.
        requests: for each request what there is for each alternative, claim after claim.
    """

    positions: tuple[int, ...]
    pools: tuple[DevicePool, ...]
    requests: tuple[tuple[RequestDevices, ...], ...]

    def is_short(self, number: int) -> bool:
        """Whether a request cannot be served there, or all can be one by one, and not at once."""
        return self.fits_apart or not any(one.is_enough for one in self.requests[number])

    @property
    def nearness(self) -> Nearness:
        """What has to change before each request is served by itself: of all requests, what is farthest."""
        nearest = (min(one.nearness for one in alternatives) for alternatives in self.requests)
        return max(nearest, default=Nearness.ENOUGH)

    @property
    def fits_apart(self) -> bool:
        """Whether each request could be served if it were the only one."""
        return all(any(one.is_enough for one in alternatives) for alternatives in self.requests)


class DeviceSurvey:
    """What the claims of a pod meet on some nodes.

    Attributes:
        demand: the claims; None where the plugin did not look at nodes.
    """

    def __init__(self, evaluation: Evaluation, where: BoolVector) -> None:
        self.demand = demand_of(evaluation)
        self._evaluation, self._where, self._state = evaluation, where, evaluation.snapshot.cluster_state
        self.in_use = self._state.devices.in_use

    @property
    def waiting(self) -> Sequence[ResourceClaim]:
        """The claims that have to be allocated."""
        return self.demand.waiting if self.demand is not None else ()

    @cached_property
    def kinds(self) -> list[NodeKind]:
        """The kinds of nodes, those of most nodes first."""
        if self.demand is None or self.demand.left_over is not None:
            return []
        nodes = self._evaluation.nodes
        by_number: dict[int, list[int]] = {}
        positions = np.flatnonzero(self._where)
        for position, number in zip(
            positions.tolist(), self.demand.alike(self._state, nodes)[positions].tolist(), strict=True
        ):
            by_number.setdefault(number, []).append(position)
        most = sorted(by_number.values(), key=lambda one: -len(one))[:_MAX_KINDS]
        return [NodeKind(tuple(alike), self.pools_of(alike[0]), self._requests_at(alike[0])) for alike in most]

    def _requests_at(self, position: int) -> tuple[tuple[RequestDevices, ...], ...]:
        known = self._evaluation.devices_at
        if position not in known and self.demand is not None:
            asks = self.demand.asks_on(self.demand.served_on(self._evaluation.nodes, position), self._state)
            known[position] = tuple(devices_for(self.pools_of(position), self._state.devices, asks))
        return known[position]

    def asks(self) -> Iterator[tuple[int, int, int, NamedAsk]]:
        """The requests of claims that some kind of nodes cannot serve: their number, claim and place in the claim."""
        number = 0
        for i, claim in enumerate(self.demand.asks if self.demand is not None else ()):
            for j in range(len(claim.ask.requests)):
                if any(kind.is_short(number) for kind in self.kinds):
                    yield number, i, j, claim
                number += 1

    def short_asks(self) -> Iterator[DeviceAsk]:
        """What those requests ask for, and those for extended resources, each alternative once."""
        asks = [ask for _, _, place, claim in self.asks() for ask in claim.ask.requests[place]]
        if self.demand is not None and self.demand.served and self.kinds:
            asks += self.demand.special_claim(self.demand.served, self._state)[1].asks
        yield from dict.fromkeys(asks)

    def pools_of(self, position: int) -> tuple[DevicePool, ...]:
        """The pools of a node."""
        return self._state.devices.pools_of(self._evaluation.nodes.row(position))

    @cached_property
    def known_values(self) -> dict[str, set[str]]:
        """The texts that devices have for each attribute, by its qualified name; those of taken devices, too."""
        known: dict[str, set[str]] = {}
        for device in (one for kind in self.kinds for pool in kind.pools for one in pool.devices):
            for name, attribute in (device.spec.attributes or {}).items():
                if attribute.string is not None:
                    qualified = name if "/" in name else f"{device.driver}/{name}"
                    known.setdefault(qualified, set()).add(attribute.string)
        return known

    @cached_property
    def known_names(self) -> set[str]:
        """The qualified names of the attributes and capacities that devices have; those of taken devices, too."""
        specs = [(one.driver, one.spec) for kind in self.kinds for pool in kind.pools for one in pool.devices]
        written = (
            (driver, name) for driver, one in specs for name in {**(one.attributes or {}), **(one.capacity or {})}
        )
        return {name if "/" in name else f"{driver}/{name}" for driver, name in written}

    def every_device(self) -> Iterator[PoolDevice]:
        """The devices that are not taken."""
        for kind in self.kinds:
            for pool in kind.pools:
                yield from (one for one in pool.devices if pool.is_used and not self.in_use.is_taken(one.id))

    def free_devices(self, ask: DeviceAsk) -> Iterator[tuple[NodeKind, PoolDevice]]:
        """The devices of the class of a request that are not taken."""
        for kind in self.kinds:
            for pool in kind.pools:
                for device in pool.devices if pool.is_used else ():
                    if not self.in_use.is_taken(device.id) and not refusal_of(ask.class_selectors, device):
                        yield kind, device

    def tainted_devices(self, ask: DeviceAsk) -> Iterator[tuple[NodeKind, PoolDevice, tuple[Taint, ...]]]:
        """Those of them that taints keep from the request, with these taints."""
        for kind, device in self.free_devices(ask):
            blocking = tuple(untolerated_taints(device.spec.taints or (), ask.tolerations))
            if blocking and not refusal_of(ask.selectors, device):
                yield kind, device, blocking


def demand_of(evaluation: Evaluation) -> PodDemand | None:
    """What the pod needs of the devices; None where the plugin did not look at nodes."""
    asked = evaluation.asked.get(PLUGIN)
    return asked.state.find(PodDemand) if asked is not None else None


def device_nearness(evaluation: Evaluation) -> IntVector:
    """(nodes,) a Nearness for each node whose devices cannot serve the claims of the pod; 0 for the others.

    Of many different nodes, those of the most frequent kinds are looked at.
    """
    near = np.zeros(len(evaluation.nodes), dtype=np.int64)
    said = evaluation.by_plugin.get(PLUGIN)
    if said is None or said.pre_filter is not None or not said.rejected.any():
        return near
    near[said.rejected] = Nearness.OTHER
    for kind in DeviceSurvey(evaluation, said.rejected).kinds:
        near[list(kind.positions)] = kind.nearness
    return near


def with_such_devices(evaluation: Evaluation, where: BoolVector) -> BoolVector:
    """(nodes,) bool: those of some nodes whose devices would do for the claims of the pod if they were new."""
    survey = DeviceSurvey(evaluation, where)
    if survey.demand is None or not (survey.demand.asks or survey.demand.served):
        return where
    will_do = np.zeros_like(where)
    for kind in survey.kinds:
        will_do[list(kind.positions)] = all(any(one.is_enough_on_new_node for one in some) for some in kind.requests)
    return will_do
