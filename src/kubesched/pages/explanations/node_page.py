"""One node, or a few, under a magnifying glass: the verdict and the points of each plugin."""

from collections.abc import Sequence
from typing import Any, Final

from kubesched.api import in_words
from kubesched.documents import count
from kubesched.explanation import (
    Choice,
    Explanation,
    PluginVerdicts,
    Ranked,
    differences,
    obstacle_texts,
    ranked,
    reasons_of,
)
from kubesched.framework import Code, Status
from kubesched.pages.explanations.explanation_document import as_document, near_document
from kubesched.pages.explanations.pod_page import check, data_paragraphs, turned_down
from kubesched.pages.formats import Align, Cell, Column, Level, Page, Paragraph, Part, Row, Table

_VERDICTS: Final = {
    Code.SUCCESS: "passes",
    Code.UNSCHEDULABLE: "rejects",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "rejects (eviction cannot help)",
}


def node_page(explanation: Explanation, positions: Sequence[int]) -> Page:
    """The report on some nodes: whether the pod fits there, and what it is worth compared with the best one.

    Args:
        positions: of at least one node; the explanation was asked to look at them closely.

    Example:
        page = node_page(explain(load_snapshot("cluster.json"), "shop/web-7", nodes=["n2"]), [1])
        assert page.verdict.text.startswith("Pod shop/web-7 fits on n2 with as many points as n1, ")
    """
    chosen = explanation.choice
    document = {**as_document(explanation), "asked": [_asked(explanation, chosen, position) for position in positions]}
    first, *others = positions
    parts: list[Part] = [*data_paragraphs(explanation), *_parts(explanation, chosen, first)]
    for position in others:
        said = _verdict(explanation, chosen, position)
        parts += [Paragraph(said.text, Level.HEADING), *_parts(explanation, chosen, position)]
    return Page(
        "explain",
        _verdict(explanation, chosen, first),
        tuple(parts),
        versions=(explanation.version,),
        document=document,
        lines=(document,),
        checks=(check(explanation),),
        node_names=explanation.nodes.names,
    )


def _asked(explanation: Explanation, chosen: Choice | None, position: int) -> dict[str, Any]:
    """The node in JSON."""
    here = _scored(explanation, position)
    said = near_document(explanation, position)
    said["fits"] = said["node"] in explanation.feasible
    said["verdict"] = _verdict(explanation, chosen, position).text
    return said if here is None or not explanation.compares else {**said, "total": here.total, "scores": here.scores}


def _verdict(explanation: Explanation, chosen: Choice | None, position: int) -> Paragraph:
    """One sentence: fits or not, and by how much it loses or wins."""
    pod, name = f"Pod {explanation.pod.key}", explanation.nodes.name(position)
    here = _scored(explanation, position)
    if here is None or chosen is None:
        certain = [one for one in explanation.obstacles(position) if not one.status.is_undecided]
        why = "; ".join(obstacle_texts(certain))
        if explanation.undecided and not why:
            said = f"Kubesched cannot tell whether pod {explanation.pod.key} fits on {name}: {explanation.undecided}."
            return Paragraph(said, Level.WARNING)
        if why:
            return Paragraph(f"{pod} does not fit on {name}: {why}.", Level.BAD)
        return Paragraph(f"{pod} passes every filter on {name}; no node was chosen.", Level.WARNING)
    if explanation.gate is not None:
        return Paragraph(f"{pod} fits on {name}, but is {explanation.held_back_words}.", Level.WARNING)
    best = chosen.best
    if name == best.node and explanation.turned_down is not None:
        return turned_down(explanation, explanation.turned_down, f"{pod} fits on {name}")
    if not explanation.compares:
        return Paragraph(f"{pod} fits on {name}; no plugin scores in this profile.", Level.GOOD)
    if name == best.node:
        runner_up = chosen.next_best and f", {chosen.ahead} points ahead of {chosen.next_best}"
        return Paragraph(f"{pod} fits on {name} and would go there{runner_up}.", Level.GOOD)
    if here.total == best.total:
        tie = f"with as many points as {best.node}, which comes first in the snapshot"
        return Paragraph(f"{pod} fits on {name} {tie}.", Level.GOOD)
    by_plugin = ", ".join(
        f"{plugin} {here.scores[plugin]} against {best.scores[plugin]}" for plugin in differences(here, best)
    )
    lost = best.total - here.total
    points = count(lost, "point")
    return Paragraph(f"{pod} fits on {name}, and loses by {points} to {best.node}: {by_plugin}.", Level.WARNING)


def _parts(explanation: Explanation, chosen: Choice | None, position: int) -> list[Part]:
    room = explanation.closely[position].room
    assert room is not None
    free = ", ".join(
        f"{name} {in_words(name, amount - room.requested.get(name, 0))} of {in_words(name, amount)}"
        for name, amount in room.allocatable.items()
    )
    name = explanation.nodes.name(position)
    return [Paragraph(f"Node {name}, free: {free}.", Level.DETAIL), _table(explanation, chosen, position)]


def _table(explanation: Explanation, chosen: Choice | None, position: int) -> Table:
    here = _scored(explanation, position)
    best = None if chosen is None else chosen.best
    columns = [Column("plugin"), Column("verdict"), Column("why")]
    compared: list[Ranked] = []
    if here is not None and best is not None and explanation.compares:
        compared = [here] if here.node == best.node else [here, best]
        columns += [
            Column(key, heading, Align.NUMBER)
            for key, heading in (("points", "POINTS"), ("best", "BEST NODE"))[: len(compared)]
        ]
    details = {obstacle.plugin: obstacle for obstacle in explanation.obstacles(position)}
    rows: list[Row] = []
    for name, said in explanation.by_plugin.items():
        obstacle = details.get(name)
        why = [] if obstacle is None else [*sorted(reasons_of(obstacle.status)), *obstacle.details]
        points = [_points(one, name) for one in compared]
        rows.append([name, _word(said, said.status_of(position)), "\n".join(why), *points])
    scoring = [name for name in (compared[0].scores if compared else ()) if name not in explanation.by_plugin]
    rows += [[name, "", "", *(_points(one, name) for one in compared)] for name in scoring]
    if compared:
        rows.append(["total", "", "", *(one.total for one in compared)])
    return Table(f"node-{position}", "", tuple(columns), rows, n_totals=1 if compared else 0)


def _scored(explanation: Explanation, position: int) -> Ranked | None:
    """The node with its scores; None for a node that was not scored."""
    scores = explanation.scores
    at = None if scores is None else scores.nodes.position_of(explanation.nodes.name(position))
    return None if scores is None or at is None else ranked(scores, at)


def _points(one: Ranked, plugin: str) -> Cell:
    points = one.scores.get(plugin)
    return Cell("") if points is None else Cell(str(points), points)


def _word(said: PluginVerdicts, status: Status) -> Cell:
    if said.skipped:
        return Cell("-", level=Level.DETAIL)
    if status.is_undecided:
        return Cell("cannot decide", level=Level.WARNING)
    level = Level.PLAIN if status.is_success else Level.BAD
    return Cell(_VERDICTS.get(status.code, status.code.value), level=level)
