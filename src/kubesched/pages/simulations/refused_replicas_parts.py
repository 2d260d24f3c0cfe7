"""Pods of the cluster that do not exist, because the API server refuses them, as parts of a report."""

from collections.abc import Iterator, Sequence

import msgspec

from kubesched.admission import RefusedReplicas
from kubesched.documents import count, plural
from kubesched.explanation import quota_patches
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
    hand,
    plain,
    with_fix,
)


def with_refused(page: Page, refused: Sequence[RefusedReplicas]) -> Page:
    """A report on pods with those that do not exist."""
    if not refused:
        return page
    return msgspec.structs.replace(
        page,
        verdict=Paragraph(f"{page.verdict.text}{refused_words(refused)}", Level.BAD),
        parts=(*page.parts, refused_table(refused)),
        document={**page.document, "refused": plain(refused)},
        checks=(*page.checks, *refused_checks(refused)),
        appendix=(*page.appendix, *refused_hands(refused)),
    )


def refused_table(refused: Sequence[RefusedReplicas]) -> Table:
    """A row for each workload; none for no workload."""
    columns = (
        Column("pods", align=Align.NUMBER),
        Column("workload"),
        Column("why", "WHY, AND THE FIX", is_joined=True),
        Column("message", is_wide=True),
    )
    rows: list[Row] = [
        [one.n_refused, Cell(one.workload, level=Level.BAD), with_fix(one.text, one.fix), one.message]
        for one in refused
    ]
    n = sum(one.n_refused for one in refused)
    return Table("refused", f"Do not exist, because the API server refuses them: {n}", columns, rows)


def refused_words(refused: Sequence[RefusedReplicas]) -> str:
    """A sentence with a blank before it; empty for no workload."""
    n = sum(one.n_refused for one in refused)
    does, which = plural(n, "does", "do"), plural(n, "it", "them")
    return f" {count(n, 'pod')} {does} not exist: the API server refuses {which}." if n else ""


def refused_hands(refused: Sequence[RefusedReplicas]) -> Iterator[Paragraph]:
    """What applies the fixes."""
    for one in refused:
        if steps := quota_patches(one):
            yield from hand(f"{one.workload}: {one.fix}", steps)


def refused_checks(refused: Sequence[RefusedReplicas]) -> Iterator[Check]:
    """A check that fails for each workload."""
    for one in refused:
        kind, _, name = one.workload.partition(f" {one.namespace}/")
        yield Check(one.namespace, f"{kind} {name}: pods that do not exist", with_fix(one.text, one.fix))
