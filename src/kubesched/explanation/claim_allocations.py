"""What the resource claims of a pod would get on each node."""

from typing import Any

import msgspec
import numpy as np

from kubesched.explanation.plugin_verdicts import PluginVerdicts
from kubesched.framework import CycleState
from kubesched.plugins import Chosen, DynamicResources, PodDemand, consumed_by, node_selector_of
from kubesched.release import Release
from kubesched.state import Nodes


class AllocatedDevice(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A device that a claim would get.

    Attributes:
        request: the request, or `request/subrequest`.
        device: `driver/pool/device`.
        admin_access: whether others may have it, too.
        share: the number of the share among those of the claim, from 1; 0 for a whole device.
        consumed_capacity: of a share: capacity -> quantity.
    """

    request: str
    device: str
    admin_access: bool = False
    share: int = 0
    consumed_capacity: dict[str, str] = {}


class ClaimAllocation(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a claim would get.

    Attributes:
        node_selector: the nodes that reach the devices, as it would be written; empty for all nodes.
    """

    devices: tuple[AllocatedDevice, ...] = ()
    node_selector: dict[str, Any] = {}


Allocations = dict[str, dict[str, ClaimAllocation]]
"""Node -> claim -> what it would get there."""


def claim_allocations(plugin: DynamicResources, state: CycleState, said: PluginVerdicts, nodes: Nodes) -> Allocations:
    """What DynamicResources would reserve on each node that it accepts.

    Args:
        plugin: DynamicResources.
        state: what its PreFilter left.
        said: its verdicts.
    """
    demand = state.find(PodDemand)
    if demand is None or said.skipped or said.pre_filter is not None or not (demand.asks or demand.served):
        return {}
    accepted = nodes.select(np.flatnonzero(~said.rejected))
    return {
        accepted.name(position): {
            claim: _allocation(chosen, accepted.name(position), plugin.release) for claim, chosen in by_claim.items()
        }
        for position, by_claim in plugin.choices(demand, accepted)
    }


def _allocation(chosen: Chosen, node_name: str, release: Release) -> ClaimAllocation:
    devices, n_shares = [], 0
    for one in chosen:
        shared = one.device.spec.allow_multiple_allocations
        n_shares += shared
        consumed = consumed_by(one, release) if shared else {}
        name = "/".join(one.device.id)
        devices.append(AllocatedDevice(one.ask.name, name, one.ask.is_admin, n_shares if shared else 0, consumed))
    return ClaimAllocation(tuple(devices), node_selector_of(chosen, node_name))
