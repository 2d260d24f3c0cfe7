"""An API server that remembers what it was asked, and answers what a test says."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from kubesched.cluster import Timing

Answer = Callable[[str, str, Any], bytes]
"""(method, path, body) -> the answer; raises what the client would raise."""


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test that is a coroutine."""

    @functools.wraps(test)
    def run(*args: Any, **named: Any) -> None:
        asyncio.run(test(*args, **named))

    return run


class FakeTiming(Timing):
    """A clock that a test moves."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> float:
        return 1_800_000_000 + self.seconds


class Sleepless(FakeTiming):
    """Sleeps without waiting.

    Attributes:
        slept: the seconds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


class FakeApi:
    """Takes the place of an ApiClient.

    Attributes:
        requests: method, path and body of each request, as they began.
        answer: gives the answers.
        gates: by path: a request waits for the event of its path.
    """

    def __init__(self, answer: Answer = lambda method, path, body: b"{}") -> None:
        self.timing = FakeTiming()
        self.requests: list[tuple[str, str, Any]] = []
        self.answer = answer
        self.gates: dict[str, asyncio.Event] = {}

    async def request(self, method: str, path: str, *, body: Any = None, type: Any = None, **_: Any) -> Any:
        body = msgspec.json.decode(body) if isinstance(body, msgspec.Raw) else body
        self.requests.append((method, path, body))
        if path in self.gates:
            await self.gates[path].wait()
        await asyncio.sleep(0)
        answer = self.answer(method, path, body)
        return answer if type is None else msgspec.json.decode(answer, type=type)

    def written(self, path: str) -> list[Any]:
        """The bodies that were sent to paths with this end."""
        return [body for _, asked, body in self.requests if asked.endswith(path)]
