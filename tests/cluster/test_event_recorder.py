"""Events for users: what is written, when equal ones become a series, and what is kept of them."""

import asyncio
import re

import pytest

from kubesched.cluster import EventRecorder
from kubesched.errors import ClusterError, ConflictError, NotFoundError, NotSentError
from kubesched.framework import PluginEvents, RecordEvent, plugin_event
from kubesched.testing import make_object, make_pod
from tests.live.fake_api import FakeApi, on_a_loop

EVENTS = "/namespaces/default/events"
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
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    gate = api.gates[path] = asyncio.Event()
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
    assert "an event is lost: POST: 403 Forbidden" in caplog.messages


@on_a_loop
async def test_events_that_are_not_sent_because_the_lease_is_over_give_no_warnings(caplog: pytest.LogCaptureFixture):
    def refuse(method, path, body):
        raise NotSentError("POST: not sent, because the lease of this process is over")

    events = recorder(FakeApi(refuse))
    for i in range(3):
        events.record(failed(numbered(i)))
    await events.finish()
    assert warnings(caplog) == []
    assert events.sizes() == {"events": 0, "event writes": 0}


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
async def test_weeks_of_events_leave_nothing_behind():
    api = FakeApi()
    events = recorder(api)
    for day in range(14):
        for i in range(50):
            events.record(failed(make_pod(f"web-{day}-{i}")))
        await pass_time(events, api, 24 * 3600)
    assert events.sizes() == {"events": 0, "event writes": 0}


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


@on_a_loop
async def test_a_thousand_events_wait_and_one_warning_a_minute_counts_the_others(caplog: pytest.LogCaptureFixture):
    api = FakeApi()
    gate = api.gates["/apis/events.k8s.io/v1/namespaces/default/events"] = asyncio.Event()
    events = recorder(api)
    for i in range(1500):
        events.record(failed(numbered(i)))
    assert events.sizes() == {"events": 1000, "event writes": 1000}
    assert (events.n_dropped, warnings(caplog)) == (500, [])
    for _ in range(2):
        events._keep_house()  # each minute
    events.record(failed(numbered(1500)))
    gate.set()
    await events.finish()
    assert warnings(caplog) == [f"{n} events are lost: 1000 were already waiting to be written" for n in (500, 1)]
    assert [body["regarding"]["uid"] for _, _, body in api.requests] == [f"u{i}" for i in range(1000)]
    events.record(failed(numbered(1400)))  # dropped before, so it is new
    await events.finish()
    assert (api.requests[-1][0], len(warnings(caplog))) == ("POST", 2)


@on_a_loop
async def test_a_series_that_finds_no_room_is_written_later_with_its_count():
    api = FakeApi()
    events = recorder(api)
    events.record(failed(numbered(0)))
    await events.finish()
    gate = api.gates["/apis/events.k8s.io/v1/namespaces/default/events"] = asyncio.Event()
    for i in range(1, 1001):
        events.record(failed(numbered(i)))
    for _ in range(3):
        events.record(failed(numbered(0)))
    api.timing.seconds += 6 * 60
    events._keep_house()  # while there is no room
    gate.set()
    await events.finish()
    assert (counts(api), events.n_dropped) == ([], 0)
    await pass_time(events, api, 60)
    assert counts(api) == [4]
    assert events.sizes() == {"events": 0, "event writes": 0}


@on_a_loop
async def test_events_of_plugins_leave_half_of_the_room_to_the_scheduler():
    api = FakeApi()
    events = recorder(api)
    for number in range(600):
        events.record(
            RecordEvent("Told", "Normal", "my-plugin", make_pod(f"p{number}"), "a", controller="gpu", is_of_plugin=True)
        )
    assert events.n_dropped == 100
    events.record(failed())
    assert events.n_dropped == 100
    await events.finish()
    assert len(api.requests) == 501


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
