"""The advice in one line: what would have to change for the pod to fit on the nearest node."""

import numpy as np
import numpy.typing as npt

from kubesched.config import did_you_mean
from kubesched.explanation.explanation import Explanation
from kubesched.explanation.obstacles import NO_REASON, obstacles
from kubesched.framework import Code
from kubesched.plugins import required_node_affinity


def advice(explanation: Explanation, order: npt.NDArray[np.intp]) -> str:
    """The obstacles on the nearest nodes, as a sentence; empty where there are none.

    Args:
        order: the positions of the nodes that do not fit, the nearest first.

    Example:
        explanation = explain(load_snapshot("cluster.json"), make_pod("big", requests={"cpu": "64"}))
        assert advice(explanation, nearest(explanation)).startswith("to fit on n1, remove this obstacle")
    """
    complaints = _complaints_about_pod(explanation)
    if complaints:
        return f"no node can take the pod: {complaints}."
    first = next((position for position in order.tolist() if not _has_fault(explanation, position)), None)
    if first is None:
        return ""
    in_the_way = obstacles(explanation, first)
    n_same = _n_alike(explanation, first) - 1
    listed = "; ".join(obstacle.text for obstacle in in_the_way)
    what = "remove this obstacle" if len(in_the_way) == 1 else f"remove {len(in_the_way)} obstacles"
    said = f"to fit on {explanation.nodes.name(first)}, {what}: {listed}.{_unknown_values(explanation)}"
    if not n_same:
        return said
    others = "1 more node is" if n_same == 1 else f"{n_same} more nodes are"
    by = f"only by {in_the_way[0].plugin}" if len(in_the_way) == 1 else "by the same plugins"
    return f"{said} {others} blocked {by}."


def _has_fault(explanation: Explanation, position: int) -> bool:
    """Whether a plugin fails on the node, which is nothing that the reader could change in the cluster."""
    return any(said.status_of(position).code is Code.ERROR for said in explanation.by_plugin.values())


def _complaints_about_pod(explanation: Explanation) -> str:
    """What plugins have against the pod itself, each complaint once with the plugins behind it."""
    complaints: dict[str, list[str]] = {}
    for said in explanation.by_plugin.values():
        if said.pre_filter is not None and said.pre_filter.code is not Code.ERROR:
            complaints.setdefault(said.pre_filter.message or NO_REASON, []).append(said.plugin)
    return "; ".join(f"{message} ({', '.join(plugins)})" for message, plugins in complaints.items())


def _n_alike(explanation: Explanation, position: int) -> int:
    """How many nodes are rejected by the same plugins as this one."""
    alike = np.ones(len(explanation.nodes), dtype=np.bool_)
    for said in explanation.by_plugin.values():
        rejected = said.rejected
        alike &= rejected == rejected[position]
    return int(np.count_nonzero(alike))


def _unknown_values(explanation: Explanation) -> str:
    """Labels of the node selector that no node has: most often a typing error."""
    required = required_node_affinity(explanation.info.node_choice)
    said = ""
    for pair in required.pairs if required is not None else ():
        if not explanation.nodes.satisfying(pair).any():
            (wanted,) = pair.values
            known = [value for value in explanation.nodes.label(pair.key).values.values if value is not None]
            near = did_you_mean(wanted, known) if known else f"no node has the label {pair.key} at all"
            said += f" No node has {pair.key}={wanted}{f'; {near}' if near else ''}"
            said += "" if said.endswith("?") else "."
    return said
