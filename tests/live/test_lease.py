"""The Lease and its event on the wire."""

from typing import Any

import pytest

from kubesched.errors import ClusterError, ConflictError
from kubesched.live.lease import Lease, LeaseLock, LeaseSpec
from tests.cluster.fake_api_server import FakeApiServer, client_of, says, status
from tests.cluster.fake_timing import run

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
EVENTS = "/api/v1/namespaces/kube-system/events"
STORED: dict[str, Any] = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {
        "name": "kubesched",
        "namespace": "kube-system",
        "uid": "u1",
        "resourceVersion": "7",
        "labels": {"team": "infra"},
    },
    "spec": {
        "holderIdentity": "other",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-11-22T20:48:17.543091Z",
        "renewTime": "2026-11-22T20:48:19.553248Z",
        "leaseTransitions": 2,
    },
}
OURS = LeaseSpec("me", 15, "2026-11-22T20:50:00.000001Z", "2026-11-22T20:50:00.000001Z", 3)


async def with_lock(server: FakeApiServer) -> None:
    async with server, client_of(server) as client:
        lock = LeaseLock(client, "kube-system", "kubesched", identity="me", component="my-scheduler")
        lease = await lock.get()
        assert lease is not None
        await lock.update(lease, OURS)
        await lock.record(lease, "became leader")


def test_an_update_sends_back_everything_but_the_spec() -> None:
    server = FakeApiServer()
    server.on("GET", f"{LEASES}/kubesched", says(STORED))
    server.on("PUT", f"{LEASES}/kubesched", says(STORED))
    server.on("POST", EVENTS, says({}))
    run(with_lock(server))
    (sent,) = server.asked_for("PUT")
    stamp = "2026-11-22T20:50:00.000001Z"
    spec = {"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 3}
    assert sent.body == {**STORED, "spec": {**spec, "acquireTime": stamp, "renewTime": stamp}}


def test_the_event_is_the_one_of_upstream() -> None:
    server = FakeApiServer()
    server.on("GET", f"{LEASES}/kubesched", says(STORED))
    server.on("PUT", f"{LEASES}/kubesched", says(STORED))
    server.on("POST", EVENTS, says({}))
    run(with_lock(server))
    event = server.asked_for("POST", EVENTS)[0].body
    name, _, suffix = event["metadata"].pop("name").partition(".")
    assert (name, int(suffix, 16) // 10**9) == ("kubesched", 1_700_001_000)
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": "kube-system"},
        "involvedObject": {
            "kind": "Lease",
            "namespace": "kube-system",
            "name": "kubesched",
            "uid": "u1",
            "apiVersion": "coordination.k8s.io/v1",
            "resourceVersion": "7",
        },
        "reason": "LeaderElection",
        "message": "me became leader",
        "source": {"component": "my-scheduler"},
        "firstTimestamp": "2023-11-14T22:30:00Z",
        "lastTimestamp": "2023-11-14T22:30:00Z",
        "count": 1,
        "type": "Normal",
        "reportingComponent": "my-scheduler",
    }


def test_an_event_that_is_refused_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    server = FakeApiServer()
    server.on("GET", f"{LEASES}/kubesched", says(STORED))
    server.on("PUT", f"{LEASES}/kubesched", says(STORED))
    server.on("POST", EVENTS, status(403, "Forbidden", "events is forbidden"))
    run(with_lock(server))
    assert "the event 'became leader' is lost" in caplog.text


def test_a_missing_lease_is_none_and_a_race_to_create_it_is_a_conflict() -> None:
    server = FakeApiServer()
    server.on("POST", LEASES, status(409, "AlreadyExists", "it exists"))

    async def story() -> None:
        async with server, client_of(server) as client:
            lock = LeaseLock(client, "kube-system", "kubesched", identity="me", component="my-scheduler")
            assert await lock.get() is None
            with pytest.raises(ConflictError):
                await lock.create(OURS)

    run(story())
    (sent,) = server.asked_for("POST")
    assert sent.body["metadata"] == {"namespace": "kube-system", "name": "kubesched"}


def test_a_lease_of_others_may_lack_any_field() -> None:
    server = FakeApiServer()
    server.on("GET", f"{LEASES}/kubesched", says({"metadata": {"name": "kubesched"}, "spec": {"renewTime": None}}))

    async def story() -> Lease | None:
        async with server, client_of(server) as client:
            return await LeaseLock(client, "kube-system", "kubesched", identity="me", component="x").get()

    assert run(story()) == Lease({"name": "kubesched"}, LeaseSpec())


def test_a_failed_request_is_not_repeated_by_the_client() -> None:
    server = FakeApiServer()
    server.on("GET", f"{LEASES}/kubesched", status(503, "Unavailable"), says(STORED))

    async def story() -> None:
        async with server, client_of(server) as client:
            lock = LeaseLock(client, "kube-system", "kubesched", identity="me", component="x")
            with pytest.raises(ClusterError, match="503"):
                await lock.get()

    run(story())
    assert len(server.asked) == 1
