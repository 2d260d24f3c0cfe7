"""What is asked of the servers, what came out, and what has to be reached."""

import statistics
from dataclasses import dataclass, field

from benchmarks.extender.client import Times

NAMES, NODES = "names", "nodes"
VERBS = ("filter", "prioritize")
CONNECTIONS = (1, 4)
SIZES = (100, 1000, 5000)
PEAK_BYTES = 10**9
GROWTH = 0.05
"""How much more memory may be held after all requests of a long run than after the first tenth of them."""

_LARGE_NAMES = {1: 3.0, 4: 2.0}
_SMALL_NAMES = {1: 1.0, 4: 0.5}
_WHOLE_NODES = {1: 5.0, 4: 3.0}


@dataclass(frozen=True)
class Cell:
    """One request, so many at a time.

    Attributes:
        form: NAMES or NODES.
        n: how many of them.
    """

    form: str
    n: int
    verb: str
    n_connections: int

    @property
    def target(self) -> float | None:
        """How many times faster than the Go server; None where nothing was set."""
        if self.n not in SIZES:
            return None
        if self.form == NODES:
            return _WHOLE_NODES[self.n_connections]
        return (_LARGE_NAMES if self.n == SIZES[-1] else _SMALL_NAMES)[self.n_connections]


@dataclass
class Figures:
    """What one server needed for a cell.

    Attributes:
        warm: one for each repeat.
        first: seconds of the first request after the start, for each repeat.
        cpu: seconds of CPU time a request, on all cores, for each repeat.
        peaks: bytes of memory that the server had held at most, after each repeat.
    """

    warm: list[Times] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median of the repeats' medians."""
        return statistics.median(times.median for times in self.warm)

    @property
    def p99(self) -> float:
        """The worst of the repeats'."""
        return max(times.p99 for times in self.warm)

    @property
    def cpu_each(self) -> float:
        """The median of the CPU time of a request; others on the machine move it less than the clock."""
        return statistics.median(self.cpu)

    @property
    def n_requests(self) -> int:
        return sum(len(times.each) for times in self.warm)

    def as_document(self) -> dict[str, object]:
        return {
            "median": self.median,
            "worstP99": self.p99,
            "medians": [times.median for times in self.warm],
            "p99s": [times.p99 for times in self.warm],
            "perSecond": [len(times.each) / times.total for times in self.warm],
            "requests": [len(times.each) for times in self.warm],
            "first": self.first,
            "cpu": self.cpu,
            "peakBytes": self.peaks,
        }


@dataclass(frozen=True)
class Result:
    """A cell and what both servers needed; `go` is None where only ours was measured."""

    cell: Cell
    ours: Figures
    go: Figures | None

    @property
    def ratio(self) -> float | None:
        """How many times faster than the Go server, by the medians."""
        return None if self.go is None else self.go.median / self.ours.median

    @property
    def is_fast(self) -> bool | None:
        """Whether the ratio reaches the target."""
        if self.ratio is None or self.cell.target is None:
            return None
        return self.ratio >= self.cell.target

    @property
    def is_steady(self) -> bool | None:
        """Whether the worst p99 is not above the Go server's."""
        return None if self.go is None else self.ours.p99 <= self.go.p99

    def as_document(self) -> dict[str, object]:
        """All figures in seconds and bytes, for --json."""
        return {
            "form": self.cell.form,
            "n": self.cell.n,
            "verb": self.cell.verb,
            "connections": self.cell.n_connections,
            "ours": self.ours.as_document(),
            "go": None if self.go is None else self.go.as_document(),
            "ratio": self.ratio,
            "target": self.cell.target,
            "isFast": self.is_fast,
            "isSteady": self.is_steady,
        }


@dataclass(frozen=True)
class Endurance:
    """The memory of a server over many mixed requests.

    Attributes:
        what: which requests.
        early, late: bytes held after so many requests.
    """

    what: str
    n_early: int
    early: int
    n_late: int
    late: int

    @property
    def is_flat(self) -> bool:
        return self.late <= self.early * (1 + GROWTH)

    def as_document(self) -> dict[str, object]:
        return {
            "what": self.what,
            "early": {"requests": self.n_early, "residentBytes": self.early},
            "late": {"requests": self.n_late, "residentBytes": self.late},
            "isFlat": self.is_flat,
        }
