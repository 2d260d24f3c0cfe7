"""The nodes that fit, the best first: a row for nodes with equal scores, a column for each plugin."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from kubesched.documents import count
from kubesched.explanation import Choice, Explanation, NodeScores, points_words
from kubesched.pages.formats import Align, Cell, Column, Level, Paragraph, Part, Row, Table
from kubesched.scheduler import default_sample

_N_ROWS: Final = 10
_SINCE: Final = (
    "kube-scheduler does not move a running pod. A new decision may differ because of other pods or nodes, a tie-break "
    "or another configuration."
)


def ranking_parts(explanation: Explanation, chosen: Choice, *, all_nodes: bool) -> list[Part]:
    """The table, what made the difference, and what else to know about the choice."""
    scores = explanation.scores
    assert scores is not None
    parts: list[Part] = [ranking_table(scores, chosen, explanation.runs_on, all_nodes=all_nodes)]
    if chosen.runners_up and explanation.compares:
        parts.append(Paragraph(_lead(chosen)))
    if explanation.runs_on and explanation.runs_on not in explanation.best:
        parts.append(Paragraph(_SINCE, Level.DETAIL))
    parts.append(Paragraph(_default_choice(explanation), Level.DETAIL))
    if len(explanation.feasible) < len(explanation.nodes) and not all_nodes:
        reasons = "; ".join(f"{n} {reason}" for reason, n in explanation.reason_counts)
        parts.append(Paragraph(f"The other nodes: {reasons}.", Level.DETAIL))
    return parts


def ranking_table(scores: NodeScores, chosen: Choice, runs_on: str = "", *, all_nodes: bool) -> Table:
    """The best nodes as rows and the plugins as columns.

    The plugins that make the difference to the next best node come first: where a terminal is narrow, the last columns
    go. Those that tell other nodes apart follow.

    Args:
        runs_on: a node that gets its row in any case.
        all_nodes: whether every feasible node gets a row; otherwise nodes with equal scores share one.
    """
    groups = _equal_nodes(scores, runs_on, all_nodes=all_nodes)
    kept = groups[: len(groups) if all_nodes else _N_ROWS]
    kept += [group for group in groups[len(kept) :] if scores.nodes.name(group[0]) == runs_on]
    first = [group[0] for group in kept]
    points = {name: scores.of(name)[first].tolist() for name in scores.by_plugin}
    telling = [name for name in points if len(set(points[name])) > 1 or (len(kept) == 1 and points[name][0])]
    shown = sorted(points, key=lambda name: (name not in chosen.differences, name not in telling))
    is_merged = any(len(group) > 1 for group in kept)
    columns = [Column("node", align=Align.NODE)]
    columns.append(Column("nodes", "EQUAL NODES", Align.NUMBER, is_wide=not is_merged))
    columns += [Column("total", align=Align.NUMBER, is_wide=not scores.by_plugin), *_plugin_columns(shown, telling)]
    rows: list[Row] = []
    for i, group in enumerate(kept):
        name = scores.nodes.name(group[0])
        level = Level.GOOD if i == 0 else Level.WARNING if name == runs_on else Level.PLAIN
        total = int(scores.total[group[0]])
        rows.append([Cell(name, level=level), len(group), total, *(points[plugin][i] for plugin in shown)])
    equal_points = {name: column[0] for name, column in points.items() if name not in telling and len(scores.nodes) > 1}
    notes = _left_out(sum(map(len, groups)) - sum(map(len, kept)), equal_points)
    return Table("scores", "", tuple(columns), rows, notes=notes)


def _equal_nodes(scores: NodeScores, runs_on: str, *, all_nodes: bool) -> list[list[int]]:
    """The positions of all nodes, the best first; those with the same points of each plugin together."""
    points = [scores.of(name).tolist() for name in scores.by_plugin]
    groups: dict[tuple[int, ...], list[int]] = {}
    for position in np.argsort(-scores.total, kind="stable").tolist():
        is_alone = all_nodes or scores.nodes.name(position) == runs_on
        key = (*(column[position] for column in points), position if is_alone else -1)
        groups.setdefault(key, []).append(position)
    return list(groups.values())


def _plugin_columns(names: Sequence[str], telling: Sequence[str]) -> Iterator[Column]:
    """A column for each plugin; those that do not tell the nodes apart are for `-o wide`, CSV and HTML."""
    return (Column(name, name, Align.NUMBER, is_wide=name not in telling) for name in names)


def _left_out(n_nodes: int, equal: Mapping[str, int]) -> tuple[str, ...]:
    """What the table does not show: nodes, and plugins with equal points on the nodes that it shows."""
    nodes = count(n_nodes, "more node has", "more nodes have")
    notes = [f"{nodes} fewer points; --all-nodes shows every node."] if n_nodes else []
    listed = ", ".join(f"{name} {points}" for name, points in sorted(equal.items(), key=lambda item: -item[1]))
    return (*notes, f"Equal on all of these nodes: {listed}.") if equal else tuple(notes)


def _lead(chosen: Choice) -> str:
    tie = ""
    if chosen.n_best > 1:
        tie = f"{chosen.n_best} nodes have the highest total; {chosen.best.node} is the first of them in the snapshot. "
    if not chosen.next_best:
        return tie.rstrip()
    what = "It" if tie else chosen.best.node
    ahead = f"{count(chosen.ahead, 'point')} ahead of {chosen.next_best}"
    return f"{tie}{what} is {ahead}: {points_words(chosen.differences)}."


def _default_choice(explanation: Explanation) -> str:
    n_nodes, n_fit = len(explanation.nodes), len(explanation.feasible)
    if not explanation.compares:
        return "No plugin scores in this profile: kube-scheduler takes the first node that it finds to fit."
    n_sampled = default_sample(n_nodes)
    if n_fit == 1:
        return "By default kube-scheduler takes this node, too: it does not score the only node that fits."
    if n_fit <= n_sampled:
        return f"By default kube-scheduler would also compare all {n_fit} nodes that fit."
    return (
        f"By default kube-scheduler stops after {n_sampled} of the {n_fit} nodes that fit, and may take another one; "
        "kubesched compared all of them."
    )
