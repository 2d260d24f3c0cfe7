"""An extender as a process against an API server of our own: from the first list to the end."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.errors import InputError, PluginError, StateError
from kubesched.extender import Extender, ExtenderOptions, read_recording, run_extender
from kubesched.extender.recording import RecordedWatch, Recorder
from kubesched.framework import Plugin
from kubesched.serving import Server, ServerOptions
from kubesched.setup import set_up
from tests.cluster.fake_api_server import FakeApiServer, line, node, objects, says, silence, status, stream
from tests.cluster.kubeconfigs import kubeconfig, write
from tests.extender.asking import encode, with_names, with_nodes
from tests.extender.asking import node as whole_node
from tests.extender.test_plugin_extender import NotN1, Reserves
from tests.serving.running import connected

NODES, PODS = "/api/v1/nodes", "/api/v1/pods"
NAMES = with_names("n1", "n2")
Story = Callable[["Process"], Awaitable[Any]]


class Process:
    """A run of the extender, as the command starts it."""

    def __init__(self, *plugins: type[Plugin], **options: Any) -> None:
        options = {"server": ServerOptions(drain_seconds=0.2)} | options
        self.stop, self.ready = asyncio.Event(), asyncio.Event()
        self._listening: asyncio.Future[tuple[Extender, Server]] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(
            run_extender(
                set_up(None, plugins or (NotN1,), default_plugins=False),
                ExtenderOptions(**options),
                stop=self.stop,
                on_listening=lambda extender, server: self._listening.set_result((extender, server)),
                on_ready=lambda extender: self.ready.set(),
            )
        )

    async def listening(self) -> tuple[Extender, Server]:
        await asyncio.wait((self.task, self._listening), return_when=asyncio.FIRST_COMPLETED)
        if self.task.done():
            await self.task
        return await self._listening

    async def ask(self, path: str, body: bytes = b"") -> tuple[int, str]:
        _, server = await self.listening()
        async with connected(server) as client:
            status, _, text = await client.ask("POST" if body else "GET", path, body)
            return status, text

    async def end(self) -> None:
        self.stop.set()
        await self.task


def lived(story: Story, *plugins: type[Plugin], **options: Any) -> Any:
    """What a story gives that begins when the extender has been started and ends with its end."""

    async def whole() -> Any:
        async with asyncio.timeout(20):
            process = Process(*plugins, **options)
            try:
                result = await story(process)
                await process.end()
                return result
            finally:
                process.task.cancel()

    return asyncio.run(whole())


def watching(
    tmp_path: Path, story: Callable[[Process, FakeApiServer], Awaitable[Any]], *plugins: type[Plugin], **options: Any
) -> Any:
    """The same beside an API server; a test lines up first what it says."""

    async def whole() -> Any:
        async with asyncio.timeout(20), FakeApiServer() as server:
            cluster = {"server": server.url}
            options["kubeconfig"] = str(write(tmp_path / "kubeconfig", kubeconfig(cluster)))
            process = Process(*plugins, is_watched=True, **options)
            try:
                result = await story(process, server)
                await process.end()
                return result
            finally:
                process.task.cancel()

    return asyncio.run(whole())


def two_nodes(server: FakeApiServer) -> None:
    server.on("LIST", NODES, objects(node("n1"), node("n2")))
    server.on("LIST", PODS, objects())
    server.on("WATCH", NODES, stream())
    server.on("WATCH", PODS, stream())


def test_without_a_cluster_it_answers_whole_nodes() -> None:
    async def story(process: Process) -> tuple[int, str]:
        await process.ready.wait()
        return await process.ask("/filter", with_nodes(whole_node("n1"), whole_node("n2")))

    status, text = lived(story)
    assert status == 200
    assert json.loads(text)["FailedAndUnresolvableNodes"] == {"n1": "not here"}


def test_pages_of_a_component_are_there() -> None:
    async def story(process: Process) -> list[tuple[int, str]]:
        await process.ready.wait()
        return [await process.ask(path) for path in ("/healthz", "/readyz", "/metrics", "/inspect")]

    healthy, ready, metrics, inspect = lived(story)
    assert healthy == ready == (200, "ok")
    assert "kubesched_extender_nodes_known 0.0" in metrics[1]
    assert json.loads(inspect[1])["ready"] is True


def test_calls_are_refused_until_the_cluster_is_known(tmp_path: Path) -> None:
    async def story(process: Process, server: FakeApiServer) -> tuple[str, int, str]:
        listed = asyncio.Event()

        async def later(request: Any) -> Any:
            await listed.wait()
            return await objects(node("n1"), node("n2"))(request)

        server.on("LIST", NODES, later)
        two_nodes(server)
        early = json.loads((await process.ask("/filter", NAMES))[1])["Error"]
        unready = (await process.ask("/readyz"))[0]
        listed.set()
        await process.ready.wait()
        return early, unready, (await process.ask("/filter", NAMES))[1]

    early, unready, late = watching(tmp_path, story)
    assert early == "kubesched extender: not ready: the cluster is not in the cache yet"
    assert unready == 500
    assert json.loads(late)["NodeNames"] == ["n2"]


def test_an_event_that_makes_no_sense_does_not_end_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    apply, seen, changed = Extender.apply, asyncio.Event(), asyncio.Event()

    def complaining(self: Extender, events: Any) -> None:
        for event in events:
            if event.object.name == "odd":
                seen.set()
                raise StateError("it cannot be")
            changed.set()
        apply(self, events)

    monkeypatch.setattr(Extender, "apply", complaining)

    async def story(process: Process, server: FakeApiServer) -> str:
        async def later(request: Any) -> Any:
            await process.ready.wait()
            lines = (line("ADDED", node("odd", "11")), line("MODIFIED", node("n2", "12", zone="b")))
            return await stream(*lines)(request)

        server.on("WATCH", NODES, later)
        two_nodes(server)
        await seen.wait()
        await changed.wait()
        return (await process.ask("/filter", NAMES))[1]

    assert json.loads(watching(tmp_path, story))["NodeNames"] == ["n2"]
    assert "ADDED Node of odd: it cannot be" in caplog.text


def test_binds_go_to_the_api_server(tmp_path: Path) -> None:
    pod = {"metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {"containers": []}}
    path = "/api/v1/namespaces/d/pods/p"

    async def story(process: Process, server: FakeApiServer) -> tuple[list[str], Any]:
        two_nodes(server)
        server.on("GET", path, says(pod))
        server.on("POST", f"{path}/binding", status(403, "Forbidden", "not you"), says({}, 201))
        await process.ready.wait()
        body = {"PodName": "p", "PodNamespace": "d", "PodUID": "u", "Node": "n1"}
        errors = [json.loads((await process.ask("/bind", encode(body)))[1])["Error"] for _ in range(2)]
        errors.append(json.loads((await process.ask("/bind", encode(body | {"PodName": "q"})))[1])["Error"])
        return errors, server.asked_for("POST")[-1].body["metadata"]["annotations"]

    (refused, bound, gone), annotations = watching(tmp_path, story, Reserves)
    assert refused.startswith('running Bind plugin "DefaultBinder": POST ')
    assert "403 Forbidden: not you" in refused
    assert (bound, annotations) == ("", {"node": "n1"})
    assert gone == "pod d/q does not exist any more"


def test_what_the_watch_says_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, changed = Recorder.events, asyncio.Event()

    def telling(self: Recorder, events: Any) -> None:
        record(self, events)
        if events[0].type is EventType.MODIFIED:
            changed.set()

    monkeypatch.setattr(Recorder, "events", telling)

    async def story(process: Process, server: FakeApiServer) -> None:
        server.on("WATCH", NODES, stream(line("MODIFIED", node("n2", "11", zone="b"))))
        two_nodes(server)
        await process.ready.wait()
        await changed.wait()
        await process.ask("/filter", NAMES)

    watching(tmp_path, story, record=tmp_path / "rec")
    watch, *events, call = read_recording(tmp_path / "rec")
    assert watch == RecordedWatch(("Node", "Pod"))
    assert all(isinstance(event, WatchEvent) for event in events)
    assert [(e.type, e.object.key) for e in events] == [
        (EventType.ADDED, "n1"),
        (EventType.ADDED, "n2"),
        (EventType.MODIFIED, "n2"),
    ]
    assert call.path == "/filter"


# --- begin and end ---


class Lived(NotN1):
    """Notes what becomes of it."""

    seen: list[str] = []

    async def start(self, handle):
        self.seen.append("started")

    async def stop(self):
        self.seen.append("stopped")


@pytest.fixture
def seen() -> list[str]:
    Lived.seen = []
    return Lived.seen


def test_plugins_are_started_before_the_first_call_and_stopped_after_the_last(seen: list[str]) -> None:
    async def story(process: Process) -> list[str]:
        await process.ready.wait()
        return list(seen)

    assert lived(story, Lived) == ["started"]
    assert seen == ["started", "stopped"]


def test_a_plugin_that_never_started_is_not_stopped(tmp_path: Path, seen: list[str]) -> None:
    async def story(process: Process, server: FakeApiServer) -> None:
        server.on("LIST", NODES, silence)
        two_nodes(server)
        await process.listening()

    watching(tmp_path, story, Lived)
    assert seen == []


def test_an_end_while_plugins_start_is_an_end() -> None:
    class Slow(NotN1):
        async def start(self, handle):
            await asyncio.Event().wait()

    async def story(process: Process) -> str:
        return (await process.ask("/filter", NAMES))[1]

    assert "not ready: plugins are starting" in lived(story, Slow)


def test_a_plugin_that_does_not_start_ends_the_process() -> None:
    class Broken(NotN1):
        async def start(self, handle):
            raise OSError("no table")

    async def story(process: Process) -> None:
        await process.task

    with pytest.raises(PluginError, match=r'^starting plugin "Broken": OSError: no table \(test_extender_process'):
        lived(story, Broken)


def test_a_plugin_that_does_not_stop_does_not_keep_the_process(caplog: pytest.LogCaptureFixture) -> None:
    class Lingering(NotN1):
        async def stop(self):
            await asyncio.Event().wait()

    async def story(process: Process) -> None:
        await process.ready.wait()

    lived(story, Lingering)
    assert "a plugin did not stop within 0.2 s" in caplog.text


def test_plugins_may_log(caplog: pytest.LogCaptureFixture) -> None:
    class Talking(NotN1):
        def start(self, handle):
            handle.logger.info("%d owners", 3)

    async def story(process: Process) -> None:
        await process.ready.wait()

    caplog.set_level(logging.INFO)
    lived(story, Talking)
    assert ("kubesched.plugin", logging.INFO, "3 owners") in caplog.record_tuples


def test_a_recording_that_is_there_is_refused_before_the_port_is_opened(tmp_path: Path) -> None:
    (tmp_path / "recording.jsonl").touch()

    async def story(process: Process) -> None:
        await process.listening()

    with pytest.raises(InputError, match=r"recording\.jsonl already exists"):
        lived(story, record=tmp_path)
