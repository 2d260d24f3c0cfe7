"""What each plugin, and each extender, made of all nodes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from kubesched.documents import count
from kubesched.explanation import NO_REASON, Explanation, PluginVerdicts, reasons_of
from kubesched.framework import Status
from kubesched.pages.formats import Align, Cell, Column, Level, Row, Table
from kubesched.scheduler import ExtenderAnswer

_N_REASONS: Final = 5


def plugin_table(explanation: Explanation) -> Table:
    """A row for each Filter plugin: how many nodes it rejects by itself, and why."""
    columns = (Column("plugin"), Column("rejects", align=Align.NUMBER), Column("why"))
    rows = [[name, *_row_of(said)] for name, said in explanation.by_plugin.items()]
    return Table("plugins", "What each plugin rejects, independent of the others:", columns, rows)


def hook_table(explanation: Explanation) -> Table:
    """A row for each plugin that answered before or after the filters, apart from SUCCESS; without rows if none did."""
    columns = (
        Column("plugin"),
        Column("point", "EXTENSION POINT"),
        Column("node", align=Align.NODE, is_wide=True),
        Column("answer"),
    )
    rows: list[Row] = [[said.plugin, said.point, said.node, said.text] for said in explanation.hooks]
    return Table("hooks", "What plugins say before and after the filters:", columns, rows)


def verdict_table(explanation: Explanation) -> Table:
    """Every node with the verdict and the points of each plugin, for formats in which readers filter and sort.

    Plugins that had nothing to check and give no node a point are left out.
    """
    points = _points_by_node(explanation)
    asked = {name: said.rejected.tolist() for name, said in explanation.by_plugin.items() if not said.skipped}
    scoring = {name for scores in points.values() for name, score in scores.items() if score}
    names = [*asked, *sorted(scoring - set(asked))]
    columns = (
        Column("node", align=Align.NODE),
        Column("fits"),
        *([Column("total", align=Align.NUMBER)] if explanation.compares else []),
        *(Column(name, name, Align.NUMBER) for name in names),
    )
    rows: list[Row] = []
    for position, node in enumerate(explanation.nodes.names):
        scores = points.get(node)
        verdicts = [
            Cell("rejects", level=Level.BAD) if asked[name][position] else _number(scores, name) for name in asked
        ]
        total = [Cell("") if scores is None else _cell(sum(scores.values()))] if explanation.compares else []
        fits = Cell("no", level=Level.BAD) if scores is None else Cell("yes", level=Level.GOOD)
        rows.append([node, fits, *total, *verdicts, *(_number(scores, name) for name in names[len(asked) :])])
    return Table("verdicts", "Every node and every plugin:", columns, rows)


def _points_by_node(explanation: Explanation) -> dict[str, dict[str, int]]:
    scores = explanation.scores
    if scores is None:
        return {}
    return {name: scores.at(position) for position, name in enumerate(scores.nodes.names)}


def _number(scores: Mapping[str, int] | None, plugin: str) -> Cell:
    """The points of a plugin; empty where it gives none."""
    return Cell("") if scores is None or plugin not in scores else _cell(scores[plugin])


def _cell(points: int) -> Cell:
    return Cell(str(points), points)


def extender_table(explanation: Explanation) -> Table:
    """A row for each call of an extender; without rows where none was called."""
    columns = (
        Column("extender"),
        Column("verb"),
        Column("nodes", align=Align.NUMBER),
        Column("ms", align=Align.NUMBER),
        Column("answer"),
    )
    rows: list[Row] = [
        [said.extender, said.verb, len(said.offered), round(1000 * said.seconds), _answer(said)]
        for said in explanation.extenders
    ]
    return Table("extenders", "", columns, rows)


def _row_of(said: PluginVerdicts) -> Row:
    if said.pre_filter is not None:
        return "all", f"{said.pre_filter.message or NO_REASON} (before looking at nodes)"
    if said.skipped:
        return "-", "nothing to check"
    reasons = _counted(said.rejections.values()).split("; ") if said.rejections else []
    if n := said.n_left_out:
        reasons.append(f"leaves out {count(n, 'node')} (before looking at nodes)")
    return int(np.count_nonzero(said.rejected)), "\n".join(reasons)


def _counted(statuses: Iterable[Status]) -> str:
    counts: Counter[str] = Counter()
    for status in statuses:
        counts.update(reasons_of(status))
    reasons = [f"{n} {reason}" for reason, n in counts.most_common(_N_REASONS)]
    return "; ".join(reasons + ["..."] * (len(counts) > _N_REASONS))


def _answer(said: ExtenderAnswer) -> str:
    if said.error:
        return said.error
    if said.verb == "filter":
        reasons = _counted(said.rejected.values())
        return f"rejects {len(said.rejected)}: {reasons}" if reasons else "rejects none"
    if not said.scores:
        return "no scores"
    return f"adds {min(said.scores.values())} to {max(said.scores.values())} points"
