"""Drains of clusters with pods of a manifest that name their node: a kubelet starts them before the first eviction."""

import io
import json
from typing import Any

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.planning import Drain, Drainer, Fate, drain
from kubesched.session import Session
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from kubesched.testing import make_node, make_pod
from tests.planning.drain_clusters import budget, owned_by
from tests.planning.test_fit import deployment, stream

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}
NODES = [make_node(f"n{i}", allocatable=ROOM) for i in (1, 2, 3)]
BARE = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "bound", "labels": {"app": "web"}},
    "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
}


def web(name: str, node: str = "n1") -> Pod:
    return make_pod(
        name, node=node, labels={"app": "web"}, requests={"cpu": "1"}, metadata=owned_by("ReplicaSet", "web")
    )


def added(manifest: dict[str, Any], *objects: KubeObject) -> list[KubeObject]:
    cluster = io.BytesIO(json.dumps([json.loads(one.raw) for one in (*NODES, *objects)]).encode())
    return list(load_snapshot(cluster, manifests=[stream(manifest)]))


def fates(result: Drain) -> dict[str, Fate]:
    return {pod.pod.partition("/")[2]: pod.fate for pod in result.pods}


def test_a_pod_without_a_controller_that_names_a_drained_node_is_lost():
    result = drain(added(BARE, web("web-1")), ["n1"])
    assert fates(result) == {"web-1": Fate.MOVES, "bound": Fate.LOST}
    assert not result.can_go


def test_every_node_is_drained_alone_from_the_same_cluster():
    with Drainer(added(BARE, web("web-1")), set_up()) as drainer:
        results = [(fates(one), one.n_placed_before) for one in (*drainer.each(), *drainer.each())]
    one = [({"web-1": Fate.MOVES, "bound": Fate.LOST}, 1), ({}, 1), ({}, 1)]
    assert results == one * 2


def test_the_pod_of_a_template_that_names_a_drained_node_comes_back():
    result = drain(added(deployment(1, nodeName="n1")), ["n1"])
    assert list(fates(result).values()) == [Fate.RETURNS]


def test_what_is_taken_back_is_not_started_by_the_next_run():
    cluster = added(BARE)
    session = Session(cluster)
    session.schedule()
    (bound,) = (one for one in cluster if isinstance(one, Pod))
    with session.fork():
        session.change([bound], session.pods_on("n1"))
    report = session.schedule()
    session.close()
    assert report.placements == ()
    assert [pod.key for pod in session.pods_on("n1")] == ["default/bound"]


@pytest.mark.parametrize("where", ["n2", "n3"])
def test_a_pod_that_a_kubelet_started_once_counts_once_in_each_step_of_a_budget(where: str):
    """The budget allows one eviction, and the pod that was started one more; it does not grow with each step."""
    bound = {**BARE, "spec": {**BARE["spec"], "nodeName": where}}
    pods = [web(f"web-{i}") for i in range(5)]
    result = drain(added(bound, *pods, budget("b", "web", 1, currentHealthy=5, desiredHealthy=4)), ["n1"])
    assert set(fates(result).values()) == {Fate.MOVES}
    assert [sum(pod.step == step for pod in result.pods) for step in (1, 2, 3)] == [2, 2, 1]


def test_a_budget_holds_up_the_eviction_of_a_pod_that_a_kubelet_has_started():
    """As that of any running pod: its own start is what allows one eviction, and the other one waits for it."""
    result = drain(added(BARE, web("web-1"), budget("b", "web", 0, currentHealthy=1, desiredHealthy=1)), ["n1"])
    assert [pod.step for pod in result.pods] == [1, 2]
