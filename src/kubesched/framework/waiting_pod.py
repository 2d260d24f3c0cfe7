"""A pod that a Permit plugin delays: data with deadlines, no timers.

Rule: kube-scheduler v1.36 waiting pods: a deadline per plugin, at most 15 minutes; allowed when every plugin allowed
it; the first rejection or deadline rejects it.
"""

import logging
from collections.abc import Callable
from math import inf
from typing import Final

from kubesched.api import Pod
from kubesched.framework.fault_texts import located_line
from kubesched.framework.status import HOOK_FAULTS, Status

MAX_PERMIT_SECONDS: Final = 15 * 60.0
_LOG: Final = logging.getLogger("kubesched.plugin")


class WaitingPod:
    """One pod in Permit.

    Attributes:
        pod: the pod, assumed.
        deadlines: plugin -> (when it rejects by itself, after how many seconds of waiting).
        status: SUCCESS or the rejection, once decided; else None.

    Example:
        waiting = WaitingPod(make_pod("web"), {"Gang": 30}, now=0)
        waiting.advance(now=30)
        assert waiting.status.message == "rejected due to timeout after waiting 30s at plugin Gang"
    """

    __slots__ = ("_told", "deadlines", "pod", "status")

    def __init__(self, pod: Pod, waits: dict[str, float], now: float) -> None:
        self.pod = pod
        capped = {name: min(seconds, MAX_PERMIT_SECONDS) for name, seconds in waits.items()}
        self.deadlines = {name: (now + seconds, seconds) for name, seconds in capped.items()}
        self.status: Status | None = None
        self._told: list[Callable[[Status], None]] = []

    def on_decided(self, tell: Callable[[Status], None]) -> None:
        """Call this once with the status: as soon as there is one."""
        if self.status is None:
            self._told.append(tell)
        else:
            tell(self.status)

    @property
    def pending_plugins(self) -> list[str]:
        """Plugins that have not allowed the pod yet."""
        return list(self.deadlines)

    def allow(self, plugin: str) -> None:
        """Let the pod go on as far as this plugin is concerned; it is bound when every plugin has allowed it."""
        self.deadlines.pop(plugin, None)
        if not self.deadlines:
            self._decide(Status.SUCCESS)

    def reject(self, plugin: str, message: str) -> None:
        """Reject the pod in the name of a plugin; the message is the reason."""
        self._decide(Status.unschedulable(message).by(plugin))

    def _decide(self, status: Status) -> None:
        if self.status is None:
            self.status = status
            for tell in self._told:
                try:
                    tell(status)
                except HOOK_FAULTS as error:  # a plugin's; the others want to know, too
                    _LOG.warning("on_decided of pod %s: %s", self.pod.key, located_line(error))

    @property
    def deadline(self) -> float:
        """When the first plugin rejects it by itself; infinite once all have allowed it."""
        return min((when for when, _ in self.deadlines.values()), default=inf)

    def advance(self, now: float) -> None:
        """Reject it when a plugin's time is over."""
        for plugin, (when, seconds) in list(self.deadlines.items()):
            if when <= now and self.status is None:
                self.reject(plugin, f"rejected due to timeout after waiting {seconds:g}s at plugin {plugin}")
