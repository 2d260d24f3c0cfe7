"""One plugin file, one configuration, one cluster: offline and behind a stock kube-scheduler decide the same.

kube-scheduler places random pods with our plugins behind the extender protocol. Its decisions are then made again
offline, each on a cluster that holds exactly the pods placed before: every node gets the same verdict, and the node
that was chosen is among the best. Behind the protocol the sum of the plugins' scores is rounded to 0..10; so the
totals compared are those of the default plugins plus what kube-scheduler makes of that.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from kubesched import Explainer, Explanation, IntVector, KubeObject, Pod, set_up
from kubesched.api import EventType, WatchEvent, decode_object
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.extender_process import ExtenderProcess
from tests.integration.processes import wait_until
from tests.integration.random_cluster import homeless_pods, random_nodes, random_pods, random_services

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]

SEED, N_NODES, N_PODS, N_HOMELESS = 20261121, 60, 1000, 30
WEIGHTS = {"RankedNodes": 3, "LargeNodes": 2}
W = sum(WEIGHTS.values())
PLUGINS = [f"{Path(__file__).with_name('ranked_nodes.py')}:{name}" for name in WEIGHTS]
ENABLED = [{"name": name, "weight": weight} for name, weight in WEIGHTS.items()]
CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"multiPoint": {"enabled": ENABLED}}}],
}
SCHEDULED = 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"}'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The configuration that both ways read."""
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(CONFIG))
    return path


@pytest.fixture
def extender(cluster: ControlPlane, tmp_path: Path, config: Path) -> Iterator[ExtenderProcess]:
    """The plugins behind the protocol."""
    kubeconfig = cluster.kubeconfig(tmp_path / "kubeconfig")
    options = ("--config", str(config), "--kubeconfig", str(kubeconfig))
    started = ExtenderProcess(tmp_path / "extender", PLUGINS, *options)
    yield started
    started.stop()


def test_offline_and_behind_kube_scheduler_the_same_is_decided(
    cluster: ControlPlane, start_scheduler: StartScheduler, extender: ExtenderProcess, config: Path
) -> None:
    client, random = cluster.client, Random(SEED)
    there = decoded(client.create_all([*random_nodes(random, N_NODES), *random_services()]))
    assert extender.stanza["weight"] == W
    scheduler = start_scheduler({"percentageOfNodesToScore": 100, "extenders": [extender.stanza]})
    pending = by_name(client.create_all(random_pods(random, N_PODS)))
    scheduler.process.wait_until(lambda: tried(scheduler.metrics()) >= N_PODS, "all pods tried", seconds=60)
    n_placed = scheduler.metrics()[SCHEDULED]
    bound = by_name(wait_until(lambda: all_bound(client, n_placed), "the API server to show it"))
    homeless = by_name(client.create_all(homeless_pods(random, N_HOMELESS)))
    told = wait_until(lambda: conditions(client, homeless), "a condition of each pod that fits nowhere")

    offline = Explainer(there, set_up(config, PLUGINS))
    n_clear = 0
    for name, calls in last_calls(extender).items():  # in the order in which kube-scheduler placed the pods
        if name in bound:
            explanation = offline.explain(pending.pop(name))
            assert_same(explanation, calls, bound[name].node_name)
            n_clear += len(best_nodes(explanation)) == 1
            offline.cluster_state.apply(WatchEvent(EventType.ADDED, "Pod", bound[name]))
    assert len(pending) < N_PODS // 100  # which way ties go decides whether the last ones find room
    assert not any(offline.explain(pod).feasible for pod in pending.values())
    assert n_clear > N_PODS // 2  # where all nodes are equally good, any choice would do

    said = {name: sentence(offline.explain(pod)) for name, pod in homeless.items()}
    assert told == said
    assert wait_until(lambda: events(client, homeless), "an event about each of them") == said
    assert sum("too low a rank" in text for text in said.values()) > N_HOMELESS // 4


def assert_same(explanation: Explanation, calls: dict[str, tuple[Any, Any]], chosen: str) -> None:
    """Hold what kube-scheduler and the extender decided for one pod against the offline decision."""
    request, answer = calls["filter"]
    rejected = {name: status.message for name, status in explanation.rejections.items() if status.plugin in WEIGHTS}
    assert set(request["NodeNames"]) == {*explanation.feasible, *rejected}
    assert set(answer["NodeNames"]) == set(explanation.feasible)
    assert answer["FailedAndUnresolvableNodes"] == rejected
    assert not answer["FailedNodes"]
    if len(explanation.feasible) > 1:  # else kube-scheduler asks for no scores
        _, scores = calls["prioritize"]
        ours = zip(node_names(explanation), extender_scores(explanation).tolist(), strict=True)
        assert {one["Host"]: one["Score"] for one in scores} == dict(ours)
    assert chosen in best_nodes(explanation)


def best_nodes(explanation: Explanation) -> list[str]:
    """The nodes with the highest total, with our scores as kube-scheduler hears them: 0..10, times 10, times W."""
    assert explanation.scores
    total = explanation.scores.total - plugin_scores(explanation) + extender_scores(explanation) * 10 * W
    return [name for name, one in zip(node_names(explanation), total.tolist(), strict=True) if one == total.max()]


def extender_scores(explanation: Explanation) -> IntVector:
    """(feasible nodes,) int64: the sum of our plugins' weighted scores, to the nearest tenth of its range."""
    return (2 * plugin_scores(explanation) + 10 * W) // (20 * W)


def plugin_scores(explanation: Explanation) -> IntVector:
    assert explanation.scores
    return sum((explanation.scores.of(name) for name in WEIGHTS), start=np.zeros(1, dtype=np.int64))


def node_names(explanation: Explanation) -> list[str]:
    assert explanation.scores
    return [explanation.scores.nodes.name(position) for position in range(len(explanation.feasible))]


def sentence(explanation: Explanation) -> str:
    """What the owner of a pod that fits nowhere is told."""
    assert explanation.preemption
    return f"{explanation.message} {explanation.preemption.message}"


def last_calls(extender: ExtenderProcess) -> dict[str, dict[str, tuple[Any, Any]]]:
    """Pod -> verb -> request and answer of its last attempt, in the order of those attempts."""
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    for verb, request, answer in extender.calls():
        name = request["Pod"]["metadata"]["name"]
        if verb == "filter":
            found.pop(name, None)
            found[name] = {}
        found[name][verb] = (request, answer)
    return found


def decoded(documents: Iterable[dict[str, Any]]) -> list[KubeObject]:
    return [decode_object(document["kind"], json.dumps(document).encode()) for document in documents]


def by_name(documents: Iterable[dict[str, Any]]) -> dict[str, Pod]:
    pods = decoded({**document, "kind": "Pod"} for document in documents)  # items of lists do not say their kind
    return {pod.name: pod for pod in pods if isinstance(pod, Pod)}


def tried(metrics: dict[str, float]) -> float:
    """How many pods are placed, or wait because they were found to fit nowhere."""
    return metrics.get(SCHEDULED, 0) + metrics.get('scheduler_pending_pods{queue="unschedulable"}', 0)


def all_bound(client: ApiClient, n: float) -> list[dict[str, Any]]:
    """The pods that are on a node, once there are so many."""
    pods = [pod for pod in client.read_all("Pod") if "nodeName" in pod["spec"]]
    return pods if len(pods) >= n else []


def conditions(client: ApiClient, names: Iterable[str]) -> dict[str, str]:
    """What the PodScheduled conditions of these pods say, once each has one."""
    found = {}
    for pod in client.read_all("Pod"):
        for condition in pod["status"].get("conditions", []):
            if pod["metadata"]["name"] in names and condition["type"] == "PodScheduled":
                found[pod["metadata"]["name"]] = condition["message"]
    return found if len(found) == len(list(names)) else {}


def events(client: ApiClient, names: Iterable[str]) -> dict[str, str]:
    """What the FailedScheduling events say of these pods, once each has one."""
    failed = [event for event in client.read_all("Event") if event["reason"] == "FailedScheduling"]
    found = {event["regarding"]["name"]: event["note"] for event in failed if event["regarding"]["name"] in names}
    return found if len(found) == len(list(names)) else {}
