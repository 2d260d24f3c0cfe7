"""A report as it is read, whatever the command and the format: a verdict, tables and sentences, and what comes next.

Commands describe their outcome as a Page. Text, JSON, CSV, Markdown, HTML and JUnit are made from it by the other files
of this room, so that no command formats anything itself.
"""

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from kubesched.documents import count
from kubesched.release import DecidingVersion, ReadingVersion

T = TypeVar("T")
K = TypeVar("K")


class Level(enum.Enum):
    """What a colour means. The words never depend on it."""

    PLAIN = ""
    HEADING = "heading"
    GOOD = "good"
    """Placed, fits, agrees."""
    WARNING = "warning"
    """Waits, or may be wrong."""
    BAD = "bad"
    """Evicted, does not fit, failed."""
    DETAIL = "detail"
    """For readers who want more: kube-scheduler's own words, notes on the table."""


class Align(enum.Enum):
    """How the cells of a column are read."""

    TEXT = "text"
    NUMBER = "number"
    NODE = "node"
    """Names of nodes."""


class Column(msgspec.Struct, frozen=True):
    """A column of a table.

    Attributes:
        key: its name in CSV, unique in the table: `nodeName`.
        heading: in capitals: `NODE`; the key if it is left out.
        is_wide: whether only `-o wide`, CSV and HTML have it.
        is_joined: whether a terminal without `-o wide` prints its text behind that of the column before it, where the
            lines are longer then.
    """

    key: str
    heading: str = ""
    align: Align = Align.TEXT
    is_wide: bool = False
    is_joined: bool = False

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "heading", self.heading or self.key.upper())


class Cell(msgspec.Struct, frozen=True):
    """An entry of a table.

    Attributes:
        text: for people.
        value: for programs, such as CSV and the sorting of HTML; None for the text.
        bar: two shares from 0 to 1, before and after, that formats with room for it draw before the text.
    """

    text: str
    value: int | float | None = None
    level: Level = Level.PLAIN
    bar: tuple[float, float] | None = None


Row = Sequence[Cell | str | int]
"""A text stands for a Cell with this text, a number for a Cell with this value."""


class Table(msgspec.Struct, frozen=True):
    """Rows under headings; one without rows is not shown.

    Attributes:
        name: unique in the page, such as `nodes`.
        title: a line above it; may be empty.
        n_totals: how many of the last rows are sums of those before.
        notes: lines below it.
        is_wide: whether only `-o wide`, CSV and HTML have it.
        is_folded: whether a reader decides without it: Markdown shows it once it is opened.
        folded_rows: the positions of rows of which this is so; Markdown shows the whole table again once it is opened.
        group_by: keys of columns by which HTML groups the rows into a heat map of the cells with bars; empty for none.
        moments: what the two shares of its bars are called.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    n_totals: int = 0
    notes: tuple[str, ...] = ()
    is_wide: bool = False
    is_folded: bool = False
    folded_rows: frozenset[int] = frozenset()
    group_by: tuple[str, ...] = ()
    moments: tuple[str, str] = ("before", "after")

    @property
    def notes_elsewhere(self) -> tuple[str, ...]:
        """The notes in `-o wide` and in other formats than text, where one about `-o wide` leads nowhere."""
        return tuple(note for note in self.notes if not note.startswith("-o wide"))


class Paragraph(msgspec.Struct, frozen=True):
    """Sentences.

    Attributes:
        is_indented: whether it belongs to the paragraph before it.
        is_wide: whether only `-o wide` and HTML have it.
        is_folded: as for a table.
        is_code: whether it is a text to copy, such as YAML, whose blanks count.
        language: of that text.
    """

    text: str
    level: Level = Level.PLAIN
    is_indented: bool = False
    is_wide: bool = False
    is_folded: bool = False
    is_code: bool = False
    language: str = "yaml"


Part = Table | Paragraph


class Plot(msgspec.Struct, frozen=True):
    """Lines over time, which only HTML draws.

    Attributes:
        times: in seconds, ascending.
        lines: name -> a value for each time; None for a gap.
        is_share: whether the values are shares from 0 to 1.
    """

    title: str
    times: Sequence[float]
    lines: Mapping[str, Sequence[float | None]]
    is_share: bool = False


class Check(msgspec.Struct, frozen=True):
    """One thing that can hold or not, for JUnit.

    Attributes:
        group: what it is about, such as a namespace.
        failure: why it does not hold; empty where it does.
        skipped: why it is not checked; empty where it is.
        note: what there is to say about one that holds; empty for nothing.
    """

    group: str
    name: str
    failure: str = ""
    skipped: str = ""
    note: str = ""

    @classmethod
    def of(cls, key: str, failure: str = "", note: str = "") -> "Check":
        """The check of an object, `namespace/name`."""
        namespace, _, name = key.partition("/")
        return cls(namespace, name, failure, note=note)


class Page(msgspec.Struct, frozen=True):
    """A report.

    Attributes:
        name: of the command: `fit`. JSON documents carry it as `"schema": "kubesched/fit/v1"`.
        verdict: the answer in one sentence, which comes first.
        parts: in reading order.
        appendix: parts at the end of Markdown, HTML and `-o wide`, which are kept: in a ticket or a merge request.
        versions: the version of Kubernetes whose rules decided; of a comparison, that of each side.
        limits: what the report does not model, one sentence each.
        next_command: what a reader would run next; empty for nothing.
        document: for `-o json`: JSON types alone, without `schema`.
        lines: for `-o jsonl`, one object each.
        main: the table that CSV has; empty for the first.
        data: the table that CSV has instead, where the tables for people lack some of its columns; nothing else has it.
        checks: for `-o junit`.
        faults: what plugins failed with, if the answer is therefore not what the cluster would do.
        node_names: of the nodes of the cluster, where no table lists all of them.
        notes: sentences among the parts that a reader of rows or of a script needs, too.
        plots: pictures, after the first part.

    Example:
        table = Table("nodes", "", (Column("node", "NODE", Align.NODE),), [["n1"]])
        page = Page("fit", Paragraph("1 of 1 would fit.", Level.GOOD), (table,))
    """

    name: str
    verdict: Paragraph
    parts: tuple[Part, ...] = ()
    appendix: tuple[Part, ...] = ()
    versions: tuple[DecidingVersion, ...] = ()
    limits: tuple[str, ...] = ()
    next_command: str = ""
    document: Mapping[str, Any] = {}
    lines: Sequence[Mapping[str, Any]] = ()
    main: str = ""
    data: Table | None = None
    checks: Sequence[Check] = ()
    faults: Sequence[str] = ()
    node_names: Sequence[str] = ()
    notes: Sequence[str] = ()
    plots: tuple[Plot, ...] = ()

    @property
    def schema(self) -> str:
        """Which fields the JSON document has."""
        return f"kubesched/{self.name}/v1"

    @property
    def deciding(self) -> tuple[str, ...]:
        """Which version decided, one sentence; of a comparison of two versions, one for each side."""
        distinct = tuple(dict.fromkeys(one.words for one in self.versions))
        if len(distinct) < 2:
            return tuple(f"{words[:1].upper()}{words[1:]}." for words in distinct)
        return tuple(f"{side} is {words}." for side, words in zip("AB", distinct, strict=True))

    @property
    def closing(self) -> tuple[str, ...]:
        """The last sentences: which version decided, and the limits."""
        return (*self.deciding, *self.limits)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in reading order."""
        return tuple(part for part in self.parts if isinstance(part, Table))

    @property
    def main_table(self) -> Table | None:
        """The table that CSV has."""
        if self.data is not None:
            return self.data
        return next((table for table in self.tables if self.main in ("", table.name)), None)


def version_fields(versions: Sequence[DecidingVersion]) -> dict[str, Any]:
    """The fields of JSON documents and lines that say which version decided, of a comparison by side, and which one the
    cluster has.

    Example:
        from kubesched.release import DecidingVersion, Release

        fields = version_fields([DecidingVersion(Release(35))])
        assert fields == {"kubernetesVersion": "v1.35", "clusterVersion": {"source": "default"}}
    """
    found: dict[str, list[Any]] = {"kubernetesVersion": [one.release.version for one in versions]}
    if any(one.release.gates for one in versions):
        found["featureGates"] = [dict(one.release.gates) for one in versions]
    fields = {name: of[0] if len(of) == 1 else dict(zip("ab", of, strict=True)) for name, of in found.items() if of}
    return fields | _cluster_version(versions)


def _cluster_version(versions: Sequence[DecidingVersion]) -> dict[str, Any]:
    """The version of the cluster, which both sides of a comparison share; nothing where a configuration is read."""
    for one in versions:
        if not isinstance(one, ReadingVersion):
            return {"clusterVersion": {"source": one.source.value} | ({"version": one.text} if one.text else {})}
    return {}


def as_cell(entry: Cell | str | int) -> Cell:
    """An entry of a row with all its fields."""
    if isinstance(entry, Cell):
        return entry
    return Cell(entry) if isinstance(entry, str) else Cell(f"{entry:,}", entry)


def grouped(members: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Those with the same key together, in order of first appearance."""
    groups: dict[K, list[T]] = {}
    for member in members:
        groups.setdefault(key(member), []).append(member)
    return groups


def workload_checks(
    outcomes: Iterable[tuple[str, str, str]], whole: Mapping[str, str] = MappingProxyType({})
) -> list[Check]:
    """A check for each workload: its name is the same in every run, unlike those of its pods.

    Args:
        outcomes: of each pod: its workload (`Kind namespace/name`, or its own `namespace/name`), why it fails, and what
            there is to say otherwise.
        whole: workload -> why it fails as a whole.
    """
    by_workload = grouped(outcomes, lambda one: one[0])
    return [_of_workload(workload, of, whole.get(workload, "")) for workload, of in by_workload.items()]


def _of_workload(workload: str, outcomes: Sequence[tuple[str, str, str]], whole: str) -> Check:
    kind, _, key = workload.rpartition(" ")
    counts = Counter(failure for _, failure, _ in outcomes if failure)
    of = f" of {count(len(outcomes), 'pod')}: "
    failures = [f"{n:,}{of}{text}" if len(outcomes) > 1 else text for text, n in counts.items()]
    notes = dict.fromkeys(note for _, _, note in outcomes if note)
    checked = Check.of(key, "\n".join(filter(None, (whole, *failures))), "\n".join(notes))
    return checked if kind in ("", "Pod") else msgspec.structs.replace(checked, name=f"{kind} {checked.name}")


def plain(value: object) -> Any:
    """A value as a reader of the JSON gets it: mappings, lists, texts and numbers."""
    return msgspec.json.decode(msgspec.json.encode(value))


def fields(value: msgspec.Struct, *names: str) -> dict[str, Any]:
    """Fields and properties of a value as plain values, under their names in JSON: `n_old_left` is `oldLeft`.

    Args:
        names: none for all fields.
    """
    return {_json_name(name): plain(getattr(value, name)) for name in names or value.__struct_fields__}


def _json_name(name: str) -> str:
    first, *words = name.removeprefix("n_").split("_")
    return "".join([first, *map(str.capitalize, words)])
