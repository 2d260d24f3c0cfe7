"""What becomes of a pod, and of what a plugin reserved for it, when binding it goes wrong."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kubesched import CycleState, Plugin, Pod, Status
from kubesched.cluster import Timing
from tests.cluster.fake_api_server import FakeApiServer, no_answer, says, silence, status
from tests.extender.in_loop import LateNews, a_pod, extending, run, showing

BINDING = "/api/v1/namespaces/d/pods/p/binding"
POD = "/api/v1/namespaces/d/pods/p"
ASSUMED = "kubesched_extender_assumed_pods"
ONCE = [("reserve", "p", "node-1")]
UNDONE = [*ONCE, ("unreserve", "p", "node-1")]


class Diary(Plugin):
    """Writes down what is reserved, and holds pods back in pre_bind until it is told not to."""

    def __init__(self, args: Any = None) -> None:
        super().__init__(args)
        self.calls: list[tuple[str, str, str]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        self.calls.append(("reserve", pod.name, node_name))
        return Status.SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.calls.append(("unreserve", pod.name, node_name))

    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        await self.gate.wait()
        return Status.SUCCESS


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delays before second tries take a hundredth of their time."""
    monkeypatch.setattr(Timing, "sleep", lambda self, seconds: asyncio.sleep(seconds / 100))


@pytest.fixture
def api() -> FakeApiServer:
    return FakeApiServer()


async def until_written(calls: list[Any], wanted: list[Any]) -> None:
    """Wait until the diary has these entries."""
    while calls != wanted:  # noqa: ASYNC110 - a plugin has no events of its own
        await asyncio.sleep(0.01)


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("answer", [no_answer, status(500, "InternalError", "no etcd")], ids=["down", "failing"])
def test_an_api_server_that_cannot_bind_undoes_the_reservation(tmp_path: Path, api: FakeApiServer, answer: Any) -> None:
    showing(api, "node-1", pods=(a_pod("p"),))
    api.on("POST", BINDING, answer)
    api.on("GET", POD, answer)

    async def story() -> Any:
        async with extending(Diary, tmp_path, api=api) as served:
            error = await served.bind("p", "node-1")
            return error, served.plugin().calls, await served.metrics(), await served.requests("bind")

    error, calls, metrics, counted = run(story())
    assert BINDING in error or POD in error
    assert calls == UNDONE
    assert counted == {"error": 1}
    assert metrics[ASSUMED] == 0


def test_a_silent_api_server_costs_no_more_than_the_time_of_the_call_and_late_success_is_noticed(
    tmp_path: Path, api: FakeApiServer
) -> None:
    news = LateNews()
    showing(api, "node-1", pods=(a_pod("p"),), pod_watch=news.answer)
    taken = asyncio.Event()

    async def answer_late(request: Any) -> Any:
        await taken.wait()
        return await says({}, 201)(request)

    api.on("POST", BINDING, answer_late)

    async def story() -> Any:
        async with extending(Diary, tmp_path, api=api, http_timeout=0.5) as served:
            first = await served.bind("p", "node-1")
            second = await served.bind("p", "node-1")  # joins
            other = await served.bind("p", "node-2")
            held = list(served.plugin().calls)
            taken.set()
            await served.until(ASSUMED, lambda n: n == 1)
            news.tell("MODIFIED", a_pod("p", "node-1", "11"))
            await served.until(ASSUMED, lambda n: n == 0)
            third = await served.bind("p", "node-1")
            return first, second, other, third, held, served.plugin().calls, await served.requests("bind")

    first, second, other, third, held, calls, counted = run(story())
    assert first == second
    assert first.startswith("binding d/p: no outcome after 0.4s; if the API server has accepted the Binding")
    assert other == "pod d/p is being bound to node node-1, not to node-2"
    assert third == ""
    assert held == calls == ONCE
    assert counted == {"timeout": 2, "error": 1, "success": 1}
    assert len(api.asked_for("POST", BINDING)) == 1


@pytest.mark.usefixtures("hurry")
def test_a_binding_whose_answer_was_lost_is_a_success(tmp_path: Path, api: FakeApiServer) -> None:
    showing(api, "node-1", pods=(a_pod("p"),))
    api.on("POST", BINDING, no_answer, status(409, "Conflict", "pod p is already assigned to node"))
    api.on("GET", POD, says(a_pod("p", "node-1")))

    async def story() -> Any:
        async with extending(Diary, tmp_path, api=api) as served:
            return await served.bind("p", "node-1"), served.plugin().calls, await served.metrics()

    error, calls, metrics = run(story())
    assert (error, calls) == ("", ONCE)
    assert metrics[ASSUMED] == 1


@pytest.mark.usefixtures("hurry")
def test_an_undone_binding_that_had_worked_counts_on_its_node_once_the_watch_shows_it(
    tmp_path: Path, api: FakeApiServer
) -> None:
    news = LateNews()
    showing(api, "node-1", pods=(a_pod("p"),), pod_watch=news.answer)
    api.on("POST", BINDING, no_answer)
    api.on("GET", POD, no_answer)

    async def story() -> Any:
        async with extending(Diary, tmp_path, api=api) as served:
            error = await served.bind("p", "node-1")
            news.tell("MODIFIED", a_pod("p", "node-1", "11"))
            await served.until('kubesched_cluster_watch_events_total{kind="Pod"}', lambda n: n == 2)
            again = await served.bind("p", "node-1")
            elsewhere = await served.bind("p", "node-2")
            return error, again, elsewhere, served.plugin().calls

    error, again, elsewhere, calls = run(story())
    assert error
    assert again == ""
    assert elsewhere == "pod d/p is already bound to node node-1, not to node-2"
    assert calls == UNDONE


def test_two_calls_for_one_pod_make_one_binding(tmp_path: Path, api: FakeApiServer) -> None:
    showing(api, "node-1", pods=(a_pod("p"),))
    api.on("POST", BINDING, says({}, 201))

    async def story() -> Any:
        async with extending(Diary, tmp_path, api=api) as served:
            diary = served.plugin()
            diary.gate.clear()
            both = [asyncio.create_task(served.bind("p", "node-1")) for _ in range(2)]
            await served.until("kubesched_extender_in_flight", lambda n: n == 2)
            diary.gate.set()
            return await asyncio.gather(*both), diary.calls, await served.metrics()

    errors, calls, metrics = run(story())
    assert (errors, calls) == (["", ""], ONCE)
    assert metrics[ASSUMED] == 1
    assert len(api.asked_for("POST", BINDING)) == 1


def test_a_call_that_joins_gets_its_own_time(tmp_path: Path, api: FakeApiServer) -> None:
    showing(api, "node-1", pods=(a_pod("p"),))
    api.on("POST", BINDING, says({}, 201))

    async def story() -> Any:
        async with extending(Diary, tmp_path, api=api, http_timeout=2.5) as served:
            diary = served.plugin()
            diary.gate.clear()
            first = asyncio.create_task(served.bind("p", "node-1"))
            await until_written(diary.calls, ONCE)
            await asyncio.sleep(0.3)  # less than the first call has
            second = asyncio.create_task(served.bind("p", "node-1"))
            late = await first
            diary.gate.set()
            return late, await second, diary.calls, await served.requests("bind")

    late, second, calls, counted = run(story())
    assert "no outcome after 2s" in late
    assert (second, calls) == ("", ONCE)
    assert counted == {"timeout": 1, "success": 1}


def test_a_call_that_nobody_waits_for_any_more_is_undone_before_it_writes(tmp_path: Path, api: FakeApiServer) -> None:
    showing(api, "node-1", pods=(a_pod("p"),))
    api.on("POST", BINDING, says({}, 201))

    async def story() -> Any:
        async with extending(Diary, tmp_path, api=api, http_timeout=0.25) as served:
            diary = served.plugin()
            diary.gate.clear()
            late = await served.bind("p", "node-1")
            undone = list(diary.calls)
            diary.gate.set()
            return late, undone, await served.bind("p", "node-1"), diary.calls

    late, undone, again, calls = run(story())
    assert "no outcome after 0.2s" in late
    assert (undone, again, calls) == (UNDONE, "", UNDONE + ONCE)


@pytest.mark.usefixtures("hurry")
def test_a_pod_that_cannot_be_looked_up_is_an_error_without_a_trace(
    tmp_path: Path, api: FakeApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    showing(api, "node-1")
    api.on("GET", POD, no_answer)

    async def story() -> Any:
        async with extending(Diary, tmp_path, api=api) as served:
            return await served.bind("p", "node-1"), await served.requests("bind")

    error, counted = run(story())
    assert POD in error
    assert "internal error" not in error
    assert not [record for record in caplog.records if record.exc_info]
    assert counted == {"error": 1}


def test_a_pod_made_again_under_its_name_is_another_pod(tmp_path: Path, api: FakeApiServer) -> None:
    news = LateNews()
    showing(api, "node-1", pods=(a_pod("p", uid="old"),), pod_watch=news.answer)
    api.on("POST", BINDING, says({}, 201))
    api.on("GET", POD, says(a_pod("p", uid="new", version="12")))

    async def story() -> Any:
        async with extending(Diary, tmp_path, api=api) as served:
            bound = await served.bind("p", "node-1", "old")
            ahead = await served.bind("p", "node-1", "new")  # the watch does not know it yet
            news.tell("DELETED", a_pod("p", "node-1", "11", uid="old"))
            await served.until(ASSUMED, lambda n: n == 1)
            news.tell("ADDED", a_pod("p", version="12", uid="new"))
            stale = await served.bind("p", "node-1", "old")
            return bound, ahead, stale, served.plugin().calls, await served.metrics()

    bound, ahead, stale, calls, metrics = run(story())
    assert (bound, ahead) == ("", "")
    assert stale == "pod d/p was deleted and re-created: asked for old, found new"
    assert calls == ONCE * 2
    assert metrics[ASSUMED] == 1


def test_a_binding_that_hangs_does_not_hold_up_the_end(tmp_path: Path, api: FakeApiServer) -> None:
    showing(api, "node-1", pods=(a_pod("p"),))
    api.on("POST", BINDING, silence)

    async def story() -> Any:
        loop = asyncio.get_running_loop()
        async with extending(Diary, tmp_path, api=api, http_timeout=0.25, limits={"drain_seconds": 1.0}) as served:
            late = await served.bind("p", "node-1")
            diary, start = served.plugin(), loop.time()
        return late, diary.calls, loop.time() - start

    late, calls, seconds = run(story())
    assert "no outcome after 0.2s" in late
    assert calls == ONCE  # it may have been made
    assert seconds < 3
