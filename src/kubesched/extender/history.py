"""The last calls, for `/inspect`."""

from collections import deque
from typing import Final

import msgspec

from kubesched.extender.answer import Answer

_N_KEPT: Final = 200


class Call(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One call as `/inspect` shows it.

    Attributes:
        at: when it was answered, seconds since 1970.
        milliseconds: from its headers to its answer.
    """

    at: float
    verb: str
    pod: str
    nodes_offered: int
    nodes_kept: int
    milliseconds: float
    error: str = ""
    plugin: str = ""


class History:
    """A window over the calls."""

    def __init__(self) -> None:
        self._calls: deque[tuple[float, float, str, Answer]] = deque(maxlen=_N_KEPT)

    def note(self, verb: str, answer: Answer, seconds: float, now: float) -> None:
        """Remember one call, but not what it answered."""
        answer.pieces = ()
        self._calls.append((now, seconds, verb, answer))

    def latest(self) -> list[Call]:
        """The calls, newest first."""
        return [
            Call(
                round(now, 3),
                verb,
                answer.pod,
                answer.n_offered,
                answer.n_kept,
                round(seconds * 1000, 3),
                answer.error,
                answer.plugin,
            )
            for now, seconds, verb, answer in reversed(self._calls)
        ]
