"""The page of `kubesched replay`: figures over time, waiting times by priority, and what is left pending."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kubesched.documents import count, plural
from kubesched.pages.formats import (
    Align,
    Cell,
    Column,
    Level,
    Page,
    Paragraph,
    Plot,
    Row,
    Table,
    fields,
    grouped,
    page_of,
    time_words,
)
from kubesched.replay import OverTime, Replay, WaitingTimes
from kubesched.session import Placement

_NONE: Final = "-"
_COUNTS: Final = {"pending": "pods pending", "running": "pods running", "nodes_in_use": "nodes in use"}
_SHARES: Final = {
    "allocation": "{} requested, of all nodes",
    "utilization": "{} requested, of the nodes in use",
    "stranded": "{} free and of no use to popular pods",
}
_LIMITS: Final = (
    "A trace has requests, not usage: utilization is what pods request.",
    "Pods start as soon as they are bound, and victims of preemption leave at once.",
)


@page_of.register
def replay_page(answer: Replay) -> Page:
    """The page."""
    return Page(
        "replay",
        _verdict(answer),
        (_over_time(answer), _waits(answer), *_left(answer), *_notes(answer)),
        versions=(answer.version,),
        limits=_LIMITS,
        document=_document(answer),
        lines=list(_lines(answer)),
        data=_data(answer),
        faults=answer.faults,
        notes=answer.notes,
        plots=tuple(_plots(answer)),
    )


def _verdict(answer: Replay) -> Paragraph:
    whole = answer.waits[0]
    n_left = whole.n_pending
    bound = "all got a node"
    if n_left:
        bound = f"{n_left:,} {plural(n_left, 'is', 'are')} pending at the end"
    parts = [f"{count(_n_pods(answer), 'pod')} in {time_words(answer.end - answer.begin)}: {bound}"]
    if whole.p50 is not None and whole.p95 is not None:
        parts.append(f"median wait {time_words(whole.p50)}, 95th percentile {time_words(whole.p95)}")
    if n := answer.n_evicted:
        lost = f", {answer.n_lost:,} of them for good" if answer.n_lost else ""
        parts.append(f"{count(n, 'eviction')}{lost}")
    level = Level.BAD if answer.faults else Level.WARNING if n_left or answer.n_lost else Level.GOOD
    return Paragraph(f"{'; '.join(parts)}.", level)


def _n_pods(answer: Replay) -> int:
    """How many pods came; one that comes again counts once."""
    return len({one.pod for one in answer.pods})


def _figures(answer: Replay) -> Iterator[tuple[str, str, OverTime, bool]]:
    """Key, title and values of each figure, and whether it is a share."""
    for key, title in _COUNTS.items():
        yield key, title, answer.over_time(key), False
    for resource in answer.resources:
        for what, title in _SHARES.items():
            key = f"{resource}_{what}"
            if what != "stranded" or key in answer.series:
                yield key, title.format(resource), answer.over_time(key), True


def _over_time(answer: Replay) -> Table:
    columns = (
        Column("figure"),
        Column("mean", align=Align.NUMBER),
        Column("p95", align=Align.NUMBER),
        Column("end", align=Align.NUMBER),
    )
    rows: list[Row] = [
        [title, *(_figure(value, is_share=is_share) for value in (found.mean, found.p95, found.end))]
        for _, title, found, is_share in _figures(answer)
        if found.mean is not None
    ]
    popular = f"{count(answer.n_shapes, 'shape')} of pods, which {answer.covered:.0%} of the pods have"
    notes = (f"Popular pods are {popular}.",)
    return Table("overTime", "Over time", columns, rows, notes=notes)


def _figure(value: float | None, *, is_share: bool) -> Cell:
    if value is None:
        return Cell(_NONE)
    return Cell(f"{value:.1%}" if is_share else f"{value:,.1f}".removesuffix(".0"), round(value, 6))


def _waits(answer: Replay) -> Table:
    headings = ("mean", "p50", "p95", "longest")
    columns = (
        Column("priority", align=Align.NUMBER),
        Column("pods", "GOT A NODE", align=Align.NUMBER),
        Column("pending", align=Align.NUMBER),
        *(Column(name, f"{name.upper()} WAIT", align=Align.NUMBER) for name in headings),
    )
    return Table("waits", "Waiting for a node", columns, [_wait_row(one) for one in answer.waits])


def _wait_row(one: WaitingTimes) -> Row:
    priority = Cell("all") if one.priority is None else one.priority
    times = [
        _NONE if time is None else Cell(time_words(time), time) for time in (one.mean, one.p50, one.p95, one.longest)
    ]
    return [priority, one.n_pods, one.n_pending, *times]


def _left(answer: Replay) -> Iterator[Table]:
    """What keeps the pods pending that are left at the end."""
    columns = (Column("cause"), Column("pods", align=Align.NUMBER), Column("example", "FOR EXAMPLE"))
    causes = grouped(answer.left, _cause)
    rows: list[Row] = [
        [cause, len(of), of[0].pod] for cause, of in sorted(causes.items(), key=lambda one: -len(one[1]))
    ]
    if rows:
        yield Table("left", "Pending at the end", columns, rows)


def _cause(placement: Placement) -> str:
    return placement.diagnosis or placement.message_with_plugin or "not tried"


def _notes(answer: Replay) -> Iterator[Paragraph]:
    for note in answer.notes:
        yield Paragraph(f"Note: {note}.", Level.DETAIL)


# --- for programs ---


def _document(answer: Replay) -> dict[str, Any]:
    figures = {key: fields(found) for key, _, found, _ in _figures(answer)}
    left = [{"pod": one.pod, "cause": _cause(one)} for one in answer.left]
    return {
        **fields(answer, "begin", "end", "resources", "waits", "n_evicted", "n_lost", "n_shapes", "covered", "notes"),
        "pods": _n_pods(answer),
        "figures": figures,
        "left": left,
        "series": {name: list(values) for name, values in answer.series.items()},
    }


def _lines(answer: Replay) -> Iterator[dict[str, Any]]:
    """One for each sample."""
    names = list(answer.series)
    for row in zip(*answer.series.values(), strict=True):
        yield dict(zip(names, row, strict=True))


def _data(answer: Replay) -> Table:
    """A row for each sample."""
    columns = tuple(Column(name, align=Align.NUMBER) for name in answer.series)
    rows = [[_sample(value) for value in row] for row in zip(*answer.series.values(), strict=True)]
    return Table("series", "", columns, rows)


def _sample(value: float | None) -> Cell:
    return Cell("") if value is None else Cell(str(value), value)


# --- plots ---


def _plots(answer: Replay) -> Iterator[Plot]:
    """Pictures of the series, if there are several samples."""
    times = [time or 0.0 for time in answer.series["time"]]
    if len(times) < 2:
        return
    for what, title in _SHARES.items():
        lines = {name: _shares(answer, name, what) for name in answer.resources}
        known = {name: values for name, values in lines.items() if any(value is not None for value in values)}
        yield Plot(title.format("Share").replace("Share requested", "Requested"), times, known, is_share=True)
    yield Plot("Pods", times, {name: answer.series[name] for name in ("running", "pending")})
    waits = {"median": answer.series["wait_p50"], "95th percentile": answer.series["wait_p95"]}
    yield Plot("Seconds that pods waited for their nodes", times, waits)
    yield Plot("Evictions since the sample before", times, {"evicted": answer.series["evicted"]})


def _shares(answer: Replay, resource: str, what: str) -> Sequence[float | None]:
    if what == "allocation":
        return answer.allocation(resource)
    return answer.series.get(f"{resource}_{what}", [])
