"""The answer of a column filter: a small integer per row, and the meaning of the integers."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.engine import are_within
from kubesched.framework.fault_texts import fault_text
from kubesched.framework.status import HOOK_FAULTS, Code, FaultText, Status
from kubesched.state import Nodes, PodBatch, PodInfo

Codes = npt.NDArray[np.integer[Any]]
"""(rows,) the verdict of a column filter on each row; 0 where the node fits."""
_SMALL: Final = 4096  # smaller verdicts are grouped by counting


class Verdicts:
    """One verdict per row of a table.

    Attributes:
        values: (rows,) integers; 0 where the node fits.
        status: what a value other than 0 means. Called when the reasons are needed.
        may_fail: whether some value means an Error or an undecided pod, which ends the whole cycle.

    Example:
        def filter_nodes(self, state, pod, nodes):
            return Verdicts((nodes.n_pods >= 10).astype(int), [Status.unschedulable("node(s) had 10 pods")])
    """

    __slots__ = ("may_fail", "status", "values")

    def __init__(self, values: Codes, status: Callable[[int], Status] | Sequence[Status]) -> None:
        self.values = values
        self.status: Callable[[int], Status] = status if callable(status) else _Listed(status)
        self.may_fail = isinstance(self.status, _Listed) and self.status.may_fail

    def have_meaning(self) -> bool:
        """Whether every value is 0 or has a status; taken for granted where a function gives the statuses."""
        if not isinstance(self.status, _Listed):
            return True
        return are_within(self.values, 0, len(self.status.statuses))

    def check(self) -> None:
        """Note that a value without a meaning is a fault."""
        self.may_fail = self.may_fail or not self.have_meaning()

    def spread(self, positions: npt.NDArray[np.intp], n_rows: int) -> "Verdicts":
        """The same verdicts in a larger table, where these rows are at `positions` and all others fit."""
        values = np.zeros(n_rows, dtype=self.values.dtype)
        values[positions] = self.values
        return self.of(values)

    def of(self, values: Codes) -> "Verdicts":
        """Some of the same verdicts in another table, with the same meanings."""
        verdicts = Verdicts(values, self.status)
        verdicts.may_fail = self.may_fail
        return verdicts


class _Listed:
    """Statuses by verdict, counted from 1; `may_fail` when one of them ends the cycle."""

    __slots__ = ("may_fail", "statuses")

    def __init__(self, statuses: Sequence[Status]) -> None:
        self.statuses = statuses
        self.may_fail = any(one.code is Code.ERROR or one.is_undecided for one in statuses)

    def __call__(self, verdict: int) -> Status:
        if not 0 < verdict <= len(self.statuses):
            raise ValueError(f"filter_nodes returned the verdict {verdict}; `reasons` has {len(self.statuses)}")
        return self.statuses[verdict - 1]


class PodChanges(msgspec.Struct, frozen=True, eq=False):
    """Pods that a what-if table gains or loses. The table shows them already.

    Attributes:
        nodes: the table.
        positions: (pods,) where each pod is put or taken off.
        batch: the pods, for rules over columns.

    Example:
        def add_pods(self, state, pod, changes):
            state.write(Counts(state.read(Counts).n_pods + len(changes.pods)))
    """

    nodes: Nodes
    positions: npt.NDArray[np.intp]
    batch: PodBatch

    @property
    def pods(self) -> Sequence[PodInfo]:
        """The pods, for rules that look at one after another."""
        return self.batch.infos


class Rejections(msgspec.Struct, frozen=True):
    """One plugin's verdicts over the rows of a table, some of them not 0."""

    plugin: str
    verdicts: Verdicts


class FilterResult(msgspec.Struct, eq=False):
    """The verdicts of the filters of a profile on a table; the first rejection of a row is the one that counts.

    Attributes:
        nodes: the table.
        rejections: of each plugin that rejected some row, in the order in which filters run.
        columns: the kept columns that it is made of; None where it depends on anything else.
        compiled: what plugins found out from it and from the pods on these nodes, by plugin; equal pods share it until
            a row changes. None for a result that is not kept.
    """

    nodes: Nodes
    rejections: list[Rejections]
    columns: Sequence[object] | None = None
    compiled: dict[object, Any] | None = None
    _fits: npt.NDArray[np.bool_] | None = None
    _feasible: Nodes | None = None
    _statuses: "RowStatuses | None" = None

    @property
    def fits(self) -> npt.NDArray[np.bool_]:
        """(rows,) bool: rows that no plugin rejects."""
        if self._fits is None:
            if not self.rejections:
                self._fits = np.ones(len(self.nodes), dtype=np.bool_)
            else:
                fits: npt.NDArray[np.bool_] = self.rejections[0].verdicts.values == 0
                for rejection in self.rejections[1:]:
                    fits &= rejection.verdicts.values == 0
                self._fits = fits
        return self._fits

    @property
    def feasible(self) -> Nodes:
        """The table of the rows that no plugin rejects."""
        if self._feasible is None:
            self._feasible = self.nodes.select(self.fits.nonzero()[0]) if self.rejections else self.nodes
        return self._feasible

    @property
    def failure(self) -> Status | None:
        """The Error of the first row that has one, which ends the cycle; None when no plugin failed."""
        for rejection in self.rejections:
            if rejection.verdicts.may_fail:
                return self.statuses().failure()
        return None

    @property
    def undecided(self) -> Status | None:
        """The first verdict that kubesched cannot decide about the pod on some row; None where it can."""
        if not self.rejections or not any(rejection.verdicts.may_fail for rejection in self.rejections):
            return None
        return next((status for status in self.statuses().distinct if status.is_undecided), None)

    def restricted(self, positions: npt.NDArray[np.intp]) -> "FilterResult":
        """The same verdicts on some of the rows, in the order given."""
        kept = []
        for rejection in self.rejections:
            values = rejection.verdicts.values[positions]
            if values.any():
                kept.append(Rejections(rejection.plugin, rejection.verdicts.of(values)))
        return FilterResult(self.nodes.select(positions), kept)

    @property
    def all_fit(self) -> bool:
        """Whether no row was rejected."""
        return not self.rejections

    def statuses(self) -> "RowStatuses":
        """The first rejection of every row, in words."""
        if self._statuses is None:
            self._statuses = RowStatuses(self)
        return self._statuses


class RowStatuses:
    """Why each row of a table was rejected: the distinct statuses, and which row has which.

    Attributes:
        distinct: the statuses, in order of plugin; index 0 means "fits".
        index: (rows,) int: which one a row has.
    """

    __slots__ = ("_counts", "distinct", "index")

    def __init__(self, result: FilterResult) -> None:
        self._counts: tuple[tuple[Status, int], ...] | None = None
        self.distinct: list[Status] = [Status.SUCCESS]
        self.index = np.zeros(len(result.nodes), dtype=np.intp)
        passed: npt.NDArray[np.intp] | None = None  # rows that no plugin has rejected so far; None for all
        for rejection in result.rejections:
            values = rejection.verdicts.values if passed is None else rejection.verdicts.values.take(passed)
            is_rejected = values != 0
            rejected = is_rejected.nonzero()[0]
            if not len(rejected):
                continue
            kinds, which = _distinct(values.take(rejected))
            self.index[rejected if passed is None else passed.take(rejected)] = which + len(self.distinct)
            self.distinct += [_rejection_status(rejection, value) for value in kinds.tolist()]
            others = (~is_rejected).nonzero()[0]
            passed = others if passed is None else passed.take(others)

    def __getitem__(self, position: int) -> Status:
        return self.distinct[int(self.index[position])]

    def with_code(self, code: Code) -> npt.NDArray[np.intp]:
        """The positions of rows whose status has this code, ascending."""
        wanted = np.array([status.code is code for status in self.distinct])
        return np.flatnonzero(wanted[self.index])

    def counts(self) -> list[tuple[Status, int]]:
        """How many rows have each status, "fits" left out."""
        if self._counts is None:
            totals = np.bincount(self.index, minlength=len(self.distinct)).tolist()
            self._counts = tuple((one, n) for one, n in zip(self.distinct[1:], totals[1:], strict=True) if n)
        return list(self._counts)

    def failure(self) -> Status | None:
        """The Error of the first row that has one; None when no plugin failed."""
        if all(status.code is not Code.ERROR for status in self.distinct):
            return None
        return self[int(self.with_code(Code.ERROR)[0])]


def _distinct(values: Codes) -> tuple[Codes, npt.NDArray[np.intp]]:
    """The distinct values of some, ascending, and (values,) which of them each is."""
    lowest, highest = values.min(), values.max()
    if lowest == highest:
        return values[:1], np.zeros(len(values), dtype=np.intp)
    if lowest < 0 or highest >= _SMALL:
        return np.unique(values, return_inverse=True)
    kinds = np.bincount(values).nonzero()[0]
    numbers = np.zeros(int(highest) + 1, dtype=np.intp)
    numbers[kinds] = np.arange(len(kinds))
    return kinds, numbers[values]


def _rejection_status(rejection: Rejections, verdict: int) -> Status:
    """The status of a verdict. If the plugin raises, an Error."""
    try:
        status = rejection.verdicts.status(verdict).by(rejection.plugin)
    except HOOK_FAULTS as error:
        status = Status(Code.ERROR, (fault_text(error),), rejection.plugin)
    if status.code is not Code.ERROR or not rejection.plugin:
        return status
    text = FaultText(f'running "{rejection.plugin}" filter plugin: {status.message}', status.place)
    return Status(Code.ERROR, (text,), rejection.plugin)
