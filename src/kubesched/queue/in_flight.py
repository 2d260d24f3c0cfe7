"""Pods in flight, and the cluster events that arrived during their attempt."""

from collections import Counter, OrderedDict, deque
from itertools import islice
from typing import NamedTuple

from kubesched.api import ClusterEvent, KubeObject


class RecordedEvent(NamedTuple):
    """An event with the object it is about, before and after."""

    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None


class InFlight:
    """An attempt sees the cluster as it was when the pod was popped; what came later is replayed if the attempt fails.

    Rule: kube-scheduler v1.36 inFlightPods and inFlightEvents. Events are counted from the first ever recorded; a pod
    remembers the count at which it was popped, and no event from before the pod popped longest ago is kept.
    """

    def __init__(self) -> None:
        # uid -> number of its first event, in order of both; a plain dict searches for its first entry after removals
        self._popped: OrderedDict[str, int] = OrderedDict()
        self._events: deque[RecordedEvent] = deque()
        self._first = 0  # number of the event at the head of _events

    def __len__(self) -> int:
        """How many pods are in flight."""
        return len(self._popped)

    def __contains__(self, uid: str) -> bool:
        return uid in self._popped

    def begin(self, uid: str) -> bool:
        """Note that the pod's attempt begins now. Returns: false, and notes nothing, if it is in flight already."""
        if uid in self._popped:
            return False
        self._popped[uid] = self._first + len(self._events)
        return True

    def record(self, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None) -> None:
        """Keep an event for the pods in flight, if there are any."""
        if self._popped:
            self._events.append(RecordedEvent(event, old, new))

    def events_since(self, uid: str) -> list[RecordedEvent]:
        """The events since the pod was popped, in the order they came. Later ones do not appear in the list."""
        return list(islice(self._events, self._popped[uid] - self._first, None))

    def done(self, uid: str) -> None:
        """Forget the pod, and the events that no other pod needs. A pod that is not in flight is ignored."""
        if self._popped.pop(uid, None) is None:
            return
        needed = next(iter(self._popped.values()), self._first + len(self._events))
        while self._first < needed:
            self._events.popleft()
            self._first += 1

    def count_events(self) -> dict[str, int]:
        """How many of each label are kept, and under `PodPopped` how many pods are in flight.

        Threads other than the queue's may ask, too.
        """
        events = list(self._events)  # in one step
        return dict(Counter(recorded.event.label for recorded in events)) | {"PodPopped": len(self._popped)}

    def check_invariants(self) -> None:
        """Assert that exactly the events that some pod needs are kept."""
        starts = list(self._popped.values())
        assert starts == sorted(starts)
        assert all(self._first <= start <= self._first + len(self._events) for start in starts)
        assert starts[:1] == [self._first] if starts else not self._events
