"""Events for users: what is written, when equal ones become a series, and what is kept of them."""

import asyncio
import re

import pytest

from kubesched.cluster import Discard, EventRecorder, event_recorder
from kubesched.errors import ClusterError, ConflictError, NotFoundError, NotSentError
from kubesched.framework import PluginEvents, RecordEvent, plugin_event
from kubesched.testing import make_object, make_pod
from tests.live.fake_api import FakeApi, Sleepless, on_a_loop

EVENTS = "/namespaces/default/events"
PATH = f"/apis/events.k8s.io/v1{EVENTS}"
POD = make_pod("web", metadata={"uid": "u1", "resourceVersion": "7"})


def failed(pod=POD, note: str = "0/1 nodes are available: 1 Insufficient cpu.") -> RecordEvent:
    return RecordEvent("FailedScheduling", "Warning", "Scheduling", pod, note)


def recorder(api: FakeApi) -> EventRecorder:
    return EventRecorder(api, "host-1")  # type: ignore[arg-type]


def counts(api: FakeApi) -> list[int]:
    """The counts that were written to series."""
    return [body["series"]["count"] for method, _, body in api.requests if method == "PATCH"]


async def pass_time(events: EventRecorder, api: FakeApi, seconds: float) -> None:
    api.timing.seconds += seconds
    events._keep_house()
    await events.finish()


@on_a_loop
async def test_an_event_has_the_fields_of_kube_schedulers():
    api = FakeApi()
    events = recorder(api)
    events.record(failed())
    await events.finish()
    ((method, path, body),) = api.requests
    assert (method, path.endswith(EVENTS)) == ("POST", True)
    assert body["metadata"].pop("name").startswith("web.")
    assert body.pop("eventTime").endswith("Z")
    assert body == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"namespace": "default"},
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-host-1",
        "action": "Scheduling",
        "reason": "FailedScheduling",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "default",
            "name": "web",
            "uid": "u1",
            "resourceVersion": "7",
        },
        "note": "0/1 nodes are available: 1 Insufficient cpu.",
        "type": "Warning",
    }


@on_a_loop
async def test_the_controller_of_a_victims_event_is_the_preemptors_scheduler():
    api = FakeApi()
    events = recorder(api)
    preemptor = make_pod("urgent", spec={"schedulerName": "fast"})
    events.record(RecordEvent("Preempted", "Normal", "Preempting", POD, "Preempted by pod u9 on node n1", preemptor))
    await events.finish()
    assert api.requests[0][2]["reportingController"] == "fast"
    assert "related" not in api.requests[0][2]


@on_a_loop
async def test_equal_events_become_a_series_that_is_written_at_two_and_when_it_is_silent():
    api = FakeApi()
    events = recorder(api)
    for i in range(5):
        events.record(failed(note=f"another text {i}"))
        await events.finish()
    assert [method for method, _, _ in api.requests] == ["POST", "PATCH"]
    assert counts(api) == [2]
    await pass_time(events, api, 6 * 60)
    assert counts(api) == [2, 5]


@on_a_loop
async def test_the_end_of_the_process_writes_no_counts_as_in_kube_scheduler():
    api = FakeApi()
    events = recorder(api)
    for _ in range(6):
        events.record(failed())
        await asyncio.sleep(0.001)
    await events.finish()
    assert counts(api) == [2]


@on_a_loop
async def test_a_series_that_never_ends_is_written_every_half_hour():
    api = FakeApi()
    events = recorder(api)
    for _ in range(32):
        events.record(failed())
        await pass_time(events, api, 60)
    assert counts(api) == [2, 32]


@on_a_loop
async def test_events_of_one_pod_in_another_version_are_other_events():
    api = FakeApi()
    events = recorder(api)
    for version in ("7", "8"):
        events.record(failed(make_pod("web", metadata={"uid": "u1", "resourceVersion": version})))
    await events.finish()
    assert [method for method, _, _ in api.requests] == ["POST", "POST"]
    names = [body["metadata"]["name"] for _, _, body in api.requests]
    assert len(set(names)) == 2


@on_a_loop
async def test_what_comes_while_the_first_event_is_written_is_counted():
    api = FakeApi()
    gate = api.gates[PATH] = asyncio.Event()
    events = recorder(api)
    for _ in range(3):
        events.record(failed())
        await asyncio.sleep(0)
    gate.set()
    await events.finish()
    assert counts(api) == [3]


@on_a_loop
async def test_a_refused_event_is_logged_and_the_next_one_is_new(caplog: pytest.LogCaptureFixture):
    def refuse(method, path, body):
        raise ClusterError("POST: 403 Forbidden", status=403)

    api = FakeApi(refuse)
    events = recorder(api)
    for _ in range(2):
        events.record(failed())
        await events.finish()
    assert [method for method, _, _ in api.requests] == ["POST", "POST"]
    assert "an event is discarded: POST: 403 Forbidden" in caplog.messages
    assert +events.discarded == {Discard.REFUSED: 2}


@on_a_loop
async def test_events_that_are_not_sent_because_the_lease_is_over_give_no_warnings(caplog: pytest.LogCaptureFixture):
    def refuse(method, path, body):
        raise NotSentError("POST: not sent, because the lease of this process is over")

    events = recorder(FakeApi(refuse))
    for i in range(3):
        events.record(failed(numbered(i)))
    await events.finish()
    assert warnings(caplog) == []
    assert +events.discarded == {Discard.LEASE_OVER: 3}
    assert set(events.sizes().values()) == {0}


@pytest.mark.parametrize("error", [ConflictError("exists", status=409), NotFoundError("expired", status=404)])
@on_a_loop
async def test_an_event_that_exists_and_a_series_that_expired_are_no_trouble(error, caplog: pytest.LogCaptureFixture):
    def answer(method, path, body):
        if (method == "POST") == isinstance(error, ConflictError):
            raise error
        return b"{}"

    api = FakeApi(answer)
    events = recorder(api)
    for _ in range(2):
        events.record(failed())
        await events.finish()
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


@on_a_loop
async def test_after_its_event_was_deleted_a_repetition_is_a_new_event(caplog: pytest.LogCaptureFixture):
    def answer(method, path, body):
        if method == "PATCH":
            raise NotFoundError("not found", status=404)
        return b"{}"

    api = FakeApi(answer)
    events = recorder(api)
    for _ in range(3):
        events.record(failed())
        await events.finish()
    assert [method for method, _, _ in api.requests] == ["POST", "PATCH", "POST"]
    assert (+events.discarded, warnings(caplog)) == ({Discard.DELETED: 1}, [])


@on_a_loop
async def test_weeks_of_events_leave_nothing_behind():
    api = FakeApi()
    events = recorder(api)
    for day in range(14):
        for i in range(50):
            events.record(failed(make_pod(f"web-{day}-{i}")))
        await pass_time(events, api, 24 * 3600)
    assert set(events.sizes().values()) == {0}


@pytest.mark.parametrize("name", ["p" * 253, "p" * 235 + ".-" * 4 + "x" * 10, "a." * 126 + "b"])
@on_a_loop
async def test_events_of_pods_with_long_names_have_valid_names_of_their_own(name):
    api = FakeApi()
    events = recorder(api)
    for version in ("1", "2"):
        events.record(failed(make_pod(name, metadata={"resourceVersion": version})))
    await events.finish()
    names = [body["metadata"]["name"] for _, _, body in api.requests]
    assert len(set(names)) == 2
    part = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
    assert all(len(name) <= 253 and re.fullmatch(rf"{part}(\.{part})*", name) for name in names)
    assert all(body["regarding"]["name"] == name for _, _, body in api.requests)


@on_a_loop
async def test_the_reporting_instance_has_at_most_128_characters():
    api = FakeApi()
    events = EventRecorder(api, "h" * 200)  # type: ignore[arg-type]
    events.record(failed())
    await events.finish()
    assert api.requests[0][2]["reportingInstance"] == f"default-scheduler-{'h' * 110}"


def numbered(i: int):
    return make_pod(f"web-{i}", metadata={"uid": f"u{i}"})


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def scheduled(pod) -> RecordEvent:
    return RecordEvent("Scheduled", "Normal", "Binding", pod, f"Successfully assigned {pod.key} to n1")


def told(pod) -> RecordEvent:
    return RecordEvent("Told", "Normal", "my-plugin", pod, "a", controller="gpu", is_of_plugin=True)


def uids(api: FakeApi, reason: str) -> list[str]:
    """The pods of the events that were created, in order."""
    created = [body for method, _, body in api.requests if method == "POST"]
    return [body["regarding"]["uid"] for body in created if body["reason"] == reason]


@pytest.mark.parametrize(("n_failures", "n_lost"), [(5_000, 0), (15_000, 5_588)])
@on_a_loop
async def test_a_burst_of_failures_costs_the_oldest_failures_alone_and_each_is_counted(n_failures, n_lost):
    api = FakeApi()
    gate = api.gates[PATH] = asyncio.Event()
    events = recorder(api)
    events.record(told(POD))
    for i in range(n_failures):
        events.record(failed(numbered(i)))
        if i % 25 == 0:
            events.record(scheduled(numbered(i)))
        if i == 10:
            await asyncio.sleep(0)  # the first 13 are on their way
    gate.set()
    await events.finish()
    assert sorted(uids(api, "Scheduled")) == sorted(f"u{i}" for i in range(0, n_failures, 25))
    assert set(uids(api, "FailedScheduling")) == {f"u{i}" for i in (*range(11), *range(11 + n_lost, n_failures))}
    assert +events.discarded == ({Discard.QUEUE_FULL: n_lost} if n_lost else {})


@on_a_loop
async def test_what_was_recorded_is_what_the_counts_of_series_and_losses_add_up_to(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_recorder, "_MAX_WAITING", 1000)
    api = FakeApi()
    gate = api.gates[PATH] = asyncio.Event()
    events = recorder(api)
    for _ in range(3):
        for i in range(1200):
            events.record(failed(numbered(i)))
    gate.set()
    await events.finish()
    shown = {body["metadata"]["name"]: 1 for method, _, body in api.requests if method == "POST"}
    shown |= {
        path.rpartition("/")[2]: body["series"]["count"] for method, path, body in api.requests if method != "POST"
    }
    assert events.discarded.total() > 0
    assert sum(shown.values()) + events.discarded.total() == 3 * 1200


@on_a_loop
async def test_the_events_of_bindings_are_written_first_and_those_of_plugins_last():
    api = FakeApi()
    events = recorder(api)
    for make in (told, failed, scheduled):
        for i in range(100):
            events.record(make(numbered(i)))
    await events.finish()
    order = [body["reason"] for _, _, body in api.requests]
    assert order == ["Scheduled"] * 100 + ["FailedScheduling"] * 100 + ["Told"] * 100


@on_a_loop
async def test_events_of_plugins_make_room_for_those_of_the_scheduler(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_recorder, "_MAX_WAITING", 1000)
    api = FakeApi()
    events = recorder(api)
    for i in range(1000):
        events.record(told(numbered(i)))
    for i in range(100):
        events.record(failed(numbered(i)))
    events.record(told(POD))
    await events.finish()
    assert len(uids(api, "FailedScheduling")) == 100
    assert uids(api, "Told") == [f"u{i}" for i in range(101, 1000)] + ["u1"]
    assert +events.discarded == {Discard.QUEUE_FULL: 101}


@on_a_loop
async def test_one_warning_a_minute_counts_what_is_discarded(caplog: pytest.LogCaptureFixture):
    api = FakeApi()
    gate = api.gates[PATH] = asyncio.Event()
    events = recorder(api)
    for i in range(10_500):
        events.record(failed(numbered(i)))
    assert (events.discarded.total(), warnings(caplog)) == (500, [])
    for _ in range(2):
        events._keep_house()  # each minute
    events.record(failed(numbered(10_500)))
    gate.set()
    await events.finish()
    text = "{} events are discarded, {} since the start: {} because 10000 others waited"
    assert warnings(caplog) == [text.format(500, 500, 500), text.format(1, 501, 1)]
    events.record(failed(numbered(0)))  # discarded before, so it is new
    await events.finish()
    assert (api.requests[-1][0], len(warnings(caplog))) == ("POST", 2)


@on_a_loop
async def test_a_series_that_finds_no_room_is_written_later_with_its_count(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_recorder, "_MAX_WAITING", 1000)
    api = FakeApi()
    events = recorder(api)
    events.record(failed(numbered(0)))
    await events.finish()
    gate = api.gates[PATH] = asyncio.Event()
    for _ in range(3):
        events.record(failed(numbered(0)))
    for i in range(1, 1001):
        events.record(failed(numbered(i)))
    api.timing.seconds += 6 * 60
    events._keep_house()  # while there is no room
    gate.set()
    await events.finish()
    assert (counts(api), events.discarded.total()) == ([], 0)
    await pass_time(events, api, 60)
    assert counts(api) == [4]
    assert set(events.sizes().values()) == {0}


@on_a_loop
async def test_a_thousand_refused_events_are_two_warnings_and_a_count(caplog: pytest.LogCaptureFixture):
    def refuse(method, path, body):
        raise ClusterError("POST: 403 Forbidden", status=403)

    api = FakeApi(refuse)
    events = recorder(api)
    for i in range(1000):
        events.record(failed(numbered(i)))
    await events.finish()
    assert +events.discarded == {Discard.REFUSED: 1000}
    assert len(api.requests) == 1000
    assert warnings(caplog) == [
        "an event is discarded: POST: 403 Forbidden",
        "1000 events are discarded, 1000 since the start: 1000 refused by the API server",
    ]


class Passing(Sleepless):
    """Sleeping lets the time pass."""

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        await asyncio.sleep(0)


@pytest.mark.parametrize("status", [0, 429, 503])
@on_a_loop
async def test_an_event_is_written_when_the_api_server_is_back_within_two_minutes(status: int):
    def away(method, path, body):
        if api.timing.seconds < 1100:
            raise ClusterError("POST: no answer", status=status)
        return b"{}"

    api = FakeApi(away)
    api.timing = Passing()
    events = recorder(api)
    events.record(failed())
    await events.finish()
    assert (len(api.requests), events.discarded.total()) == (11, 0)


@on_a_loop
async def test_an_event_without_an_answer_for_two_minutes_is_discarded():
    def away(method, path, body):
        raise ClusterError("POST: no answer")

    api = FakeApi(away)
    api.timing = Passing()
    events = recorder(api)
    for _ in range(3):
        events.record(failed())
    await events.finish()
    assert +events.discarded == {Discard.NO_ANSWER: 3}
    assert set(events.sizes().values()) == {0}


@on_a_loop
async def test_what_is_not_written_before_the_deadline_of_the_stop_is_counted(caplog: pytest.LogCaptureFixture):
    api = FakeApi()
    api.gates[PATH] = asyncio.Event()  # never
    events = recorder(api)
    for _ in range(2):
        for i in range(100):
            events.record(failed(numbered(i)))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await events.finish()
    assert +events.discarded == {Discard.STOPPED: 200}
    assert warnings(caplog) == ["200 events are discarded, 200 since the start: 200 because the process ended"]
    assert set(events.sizes().values()) == {0}


@on_a_loop
async def test_an_event_that_comes_while_another_one_has_just_been_written_is_written_at_once():
    api = FakeApi()
    events = recorder(api)
    for i in range(200):
        events.record(failed(numbered(i)))
        for _ in range(i % 8):
            await asyncio.sleep(0)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(api.requests) == 200


@on_a_loop
async def test_the_oldest_series_ends_early_where_too_many_are_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_recorder, "_MAX_KNOWN", 50)
    api = FakeApi()
    events = recorder(api)
    for _ in range(4):
        events.record(failed(numbered(0)))
        await asyncio.sleep(0.001)
    for i in range(1, 101):
        events.record(failed(numbered(i)))
    await events.finish()
    assert events.sizes()["events"] == 50
    assert counts(api) == [2, 4]
    events.record(failed(numbered(0)))
    await events.finish()
    assert api.requests[-1][0] == "POST"
    assert events.discarded.total() == 0


@pytest.mark.parametrize(("is_refused", "written", "lost"), [(False, [2, 3], 0), (True, [2], 2)])
@on_a_loop
async def test_what_comes_while_a_count_is_written_is_not_lost_if_the_series_ends_early(
    is_refused: bool, written: list[int], lost: int, monkeypatch: pytest.MonkeyPatch
):
    def answer(method, path, body):
        if is_refused and method == "PATCH":
            raise ClusterError("PATCH: 403 Forbidden", status=403)
        return b"{}"

    monkeypatch.setattr(event_recorder, "_MAX_KNOWN", 50)
    api = FakeApi(answer)
    events = recorder(api)
    events.record(failed(numbered(0)))
    await events.finish()
    gate = api.gates[f"{PATH}/{api.requests[0][2]['metadata']['name']}"] = asyncio.Event()
    for _ in range(2):
        events.record(failed(numbered(0)))
        await asyncio.sleep(0.001)
    for i in range(1, 51):
        events.record(failed(numbered(i)))
    await asyncio.sleep(0.001)
    gate.set()
    await events.finish()
    assert (counts(api), events.discarded.total()) == (written, lost)


@pytest.mark.parametrize("ends_refused", [False, True], ids=["written later", "never written"])
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ClusterError("PATCH: 403 Forbidden", status=403), Discard.REFUSED),
        (ClusterError("PATCH: no answer"), Discard.NO_ANSWER),
        (NotSentError("PATCH: not sent"), Discard.LEASE_OVER),
    ],
)
@on_a_loop
async def test_a_count_that_is_not_taken_is_discarded_only_if_no_later_one_is_written(
    error: ClusterError, reason: Discard, ends_refused: bool, caplog: pytest.LogCaptureFixture
):
    def answer(method, path, body):
        if method == "PATCH" and is_refusing:
            raise error
        return b"{}"

    is_refusing = True
    api = FakeApi(answer)
    api.timing = Passing()
    events = recorder(api)
    for _ in range(3):
        events.record(failed())
        await events.finish()
    assert (+events.discarded, warnings(caplog)) == ({}, [])
    is_refusing = ends_refused
    await pass_time(events, api, 3600)
    assert (counts(api)[-1], +events.discarded) == (3, {reason: 2} if ends_refused else {})
    assert set(events.sizes().values()) == {0}


@on_a_loop
async def test_weeks_of_losses_of_every_kind_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch):
    errors = [ClusterError("no", status=403), NotSentError("over"), ClusterError("no answer"), None]

    def answer(method, path, body):
        if (error := errors[len(api.requests) % 4]) is not None:
            raise error
        return b"{}"

    monkeypatch.setattr(event_recorder, "_MAX_WAITING", 20)
    api = FakeApi(answer)
    api.timing = Passing()
    events = recorder(api)
    for day in range(21):
        for _ in range(3):
            for i in range(50):
                events.record(failed(make_pod(f"web-{day}-{i}")))
            await asyncio.sleep(0.001)
        await pass_time(events, api, 24 * 3600)
    await pass_time(events, api, 24 * 3600)
    assert set(events.sizes().values()) == {0}


@on_a_loop
async def test_an_event_of_a_plugin_has_its_name_and_may_be_about_any_object():
    api = FakeApi()
    events = recorder(api)
    events.record(
        RecordEvent(
            "Told", "Normal", "my-plugin", make_object("StorageClass", "s"), "a", controller="gpu", is_of_plugin=True
        )
    )
    await events.finish()
    ((_, path, body),) = api.requests
    assert path == "/apis/events.k8s.io/v1/namespaces/default/events"
    assert (body["action"], body["reportingController"]) == ("my-plugin", "gpu")
    regarding = {name: body["regarding"][name] for name in ("apiVersion", "kind", "name")}
    assert regarding == {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "name": "s"}


@on_a_loop
async def test_an_event_may_be_about_an_object_of_any_kind():
    api = FakeApi()
    events = recorder(api)
    quota = make_object("scheduling.example.com/v1/Quota", "team-a", namespace="teams")
    events.record(plugin_event("my-plugin", "gpu", quota, "Warning", "Used", "All of it is used."))
    await events.finish()
    ((_, path, body),) = api.requests
    assert path == "/apis/events.k8s.io/v1/namespaces/teams/events"
    regarding = {name: body["regarding"][name] for name in ("apiVersion", "kind", "name", "namespace")}
    assert regarding == {
        "apiVersion": "scheduling.example.com/v1",
        "kind": "Quota",
        "name": "team-a",
        "namespace": "teams",
    }


@on_a_loop
async def test_events_of_plugins_are_equal_as_in_a_run_without_an_api_server():
    api = FakeApi()
    events, kept = recorder(api), PluginEvents()
    for note in ("n1 is full", "n2 is full"):
        for version in ("1", "2"):
            pod = make_pod("p", metadata={"resourceVersion": version})
            for record in (events.record, kept.record):
                record(plugin_event("my-plugin", "gpu", pod, "Warning", "Full", note))
    await events.finish()
    assert len([method for method, _, _ in api.requests if method == "POST"]) == len(kept.events) == 2
