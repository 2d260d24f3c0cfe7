import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubesched.api import decode_object
from kubesched.errors import InputError
from kubesched.framework import CycleState
from kubesched.testing import FakeCluster, make_node, make_pod
from kubesched.usage import NodeUsage
from kubesched.usage.prometheus import PrometheusSource, query_usage, read_answer
from kubesched.usage.samples import Sample, read_usage_file, sample_of


def vector(*values: tuple[dict[str, str], float, str]) -> dict[str, Any]:
    result = [{"metric": metric, "value": [time, value]} for metric, time, value in values]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def cpu(node: str, cores: str) -> tuple[dict[str, str], float, str]:
    return {"node": node, "resource": "cpu"}, 1000.0, cores


def memory(node: str, amount: str) -> tuple[dict[str, str], float, str]:
    return {"node": node, "resource": "memory"}, 1000.5, amount


def test_values_are_cores_and_bytes() -> None:
    answer = vector(cpu("a", "1.5"), memory("a", "1073741824"), cpu("b", "NaN"), memory("b", "5e9"))
    assert read_answer(json.dumps(answer).encode()) == {
        "a": Sample(1500, 2**30, 1000.0),
        "b": Sample(-1, 5_000_000_000, 1000.0),
    }


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"status": "error", "error": "parse error"}, "the query failed: parse error"),
        ({"status": "success", "data": {"resultType": "scalar", "result": []}}, "returns a scalar; expected a vector"),
        (vector(({"instance": "a"}, 1.0, "1")), "expected node, and resource with cpu or memory"),
    ],
)
def test_other_answers_are_refused(answer: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_answer(json.dumps(answer).encode())


class Prometheus:
    """A server that answers queries with what a test lined up."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str]] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        self.asked.append((request.path, str(form["query"])))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, str | bytes):
            return web.Response(body=answer)
        return web.json_response(answer) if isinstance(answer, dict) else web.Response(status=answer, text="no")

    async def __aenter__(self) -> "Prometheus":
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        self.runner = web.AppRunner(app)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self.runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.runner.cleanup()


def test_the_query_is_sent_below_the_url() -> None:
    async def scenario() -> None:
        async with Prometheus(vector(cpu("a", "1"))) as server:
            source = PrometheusSource(f"{server.url}/prefix/", "usage")
            assert await query_usage(source) == {"a": Sample(1000, -1, 1000.0)}
            assert server.asked == [("/prefix/api/v1/query", "usage")]

    asyncio.run(scenario())


def test_a_server_that_does_not_answer_is_named() -> None:
    async def scenario() -> None:
        async with Prometheus(503) as server:
            with pytest.raises(InputError, match=rf"^{server.url}: the answer has status 503; expected 200"):
                await query_usage(PrometheusSource(server.url))
        with pytest.raises(InputError, match=rf"^{server.url}: cannot connect: Connection refused$"):
            await query_usage(PrometheusSource(server.url))

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http://:9090",
        "http://[::1",
        "http://p:99999",
        "http://p:0",
        "http://p:x",
        "http://a\nb",
        "http://a b",
        "http://p/?x=1",
        "http://p#x",
        "http://ann:hidden@p:99999",
        "http://ann:hid/hidden@p",
        "ftp://ann:hidden@p",
    ],
)
def test_a_url_that_cannot_be_asked_is_refused_in_the_configuration(url: str) -> None:
    (fault,) = PrometheusSource(url).faults("prometheus")
    assert fault.path == "prometheus.url"
    assert "hidden" not in str(fault)
    assert not PrometheusSource("https://ann:hidden@[::1]:9090/prefix/").faults("")


def test_no_message_shows_the_password_of_the_url(caplog: pytest.LogCaptureFixture) -> None:
    source = PrometheusSource("http://ann:hidden@127.0.0.1:1")
    usage = NodeUsage(NodeUsage.Args(prometheus=source))
    pod = make_pod("p")
    with FakeCluster(usage, nodes=[make_node("a")]):
        told = list(usage.explain_data(CycleState(pod), pod))
    assert "http://***@127.0.0.1:1" in caplog.text
    assert "recent sample from http://***@127.0.0.1:1" in told[0]
    assert "hidden" not in caplog.text + "".join(told)


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "error", "error": "bad\n" + "x" * 3_000_000},
        {"status": "success", "data": {"resultType": "y" * 3_000_000}},
        vector(({"node": "a", "other": "z" * 3_000_000}, 1.0, "1")),
        vector(({"node": "a", "resource": "cpu"}, 1.0, "9" * 3_000_000 + "x")),
    ],
)
def test_what_a_server_wrote_is_shown_in_one_short_line(answer: dict[str, Any]) -> None:
    async def scenario() -> str:
        async with Prometheus(answer) as server:
            with pytest.raises(InputError) as caught:
                await query_usage(PrometheusSource(server.url))
        return str(caught.value)

    text = asyncio.run(scenario())
    assert len(text) < 500
    assert text.isprintable()


@pytest.mark.parametrize("amount", ["-1", "+Inf", "-Inf", "NaN", "1e300"])
def test_an_amount_that_no_node_can_use_was_not_measured(amount: str) -> None:
    answer = vector(cpu("a", amount), memory("a", amount), cpu("b", "1"))
    assert read_answer(json.dumps(answer).encode()) == {"a": Sample(-1, -1, 1000.0), "b": Sample(1000, -1, 1000.0)}


DEEP = '{"status": "success", "x": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (DEEP, "nested too deeply"),
        ("{", "truncated"),
        (b'{"status": "\xff"}', "not valid UTF-8"),
        (vector(({"node": "a", "resource": "cpu"}, 1e300, "1")), r'node "a" has the time 1e\+300; expected seconds'),
        (vector(({"node": "a", "resource": "cpu"}, -5.0, "1")), "has the time -5; expected seconds since 1970"),
    ],
    ids=["deep", "cut", "UTF-8", "late", "early"],
)
def test_an_answer_that_is_not_valid_is_a_fault_of_the_input(answer: Any, words: str) -> None:
    async def scenario() -> None:
        async with Prometheus(answer) as server:
            with pytest.raises(InputError, match=words):
                await query_usage(PrometheusSource(server.url))

    asyncio.run(scenario())


def test_the_usage_is_read_on_after_any_exception(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answered(source: PrometheusSource) -> dict[str, Sample]:
        asked.append(source)
        if len(asked) < 4:
            raise KeyError("a")
        if done.is_set():
            await asyncio.Event().wait()
        done.set()
        return {"a": Sample(1000, 0, 5.0)}

    async def until_measured() -> None:
        usage._begin_task()
        async with asyncio.timeout(5):
            await done.wait()
        await asyncio.sleep(0.05)
        (task,) = asyncio.all_tasks() - {asyncio.current_task()}
        usage.stop()  # while the answer is awaited
        await asyncio.wait([task], timeout=5)
        assert task.cancelled()

    monkeypatch.setattr("kubesched.usage.node_usage.query_usage", answered)
    asked: list[PrometheusSource] = []
    done = asyncio.Event()
    usage = NodeUsage(NodeUsage.Args(prometheus=PrometheusSource("http://p"), refresh_seconds=0.01))
    with FakeCluster(usage, nodes=[make_node("a")]):
        asyncio.run(until_measured())
    assert usage._samples == {"a": Sample(1000, 0, 5.0)}
    (said,) = [text for text in caplog.messages if "not read" in text]
    assert said.startswith("NodeUsage: the usage was not read: KeyError: 'a'")


def test_a_deep_object_is_read_as_far_as_needed_and_a_deep_file_is_refused(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    path = tmp_path / "usage.json"
    path.write_text(f'{{"items": [{{"x": {deep}}}]}}')
    with pytest.raises(InputError, match=r"usage.json: it is nested too deeply; expected a NodeMetricsList"):
        read_usage_file(str(path), 0.0)
    known = decode_object(
        "metrics.k8s.io/v1beta1/NodeMetrics",
        f'{{"metadata": {{"name": "a"}}, "usage": {{"cpu": "1"}}, "x": {deep}}}'.encode(),
    )
    assert sample_of(known, 5.0) == Sample(1000, -1, 5.0)


def test_an_answer_is_parsed_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def read(body: bytes) -> dict[str, Sample]:
        threads.append(threading.current_thread())
        return read_answer(body)

    async def scenario() -> None:
        async with Prometheus(vector(cpu("a", "1"))) as server:
            await query_usage(PrometheusSource(server.url))

    monkeypatch.setattr("kubesched.usage.prometheus.read_answer", read)
    asyncio.run(scenario())
    assert threads
    assert threading.main_thread() not in threads


def test_a_large_answer_is_taken_and_a_larger_one_is_refused() -> None:
    large = json.dumps(vector(*(cpu(f"n{number}", "1") for number in range(10_000)))).encode()

    async def scenario() -> None:
        async with Prometheus(large, large + b" " * (16 * 2**20)) as server:
            assert len(await query_usage(PrometheusSource(server.url))) == 10_000
            with pytest.raises(InputError, match=r"the answer has more than 16 MiB; narrow the query"):
                await query_usage(PrometheusSource(server.url))

    asyncio.run(scenario())


def test_a_server_that_cannot_be_reached_is_described_in_the_same_words_each_time() -> None:
    def text() -> str:
        with pytest.raises(InputError) as caught:
            asyncio.run(query_usage(PrometheusSource("https://127.0.0.1:1")))
        return str(caught.value)

    assert text() == text() == "https://127.0.0.1:1: cannot connect: Connection refused"


def test_a_scheduler_starts_without_prometheus_and_each_change_of_the_fault_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "kubesched.plugin")
    nodes = [make_node("a", allocatable={"cpu": "4", "memory": "8Gi"})]
    seen: list[int] = []

    async def scenario() -> None:
        answers = (503, 503, vector(cpu("a", "1"), memory("a", "1000")), 503)
        async with Prometheus(*answers) as server:
            usage = NodeUsage(NodeUsage.Args(prometheus=PrometheusSource(server.url), when_stale="zero"))
            await asyncio.to_thread(story, usage)

    def story(usage: NodeUsage) -> None:
        with FakeCluster(usage, nodes=nodes) as cluster:
            for _ in range(4):
                seen.append(cluster.score(make_pod("p"))["a"])
                asyncio.run(usage.refresh())

    asyncio.run(scenario())
    assert seen == [0, 0, 75, 75]
    said = [text for text in caplog.messages if "NodeUsage" in text]
    assert ["status 503" in said[0], said[1], "status 503" in said[2]] == [
        True,
        "NodeUsage: usage is measured again",
        True,
    ]
    assert len(said) == 3
