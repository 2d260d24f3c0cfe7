"""Hold a column plugin against the slow reference, node by node and in every table shape that the framework makes."""

from collections.abc import Iterator
from typing import Any

from kubesched.framework import Code, Plugin, PreFilterResult, Status
from tests.plugins.one_plugin import GONE, Asked
from tests.reference import framework as reference
from tests.reference.cluster import Cluster


def differences(plugin: Plugin, slow: reference.Plugin, items: list[dict], *, hole: bool = False) -> Iterator[str]:
    """What plugin and reference disagree on about each pending pod."""
    cluster = Cluster(items, left=[GONE] if hole else ())
    for incoming in cluster.pending:
        asked = Asked(plugin, items, incoming, hole=hole)
        for what, mine, theirs in _filtered(asked, slow, incoming, cluster):
            if mine != theirs:
                yield f"{incoming['metadata']['name']}: {what}: {mine} instead of {theirs}"
        for what, mine, theirs in _scored(asked, slow, incoming, cluster):
            if mine != theirs:
                yield f"{incoming['metadata']['name']}: {what}: {mine} instead of {theirs}"


def _filtered(asked: Asked, slow: reference.Plugin, incoming: dict, cluster: Cluster) -> Iterator[tuple[str, Any, Any]]:
    plugin = asked.plugin
    if not plugin.defines("filter_nodes"):
        return
    if plugin.defines("pre_filter"):
        mine, theirs = asked.pre_filter(), slow.pre_filter(incoming, cluster)
        yield "preFilter", _as_reference(mine, plugin.name), theirs
        if theirs.skip or theirs.status:
            return
    wanted = {node.name: slow.filter(incoming, node) for node in cluster.nodes}
    wanted = {name: status for name, status in wanted.items() if status}
    for what, found in _in_every_shape(asked, asked.filter):
        yield f"filter {what}", {name: as_filtered(one, plugin.name) for name, one in found.items()}, wanted


def _scored(asked: Asked, slow: reference.Plugin, incoming: dict, cluster: Cluster) -> Iterator[tuple[str, Any, Any]]:
    plugin = asked.plugin
    if not plugin.defines("score_nodes"):
        return
    if plugin.defines("pre_score"):
        mine = asked.pre_score().is_skip
        theirs = hasattr(slow, "pre_score") and slow.pre_score(incoming, cluster, cluster.nodes)
        yield "preScore", mine, theirs
        if theirs:
            return
    wanted = {node.name: slow.score(incoming, node) for node in cluster.nodes}
    for what, found in _in_every_shape(asked, asked.score):
        yield f"score {what}", found, wanted
    if plugin.defines("normalize_score") and wanted:
        slow.normalize(wanted)
        yield "normalizeScore", asked.normalized(), wanted


def _in_every_shape(asked: Asked, hook: Any) -> Iterator[tuple[str, dict]]:
    yield "of the whole table", hook()
    yield "row by row", {name: answer for row in asked.rows() for name, answer in hook(row).items()}
    yield "of a what-if copy", hook(asked.nodes.copy())


def _as_reference(answer: Status | PreFilterResult, plugin: str) -> reference.PreFilter:
    if isinstance(answer, PreFilterResult):
        return reference.PreFilter(nodes=answer.node_names)
    if answer.is_skip:
        return reference.SKIP
    if answer.is_success:
        return reference.PreFilter()
    return reference.PreFilter(status=_status(answer, plugin, f'running PreFilter plugin "{plugin}"'))


def as_filtered(status: Status, plugin: str) -> reference.Status:
    """A filter's rejection as the framework hands it on: a fault says where it happened."""
    return _status(status, plugin, f'running "{plugin}" filter plugin')


def _status(status: Status, plugin: str, where: str) -> reference.Status:
    is_fault = status.code is Code.ERROR
    reasons = (f"{where}: {status.message}",) if is_fault else status.reasons
    return reference.Status(reference.Code(status.code.value), reasons, plugin)
