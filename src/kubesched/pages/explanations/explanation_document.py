"""An explanation as JSON: a line, whose fields tests compare with kube-scheduler, and a document with all fields."""

from typing import Any

import msgspec
import numpy as np

from kubesched.explanation import N_NEAREST, Evaluation, Explanation, Fix, HookAnswer, PluginVerdicts, Preemption
from kubesched.framework import Code, Status
from kubesched.pages.formats import plain
from kubesched.pages.simulations import gang_document, rejection
from kubesched.scheduler import ExtenderAnswer, default_sample


def as_line(explanation: Explanation | Evaluation) -> dict[str, Any]:
    """The fields `pod`, `profile`, `plugins`, `filter`, `feasible`, `scores`, `total`, `best`, `message`, `undecided`,
    `preEnqueue`, `allocations`, `error` and `fixes`.

    docs/reference/output.md describes them. Empty ones are left out; lists of nodes and of reasons are sorted.

    Example:
        assert as_line(explain(load_snapshot("cluster.json"), "shop/web-7"))["feasible"] == ["n1", "n2"]
    """
    line: dict[str, Any] = {"pod": explanation.pod.key, "profile": explanation.profile}
    line["plugins"] = {name: _verdicts(said) for name, said in explanation.by_plugin.items()}
    line["filter"] = _by_node(explanation.rejections)
    line["feasible"] = sorted(explanation.feasible)
    line["message"] = explanation.message
    line["undecided"] = explanation.undecided
    line["preEnqueue"] = {} if explanation.gate is None else rejection(explanation.gate.status)
    line["allocations"] = plain(explanation.allocations)
    line["error"] = "" if explanation.failure is None else explanation.failure.message
    line["fixFault"] = "" if explanation.fix_fault is None else explanation.fix_fault.located
    line["fixes"] = [fix_document(fix) for fix in explanation.fixes]
    if explanation.scores is not None:
        names = explanation.scores.nodes.names
        scores = {plugin: explanation.scores.of(plugin).tolist() for plugin in explanation.scores.by_plugin}
        line["scores"] = {plugin: dict(zip(names, values, strict=True)) for plugin, values in scores.items()}
        line["total"] = dict(zip(names, explanation.scores.total.tolist(), strict=True))
        line["best"] = sorted(explanation.best)
    return {name: value for name, value in line.items() if value or name == "plugins"}


def fix_document(fix: Fix) -> dict[str, Any]:
    """A fix with the steps that apply it."""
    said: dict[str, Any] = {"text": fix.text, "kind": fix.kind, "nNodes": fix.n_nodes, "nodes": list(fix.nodes)}
    said["keepsIntent"] = fix.keeps_intent
    if fix.n_equal > 1:
        said |= {"nPods": fix.n_pods, "nEqual": fix.n_equal}
    if fix.leaves_pending:
        said["leavesPending"] = list(fix.leaves_pending)
    if patches := fix.patches:
        said["patches"] = msgspec.to_builtins(patches)
    return {**said, "parts": [fix_document(part) for part in fix.parts]} if fix.parts else said


def _by_node(rejections: dict[str, Status]) -> dict[str, Any]:
    """The rejection of each node; nodes with one status share it, because there may be thousands of them."""
    distinct = {id(status): status for status in rejections.values()}
    words = {key: rejection(status) for key, status in distinct.items()}
    return {name: words[id(status)] for name, status in rejections.items()}


def _verdicts(said: PluginVerdicts) -> dict[str, Any]:
    if said.pre_filter is not None:
        return {"preFilter": rejection(said.pre_filter)}
    if said.skipped:
        return {"skipped": True}
    verdicts: dict[str, Any] = {}
    if said.node_names is not None:
        verdicts["nodes"] = sorted(said.node_names)
    if rejections := said.rejections:
        verdicts["filter"] = _by_node(rejections)
    return verdicts


def as_document(explanation: Explanation) -> dict[str, Any]:
    """The fields of as_line, and `refused`, `hangs`, `runsOn`, `heldBack`, `lackingClaims`, `hooks`, `devices`,
    `nNodes`, `nearest`, `advice`, `recorded`, `extenders`, `preemption`, `choice`, `defaultSample`, `notes`,
    `versionRules`, `claimsInUse`; of a pod that has ended `pod`, `profile`, `plugins` and `ended`.

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
    document["lackingClaims"] = list(explanation.lacking_claims)
    document["hooks"] = [_hook(answer) for answer in explanation.hooks]
    document["devices"] = msgspec.to_builtins(explanation.devices)
    document["nNodes"] = len(explanation.nodes)
    order = () if explanation.undecided else explanation.nearest[:N_NEAREST]
    document["nearest"] = [near_document(explanation, position) for position in order]
    document["advice"] = explanation.advice
    document["recorded"] = {} if explanation.recorded is None else msgspec.to_builtins(explanation.recorded)
    document["extenders"] = [_said(answer) for answer in explanation.extenders]
    document["notes"] = [{"plugin": name, "text": text} for name, texts in explanation.notes.items() for text in texts]
    document["versionRules"] = [rule.text for rule in explanation.version_rules]
    if not explanation.runs_on:
        document["claimsInUse"] = msgspec.to_builtins(explanation.claims_in_use)
        document["absentDrivers"] = msgspec.to_builtins(explanation.absent_drivers)
    document["gang"] = {} if explanation.gang is None else gang_document(explanation.gang)
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
        said["victims"] = [pod.key for pod in preemption.victims]
        said["nPdbViolations"] = preemption.n_pdb_violations
        said["broken"] = list(preemption.broken)
        said["fates"] = dict(preemption.fates)
        said.update({"claims": list(preemption.claims)} if preemption.claims else {})
    return {name: value for name, value in said.items() if value != ""}
