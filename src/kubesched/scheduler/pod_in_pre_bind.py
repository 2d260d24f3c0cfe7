"""A pod whose PreBind plugins run: preemption ends that in memory, and does not delete the pod.

Rule: kube-scheduler v1.36.3 (observed): the victim's attempt fails with `preempted by DefaultPreemption`. It returns to
the queue and is tried again after its backoff.
"""

from collections.abc import Coroutine
from typing import Any

from kubesched.framework import Status
from kubesched.scheduler.suspension import Request, WaitRequest, drive, suspend
from kubesched.scheduler.waits import Waits


class _Preempted(Exception):
    """Ends what a plugin awaits."""


class PodInPreBind:
    """Runs the PreBind plugins of one pod, until someone cancels it."""

    _is_running = False
    _message = ""
    _waits_for: WaitRequest | None = None

    def cancel(self, message: str, waits: Waits) -> bool:
        """End PreBind. What it waits for is given up at once; a write under way is awaited first.

        Args:
            message: why; what the pod's event and condition say.
            waits: where the driver enters what the pod waits for.
        Returns: whether PreBind was running.
        """
        if not self._is_running:
            return False
        self._message = self._message or message
        if self._waits_for is not None:
            waits.look_at(self._waits_for)
        return True

    async def run(self, what: str, call: Coroutine[Any, Any, Status]) -> Status:
        """Run one plugin.

        Args:
            what: is being done, such as `running PreBind plugin "X"`.
        Returns: what the plugin returned, or why it was cancelled.
        """
        self._is_running = True
        try:
            status = await drive(call, self._answer)
        finally:
            self._is_running = False
        return Status.error(f"{what}: {self._message}") if self._message else status

    async def _answer(self, request: Request) -> object:
        self._check()
        if isinstance(request, WaitRequest):
            asked = request.condition
            request = WaitRequest(lambda: self._message or asked(), request.seconds, request.reads)
            self._waits_for = request
        try:
            answer: object = await suspend(request)
        finally:
            self._waits_for = None
        self._check()
        return answer

    def _check(self) -> None:
        if self._message:
            raise _Preempted(self._message)
