import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from kubesched.errors import InputError
from kubesched.testing import FakeCluster, make_node, make_pod
from kubesched.usage import NodeUsage
from kubesched.usage.prometheus import PrometheusSource, query_usage, read_answer
from kubesched.usage.samples import Sample


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
        with pytest.raises(InputError, match=rf"^{server.url}: .*Cannot connect"):
            await query_usage(PrometheusSource(server.url))

    asyncio.run(scenario())


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
