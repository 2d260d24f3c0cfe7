"""The result of a simulation as plain values for JSON. docs/reference/output.md describes every field."""

from typing import Any, Final

from kubesched.framework import Status
from kubesched.pages.formats import plain
from kubesched.pages.simulations.gang_parts import gang_document
from kubesched.session import Placed, Placement, PodState, Report

_NOT_DECIDED: Final = "NotDecided"


def placement_line(placement: Placement) -> dict[str, Any]:
    """The final outcome of one pod; empty fields are left out."""
    line: dict[str, Any] = plain(placement)
    if placement.runners_up:
        line["runnersUp"] = [{"node": node, "total": total} for node, total in placement.runners_up]
    return line


def placed_line(placed: Placed) -> dict[str, Any]:
    """Where one pod goes when each is tried once; empty fields are left out, and what recorded cases do not have."""
    line: dict[str, Any] = plain(placed)
    for name in ("diagnosis", "plugin", "isUndecided"):
        line.pop(name, None)
    if placed.pre_enqueue is not None:
        line["preEnqueue"] = rejection(placed.pre_enqueue)
    for name, status in (("reserve", placed.reserve), ("preBind", placed.pre_bind)):
        if status is not None:  # its reasons name the plugin
            line.pop("error", None)
            line[name] = {"code": status.code.value, "reasons": sorted(status.reasons)}
    return line


def rejection(status: Status) -> dict[str, Any]:
    """A verdict: `code`, the `plugin` behind it if there is one, and its `reasons`, sorted."""
    code = _NOT_DECIDED if status.is_undecided else status.code.value
    said: dict[str, Any] = {"code": code, "reasons": sorted(status.reasons)}
    if status.plugin:
        said["plugin"] = status.plugin
    return said


def report_document(report: Report) -> dict[str, Any]:
    """The whole report: `pods`, `victims`, `nodes`, `stuck`, `summary`, and what else there is, such as `gangs`."""
    counts = {state.value: report.count(state) for state in PodState}
    return {
        "pods": [placement_line(placement) for placement in report.placements],
        "victims": plain(report.victims),
        "nodes": plain(report.nodes),
        "devices": plain(report.devices),
        "stuck": [placement_line(placement) for placement in report.stuck],
        "summary": {**counts, "pods": len(report.placements), "victims": len(report.victims)},
        **({"idleClaims": list(report.idle_claims)} if report.idle_claims else {}),
        **({"gangs": [gang_document(one) for one in report.gangs]} if report.gangs else {}),
        **({"refused": plain(report.refused)} if report.refused else {}),
        **({"unserved": plain(report.unserved)} if report.unserved else {}),
    }
