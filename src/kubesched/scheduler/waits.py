"""Conditions that binding cycles wait for: checked when something that they read changes.

There is no polling. `note` takes what happened and costs a lookup where no cycle waits for it; `look` asks the
conditions that it concerns, each once, however much happened. A condition that still does not hold may read other
objects from then on: those that the changed ones name. Time is the driver's: it ends a wait with `end`.
"""

from collections.abc import Callable

from kubesched.api import WatchEvent
from kubesched.framework import HOOK_FAULTS, ObjectName
from kubesched.scheduler.suspension import WaitRequest

Wake = Callable[[bool, BaseException | None], None]
"""Told once: whether the condition holds, or what asking it raised."""

_ANYTHING: tuple[ObjectName, ...] = ("",)


class Waits:
    """The conditions of some binding cycles."""

    def __init__(self) -> None:
        self._pending: dict[WaitRequest, Wake] = {}
        self._filed: dict[WaitRequest, tuple[ObjectName, ...]] = {}  # under what each one is in `_readers`
        self._readers: dict[ObjectName, dict[WaitRequest, None]] = {}  # what is read -> by whom
        self._concerned: dict[WaitRequest, None] = {}

    def __len__(self) -> int:
        """How many conditions are waited for."""
        return len(self._pending)

    def begin(self, request: WaitRequest, wake: Wake) -> None:
        """Wait for a condition from now on. It has been looked at, and did not hold.

        If naming what it reads fails, `wake` gets the fault at once.
        """
        try:
            names = request.names()
        except HOOK_FAULTS as fault:
            wake(False, fault)
            return
        self._pending[request] = wake
        self._file(request, names)

    def end(self, request: WaitRequest) -> None:
        """Wait for a condition no longer. One that is not waited for is ignored."""
        if self._pending.pop(request, None) is None:
            return
        self._concerned.pop(request, None)
        self._unfile(request)

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
                if not holds:
                    self._file_again(request)
            except HOOK_FAULTS as fault:
                holds, error = False, fault
            if holds or error is not None:
                self.end(request)
                wake(holds, error)

    def _file(self, request: WaitRequest, names: tuple[ObjectName, ...]) -> None:
        self._filed[request] = names or _ANYTHING
        for name in self._filed[request]:
            self._readers.setdefault(name, {})[request] = None

    def _unfile(self, request: WaitRequest) -> None:
        for name in self._filed.pop(request):
            readers = self._readers[name]
            del readers[request]
            if not readers:
                del self._readers[name]

    def _file_again(self, request: WaitRequest) -> None:
        names = request.names()
        if (names or _ANYTHING) != self._filed[request]:
            self._unfile(request)
            self._file(request, names)
