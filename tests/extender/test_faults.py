"""What clients, clocks and disks do to an extender, and what its metrics say of it."""

import asyncio
import gzip
import json
import ssl
import time
from contextlib import closing, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any

import pytest

from kubesched.serving import TlsFiles
from tests.cluster.fake_api_server import FakeApiServer
from tests.extender.in_loop import asking, call, extending, run, samples, showing
from tests.integration.extender_plugins import OddNodes
from tests.serving.certificates import Authority
from tests.serving.running import Conversation, connected

BODY = json.dumps(asking("node-1", "node-2")).encode()
FAILED = {"node-2": "node number is even"}


def test_a_body_that_trickles_in_is_cut_off_while_others_are_answered(tmp_path: Path) -> None:
    async def story() -> Any:
        api = showing(FakeApiServer(), "node-1", "node-2")
        async with (
            extending(OddNodes, tmp_path, api=api, limits={"body_seconds": 0.3}) as served,
            connected(served.server) as slow,
            connected(served.server) as other,
        ):
            await slow.send("POST", "/filter", BODY[:1], length=10**6)
            others = 0
            trickle = asyncio.create_task(_trickle(slow))
            busy = await served.until("kubesched_extender_in_flight", lambda n: n == 1)
            while not trickle.done():
                answer = await call(other, "filter", asking("node-1", "node-2"))
                others += answer["FailedAndUnresolvableNodes"] == FAILED
            return others, busy, await served.requests("filter")

    others, busy, counted = run(story())
    assert busy == 1
    assert others > 3
    assert counted == {"success": others, "unread": 1}


async def _trickle(client: Any) -> None:
    """A byte now and then, until the connection is closed."""
    with suppress(ConnectionError):
        while True:
            await client.send_raw(b" ")
            await asyncio.sleep(0.02)


def test_a_client_that_hardly_sends_gives_way_where_another_needs_room(tmp_path: Path) -> None:
    async def story() -> Any:
        api = showing(FakeApiServer(), "node-1", "node-2")
        async with (
            extending(OddNodes, tmp_path, api=api, limits={"body_budget_bytes": 10**6}) as served,
            connected(served.server) as slow,
            connected(served.server) as other,
        ):
            await slow.send("POST", "/filter", bytes(15_000), length=900_000)
            await served.until("kubesched_extender_in_flight", lambda n: n == 1)
            start = time.monotonic()
            status, _, text = await other.ask("POST", "/filter", BODY + b" " * 990_000, headers=["X-Long: way"])
            seconds = time.monotonic() - start
            return status, json.loads(text)["NodeNames"], seconds, await slow.answer(), await served.requests("filter")

    status, names, seconds, (refused, _, text), counted = run(story())
    assert (status, names) == (200, ["node-1"])
    assert seconds < 10
    assert (refused, text) == (408, "the body arrived too slowly while others waited for memory\n")
    assert counted == {"success": 1, "unread": 1}


def test_a_client_that_leaves_in_the_middle_of_a_body_leaves_nothing_behind(tmp_path: Path) -> None:
    async def story() -> Any:
        api = showing(FakeApiServer(), "node-1", "node-2")
        limits = {"body_budget_bytes": 2 * len(BODY), "max_body_bytes": 2 * len(BODY)}
        async with extending(OddNodes, tmp_path, api=api, limits=limits) as served:
            for _ in range(3):  # together more than the budget
                async with connected(served.server) as client:
                    await client.send("POST", "/filter", BODY[:-5], length=len(BODY))
                    await served.until("kubesched_extender_in_flight", lambda n: n == 1)
                await served.until("kubesched_extender_in_flight", lambda n: n == 0)
            answer = await served.call("filter", asking("node-1", "node-2"))
            return answer, served.server.bodies.uploads.held, await served.requests("filter")

    answer, held, counted = run(story())
    assert answer["NodeNames"] == ["node-1"]
    assert held == 0
    assert counted == {"success": 1, "unread": 3}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"x" * 2000, [], 413),
        (gzip.compress(b"x" * 2000), ["Content-Encoding: gzip"], 413),
        (b"not gzip", ["Content-Encoding: gzip"], 400),
        (BODY, ["Content-Encoding: compress"], 415),
    ],
    ids=["large", "large when unpacked", "not gzip", "unknown encoding"],
)
def test_a_body_that_is_refused_is_counted_apart(tmp_path: Path, body: bytes, headers: list[str], status: int) -> None:
    async def story() -> Any:
        api = showing(FakeApiServer(), "node-1", "node-2")
        async with (
            extending(OddNodes, tmp_path, api=api, limits={"max_body_bytes": 1000}) as served,
            connected(served.server) as client,
        ):
            found, _, _ = await client.ask("POST", "/filter", body, headers=headers)
            answer = await served.call("filter", asking("node-1", "node-2"))
            return found, answer["NodeNames"], await served.requests("filter")

    assert run(story()) == (status, ["node-1"], {"success": 1, "unread": 1})


def test_nothing_depends_on_the_wall_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = iter(range(10**6))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + (-1) ** next(jumps) * 1e8)

    async def story() -> Any:
        api = showing(FakeApiServer(), "node-1", "node-2")
        async with extending(OddNodes, tmp_path, api=api, http_timeout=2.0) as served:
            answers = [await served.call("filter", asking("node-1", "node-2")) for _ in range(20)]
            return answers, await served.metrics(), await served.requests("filter")

    answers, metrics, counted = run(story())
    assert [answer["FailedAndUnresolvableNodes"] for answer in answers] == [FAILED] * 20
    assert counted == {"success": 20}
    assert 0 <= metrics["kubesched_cluster_cache_age_seconds"] < 20
    assert 0 < metrics['kubesched_extender_request_duration_seconds_sum{verb="filter"}'] < 20


def test_a_thousand_idle_connections_do_not_hinder_the_next(tmp_path: Path) -> None:
    async def story() -> Any:
        api = showing(FakeApiServer(), "node-1", "node-2")
        async with extending(OddNodes, tmp_path, api=api, limits={"max_connections": 1010}) as served:
            idle = []
            for _ in range(1000):
                idle.append(Conversation(*await asyncio.open_connection(*served.server.address)))
                await idle[-1].ask("GET", "/inspect")
            async with connected(served.server) as client:
                await call(client, "filter", asking("node-1", "node-2"))
                start = time.monotonic()
                answer = await call(client, "filter", asking("node-1", "node-2"))
                seconds = time.monotonic() - start
            metrics = await served.metrics()
            for each in idle:
                each.writer.close()
            return answer["NodeNames"], seconds, metrics

    names, seconds, metrics = run(story())
    assert names == ["node-1"]
    assert seconds < 0.5
    assert metrics["process_open_fds"] > 1000
    assert metrics["kubesched_extender_in_flight"] == 0


# --- certificates ---


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def tls(authority: Authority) -> dict[str, Any]:
    certificate, key = authority.issue("extender")
    return {"tls": TlsFiles(certificate=certificate, key=key, client_ca=authority.path)}


def client_context(trusted: Authority, pair: tuple[Path, Path] | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=trusted.path)
    if pair is not None:
        context.load_cert_chain(*pair)
    return context


def ask_over_tls(port: int, context: ssl.SSLContext | None) -> tuple[int, str]:
    """A filter call; status and text, or 0 and the fault. It blocks, for asyncio's clients end without TLS alerts."""
    kind = HTTPConnection if context is None else partial(HTTPSConnection, context=context)
    with closing(kind("localhost", port, timeout=10)) as client:
        try:
            client.request("POST", "/filter", BODY)
            answer = client.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, HTTPException) as error:
            return 0, repr(error)


def test_clients_without_the_right_certificate_do_not_get_in_and_the_log_says_why(
    tmp_path: Path, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    others = tmp_path / "others"
    others.mkdir()
    stranger = Authority(others, "somebody else")
    good = authority.issue("kube-scheduler")
    callers = {
        "right": client_context(authority, good),
        "wrong name": client_context(authority, authority.issue("somebody")),
        "no certificate": client_context(authority),
        "unknown authority": client_context(authority, stranger.issue("kube-scheduler")),
        "expired": client_context(authority, authority.issue("kube-scheduler", files="old", is_expired=True)),
        "does not trust us": client_context(stranger, good),
        "plain HTTP": None,
    }

    async def story() -> Any:
        async with extending(OddNodes, tmp_path, limits=tls(authority), client_names=("kube-scheduler",)) as served:
            port = served.server.address[1]
            answers = {name: await asyncio.to_thread(ask_over_tls, port, context) for name, context in callers.items()}
            answers["right again"] = await asyncio.to_thread(ask_over_tls, port, callers["right"])
            async with connected(served.server, ssl=callers["right"], server_hostname="localhost") as client:
                _, _, page = await client.ask("GET", "/metrics")
            return answers, page

    answers, page = run(story())
    assert answers["right"][0] == answers["right again"][0] == 200
    status, text = answers["wrong name"]
    assert (status, text) == (403, 'the client certificate\'s common name "somebody" is not allowed here\n')
    outside = {name for name, (status, _) in answers.items() if not status}
    assert outside == {"no certificate", "unknown authority", "expired", "does not trust us", "plain HTTP"}
    assert sum(_calls(page).values()) == 2
    assert samples(page)["kubesched_extender_tls_failures_total"] == len(outside)
    logged = [record.getMessage() for record in caplog.records]
    said = [text.rpartition("failed: ")[2] for text in logged if "TLS handshake failed" in text]
    assert sorted(said) == [
        "certificate has expired",
        "http request",
        "peer did not return a certificate",
        "tlsv1 alert unknown ca",
        "unable to get local issuer certificate",
    ]


def _calls(page: str) -> dict[str, float]:
    lines = [line.rpartition(" ") for line in page.splitlines() if line.startswith("kubesched_extender_requests_total")]
    return {series: float(value) for series, _, value in lines if float(value)}


def test_a_certificate_that_is_replaced_is_shown_to_new_connections(tmp_path: Path, authority: Authority) -> None:
    context = client_context(authority, authority.issue("kube-scheduler"))

    def serial(client: Any) -> str:
        found: str = client.writer.get_extra_info("peercert")["serialNumber"]
        return found

    async def story() -> Any:
        secure = {"ssl": context, "server_hostname": "localhost"}
        async with (
            extending(OddNodes, tmp_path, limits=tls(authority)) as served,
            connected(served.server, **secure) as old,
        ):
            before = serial(old)
            authority.issue("extender")
            after = before
            while after == before:
                async with connected(served.server, **secure) as client:
                    after = serial(client)
                    status, _, _ = await client.ask("POST", "/filter", BODY)
                await asyncio.sleep(0.1)
            still, _, _ = await old.ask("POST", "/filter", BODY)
            return status, still

    assert run(story()) == (200, 200)
