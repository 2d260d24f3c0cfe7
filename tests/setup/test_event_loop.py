"""One event loop for as long as a run lasts."""

import asyncio
import gc

import pytest

from kubesched.setup import EventLoop


async def here() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_everything_runs_on_one_loop() -> None:
    loop = EventLoop()
    assert loop.run(here()) is loop.run(here())
    loop.close()


def test_tasks_go_on_when_the_run_breathes_and_are_cancelled_at_its_end() -> None:
    said: list[str] = []

    async def task() -> None:
        try:
            while True:
                said.append("turn")
                await asyncio.sleep(0)
        finally:
            said.append("end")

    async def start() -> asyncio.Task[None]:
        return asyncio.create_task(task())

    loop = EventLoop()
    kept = loop.run(start())
    loop.run(loop.breathe())
    assert said[0] == "turn"
    loop.close()
    assert (said[-1], kept.cancelled()) == ("end", True)


def test_the_last_coroutine_gets_some_seconds(caplog: pytest.LogCaptureFixture) -> None:
    loop = EventLoop()
    made = loop.run(here())
    loop.close(asyncio.sleep(1000), seconds=0.0)
    assert made.is_closed()
    assert caplog.messages == ["a plugin did not stop within 0 s"]


def test_what_is_raised_comes_out() -> None:
    async def fails() -> None:
        raise LookupError("nothing there")

    loop = EventLoop()
    with pytest.raises(LookupError, match="nothing there"):
        loop.run(fails())
    loop.close()


def test_where_a_loop_runs_everything_is_on_that_one_and_nothing_can_wait() -> None:
    async def notebook() -> None:
        loop = EventLoop()
        assert loop.run(here()) is asyncio.get_running_loop()
        loop.run(loop.breathe())
        with pytest.raises(RuntimeError, match="this call cannot wait"):
            loop.run(asyncio.sleep(0))
        loop.close()

    asyncio.run(notebook())


def test_a_run_that_nobody_closes_leaves_no_loop_open() -> None:
    loop = EventLoop()
    made = loop.run(here())
    del loop
    gc.collect()
    assert made.is_closed()


def test_a_run_that_nobody_closes_is_closed_where_another_loop_runs_too() -> None:
    loop = EventLoop()
    made = loop.run(here())

    async def elsewhere() -> None:
        nonlocal loop
        del loop
        gc.collect()

    asyncio.run(elsewhere())
    assert made.is_closed()


def test_a_run_that_nobody_closes_cancels_its_tasks_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    async def start() -> asyncio.Task[None]:
        return asyncio.create_task(asyncio.sleep(3600))

    loop = EventLoop()
    kept = loop.run(start())
    del loop
    gc.collect()
    assert kept.cancelled()
    del kept
    gc.collect()
    assert caplog.messages == []


def test_closing_a_run_in_which_nothing_ran_does_nothing() -> None:
    loop = EventLoop()
    loop.close()
    loop.close()


def test_what_ctrl_c_interrupts_has_ended_before_anything_else_runs() -> None:
    seen = []

    async def waits() -> None:
        asyncio.get_running_loop().call_soon(interrupt)
        try:
            await asyncio.sleep(60)
        finally:
            seen.append("cancelled")

    def interrupt() -> None:
        raise KeyboardInterrupt

    async def last() -> None:
        await asyncio.sleep(0)
        seen.append("last")

    loop = EventLoop()
    with pytest.raises(KeyboardInterrupt):
        loop.run(waits())
    loop.close(last())
    assert seen == ["cancelled", "last"]
