"""The tables of extender.py as Markdown, line by line."""

from collections.abc import Iterable, Iterator

from benchmarks.extender.cells import NAMES, PEAK_BYTES, SIZES, Endurance, Figures, Result
from benchmarks.report.markdown import table_line

COLUMNS = (
    ("request", -11),
    ("verb", -10),
    ("at once", 7),
    ("kubesched", 9),
    ("Go", 8),
    ("ratio", 6),
    ("target", 6),
    ("met", -3),
    ("p99", 8),
    ("Go's p99", 8),
    ("met", -3),
    ("CPU", 8),
    ("Go's CPU", 8),
    ("first", 8),
    ("Go's first", 10),
    ("requests", 15),
)
MEMORY = (("memory", -47), ("kubesched", 11), ("Go", 7), ("target", 7), ("met", -3))


def line(result: Result) -> str:
    """One cell; times in milliseconds."""
    cell, ours, go = result.cell, result.ours, result.go
    return table_line(
        COLUMNS,
        [
            f"{cell.n:,} {cell.form}",
            cell.verb,
            str(cell.n_connections),
            _ms(ours.median),
            _ms(go.median) if go else "",
            f"{result.ratio:.1f}" if result.ratio else "",
            f"{cell.target:g}" if cell.target and go else "",
            _met(result.is_fast),
            _ms(ours.p99),
            _ms(go.p99) if go else "",
            _met(result.is_steady),
            _ms(ours.cpu_each),
            _ms(go.cpu_each) if go else "",
            _first(ours),
            _first(go),
            f"{ours.n_requests:,} / {go.n_requests:,}" if go else f"{ours.n_requests:,}",
        ],
    )


def memory_lines(results: Iterable[Result], endurances: Iterable[Endurance]) -> Iterator[str]:
    """The most memory of the largest requests, and the memory of long runs, in MB."""
    for result in results:
        cell, go = result.cell, result.go
        if cell.form == NAMES or cell.n_connections == 1:
            continue
        peak, has_target = max(result.ours.peaks), cell.n == SIZES[-1]
        yield table_line(
            MEMORY,
            [
                f"most, {cell.n_connections} at once, {cell.verb} {cell.n:,} {cell.form}",
                _mb(peak),
                _mb(max(go.peaks)) if go else "",
                f"< {_mb(PEAK_BYTES)}" if has_target else "",
                _met(peak < PEAK_BYTES) if has_target else "",
            ],
        )
    for endured in endurances:
        what = f"after {endured.n_early:,}, {endured.n_late:,} of {endured.what}"
        yield table_line(
            MEMORY, [what, f"{_mb(endured.early)}, {_mb(endured.late)}", "", "flat", _met(endured.is_flat)]
        )


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f}" if seconds < 0.1 else f"{seconds * 1e3:,.0f}"


def _first(figures: Figures | None) -> str:
    return _ms(sorted(figures.first)[len(figures.first) // 2]) if figures and figures.first else ""


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f}"


def _met(value: bool | None) -> str:
    return {None: "", True: "yes", False: "no"}[value]
