"""The HTTPS endpoints as clients see them, with an API server that answers their reviews."""

import asyncio
import json
import os
import ssl
import threading
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from kubesched.errors import InputError
from kubesched.live import EndpointOptions, Endpoints, HealthChecks
from kubesched.serving import new_registry
from kubesched.setup import set_up
from tests.cluster.fake_api_server import Answer as Reply
from tests.cluster.fake_api_server import FakeApiServer, client_of, says, status
from tests.cluster.fake_timing import FakeTiming
from tests.live.fake_api import on_a_loop
from tests.serving.certificates import Authority

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
PROMETHEUS = {"username": "system:serviceaccount:default:prom", "uid": "u1", "groups": ["system:authenticated"]}
WITH_TOKEN = {"Authorization": "Bearer good"}


class Answer(NamedTuple):
    status: int
    text: str
    headers: dict[str, str]


class Stage(NamedTuple):
    """Endpoints that are served, and the API server that they ask."""

    api: FakeApiServer
    timing: FakeTiming
    endpoints: Endpoints

    async def get(self, path: str, *, tls: ssl.SSLContext | None = None, **headers: str) -> Answer:
        async with (
            aiohttp.ClientSession() as client,
            client.get(self.endpoints.url + path, ssl=tls or trusting_all(), headers=headers) as answer,
        ):
            return Answer(answer.status, await answer.text(), dict(answer.headers))

    def reviews(self, path: str) -> list[dict[str, Any]]:
        return [asked.body["spec"] for asked in self.api.asked_for("POST", path)]


def trusting_all() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def belongs_to(user: dict[str, Any]) -> Reply:
    return says({"status": {"authenticated": True, "user": user}}, 201)


def allows(is_allowed: bool, reason: str = "") -> Reply:
    return says({"status": {"allowed": is_allowed, "reason": reason}}, 201)


ALL_WELL = HealthChecks(is_stopping=lambda: False, is_synced=lambda: True)


@asynccontextmanager
async def served(
    checks: HealthChecks = ALL_WELL, *, tokens: Reply | None = None, access: Reply | None = None, **options: Any
) -> AsyncIterator[Stage]:
    """Serve with an API server that answers reviews; without more, every token is Prometheus', and may do anything."""
    timing = FakeTiming()
    async with FakeApiServer() as api:
        api.on("POST", TOKENS, tokens or belongs_to(PROMETHEUS))
        api.on("POST", ACCESS, access or allows(True))
        endpoints = Endpoints(
            EndpointOptions(port=0, **options),
            set_up().configuration,
            checks,
            metrics=new_registry(),
            new_client=lambda kubeconfig: client_of(api, timing=timing),
        )
        async with endpoints:
            yield Stage(api, timing, endpoints)


# --- health ---


@on_a_loop
async def test_the_checks_are_those_of_kube_scheduler() -> None:
    async with served() as stage:
        pages = [(await stage.get(f"{path}?verbose")).text for path in ("/healthz", "/livez", "/readyz")]
    assert pages == [
        "[+]ping ok\nhealthz check passed\n",
        "[+]ping ok\nlivez check passed\n",
        "[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n",
    ]


@on_a_loop
async def test_with_leader_election_the_lease_is_checked() -> None:
    checks = HealthChecks(leader_election=lambda: "lease lost", is_stopping=lambda: False, is_synced=lambda: True)
    async with served(checks) as stage:
        answers = [await stage.get(path) for path in ("/healthz", "/livez", "/readyz")]
    assert [answer.status for answer in answers] == [500, 200, 500]
    assert answers[0].text == "[-]leaderElection failed: lease lost\nhealthz check failed\n"


@on_a_loop
async def test_readiness_waits_for_the_cluster_and_ends_with_the_process() -> None:
    state = {"synced": False, "stopping": False}
    checks = HealthChecks(is_stopping=lambda: state["stopping"], is_synced=lambda: state["synced"])
    async with served(checks, always_allow_paths=("/readyz*",)) as stage:
        before = await stage.get("/readyz/sched-handler-sync")
        state["synced"] = True
        ready = await stage.get("/readyz")
        state["stopping"] = True
        after = await stage.get("/readyz?exclude=sched-handler-sync")
    assert (before.status, "handlers are not fully synchronized" in before.text) == (500, True)
    assert (ready.status, ready.text) == (200, "ok")
    assert (after.status, "[-]shutdown failed" in after.text) == (500, True)


@on_a_loop
async def test_health_answers_while_the_main_loop_is_busy() -> None:
    async with served() as stage:
        answers: list[bytes] = []

        def ask() -> None:
            answers.append(urllib.request.urlopen(f"{stage.endpoints.url}/livez", context=trusting_all()).read())

        kubelet = threading.Thread(target=ask)
        kubelet.start()
        kubelet.join(10)  # the loop of this test does nothing else
        assert answers == [b"ok"]


# --- who may ask ---


@on_a_loop
async def test_a_client_without_credentials_is_anonymous() -> None:
    async with served(access=allows(False)) as stage:
        answer = await stage.get("/metrics?name[]=x")
        health = await stage.get("/healthz")
        assert health.status == 200
        assert stage.reviews(ACCESS) == [
            {
                "user": "system:anonymous",
                "uid": "",
                "groups": ["system:unauthenticated"],
                "extra": {},
                "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
            }
        ]
    assert (answer.status, answer.headers["Content-Type"]) == (403, "application/json")
    assert json.loads(answer.text) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'forbidden: User "system:anonymous" cannot get path "/metrics"',
        "reason": "Forbidden",
        "details": {},
        "code": 403,
    }


@on_a_loop
async def test_a_token_is_reviewed_and_its_user_authorized() -> None:
    async with served() as stage:
        answer = await stage.get("/metrics", **WITH_TOKEN)
        assert stage.reviews(TOKENS) == [{"token": "good"}]
        (review,) = stage.reviews(ACCESS)
    assert answer.status == 200
    assert "process_cpu_seconds_total" in answer.text
    assert (review["user"], review["uid"], review["groups"]) == tuple(PROMETHEUS.values())


@on_a_loop
async def test_a_wrong_token_is_refused_even_where_anyone_may_ask() -> None:
    async with served(tokens=says({"status": {"error": "invalid bearer token"}}, 201)) as stage:
        answer = await stage.get("/healthz", Authorization="Bearer wrong")
    assert answer.status == 401
    assert json.loads(answer.text) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }


@on_a_loop
async def test_a_token_that_is_not_text_is_reviewed_as_go_would_send_it(caplog: pytest.LogCaptureFixture) -> None:
    async with served(tokens=says({"status": {}}, 201)) as stage:
        port = int(stage.endpoints.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting_all())
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer so\xffso\r\n\r\n")
        assert await reader.readline() == b"HTTP/1.1 401 Unauthorized\r\n"
        writer.close()
        assert stage.reviews(TOKENS) == [{"token": "so\ufffdso"}]
    assert "Traceback" not in caplog.text


@on_a_loop
async def test_answers_of_the_api_server_hold_for_ten_seconds() -> None:
    async with served() as stage:
        counts = []
        for seconds in (0.0, 9.0, 1.0):
            stage.timing.seconds += seconds
            await asyncio.gather(*(stage.get("/metrics", **WITH_TOKEN) for _ in range(3)))
            counts.append((len(stage.reviews(TOKENS)), len(stage.reviews(ACCESS))))
    assert counts == [(1, 1), (1, 1), (2, 2)]


@on_a_loop
async def test_a_review_that_failed_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    async with served(access=status(403, "Forbidden", "no reviews for you")) as stage:
        stage.api.on("POST", ACCESS, allows(False, "not on my list"))
        answers = [await stage.get("/configz") for _ in range(2)]
    assert [answer.status for answer in answers] == [500, 403]
    assert answers[0].text.startswith('Internal Server Error: "/configz": ')
    assert json.loads(answers[1].text)["message"].endswith('cannot get path "/configz": not on my list')
    assert "no reviews for you" in caplog.text


@on_a_loop
async def test_a_token_that_cannot_be_reviewed_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    async with served(tokens=status(403, "Forbidden", "no reviews for you")) as stage:
        assert (await stage.get("/metrics", **WITH_TOKEN)).status == 401
    assert "no reviews for you" in caplog.text


@on_a_loop
async def test_administrators_need_no_review() -> None:
    async with served(tokens=belongs_to({"username": "admin", "groups": ["system:masters"]})) as stage:
        assert (await stage.get("/metrics", **WITH_TOKEN)).status == 200
        assert stage.reviews(ACCESS) == []


def test_a_client_certificate_gives_user_and_groups(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pair = authority.issue("alice", organizations=("devs", "ops"))

    @on_a_loop
    async def story() -> None:
        async with served(client_ca=authority.path) as stage:
            tls = trusting_all()
            tls.load_cert_chain(*pair)
            answer = await stage.get("/version", tls=tls)
            anonymous = await stage.get("/healthz")
            (review,) = stage.reviews(ACCESS)
        assert (answer.status, anonymous.status) == (200, 200)
        assert (review["user"], review["groups"]) == ("alice", ["devs", "ops", "system:authenticated"])

    story()


@on_a_loop
async def test_always_allowed_paths_are_whole_paths_or_beginnings() -> None:
    async with served(access=allows(False), always_allow_paths=("/metrics", "/readyz/*")) as stage:
        paths = ("/metrics", "//metrics", "/readyz/shutdown", "/readyz", "/healthz", "/metrics/resources", "/nothing")
        statuses = [(await stage.get(path)).status for path in paths]
    assert statuses == [200, 200, 200, 403, 403, 403, 403]


# --- pages ---


@on_a_loop
async def test_configz_shows_the_whole_configuration() -> None:
    async with served(always_allow_paths=("*",)) as stage:
        shown = json.loads((await stage.get("/configz")).text)
        missing = await stage.get("/metrics/resources")
    configuration = shown["componentconfig"]
    assert (configuration["kind"], configuration["parallelism"]) == ("KubeSchedulerConfiguration", 16)
    assert configuration["profiles"][0]["schedulerName"] == "default-scheduler"
    assert missing.status == 404


# --- the certificate ---


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no files in memory")
@on_a_loop
async def test_a_certificate_that_the_server_makes_for_itself_is_in_no_folder() -> None:
    def is_open() -> bool:
        open_files = [os.path.realpath(one) for one in Path("/proc/self/fd").iterdir()]
        return "/memfd:kube-scheduler.key (deleted)" in open_files

    async with served() as stage:
        assert (await stage.get("/healthz")).status == 200
        assert is_open()
    assert not is_open()


def test_a_pair_in_the_folder_is_made_once(tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    certificate, key = folder / "kube-scheduler.crt", folder / "kube-scheduler.key"

    @on_a_loop
    async def serve() -> None:
        async with served(certificate_folder=folder) as stage:
            trusted = ssl.create_default_context(cafile=str(certificate))
            assert (await stage.get("/healthz", tls=trusted)).status == 200

    serve()
    before = certificate.read_bytes(), key.read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600
    serve()
    assert (certificate.read_bytes(), key.read_bytes()) == before


@on_a_loop
async def test_a_port_that_is_taken_is_an_error() -> None:
    async with served() as stage:
        port = int(stage.endpoints.url.rpartition(":")[2])
        second = Endpoints(
            EndpointOptions(port=port),
            set_up().configuration,
            ALL_WELL,
            metrics=new_registry(),
            new_client=lambda kubeconfig: client_of(stage.api),
        )
        with pytest.raises(InputError, match="the port is in use"):
            async with second:
                pass
