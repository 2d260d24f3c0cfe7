"""An explanation as one JSON document: the fields of a line, and more fields for readers."""

from typing import Any

import msgspec
import numpy as np

from kubesched.explanation import N_NEAREST, Explanation, HookAnswer, Preemption
from kubesched.framework import Code
from kubesched.pages.explanations.explanation_lines import as_line, rejection
from kubesched.scheduler import ExtenderAnswer, default_sample


def as_document(explanation: Explanation) -> dict[str, Any]:
    """The fields of as_line, and `refused`, `hangs`, `runsOn`, `heldBack`, `hooks`, `nNodes`, `nearest`, `advice`,
    `extenders`, `preemption`, `choice`, `defaultSample`, `notes`; of a pod that has ended `pod`, `profile`, `plugins`
    and `ended`.

    docs/reference/output.md describes them. Empty ones are left out.

    Example:
        document = as_document(explain(load_snapshot("cluster.json"), "shop/web-7"))
        assert document["nNodes"] == 2 and document["choice"]["best"]["node"] == "n1"
    """
    document = as_line(explanation)
    if explanation.ended is not None:
        return {**document, "ended": msgspec.to_builtins(explanation.ended)}
    document["refused"] = explanation.refused
    document["hangs"] = explanation.hangs
    document["runsOn"] = _current_node(explanation)
    document["heldBack"] = explanation.held_back
    document["hooks"] = [_hook(answer) for answer in explanation.hooks]
    document["nNodes"] = len(explanation.nodes)
    order = () if explanation.undecided else explanation.nearest[:N_NEAREST]
    document["nearest"] = [near_document(explanation, position) for position in order]
    document["advice"] = explanation.advice
    document["extenders"] = [_said(answer) for answer in explanation.extenders]
    document["notes"] = [{"plugin": name, "text": text} for name, texts in explanation.notes.items() for text in texts]
    document["preemption"] = _preemption(explanation.preemption)
    chosen = explanation.choice
    if chosen is not None and explanation.compares:
        document["choice"] = msgspec.to_builtins(chosen)
        document["defaultSample"] = default_sample(len(explanation.nodes))
    return {name: value for name, value in document.items() if value or name == "plugins"}


def _current_node(explanation: Explanation) -> dict[str, Any]:
    """The node of a pod that runs, with its rank and points among the nodes that fit."""
    scores = explanation.scores
    position = None if scores is None else scores.nodes.position_of(explanation.runs_on)
    if scores is None or position is None or not explanation.compares:
        return {"node": explanation.runs_on} if explanation.runs_on else {}
    total = int(scores.total[position])
    return {"node": explanation.runs_on, "total": total, "rank": 1 + int(np.count_nonzero(scores.total > total))}


def _hook(answer: HookAnswer) -> dict[str, Any]:
    said = {
        "plugin": answer.plugin,
        "point": answer.point,
        "node": answer.node,
        "code": Code.WAIT.value if answer.seconds else answer.status.code.value,
        "reasons": list(answer.status.reasons),
        "seconds": answer.seconds,
    }
    return {name: value for name, value in said.items() if value}


def _said(answer: ExtenderAnswer) -> dict[str, Any]:
    said = {
        "extender": answer.extender,
        "verb": answer.verb,
        "nNodes": len(answer.offered),
        "rejected": {name: rejection(status) for name, status in sorted(answer.rejected.items())},
        "scores": answer.scores,
        "error": answer.error,
        "seconds": round(answer.seconds, 6),
    }
    return {name: value for name, value in said.items() if value or name == "nNodes"}


def near_document(explanation: Explanation, position: int) -> dict[str, Any]:
    """What keeps the pod from a node: an entry of `nearest`."""
    rejections = [
        {**rejection(obstacle.status), "plugin": obstacle.plugin, "details": list(obstacle.details)}
        for obstacle in explanation.obstacles(position)
    ]
    look = explanation.closely.get(position)
    short = {} if look is None else look.short
    near: dict[str, Any] = {"node": explanation.nodes.name(position), "rejections": rejections}
    return {**near, "short": short} if short else near


def _preemption(preemption: Preemption | None) -> dict[str, Any]:
    if preemption is None:
        return {}
    said: dict[str, Any] = {"message": preemption.message}
    if preemption.node_name:
        said["node"] = preemption.node_name
        said["victims"] = [info.pod.key for info in preemption.victims]
        said["nPdbViolations"] = preemption.n_pdb_violations
        said["broken"] = list(preemption.broken)
    return {name: value for name, value in said.items() if value != ""}
