"""A sweep as a page: what each configuration comes to, which are best, why runs failed, and what to paste."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from kubesched.comparison import FIGURES, Figure, figure
from kubesched.documents import count
from kubesched.pages.formats import Align, Cell, Check, Column, Level, Page, Paragraph, Row, Table, fields, page_of
from kubesched.sweeps import Setting, Sweep, SweepRow

_N_TO_PASTE: Final = 3


@page_of.register
def sweep_page(sweep: Sweep, n_best: int = _N_TO_PASTE) -> Page:
    """Describe a sweep.

    Args:
        n_best: how many of the best configurations are printed.
    """
    chosen = [figure(name) for name in sweep.pareto]
    rows = [row.as_fields() for row in sweep.rows]
    return Page(
        "sweep",
        _verdict(sweep, chosen),
        (_settings_table(sweep.settings, chosen), _failures(sweep.failed), *_to_paste(sweep.best[:n_best])),
        document={"pareto": list(sweep.pareto), "settings": [_document(one) for one in sweep.settings], "rows": rows},
        lines=rows,
        data=_rows_table(rows),
        checks=[*_checks(sweep)],
    )


def _verdict(sweep: Sweep, chosen: Sequence[Figure]) -> Paragraph:
    n_snapshots = len({row.snapshot for row in sweep.rows})
    runs = f"{count(len(sweep.rows), 'run')} of {count(len(sweep.settings), 'configuration')}"
    kept = f", {sweep.n_kept:,} of them kept from before" if sweep.n_kept else ""
    titles = " and ".join(one.title for one in chosen)
    best = sweep.best
    if not best:
        found = f"no configuration has {titles} in all runs"
    elif len(best) == 1:
        found = f"{_name(best[0])} is best in {titles}"
    else:
        found = f"{len(best)} are on the Pareto front of {titles}"
    text = f"{runs} on {count(n_snapshots, 'snapshot')}{kept}: {found}."
    return Paragraph(text, Level.GOOD if best and not sweep.failed else Level.WARNING)


def _settings_table(settings: Sequence[Setting], chosen: Sequence[Figure]) -> Table:
    shown = [*chosen, *(one for one in FIGURES if one.name != "moved" and one not in chosen)]
    has_args = any(one.plugin_args for one in settings)
    columns = [
        Column("best", "FRONT"),
        Column("configuration"),
        *([Column("pluginArgs", "PLUGIN ARGUMENTS")] if has_args else []),
        Column("runs", align=Align.NUMBER),
        Column("failed", align=Align.NUMBER),
        *(Column(one.name, one.title.upper(), Align.NUMBER, is_wide=one not in chosen) for one in shown),
    ]
    rows: list[Row] = []
    for one in settings:
        named: Row = [Cell("yes" if one.is_best else "", level=Level.GOOD), one.configuration]
        args = [one.plugin_args] if has_args else []
        failed = Cell(str(one.n_failed), one.n_failed, Level.BAD if one.n_failed else Level.PLAIN)
        rows.append([*named, *args, one.n_runs, failed, *(_spread(one, each) for each in shown)])
    note = "A figure is the median over the seeds, on average over the snapshots; in brackets the range of all runs."
    return Table("settings", "Configurations", tuple(columns), rows, notes=(note,))


def _spread(setting: Setting, one: Figure) -> Cell:
    found = setting.figures.get(one.name)
    if found is None:
        return Cell("-")
    value, least, most = map(one.unit.in_words, (found.value, found.least, found.most))
    return Cell(value if least == most else f"{value} ({least} to {most})", found.value)


def _failures(failed: Iterable[SweepRow]) -> Table:
    reasons = Counter((row.configuration, row.snapshot, row.error) for row in failed)
    columns = (Column("runs", align=Align.NUMBER), Column("configuration"), Column("snapshot"), Column("why"))
    rows: list[Row] = [[n, *names] for names, n in reasons.items()]
    return Table("failures", "Runs that failed", columns, rows)


def _to_paste(best: Iterable[Setting]) -> Iterator[Paragraph]:
    for one in best:
        if one.to_paste:
            yield Paragraph(f"To use {_name(one)}:", Level.HEADING)
            yield Paragraph(one.to_paste.rstrip(), is_code=True)


def _rows_table(rows: Sequence[dict[str, Any]]) -> Table:
    columns = tuple(Column(name) for name in (rows[0] if rows else {}))
    return Table("rows", "", columns, [[_cell(value) for value in row.values()] for row in rows])


def _cell(value: Any) -> Cell | str:
    if value is None:
        return ""
    return value if isinstance(value, str) else Cell(str(value), value)


def _document(setting: Setting) -> dict[str, Any]:
    return fields(setting, "configuration", "plugin_args", "n_runs", "n_failed", "figures", "is_best", "to_paste")


def _checks(sweep: Sweep) -> Iterator[Check]:
    for row in sweep.rows:
        name = " ".join(filter(None, (row.configuration, row.plugin_args, f"seed {row.seed}")))
        yield Check(row.snapshot, name, row.error)


def _name(setting: Setting) -> str:
    return " with ".join(filter(None, (setting.configuration, setting.plugin_args)))
