"""A headless Chromium that opens a file, driven over its DevTools protocol."""

import asyncio
import json
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0")


class Tab:
    """A page of the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._n = 0

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a method of the protocol."""
        self._n += 1
        await self._socket.send_json({"id": self._n, "method": method, "params": params})
        while True:
            answer = await self._socket.receive_json(timeout=20)
            if answer.get("id") == self._n:
                assert "result" in answer, answer
                return answer["result"]

    async def value(self, expression: str) -> Any:
        """What JavaScript evaluates to."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def open(self, path: Path) -> None:
        """Open a file, and wait until it is drawn."""
        await self.call("Page.enable")
        await self.call("Page.navigate", url=path.as_uri())
        for _ in range(200):
            if await self.value("location.protocol === 'file:' && document.readyState === 'complete'"):
                break
            await asyncio.sleep(0.05)
        await self.value("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


@contextmanager
def browser(folder: Path) -> Iterator[int]:
    """Start Chromium with a new profile in a folder, and stop it afterwards. Yields: the port of its protocol."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *_OPTIONS, f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield _port(folder / "DevToolsActivePort")
        finally:
            process.terminate()
            process.wait(timeout=20)


def _port(file: Path) -> int:
    for _ in range(600):
        if file.exists() and (text := file.read_text()):
            return int(text.split()[0])
        time.sleep(0.05)
    raise AssertionError("Chromium did not start")


@asynccontextmanager
async def tab_of(port: int) -> AsyncIterator[Tab]:
    """A new tab of the browser."""
    async with aiohttp.ClientSession() as session:
        async with session.put(f"http://127.0.0.1:{port}/json/new") as answer:
            url = json.loads(await answer.text())["webSocketDebuggerUrl"]
        async with session.ws_connect(url, max_msg_size=0) as socket:
            yield Tab(socket)
            await socket.send_json({"id": 0, "method": "Page.close"})
