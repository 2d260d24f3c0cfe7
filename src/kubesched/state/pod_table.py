"""The placed pods as columns: one slot per pod, for rules that look at many pods at once.

A pod that comes or goes is noted at once and written when somebody reads the columns, so that placing a pod costs no
array operation here. `PodBatch` is what rules get: some pods, by slot or one by one, with what is asked of them as
arrays.
"""

import enum
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kubesched.api import PodRequests
from kubesched.engine import BoolVector, FloatVector, Interner, IntMatrix, IntVector, grown
from kubesched.state.pod_info import Identity, Part, PodInfo
from kubesched.state.pod_volumes import NO_VOLUMES
from kubesched.state.resource_axis import ResourceAxis
from kubesched.state.selected_pods import IdentityColumns, Selection

Slots = npt.NDArray[np.intp]
_SPARE_SLOTS: Final = 1024


class Has(enum.IntFlag):
    """What only some pods have, so that rules which care for it need not look at the others."""

    PORTS = enum.auto()
    VOLUMES = enum.auto()
    ANTI_AFFINITY = enum.auto()
    DELETION_TIMESTAMP = enum.auto()


def _traits(info: PodInfo) -> int:
    traits = 0
    if info.ports.value:
        traits |= Has.PORTS.value
    if info.pod.spec.volumes and info.volumes is not NO_VOLUMES:
        traits |= Has.VOLUMES.value
    if info.pod.spec.affinity is not None and info.terms.value.required_anti_affinity:
        traits |= Has.ANTI_AFFINITY.value
    if info.pod.is_terminating:
        traits |= Has.DELETION_TIMESTAMP.value
    return traits


def _n_volumes(info: PodInfo) -> int:
    return info.volumes.n_attachable if info.pod.spec.volumes else 0


class PodTable:
    """Columns over placed pods.

    Attributes:
        infos: the pod of each slot; None for a free one.
    """

    def __init__(self) -> None:
        self.infos: list[PodInfo | None] = []
        self._free: list[int] = []
        self._noted: set[int] = set()
        self._row: IntVector = np.zeros(64, dtype=np.int64)
        self._place: IntVector = np.zeros(64, dtype=np.int64)
        self._priority: IntVector = np.zeros(64, dtype=np.int64)
        self._start: FloatVector = np.zeros(64, dtype=np.float64)
        self._traits: IntVector = np.zeros(64, dtype=np.int64)
        self._n_volumes: IntVector = np.zeros(64, dtype=np.int64)
        self._requests: IntVector = np.zeros(64, dtype=np.int64)  # numbers in _request_parts
        self._identity: IntVector = np.zeros(64, dtype=np.int64)  # numbers in _identity_parts
        self._request_parts: Interner[Part[PodRequests] | None] = Interner((None,))  # 0 for free slots
        self._identity_parts: Interner[Part[Identity] | None] = Interner((None,))
        self._identity_columns = IdentityColumns(self._identity_parts)
        self._held: IntMatrix = np.zeros((0, 0), dtype=np.int64)  # one row per number in _request_parts
        self._held_generations = (-1, -1)  # of the parts and of the resource axis

    def add(self, info: PodInfo) -> None:
        """A pod was placed; its row and its place there are set already."""
        if self._free:
            info.slot = self._free.pop()
            self.infos[info.slot] = info
        else:
            info.slot = len(self.infos)
            self.infos.append(info)
        self._noted.add(info.slot)

    def remove(self, info: PodInfo) -> None:
        """A pod was taken off its row."""
        self.infos[info.slot] = None
        self._free.append(info.slot)
        self._noted.add(info.slot)
        info.slot = -1

    def moved(self, info: PodInfo) -> None:
        """A pod got another place on its row."""
        self._noted.add(info.slot)

    def below(
        self, priority: int, rows: Slots, n_rows: int, *, keeps_unstarted: bool = False
    ) -> tuple["PodBatch", Slots]:
        """The pods of lower priority on some rows, row by row, the most important first.

        Args:
            rows: the rows asked about, each below `n_rows`.
            keeps_unstarted: whether pods of one priority without a start time keep the order of NodeInfo.
        Returns: the pods, and (pods,) the position in `rows` that each is on, ascending.
        Rule: kube-scheduler v1.36 MoreImportantPod with sort.Slice: higher priority, then the earlier start. A pod
            without start time has "now", asked for the left one first, so that of two such each precedes the other: up
            to 12 pods they come out in reverse order of NodeInfo, others of equal start in its order. Since v1.37 all
            come out in its order.
        """
        self.settle()
        n_slots = len(self.infos)
        position_of = np.full(n_rows + 1, -1, dtype=np.intp)  # the last one is for free slots, whose row is -1
        position_of[rows] = np.arange(len(rows))
        positions = position_of[self._row[:n_slots]]
        slots = np.flatnonzero((positions >= 0) & (self._priority[:n_slots] < priority))
        start, place = self._start[slots], self._place[slots]
        ties = place if keeps_unstarted else np.where(np.isinf(start), -place, place)
        order = np.lexsort((ties, start, -self._priority[slots], positions[slots]))
        slots = slots[order]
        return PodBatch([], self, slots), positions[slots]

    def rows_of(self, predicate: Callable[[Identity], bool], *, includes_terminating: bool) -> IntVector:
        """The rows of all pods whose identity satisfies a predicate, a row as often as it has such pods."""
        self.settle()
        n_slots = len(self.infos)
        if isinstance(predicate, Selection):
            satisfied = self._identity_columns.selected(predicate)
        else:
            parts = self._identity_parts.values
            satisfied = np.array([part is not None and predicate(part.value) for part in parts], dtype=np.bool_)
        if not np.count_nonzero(satisfied):
            return np.zeros(0, dtype=np.int64)
        wanted = satisfied[self._identity[:n_slots]] & (self._row[:n_slots] >= 0)
        if not includes_terminating:
            wanted &= (self._traits[:n_slots] & Has.DELETION_TIMESTAMP.value) == 0
        rows: IntVector = self._row[:n_slots][wanted]
        return rows

    def priorities(self, slots: Slots) -> IntVector:
        """(slots,) int64."""
        return self._priority[slots]

    def starts(self, slots: Slots) -> FloatVector:
        """(slots,) float64: seconds since 1970, infinite for pods that have not started."""
        return self._start[slots]

    def held(self, slots: Slots, axis: ResourceAxis) -> IntMatrix:
        """(slots, 3 + resources) int64: what each pod holds; see ResourceAxis.held_vector."""
        generations = (self._request_parts.log.generation, axis.log.generation)
        if self._held_generations != generations:
            self._held = self._updated_held(axis)
            self._held_generations = generations
        held: IntMatrix = self._held[self._requests[slots]]
        return held

    def _updated_held(self, axis: ResourceAxis) -> IntMatrix:
        """What pods with each of the parts hold; where the axis is the same, only new parts are looked at."""
        parts, (generation, axis_generation) = self._request_parts, self._held_generations
        changed = parts.log.since(generation) if axis_generation == axis.log.generation else None
        held = np.zeros((len(parts), 3 + len(axis)), dtype=np.int64)
        if changed is not None:
            n_same = min(len(held), len(self._held))
            held[:n_same] = self._held[:n_same]
        for number in range(len(parts)) if changed is None else changed:
            part = parts.values[number] if number < len(parts) else None
            if part is not None:
                held[number] = axis.held_vector(part)
        return held

    def identities(self, slots: Slots) -> tuple[list[Identity], Slots]:
        """The distinct identities of some pods, and (slots,) which of them each has."""
        numbers, inverse = np.unique(self._identity[slots], return_inverse=True)
        parts = [self._identity_parts.value(number) for number in numbers.tolist()]
        return [part.value for part in parts if part is not None], inverse.astype(np.intp)

    def selected(self, slots: Slots, selection: Selection) -> BoolVector:
        """(slots,) which of some pods a selection means."""
        selected: BoolVector = self._identity_columns.selected(selection)[self._identity[slots]]
        return selected

    def n_selecting(self, slots: Slots, selections: Sequence[Selection]) -> IntVector:
        """(slots,) int64: how many selections mean each of some pods."""
        total, _ = self._identity_columns.weighed([(selection, 1) for selection in selections])
        n_selecting: IntVector = total[self._identity[slots]]
        return n_selecting

    def weighed_by_row(self, weighted: Iterable[tuple[Selection, int]], n_rows: int) -> tuple[FloatVector, FloatVector]:
        """Add up on each row the weights of the selections that mean a pod there, for all its pods.

        Returns: (n_rows,) float64 the sums, and (n_rows,) float64 how many weights were added.
        """
        self.settle()
        rows = self._row[: len(self.infos)]
        is_placed = rows >= 0
        rows, identities = rows[is_placed], self._identity[: len(self.infos)][is_placed]
        total, n_added = self._identity_columns.weighed(weighted)
        return (
            np.bincount(rows, weights=total[identities], minlength=n_rows).astype(np.float64),
            np.bincount(rows, weights=n_added[identities], minlength=n_rows).astype(np.float64),
        )

    def having(self, slots: Slots, trait: Has) -> Slots:
        """Which of some pods have something: indices into `slots`, ascending."""
        return np.flatnonzero(self._traits[slots] & trait.value)

    def n_volumes(self, slots: Slots) -> IntVector:
        """(slots,) int64: the attachable volumes of each pod."""
        return self._n_volumes[slots]

    def sizes(self) -> dict[str, int]:
        """Slots, and distinct parts of the pods in them."""
        self.settle()
        return {
            "slots": len(self.infos) - len(self._free),
            "requests": len(self._request_parts),
            "identities": len(self._identity_parts),
            "label values": self._identity_columns.n_values(),
        }

    def settle(self) -> None:
        """Write what was noted."""
        if not self._noted:
            return
        if len(self._free) > len(self.infos) // 2 + _SPARE_SLOTS:
            self._close_ranks()
        if len(self.infos) > len(self._row):
            capacity = 2 * len(self.infos)
            self._row, self._place = grown(self._row, capacity), grown(self._place, capacity)
            self._priority, self._start = grown(self._priority, capacity), grown(self._start, capacity)
            self._traits, self._n_volumes = grown(self._traits, capacity), grown(self._n_volumes, capacity)
            self._requests, self._identity = grown(self._requests, capacity), grown(self._identity, capacity)
        slots = list(self._noted)
        self._noted.clear()
        infos = [self.infos[slot] for slot in slots]
        self._row[slots] = [-1 if info is None else info.node_row for info in infos]
        self._place[slots] = [0 if info is None else info.place for info in infos]
        self._priority[slots] = [0 if info is None else info.priority for info in infos]
        self._start[slots] = [inf if info is None else info.start for info in infos]
        self._traits[slots] = [0 if info is None else _traits(info) for info in infos]
        self._n_volumes[slots] = [0 if info is None else _n_volumes(info) for info in infos]
        requests = [None if info is None else info.requests for info in infos]
        self._requests[slots] = _exchanged(self._request_parts, self._requests[slots], requests)
        identities = [None if info is None else info.identity for info in infos]
        self._identity[slots] = _exchanged(self._identity_parts, self._identity[slots], identities)

    def _close_ranks(self) -> None:
        """Give the pods that are left the first slots: most slots are free, and each costs time and memory."""
        for numbers, parts in ((self._requests, self._request_parts), (self._identity, self._identity_parts)):
            for number in numbers[numbers > 0].tolist():
                parts.release(number)
            numbers[:] = 0
        self.infos = [info for info in self.infos if info is not None]
        self._free.clear()
        for slot, info in enumerate(self.infos):
            if info is not None:
                info.slot = slot
        capacity = max(64, 2 * len(self.infos))
        for name in ("_row", "_place", "_priority", "_start", "_traits", "_n_volumes", "_requests", "_identity"):
            setattr(self, name, getattr(self, name)[:capacity].copy())
        self._noted = set(range(len(self.infos)))


def _exchanged(parts: Interner[Any], old: IntVector, new: Sequence[Part[Any] | None]) -> list[int]:
    """The numbers of the parts that some slots have now; those that they had are given back."""
    numbers = [0 if part is None else parts.hold(part) for part in new]
    for number in old.tolist():
        if number:
            parts.release(number)
    return numbers


class PodBatch:
    """Some pods, as rules ask for them: one by one, or what they have in common as arrays."""

    __slots__ = ("_held", "_infos", "_slots", "_table")

    def __init__(self, infos: Sequence[PodInfo], table: PodTable | None = None, slots: Slots | None = None) -> None:
        self._infos: Sequence[PodInfo] | None = infos if slots is None else None
        self._table = table
        self._slots = slots
        self._held: IntMatrix | None = None

    def __len__(self) -> int:
        return len(self.infos) if self._slots is None else len(self._slots)

    @property
    def is_placed(self) -> bool:
        """Whether all are pods on nodes, found by slot."""
        return self._slots is not None

    @property
    def infos(self) -> Sequence[PodInfo]:
        """The pods, in order."""
        if self._infos is None:
            assert self._table is not None
            assert self._slots is not None
            known = self._table.infos
            self._infos = [info for slot in self._slots.tolist() if (info := known[slot]) is not None]
        return self._infos

    @property
    def priorities(self) -> IntVector:
        """(pods,) int64."""
        if self._table is not None and self._slots is not None:
            return self._table.priorities(self._slots)
        return np.array([info.priority for info in self.infos], dtype=np.int64)

    @property
    def starts(self) -> FloatVector:
        """(pods,) float64: seconds since 1970, infinite for pods that have not started."""
        if self._table is not None and self._slots is not None:
            return self._table.starts(self._slots)
        return np.array([info.start for info in self.infos], dtype=np.float64)

    @classmethod
    def repeated(cls, info: PodInfo, n: int, axis: ResourceAxis) -> "PodBatch":
        """A pending pod n times."""
        batch = cls([info] * n)
        vector = axis.held_vector(info.requests)
        batch._held = np.broadcast_to(vector, (n, len(vector)))
        return batch

    @classmethod
    def joined(cls, batches: Sequence["PodBatch"]) -> "PodBatch":
        """The pods of several batches of one cluster, one after another."""
        slots = [batch._slots for batch in batches if batch._slots is not None]
        if len(slots) == len(batches) and slots:
            return cls([], batches[0]._table, np.concatenate(slots))
        return cls([info for batch in batches for info in batch.infos])

    def chosen(self, which: BoolVector | Slots) -> "PodBatch":
        """Some of these pods, in the order given."""
        if self._table is not None and self._slots is not None:
            return PodBatch([], self._table, self._slots[which])
        known = self.infos
        indices = np.flatnonzero(which) if which.dtype == np.bool_ else which
        return PodBatch([known[i] for i in indices.tolist()])

    def held(self, axis: ResourceAxis) -> IntMatrix:
        """(pods, 3 + resources) int64: what each holds; see ResourceAxis.held_vector."""
        if self._table is not None and self._slots is not None:
            return self._table.held(self._slots, axis)
        if self._held is None or self._held.shape[1] != 3 + len(axis):
            parts: dict[Part[PodRequests], int] = {}
            inverse = [parts.setdefault(info.requests, len(parts)) for info in self.infos]
            self._held = axis.held_matrix(parts)[np.array(inverse, dtype=np.intp)]
        return self._held

    def having(self, trait: Has) -> Slots:
        """Which of these pods have something: indices, ascending."""
        if self._table is not None and self._slots is not None:
            return self._table.having(self._slots, trait)
        return np.array([i for i, info in enumerate(self.infos) if _traits(info) & trait.value], dtype=np.intp)

    @property
    def n_volumes(self) -> IntVector:
        """(pods,) int64: the attachable volumes of each."""
        if self._table is not None and self._slots is not None:
            return self._table.n_volumes(self._slots)
        return np.array([_n_volumes(info) for info in self.infos], dtype=np.int64)

    def identities(self) -> tuple[list[Identity], Slots]:
        """The distinct identities of these pods, and (pods,) which of them each has."""
        if self._table is not None and self._slots is not None:
            return self._table.identities(self._slots)
        parts: dict[Part[Identity], int] = {}
        inverse = [parts.setdefault(info.identity, len(parts)) for info in self.infos]
        return [part.value for part in parts], np.array(inverse, dtype=np.intp)

    def selected(self, selection: Selection) -> BoolVector:
        """(pods,) which of these pods a selection means."""
        if self._table is not None and self._slots is not None:
            return self._table.selected(self._slots, selection)
        return np.array([selection(info.identity.value) for info in self.infos], dtype=np.bool_)

    def n_selecting(self, selections: Sequence[Selection]) -> IntVector:
        """(pods,) int64: how many selections mean each of these pods."""
        if self._table is not None and self._slots is not None:
            return self._table.n_selecting(self._slots, selections)
        identities = [info.identity.value for info in self.infos]
        return np.array([sum(one(identity) for one in selections) for identity in identities], dtype=np.int64)
