"""The last lines of a report about what would happen: how old the snapshot is, and what is not modelled."""

from datetime import UTC, datetime
from typing import Final

NOT_MODELLED: Final = "Not modelled: autoscalers and the timing of controllers."

_STEPS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def limits(
    taken_at: datetime | None = None, now: datetime | None = None, *, own: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The limits of a page.

    Args:
        taken_at: when the snapshot was taken; None where that is not known.
        now: by default the present.
        own: what else this report does not model, one sentence each.
    """
    if taken_at is None:
        return (NOT_MODELLED, *own)
    return (f"The {age_sentence(taken_at, now)}.", NOT_MODELLED, *own)


def age_sentence(taken_at: datetime, now: datetime | None = None) -> str:
    """When a snapshot was taken: `snapshot was taken 2 hours ago, at 2026-11-23 10:00 UTC`."""
    seconds = ((now or datetime.now(UTC)) - taken_at).total_seconds()
    return f"snapshot was taken {_age(seconds)}, at {taken_at:%Y-%m-%d %H:%M} UTC"


def _age(seconds: float) -> str:
    """In the largest unit of which there are two."""
    for length, name in _STEPS:
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {name}s ago"
    return "less than 2 minutes ago"
