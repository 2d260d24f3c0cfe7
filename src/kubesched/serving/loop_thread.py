"""An event loop in a separate thread, for work that must continue while the main loop is busy."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines elsewhere.

    Attributes:
        loop: the event loop; nothing but `call_soon_threadsafe` may be called from outside.
    """

    def __init__(self, name: str) -> None:
        """Start the thread. It does not keep the process alive."""
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there, and wait for its result here. Callbacks that it has scheduled here run first."""
        result = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self.loop))
        await asyncio.sleep(0)  # a result that is there already: Python 3.14 returns it at once, before callbacks
        return result

    async def stop(self) -> None:
        """Cancel what still runs there and end the thread."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.get_loop().run_forever()
