"""The table of engine.py, line by line."""

from benchmarks.report.markdown import table_line
from benchmarks.rows.runs import Result

COLUMNS = (
    ("row", -27),
    ("pods", 6),
    ("placed", 6),
    ("kubesched", 14),
    ("least-most", 15),
    ("oracle", 7),
    ("sampled", 7),
    ("ratio", 11),
    ("target", 17),
    ("met", -4),
    ("MiB", 5),
    ("in CPU time", 14),
)


def line(result: Result) -> str:
    """One row."""
    row, last = result.row, result.runs[-1]
    met = {None: "", True: "yes", False: "no"}[result.is_met]
    return table_line(
        COLUMNS,
        [
            row.name,
            f"{last['pods']:,}",
            f"{last['placed']:,}" if "placed" in last else "",
            _amount(result.median, is_rate=row.is_rate, with_unit=True),
            "-".join(_amount(value, is_rate=row.is_rate) for value in (min(result.values), max(result.values))),
            _oracle(result.every_node),
            _oracle(result.sampled),
            _ratios(result),
            _target(result),
            met,
            f"{result.peak_mib:,.0f}",
            _amount(result.in_cpu_time, is_rate=row.is_rate, with_unit=True),
        ],
    )


def _amount(value: float, *, is_rate: bool, with_unit: bool = False) -> str:
    if is_rate:
        return f"{value:,.0f}{' pods/s' * with_unit}"
    return f"{value:.3g}{' s' * with_unit}"


def _target(result: Result) -> str:
    row = result.row
    if result.is_met is not None and row.target_share is not None:
        return f">= {row.target_share:g} of quiet"
    if result.is_met is None or row.target is None:
        return ""
    if row.is_rate:
        return f">= {row.target:,.0f}"
    memory = f", {row.target_mib:,} MiB" if row.target_mib else ""
    return f"<= {row.target:g} s{memory}"


def _oracle(rate: float | None) -> str:
    return "" if rate is None else f"{rate:,.0f}"


def _ratios(result: Result) -> str:
    """How many times the oracle's rates ours is: every node, sampled; with churn, the share that is left of ours."""
    if result.share is not None:
        return f"{result.share:.2f}"
    if result.every_node is None or result.sampled is None:
        return ""
    return f"{result.median / result.every_node:,.0f} / {result.median / result.sampled:,.0f}"
