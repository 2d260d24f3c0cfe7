"""bind over the wire: what is written to the API server, once, side by side, and what an answer says when it is not."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kubesched.api import EventType, Pod
from kubesched.extender import ClusterWrites
from kubesched.framework import Bind, Plugin, Status
from kubesched.testing import make_node, make_pod
from tests.extender.asking import captured, encode
from tests.extender.wired import Client, Reply, Wired, ask, calling, tell, wired
from tests.wire.test_wire import SPELLINGS

NODES = [make_node("n1"), make_node("n2")]


class Writes(ClusterWrites):
    """An API server that takes every Binding, unless a test says otherwise.

    Attributes:
        bound: what was written.
        n_waiting: writes that have begun and not ended.
    """

    def __init__(self, *pods: Pod, error: str = "") -> None:
        self.pods = {pod.key: pod for pod in pods}
        self.bound: list[Bind] = []
        self.n_waiting = 0
        self._error = error
        self._open = asyncio.Event()
        self._open.set()
        self._changed = asyncio.Condition()

    async def find_pod(self, namespace: str, name: str) -> Pod | None:
        return self.pods.get(f"{namespace}/{name}")

    async def create_binding(self, action: Bind) -> str:
        await self._count(1)
        await self._open.wait()
        await self._count(-1)
        self.bound.append(action)
        return self._error

    def hold(self) -> None:
        """Writes wait from here on."""
        self._open.clear()

    def let_go(self) -> None:
        self._open.set()

    async def until_waiting(self, n: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.n_waiting == n)

    async def _count(self, change: int) -> None:
        async with self._changed:
            self.n_waiting += change
            self._changed.notify_all()


class Device(Plugin):
    """Each node has one device."""

    def __init__(self, args: Any = None) -> None:
        super().__init__(args)
        self.taken: dict[str, str] = {}

    def reserve(self, state, pod, node_name):
        if self.taken.setdefault(node_name, pod.uid) != pod.uid:
            return Status.unschedulable(f"the device of {node_name} is taken")
        state.binding.annotations["example.com/device"] = f"{node_name}/0"
        return Status.SUCCESS

    def unreserve(self, state, pod, node_name):
        if self.taken.get(node_name) == pod.uid:
            del self.taken[node_name]


class Binds(Plugin):
    """Has a say in binding, and nothing to say."""

    def reserve(self, state, pod, node_name):
        return Status.SUCCESS

    def unreserve(self, state, pod, node_name):
        pass


def pod(name: str = "p", uid: str = "", node: str = "") -> Pod:
    return make_pod(name, namespace="d", node=node, metadata={"uid": uid or f"uid-{name}"})


def args(name: str = "p", uid: str | None = None, node: str = "n1") -> bytes:
    uid = f"uid-{name}" if uid is None else uid
    return encode({"PodName": name, "PodNamespace": "d", "PodUID": uid, "Node": node})


def error_of(reply: Reply) -> str:
    """What an answer says; its status is 200 and its key Go's, whatever happened."""
    assert reply.status == 200
    assert reply.json.keys() == {"Error"}
    error: str = reply.json["Error"]
    return error


def bind(*bodies: bytes, writes: Writes, plugin: type[Plugin] = Binds, watched: tuple[Pod, ...] = ()) -> list[str]:
    """The errors of some binds, one after the other."""

    async def story(_: Wired, client: Client) -> list[str]:
        return [error_of(await client.post("/bind", body)) for body in bodies]

    return tell(story, plugin, watched=[*NODES, *watched], writes=writes)


def with_writes(
    story: Callable[[Wired, Writes], Awaitable[Any]], *pods: Pod, plugin: type[Plugin] = Binds, **options: Any
) -> Any:
    """A story with an API server that can be held."""

    async def telling() -> Any:
        writes = Writes(*pods)
        async with wired(plugin, watched=[*NODES, *pods], writes=writes, **options) as running:
            return await story(running, writes)

    return asyncio.run(telling())


# --- one bind ---


@pytest.mark.parametrize("how", SPELLINGS[:4], ids=["Go", "lower", "UPPER", "mIxEd"])
def test_the_captured_request_in_any_spelling_is_bound(how: Callable[[bytes], bytes]):
    writes = Writes()
    asked: dict[str, str] = json.loads(captured("bind"))
    body = encode({how(key.encode()).decode(): value for key, value in asked.items()})
    assert bind(body, writes=writes, watched=(pod(uid="u1"),)) == [""]
    assert [(one.pod.key, one.pod.uid, one.node_name) for one in writes.bound] == [("d/p", "u1", "n1")]


def test_annotations_go_with_the_binding_in_one_write():
    writes = Writes()
    assert bind(args(), writes=writes, watched=(pod(),), plugin=Device) == [""]
    assert [one.annotations for one in writes.bound] == [{"example.com/device": "n1/0"}]


def test_a_pod_that_the_watch_has_not_shown_is_asked_for():
    writes = Writes(pod())
    assert bind(args(), writes=writes) == [""]
    assert len(writes.bound) == 1


def test_a_pod_that_was_made_again_is_left_alone():
    writes = Writes(pod(uid="new"))
    assert bind(args(uid="old"), writes=writes, watched=(pod(uid="new"),)) == [
        "pod d/p was deleted and re-created: asked for old, found new"
    ]
    assert writes.bound == []


def test_a_pod_that_was_made_again_and_not_shown_yet_is_the_one_meant():
    writes = Writes(pod(uid="new"))
    assert bind(args(uid="new"), writes=writes, watched=(pod(uid="old"),)) == [""]
    assert [one.pod.uid for one in writes.bound] == ["new"]


def test_a_pod_that_is_gone_is_said_to_be():
    assert bind(args(), writes=Writes()) == ["pod d/p does not exist any more"]


def test_a_pod_that_is_bound_there_already_is_bound():
    writes = Writes()
    assert bind(args(), args(), writes=writes, watched=(pod(),)) == ["", ""]
    assert bind(args(), writes=writes, watched=(pod(node="n1"),)) == [""]
    assert len(writes.bound) == 1


def test_a_pod_that_is_bound_elsewhere_is_said_to_be():
    writes = Writes()
    elsewhere = "pod d/p is already bound to node n1, not to n2"
    assert bind(args(), args(node="n2"), writes=writes, watched=(pod(),)) == ["", elsewhere]
    assert bind(args(node="n2"), writes=writes, watched=(pod(node="n1"),)) == [elsewhere]


def test_a_node_that_is_not_known_is_said_not_to_be():
    assert bind(args(node="n9"), writes=Writes(), watched=(pod(),)) == ["node n9 is not in the extender's cache"]


def test_a_write_that_fails_is_told_and_gives_everything_back():
    writes = Writes(error='pods "p" is forbidden')
    found = bind(args("a"), args("b"), writes=writes, watched=(pod("a"), pod("b")), plugin=Device)
    told = 'running Bind plugin "DefaultBinder": pods "p" is forbidden'
    assert found == [told] * 2, "the second one got as far as the first"


@pytest.mark.parametrize("body", [b"", b"null", b"{}", b"[]", b"{", b'{"PodName":"p"}', b'{"node":7}', b"\xff"])
def test_a_body_that_names_no_pod_is_an_error_and_never_a_silent_success(body: bytes):
    """kube-scheduler takes `null` and `{}` for success in an answer; a question of that kind is none."""
    writes = Writes()
    (error,) = bind(body, writes=writes, watched=(pod(),))
    assert "; expected " in error or "missing or empty" in error
    assert writes.bound == []


FAULTS: dict[str, BaseException] = {"value": ValueError("boom"), "exit": SystemExit(3), "late": TimeoutError("late")}


class FaultyReserve(Plugin):
    def reserve(self, state, pod, node_name):
        raise FAULTS[pod.name]

    def unreserve(self, state, pod, node_name):
        pass


class FaultyBind(Plugin):
    async def pre_bind(self, state, pod, node_name):
        await asyncio.sleep(0)
        raise FAULTS[pod.name]


@pytest.mark.parametrize("plugin", [FaultyReserve, FaultyBind])
@pytest.mark.parametrize("name", FAULTS)
def test_whatever_a_plugin_raises_while_binding_is_told(name: str, plugin: type[Plugin]):
    writes = Writes()
    (error, again) = bind(args(name), args(name), writes=writes, watched=(pod(name),), plugin=plugin)
    assert error == again
    assert str(FAULTS[name]) in error
    assert writes.bound == []


# --- several binds ---


def test_binds_wait_for_the_api_server_side_by_side():
    pods = [pod(f"p{i}") for i in range(40)]

    async def story(running: Wired, writes: Writes) -> list[str]:
        writes.hold()
        calls = [asyncio.create_task(ask(running, "/bind", args(one.name))) for one in pods]
        await writes.until_waiting(40)
        assert (await ask(running, "/filter", captured("filter-names"))).status == 200, "nor does filter wait"
        writes.let_go()
        return [error_of(await call) for call in calls]

    assert with_writes(story, *pods) == [""] * 40


def test_two_pods_never_get_one_device_although_neither_is_bound_yet():
    async def story(running: Wired, writes: Writes) -> list[str]:
        writes.hold()
        first = asyncio.create_task(ask(running, "/bind", args("a")))
        await writes.until_waiting(1)
        second = await ask(running, "/bind", args("b"))
        writes.let_go()
        return [error_of(await first), error_of(second)]

    first, second = with_writes(story, pod("a"), pod("b"), plugin=Device)
    assert (first, second) == ("", "the device of n1 is taken")


def test_a_second_call_for_the_same_pod_joins_the_first():
    async def story(running: Wired, writes: Writes) -> tuple[list[str], int]:
        writes.hold()
        calls = [asyncio.create_task(ask(running, "/bind", args())) for _ in range(3)]
        await writes.until_waiting(1)
        elsewhere = error_of(await ask(running, "/bind", args(node="n2")))
        writes.let_go()
        return [elsewhere, *[error_of(await call) for call in calls]], len(writes.bound)

    errors, n_written = with_writes(story, pod())
    assert errors == ["pod d/p is being bound to node n1, not to n2", "", "", ""]
    assert n_written == 1


def test_a_late_outcome_is_said_to_be_and_the_next_call_finds_the_pod_bound():
    async def story(running: Wired, writes: Writes) -> list[str]:
        writes.hold()
        late = error_of(await ask(running, "/bind", args()))
        writes.let_go()
        return [late, error_of(await ask(running, "/bind", args()))]

    late, after = with_writes(story, pod(), http_timeout=0.1)
    assert late.startswith("binding d/p: no outcome after 0.0")
    assert late.endswith("s; if the API server has accepted the Binding, the pod is bound nevertheless")
    assert after == ""


class SlowDevice(Device):
    """Waits for ever before the first binding."""

    async def pre_bind(self, state, pod, node_name):
        if pod.name == "a":
            await asyncio.Event().wait()
        return Status.SUCCESS


def test_a_call_that_runs_out_of_time_before_anything_is_written_takes_nothing():
    async def story(running: Wired, writes: Writes) -> list[str]:
        return [error_of(await ask(running, "/bind", args(name))) for name in ("a", "b")]

    late, other = with_writes(story, pod("a"), pod("b"), plugin=SlowDevice, http_timeout=1)
    assert late.startswith("binding d/a: no outcome after 0.")
    assert other == "", "the device is free again"


def test_a_pod_that_was_bound_counts_at_once_and_stays_so_when_the_watch_shows_it():
    async def story(running: Wired, writes: Writes) -> list[Any]:
        async with calling(running) as client:
            seen = []
            await client.post("/bind", args())
            seen.append((await client.get("/inspect")).json["assumedPods"])
            running.show(pod(node="n1"), type=EventType.MODIFIED)
            seen.append((await client.get("/inspect")).json["assumedPods"])
            return [*seen, running.extender.cluster_state.placed("uid-p").pod.node_name]

    assert with_writes(story, pod()) == [[{"pod": "d/p", "node": "n1"}], [], "n1"]


# --- the end ---


def test_a_drain_answers_binds_under_way_and_says_close_while_idle_connections_end():
    async def story(running: Wired, writes: Writes) -> tuple[str, Reply, bool]:
        writes.hold()
        async with calling(running) as client, calling(running) as idle:
            call = asyncio.create_task(client.post("/bind", args()))
            await writes.until_waiting(1)
            address = running.server.address
            drain = asyncio.create_task(running.server.drain())
            assert await idle.is_closed()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(*address)
            writes.let_go()
            reply = await call
            await drain
            return error_of(reply), reply, await client.is_closed()

    error, reply, closed = with_writes(story, pod())
    assert (error, reply.headers["connection"], closed) == ("", "close", True)
