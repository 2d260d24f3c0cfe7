"""The report on a group: how many of its pods fit now, where, and what the rest lacks."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kubesched.documents import plural
from kubesched.explanation import GroupFit, command_about
from kubesched.pages.formats import Align, Check, Column, Level, Page, Paragraph, Row, Table, limits

_NO_MINIMUM: Final = (
    "Neither a PodGroup nor a label or annotation of the pods has the minimum of the group. All pods of the group are "
    "counted as needed."
)
_ONE_BY_ONE: Final = (
    "kube-scheduler's default plugins place the pods of a group one by one: those that fit start, also if the rest "
    "does not fit."
)


def group_page(fit: GroupFit, again: str = "kubesched explain") -> Page:
    """The report on a group: how many of its pods fit now, where, and what the rest lacks.

    Example:
        fit = GroupFit(Gang("ml", "red", "team", 2, ()), ("ml/a",), {"ml/b": "n1"}, {}, "default-scheduler")
        assert group_page(fit).verdict.text == "Group ml/red needs 2 pods: 1 runs, 1 of 1 pending pods would fit now."
    """
    group = fit.group
    n_pending = len(fit.placed) + len(fit.lacking) + len(fit.undecided)
    is_enough = len(fit.running) + len(fit.placed) >= group.minimum
    would = f"{len(fit.placed)} of {n_pending} pending pods would fit now"
    would += f", {len(fit.undecided)} cannot be decided" if fit.undecided else ""
    n_running = len(fit.running)
    run = f"{n_running} {plural(n_running, 'runs', 'run')}, " if n_running else ""
    verdict = f"Group {group.namespace}/{group.name} needs {group.minimum} pods: {run}{would}."
    nodes: dict[str, int] = {}
    for node in fit.placed.values():
        nodes[node] = nodes.get(node, 0) + 1
    undecided = Counter(fit.undecided.values())
    reasons = Counter(fit.lacking.values())
    foreign = {pod.scheduler_name for pod in group.pods} - {fit.profile}
    parts: list[Table | Paragraph] = [
        _table("lacking", "Would not be placed:", ("PODS", "WHY"), [[n, why] for why, n in reasons.items()]),
        _table("undecided", "Cannot be decided:", ("PODS", "WHY"), [[n, why] for why, n in undecided.items()]),
        _table("placed", "Would be placed:", ("PODS", "NODE"), [[n, node] for node, n in nodes.items()]),
    ]
    if foreign and fit.profile:
        names = ", ".join(sorted(foreign))
        parts.append(
            Paragraph(f"The pods are for scheduler {names}; the answer is that of {fit.profile}.", Level.WARNING)
        )
    if not group.is_minimum_known:
        parts.append(Paragraph(_NO_MINIMUM, Level.DETAIL))
    parts.append(Paragraph(_ONE_BY_ONE))
    document = {
        "group": f"{group.namespace}/{group.name}",
        "key": group.key,
        "minimum": group.minimum,
        "running": list(fit.running),
        "placed": [{"pod": pod, "node": node} for pod, node in fit.placed.items()],
        "lacking": [{"pod": pod, "why": why} for pod, why in fit.lacking.items()],
        "undecided": [{"pod": pod, "why": why} for pod, why in fit.undecided.items()],
    }
    first = next(iter(fit.lacking or fit.undecided or fit.placed), "")
    without = {**fit.lacking, **fit.undecided}
    return Page(
        "explain-group",
        Paragraph(verdict, Level.GOOD if is_enough else Level.BAD),
        tuple(parts),
        main="placed" if fit.placed else "lacking",
        versions=(fit.version,),
        limits=limits(),
        next_command=command_about(again, first) if first and not foreign else "",
        document=document,
        lines=(document,),
        checks=[Check.of(pod, without.get(pod, "")) for pod in (*fit.running, *fit.placed, *without)],
    )


def _table(name: str, title: str, headings: tuple[str, str], rows: Sequence[Row]) -> Table:
    second = Align.NODE if headings[1] == "NODE" else Align.TEXT
    columns = (Column("pods", headings[0], Align.NUMBER), Column(headings[1].lower(), headings[1], second))
    return Table(name, title, columns, rows)
