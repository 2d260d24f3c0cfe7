"""The election in its own thread: with a busy main loop, a lost lease, a stop."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from kubesched.cluster import Access, ApiClient, Timing
from kubesched.cluster.credentials import ConfiguredCredentials
from kubesched.config import Duration, LeaderElectionConfiguration
from kubesched.errors import ClusterError, InputError, LeaseLostError
from kubesched.live import leadership as module
from kubesched.live.leadership import Leadership, NoElection, ProcessEnd
from kubesched.serving import LoopThread
from tests.live.leases import LeaseServer

ELECTION = LeaderElectionConfiguration(
    lease_duration=Duration(1.5), renew_deadline=Duration(1.2), retry_period=Duration(0.1), resource_name="kubesched"
)


class NotedEnd(ProcessEnd):
    """Notes what would end this process."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.is_set = False
        self.seconds: list[float] = []

    def now(self) -> None:
        self.ended.set()

    def after(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.is_set = True

    def cancel(self) -> None:
        self.is_set = False


class Stage:
    """An API server in a thread of its own, so that a blocked main loop does not block it.

    Attributes:
        is_down: whether it refuses everything.
        is_silent: whether it does not answer events.
    """

    def __init__(self) -> None:
        self.server = LeaseServer()
        self.is_down = False
        self.is_silent = False
        self.end = NotedEnd()
        self.port = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        thread = LoopThread("api server")
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await thread.call(self._start(runner))
        try:
            yield
        finally:
            await thread.call(runner.cleanup())
            await thread.stop()

    def candidate(self) -> Leadership:
        return Leadership(self._connect, ELECTION, "my-scheduler", self.end)

    def _connect(self) -> ApiClient:
        access = Access(label="test", server=f"http://127.0.0.1:{self.port}", credentials=ConfiguredCredentials())
        return ApiClient(access, timing=Timing())

    async def _start(self, runner: web.AppRunner) -> None:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port = runner.addresses[0][1]

    async def _answer(self, request: web.Request) -> web.Response:
        body: Any = json.loads(await request.read() or b"null")
        if self.is_silent and request.path.endswith("/events"):
            await asyncio.sleep(60)
        if self.is_down:
            return web.json_response({"kind": "Status", "code": 500, "message": "down"}, status=500)
        try:
            return web.json_response(self.server.answer(request.method, request.path, body))
        except ClusterError as error:
            return web.json_response({"kind": "Status", "code": error.status}, status=error.status)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(module, "_GRACE_SECONDS", 0.2)
    return Stage()


def run(story: Any) -> None:
    async def within_time() -> None:
        async with asyncio.timeout(10):
            await story

    asyncio.run(within_time())


def test_a_busy_main_loop_does_not_cost_the_lease(stage: Stage) -> None:
    async def story() -> None:
        async with stage.open(), stage.candidate() as candidate:
            await candidate.lead()
            time.sleep(2)  # noqa: ASYNC251 - as a slow plugin
            await asyncio.sleep(0.05)
            assert candidate.is_leader
            assert candidate.check() == ""
            assert not stage.end.ended.is_set()
            assert stage.server.spec["holderIdentity"] == candidate.identity

    run(story())


def test_a_lost_lease_is_reported_to_the_main_loop_which_ends_the_process(stage: Stage) -> None:
    async def story() -> None:
        async with stage.open(), stage.candidate() as candidate:
            await candidate.lead()
            stage.is_down = True
            with pytest.raises(LeaseLostError, match=r"failed to renew lease kube-system/kubesched in time: .*down"):
                await candidate.until_lost()
        assert not stage.end.ended.is_set()
        assert not stage.end.is_set

    run(story())


def test_a_main_loop_that_ends_in_time_gets_no_complaint_though_the_last_event_is_not_answered(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with stage.open(), stage.candidate() as candidate:
            await candidate.lead()
            stage.is_silent = True
            stage.server.held_by("thief")
            with pytest.raises(LeaseLostError):
                await candidate.until_lost()
            await asyncio.sleep(0.1)

    run(story())
    assert "has not stopped" not in caplog.text
    assert not stage.end.ended.is_set()


def test_a_lost_lease_ends_the_process_even_if_the_main_loop_does_not_react(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with stage.open(), stage.candidate() as candidate:
            await candidate.lead()
            stage.server.held_by("thief")
            assert stage.end.ended.wait(5)  # blocks this loop
            assert not candidate.is_leader

    run(story())
    assert "the scheduler has not stopped within 0.2 s; ending the process" in caplog.text
    assert "Leaderelection lost: lease kube-system/kubesched is held by thief" in caplog.text
    assert stage.server.events[-1]["message"].endswith("stopped leading")


def test_the_process_ends_with_its_lease_though_no_thread_can_run(stage: Stage) -> None:
    async def story() -> None:
        async with stage.open(), stage.candidate() as candidate:
            await candidate.lead()
            assert stage.end.is_set
            while len(stage.end.seconds) < 3:  # noqa: ASYNC110 - another thread adds to it, with every renewal
                await asyncio.sleep(0.02)
            assert all(0 < seconds <= 1.5 for seconds in stage.end.seconds)
        assert not stage.end.is_set

    run(story())


def test_a_stop_gives_the_lease_back_and_the_next_one_leads(stage: Stage) -> None:
    async def story() -> None:
        async with stage.open(), stage.candidate() as second:
            await second.lead()
            async with stage.candidate() as third:
                waiting = asyncio.create_task(third.lead())
                await asyncio.sleep(0.3)
                assert not third.is_leader
                waiting.cancel()
            assert stage.server.spec["holderIdentity"] == second.identity
        assert stage.server.spec["holderIdentity"] == ""
        assert {event["message"] for event in stage.server.events} == {f"{second.identity} became leader"}

    run(story())


def test_events_may_be_written_while_the_lease_lasts_and_after_it_was_given_back(stage: Stage) -> None:
    async def story() -> None:
        async with stage.open():
            async with stage.candidate() as candidate:
                assert not candidate.may_record()
                await candidate.lead()
                assert candidate.may_record()
            assert not candidate.may_write()
            assert candidate.may_record()

    run(story())


def test_no_event_may_be_written_after_the_lease_is_lost(stage: Stage) -> None:
    async def story() -> None:
        async with stage.open():
            async with stage.candidate() as candidate:
                await candidate.lead()
                stage.server.held_by("thief")
                with pytest.raises(LeaseLostError):
                    await candidate.until_lost()
                assert not candidate.may_record()
            assert not candidate.may_record()

    run(story())


def test_a_fault_in_the_election_itself_counts_as_a_loss(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_credentials() -> ApiClient:
        raise InputError("the kubeconfig is gone")

    async def story() -> None:
        async with Leadership(no_credentials, ELECTION, "x", stage.end) as candidate:
            waiting = asyncio.create_task(candidate.lead())
            with pytest.raises(LeaseLostError, match="the kubeconfig is gone"):
                await candidate.until_lost()
            waiting.cancel()

    run(story())
    assert "leader election failed" in caplog.text


def test_without_an_election_one_leads_at_once() -> None:
    async def story() -> None:
        async with NoElection() as alone:
            await alone.lead()
            assert alone.leading.is_set()
            assert alone.is_leader
            assert alone.check() == ""

    run(story())
