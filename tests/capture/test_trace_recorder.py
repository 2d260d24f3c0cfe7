"""A live cluster becomes a trace: pods with the time for which they ran, and nodes, perhaps without names."""

import asyncio
import io

from kubesched.api import EventType, KubeObject, WatchEvent, kind_of, on_node
from kubesched.capture import TraceRecorder, record_trace
from kubesched.cluster import list_path
from kubesched.replay import replay
from kubesched.testing import make_node, make_pod
from kubesched.traces import Trace, json_lines, read_trace
from tests.cluster.fake_api_server import FakeApiServer, client_of, objects, silence


class Clock:
    seconds = 0.0


def told(recorder: TraceRecorder, one: KubeObject, change: EventType = EventType.MODIFIED) -> None:
    recorder([WatchEvent(change, kind_of(one), one)])


def recorded() -> TraceRecorder:
    clock = Clock()
    recorder = TraceRecorder(lambda: clock.seconds)
    n1, a = make_node("n1"), make_pod("a", requests={"cpu": "1"})
    told(recorder, n1)
    told(recorder, make_pod("old", node="n1", requests={"cpu": "1"}))
    recorder.begin()
    for at, one, kind in (
        (5, a, EventType.ADDED),
        (7, on_node(a, "n1"), EventType.MODIFIED),
        (8, make_pod("gone"), EventType.ADDED),
        (9, make_pod("gone"), EventType.DELETED),
        (10, make_node("n2"), EventType.ADDED),
        (11, make_node("n2"), EventType.MODIFIED),
        (20, make_node("n2"), EventType.DELETED),
        (27, on_node(a, "n1"), EventType.DELETED),
        (30, make_pod("a", metadata={"uid": "second"}, node="n1"), EventType.ADDED),
    ):
        clock.seconds = at
        told(recorder, one, kind)
    return recorder


def test_pods_run_from_their_binding_to_their_end() -> None:
    trace = recorded().trace()
    assert [(one.pod.name, one.at, one.duration, one.pod.node_name) for one in trace.arrivals] == [
        ("old", 0, None, "n1"),
        ("a", 5, 20, ""),
        ("a-again-2", 30, None, ""),
    ]
    assert [(one.at, one.node.name, one.is_gone) for one in trace.changes] == [(10, "n2", False), (20, "n2", True)]
    assert trace.notes == ("left before they had a node: 1 pod, which are left out",)


def again(trace: Trace) -> Trace:
    return read_trace(io.BytesIO(b"".join(json_lines(trace))))


def test_what_is_recorded_can_be_replayed() -> None:
    answer = replay(again(recorded().trace()))
    assert {one.pod for one in answer.pods} == {"default/old", "default/a", "default/a-again-2"}
    assert answer.left == ()


def test_names_are_replaced_and_times_stay() -> None:
    trace = again(recorded().trace(is_anonymous=True))
    assert [(one.at, one.duration) for one in trace.arrivals] == [(0, None), (5, 20), (30, None)]
    text = b"".join(json_lines(trace)).decode()
    assert '"n1"' not in text
    assert "old" not in text
    assert trace.arrivals[0].pod.node_name == trace.nodes[0].name


def test_a_cluster_is_recorded_until_it_is_told_to_stop() -> None:
    async def scenario() -> Trace:
        async with FakeApiServer() as server, client_of(server) as client:
            node, pod = make_node("n1"), make_pod("a", node="n1")
            for kind, one in (("Node", node), ("Pod", pod)):
                server.on("LIST", list_path(kind), objects(one.document))
                server.on("WATCH", list_path(kind), silence)
            stop = asyncio.Event()
            recorder = await record_trace(client, stop, 60.0, stop.set)
        return recorder.trace()

    trace = asyncio.run(scenario())
    assert [node.name for node in trace.nodes] == ["n1"]
    assert [(one.pod.name, one.at, one.duration) for one in trace.arrivals] == [("a", 0.0, None)]
