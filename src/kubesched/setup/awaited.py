"""Answers what a binding cycle waits for, on asyncio: conditions on the cluster, and Permit.

For drivers with an event loop. What a cycle wants done, its Actions, goes to the driver.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kubesched.framework import Action, ActionDone, Clock, Status, WaitingPod
from kubesched.scheduler import PermitRequest, Request, Together, WaitRequest, Waits


class AwaitedRequests:
    """Answers the requests of binding cycles.

    Args:
        waits: where conditions are entered; its owner calls `note` and `look` as events come.
        waiting_pods: pods held back in Permit, by uid.
    """

    def __init__(self, waits: Waits, waiting_pods: Mapping[str, WaitingPod], clock: Clock) -> None:
        self._waits = waits
        self._waiting_pods = waiting_pods
        self._clock = clock

    def answering(self, perform: Callable[[Action], Awaitable[ActionDone]]) -> Callable[[Request], Awaitable[Any]]:
        """What `drive` asks for a cycle.

        Args:
            perform: carries out the cycle's Actions.
        """

        def answer(request: Request) -> Awaitable[Any]:
            if isinstance(request, Action):
                return perform(request)
            if isinstance(request, Together):
                return asyncio.gather(*map(perform, request.actions))
            return self._until(request) if isinstance(request, WaitRequest) else self._permitted(request)

        return answer

    async def _until(self, request: WaitRequest) -> bool:
        """Wait for a condition; when its time is over, it is looked at a last time."""
        if request.condition():
            return True
        woken: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def wake(holds: bool, error: BaseException | None) -> None:
            if not woken.done():
                woken.set_result(holds) if error is None else woken.set_exception(error)

        self._waits.begin(request, wake)
        try:
            await asyncio.wait((woken,), timeout=request.seconds)
        finally:
            self._waits.end(request)
        return woken.result() if woken.done() else bool(request.condition())

    async def _permitted(self, request: PermitRequest) -> Status:
        waiting = self._waiting_pods[request.uid]
        decided: asyncio.Future[Status] = asyncio.get_running_loop().create_future()

        def tell(status: Status) -> None:
            if not decided.done():
                decided.set_result(status)

        waiting.on_decided(tell)
        while not decided.done():
            await asyncio.wait((decided,), timeout=max(waiting.deadline - self._clock.monotonic(), 0.0))
            waiting.advance(self._clock.monotonic())
        return decided.result()
