"""Events on their way to the pods that wait for them.

One event may concern twenty thousand pods. It is put to them in steps, a hint asked or a pod moved, and between any two
of them the queue can be used: pods are popped, come and go. What holds is what held when the event came: it concerns
the pods that waited then and have waited since. A pod that came to wait later was tried on the newer state.
"""

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, Final

from kubesched.api import ClusterEvent, EventResource, KubeObject, Pod
from kubesched.framework import Place, QueuedPodInfo
from kubesched.queue.requeueing import UNTOLD, QueueingStrategy, RequeueingTable, Rule
from kubesched.queue.unschedulable import UnschedulablePods

__all__ = ["Backlog", "PendingEvent"]

_MOST_EVENTS: Final = 1000
_MOST_VERSIONS: Final = 8
_CHUNK: Final = 20  # pods that are noted in one step: they cost less than a question

Answer = tuple[QueuedPodInfo, QueueingStrategy]

Move = Callable[[QueuedPodInfo, QueueingStrategy, str, float], None]
"""(pod, strategy other than SKIP, label of the event, now) moves an unschedulable pod."""


class PendingEvent:
    """An event that was not put to all pods yet.

    Args:
        event, old, new: what happened.
        last_entry: of the pods that waited then.
        pre_check: selects the pods that it may concern, None for all.
        pods: the only ones that it concerns; None where the plugins' registrations say that.
    """

    def __init__(
        self,
        event: ClusterEvent,
        old: KubeObject | None,
        new: KubeObject | None,
        last_entry: int,
        pre_check: Callable[[Pod], bool] | None = None,
        pods: Iterable[QueuedPodInfo] | None = None,
    ) -> None:
        self.event = event
        self.new = new
        self.pre_check = pre_check
        self.pods = pods
        self._versions = [(last_entry, old)]  # up to which entry the object was what before, in order

    @property
    def old(self) -> KubeObject | None:
        """The object before the first of the changes."""
        return self._versions[0][1]

    @property
    def key(self) -> str:
        """The key of the object that the event is about; empty for none."""
        about = self.new or self.old
        return "" if about is None else about.key

    def renew(self, later: "PendingEvent") -> bool:
        """Take in the next change of the same kind of the object: pods are asked about its newest state alone.

        Each pod compares with the state that it was rejected in: those that came to wait since the first change, with
        a later one. Returns: false where there are too many such states; then nothing is taken.
        """
        if self._versions[-1][0] < later._versions[0][0]:
            if len(self._versions) == _MOST_VERSIONS:
                return False
            self._versions += later._versions
        self.new = later.new
        return True

    def changes(self) -> Iterator[tuple[int, int, KubeObject | None]]:
        """After and up to which entry of pods, and the object before."""
        entries = [0, *(entry for entry, _ in self._versions)]
        for (after, upto), (_, old) in zip(pairwise(entries), self._versions, strict=True):
            yield after, upto, old

    def concerns(self, info: QueuedPodInfo) -> bool:
        """Whether the pod waited when the event came."""
        return info.place is Place.UNSCHEDULABLE and 0 < info.entry <= self._versions[-1][0]


class Backlog:
    """Puts events to the unschedulable pods in the order in which the events came, and moves the pods that they help.

    Changes of one node that wait are one: its newest state counts. More than a thousand waiting events make the caller
    that adds another one wait. Pods are moved in the order of the active queue, some at a time: a pod that comes now
    does not wait for thousands that are tried again.

    Args:
        pods: the unschedulable pods.
        table: what the plugins registered.
        sort_key: the order of the active queue.
        has_turn: whether one more pod may be moved now.
        move: moves a pod that an event may help.
    """

    def __init__(
        self,
        pods: UnschedulablePods,
        table: RequeueingTable,
        sort_key: Callable[[QueuedPodInfo], Any],
        has_turn: Callable[[], bool],
        move: Move,
    ) -> None:
        self._pods = pods
        self._table = table
        self._sort_key = sort_key
        self._has_turn = has_turn
        self._move = move
        self._events: deque[PendingEvent] = deque()
        self._changes: dict[tuple[ClusterEvent, str], PendingEvent] = {}  # of nodes, not begun
        self._questions: Iterator[None] | None = None  # of the first event, once begun
        self._helped: dict[int, QueueingStrategy] = {}  # by entry
        self._order: list[tuple[Any, int, QueuedPodInfo, PendingEvent]] = []  # the same as a heap
        self._is_busy = False

    def __len__(self) -> int:
        """How many events and pods are not done."""
        return len(self._events) + (self._questions is not None) + len(self._order)

    def add(self, pending: PendingEvent) -> None:
        """Take an event."""
        if pending.event.resource is EventResource.NODE and pending.new is not None:
            change = (pending.event, pending.key)
            known = self._changes.get(change)
            if known is not None and known.renew(pending):
                return
            self._changes[change] = pending
        self._events.append(pending)
        while len(self._events) > _MOST_EVENTS and self._ask():
            pass

    def work(self, now: float, n_steps: float = math.inf) -> None:
        """Ask some hints, and move as many pods, or all for which there is room.

        Questions take no steps from moves: where events come faster than they are asked about, pods would never move.
        """
        n_questions = n_moves = n_steps
        while n_questions > 0 and self._ask():
            n_questions -= 1
        while n_moves > 0 and self._order and self._has_turn():
            self._move_first(now)
            n_moves -= 1

    def _ask(self) -> bool:
        """Ask a hint. Returns: whether there was one to ask. A hook that comes back here does nothing."""
        if self._is_busy or not (self._questions or self._events):
            return False
        self._is_busy = True
        try:
            self._questions = self._questions or self._begun(self._events.popleft())
            if next(self._questions, self) is self:
                self._questions = None
        except BaseException:  # Ctrl-C in a hook
            self._questions = None
            raise
        finally:
            self._is_busy = False
        return True

    def _begun(self, pending: PendingEvent) -> Iterator[None]:
        """The questions of an event."""
        if self._changes.get((pending.event, pending.key)) is pending:
            del self._changes[pending.event, pending.key]
        for helped in self._answers(pending):
            for info, strategy in helped:
                if self._is_meant(info, pending):
                    self._note(info, strategy, pending)
            yield

    def _note(self, info: QueuedPodInfo, strategy: QueueingStrategy, pending: PendingEvent) -> None:
        before = self._helped.get(info.entry)
        if before is None:
            heappush(self._order, (self._sort_key(info), info.entry, info, pending))
        if before is not QueueingStrategy.IMMEDIATELY:
            self._helped[info.entry] = strategy

    def _move_first(self, now: float) -> None:
        """Move the first of the pods that are helped, unless it has left."""
        _, entry, info, pending = heappop(self._order)
        strategy = self._helped.pop(entry)
        if info.entry == entry and info.place is Place.UNSCHEDULABLE:
            self._move(info, strategy, self._table.interest(pending.event).label, now)

    def _is_meant(self, info: QueuedPodInfo, pending: PendingEvent) -> bool:
        passes = pending.pre_check is None or pending.pre_check(info.pod)
        return passes and self._table.may_ungate(info, pending.event)

    def _answers(self, pending: PendingEvent) -> Iterator[list[Answer]]:
        """The pods that each question found."""
        if pending.pods is not None or pending.event.is_wildcard:
            infos = self._pods if pending.pods is None else pending.pods
            yield [answer for info in infos if pending.concerns(info) for answer in self._asked_alone(info, pending)]
            return
        own = self._pods.find(pending.key) if isinstance(pending.new or pending.old, Pod) else None
        if own is not None and pending.concerns(own):
            yield self._asked_alone(own, pending)
        for rules in self._table.interest(pending.event).rules.values():
            for rule in rules:
                for tab in self._tabs(rule, pending):
                    yield from self._asked(rule, tab, pending, own)

    def _asked_alone(self, info: QueuedPodInfo, pending: PendingEvent) -> list[Answer]:
        """Ask all that rejected a pod about it."""
        strategy = self._table.strategy(info, pending.event, pending.old, pending.new)
        return [] if strategy is QueueingStrategy.SKIP else [(info, strategy)]

    def _tabs(self, rule: Rule, pending: PendingEvent) -> list[Hashable]:
        tabs = self._tabs_of_keys(rule, pending) if rule.by_object else self._pods.tabs(rule)
        return [tab for tab in tabs if self._pods.under(rule, tab)]

    def _tabs_of_keys(self, rule: Rule, pending: PendingEvent) -> list[Hashable]:
        """The tabs of the keys that the object of an event has, in the order found; all where that is not known."""
        found: dict[Hashable, None] = {}
        for thing in (pending.new, *(old for _, _, old in pending.changes())):
            keys = () if thing is None else rule.keys_of(thing)
            if keys is None:
                return self._pods.tabs(rule)
            found |= dict.fromkeys(keys)
        return [*found, UNTOLD]

    def _asked(
        self, rule: Rule, tab: Hashable, pending: PendingEvent, own: QueuedPodInfo | None
    ) -> Iterator[list[Answer]]:
        """Ask a rule about the pods of a tab, other than the one that the event is about."""
        for after, upto, old in pending.changes():
            pods = self._pods.under(rule, tab).values()
            meant = (info for info in pods if after < info.entry <= upto and info is not own)
            if tab is UNTOLD or rule.by_object:
                for info in list(meant):
                    helps = pending.concerns(info) and rule.helps(info.pod, old, pending.new)
                    yield [(info, _strategy(rule, info))] if helps else []
            elif (first := next(meant, None)) is not None and rule.helps(first.pod, old, pending.new):
                yield from self._in_chunks(rule, (first, *meant))
            else:
                yield []

    def _in_chunks(self, rule: Rule, infos: Iterable[QueuedPodInfo]) -> Iterator[list[Answer]]:
        """The pods that a rule helps and that are not waiting for their turn already."""
        new = [info for info in infos if info.entry not in self._helped or info.pending_plugins]
        yield []
        for start in range(0, len(new), _CHUNK):
            yield [(info, _strategy(rule, info)) for info in new[start : start + _CHUNK]]


def _strategy(rule: Rule, info: QueuedPodInfo) -> QueueingStrategy:
    is_pending = rule.plugin in info.pending_plugins
    return QueueingStrategy.IMMEDIATELY if is_pending else QueueingStrategy.AFTER_BACKOFF
