"""Which pods have the devices that a pod lacks, by their names.

The phrases of DynamicResources name no pods, so that nodes with the same devices in use are one row. The names come in
when the rows are made.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import msgspec

from kubesched.api import ResourceClaim
from kubesched.documents import joined, plural
from kubesched.explanation.device_survey import PLUGIN, demand_of
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.obstacle import Obstacle, ObstacleRow
from kubesched.explanation.obstacles import distinct, obstacles
from kubesched.framework import Code
from kubesched.plugins import broken_pools_for, devices_for, used_devices
from kubesched.state import DeviceId

_CLAIM: Final = "ResourceClaim"
_MAX_NODES: Final = 500  # of a row
_MAX_NAMED: Final = 3


class HeldDevice(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A device that others use, so that a request cannot have it or what it shares.

    Attributes:
        device: `driver/pool/device`.
        claims: those that have it, as `namespace/name`.
        pods: those that the claims are reserved for.
    """

    device: str
    claims: tuple[str, ...]
    pods: tuple[str, ...] = ()


def held_devices(evaluation: Evaluation, positions: Iterable[int]) -> Iterator[HeldDevice]:
    """The devices of some nodes that others use and that are in the way of the pod's claims, each once."""
    in_use = evaluation.snapshot.cluster_state.devices.in_use
    for device in dict.fromkeys(_in_the_way(evaluation, positions)):
        claims = tuple(in_use.holders(device))
        yield HeldDevice("/".join(device), claims, tuple(pod for key in claims for pod in _pods_of(evaluation, key)))


def holders_anywhere(evaluation: Evaluation, position: int) -> tuple[str, ...]:
    """The pods that hold the devices in the way on a node, where these devices belong to no node; else nothing."""
    held = list(held_devices(evaluation, [position]))
    claims = [evaluation.snapshot.objects.get(_CLAIM, key) for one in held for key in one.claims]
    given = [one.status.allocation for one in claims if isinstance(one, ResourceClaim)]
    if any(one is None or one.node_selector is not None for one in given):
        return ()
    return tuple(dict.fromkeys(pod for one in held for pod in one.pods))


def named_obstacles(evaluation: Evaluation, position: int) -> tuple[Obstacle, ...]:
    """The obstacles on one node, with the pods that hold devices there."""
    return tuple(
        msgspec.structs.replace(one, details=(*one.details, *_names(evaluation, one, [position])))
        for one in obstacles(evaluation, position)
    )


def named_row(evaluation: Evaluation, row: ObstacleRow) -> ObstacleRow:
    """A row with the pods that hold devices of its nodes; of its first node where the texts are those of that node."""
    positions = row.positions if row.is_alike else row.positions[:1]
    texts = tuple(
        "; ".join((text, *_names(evaluation, one, positions)))
        for one, text in zip(distinct(row.obstacles), row.texts, strict=True)
    )
    return msgspec.structs.replace(row, texts=texts)


def _names(evaluation: Evaluation, obstacle: Obstacle, positions: Sequence[int]) -> Iterator[str]:
    """What the phrases of an obstacle leave out: the pools that are left out, and those that hold devices."""
    if obstacle.plugin != PLUGIN or obstacle.status.code is Code.ERROR or evaluation.lacking_claims:
        return
    if pools := list(dict.fromkeys(_left_out(evaluation, positions[:_MAX_NODES]))):
        yield f"{plural(len(pools), 'pool')} {joined(pools, _MAX_NAMED)}"
    yield from _holders(evaluation, positions)


def _left_out(evaluation: Evaluation, positions: Sequence[int]) -> Iterator[str]:
    """`driver/pool` of pools that are left out, and whose devices a request lacks; the nodes are alike."""
    demand = demand_of(evaluation)
    if demand is None or demand.left_over is not None:
        return
    state, nodes = evaluation.snapshot.cluster_state, evaluation.nodes
    pools_of = [state.devices.pools_of(nodes.row(position)) for position in positions]
    asks = demand.asks_on(demand.served_on(nodes, positions[0]), state)
    every = [ask for claim in asks for alternatives in claim.ask.requests for ask in alternatives]
    for some in devices_for(pools_of[0], state.devices, asks):
        asked, every = every[: len(some)], every[len(some) :]
        if not any(one.is_enough for one in some):
            for pool in (pool for pools in pools_of for ask in asked for pool in broken_pools_for(pools, ask)):
                yield f"{pool.driver}/{pool.name}"


def _holders(evaluation: Evaluation, positions: Sequence[int]) -> Iterator[str]:
    """A phrase with those that hold devices which are in the way; nothing if there are none."""
    in_use = evaluation.snapshot.cluster_state.devices.in_use
    keys = (key for one in _in_the_way(evaluation, positions[:_MAX_NODES]) for key in in_use.holders(one))
    users = (_pods_of(evaluation, key) or (f"claim {key}, which no pod uses",) for key in dict.fromkeys(keys))
    names = list(dict.fromkeys(chain.from_iterable(users)))
    if len(positions) > _MAX_NODES and names:
        yield f"held by {', '.join(names[:_MAX_NAMED])} and others"
    elif names:
        yield f"held by {joined(names, _MAX_NAMED)}"


def _pods_of(evaluation: Evaluation, key: str) -> tuple[str, ...]:
    claim = evaluation.snapshot.objects.get(_CLAIM, key)
    if not isinstance(claim, ResourceClaim):
        return ()
    return tuple(f"{claim.namespace}/{user.name}" for user in claim.status.reserved_for or ())


def _in_the_way(evaluation: Evaluation, positions: Iterable[int]) -> Iterator[DeviceId]:
    """The devices whose users are in the way; nodes that are alike have them in the same places."""
    demand, asked = demand_of(evaluation), evaluation.asked.get(PLUGIN)
    if demand is None or asked is None or demand.left_over is not None:
        return
    state, nodes = evaluation.snapshot.cluster_state, evaluation.nodes
    places: dict[int, list[int]] = {}
    for position in positions:
        pools = state.devices.pools_of(nodes.row(position))
        every = [device.id for pool in pools for device in (*pool.devices, *pool.elsewhere)]
        number = int(asked.alike[position])
        if number not in places:
            asks = demand.asks_on(demand.served_on(nodes, position), state)
            used = used_devices(pools, state.devices, asks)
            places[number] = [place for place, device in enumerate(every) if device in used]
        yield from (every[place] for place in places[number] if place < len(every))
