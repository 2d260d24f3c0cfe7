"""Several pods in one report: grouped by workload and by cause, a row for each group."""

import enum
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from kubesched.api import Pod
from kubesched.explanation.choice import Choice, choice
from kubesched.explanation.explanation import Explanation
from kubesched.explanation.fix import Fix
from kubesched.explanation.lines import as_line
from kubesched.explanation.obstacle_rows import obstacle_rows
from kubesched.explanation.obstacles import reason_counts
from kubesched.explanation.ranking import current_place
from kubesched.explanation.rejection import preemption_sentence
from kubesched.reports import Align, Cell, Check, Column, Level, Page, Paragraph, Row, Table, limits

__all__ = ["diagnosis", "overview_page"]

_NUMBERS: Final = re.compile(r"\d+")
_ALONE: Final = (
    "Each pod is taken alone: no other pending pod takes room. kubesched simulate tries them one after another."
)
_MAX_NAMED: Final = 3


class _State(enum.Enum):
    """What becomes of a pod, in the order of the table: what needs attention comes first."""

    FAILED = ("failed", Level.BAD)
    NOWHERE = ("no node", Level.BAD)
    PREEMPTS = ("preempts", Level.WARNING)
    HELD_BACK = ("held back", Level.WARNING)
    FITS = ("fits", Level.GOOD)
    RUNS = ("runs", Level.PLAIN)


class _Group(msgspec.Struct):
    """Pods of one workload with one cause; the texts are those of the first one."""

    state: _State
    workload: str
    why: str
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
        what: which pods they are: an adjective.
        again: the command with the same cluster and setup, which the next command extends.
        with_lines: whether to fill in what `-o json` and `-o jsonl` print, which is much for large clusters.

    Example:
        with Explainer(load_snapshot("cluster.json"), set_up()) as explainer:
            page = overview_page(explainer.each(explainer.pending), lambda pod: f"Pod {pod.key}")
        assert page.verdict.text == "1 pending pod: 1 would fit now."
    """
    groups: dict[tuple[str, ...], _Group] = {}
    lines: list[dict[str, Any]] = []
    for explanation in explanations:
        _take_in(groups, explanation, workload_of(explanation.pod), fixes_of)
        if with_lines:
            lines.append(as_line(explanation))
    ordered = sorted(groups.values(), key=lambda group: list(_State).index(group.state))
    parts: list[Table | Paragraph] = [*_tables(ordered)]
    if foreign:
        parts.append(_foreign(foreign))
    return Page(
        "explain-pods",
        _verdict(ordered, what),
        tuple(parts),
        main="pods",
        limits=limits(own=(_ALONE,)) if ordered else (),
        next_command=f"{again} {ordered[0].pods[0]}" if ordered else "",
        document={"pods": lines},
        checks=_checks(ordered),
        lines=lines,
    )


def diagnosis(explanation: Explanation, fix: Fix | None = None) -> str:
    """Why the pod fits on no node, in one line.

    Args:
        fix: what keeps the pod from the nodes that the fix opens is the cause; without one, from the nearest nodes.
    """
    if explanation.diagnosis.pre_filter_message:
        return explanation.diagnosis.pre_filter_message
    rows = obstacle_rows(explanation)
    if not rows:
        return "; ".join(f"{n} {reason}" for reason, n in reason_counts(explanation)) or explanation.message
    opened = explanation.nodes.position_of(fix.nodes[0]) if fix is not None else None
    cause = next((row for row in rows if opened in row.positions), rows[0])
    n, n_nodes = len(cause.positions), len(explanation.nodes)
    every = "the only node" if n == 1 else "all nodes"
    which = every if n == n_nodes else "1 node" if n == 1 else f"{n} nodes"
    example = "" if cause.is_alike else f", for example {explanation.nodes.name(cause.positions[0])}"
    return f"{which}{example}: {'; '.join(dict.fromkeys(cause.texts))}"


def _take_in(
    groups: dict[tuple[str, ...], _Group],
    explanation: Explanation,
    workload: str,
    fixes_of: Callable[[Explanation], Sequence[Fix]],
) -> None:
    """Add a pod to its group; the first pod of a group is the one that is looked at."""
    state = _state(explanation)
    cause = {
        _State.FAILED: explanation.failure.message if explanation.failure is not None else "",
        _State.NOWHERE: explanation.message,
        _State.PREEMPTS: explanation.message,
        _State.HELD_BACK: explanation.held_back,
        _State.RUNS: explanation.pod.key,
    }.get(state, "")
    key = (state.name, workload, cause if state is _State.RUNS else _NUMBERS.sub("#", cause))
    if key not in groups:
        chosen = choice(explanation)
        best = chosen.best.node if chosen is not None else ""
        fix = None if state is _State.PREEMPTS else next(iter(fixes_of(explanation)), None)
        why = _why(explanation, state, chosen, fix)
        groups[key] = _Group(state, workload, why, cause, best, len(explanation.feasible), _words(fix), [])
    groups[key].pods.append(explanation.pod.key)


def _state(explanation: Explanation) -> _State:
    if explanation.failure is not None:
        return _State.FAILED
    if explanation.runs_on:
        return _State.RUNS
    if explanation.held_back:
        return _State.HELD_BACK
    if explanation.preemption is not None and explanation.preemption.node_name:
        return _State.PREEMPTS
    return _State.FITS if explanation.fits else _State.NOWHERE


def _words(fix: Fix | None) -> str:
    return "" if fix is None else f"{fix.text} -> {fix.n_nodes} node{'' if fix.n_nodes == 1 else 's'}"


def _why(explanation: Explanation, state: _State, chosen: Choice | None, fix: Fix | None) -> str:
    if state is _State.FAILED:
        assert explanation.failure is not None
        return explanation.failure.located
    if state is _State.RUNS:
        return current_place(explanation, chosen).text.removeprefix(f"Pod {explanation.pod.key} ")
    if state is _State.PREEMPTS:
        assert explanation.preemption is not None
        return preemption_sentence(explanation.preemption)
    if chosen is None:
        where = diagnosis(explanation, fix)
    else:
        where = f"fits on {len(explanation.feasible)} of {len(explanation.nodes)} nodes"
    return f"{explanation.held_back}; {where}" if state is _State.HELD_BACK else where


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
        if group.state is _State.FITS:
            fitting.append([len(group.pods), group.workload, group.n_fit, group.best])
        else:
            state = Cell(word, level=level)
            why = f"{group.why}\nfix: {group.fix}" if group.fix else group.why
            rows.append([len(group.pods), state, group.workload, why, group.pods[0], group.message])
    fits = (columns[0], columns[2], Column("fits", "NODES THAT FIT", Align.NUMBER), Column("best", "BEST", Align.NODE))
    return [
        Table("groups", "", columns, rows),
        Table("fits", "Would fit now:" if rows else "", fits, fitting),
        _every_pod(groups),
    ]


def _checks(groups: Sequence[_Group]) -> list[Check]:
    """A check for each pod: whether it has a node, or would get one now."""
    good = (_State.FITS, _State.RUNS)
    return [
        Check(
            pod.partition("/")[0],
            pod.partition("/")[2],
            "" if group.state in good else f"{group.state.value[0]}: {group.why}",
        )
        for group in groups
        for pod in group.pods
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


def _verdict(groups: Sequence[_Group], what: str) -> Paragraph:
    counts = {state: sum(len(group.pods) for group in groups if group.state is state) for state in _State}
    n_pods = sum(counts.values())
    if not n_pods:
        return Paragraph(f"No pod is {what}.", Level.GOOD)
    pods = f"{n_pods} {what} pod{'' if n_pods == 1 else 's'}"
    words = {
        _State.NOWHERE: "{} on no node",
        _State.FAILED: "{} failed",
        _State.PREEMPTS: "{} would preempt others",
        _State.HELD_BACK: "{} held back",
        _State.FITS: "{} would fit now",
        _State.RUNS: "{} running",
    }
    listed = ", ".join(words[state].format(n) for state, n in counts.items() if n)
    is_bad = counts[_State.NOWHERE] or counts[_State.FAILED]
    return Paragraph(f"{pods}: {listed}.", Level.BAD if is_bad else Level.GOOD)


def _foreign(pods: Sequence[Pod]) -> Paragraph:
    names = ", ".join(sorted({pod.scheduler_name for pod in pods})[:_MAX_NAMED])
    n = f"{len(pods)} more pod{' is' if len(pods) == 1 else 's are'}"
    return Paragraph(f"{n} for schedulers that no profile of the configuration serves: {names}.", Level.DETAIL)
