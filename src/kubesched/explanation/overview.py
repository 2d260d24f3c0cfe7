"""Several pods in one report: grouped by workload and by cause, a row for each group."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from kubesched.api import Pod
from kubesched.explanation.choice import choice
from kubesched.explanation.explanation import Explanation
from kubesched.explanation.fix import Fix
from kubesched.explanation.gang import Gang
from kubesched.explanation.lines import as_line
from kubesched.explanation.outcome import State, outcome, state_of
from kubesched.reports import Align, Cell, Check, Column, Level, Page, Paragraph, Row, Table, command_about, limits

__all__ = ["overview_lines", "overview_page"]

_NUMBERS: Final = re.compile(r"\d+")
_ALONE: Final = (
    "Each pod is taken alone: no other pending pod takes room. kubesched simulate tries them one after another."
)
_MAX_NAMED: Final = 3
_WITHOUT_FIX: Final = (State.PREEMPTS, State.FAILED)
"""States in which something else comes first: evictions, or a plugin that has to be fixed."""


class _Group(msgspec.Struct):
    """Pods of one workload with one cause; the texts are those of the first one."""

    state: State
    workload: str
    why: str
    failure: str
    message: str
    best: str
    n_fit: int
    fix: str
    pods: list[str]


def overview_page(
    explanations: Iterable[Explanation],
    workload_of: Callable[[Pod], str],
    fixes_of: Callable[[Explanation], Sequence[Fix]] = lambda explanation: explanation.fixes,
    *,
    foreign: Sequence[Pod] = (),
    gangs: Sequence[Gang] = (),
    what: str = "pending",
    again: str = "kubesched explain",
    with_lines: bool = False,
) -> Page:
    """The report on several pods.

    Args:
        explanations: in the order of the queue; each is read before the next one is asked for.
        workload_of: what a pod belongs to, such as `Deployment shop/web`.
        fixes_of: finds what makes a pod fit, the best first; asked for the first pod of each row.
        foreign: pods that no profile serves.
        gangs: groups that have some of the pods.
        what: which pods they are: an adjective.
        again: the command with the same cluster and setup, which the next command extends; empty for none.
        with_lines: whether to fill in what `-o json` and `-o jsonl` print, which is much for large clusters.

    Example:
        with Explainer(load_snapshot("cluster.json")) as explainer:
            page = overview_page(explainer.each(explainer.pending), lambda pod: f"Pod {pod.key}")
        assert page.verdict.text == "1 pending pod: 1 would fit now."
    """
    groups: dict[tuple[str, ...], _Group] = {}
    lines: list[dict[str, Any]] = []
    names: Sequence[str] = ()
    for explanation in explanations:
        names = names or explanation.nodes.names
        workload = workload_of(explanation.pod)
        if with_lines:
            lines.append(_line(groups, explanation, workload, fixes_of))
        else:
            _take_in(groups, explanation, workload, fixes_of)
    ordered = sorted(groups.values(), key=lambda group: list(State).index(group.state))
    parts: list[Table | Paragraph] = [*_tables(ordered)]
    if foreign and ordered:
        parts.append(_foreign(foreign))
    if gangs:
        parts.append(_gangs(gangs))
    return Page(
        "explain-pods",
        _verdict(ordered, what, foreign),
        tuple(parts),
        main="pods",
        limits=limits(own=(_ALONE,)) if ordered else (),
        next_command=command_about(again, ordered[0].pods[0]) if ordered else "",
        document={"pods": lines},
        checks=_checks(ordered),
        lines=lines,
        node_names=names,
    )


def overview_lines(
    explanations: Iterable[Explanation],
    workload_of: Callable[[Pod], str],
    fixes_of: Callable[[Explanation], Sequence[Fix]],
) -> Iterator[dict[str, Any]]:
    """What `-o jsonl` prints: the fields of as_line, and `workload`, `state`, `why` and `fix`, as in CSV.

    Args:
        explanations, workload_of, fixes_of: as for overview_page. Each explanation is read before the next one is asked
            for.

    Example:
        with Explainer(load_snapshot("cluster.json")) as explainer:
            lines = overview_lines(explainer.each(explainer.pending), lambda pod: f"Pod {pod.key}", explainer.fixes)
            assert [line["workload"] for line in lines] == ["Pod shop/web-7"]
    """
    groups: dict[tuple[str, ...], _Group] = {}
    for explanation in explanations:
        yield _line(groups, explanation, workload_of(explanation.pod), fixes_of)


def _line(
    groups: dict[tuple[str, ...], _Group],
    explanation: Explanation,
    workload: str,
    fixes_of: Callable[[Explanation], Sequence[Fix]],
) -> dict[str, Any]:
    line = as_line(explanation)  # without the fixes that are looked for in the first pod of a group
    group = _take_in(groups, explanation, workload, fixes_of)
    said = {"workload": workload, "state": group.state.value[0], "why": group.why, "fix": group.fix}
    return line | {name: value for name, value in said.items() if value}


def _take_in(
    groups: dict[tuple[str, ...], _Group],
    explanation: Explanation,
    workload: str,
    fixes_of: Callable[[Explanation], Sequence[Fix]],
) -> _Group:
    """Add a pod to its group, which is returned; the first pod of a group is the one that is looked at."""
    state = state_of(explanation)
    cause = {
        State.FAILED: explanation.failure.message if explanation.failure is not None else "",
        State.NOWHERE: explanation.message,
        State.PREEMPTS: explanation.message,
        State.HELD_BACK: explanation.held_back,
        State.RUNS: outcome(explanation).why if state is State.RUNS else "",
    }.get(state, "")
    key = (state.name, workload, cause if state is State.RUNS else _NUMBERS.sub("#", cause))
    if key not in groups:
        chosen = choice(explanation)
        best = chosen.best.node if chosen is not None else ""
        fix = None if state in _WITHOUT_FIX else next(iter(fixes_of(explanation)), None)
        told = outcome(explanation, fix)
        n_fit = len(explanation.feasible)
        groups[key] = _Group(
            state, workload, told.why, told.failure, cause, best, n_fit, "" if fix is None else str(fix), []
        )
    groups[key].pods.append(explanation.pod.key)
    return groups[key]


def _tables(groups: Sequence[_Group]) -> list[Table]:
    """The pods that need attention, and those that would fit."""
    columns = (
        Column("pods", "PODS", Align.NUMBER),
        Column("state", "STATE"),
        Column("workload", "WORKLOAD"),
        Column("why", "WHY, AND THE BEST FIX"),
        Column("pod", "FIRST POD", is_wide=True),
        Column("message", "MESSAGE", is_wide=True),
    )
    rows: list[Row] = []
    fitting: list[Row] = []
    for group in groups:
        word, level = group.state.value
        if group.state is State.FITS:
            fitting.append([len(group.pods), group.workload, group.n_fit, group.best])
        else:
            state = Cell(word, level=level)
            why = f"{group.why}\nfix: {group.fix}" if group.fix else group.why
            rows.append([len(group.pods), state, group.workload, why, group.pods[0], group.message])
    n_fit, best = Column("fits", "NODES THAT FIT", Align.NUMBER), Column("best", "WOULD GO TO", Align.NODE)
    return [
        Table("groups", "", columns, rows),
        Table("fits", "Would fit now:" if rows else "", (columns[0], columns[2], n_fit, best), fitting),
        _every_pod(groups),
    ]


def _checks(groups: Sequence[_Group]) -> list[Check]:
    """A check for each pod: whether it has a node, or would get one now."""
    return [
        Check(pod.partition("/")[0], pod.partition("/")[2], group.failure) for group in groups for pod in group.pods
    ]


def _every_pod(groups: Sequence[_Group]) -> Table:
    """A row for each pod, for spreadsheets."""
    columns = ("pod", "workload", "state", "why", "fix", "best", "fits", "message")
    rows: list[Row] = [
        [pod, group.workload, group.state.value[0], group.why, group.fix, group.best, group.n_fit, group.message]
        for group in groups
        for pod in group.pods
    ]
    aligned = {"best": Align.NODE, "fits": Align.NUMBER}
    shown = tuple(Column(key, key.upper(), aligned.get(key, Align.TEXT)) for key in columns)
    return Table("pods", "Every pod:", shown, rows, is_wide=True)


def _verdict(groups: Sequence[_Group], what: str, foreign: Sequence[Pod]) -> Paragraph:
    counts = {state: sum(len(group.pods) for group in groups if group.state is state) for state in State}
    n_pods = sum(counts.values())
    if not n_pods:
        return _foreign_alone(foreign, what) if foreign else Paragraph(f"No pod is {what}.", Level.GOOD)
    pods = f"{n_pods} {what} pod{'' if n_pods == 1 else 's'}"
    words = {
        State.NOWHERE: "{} on no node",
        State.FAILED: "{} failed",
        State.PREEMPTS: "{} would preempt others",
        State.HELD_BACK: "{} held back",
        State.FITS: "{} would fit now",
        State.RUNS: "{} running",
    }
    listed = ", ".join(words[state].format(n) for state, n in counts.items() if n)
    is_bad = counts[State.NOWHERE] or counts[State.FAILED]
    return Paragraph(f"{pods}: {listed}.", Level.BAD if is_bad else Level.GOOD)


def _foreign_alone(pods: Sequence[Pod], what: str) -> Paragraph:
    """The verdict where no profile serves any of the pods."""
    names = sorted({pod.scheduler_name for pod in pods})
    schedulers = f"the scheduler{'' if len(names) == 1 else 's'} {', '.join(names[:_MAX_NAMED])}"
    n = f"{len(pods)} {what} pod{' is' if len(pods) == 1 else 's are'}"
    return Paragraph(f"{n} for {schedulers}, which no profile serves; add a profile with --config.", Level.WARNING)


def _gangs(gangs: Sequence[Gang]) -> Paragraph:
    """The pods that are to run together, of which the rows speak one by one."""
    named = [f"{gang.namespace}/{gang.name} needs {gang.minimum} pods" for gang in gangs[:_MAX_NAMED]]
    more = f", and {len(gangs) - _MAX_NAMED} more" if len(gangs) > _MAX_NAMED else ""
    groups = "Pod group" if len(gangs) == 1 else "Pod groups:"
    name = gangs[0].name if len(gangs) == 1 else "NAME"
    told = f"--group {name} reports how many of them fit together"
    return Paragraph(f"{groups} {', '.join(named)}{more} at once; {told}.", Level.DETAIL)


def _foreign(pods: Sequence[Pod]) -> Paragraph:
    names = ", ".join(sorted({pod.scheduler_name for pod in pods})[:_MAX_NAMED])
    n = f"{len(pods)} more pod{' is' if len(pods) == 1 else 's are'}"
    return Paragraph(f"{n} for schedulers that no profile of the configuration serves: {names}.", Level.DETAIL)
