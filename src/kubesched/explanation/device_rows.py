"""What the nodes have for the requests of a pod's claims, for programs: a row for nodes with the same devices."""

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from kubesched.explanation.device_survey import PLUGIN, DeviceSurvey, NodeKind
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.held_devices import HeldDevice, held_devices
from kubesched.plugins import RequestDevices, Shortage, reasons_together

_MAX_NODES: Final = 20  # of a row, for which it is listed who has their devices


class DeviceRow(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Nodes that have the same for the requests of a pod.

    Attributes:
        requests: each request, of one with alternatives each alternative, claim after claim.
        together: why the requests cannot be served at once, where each could be if it were the only one.
        held: on the first nodes, the devices that others use and that are in the way of the requests.
    """

    nodes: tuple[str, ...]
    requests: tuple[RequestDevices, ...]
    together: tuple[str, ...] = ()
    held: tuple[HeldDevice, ...] = ()


def device_rows(evaluation: Evaluation) -> tuple[DeviceRow, ...]:
    """What the nodes have, those of most nodes first; nothing for a pod without claims that have to be allocated.

    Of many different nodes, those of the most frequent kinds are looked at.
    """
    survey = DeviceSurvey(evaluation, np.ones(len(evaluation.nodes), dtype=np.bool_))
    found: dict[tuple[tuple[RequestDevices, ...], tuple[str, ...]], list[int]] = {}
    for kind in survey.kinds:
        requests = tuple(one for alternatives in kind.requests for one in alternatives)
        if requests:
            found.setdefault((requests, _together(evaluation, survey, kind)), []).extend(kind.positions)
    rows = (_row(evaluation, sorted(positions), *what) for what, positions in found.items())
    return tuple(sorted(rows, key=lambda row: -len(row.nodes)))


def _row(
    evaluation: Evaluation, positions: Sequence[int], requests: tuple[RequestDevices, ...], together: tuple[str, ...]
) -> DeviceRow:
    held = tuple(held_devices(evaluation, positions[:_MAX_NODES]))
    return DeviceRow(tuple(map(evaluation.nodes.name, positions)), requests, together, held)


def _together(evaluation: Evaluation, survey: DeviceSurvey, kind: NodeKind) -> tuple[str, ...]:
    reasons = evaluation.by_plugin[PLUGIN].status_of(kind.positions[0]).reasons
    is_short = Shortage.NOT_ENOUGH.value in reasons and kind.fits_apart
    if not is_short or survey.demand is None:
        return ()
    devices = evaluation.snapshot.cluster_state.devices
    return tuple(reasons_together(kind.pools, devices, survey.demand.asks))
