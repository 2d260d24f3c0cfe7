"""Why a pod fits nowhere: what would help, what preemption would do, and the nodes grouped by their obstacles."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from kubesched.api import Patch, Pod
from kubesched.documents import count, plural
from kubesched.explanation import (
    Explanation,
    Fix,
    Obstacle,
    ObstacleRow,
    Preemption,
    distinct,
    obstacle_texts,
    preemption_sentence,
    preemption_words,
)
from kubesched.pages.formats import Align, Cell, Column, Level, Paragraph, Part, Row, Table, hand

_N_ROWS: Final = 12


def rejection_parts(explanation: Explanation) -> list[Part]:
    """The parts for a pod that no node takes."""
    parts: list[Part] = [*_advice(explanation)]
    if explanation.preemption is not None:
        parts += _preemption(explanation.preemption, explanation.pod)
    parts.append(_table(explanation, explanation.rows))
    return parts


def _advice(explanation: Explanation) -> Iterator[Paragraph]:
    """What to do where there are no fixes, and the fault that ends attempts with some of them."""
    fault = explanation.fix_fault
    if not explanation.fixes:
        if said := explanation.advice:
            yield Paragraph(f"{said[0].upper()}{said[1:]}", Level.WARNING)
    elif explanation.failure is None and fault is not None and any(fix.fault for fix in explanation.fixes):
        told = f"Plugin {fault.plugin} fails on other nodes, and an attempt that reaches them ends with an error"
        yield Paragraph(f"{told}: {fault.located}.", Level.WARNING)


def fix_table(fixes: Sequence[Fix], node_names: Collection[str], title: str, name: str = "fixes") -> Table:
    """What makes a pod fit, the best first; without rows where nothing does.

    Args:
        node_names: of the nodes of the cluster.
        name: of the table.
    """
    columns = (
        Column("fix"),
        Column("nodes", "NODES THAT FIT", Align.NUMBER),
        Column("first", "FOR EXAMPLE", Align.NODE),
        Column("kind", is_wide=True),
        Column("keepsIntent", "KEEPS INTENT", is_wide=True),
    )
    known = frozenset(node_names)
    rows: list[Row] = []
    for fix in fixes:
        first = next((node for node in fix.nodes if node in known), "")  # empty for a new node
        keeps = "yes" if fix.keeps_intent else "no"
        text = f"{fix.text} ({fix.pods_words})" if fix.is_short else fix.text
        rows.append([Cell(text, level=Level.GOOD), fix.n_nodes, first, fix.kind, keeps])
    return Table(name, title, columns, rows)


def fix_title(fixes: Sequence[Fix], whom: str = "it") -> str:
    """The line above the fixes of a pod that does not fit."""
    return f"Any one of these makes {whom} fit:" if len(fixes) > 1 else f"This makes {whom} fit:"


def hand_of(whom: str, fixes: Iterable[Fix]) -> Iterator[Paragraph]:
    """What applies the best fix of some pods; nothing without one.

    Args:
        fixes: the best one of each pod; its steps, once where they are the same.
    """
    first: Fix | None = None
    steps: dict[Hashable, Patch] = {}
    for fix in {id(fix): fix for fix in fixes}.values():
        first = first or fix
        for patch in fix.patches:
            steps.setdefault(patch.key, patch)
    if first is not None:
        yield from hand(f"{whom}: {first}", list(steps.values()))


def all_rejections(explanation: Explanation) -> Table:
    """A row for each node that does not fit, the nearest to fitting first."""
    columns = (Column("node", align=Align.NODE), Column("obstacles"))
    rows = [
        [explanation.nodes.name(position), _lines(explanation.obstacles(position))] for position in explanation.nearest
    ]
    return Table("rejections", "The nodes that do not fit, the nearest to fitting first:", columns, rows)


def with_rejections(scores: Table, explanation: Explanation, *, all_nodes: bool) -> Table:
    """The ranking of the nodes that fit, with rows for those that do not, the nearest to fitting first."""
    blank = [""] * (len(scores.columns) - 2)
    if all_nodes:
        rows = [[node, 1, *blank, lines] for node, lines in all_rejections(explanation).rows]
    else:
        rows = [
            [explanation.nodes.name(row.positions[0]), len(row.positions), *blank, _row_lines(row)]
            for row in explanation.rows
        ]
    columns = (*scores.columns, Column("obstacles"))
    return Table(scores.name, scores.title, columns, [*([*row, ""] for row in scores.rows), *rows])


def _table(explanation: Explanation, rows: Sequence[ObstacleRow]) -> Table:
    columns = (Column("nodes", align=Align.NUMBER), Column("obstacles"), Column("nearest", "NEAREST NODE", Align.NODE))
    shown: list[Row] = [
        [len(row.positions), _row_lines(row), explanation.nodes.name(row.positions[0])] for row in rows[:_N_ROWS]
    ]
    notes = []
    if left := rows[_N_ROWS:]:
        n_nodes = sum(len(row.positions) for row in left)
        nodes = count(n_nodes, "more node has", "more nodes have")
        notes.append(f"{nodes} other obstacles; --all-nodes shows every node.")
    notes += _last_rows(explanation)
    return Table("obstacles", "What keeps the pod from the nodes:", columns, shown, notes=tuple(notes))


def _last_rows(explanation: Explanation) -> Iterator[str]:
    """Why some nodes come last."""
    small, others = explanation.too_small, explanation.not_named
    if small.all():
        yield "No node is large enough for this pod, even when it is empty."
    elif n := int(np.count_nonzero(small & ~others)):
        yield f"{_last(n)} too small for this pod even when {plural(n, 'it is', 'they are')} empty."
    if others.all():
        yield "No node is among those that the pod or its volumes name."
    elif n := int(np.count_nonzero(others)):
        yield f"{_last(n)} not among those that the pod or its volumes name."


def _last(n: int) -> str:
    return count(n, "node, in the last rows, is", "nodes, in the last rows, are")


def _row_lines(row: ObstacleRow) -> str:
    rest = "" if row.is_alike else "\n(on the nearest node; on the others with other amounts or values)"
    return _lines(row.obstacles, row.texts) + rest


def _lines(listed: Sequence[Obstacle], texts: Sequence[str] = ()) -> str:
    """A line for each obstacle, with the plugin before it."""
    plugins = [obstacle.plugin for obstacle in distinct(listed)]
    return "\n".join(map(": ".join, zip(plugins, texts or obstacle_texts(listed), strict=True)))


def _preemption(preemption: Preemption, pod: Pod) -> list[Part]:
    said = preemption_words(preemption.said)
    if not preemption.node_name and not preemption.said:
        return []  # only plugins of the user's were asked, whose answers have rows
    if not preemption.node_name:
        why = f": {said}" if said else "."
        return [Paragraph(f"Preemption would not make room{why}", Level.DETAIL)]
    return [Paragraph(f"{preemption_sentence(preemption, pod)}.", Level.WARNING)]
