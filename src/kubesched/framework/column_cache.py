"""The only place where computed columns are kept: a rule's answer for all rows, updated instead of computed again.

A column belongs to (rule, part): a plugin class with its arguments, and everything that the rule reads of a pod. It is
true for one generation of the change log that its rule depends on (node objects, or nodes and their pods); asked for
later, only the rows that changed since are computed again.

Above a byte budget the least recently used columns go. So do columns that were not used for about ten thousand pods,
such as those of a template that was replaced. That changes nothing but the time.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple, Protocol, TypeVar
from weakref import WeakSet

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import Pod
from kubesched.engine import ChangeLog, IntMatrix, IntVector, are_within
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.hook_answers import as_scores, as_verdicts
from kubesched.framework.hooks import DependsOn
from kubesched.framework.plugin import Plugin
from kubesched.framework.status import HOOK_FAULTS, Code, Status
from kubesched.release import Release
from kubesched.state import NodeColumns, Nodes, Rows

CACHE_BYTES: Final = 256 * 1024 * 1024
"""The default budget."""

MAX_UNUSED: Final = 100_000
"""Uses of other columns after which a column is dropped. A pod has some ten; to compute the column again costs less."""

_OVERHEAD: Final = 3072
"""Bytes of a column beside its values: its objects, its place in the cache, and the part that it keeps with what rules
compiled of that. Measured: 2,850 for pods of which no two request the same, and less where columns share a part."""

MAX_SCORE: Final = 100

ScalarT = TypeVar("ScalarT", bound=np.generic)


class _FewRows(Nodes):
    """A table of rows that are computed again; rules of one cycle share it and its columns.

    Attributes:
        rows: which.
        index: the same, as a slice where it is one row, which is the most frequent case and quicker.
        freed: changed rows that no node has any more, and so are not in any table; None where there is none.
    """

    rows: Rows

    def __init__(self, columns: NodeColumns, changed: list[int]) -> None:
        rows = np.array(changed, dtype=np.intp)
        self.freed: Rows | None = None
        if columns.rows.free:
            in_use = columns.alive[rows]
            self.freed = rows[~in_use]
            rows = rows[in_use]
        super().__init__(columns, rows)
        self._is_one = len(changed) == self.n == 1
        self.index: slice | Rows = slice(changed[0], changed[0] + 1) if self._is_one else rows
        self._matrices: dict[int, tuple[IntMatrix, IntMatrix]] = {}

    def take(self, column: npt.NDArray[ScalarT]) -> npt.NDArray[ScalarT]:
        return column[self.index]

    def _matrix(self, column: IntMatrix) -> IntMatrix:
        kept = self._matrices.get(id(column))
        if kept is None:  # a copy, because sums of cells that lie apart take twice as long
            cells = column[:, self.index].copy() if self._is_one else super()._matrix(column)
            kept = self._matrices[id(column)] = (column, cells)
        return kept[1]


class Stamped(NamedTuple):
    """A part whose answers hold for one state of something that concerns all nodes, such as how many there are.

    A column with another stamp is computed whole, in place of the old one.
    """

    part: Hashable
    stamp: Hashable


class EqualScore(NamedTuple):
    """A part of pods to which all nodes have this score, before normalisation; no column is computed for them."""

    score: int


class KeptColumn:
    """One kept answer over all rows, with what is known of it as a whole.

    Attributes:
        values: one per slot of the columns.
        shown: the same, read-only: what plugins may be given.
        generation: of the change log that its rule depends on.
        status: what a filter's verdict means.
        n_rejected: a filter's verdicts that are not 0.
        may_fail: whether one of them may mean an Error.
        in_range: whether all scores are known to be within 0..100.
        constant: the one score that all rows are known to have; else None.
        normalized: the score that comes of the constant, checked; None until it is known.
        stamp: see Stamped; None for parts without.
        used: the number of its last use.
    """

    __slots__ = (
        "constant",
        "generation",
        "in_range",
        "may_fail",
        "n_rejected",
        "normalized",
        "shown",
        "stamp",
        "status",
        "used",
        "values",
    )

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.values = values
        self.shown = values.view()
        self.shown.flags.writeable = False
        self.generation = 0
        self.status: Callable[[int], Status] | None = None
        self.n_rejected = 0
        self.may_fail = False
        self.in_range = True
        self.constant: int | None = None
        self.normalized: int | None = None
        self.stamp: Hashable = None
        self.used = 0

    @property
    def n_bytes(self) -> int:
        """The memory that the column takes, its overhead as an estimate."""
        return self.values.nbytes + _OVERHEAD


class PluginRule:
    """A filter or score plugin with what the framework needs to know of it, found once.

    Attributes:
        plugin, name: the plugin.
        number: equal for the same hook of plugins of equal class and arguments.
        is_filter: whether it is a filter; else it scores.
        is_lifted: whether it is written per node.
        is_kept: whether its columns are kept.
        log: the changes that make its columns stale.
        has_normalize: whether it normalises its scores.
        keeps_equal: whether equal scores have one result, whatever the pod and however many nodes there are.
        weight: of its score.
    """

    __slots__ = (
        "depends_on",
        "has_normalize",
        "is_filter",
        "is_kept",
        "is_lifted",
        "keeps_equal",
        "log",
        "name",
        "number",
        "plugin",
        "weight",
    )

    def __init__(self, plugin: Plugin, cache: "ColumnCache", column_hook: str, weight: int = 0) -> None:
        self.plugin = plugin
        self.name = plugin.name
        self.number = cache.number(plugin, column_hook)
        self.is_filter = column_hook == "filter_nodes"
        self.is_lifted = not plugin.defines(column_hook)
        self.depends_on = plugin.depends_on
        self.is_kept = not self.is_lifted and self.depends_on.is_of_rows
        self.log = cache.log(self.depends_on)
        self.has_normalize = plugin.defines("normalize_score")
        self.keeps_equal = not self.has_normalize or getattr(plugin.normalize_score, "keeps_equal", False)
        self.weight = weight


class HasKept(Protocol):
    """Keeps what was made of columns."""

    def forget(self) -> None:
        """Drop it."""


class ColumnCache:
    """Columns of all profiles that share one cluster state.

    Attributes:
        budget: bytes that the columns may take together, with the parts that they are kept for.
        max_unused: uses of other columns after which a column goes.
        n_bytes: what they take.
    """

    def __init__(self, columns: NodeColumns, budget: int = CACHE_BYTES, max_unused: int = MAX_UNUSED) -> None:
        self.budget = budget
        self.max_unused = max_unused
        self.n_bytes = 0
        self._n_uses = 0
        self._owners: WeakSet[HasKept] = WeakSet()
        self._columns = columns
        self._kept: OrderedDict[Hashable, KeptColumn] = OrderedDict()
        self._rules: dict[tuple[type[Plugin], bytes, Release, str], int] = {}
        self._equals: dict[tuple[int, EqualScore], KeptColumn] = {}  # a few for each rule
        # by log: from and to which generation, and the rows that changed, if they are few: rules share them
        self._few: dict[ChangeLog, tuple[int, int, _FewRows | None]] = {}

    def number(self, plugin: Plugin, column_hook: str) -> int:
        """The number of a plugin's rule: equal for the same hook of equal classes with equal arguments and release."""
        key = (type(plugin), msgspec.json.encode(plugin.args, enc_hook=repr), plugin.release, column_hook)
        return self._rules.setdefault(key, len(self._rules))

    def log(self, depends_on: DependsOn) -> ChangeLog:
        """The log of the changes that a rule depends on."""
        columns = self._columns
        if depends_on is DependsOn.DEVICES:
            return columns.device_log
        return columns.node_log if depends_on is DependsOn.NODE else columns.row_log

    def verdicts(self, rule: PluginRule, state: CycleState, pod: Pod) -> KeptColumn:
        """The filter's verdicts, up to date.

        Those with an Error are not kept: its text may have names that an equal part does not have.
        """
        key = (rule.number, rule.plugin.filter_part(state, pod))
        column = self._kept.get(key)
        if column is None or column.generation != rule.log.generation:
            column = self._refreshed_filter(key, column, rule, state, pod)
            if column.may_fail and _has_error(column):
                self._drop(key)
                return column
        self._kept.move_to_end(key)
        self._n_uses = column.used = self._n_uses + 1
        return column

    def scores(self, rule: PluginRule, state: CycleState, pod: Pod) -> KeptColumn:
        """The plugin's scores before normalisation, up to date."""
        part, stamp = rule.plugin.score_part(state, pod), None
        if type(part) is EqualScore:
            return self._equal(rule, part)
        if type(part) is Stamped:
            part, stamp = part
        key = (rule.number, part)
        column = self._kept.get(key)
        if column is None or column.generation != rule.log.generation:
            if column is not None and column.stamp != stamp:
                column = None
            column = self._refreshed_score(key, column, rule, state, pod)
            column.stamp = stamp
        self._kept.move_to_end(key)
        self._n_uses = column.used = self._n_uses + 1
        return column

    def _equal(self, rule: PluginRule, part: EqualScore) -> KeptColumn:
        known = self._equals.get((rule.number, part))
        if known is None:
            known = self._equals[rule.number, part] = KeptColumn(np.zeros(0, dtype=np.int64))
            known.constant = part.score
        return known

    def drop_with_columns(self, owner: "HasKept") -> None:
        """Have an object forget what it made of columns when columns are evicted."""
        self._owners.add(owner)

    def evict(self, fraction: float = 1.0) -> None:
        """Drop the least recently used columns, all of them by default, and whatever was made of columns."""
        for owner in self._owners:
            owner.forget()
        for _ in range(int(len(self._kept) * fraction)):
            self._drop_oldest()

    def __len__(self) -> int:
        return len(self._kept)

    # --- bringing up to date ---

    def changed_rows(self, log: ChangeLog, generation: int) -> _FewRows | None:
        """The rows that changed since a generation, as a table that rules of one cycle share; None if they are many."""
        known = self._few.get(log)
        if known is None or known[0] != generation or known[1] != log.generation:
            changed, n_rows = log.since(generation), self._columns.rows.n_rows
            is_few = changed is not None and 2 * len(changed) <= n_rows + 2
            few = _FewRows(self._columns, changed) if changed is not None and is_few else None
            known = self._few[log] = (generation, log.generation, few)
        return known[2]

    def update(self, column: KeptColumn, rule: PluginRule, state: CycleState, pod: Pod) -> bool:
        """Bring a column up to date where some rows changed. Returns: false where all have to be computed again."""
        log = rule.log
        if column.generation != log.generation:
            few = self.changed_rows(log, column.generation)
            if few is None or few.freed is not None:
                return False
            if rule.is_filter:
                self._update_verdicts(column, few, rule, state, pod)
            else:
                self._update_scores(column, few, rule, state, pod)
            column.generation = log.generation
        return True

    def _refreshed_filter(
        self, key: Hashable, column: KeptColumn | None, rule: PluginRule, state: CycleState, pod: Pod
    ) -> KeptColumn:
        plugin, log = rule.plugin, rule.log
        few = self._stale_rows(column, log)
        if column is None or few is None:
            table = self._all_rows()
            verdicts = as_verdicts(plugin, plugin.filter_nodes(state, pod, table), table.n)
            column = self._keep(key, table, verdicts.values)
            column.n_rejected = int(np.count_nonzero(verdicts.values))
            column.status = verdicts.status
            if column.n_rejected:
                verdicts.check()
            column.may_fail = verdicts.may_fail
        else:
            self._update_verdicts(column, few, rule, state, pod)
        column.generation = log.generation
        return column

    @staticmethod
    def _update_verdicts(column: KeptColumn, few: _FewRows, rule: PluginRule, state: CycleState, pod: Pod) -> None:
        if few.freed is not None:
            column.n_rejected -= int(np.count_nonzero(column.values[few.freed]))
            column.values[few.freed] = 0
        if few.n:
            plugin = rule.plugin
            verdicts = as_verdicts(plugin, plugin.filter_nodes(state, pod, few), few.n)
            n_rejected = len(verdicts.values.nonzero()[0])  # quicker than to count where there are few
            if n_rejected:
                verdicts.check()
                if verdicts.may_fail:
                    column.may_fail, column.status = True, verdicts.status
            if n_rejected or column.n_rejected:
                column.n_rejected += n_rejected - int(np.count_nonzero(column.values[few.index]))
                column.values[few.index] = verdicts.values

    def _refreshed_score(
        self, key: Hashable, column: KeptColumn | None, rule: PluginRule, state: CycleState, pod: Pod
    ) -> KeptColumn:
        plugin, log = rule.plugin, rule.log
        few = self._stale_rows(column, log)
        if column is None or few is None:
            table = self._all_rows()
            scores = as_scores(plugin, plugin.score_nodes(state, pod, table), table.n)
            column = self._keep(key, table, scores)
            column.in_range = _in_range(scores)
            if rule.depends_on is DependsOn.NODE and rule.keeps_equal and len(scores) and (scores == scores[0]).all():
                column.constant = int(scores[0])
        elif few.n:
            self._update_scores(column, few, rule, state, pod)
        column.generation = log.generation
        return column

    @staticmethod
    def _update_scores(column: KeptColumn, few: _FewRows, rule: PluginRule, state: CycleState, pod: Pod) -> None:
        scores = as_scores(rule.plugin, rule.plugin.score_nodes(state, pod, few), few.n)
        column.values[few.index] = scores
        if not rule.has_normalize:
            column.in_range = column.in_range and _in_range(scores)
        if column.constant is not None and not (scores == column.constant).all():
            column.constant = column.normalized = None

    def _stale_rows(self, column: KeptColumn | None, log: ChangeLog) -> _FewRows | None:
        """The rows to compute again; None for all of them."""
        if column is None or len(column.values) < self._columns.rows.n_rows:
            return None
        return self.changed_rows(log, column.generation)

    def _all_rows(self) -> Nodes:
        columns = self._columns
        rows = np.flatnonzero(columns.alive[: columns.n_rows]) if columns.rows.free else None
        return Nodes(columns, rows)

    def _keep(self, key: Hashable, table: Nodes, values: npt.NDArray[Any]) -> KeptColumn:
        slots = np.zeros(self._columns.capacity, dtype=values.dtype)
        if table.rows is None:
            slots[: len(values)] = values
        else:
            slots[table.rows] = values
        old = self._kept.pop(key, None)
        if old is not None:
            self.n_bytes -= old.n_bytes
        column = self._kept[key] = KeptColumn(slots)
        column.used = self._n_uses
        self.n_bytes += column.n_bytes
        while len(self._kept) > 1 and (self.n_bytes > self.budget or self._is_forgotten()):
            self._drop_oldest()
        return column

    def _is_forgotten(self) -> bool:
        """Whether the least recently used column was not asked for in a long time."""
        return self._n_uses - next(iter(self._kept.values())).used > self.max_unused

    def _drop_oldest(self) -> None:
        self._drop(next(iter(self._kept)))

    def _drop(self, key: Hashable) -> None:
        self.n_bytes -= self._kept.pop(key).n_bytes


def _has_error(column: KeptColumn) -> bool:
    """Whether a filter failed, or could not decide, on some row."""
    assert column.status is not None
    try:
        statuses = [column.status(value) for value in np.unique(column.values).tolist() if value]
        return any(status.code is Code.ERROR or status.is_undecided for status in statuses)
    except HOOK_FAULTS:
        return True


def _in_range(scores: IntVector) -> bool:
    return are_within(scores, 0, MAX_SCORE)
