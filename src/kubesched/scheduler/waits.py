"""Conditions that binding cycles wait for: checked when something that they read changes.

There is no polling. `note` takes what happened and costs a lookup where no cycle waits for it; `look` asks the
conditions that it concerns, each once, however much happened. Time is the driver's: it ends a wait with `end`.
"""

from collections.abc import Callable

from kubesched.api import WatchEvent
from kubesched.framework import HOOK_FAULTS, ObjectName
from kubesched.scheduler.suspension import WaitRequest

__all__ = ["Waits", "Wake"]

Wake = Callable[[bool, BaseException | None], None]
"""Told once: whether the condition holds, or what asking it raised."""

_ANYTHING: tuple[ObjectName, ...] = ("",)


class Waits:
    """The conditions of some binding cycles."""

    def __init__(self) -> None:
        self._pending: dict[WaitRequest, Wake] = {}
        self._readers: dict[ObjectName, dict[WaitRequest, None]] = {}  # what is read -> by whom
        self._concerned: dict[WaitRequest, None] = {}

    def __len__(self) -> int:
        """How many conditions are waited for."""
        return len(self._pending)

    def begin(self, request: WaitRequest, wake: Wake) -> None:
        """Wait for a condition from now on. It has been looked at, and did not hold."""
        self._pending[request] = wake
        for name in request.reads or _ANYTHING:
            self._readers.setdefault(name, {})[request] = None

    def end(self, request: WaitRequest) -> None:
        """Wait for a condition no longer. One that is not waited for is ignored."""
        if self._pending.pop(request, None) is None:
            return
        self._concerned.pop(request, None)
        for name in request.reads or _ANYTHING:
            del self._readers[name][request]
            if not self._readers[name]:
                del self._readers[name]

    def note(self, event: WatchEvent) -> None:
        """Take in what happened."""
        if self._pending:
            for name in ("", event.kind, (event.kind, event.object.key)):
                self._concerned.update(self._readers.get(name, ()))

    def look_at(self, request: WaitRequest) -> None:
        """Ask the condition of a request now; one that is not waited for is ignored."""
        self._concerned[request] = None
        self.look()

    def look(self) -> None:
        """Ask the conditions that something noted concerns, and wake those that hold or fail."""
        if not self._concerned:
            return
        concerned, self._concerned = self._concerned, {}
        for request in concerned:
            wake = self._pending.get(request)
            if wake is None:
                continue
            try:
                holds, error = bool(request.condition()), None
            except HOOK_FAULTS as fault:
                holds, error = False, fault
            if holds or error is not None:
                self.end(request)
                wake(holds, error)
