"""An explanation as one line of JSON, with the fields that tests compare with kube-scheduler."""

from typing import Any, Final

from kubesched.explanation import Evaluation, Explanation, Fix, PluginVerdicts
from kubesched.framework import Status

_NOT_DECIDED: Final = "NotDecided"


def as_line(explanation: Explanation | Evaluation) -> dict[str, Any]:
    """The fields `pod`, `profile`, `plugins`, `filter`, `feasible`, `scores`, `total`, `best`, `message`, `undecided`,
    `fault` and `fixes`.

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
    line["fault"] = "" if explanation.failure is None else explanation.failure.message
    line["fixFault"] = "" if explanation.fix_fault is None else explanation.fix_fault.located
    line["fixes"] = [_fix(fix) for fix in explanation.fixes]
    if explanation.scores is not None:
        names = explanation.scores.nodes.names
        scores = {plugin: explanation.scores.of(plugin).tolist() for plugin in explanation.scores.by_plugin}
        line["scores"] = {plugin: dict(zip(names, values, strict=True)) for plugin, values in scores.items()}
        line["total"] = dict(zip(names, explanation.scores.total.tolist(), strict=True))
        line["best"] = sorted(explanation.best)
    return {name: value for name, value in line.items() if value or name == "plugins"}


def _fix(fix: Fix) -> dict[str, Any]:
    said: dict[str, Any] = {"text": fix.text, "kind": fix.kind, "nNodes": fix.n_nodes, "nodes": list(fix.nodes)}
    said["keepsIntent"] = fix.keeps_intent
    if fix.leaves_pending:
        said["leavesPending"] = list(fix.leaves_pending)
    return {**said, "parts": [_fix(part) for part in fix.parts]} if fix.parts else said


def rejection(status: Status) -> dict[str, Any]:
    """A verdict: `code`, the `plugin` behind it if there is one, and its `reasons`, sorted."""
    code = _NOT_DECIDED if status.is_undecided else status.code.value
    said: dict[str, Any] = {"code": code, "reasons": sorted(status.reasons)}
    if status.plugin:
        said["plugin"] = status.plugin
    return said


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
