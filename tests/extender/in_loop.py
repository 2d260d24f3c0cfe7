"""The whole extender in a test's event loop: server, plugins, and the watch of a fake API server."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from kubesched import Plugin
from kubesched.extender import Extender, ExtenderOptions, run_extender
from kubesched.serving import Server, ServerOptions
from kubesched.setup import set_up
from tests.cluster.fake_api_server import Answer, FakeApiServer, bookmark, line, node, objects, stream
from tests.cluster.kubeconfigs import kubeconfig, write
from tests.serving.running import Conversation, connected

T = TypeVar("T")
Document = dict[str, Any]


def run(story: Coroutine[Any, Any, T]) -> T:
    """Run a story to its end, which has to come within 20 seconds."""

    async def in_time() -> T:
        async with asyncio.timeout(20):
            return await story

    return asyncio.run(in_time())


class Served:
    """An extender that is up.

    Attributes:
        requests: metric of calls by verb and outcome.
    """

    def __init__(self, extender: Extender, server: Server) -> None:
        self.extender = extender
        self.server = server

    def plugin(self) -> Any:
        """The plugin that it serves, of which there is one."""
        (framework,) = self.extender.frameworks.values()
        return framework.profile.plugins[0]

    async def get(self, path: str) -> tuple[int, str]:
        async with connected(self.server) as client:
            status, _, text = await client.ask("GET", path, headers=["Connection: close"])
            return status, text

    async def call(self, verb: str, document: Document) -> Any:
        """One call on a connection of its own; the answer's JSON."""
        async with connected(self.server) as client:
            return await call(client, verb, document)

    async def bind(self, pod: str, node_name: str, uid: str = "") -> str:
        """Ask for a binding in the namespace `d`; what went wrong."""
        body = {"PodName": pod, "PodNamespace": "d", "PodUID": uid or f"uid-{pod}", "Node": node_name}
        error: str = (await self.call("bind", body))["Error"]
        return error

    async def metrics(self) -> dict[str, float]:
        """All series by name with labels."""
        return samples((await self.get("/metrics"))[1])

    async def requests(self, verb: str) -> dict[str, float]:
        """Calls of a verb by outcome, where there were any."""
        start = 'kubesched_extender_requests_total{outcome="'
        found = {}
        for series, value in (await self.metrics()).items():
            if series.startswith(start) and series.endswith(f'verb="{verb}"}}') and value:
                found[series.removeprefix(start).partition('"')[0]] = value
        return found

    async def until(self, series: str, holds: Callable[[float], bool]) -> float:
        """Ask for a metric until it is as it should be."""
        while True:
            value = (await self.metrics()).get(series, 0.0)
            if holds(value):
                return value
            await asyncio.sleep(0.01)


def samples(page: str) -> dict[str, float]:
    """The series of a page of metrics."""
    lines = (row.rpartition(" ") for row in page.splitlines() if not row.startswith("#"))
    return {series: float(value) for series, _, value in lines}


async def call(client: Conversation, verb: str, document: Document) -> Any:
    """One call on a connection that is there; the answer's JSON."""
    status, _, text = await client.ask("POST", f"/{verb}", json.dumps(document).encode())
    assert status == 200, text
    return json.loads(text)


def asking(*names: str, pod: str = "p") -> Document:
    """Filter or prioritize arguments with names."""
    return {"Pod": a_pod(pod), "Nodes": None, "NodeNames": names}


def a_pod(name: str, node_name: str = "", version: str = "1", uid: str = "") -> Document:
    metadata = {"name": name, "namespace": "d", "uid": uid or f"uid-{name}", "resourceVersion": version}
    return {"metadata": metadata, "spec": {"nodeName": node_name} if node_name else {}}


def showing(
    api: FakeApiServer, *nodes: str, pods: tuple[Document, ...] = (), pod_watch: Answer | None = None
) -> FakeApiServer:
    """Have an API server show nodes and pods."""
    api.on("LIST", "/api/v1/nodes", objects(*(node(name) for name in nodes)))
    api.on("WATCH", "/api/v1/nodes", stream(bookmark("10")))
    api.on("LIST", "/api/v1/pods", objects(*pods))
    api.on("WATCH", "/api/v1/pods", pod_watch or stream(bookmark("10")))
    return api


class LateNews:
    """A watch that says one thing when it is told to."""

    def __init__(self) -> None:
        self._news: asyncio.Queue[tuple[str, Document]] = asyncio.Queue()

    def tell(self, type: str, document: Document) -> None:
        self._news.put_nowait((type, document))

    async def answer(self, request: Any) -> Any:
        """The next piece of news, after which the watch ends."""
        return await stream(line(*await self._news.get()), end="close")(request)


@asynccontextmanager
async def extending(
    plugin: type[Plugin],
    folder: Path,
    *,
    api: FakeApiServer | None = None,
    limits: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Served]:
    """An extender that is ready, for the length of the block.

    Args:
        api: what it watches; it runs as long as the extender.
        limits: ServerOptions.
        options: ExtenderOptions.
    """
    if api is not None:
        await api.start()
        options["is_watched"] = True
        options["kubeconfig"] = str(write(folder / "kubeconfig", kubeconfig({"server": api.url})))
    setup = set_up(None, [plugin], {}, default_plugins=False)
    listening: list[Served] = []
    ready, stop = asyncio.Event(), asyncio.Event()
    whole = run_extender(
        setup,
        ExtenderOptions(server=ServerOptions(**{"port": 0, **(limits or {})}), **options),
        stop=stop,
        on_listening=lambda extender, server: listening.append(Served(extender, server)),
        on_ready=lambda extender: ready.set(),
    )
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(whole)
            await ready.wait()
            try:
                yield listening[0]
            finally:
                stop.set()
    finally:
        if api is not None:
            await api.stop()
