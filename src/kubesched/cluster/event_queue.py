"""The events that wait to be written: a bounded queue in which the least important one makes room for the others."""

from collections import deque
from enum import IntEnum
from typing import Generic, Protocol, TypeVar

from kubesched.framework import RecordEvent


class EventRank(IntEnum):
    """How important an event is: a higher one is written first and discarded last."""

    PLUGIN = 0
    FAILURE = 1
    PLACEMENT = 2


class _Ranked(Protocol):
    rank: EventRank


T = TypeVar("T", bound=_Ranked)


def rank_of(event: RecordEvent) -> EventRank:
    """The rank of an event: a placement or an eviction is final, a failed attempt is repeated."""
    if event.is_of_plugin:
        return EventRank.PLUGIN
    return EventRank.FAILURE if event.type == "Warning" else EventRank.PLACEMENT


class EventQueue(Generic[T]):
    """A queue of at most `limit` entries; by rank, and the oldest first within a rank."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: tuple[deque[T], ...] = tuple(deque() for _ in EventRank)

    def __len__(self) -> int:
        return sum(map(len, self._entries))

    @property
    def is_full(self) -> bool:
        """Whether the next entry displaces one."""
        return len(self) >= self._limit

    def push(self, entry: T) -> T | None:
        """Add an entry.

        Returns: the entry that does not wait any more: the oldest of the lowest rank, which may be the new one.
        """
        is_full = self.is_full
        self._entries[entry.rank].append(entry)
        return next(entries.popleft() for entries in self._entries if entries) if is_full else None

    def pop(self) -> T:
        """Take the entry that is written next.

        Raises:
            IndexError: there is none.
        """
        return next((entries for entries in reversed(self._entries) if entries), self._entries[0]).popleft()
