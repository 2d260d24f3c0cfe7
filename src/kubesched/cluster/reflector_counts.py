"""Counters of a reflector, and the reasons why its lists and watches end."""

import enum

import msgspec


class Restart(enum.Enum):
    """Why a list or watch ended."""

    CLOSED = "closed"
    """The server ended the watch, as it was asked to."""
    CUT = "cut"
    """The connection broke, or could not be made, or there was no answer in time."""
    IDLE = "idle"
    """The watch sent no event and no bookmark for too long."""
    EXPIRED = "expired"
    """The resource version, or the list's next page, was too old."""
    REFUSED = "refused"
    """401, 403 or 429, or there were no credentials."""
    ABSENT = "absent"
    """An optional kind that the server does not have."""
    FAILED = "failed"
    """Any other error."""


class ReflectorCounts(msgspec.Struct):
    """What a reflector has done, for metrics.

    Attributes:
        lists, watches: how many were begun.
        events: changes that the sink got.
        bookmarks: how many were read.
        skipped: objects that did not decode.
        restarts: ends of lists and watches by reason.
    """

    lists: int = 0
    watches: int = 0
    events: int = 0
    bookmarks: int = 0
    skipped: int = 0
    restarts: dict[Restart, int] = msgspec.field(default_factory=lambda: dict.fromkeys(Restart, 0))
