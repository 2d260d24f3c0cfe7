"""The advice in one line: the fixes of a pod that fits nowhere, or what is in its way on the nearest node."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from kubesched.documents import count, joined, plural
from kubesched.explanation.daemon_pods import gone_node
from kubesched.explanation.device_survey import PLUGIN
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.fix import to_repair
from kubesched.explanation.held_devices import holders_anywhere
from kubesched.explanation.obstacle import NO_REASON, Obstacle
from kubesched.explanation.obstacles import obstacles
from kubesched.framework import Code, Status
from kubesched.scheduler import EXTENDER

_N_FIXES: Final = 3


def advice(evaluation: Evaluation, order: Sequence[int]) -> str:
    """The best fixes as a sentence; without fixes, why none could be tried, or the obstacles on the nearest node.

    Args:
        order: the positions of the nodes that do not fit, the nearest first.
    """
    if evaluation.fixes:
        intro = "any one of these makes" if len(evaluation.fixes) > 1 else "this makes"
        return f"{intro} it fit: {'; '.join(map(str, evaluation.fixes[:_N_FIXES]))}."
    if gone := gone_node(evaluation):
        return f"{gone}."
    if evaluation.undecided:
        return f"kubesched cannot tell where the pod fits: {evaluation.undecided}."
    if evaluation.failure is not None:
        return _plugin_first(evaluation, evaluation.failure)
    if evaluation.fix_fault is not None:
        return _not_tried(evaluation.fix_fault)
    complaints = _complaints_about_pod(evaluation)
    if complaints:
        return f"no node can take the pod: {complaints}."
    first = next((position for position in order if _fault_on(evaluation, position) is None), None)
    if first is None:
        fault = _fault_on(evaluation, order[0]) if order else None
        return "" if fault is None else _not_tried(fault)
    in_the_way = obstacles(evaluation, first)
    if [one.plugin for one in in_the_way] == [PLUGIN] and (holders := holders_anywhere(evaluation, first)):
        who = _pods(evaluation, holders)
        what = f"wait until {plural(len(holders), who, f'one of {who}')} ends, or stop it"
        return f"{what}: {in_the_way[0].text}; the devices belong to no node."
    n_same = _n_alike(evaluation, first) - 1
    listed = "; ".join(map(_told, in_the_way))
    what = "remove this obstacle" if len(in_the_way) == 1 else f"remove {count(len(in_the_way), 'obstacle')}"
    said = f"to fit on {evaluation.nodes.name(first)}, {what}: {listed}."
    if not n_same:
        return said
    others = count(n_same, "more node is", "more nodes are")
    by = f"only by {in_the_way[0].plugin}" if len(in_the_way) == 1 else "by the same plugins"
    return f"{said} {others} blocked {by}."


def _pods(evaluation: Evaluation, keys: Sequence[str]) -> str:
    """Some pods, with the workloads that own them."""
    pods = (evaluation.snapshot.objects.get("Pod", key) for key in keys)
    owners = (one.metadata.controller for one in pods if one is not None)
    whose = dict.fromkeys(f"{one.kind} {one.name}" for one in owners if one is not None)
    return f"{joined(keys, _N_FIXES)}{f' of {joined(list(whose))}' if whose else ''}"


def _told(obstacle: Obstacle) -> str:
    return f"{obstacle.plugin} rejects it without a reason" if obstacle.text == NO_REASON else obstacle.text


def _plugin_first(evaluation: Evaluation, failure: Status) -> str:
    what = "the extender" if failure.plugin == EXTENDER else to_repair(failure)
    if evaluation.fits:
        return f"fix {what} first; {len(evaluation.feasible)} of {len(evaluation.nodes)} nodes pass all filters."
    return f"fix {what} first; until then no other fix can be tried."


def _not_tried(fault: Status) -> str:
    return f"fix {to_repair(fault)} first; until then no other fix can be tried: {fault.located}."


def _fault_on(evaluation: Evaluation, position: int) -> Status | None:
    """What a plugin fails with on a node, which is nothing that the reader could change in the cluster."""
    statuses = (said.status_of(position) for said in evaluation.by_plugin.values())
    return next((status for status in statuses if status.code is Code.ERROR), None)


def _complaints_about_pod(evaluation: Evaluation) -> str:
    """What plugins have against the pod itself, each complaint once with the plugins behind it."""
    complaints: dict[str, list[str]] = {}
    for said in evaluation.by_plugin.values():
        if said.pre_filter is not None and said.pre_filter.code is not Code.ERROR:
            complaints.setdefault(said.pre_filter.message or NO_REASON, []).append(said.plugin)
    return "; ".join(f"{message} ({', '.join(plugins)})" for message, plugins in complaints.items())


def _n_alike(evaluation: Evaluation, position: int) -> int:
    """How many nodes are rejected by the same plugins as this one."""
    alike = np.ones(len(evaluation.nodes), dtype=np.bool_)
    for said in evaluation.by_plugin.values():
        rejected = said.rejected
        alike &= rejected == rejected[position]
    return int(np.count_nonzero(alike))
