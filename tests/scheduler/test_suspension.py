"""A binding cycle between its driver and an event loop: each gets the requests that are its own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kubesched.errors import InputError
from kubesched.framework import ActionDone, Bind
from kubesched.scheduler import PermitRequest, Request, WaitRequest, drive, perform, wait
from kubesched.scheduler.suspension import suspend
from kubesched.testing import make_pod

BIND = Bind(make_pod("p"), "n")


def driven(cycle: Callable[[], Awaitable[Any]], answer: Callable[[Request], Awaitable[Any]] | None = None) -> Any:
    """What a cycle gives on a loop; its requests are answered with themselves unless a test says otherwise."""

    async def itself(request: Request) -> Request:
        await asyncio.sleep(0)
        return request

    async def story() -> Any:
        async with asyncio.timeout(10):
            return await drive(cycle(), answer or itself)

    return asyncio.run(story())


def test_actions_waits_and_permits_go_to_the_driver():
    asked = [BIND, WaitRequest(bool, 1.0), PermitRequest("uid")]

    async def cycle() -> list[Any]:
        return [await suspend(request) for request in asked]

    assert driven(cycle) == asked


def test_perform_and_wait_give_the_drivers_answer():
    async def answer(request: Request) -> Any:
        return ActionDone(request, "no") if isinstance(request, Bind) else 1

    async def cycle() -> tuple[str, bool]:
        return (await perform(BIND)).error, await wait(lambda: True, 2.0)

    assert driven(cycle, answer) == ("no", True)


def test_what_is_the_loops_goes_to_the_loop():
    async def cycle() -> list[Any]:
        loop = asyncio.get_running_loop()
        told = loop.create_future()
        loop.call_soon(told.set_result, "told")
        async with asyncio.TaskGroup() as group:
            made = group.create_task(asyncio.sleep(0, "made"))
        return [await told, made.result(), await asyncio.sleep(0, "slept"), await asyncio.gather(asyncio.sleep(0, 1))]

    assert driven(cycle) == ["told", "made", "slept", [1]]


@pytest.mark.parametrize("raised", [ValueError, KeyError, asyncio.CancelledError])
def test_what_the_driver_raises_is_raised_where_it_was_asked(raised: type[BaseException]):
    async def answer(request: Request) -> Any:
        raise raised

    async def cycle() -> str:
        try:
            await perform(BIND)
        except raised:
            return await asyncio.sleep(0, "and it can go on")
        return ""

    assert driven(cycle, answer) == "and it can go on"


def test_what_a_future_raises_is_raised_where_it_is_awaited():
    async def cycle() -> str:
        failed = asyncio.get_running_loop().create_future()
        failed.set_exception(OSError("no route"))
        try:
            await failed
        except OSError as error:
            return str(error)
        return ""

    assert driven(cycle) == "no route"


def test_what_no_loop_knows_is_a_fault_of_the_cycle():
    class Foreign:
        def __await__(self):
            yield "of another library"

    async def cycle() -> None:
        await Foreign()

    with pytest.raises(RuntimeError, match="of another library"):
        driven(cycle)


def test_what_the_cycle_raises_ends_the_drive():
    async def cycle() -> None:
        await perform(BIND)
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        driven(cycle)


@pytest.mark.parametrize("is_asking", [True, False])
def test_a_cancelled_drive_cancels_the_cycle_where_it_waits(is_asking: bool):
    async def never(request: Request) -> None:
        await asyncio.Event().wait()

    said: list[str] = []

    async def cycle() -> None:
        try:
            await (perform(BIND) if is_asking else asyncio.Event().wait())
        except asyncio.CancelledError:
            said.append("cancelled")
            raise
        finally:
            await asyncio.sleep(0)
            said.append("tidied up")

    async def story() -> None:
        task = asyncio.create_task(drive(cycle(), never))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())
    assert said == ["cancelled", "tidied up"]


def test_a_timeout_of_the_cycles_own_is_its_own():
    async def never(request: Request) -> None:
        await asyncio.Event().wait()

    async def cycle() -> str:
        try:
            async with asyncio.timeout(0):
                await perform(BIND)
        except TimeoutError:
            return "too late"
        return ""

    assert driven(cycle, never) == "too late"


def test_a_wait_is_for_kinds_as_the_cluster_state_has_them():
    quota = "scheduling.example.com/v1/Quota"

    async def cycle() -> None:
        await wait(bool, 1.0, reads=["Node", quota, (quota, "shop/q")])

    seen: list[Request] = []

    async def answer(request: Request) -> Any:
        seen.append(request)
        return True

    driven(cycle, answer)
    key = "scheduling.example.com/v1/quotas"
    assert [request.reads for request in seen if isinstance(request, WaitRequest)] == [("Node", key, (key, "shop/q"))]


def test_a_wait_for_a_kind_that_does_not_exist_is_refused():
    async def cycle() -> None:
        await wait(bool, 1.0, reads=["Servce"])

    with pytest.raises(InputError, match='did you mean "Service"'):
        driven(cycle)
