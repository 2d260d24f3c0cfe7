"""Events whose queueing hints have not all been asked, and the pods that they help.

One event may concern twenty thousand pods. Hints are asked and pods moved in steps, and between any two of them the
queue can be used: pods are popped, come and go. An event concerns the pods that were unschedulable when it came and
still are; a pod that became so later was tried on the newer state.
"""

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, Final

from kubesched.api import ClusterEvent, KubeObject, Pod
from kubesched.framework import PodQueue, QueuedPodInfo
from kubesched.queue.requeueing import UNTOLD, HintRule, QueueingStrategy, RequeueingTable
from kubesched.queue.unschedulable import Group, UnschedulablePods

_MOST_EVENTS: Final = 1000
_MOST_VERSIONS: Final = 8
_CHUNK: Final = 20  # pods that are looked at in one step: they cost less than a question
_SPARE: Final = 64  # pods that left and may be kept, beyond as many as wait

Move = Callable[[QueuedPodInfo, QueueingStrategy, str, float], None]
"""(pod, strategy other than SKIP, label of the event, now) moves an unschedulable pod."""


class PendingEvent:
    """An event whose hints have not all been asked.

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
        a later one. Returns: false where there are too many such states, or a selection of pods; then nothing is taken.
        """
        if self.pre_check is not None or later.pre_check is not None:
            return False
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
        return info.place is PodQueue.UNSCHEDULABLE and 0 < info.entry <= self._versions[-1][0]


class Backlog:
    """Asks queueing hints about unschedulable pods, event by event, and moves the pods that an event may help.

    Changes of one object that wait are one: its newest state counts. More than a thousand waiting events make the
    caller that adds another one wait. Pods are moved in the order of the active queue.

    Args:
        pods: the unschedulable pods.
        table: what the plugins registered.
        sort_key: the order of the active queue.
        move: moves a pod that an event may help.
    """

    def __init__(
        self,
        pods: UnschedulablePods,
        table: RequeueingTable,
        sort_key: Callable[[QueuedPodInfo], Any],
        move: Move,
    ) -> None:
        self._pods = pods
        self._table = table
        self._sort_key = sort_key
        self._move = move
        self._events: deque[PendingEvent] = deque()
        self._changes: dict[tuple[ClusterEvent, str], PendingEvent] = {}  # updates of objects, not begun
        self._questions: Iterator[None] | None = None  # of the first event, once begun
        self._helped: dict[int, QueueingStrategy] = {}  # by entry
        self._order: list[tuple[Any, int, QueuedPodInfo, PendingEvent]] = []  # the same as a heap
        self._is_busy = False

    def __bool__(self) -> bool:
        """Whether there are any; asked before each pod."""
        return bool(self._events or self._order or self._questions is not None)

    def __len__(self) -> int:
        """How many events and pods are not done."""
        return len(self._events) + (self._questions is not None) + len(self._order)

    def add(self, pending: PendingEvent) -> None:
        """Take an event."""
        if pending.old is not None and pending.new is not None:
            change = (pending.event, pending.key)
            known = self._changes.get(change)
            if known is not None and known.renew(pending):
                return
            self._changes[change] = pending
        self._events.append(pending)
        while len(self._events) > _MOST_EVENTS and self._ask():
            pass

    def work(self, now: float, n_steps: float = math.inf, is_late: Callable[[], bool] = lambda: False) -> None:
        """Ask some questions, and move as many pods, or all. A hook that calls the queue again changes nothing here.

        Both end early when `is_late` says so; at least one step of each is done.

        Questions take no steps from moves: where events come faster than they are asked about, pods would never move.
        """
        if self._is_busy:
            return
        n_questions = n_moves = n_steps
        while n_questions > 0 and self._ask() and not is_late():
            n_questions -= 1
        while n_moves > 0 and self._order:
            self._move_first(now)
            n_moves = 0 if is_late() else n_moves - 1

    def check_invariants(self) -> None:
        """Assert that each pod that is helped will be moved, and that what waits can be found."""
        assert self._helped.keys() == {entry for _, entry, _, _ in self._order}
        assert len(self._helped) == len(self._order)
        assert set(self._changes.values()) <= set(self._events)
        assert len(self._events) <= _MOST_EVENTS
        assert all(not self._order[i] < self._order[(i - 1) // 2] for i in range(1, len(self._order)))

    def _ask(self) -> bool:
        """Do one step of asking. Returns: whether there was one to do."""
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
        """Ask all that the plugins registered for an event: in steps of a hint, or of a few pods to look at."""
        if self._changes.get((pending.event, pending.key)) is pending:
            del self._changes[pending.event, pending.key]
        if pending.pods is not None or pending.event.is_wildcard:
            for some in _chunks(list(self._pods if pending.pods is None else pending.pods)):
                for info in some:
                    self._ask_alone(info, pending)
                yield
            return
        own = self._pods.find(pending.key) if isinstance(pending.new or pending.old, Pod) else None
        if own is not None:
            self._ask_alone(own, pending)
        for rules in self._table.interest(pending.event).rules.values():
            for rule in rules:
                for name in self._groups(rule, pending):
                    group = self._pods.group(rule, name)
                    if group is not None and not group.is_helped:
                        each = name is UNTOLD or rule.by_object
                        yield from (self._ask_each if each else self._ask_once)(rule, group, pending, own)

    def _groups(self, rule: HintRule, pending: PendingEvent) -> list[Hashable]:
        """The groups that the object of an event may help: all, unless they are named by keys."""
        if not rule.by_object:
            return self._pods.groups(rule)
        names: dict[Hashable, None] = {}
        for thing in (pending.new, *(old for _, _, old in pending.changes())):
            keys = () if thing is None else rule.groups_of(thing)
            if keys is None:
                return self._pods.groups(rule)
            names |= dict.fromkeys(keys)
        return [*names, UNTOLD]

    def _ask_alone(self, info: QueuedPodInfo, pending: PendingEvent) -> None:
        """Ask all that rejected a pod about it."""
        if pending.concerns(info):
            strategy = self._table.strategy(info, pending.event, pending.old, pending.new)
            if strategy is not QueueingStrategy.SKIP:
                self._note(info, strategy, pending)

    def _ask_each(
        self, rule: HintRule, group: Group, pending: PendingEvent, own: QueuedPodInfo | None
    ) -> Iterator[None]:
        """Ask a rule about each pod of a group but the one that the event is about."""
        for info in list(group.pods.values()):
            for after, upto, old in pending.changes():
                if after < info.entry <= upto and info is not own and rule.helps(info.pod, old, pending.new):
                    self._note(info, _strategy(rule, info), pending)
            yield

    def _ask_once(
        self, rule: HintRule, group: Group, pending: PendingEvent, own: QueuedPodInfo | None
    ) -> Iterator[None]:
        """The same for pods that get one answer: once for each state of the object that they compare with."""
        is_last = own is None
        for after, upto, old in pending.changes():
            first = next((one for one in group.pods.values() if after < one.entry <= upto and one is not own), None)
            helps = first is not None and rule.helps(first.pod, old, pending.new)
            yield
            is_last = is_last and helps
            for some in _chunks(list(group.pods.values()) if helps else []):
                for info in some:
                    if after < info.entry <= upto and info is not own:
                        self._note(info, _strategy(rule, info), pending)
                yield
        group.is_helped = is_last and all(
            info.entry in self._helped and not info.pending_plugins for info in group.pods.values()
        )

    def _note(self, info: QueuedPodInfo, strategy: QueueingStrategy, pending: PendingEvent) -> None:
        """Note that a pod is to be moved, unless the event does not mean it."""
        if not pending.concerns(info) or not self._is_meant(info, pending):
            return
        before = self._helped.get(info.entry)
        if before is None:
            self._forget_gone()
            heappush(self._order, (self._sort_key(info), info.entry, info, pending))
        if before is not QueueingStrategy.IMMEDIATELY:
            self._helped[info.entry] = strategy

    def _move_first(self, now: float) -> None:
        """Move the first of the pods that are helped, unless it has left."""
        _, entry, info, pending = heappop(self._order)
        strategy = self._helped.pop(entry)
        if info.entry == entry and info.place is PodQueue.UNSCHEDULABLE:
            self._move(info, strategy, self._table.interest(pending.event).label, now)

    def _forget_gone(self) -> None:
        """Let go of pods that left before they were moved, once they are the most."""
        if len(self._order) > 2 * len(self._pods) + _SPARE:
            self._order = [one for one in self._order if one[2].entry == one[1]]
            heapify(self._order)
            self._helped = {entry: self._helped[entry] for _, entry, _, _ in self._order}

    def _is_meant(self, info: QueuedPodInfo, pending: PendingEvent) -> bool:
        passes = pending.pre_check is None or pending.pre_check(info.pod)
        return passes and self._table.may_ungate(info, pending.event)


def _strategy(rule: HintRule, info: QueuedPodInfo) -> QueueingStrategy:
    is_pending = rule.plugin in info.pending_plugins
    return QueueingStrategy.IMMEDIATELY if is_pending else QueueingStrategy.AFTER_BACKOFF


def _chunks(infos: list[QueuedPodInfo]) -> Iterator[list[QueuedPodInfo]]:
    return (infos[start : start + _CHUNK] for start in range(0, len(infos), _CHUNK))
