"""The last lines of a report about what would happen: how old the snapshot is, and what is not modelled."""

from datetime import UTC, datetime
from typing import Final

__all__ = ["NOT_MODELLED", "limits"]

NOT_MODELLED: Final = "Not modelled: autoscalers, the timing of controllers, and resource claims."

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
    seconds = ((now or datetime.now(UTC)) - taken_at).total_seconds()
    return (f"The snapshot was taken {_age(seconds)}, at {taken_at:%Y-%m-%d %H:%M} UTC.", NOT_MODELLED, *own)


def _age(seconds: float) -> str:
    for length, name in _STEPS:
        n = int(seconds // length)
        if n >= 1:
            return f"{n} {name}{'' if n == 1 else 's'} ago"
    return "less than a minute ago"
