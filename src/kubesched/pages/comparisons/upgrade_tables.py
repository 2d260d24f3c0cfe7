"""What two versions of Kubernetes change, as tables and sentences of the page of a comparison."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from kubesched.comparison import Comparison, NodeVerdict, Upgrade, VersionDifference
from kubesched.documents import count, joined, listed
from kubesched.pages.formats import Align, Check, Column, Row, Table

_N_ROWS: Final = 20


def rejected_configuration(notice: Upgrade) -> str:
    """Which version does not start with the configuration, in a sentence; empty for none."""
    return next((one.failure for one in starts(notice)), "")


def starts(notice: Upgrade) -> Iterator[Check]:
    """A check that fails for a version that does not start with the configuration."""
    for version, why in zip((notice.a, notice.b), notice.rejected, strict=True):
        if why:
            failure = f"kube-scheduler {version} does not start with this configuration: {why}"
            yield Check("compare", f"{version} starts with this configuration", failure)


def flips(comparison: Comparison) -> str:
    """The pods that are pending with one version only; empty for none, and where one version decides."""
    half = comparison.n_runs / 2
    new = [one.pod for one in comparison.pending if one.n_b > half]
    gone = [one.pod for one in comparison.pending if one.n_b <= half]
    parts = [
        f"{count(len(pods), one, several)}: {listed(pods)}"
        for pods, one, several in (
            (new, "pod becomes pending", "pods become pending"),
            (gone, "pending pod gets a node", "pending pods get a node"),
        )
        if pods
    ]
    return "" if comparison.upgrade is None else "; ".join(parts)


def upgrade_tables(notice: Upgrade) -> Iterator[Table]:
    """What becomes of waiting pods that are tried alone, and what else the versions do otherwise."""
    a, b = Column("a", notice.a), Column("b", notice.b)
    verdicts: list[Row] = [
        [len(one.pods), one.workload, len(one.nodes), _words(one.a), _words(one.b)]
        for one in sorted(notice.verdicts, key=lambda one: -len(one.pods))
    ]
    yield _first(
        "verdicts",
        "Nodes with another verdict, each waiting pod tried alone",
        (Column("pods", align=Align.NUMBER), Column("workload", "OF"), Column("nodes", align=Align.NUMBER), a, b),
        verdicts,
    )
    yield _first(
        "texts",
        "Texts of events and conditions that change, for alerts that search for them",
        (Column("pods", align=Align.NUMBER), Column("only", "ONLY WITH"), Column("text")),
        _texts(notice),
    )
    concerning = [one for one in notice.differences if one.n_objects]
    yield Table(
        "differences",
        f"Fields, default plugins and rules of {notice.a} and {notice.b} that concern this cluster",
        (Column("subject", "WHAT"), Column("here"), a, b, Column("source")),
        [[_subject(one), _here(one), one.a, one.b, one.source] for one in concerning],
        notes=_of_no_concern(notice),
        is_folded=True,
    )


def _of_no_concern(notice: Upgrade) -> tuple[str, ...]:
    """A line on what else differs, and nothing here shows."""
    n_rows = Counter(_subject(one) for one in notice.differences if not one.n_objects)
    names = [f"{name} ({n})" if n > 1 else name for name, n in n_rows.items()]
    others = count(n_rows.total(), "other concerns", "others concern")
    return (f"{others} no object here: {joined(names)}; -o json has all.",) if names else ()


def _first(name: str, title: str, columns: tuple[Column, ...], rows: Sequence[Row]) -> Table:
    left = len(rows) - _N_ROWS
    notes = (f"{left:,} more: -o json has all.",) if left > 0 else ()
    return Table(name, title, columns, rows[:_N_ROWS], notes=notes)


def _texts(notice: Upgrade) -> list[Row]:
    """A row for each phrase that one version alone has, for some pods; those of A, and of most pods, come first."""
    rows: list[Row] = []
    for version, is_a in ((notice.a, True), (notice.b, False)):
        n_pods: Counter[str] = Counter()
        for one in notice.messages:
            n_pods.update(dict.fromkeys(one.only_a if is_a else one.only_b, len(one.pods)))
        rows += [[n, version, text] for text, n in n_pods.most_common()]
    return rows


def _words(verdict: NodeVerdict) -> str:
    return f"{verdict.plugin}: {verdict.code}" if verdict.plugin else "fits"


def _subject(difference: VersionDifference) -> str:
    return difference.subject.partition(" ")[2] if difference.kind == "field" else difference.subject


def _here(difference: VersionDifference) -> str:
    kind = difference.object_kind
    return count(difference.n_objects, kind.lower() if kind in ("Pod", "Node") else kind)
