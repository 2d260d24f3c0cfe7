"""The spans of an attempt, as a collector gets them."""

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kubesched.api import Pod
from kubesched.errors import InputError
from kubesched.framework import Bind, CycleState, Decision, Outcome, Plugin, Status
from kubesched.live import Spans, new_spans
from kubesched.metrics import Observers, SchedulerMetrics
from kubesched.testing import make_node, make_pod
from tests.extender.virtual_time import settle
from tests.live.fake_cluster import FakeCluster, Story, lived

POINTS = ["PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit"]


class StoryClock:
    """The clock of the loop that the story runs on."""

    def monotonic(self) -> float:
        try:
            return asyncio.get_running_loop().time()
        except RuntimeError:  # before the story
            return 0.0

    now = monotonic


def traced(story: Story, *plugins: type[Plugin]) -> tuple[list[Any], Spans]:
    """Run a story. Returns: the spans, in the order in which they began, and what made them."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = Spans(provider, StoryClock())
    metrics = SchedulerMetrics(StoryClock().monotonic)
    lived(story, metrics, *plugins, observer=Observers(metrics, traces), probes=[traces])
    return sorted(exporter.get_finished_spans(), key=lambda span: span.start_time), traces


def below(spans: list[Any], name: str) -> list[str]:
    parent = next(span for span in spans if span.name == name)
    return [span.name for span in spans if span.parent is not None and span.parent.span_id == parent.context.span_id]


def test_a_placed_pod_is_one_trace_with_its_cycle_and_its_binding() -> None:
    async def story(cluster: FakeCluster) -> None:
        cluster.bind_seconds = 3.0
        cluster.add(make_node("n1"), make_node("n2"), make_pod("web"))
        await asyncio.sleep(5)

    spans, traces = traced(story)
    assert len({span.context.trace_id for span in spans}) == 1
    assert below(spans, "scheduling cycle") == POINTS
    assert below(spans, "binding cycle") == ["Bind"]
    (root,) = [span for span in spans if span.parent is None]
    assert set(below(spans, root.name)) >= {"scheduling cycle", "binding cycle"}
    assert root.attributes["k8s.pod.name"] == "web"
    assert root.attributes["k8s.node.name"] in ("n1", "n2")
    assert root.attributes["kubesched.nodes.feasible"] == 2
    assert round((root.end_time - root.start_time) / 1e9) == 3
    assert traces.sizes() == {"attempts under way": 0, "steps": 0}


def test_a_pod_without_a_node_is_a_trace_with_the_reason() -> None:
    async def story(cluster: FakeCluster) -> None:
        cluster.add(make_node("n1", allocatable={"cpu": "1", "pods": "9"}), make_pod("web", requests={"cpu": "2"}))
        await settle()

    spans, _ = traced(story)
    (root,) = [span for span in spans if span.parent is None]
    assert "Insufficient cpu" in root.status.description
    assert below(spans, "scheduling cycle") == ["PreFilter", "Filter", "PostFilter"]
    (step,) = [span for span in spans if span.name == "PostFilter"]
    assert step.attributes["kubesched.status"] == "Unschedulable"
    assert not [span for span in spans if span.name == "binding cycle"]


def test_two_bindings_at_a_time_are_two_traces() -> None:
    async def story(cluster: FakeCluster) -> None:
        cluster.bind_seconds = 1.0
        cluster.add(make_node("n1"), make_pod("a"), make_pod("b"))
        await asyncio.sleep(3)

    spans, _ = traced(story)
    binds = [span for span in spans if span.name == "Bind"]
    assert len({span.context.trace_id for span in binds}) == 2


def test_a_binding_that_fails_is_a_trace_with_the_error() -> None:
    async def story(cluster: FakeCluster) -> None:
        cluster.refusals[Bind] = "the API server says no"
        cluster.add(make_node("n1"), make_pod("web"))
        await settle()

    spans, traces = traced(story)
    roots = [span for span in spans if span.parent is None]
    assert "the API server says no" in roots[0].status.description
    assert traces.sizes() == {"attempts under way": 0, "steps": 0}


def test_gated_pods_leave_nothing_behind() -> None:
    class Gate(Plugin):
        def pre_enqueue(self, pod: Pod) -> Status:
            return Status.unschedulable("not yet")

        def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status:
            return Status.SUCCESS

    async def story(cluster: FakeCluster) -> None:
        cluster.add(*(make_pod(f"p{i}") for i in range(20)))
        await settle()

    spans, traces = traced(story, Gate)
    assert not spans
    assert traces.sizes() == {"attempts under way": 0, "steps": 0}


def test_without_an_endpoint_nothing_is_traced() -> None:
    assert new_spans(StoryClock(), {}) is None


def test_an_endpoint_without_the_packages_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(InputError, match=r"OTEL_EXPORTER_OTLP_ENDPOINT is set.*install kubesched\[tracing\]"):
        new_spans(StoryClock(), {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"})


def test_a_collector_gets_the_spans_by_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    paths: list[str] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            paths.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        traces = new_spans(StoryClock())
        assert traces is not None
        traces.decided(Decision(make_pod("web"), "default-scheduler", 1, 0, Outcome(Status.unschedulable("full"))), 0.1)
        traces.shutdown()
        server.shutdown()
    assert paths == ["/v1/traces"]
