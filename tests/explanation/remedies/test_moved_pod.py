"""A pod that is moved to another node makes room for the pending one."""

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.explanation import Explainer
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, fixes_of, texts

HOST = "kubernetes.io/hostname"
TOLERATES_ALL = "(it tolerates every taint: first narrow its tolerations or set a node selector, or it may come back)"
GPU = "nvidia.com/gpu"


def owned(name: str, node: str, cpu: str, *, kind: str = "ReplicaSet", **more: object) -> Pod:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}
    return make_pod(name, node=node, requests={"cpu": cpu}, metadata={"ownerReferences": [owner]}, **more)


def moves(pod: Pod, *objects: KubeObject) -> list[str]:
    return [text for text in texts(pod, *objects) if text.startswith("move ")]


@pytest.fixture
def two() -> list[KubeObject]:
    """Two nodes with 2 cpu each."""
    return [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]


TIED = {"nodeSelector": {HOST: "n2"}}
PENDING = make_pod("p", requests={"cpu": "1200m"})


def test_the_smallest_pod_that_is_enough_moves_to_where_it_fits(two):
    pods = [owned("small", "n1", "200m"), owned("fits", "n1", "500m"), owned("large", "n1", "600m")]
    said = texts(PENDING, *two, *pods, owned("other", "n2", "1400m"))
    assert said[:2] == ["move default/fits from n1 to n2", "add a node like n2"]


def test_the_pod_is_on_the_other_node_afterwards(two):
    pods = [owned("first", "n1", "1"), owned("other", "n2", "1")]
    (fix,) = [fix for text, fix in fixes_of(PENDING, *two, *pods).items() if text.startswith("move ")]
    objects, _ = fix.change.apply([*two, *pods], PENDING)
    assert {obj.name: obj.node_name for obj in objects if isinstance(obj, Pod)} == {"first": "n2", "other": "n2"}


def test_a_pod_of_a_higher_priority_is_moved_last_and_named_with_it(two):
    pods = [owned("prod", "n1", "500m", priority=1000), owned("large", "n1", "600m"), owned("other", "n2", "1400m")]
    assert moves(PENDING, *two, *pods) == ["move default/large from n1 to n2"]
    said = fixes_of(PENDING, *two, owned("prod", "n1", "900m", priority=1000), owned("own", "n2", "1", spec=TIED))
    assert list(said)[-2:] == [
        "lower the request to 1.1 cpu",
        "move default/prod from n1 to n2 (default/prod has priority 1000)",
    ]
    assert not list(said.values())[-1].keeps_intent


def test_a_larger_pod_moves_where_the_smallest_one_has_no_place(two):
    tied = {"nodeSelector": {HOST: "n1"}}
    pods = [owned("tied", "n1", "500m", spec=tied), owned("free", "n1", "600m"), owned("other", "n2", "1400m")]
    assert moves(PENDING, *two, *pods) == ["move default/free from n1 to n2"]


@pytest.mark.parametrize(
    "stays",
    [
        make_pod("bare", node="n1", requests={"cpu": "1"}),
        owned("daemon", "n1", "1", kind="DaemonSet"),
        owned("static", "n1", "1", kind="Node"),
        owned("kept", "n1", "1", labels={"app": "kept"}),
    ],
    ids=lambda pod: pod.name,
)
def test_a_pod_that_no_controller_moves_or_that_a_budget_keeps_is_not_moved(two, stays):
    spec = {"selector": {"matchLabels": {"app": "kept"}}}
    budget = make_object(
        "PodDisruptionBudget", "keep", namespace="default", spec=spec, status={"disruptionsAllowed": 0}
    )
    assert moves(PENDING, *two, budget, stays, owned("other", "n2", "1")) == ["move default/other from n2 to n1"]


def test_a_pod_that_fits_nowhere_else_is_not_moved(two):
    assert moves(PENDING, *two, owned("a", "n1", "1500m"), owned("b", "n2", "1500m")) == []


def test_a_nomination_of_the_pending_pod_does_not_keep_room_twice(two):
    pending = make_pod("p", requests={"cpu": "1200m"}, priority=5, status={"nominatedNodeName": "n2"})
    pods = [owned("first", "n1", "1"), owned("other", "n2", "1")]
    with Explainer([*two, *pods, pending]) as explainer:
        found = explainer.explain("default/p")
        assert "move default/first from n1 to n2" in [fix.text for fix in explainer.fixes(found)]


def test_the_pod_whose_move_loses_least_is_moved(two):
    """A larger pod of a Deployment before one with local data, of a StatefulSet, or of a Job."""
    data = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
    local, web = owned("local", "n1", "500m", spec=data), owned("web", "n1", "700m")
    stateful = owned("db", "n1", "700m", kind="StatefulSet")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": "job", "controller": True}
    made = make_object("Job", "job", metadata={"uid": "job"}, spec={"backoffLimit": 6})
    job = make_pod("job", node="n1", requests={"cpu": "1"}, metadata={"ownerReferences": [owner]})
    rest = make_pod("rest", node="n2", requests={"cpu": "1"})
    assert moves(PENDING, *two, local, web, rest) == ["move default/web from n1 to n2"]
    assert moves(PENDING, *two, local, stateful, rest) == ["move default/db from n1 to n2"]
    small = owned("small", "n1", "900m", spec=data)
    assert moves(PENDING, *two, small, rest) == [
        "move default/small from n1 to n2 (what is in emptyDir scratch is lost)"
    ]
    assert moves(PENDING, *two, made, job, rest) == [
        "move default/job from n1 to n2 (default/job, of a Job, starts over)"
    ]


def test_the_move_names_the_node_that_the_scheduler_chooses(two):
    third = make_node("n3", allocatable={"cpu": "3", "memory": "8Gi", "pods": "9"}, taints=["own:NoSchedule"])
    tolerant = {"tolerations": [{"key": "own", "operator": "Exists"}]}
    pods = [owned("web", "n1", "1", spec=tolerant), owned("other", "n2", "1")]
    assert moves(PENDING, *two, third, *pods)[0] == "move default/web from n1 to n3"


def test_no_node_is_cordoned_for_a_pod_that_tolerates_it(two):
    spec = {"tolerations": [{"operator": "Exists"}]}
    pods = [owned("etl", "n1", "1", spec=spec), make_pod("bare", node="n2", requests={"cpu": "1"})]
    every = fixes_of(PENDING, *two, *pods)
    text = f"move default/etl from n1 to n2 {TOLERATES_ALL}"
    assert not [line for step in every[text].patches for line in step.commands]


def gpu_node(name: str) -> KubeObject:
    """An empty node whose taint is for pods with GPUs; the scores like it best."""
    offered = {"cpu": "64", "memory": "256Gi", "pods": "99", GPU: "8"}
    return make_node(name, allocatable=offered, taints=[f"{GPU}=present:NoSchedule"])


@pytest.mark.parametrize(
    ("toleration", "rest"),
    [({"operator": "Exists"}, f" {TOLERATES_ALL}"), ({"key": GPU, "operator": "Exists"}, "")],
    ids=["every taint", "the taint of GPUs"],
)
def test_a_pod_without_devices_does_not_move_to_a_node_that_taints_keep_for_devices(two, toleration, rest):
    etl = owned("etl", "n1", "1", spec={"tolerations": [toleration]})
    other = make_pod("bare", node="n2", requests={"cpu": "1"})
    assert moves(PENDING, *two, gpu_node("gpu"), etl, other) == [f"move default/etl from n1 to n2{rest}"]


def test_a_pod_with_a_device_moves_to_another_node_for_devices(two):
    spec = {"tolerations": [{"key": GPU, "operator": "Exists"}]}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "small", "uid": "small", "controller": True}
    small = make_pod("small", node="gpu-1", requests={GPU: "2"}, spec=spec, metadata={"ownerReferences": [owner]})
    busy = make_pod("busy", node="gpu-2", requests={GPU: "5"})
    asking = make_pod("p", requests={GPU: "8"}, spec=spec)
    nodes = [*two, gpu_node("gpu-1"), gpu_node("gpu-2")]
    assert moves(asking, *nodes, small, busy) == ["move default/small from gpu-1 to gpu-2"]


def test_another_pod_moves_if_the_first_one_could_only_go_to_a_node_for_others(two):
    spec = {"tolerations": [{"operator": "Exists"}]}
    plain = owned("plain", "n1", "600m")
    tied = owned("tied", "n1", "500m", spec={**spec, "nodeSelector": {"disk": "ssd"}})
    ssd = make_node("ssd", allocatable=SMALL, labels={"disk": "ssd"}, taints=["own:NoSchedule"])
    rest = make_pod("rest", node="n2", requests={"cpu": "1300m"})
    assert moves(PENDING, *two, ssd, tied, plain, rest) == ["move default/plain from n1 to n2"]


def test_a_move_to_a_node_that_taints_keep_for_others_says_so_and_comes_last(two):
    etl = owned("etl", "n1", "1", spec={"tolerations": [{"key": GPU, "operator": "Exists"}]})
    full = make_pod("bare", node="n2", requests={"cpu": "2"})
    said = texts(PENDING, *two, gpu_node("gpu"), etl, full)
    text = f"move default/etl from n1 to gpu (taint {GPU}=present:NoSchedule keeps gpu for other pods)"
    assert text in said
    assert said.index("add a node like n1") < said.index(text)
