"""A second scheduler of default-scheduler does not start by mistake; replicas of one scheduler do."""

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from kubesched.api import EventType, WatchEvent
from kubesched.cluster import ApiClient, find_access, list_path
from kubesched.errors import InputError
from kubesched.live import SchedulerOptions, other_scheduler, run_scheduler
from kubesched.live.lease import is_replica, new_identity
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.cluster.fake_api_server import Answer, FakeApiServer, line, objects, says, silence, status, stream
from tests.cluster.fake_timing import run
from tests.live.leases import LeaseServer
from tests.live.test_scheduler_process import HEADER, answering, kubeconfig_of

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
KUBE_SCHEDULER = "control-plane-1_3c5f8f0e-6f0b-4d6e-9a1c-0123456789ab"
REPLICA = "node-1_kubesched_3c5f8f0e-6f0b-4d6e-9a1c-0123456789ab"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_scheduler, "_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(other_scheduler, "_WATCH_SECONDS", 0.3)


def held(holder: str, *, renewed: bool, seconds: int = 1) -> Answer:
    """A Lease that somebody holds, and perhaps renews at each look."""
    looks = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal looks
        looks += renewed
        spec = {
            "holderIdentity": holder,
            "leaseDurationSeconds": seconds,
            "renewTime": f"2026-01-01T00:00:{looks % 60:02}.000000Z",
        }
        return web.json_response({"metadata": {"resourceVersion": str(looks)}, "spec": spec})

    return answer


def pod_on(node: str) -> dict[str, Any]:
    pod: dict[str, Any] = json.loads(make_pod("web-1", namespace="dev").raw)
    pod["metadata"]["resourceVersion"] = "5" if node else "4"
    if node:
        pod["spec"]["nodeName"] = node
    return pod


def a_cluster(server: FakeApiServer, *, bound_to: str = "", pods: tuple[Any, ...] | None = None) -> None:
    """One full node and one pod, which somebody may bind at once."""
    node = json.loads(make_node("n1", allocatable={"cpu": "0", "pods": "0"}).raw)
    exist: dict[str, tuple[Any, ...]] = {"Node": (node,), "Pod": (pod_on(""),) if pods is None else pods}
    changes = {"Pod": [line("MODIFIED", pod_on(bound_to))] if bound_to else []}
    for kind in set_up().watched_kinds:
        server.on("LIST", list_path(kind), objects(*exist.get(kind, ())))
        server.on("WATCH", list_path(kind), stream(*changes.get(kind, [])))


async def start(
    server: FakeApiServer, folder: Path, configuration: dict[str, Any] | None = None, **options: Any
) -> str:
    """Run a scheduler until it leads. Returns: why it did not; "" if it does."""
    fields = {**HEADER, "leaderElection": {"retryPeriod": "20ms", "resourceName": "kubesched"}, **(configuration or {})}
    setup, stop, ready = set_up(yaml.safe_dump(fields).encode()), asyncio.Event(), asyncio.Event()
    async with server:
        given: SchedulerOptions = SchedulerOptions(
            endpoints=None, kubeconfig=str(kubeconfig_of(server, folder)), **options
        )
        running = asyncio.create_task(run_scheduler(setup, given, stop=stop, on_ready=lambda live: ready.set()))
        is_ready = asyncio.create_task(ready.wait())
        await asyncio.wait((running, is_ready), return_when=asyncio.FIRST_COMPLETED, timeout=8)
        stop.set()
        is_ready.cancel()
        try:
            await running
        except InputError as error:
            return str(error)
        assert ready.is_set(), "neither ready nor refused"
        return ""


def named(name: str, **election: Any) -> dict[str, Any]:
    return {
        "profiles": [{"schedulerName": name}],
        "leaderElection": {"retryPeriod": "20ms", "resourceName": "kubesched", **election},
    }


OTHER_LEASE = named("default-scheduler")
NO_ELECTION = named("default-scheduler", leaderElect=False)
THEIR_LEASE = named("default-scheduler", resourceName="kube-scheduler")


@pytest.mark.parametrize("configuration", [{}, NO_ELECTION, THEIR_LEASE, {"delayCacheUntilActive": True}])
def test_beside_a_kube_scheduler_it_stops(configuration: dict[str, Any], tmp_path: Path) -> None:
    server = FakeApiServer()
    a_cluster(server)
    server.on("GET", f"{LEASES}/kube-scheduler", held(KUBE_SCHEDULER, renewed=True))
    told = run(start(server, tmp_path, configuration))
    assert told == (
        f"another scheduler serves default-scheduler: {KUBE_SCHEDULER} renews the Lease kube-system/kube-scheduler; "
        "two schedulers of the same pods overcommit nodes. To compare with it, give --shadow; to take its place, give "
        "--replace (in Python, SchedulerOptions(replaces=True)); to run beside it, give a configuration with another "
        "schedulerName"
    )
    assert {asked.method for asked in server.asked} <= {"GET", "LIST", "WATCH"}


@pytest.mark.parametrize(
    ("configuration", "options"),
    [(NO_ELECTION, {"dry_run": True}), (named("gpu", leaderElect=False), {})],
    ids=["a dry run", "another name"],
)
def test_beside_a_kube_scheduler_it_starts(
    configuration: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    server = FakeApiServer()
    a_cluster(server, bound_to="n1")
    server.on("GET", f"{LEASES}/kube-scheduler", held(KUBE_SCHEDULER, renewed=True))
    assert run(start(server, tmp_path, configuration, **options)) == ""
    assert f"{LEASES}/kube-scheduler" not in {asked.path for asked in server.asked}


@pytest.mark.parametrize(
    "lease",
    [
        says({"metadata": {}, "spec": {"holderIdentity": "", "leaseDurationSeconds": 1}}),
        held(KUBE_SCHEDULER, renewed=False),
        status(403, "Forbidden", "leases is forbidden"),
    ],
    ids=["given back", "not renewed", "not readable"],
)
def test_a_lease_that_nobody_is_known_to_renew_stops_nobody(lease: Answer, tmp_path: Path) -> None:
    server = FakeApiServer()
    a_cluster(server)
    server.on("GET", f"{LEASES}/kube-scheduler", lease)
    assert run(start(server, tmp_path, NO_ELECTION)) == ""


def test_a_kubesched_with_the_lease_of_kube_scheduler_is_another_one_for_us(tmp_path: Path) -> None:
    server = FakeApiServer()
    a_cluster(server)
    server.on("GET", f"{LEASES}/kube-scheduler", held(REPLICA, renewed=True))
    assert f"{REPLICA} renews" in run(start(server, tmp_path))


def candidate(
    server: FakeApiServer, folder: Path, configuration: dict[str, Any], lease: str, **how: Any
) -> Callable[[], None]:
    """Run until the process is a candidate for a Lease: it looks at it again after its check."""

    async def wait() -> None:
        fields = {**HEADER, **configuration}
        setup, stop = set_up(yaml.safe_dump(fields).encode()), asyncio.Event()
        async with server:
            kubeconfig = str(kubeconfig_of(server, folder))
            options: SchedulerOptions = SchedulerOptions(endpoints=None, kubeconfig=kubeconfig, **how)
            running = asyncio.create_task(run_scheduler(setup, options, stop=stop, on_ready=lambda live: None))
            is_candidate = asyncio.create_task(server.until_asked("GET", 9, lease))  # more than by the check alone
            await asyncio.wait((running, is_candidate), return_when=asyncio.FIRST_COMPLETED, timeout=20)
            assert is_candidate.done()
            stop.set()
            await running

    return lambda: run(wait())


def test_to_replace_kube_scheduler_it_waits_for_its_lease(tmp_path: Path) -> None:
    server, lease = FakeApiServer(), f"{LEASES}/kube-scheduler"
    a_cluster(server, bound_to="n1")
    server.on("GET", lease, held(KUBE_SCHEDULER, renewed=True))
    candidate(server, tmp_path, THEIR_LEASE, lease, replaces=True)()


@pytest.mark.parametrize(
    ("configuration", "found"),
    [
        (NO_ELECTION, "off"),
        (OTHER_LEASE, "on the Lease kube-system/kubesched"),
        (named("default-scheduler", resourceName="kube-scheduler", resourceNamespace="b"), "on the Lease b/kube-sched"),
    ],
)
def test_to_replace_kube_scheduler_without_its_lease_is_refused_while_it_runs(
    configuration: dict[str, Any], found: str, tmp_path: Path
) -> None:
    server = FakeApiServer()
    a_cluster(server)
    server.on("GET", f"{LEASES}/kube-scheduler", held(KUBE_SCHEDULER, renewed=True))
    told = run(start(server, tmp_path, configuration, replaces=True))
    assert f"{KUBE_SCHEDULER} renews the Lease kube-system/kube-scheduler; two schedulers" in told
    assert f"--replace takes its place only through its Lease, and leader election is {found}" in told
    assert {asked.method for asked in server.asked} <= {"GET", "LIST", "WATCH"}


def test_to_replace_a_kube_scheduler_that_has_ended_needs_no_lease(tmp_path: Path) -> None:
    server = FakeApiServer()
    a_cluster(server, bound_to="n1")
    server.on("GET", f"{LEASES}/kube-scheduler", held(KUBE_SCHEDULER, renewed=False))
    assert run(start(server, tmp_path, NO_ELECTION, replaces=True)) == ""


def test_a_holder_writes_no_lines_of_its_own(tmp_path: Path) -> None:
    server = FakeApiServer()
    a_cluster(server)
    server.on("GET", f"{LEASES}/kube-scheduler", held("evil\nkubesched: note: forged", renewed=True))
    told = run(start(server, tmp_path))
    assert "\n" not in told
    assert "evil\\nkubesched: note: forged" in told


def test_replicas_on_the_lease_of_kube_scheduler_wait_for_each_other(tmp_path: Path) -> None:
    server, lease = FakeApiServer(), f"{LEASES}/kube-scheduler"
    a_cluster(server, bound_to="n1")
    server.on("GET", lease, held(REPLICA, renewed=True))
    candidate(server, tmp_path, THEIR_LEASE, lease)()


def test_what_a_replica_binds_is_not_bound_by_another_scheduler(tmp_path: Path) -> None:
    server, lease = FakeApiServer(), f"{LEASES}/kubesched"
    a_cluster(server, bound_to="n1")
    server.on("GET", lease, held(REPLICA, renewed=True))
    candidate(server, tmp_path, named("default-scheduler"), lease)()


@pytest.mark.parametrize("configuration", [NO_ELECTION, {}], ids=["no election", "a lease that nobody renews"])
def test_a_pod_that_somebody_else_binds_stops_the_start(configuration: dict[str, Any], tmp_path: Path) -> None:
    server = FakeApiServer()
    a_cluster(server, bound_to="n1")
    server.on("GET", f"{LEASES}/kubesched", held(REPLICA, renewed=False))
    told = run(start(server, tmp_path, configuration))
    assert told.startswith(
        "another scheduler serves default-scheduler: it bound pod dev/web-1 to node n1 while kubesched was starting; "
    )


def test_a_pod_that_is_created_on_its_node_was_bound_by_nobody(tmp_path: Path) -> None:
    server = FakeApiServer()
    a_cluster(server, bound_to="n1", pods=())
    assert run(start(server, tmp_path, NO_ELECTION)) == ""


def test_bindings_after_the_check_are_passed_on_and_stop_nobody(tmp_path: Path) -> None:
    waits, bound = (make_pod("web-1", namespace="dev", node=node, metadata={"uid": "u"}) for node in ("", "n1"))
    events = [WatchEvent(EventType.ADDED, "Pod", waits), WatchEvent(EventType.MODIFIED, "Pod", bound)]
    passed: list[WatchEvent] = []

    async def story() -> None:
        election = set_up().configuration.leader_election
        async with (server := FakeApiServer()), ApiClient(find_access(str(kubeconfig_of(server, tmp_path)))) as client:
            other = other_scheduler.OtherScheduler(client, election, passed.extend)
            await other.check(None)
            other(events)
            await other.check(None)

    run(story())
    assert passed == events


def test_a_standby_that_leads_looks_for_a_kube_scheduler_again(tmp_path: Path) -> None:
    server, ours = FakeApiServer(), LeaseServer()
    a_cluster(server)
    renewed, missing = held(KUBE_SCHEDULER, renewed=True), status(404, "NotFound", "there is no such lease")

    async def of_theirs(request: web.Request) -> web.StreamResponse:
        return await (renewed if ours.lease is not None else missing)(request)

    server.on("GET", f"{LEASES}/kube-scheduler", of_theirs)
    for method, path in (("GET", f"{LEASES}/kubesched"), ("PUT", f"{LEASES}/kubesched"), ("POST", LEASES)):
        server.on(method, path, answering(ours))
    told = run(start(server, tmp_path))
    assert f"{KUBE_SCHEDULER} renews the Lease kube-system/kube-scheduler" in told
    assert ours.lease is not None
    assert not ours.lease["spec"]["holderIdentity"]  # given back


def test_a_lease_that_a_removed_kube_scheduler_left_costs_its_duration_once(tmp_path: Path) -> None:
    async def story() -> list[int]:
        election = set_up().configuration.leader_election
        server = FakeApiServer()
        server.on("GET", f"{LEASES}/kube-scheduler", held(KUBE_SCHEDULER, renewed=False))
        async with server, ApiClient(find_access(str(kubeconfig_of(server, tmp_path)))) as client:
            other = other_scheduler.OtherScheduler(client, election, lambda events: None)
            await other.check(None)
            n = len(server.asked)
            await other.look_again()
            return [n, len(server.asked)]

    before, after = run(story())
    assert before > 1
    assert after == before + 1


@pytest.mark.parametrize(("seconds", "waits"), [(2147483647, "0.7"), (1, "0.7"), (-5, "0")])
def test_the_wait_for_a_lease_is_short_and_logged_at_once(
    seconds: int, waits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(other_scheduler, "_LONGEST_SECONDS", 0.7)
    caplog.set_level("INFO", "kubesched.scheduler")
    server, lease = FakeApiServer(), f"{LEASES}/kube-scheduler"
    a_cluster(server)
    n_looks: list[int] = []
    told = f"waiting up to {waits} s to see whether {KUBE_SCHEDULER} still renews the Lease kube-system/kube-scheduler"

    def note(record: logging.LogRecord) -> bool:
        if told in record.getMessage():
            n_looks.append(len(server.asked_for("GET", lease)))
        return True

    monkeypatch.setattr(other_scheduler._LOG, "filter", note)
    server.on("GET", lease, held(KUBE_SCHEDULER, renewed=False, seconds=seconds))
    assert run(start(server, tmp_path, NO_ELECTION)) == ""
    assert n_looks == [1]


def test_no_answer_about_a_lease_is_logged_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(other_scheduler, "_LOOK_SECONDS", 0.2)
    server, lease = FakeApiServer(), f"{LEASES}/kube-scheduler"
    a_cluster(server)
    server.on("GET", lease, silence, status(404, "NotFound", "there is no such lease"))
    assert run(start(server, tmp_path, NO_ELECTION)) == ""
    (told,) = [text for text in caplog.messages if "kube-system/kube-scheduler" in text]
    assert told.startswith("no pod is scheduled yet: the Lease kube-system/kube-scheduler cannot be read: ")
    assert told.endswith("no answer in time")


def test_a_lease_shows_whether_a_kubesched_holds_it() -> None:
    assert is_replica(new_identity())
    assert not is_replica(KUBE_SCHEDULER)
    assert not is_replica(f"node_kubesched_1_{KUBE_SCHEDULER}")
