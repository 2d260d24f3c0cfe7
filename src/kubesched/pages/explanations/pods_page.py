"""Several pods in one report: grouped by workload and by cause, a row for each group."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from kubesched.api import Pod
from kubesched.documents import count, listed, plural
from kubesched.explanation import Fix, PodAnswer, State, Told, command_about
from kubesched.pages.explanations.explanation_document import fix_document
from kubesched.pages.explanations.rejection import fix_table, fix_title, hand_of
from kubesched.pages.formats import (
    Align,
    Cell,
    Check,
    Column,
    Level,
    Page,
    Paragraph,
    Row,
    Table,
    limits,
    with_fix,
    workload_checks,
)
from kubesched.pages.simulations import gang_checks, gang_document, gang_words, partly_placed, victims_table
from kubesched.release import DecidingVersion
from kubesched.session import GangFit, PendingCounts, Victim

_NUMBERS: Final = re.compile(r"\d+")
_MAX_NAMED: Final = 3
_MAX_TABLES: Final = 3
_N_PLACES: Final = 4
_PENDING: Final = "pending"
_LEVELS: Final = {
    State.FAILED: Level.BAD,
    State.STUCK: Level.BAD,
    State.NOWHERE: Level.BAD,
    State.NOT_DECIDED: Level.WARNING,
    State.PREEMPTS: Level.WARNING,
    State.EVICTED: Level.WARNING,
    State.HELD_BACK: Level.WARNING,
    State.FITS: Level.GOOD,
    State.RUNS: Level.PLAIN,
    State.ENDED: Level.PLAIN,
}


class _Group(msgspec.Struct):
    """Pods of one workload with one cause; the texts are those of the first one."""

    state: State
    workload: str
    message: str
    told: Told
    pods: list[str]
    nodes: list[str]
    runs_on: list[str]
    fits: list[int]
    told_of: list[Told]


class Rows:
    """Groups the pods of an overview as they come: a row for the pods of one workload in one state with one cause.

    Args:
        lists_fixes: whether `take` returns the fixes of the first pod of each row, too.
    """

    def __init__(self, *, lists_fixes: bool = False) -> None:
        self._lists_fixes = lists_fixes
        self._groups: dict[tuple[str, ...], _Group] = {}
        self.node_names: Sequence[str] = ()

    def take(self, answer: PodAnswer) -> dict[str, Any]:
        """Add a pod to its row.

        Returns: `workload`, `state`, `why`, `fix`, `recorded`, `claimsInUse` and `fixes`, which the lines of `-o json`
            and `-o jsonl` have; without empty ones.
        """
        self.node_names = self.node_names or answer.node_names
        exact = answer.state is State.RUNS
        cause = answer.cause.replace(answer.pod, "")  # DynamicResources names the pod itself
        key = (answer.state.name, answer.workload, cause if exact else _NUMBERS.sub("#", cause))
        group = self._groups.get(key)
        if group is None:
            group = _Group(answer.state, answer.workload, answer.cause, answer.tell(), [], [], [], [], [])
            self._groups[key] = group
        is_first = not group.pods
        told = answer.tell() if answer.tells_each else group.told
        group.told_of.append(told)
        group.pods.append(answer.pod)
        group.nodes.append(answer.node)
        group.runs_on.append(answer.runs_on)
        group.fits.append(group.told.n_fit if answer.n_fit is None else answer.n_fit)
        said = {
            "workload": group.workload,
            "state": group.state.value,
            "why": told.outcome.why,
            "fix": told.fix,
            "recorded": None if told.recorded is None else msgspec.to_builtins(told.recorded),
            "claimsInUse": [msgspec.to_builtins(one) for one in told.claims_in_use],
            "fixes": [fix_document(fix) for fix in told.fixes] if is_first and self._lists_fixes else [],
        }
        return {name: value for name, value in said.items() if value}

    def ordered(self) -> list[_Group]:
        """The rows, what needs attention first."""
        return sorted(self._groups.values(), key=lambda group: list(State).index(group.state))


def overview_page(
    answers: Iterable[PodAnswer] | Rows,
    *,
    foreign: Sequence[Pod] = (),
    gangs: Sequence[GangFit] = (),
    what: str = _PENDING,
    again: str = "kubesched explain",
    lines: Sequence[dict[str, Any]] = (),
    counts: PendingCounts | None = None,
    victims: Sequence[Victim] | None = None,
    fit_alone: Collection[str] = (),
    caveats: Sequence[str] = (),
    version: DecidingVersion | None = None,
) -> Page:
    """The report on several pods.

    Args:
        answers: in the order of the queue; each is read before the next one is asked for. Or the rows that were made of
            them.
        foreign: pods that no profile serves.
        gangs: those that have some of the pods.
        what: which pods they are: an adjective.
        again: the command with the same cluster and setup, which the next command extends; empty for none.
        lines: what `-o json` prints of each pod.
        counts: of the cluster, if the pods are all the pending ones; None to count the rows.
        victims: the pods that would be evicted to make room; None where that is not known.
        fit_alone: `namespace/name` of the pods that fit nowhere, and would fit as the first of the queue.
        caveats: why some of the placed pods would not start, without the ends of sentences.
        version: the version of Kubernetes whose rules decided; None for nothing about it.

    Example:
        with Explainer(load_snapshot("cluster.json")) as explainer:
            answers = (answer_of(one, one.pod.key) for one in explainer.evaluations(explainer.pending))
            assert overview_page(answers).verdict.text == "1 pending pod: 1 fits."
    """
    rows = answers if isinstance(answers, Rows) else Rows()
    for answer in () if isinstance(answers, Rows) else answers:
        rows.take(answer)
    ordered = rows.ordered()
    parts: list[Table | Paragraph] = [*_tables(ordered), *_recorded(ordered), *_claims_in_use(ordered)]
    parts += [Paragraph(f"{one[:1].upper()}{one[1:]}.", Level.WARNING) for one in caveats]
    parts += _fixes(ordered, rows.node_names, is_asked=what != _PENDING)
    if foreign and ordered:
        parts.append(_foreign(foreign))
    elif foreign and counts is not None:
        parts.append(_foreign_alone(foreign, what))
    parts += _gangs(gangs)
    document: dict[str, Any] = {"pods": list(lines)}
    if caveats:
        document["caveats"] = list(caveats)
    if gangs:
        document["gangs"] = [gang_document(one) for one in gangs]
    if victims is not None:
        evicting = [group for group in ordered if group.state is State.PREEMPTS]
        is_said = all(len(group.pods) == 1 for group in evicting)  # each row names its victims
        table = victims_table("victims", "Would be evicted to make room", victims)
        parts.append(msgspec.structs.replace(table, is_wide=is_said))
        document["victims"] = [msgspec.to_builtins(one) for one in victims]
    return Page(
        "explain-pods",
        _verdict(ordered, what, foreign, counts, len(fit_alone)),
        tuple(parts),
        main="pods",
        versions=() if version is None else (version,),
        limits=limits() if ordered else (),
        next_command=command_about(again, ordered[0].pods[0]) if ordered else "",
        document=document,
        checks=[*_checks(ordered), *gang_checks(gangs)],
        lines=lines,
        node_names=rows.node_names,
        appendix=tuple(part for group in ordered for part in hand_of(_whom(group), _best(group))),
    )


def _fixes(groups: Sequence[_Group], node_names: Sequence[str], *, is_asked: bool) -> Iterator[Table]:
    """All fixes, where few rows have some and people have asked about these pods, or there is one row alone."""
    having = [group for group in groups if group.told.fixes]
    for i, group in enumerate(having) if len(having) <= (_MAX_TABLES if is_asked else 1) else ():
        whom = "it" if len(groups) == 1 and len(group.pods) == 1 else f"a pod of {group.workload}"
        whom = group.pods[0] if group.workload.startswith("Pod ") else whom
        title = fix_title(group.told.fixes, whom)
        yield fix_table(group.told.fixes, node_names, title, f"fixes{i + 1 if i else ''}")


def _best(group: _Group) -> Iterator[Fix]:
    """The best fix of each pod of a row."""
    return (told.fixes[0] for told in group.told_of if told.fixes)


def _whom(group: _Group) -> str:
    """The pods of a row."""
    if group.workload.startswith("Pod "):
        return group.workload
    return f"{group.workload}, {count(len(group.pods), 'pod')}"


def _tables(groups: Sequence[_Group]) -> list[Table]:
    """The pods that need attention, and those that would fit."""
    columns = (
        Column("pods", align=Align.NUMBER),
        Column("state", is_wide=True),
        Column("workload"),
        Column("why", "WHY, AND THE BEST FIX", is_joined=True),
        Column("pod", "FIRST POD", is_wide=True),
        Column("message", is_wide=True),
    )
    rows: list[Row] = []
    fitting: list[Row] = []
    for group in groups:
        if group.state is State.FITS:
            left_out = group.told.outcome.left_out
            fitting.append(
                [
                    len(group.pods),
                    group.workload,
                    group.fits[0],
                    listed(dict.fromkeys(group.nodes), first=_N_PLACES),
                    left_out,
                ]
            )
        else:
            state = Cell(group.state.value, level=_LEVELS[group.state])
            why = with_fix(_why(group), group.told.fix)
            rows.append([len(group.pods), state, group.workload, why, group.pods[0], group.message])
    n_fit, best = Column("fits", "NODES THAT FIT", Align.NUMBER), Column("best", "WOULD GO TO", Align.NODE)
    others = Column("leftOut", "OTHER NODES")
    shown = (columns[0], columns[2], n_fit, best, *([others] if any(row[-1] for row in fitting) else ()))
    return [
        Table("groups", "", columns, rows),
        Table("fits", "Would fit:" if rows else "", shown, [row[: len(shown)] for row in fitting]),
        _every_pod(groups),
    ]


def _why(group: _Group) -> str:
    """Why, as of the first pod; of several that run where they may, only where."""
    if group.state is State.RUNS and not group.message and len(group.pods) > 1:
        return f"run on {listed(dict.fromkeys(group.runs_on), _N_PLACES)}"
    return group.told.outcome.why


def _recorded(groups: Sequence[_Group]) -> list[Paragraph]:
    """What kube-scheduler itself says of pods that fit here."""
    fitting = [group for group in groups if group.state is State.FITS]
    pods = (both for group in fitting for both in zip(group.pods, group.told_of, strict=True))
    said = [f"{pod}: {told.recorded.text}" for pod, told in pods if told.recorded is not None]
    more = [f"kube-scheduler says so of {count(len(said) - _MAX_NAMED, 'more pod')}."] if len(said) > _MAX_NAMED else []
    return [Paragraph(text, Level.WARNING) for text in (*said[:_MAX_NAMED], *more)]


def _claims_in_use(groups: Sequence[_Group]) -> list[Paragraph]:
    """The pods that fit, and would not start, since their disks are attached to other nodes."""
    pods = (both for group in groups for both in zip(group.pods, group.told_of, strict=True))
    said = [f"{pod}: {one.text[0].lower()}{one.text[1:]}" for pod, told in pods for one in told.claims_in_use]
    more = [f"{count(len(said) - _MAX_NAMED, 'more claim')} of such pods is in use so."]
    return [Paragraph(text, Level.WARNING) for text in (*said[:_MAX_NAMED], *more[: len(said) > _MAX_NAMED])]


def _checks(groups: Sequence[_Group]) -> list[Check]:
    """A check for each workload: whether its pods have nodes, or would get them now."""
    return workload_checks(
        (
            group.workload if "/" in group.workload else pod,
            with_fix(told.outcome.failure, told.fix),
            told.outcome.note,
        )
        for group in groups
        for pod, told in zip(group.pods, group.told_of, strict=True)
    )


def _every_pod(groups: Sequence[_Group]) -> Table:
    """A row for each pod, for spreadsheets."""
    columns = ("pod", "workload", "state", "why", "fix", "best", "fits", "message")
    rows: list[Row] = [
        [pod, group.workload, group.state.value, told.outcome.why, told.fix, node, n_fit, group.message]
        for group in groups
        for pod, told, node, n_fit in zip(group.pods, group.told_of, group.nodes, group.fits, strict=True)
    ]
    aligned = {"best": Align.NODE, "fits": Align.NUMBER}
    shown = tuple(Column(key, key.upper(), aligned.get(key, Align.TEXT)) for key in columns)
    return Table("pods", "Every pod:", shown, rows, is_wide=True)


def _verdict(
    groups: Sequence[_Group], what: str, foreign: Sequence[Pod], known: PendingCounts | None, n_alone: int
) -> Paragraph:
    counts = {state: sum(len(group.pods) for group in groups if group.state is state) for state in State}
    n_pods = sum(counts.values())
    if not n_pods and known is None:
        return _foreign_alone(foreign, what) if foreign else Paragraph(f"No pod is {what}.", Level.GOOD)
    pods = count(n_pods, f"{what} pod")
    words = {
        State.STUCK: "{} stuck on a node",
        State.NOWHERE: f"{{}} {plural(counts[State.NOWHERE], 'fits', 'fit')} nowhere{_alone(n_alone)}",
        State.FAILED: "{} failed",
        State.NOT_DECIDED: "{} not decided",
        State.PREEMPTS: "{} would preempt others",
        State.EVICTED: "{} would be placed and evicted again",
        State.HELD_BACK: "{} held back",
        State.FITS: f"{{}} {plural(counts[State.FITS], 'fits', 'fit')}",
        State.RUNS: "{} running",
        State.ENDED: "{} ended",
    }
    if counts[State.RUNS] + counts[State.ENDED] == n_pods:
        words[State.RUNS] += ", none pending"
    apart = () if known is None else (State.STUCK,)  # they have a node
    outcomes = ", ".join(words[state].format(n) for state, n in counts.items() if n and state not in apart)
    is_bad = counts[State.STUCK] or counts[State.NOWHERE] or counts[State.FAILED]
    otherwise = Level.WARNING if counts[State.NOT_DECIDED] or (foreign and not n_pods) else Level.GOOD
    text = f"{pods}: {outcomes}." if known is None else known.sentences(outcomes)
    return Paragraph(text, Level.BAD if is_bad else otherwise)


def _alone(n: int) -> str:
    """How many of the pods that fit nowhere lose their room to pods before them."""
    return f" ({n:,} of them {plural(n, 'fits', 'fit')} if tried alone)" if n else ""


def _foreign_alone(pods: Sequence[Pod], what: str) -> Paragraph:
    """The verdict where no profile serves any of the pods."""
    names = sorted({pod.scheduler_name for pod in pods})
    schedulers = f"the {plural(len(names), 'scheduler')} {', '.join(names[:_MAX_NAMED])}"
    n = count(len(pods), f"{what} pod is", f"{what} pods are")
    return Paragraph(f"{n} for {schedulers}, which no profile serves; add a profile with --config.", Level.WARNING)


def _gangs(gangs: Iterable[GangFit]) -> Iterator[Paragraph]:
    """The pods that are to run together and would not, of which the rows speak one by one."""
    lacking = partly_placed(gangs)
    for one in lacking[:_MAX_NAMED]:
        told = "" if one.is_job else f"; --group {one.gang.partition('/')[2]} reports how many of them fit together"
        yield Paragraph(f"{gang_words(one)}{told}.", Level.DETAIL if one.is_job else Level.WARNING)
    if n := len(lacking[_MAX_NAMED:]):
        yield Paragraph(f"{count(n, 'more gang lacks', 'more gangs lack')} pods with a node.", Level.WARNING)


def _foreign(pods: Sequence[Pod]) -> Paragraph:
    names = listed((f"{pod.key} ({pod.scheduler_name})" for pod in pods), _MAX_NAMED)
    n = count(len(pods), "more pod is", "more pods are")
    return Paragraph(f"{n} for schedulers that no profile of the configuration serves: {names}.", Level.DETAIL)
