"""The API server, the network and the extender itself fail under a running kube-scheduler; its metrics say so."""

import json
import os
import re
import signal
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kubesched.testing import make_node, make_pod
from tests.extender.asking import pod, with_names
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.extender_process import ExtenderProcess
from tests.integration.processes import free_port, wait_until
from tests.integration.scheduler_process import retrying
from tests.integration.tcp_proxy import TcpProxy
from tests.serving.certificates import Authority

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

StartExtender = Callable[..., ExtenderProcess]
KINDS = ("Node", "Pod")
AGE = "kubesched_cluster_cache_age_seconds"
KNOWN = "kubesched_extender_nodes_known"
ASSUMED = "kubesched_extender_assumed_pods"
IMPATIENT = Path(__file__).parent / "impatient_extender.py"
HASTY = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}


@pytest.fixture
def network(cluster: ControlPlane) -> Iterator[TcpProxy]:
    """The way from extenders to the API server."""
    with TcpProxy(int(cluster.url.rpartition(":")[2])) as proxy:
        yield proxy


@pytest.fixture
def start_extender(cluster: ControlPlane, network: TcpProxy, tmp_path: Path) -> Iterator[StartExtender]:
    """Starts extenders that watch the cluster through `network`, and end with the test."""
    started: list[ExtenderProcess] = []

    def start(plugin: str, *options: str, **how: Any) -> ExtenderProcess:
        folder = tmp_path / f"extender-{len(started)}"
        folder.mkdir()
        file = cluster.kubeconfig(folder / "kubeconfig")
        file.write_text(file.read_text().replace(cluster.url, f"https://127.0.0.1:{network.port}"))
        started.append(ExtenderProcess(folder, [plugin], "--kubeconfig", str(file), *options, **how))
        return started[-1]

    yield start
    for extender in started:
        extender.stop()


def survivors(extender: ExtenderProcess, *names: str) -> list[str]:
    """What a filter call about nodes answers."""
    url = f"http://127.0.0.1:{extender.port}/filter"
    with urllib.request.urlopen(url, with_names(*names, pod=pod()), timeout=10) as answer:
        found = json.load(answer)
    assert found["Error"] == ""
    kept: list[str] = found["NodeNames"]
    return kept


def by_kind(extender: ExtenderProcess, name: str) -> list[float]:
    """A metric of each kind that is watched."""
    return [extender.metric(f'kubesched_cluster_{name}{{kind="{kind}"}}') for kind in KINDS]


def restarts(extender: ExtenderProcess, reason: str) -> list[float]:
    return [
        extender.metric(f'kubesched_cluster_watch_restarts_total{{kind="{kind}",reason="{reason}"}}') for kind in KINDS
    ]


def calls(extender: ExtenderProcess, verb: str, outcome: str) -> float:
    return extender.metric(f'kubesched_extender_requests_total{{outcome="{outcome}",verb="{verb}"}}')


def nodes_of(client: ApiClient) -> dict[str, str]:
    """The nodes of the pods that have one."""
    pods = client.read_all("Pod")
    return {one["metadata"]["name"]: one["spec"]["nodeName"] for one in pods if "nodeName" in one["spec"]}


def scheduled_condition(client: ApiClient, name: str) -> dict[str, str]:
    """What a pod's status says of its scheduling."""
    conditions: list[Any] = client.get("Pod", name).get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == "PodScheduled" and "reason" in one), {})


def reason_of(client: ApiClient, name: str) -> str:
    return scheduled_condition(client, name).get("reason", "")


def test_calls_are_answered_from_the_cache_while_the_api_server_is_away(
    cluster: ControlPlane, start_extender: StartExtender
) -> None:
    cluster.client.create_all([make_node("node-1"), make_node("node-2")])
    extender = start_extender("OddNodes")
    assert extender.metric(KNOWN) == 2
    cluster.stop_api_server()
    ages = [wait_until(lambda: extender.metric(AGE), "an age")]
    wait_until(lambda: extender.metric(AGE) > ages[0] + 0.5, "the cache to age")
    assert survivors(extender, "node-1", "node-2") == ["node-1"]
    assert extender.get("/readyz") == "ok"
    assert min(restarts(extender, "cut")) >= 1
    cluster.start_api_server()
    cluster.client.create(make_node("node-3"))
    wait_until(lambda: extender.metric(KNOWN) == 3, "the new node", seconds=30)
    assert survivors(extender, "node-1", "node-2", "node-3") == ["node-1", "node-3"]
    assert min(by_kind(extender, "cache_synced")) == 1


def test_a_watch_that_is_cut_goes_on_where_it_was(
    cluster: ControlPlane, network: TcpProxy, start_extender: StartExtender
) -> None:
    extender = start_extender("OddNodes")
    cluster.client.create(make_node("node-1"))
    wait_until(lambda: extender.metric(KNOWN) == 1, "the watch to begin")
    before = by_kind(extender, "lists_total")
    for n in range(2, 5):
        network.cut()
        cluster.client.create(make_node(f"node-{n}"))
        wait_until(lambda n=n: extender.metric(KNOWN) == n, "the new node")
    cluster.client.delete("Node", "node-1")
    wait_until(lambda: extender.metric(KNOWN) == 3, "the node to go")
    assert by_kind(extender, "lists_total") == before
    nodes, pods = restarts(extender, "cut")  # of pods nothing is heard, so that watch takes its time
    assert nodes >= 3
    assert pods >= 1
    assert extender.metric(AGE) < 10


def test_a_history_that_is_forgotten_means_a_new_list(
    cluster: ControlPlane, network: TcpProxy, start_extender: StartExtender
) -> None:
    cluster.client.create_all([make_node("node-1"), make_node("node-2")])
    extender = start_extender("OddNodes")
    before = by_kind(extender, "lists_total")
    network.is_open = False
    network.cut()
    os.kill(extender.process.pid, signal.SIGSTOP)  # else the delays between its tries would grow meanwhile
    cluster.client.delete("Node", "node-1")
    cluster.client.create_all([make_node("node-3"), make_node("node-5"), make_pod("web")])
    cluster.forget_history()
    network.is_open = True
    os.kill(extender.process.pid, signal.SIGCONT)
    wait_until(lambda: min(restarts(extender, "expired")) >= 1, "410", seconds=30)
    wait_until(lambda: min(by_kind(extender, "lists_total")) > max(before), "new lists", seconds=30)
    wait_until(lambda: extender.metric(KNOWN) == 3, "the nodes that are there now", seconds=30)
    assert survivors(extender, "node-2", "node-3", "node-5") == ["node-3", "node-5"]
    cluster.client.create(make_node("node-7"))
    wait_until(lambda: extender.metric(KNOWN) == 4, "the watch to go on")


@pytest.mark.parametrize("is_backed_up", [False, True], ids=["wiped", "restored"])
def test_a_server_whose_past_is_gone_is_listed_and_its_old_nodes_are_dropped(
    cluster: ControlPlane,
    start_scheduler: StartScheduler,
    start_extender: StartExtender,
    tmp_path: Path,
    is_backed_up: bool,
) -> None:
    cluster.client.create_all([make_node("node-1"), make_node("node-2")])
    backup = tmp_path / "backup" if is_backed_up else None
    if backup:
        cluster.back_up(backup)
    cluster.client.delete("Node", "node-2")
    nobody = {"schedulerName": "nobody"}
    cluster.client.create_all([make_pod(f"waits-{n}", spec=nobody) for n in range(1000)])  # versions grow
    cluster.client.create_all([make_node("node-3"), make_node("node-5")])
    extender = start_extender("OddNodes", program=(IMPATIENT,), record=False)
    names = [f"node-{n}" for n in range(1, 10)]
    assert survivors(extender, *names) == ["node-1", "node-3", "node-5"]
    cluster.restore(backup)
    cluster.client.create_all([make_node("node-3"), make_node("node-7")])
    left = ["node-1"] if is_backed_up else []
    wait_until(lambda: survivors(extender, *names) == [*left, "node-3", "node-7"], "the nodes of now", seconds=40)
    assert extender.metric(KNOWN) == (4 if is_backed_up else 2)
    assert extender.get("/readyz") == "ok"
    assert "watching nodes: the resource version went back" in "".join(extender.process.logs())
    cluster.client.create(make_node("node-9"))
    wait_until(lambda: "node-9" in survivors(extender, *names), "the watch to go on at lower versions", seconds=5)
    for name in (*left, "node-3", "node-9"):
        cluster.client.delete("Node", name)
    start_scheduler({"extenders": [extender.stanza], **HASTY})
    cluster.client.create(make_pod("web"))
    wait_until(lambda: nodes_of(cluster.client) == {"web": "node-7"}, "the pod on a node")


def test_a_killed_extender_comes_back_and_knows_what_was_bound_before(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    client.create_all([make_node(f"node-{i}") for i in range(3)])
    port = free_port()
    first = start_extender("Lonely", "--bind", port=port)
    start_scheduler({"extenders": [first.stanza], **HASTY})
    client.create(make_pod("before"))
    wait_until(lambda: len(nodes_of(client)) == 1, "the first pod on its node")
    node = nodes_of(client)["before"]
    wait_until(lambda: calls(first, "bind", "success") == 1, "the answer")
    first.kill()
    client.create_all([make_pod("meanwhile-1"), make_pod("meanwhile-2")])
    wait_until(lambda: reason_of(client, "meanwhile-1") == "SchedulerError", "the pods to fail")
    second = start_extender("Lonely", "--bind", port=port)
    wait_until(lambda: len(nodes_of(client)) == 3, "all pods on nodes", seconds=30)
    assert sorted(nodes_of(client).values()) == ["node-0", "node-1", "node-2"]
    assert nodes_of(client)["before"] == node
    wait_until(lambda: calls(second, "bind", "success") == 2, "the answers")
    bound = [request["PodName"] for extender in (first, second) for _, request, _ in extender.calls("bind")]
    assert sorted(bound) == ["before", "meanwhile-1", "meanwhile-2"]
    wait_until(lambda: second.metric(ASSUMED) == 0, "the watch to show them")


def test_pods_that_cannot_be_bound_are_bound_once_the_api_server_can_be_reached(
    cluster: ControlPlane, network: TcpProxy, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    client.create(make_node("node-0"))
    extender = start_extender("OneDevice", "--http-timeout", "1s")
    start_scheduler({"extenders": [extender.stanza], **HASTY})
    network.is_open = False
    network.cut()
    client.create(make_pod("web"))
    wait_until(lambda: reason_of(client, "web") == "SchedulerError", "the pod to fail")
    assert calls(extender, "bind", "timeout") + calls(extender, "bind", "error") >= 1
    assert nodes_of(client) == {}
    network.is_open = True
    wait_until(lambda: nodes_of(client) == {"web": "node-0"}, "the pod on its node", seconds=40)
    wait_until(lambda: calls(extender, "bind", "success") == 1, "the answer")
    wait_until(lambda: extender.metric(ASSUMED) == 0, "the watch to show it")


def test_a_pod_that_was_rejected_before_the_watch_showed_an_event_is_placed_after_the_next_event(
    cluster: ControlPlane, network: TcpProxy, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    client.create(make_node("node-0"))
    extender = start_extender("OneDevice")
    start_scheduler({"extenders": [extender.stanza], **HASTY})
    client.create(make_pod("first"))
    wait_until(lambda: nodes_of(client) == {"first": "node-0"}, "the first pod on its node")
    client.create(make_pod("second"))
    wait_until(lambda: reason_of(client, "second") == "Unschedulable", "the second pod to be rejected")
    network.is_open = False
    network.cut()
    n_asked = len(extender.calls_for("second", "filter"))
    client.patch("Pod", "first", {"status": {"phase": "Succeeded"}}, part="status")
    wait_until(lambda: len(extender.calls_for("second", "filter")) > n_asked, "the second pod to be rejected again")
    network.is_open = True
    second = retrying(client, "node-0", lambda: nodes_of(client).get("second"))
    assert wait_until(second, "the second pod on the node", seconds=30) == "node-0"


def test_a_binding_whose_answer_is_lost_is_made_once_and_noticed_late(
    cluster: ControlPlane, network: TcpProxy, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    client.create_all([make_node("node-0"), make_node("node-1")])
    extender = start_extender("OneDevice", "--http-timeout", "1s")
    scheduler = start_scheduler({"extenders": [extender.stanza], **HASTY})
    client.create(make_pod("known", spec={"schedulerName": "nobody"}))
    wait_until(lambda: by_kind(extender, "watch_events_total")[1] == 1, "the pod in the cache")
    network.is_mute = True
    body = {"PodName": "known", "PodNamespace": "default", "PodUID": client.get("Pod", "known")["metadata"]["uid"]}
    url = f"http://127.0.0.1:{extender.port}/bind"
    with urllib.request.urlopen(url, json.dumps({**body, "Node": "node-0"}).encode(), timeout=10) as answer:
        said = json.load(answer)["Error"]
    assert "no outcome after 0.8s" in said
    assert calls(extender, "bind", "timeout") == 1
    network.is_mute = False
    network.cut()
    wait_until(lambda: nodes_of(client) == {"known": "node-0"}, "the pod on its node")
    wait_until(lambda: extender.metric(ASSUMED) == 0 and by_kind(extender, "watch_events_total")[1] == 2, "the watch")
    client.create(make_pod("next"))
    wait_until(lambda: nodes_of(client) == {"known": "node-0", "next": "node-1"}, "the next pod beside it", seconds=30)
    assert scheduler.process.is_running


@pytest.mark.parametrize(
    ("untrusted", "words", "log"),
    [
        ("extender", "x509: certificate signed by unknown authority", "alert bad certificate"),
        ("kube-scheduler", "EOF|connection reset by peer", "unable to get local issuer certificate"),
    ],
    ids=["extender", "kube-scheduler"],
)
def test_a_certificate_that_is_not_trusted_is_told_on_both_sides(
    cluster: ControlPlane,
    start_scheduler: StartScheduler,
    start_extender: StartExtender,
    tmp_path: Path,
    untrusted: str,
    words: str,
    log: str,
) -> None:
    cluster.client.create(make_node("node-1"))
    trusted, stranger = (Authority(_folder(tmp_path / name), name) for name in ("trusted", "stranger"))
    pairs = {name: (stranger if name == untrusted else trusted).issue(name) for name in ("extender", "kube-scheduler")}
    certificate, key = map(str, pairs["extender"])
    client_certificate, client_key = map(str, pairs["kube-scheduler"])
    files = ("--tls-cert-file", certificate, "--tls-private-key-file", key, "--client-ca-file", str(trusted.path))
    extender = start_extender("OddNodes", *files, scheme="https")
    tls = {"caFile": str(trusted.path), "certFile": client_certificate, "keyFile": client_key}
    start_scheduler({"extenders": [{**extender.stanza, "tlsConfig": tls}]})
    cluster.client.create(make_pod("web"))
    condition = wait_until(lambda: scheduled_condition(cluster.client, "web"), "a condition")
    assert condition["reason"] == "SchedulerError"
    assert re.search(words, condition["message"])
    failed = lambda: [line for line in extender.process.logs() if "handshake failed" in line]  # noqa: E731
    said = wait_until(failed, "the extender's side of it")
    assert log in said[0]


def _folder(path: Path) -> Path:
    path.mkdir()
    return path
