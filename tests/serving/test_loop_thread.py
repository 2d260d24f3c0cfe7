import asyncio
import concurrent.futures

from kubesched.serving.loop_thread import LoopThread


def test_callbacks_that_a_coroutine_scheduled_run_before_its_caller_goes_on(monkeypatch):
    order: list[str] = []
    start = asyncio.run_coroutine_threadsafe

    def finished(coroutine, loop):
        """The other thread is faster than this one."""
        future = start(coroutine, loop)
        concurrent.futures.wait([future], 10)
        return future

    async def story():
        here, thread = asyncio.get_running_loop(), LoopThread("test")

        async def work():
            here.call_soon_threadsafe(order.append, "callback")

        await thread.call(work())
        order.append("caller")
        await thread.stop()

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", finished)
    asyncio.run(story())
    assert order == ["callback", "caller"]
