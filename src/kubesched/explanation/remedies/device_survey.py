"""The devices of the nodes that cannot serve the claims of a pod: one node of each kind is looked at."""

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import msgspec
import numpy as np

from kubesched.engine import BoolVector
from kubesched.explanation.remedies.case import Case
from kubesched.plugins import DeviceAsk, NamedAsk, PodDemand, RequestDevices, devices_for, refusal_of
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
    def fits_apart(self) -> bool:
        """Whether each request could be served if it were the only one."""
        return all(any(one.is_enough for one in alternatives) for alternatives in self.requests)


class DeviceSurvey:
    """What the claims of a pod meet on some nodes.

    Attributes:
        demand: the claims; None where the plugin did not look at nodes.
    """

    def __init__(self, case: Case, where: BoolVector) -> None:
        asked = case.evaluation.asked.get(PLUGIN)
        self.demand = asked.state.find(PodDemand) if asked is not None else None
        self.in_use = case.evaluation.snapshot.cluster_state.devices.in_use
        self._case, self._where = case, where

    @cached_property
    def kinds(self) -> list[NodeKind]:
        """The kinds of nodes, those of most nodes first."""
        if self.demand is None or self.demand.left_over is not None:
            return []
        state, nodes = self._case.evaluation.snapshot.cluster_state, self._case.nodes
        by_number: dict[int, list[int]] = {}
        positions = np.flatnonzero(self._where)
        for position, number in zip(
            positions.tolist(), self.demand.alike(state, nodes)[positions].tolist(), strict=True
        ):
            by_number.setdefault(number, []).append(position)
        kinds = []
        for alike in sorted(by_number.values(), key=lambda one: -len(one))[:_MAX_KINDS]:
            pools = state.devices.pools_of(nodes.row(alike[0]))
            asks = self.demand.asks_on(self.demand.served_on(nodes, alike[0]), state)
            kinds.append(NodeKind(tuple(alike), pools, tuple(devices_for(pools, state.devices, asks))))
        return kinds

    def asks(self) -> Iterator[tuple[int, int, int, NamedAsk]]:
        """The requests of claims that some kind of nodes cannot serve: their number, claim and place in the claim."""
        number = 0
        for i, claim in enumerate(self.demand.asks if self.demand is not None else ()):
            for j in range(len(claim.ask.requests)):
                if any(kind.is_short(number) for kind in self.kinds):
                    yield number, i, j, claim
                number += 1

    def free_devices(self, ask: DeviceAsk) -> Iterator[tuple[NodeKind, PoolDevice]]:
        """The devices of the class of a request that are not taken."""
        for kind in self.kinds:
            for pool in kind.pools:
                for device in pool.devices if pool.is_complete and pool.is_valid else ():
                    if not self.in_use.is_taken(device.id) and not refusal_of(ask.class_selectors, device):
                        yield kind, device
