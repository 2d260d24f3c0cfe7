"""The page of `kubesched check`: how many findings there are, and a table of them, the most harmful first."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from kubesched.config import Finding
from kubesched.documents import count, joined, listed
from kubesched.explanation import command_about
from kubesched.pages.formats import (
    Align,
    Check,
    Column,
    Page,
    Paragraph,
    Row,
    Table,
    fields,
    finding_text,
    limits,
    page_of,
    severity_cell,
    severity_counts,
    worst_level,
)
from kubesched.pages.plans.fault_parts import fault_parts
from kubesched.planning import ClusterCheck

_COLUMNS: Final = (
    Column("severity"),
    Column("rule"),
    Column("objects"),
    Column("pods", align=Align.NUMBER),
    Column("message", "WHY"),
    Column("help", "FIX"),
    Column("tried", is_wide=True),
)
_ALONE: Final = "Each pod is re-created alone: pods that wait for a node, or come back with it, take no room."
_MOST_NAMED: Final = 3


@page_of.register
def check_page(
    result: ClusterCheck, *, failing: Collection[str] = ("error",), explain: str = "", now: datetime | None = None
) -> Page:
    """The page.

    Args:
        failing: the severities with which the command fails.
        explain: the command that explains a pod of the same cluster, without the pod; empty for none.
        now: the present, for the age of the snapshot.
    """
    counted = severity_counts(result.findings, len(result.silenced))
    looked_at = f"{count(result.n_pods, 'running pod')} of {count(result.n_workloads, 'workload')}"
    beside = tuple(_beside(result))
    return Page(
        "check",
        Paragraph(f"{looked_at}: {counted}.", worst_level(result.findings)),
        (
            *fault_parts(result.faults),
            *(Paragraph(f"{text}.") for text in beside),
            _findings(result, _named),
            *_all(result),
        ),
        versions=(result.version,),
        limits=limits(result.taken_at, now, own=(_ALONE,)),
        next_command=_following(result, explain),
        document=_document(result),
        data=_findings(result, ", ".join),
        lines=[_finding_document(finding) for finding in result.findings],
        checks=list(_checks(result, failing)),
        faults=result.faults,
        notes=beside,
    )


def _findings(result: ClusterCheck, named: Callable[[Sequence[str]], str]) -> Table:
    """A row for each.

    Args:
        named: the objects of a finding in one text.
    """
    rows: list[Row] = []
    for finding in result.findings:
        cells = (severity_cell(finding), finding.rule, named(finding.about), finding.n_pods)
        rows.append([*cells, finding.message, finding.help, "yes" if finding.is_tried else "no"])
    return Table("findings", "", _COLUMNS, rows)


def _all(result: ClusterCheck) -> Iterator[Paragraph]:
    """The objects of the findings of which the table names the first."""
    for finding in result.findings:
        if len(finding.about) > _MOST_NAMED + 1:
            yield Paragraph(f"{finding.rule}: {finding.message}: {', '.join(finding.about)}", is_wide=True)


def _named(objects: Sequence[str]) -> str:
    """The first of some objects, with the kind once where all are of one kind."""
    kinds = {name.partition(" ")[0] for name in objects}
    return (
        listed(objects, _MOST_NAMED)
        if len(kinds) > 1
        else f"{kinds.pop()} {listed(map(_key_of, objects), _MOST_NAMED)}"
    )


def _key_of(name: str) -> str:
    return name.partition(" ")[2]


def _beside(result: ClusterCheck) -> Iterator[str]:
    """Which pods the findings are not about."""
    if result.n_pending:
        waiting = count(result.n_pending, "pod waits", "pods wait")
        yield f"{waiting} for a node already; run kubesched explain"
    for one in result.unserved:
        yield f"{count(one.n_pods, 'pod')} not tried again: {one.why}"
    if result.n_undecided:
        why = f": {'; '.join(result.why_undecided)}" if result.why_undecided else ""
        yield f"{count(result.n_undecided, 'pod')} cannot be decided{why}"
    if result.n_unexplained:
        groups = count(result.n_unexplained, "further group")
        yield f"{groups} of equal pods without a place: the cause is kube-scheduler's message, and no fix was tried"


def _following(result: ClusterCheck, explain: str) -> str:
    """The command that explains the first workload whose pods have no place."""
    worst = next((one for one in result.findings if one.rule == "cannot-come-back"), None)
    if worst is None or not explain:
        return ""
    kind, _, key = worst.about[0].partition(" ")
    namespace, _, name = key.partition("/")
    return command_about(f"{explain} -n", namespace, f"{kind.lower()}/{name}")


def _document(result: ClusterCheck) -> dict[str, Any]:
    return {
        **fields(
            result,
            *("counts", "faults", "n_foreign", "unserved", "n_pending", "n_pods"),
            *("n_undecided", "why_undecided", "n_unexplained"),
        ),
        "findings": [_finding_document(finding) for finding in result.findings],
        "silenced": len(result.silenced),
        "workloads": result.n_workloads,
    }


def _finding_document(finding: Finding) -> dict[str, Any]:
    shown = fields(finding, "help", "message", "n_pods", "rule", "severity")
    return {**shown, "objects": list(finding.about), "tried": finding.is_tried}


def _checks(result: ClusterCheck, failing: Collection[str]) -> Iterator[Check]:
    """A case for each object of a finding; those with which the command fails are failures."""
    yield Check("cluster", "looked at", joined(result.faults))
    for finding in result.findings:
        for name in finding.about:
            text = finding_text(finding)
            failure, note = (text, "") if finding.severity in failing else ("", text)
            yield Check(name, finding.rule, failure, note=note)
