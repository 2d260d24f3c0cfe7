"""What ClusterState makes of events, and of pods that it is told to assume."""

import sys
from random import Random

import msgspec
import pytest

from kubesched.api import EventType, KubeObject, Pod, WatchEvent
from kubesched.errors import StateError
from kubesched.state import ClusterState
from kubesched.testing.builders import make_node, make_object, make_pod


def told(cluster_state: ClusterState, obj: KubeObject, type_: EventType = EventType.MODIFIED) -> list[str]:
    """Tell the state, and give the labels of the cluster events that follow."""
    return [change.event.label for change in cluster_state.apply(WatchEvent(type_, type(obj).__name__, obj))]


def loaded(*objects: KubeObject) -> ClusterState:
    cluster_state = ClusterState()
    cluster_state.load([(type(obj).__name__, obj) for obj in objects])
    return cluster_state


def pods_on(cluster_state: ClusterState, node: str) -> list[str]:
    return [info.pod.name for info in cluster_state.columns.pods[cluster_state.columns.row_of[node]]]


def cpu_held(cluster_state: ClusterState, node: str) -> int:
    return int(cluster_state.columns.requested[0, cluster_state.columns.row_of[node]])


def test_a_snapshot_finds_objects_as_a_handle_does() -> None:
    snapshot = loaded(make_object("Service", "web", namespace="shop"), make_object("StorageClass", "fast")).snapshot()
    assert snapshot.get("Service", "shop", "web") is not None
    assert snapshot.get("StorageClass", "", "fast") is not None


def test_nodes_are_loaded_before_the_pods_on_them() -> None:
    cluster_state = loaded(make_pod("p", node="n", requests={"cpu": "1"}), make_node("n"))
    assert cpu_held(cluster_state, "n") == 1000
    assert cluster_state.homeless == {}


def test_a_pod_on_an_unknown_node_waits_for_the_node() -> None:
    cluster_state = loaded(make_pod("p", node="n"))
    assert [info.pod.name for info in cluster_state.homeless["n"]] == ["p"]
    assert told(cluster_state, make_node("n")) == ["NodeAdd"]
    assert (pods_on(cluster_state, "n"), cluster_state.homeless) == (["p"], {})


def test_pods_of_a_node_that_left_stand_on_it_again_when_it_comes_back() -> None:
    node = make_node("n")
    cluster_state = loaded(node, make_pod("p", node="n"), make_pod("q", node="n"))
    assert told(cluster_state, node, EventType.DELETED) == ["NodeDelete"]
    told(cluster_state, make_pod("q", node="n"), EventType.DELETED)
    assert told(cluster_state, node) == ["NodeAdd"]
    assert pods_on(cluster_state, "n") == ["p"]
    cluster_state.check_invariants()


def test_a_removed_pod_gives_its_place_in_the_order_to_the_last_one() -> None:
    pods = [make_pod(f"p{i}", node="n") for i in range(6)]
    cluster_state = loaded(make_node("n"), *pods)
    told(cluster_state, pods[1], EventType.DELETED)
    assert pods_on(cluster_state, "n") == ["p0", "p5", "p2", "p3", "p4"]
    told(cluster_state, pods[0], EventType.DELETED)
    assert pods_on(cluster_state, "n") == ["p4", "p5", "p2", "p3"]


def test_an_updated_pod_keeps_its_place_in_the_order() -> None:
    cluster_state = loaded(make_node("n"), *[make_pod(f"p{i}", node="n") for i in range(3)])
    told(cluster_state, make_pod("p0", node="n", requests={"cpu": "2"}))
    assert (pods_on(cluster_state, "n"), cpu_held(cluster_state, "n")) == (["p0", "p1", "p2"], 2000)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_takes_no_room(phase: str) -> None:
    cluster_state = loaded(make_node("n"), make_pod("done", node="n", requests={"cpu": "1"}, status={"phase": phase}))
    assert (cpu_held(cluster_state, "n"), pods_on(cluster_state, "n")) == (0, [])
    running = make_pod("p", node="n", requests={"cpu": "1"})
    assert told(cluster_state, running) == ["AssignedPodAdd"]
    assert told(cluster_state, make_pod("p", node="n", status={"phase": phase})) == ["AssignedPodDelete"]
    assert cpu_held(cluster_state, "n") == 0


def test_a_pod_of_the_same_name_takes_the_place_of_one_whose_deletion_was_missed() -> None:
    cluster_state = loaded(make_node("n"), make_pod("web-0", node="n", requests={"cpu": "1"}, metadata={"uid": "old"}))
    again = make_pod("web-0", node="n", requests={"cpu": "2"}, metadata={"uid": "new"})
    assert told(cluster_state, again) == ["AssignedPodDelete", "AssignedPodAdd"]
    assert cpu_held(cluster_state, "n") == 2000
    cluster_state.check_invariants()


@pytest.mark.parametrize(
    ("after", "labels"),
    [
        (make_node("n", unschedulable=True), ["NodeUpdateNodeTaint"]),
        (make_node("n", labels={"disk": "ssd"}), ["NodeUpdateNodeLabel"]),
        (make_node("n", allocatable={"cpu": "8"}), ["NodeUpdateNodeAllocatable"]),
        (make_node("n", annotations={"a": "b"}), ["NodeUpdateNodeAnnotation"]),
        (make_node("n", status={"declaredFeatures": ["A"]}), ["NodeUpdateNodeDeclaredFeature"]),
        (make_node("n", status={"images": [{"names": ["a"], "sizeBytes": 1}]}), []),
        (make_node("n"), []),
    ],
    ids=["cordoned", "label", "allocatable", "annotation", "feature", "image", "nothing"],
)
def test_a_changed_node_means_one_event_for_each_property_that_plugins_hear_of(
    after: KubeObject, labels: list[str]
) -> None:
    cordoned = labels == ["NodeUpdateNodeTaint"]
    cluster_state = loaded(after if cordoned else make_node("n"))
    assert told(cluster_state, make_node("n") if cordoned else after) == labels


def test_a_node_that_is_uncordoned_says_so_first() -> None:
    cluster_state = loaded(make_node("n", unschedulable=True))
    after = make_node("n", labels={"disk": "ssd"}, taints=["k:NoSchedule"])
    assert told(cluster_state, after) == ["NodeUpdateNodeTaint", "NodeUpdateNodeLabel"]


def test_a_cordoned_node_is_no_event() -> None:
    cluster_state = loaded(make_node("n"))
    assert told(cluster_state, make_node("n", unschedulable=True)) == []


@pytest.mark.parametrize(
    ("after", "labels"),
    [
        (make_pod("p", requests={"cpu": "2"}, labels={"a": "b"}), ["UpdatePodLabel"]),
        (make_pod("p", requests={"cpu": "1"}), ["UpdatePodScaleDown"]),
        (make_pod("p"), ["UpdatePodScaleDown"]),
        (make_pod("p", requests={"cpu": "2"}, tolerations=[{"operator": "Exists"}]), ["UpdatePodToleration"]),
        (make_pod("p", requests={"cpu": "3"}), ["Update"]),
        (make_pod("p", requests={"cpu": "1"}, labels={"a": "b"}), ["UpdatePodLabel", "UpdatePodScaleDown"]),
    ],
    ids=["label", "smaller request", "request gone", "toleration", "larger request", "two at once"],
)
@pytest.mark.parametrize(("node", "resource"), [("", "UnschedulablePod"), ("n", "AssignedPod")])
def test_a_changed_pod_means_one_event_for_each_property_that_plugins_hear_of(
    after: Pod, labels: list[str], node: str, resource: str
) -> None:
    def on_node(pod: Pod) -> Pod:
        return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node))

    cluster_state = loaded(make_node("n"), on_node(make_pod("p", requests={"cpu": "2"})))
    assert told(cluster_state, on_node(after)) == [f"{resource}{label}" for label in labels]


@pytest.mark.parametrize(
    ("statuses", "label"), [([], "Update"), ([{"name": "gpu"}], "UpdatePodGeneratedResourceClaim")]
)
def test_a_pod_whose_claims_of_templates_are_named_says_so(statuses: list[dict[str, str]], label: str) -> None:
    cluster_state = loaded(make_pod("p"))
    assert told(cluster_state, make_pod("p", status={"resourceClaimStatuses": statuses})) == [
        f"UnschedulablePod{label}"
    ]


def test_an_assumed_pod_is_counted_until_it_is_forgotten() -> None:
    cluster_state = loaded(make_node("n"))
    pod = make_pod("p", requests={"cpu": "1"})
    placed = cluster_state.assume(cluster_state.pod_info(pod), "n")
    assert (placed.pod.node_name, placed.pod.raw, cpu_held(cluster_state, "n")) == ("n", pod.raw, 1000)
    assert cluster_state.is_assumed(pod)
    cluster_state.forget(pod)
    assert (cluster_state.is_assumed(pod), cpu_held(cluster_state, "n")) == (False, 0)


def test_a_confirmed_pod_is_assumed_no_longer_and_stands_where_the_api_server_says() -> None:
    cluster_state = loaded(make_node("n"), make_node("m"))
    pod = make_pod("p", requests={"cpu": "1"})
    cluster_state.assume(cluster_state.pod_info(pod), "n")
    assert told(cluster_state, make_pod("p", node="m", requests={"cpu": "1"})) == ["AssignedPodAdd"]
    assert (pods_on(cluster_state, "n"), pods_on(cluster_state, "m"), cluster_state.is_assumed(pod)) == (
        [],
        ["p"],
        False,
    )


def test_a_pod_cannot_be_assumed_twice() -> None:
    cluster_state = loaded(make_node("n"))
    info = cluster_state.pod_info(make_pod("p"))
    cluster_state.assume(info, "n")
    with pytest.raises(StateError, match=r"pod uid-pod-default-p\(default/p\) is in the cache, so can't be assumed"):
        cluster_state.assume(info, "n")


def test_a_bound_pod_cannot_be_forgotten() -> None:
    pod = make_pod("p", node="n")
    cluster_state = loaded(make_node("n"), pod)
    with pytest.raises(StateError, match="is not assumed, so it cannot be removed or forgotten"):
        cluster_state.forget(pod)


def test_forgetting_a_pod_that_nobody_knows_does_nothing() -> None:
    cluster_state = loaded(make_node("n"))
    cluster_state.forget(make_pod("p"))
    cluster_state.check_invariants()


def test_objects_of_the_plan_are_given_back_unless_they_changed_meanwhile() -> None:
    cluster_state = loaded(make_node("n"))
    before, planned, later = (make_pod("other", annotations={"at": at}) for at in ("before", "planned", "later"))
    cluster_state.objects.put("Pod", before)
    info = cluster_state.pod_info(make_pod("p"))
    cluster_state.assume(info, "n", [("Pod", planned)])
    cluster_state.forget(info.pod)
    assert cluster_state.objects.get("Pod", before.key) is before
    cluster_state.assume(info, "n", [("Pod", planned)])
    cluster_state.objects.put("Pod", later)
    cluster_state.forget(info.pod)
    assert cluster_state.objects.get("Pod", before.key) is later


def test_plans_for_one_object_are_taken_back_in_any_order_and_leave_nothing_behind() -> None:
    for seed in range(30):
        rng = Random(seed)
        cluster_state = loaded(make_node("n"))
        before = [make_pod(f"other{i}", annotations={"at": "before"}) for i in range(3)]
        for obj in before:
            cluster_state.objects.put("Pod", obj)
        infos = [cluster_state.pod_info(make_pod(f"p{i}")) for i in range(6)]
        for info in infos:
            names = rng.sample(range(3), 2)
            planned = [make_pod(f"other{i}", annotations={"at": info.pod.name}) for i in names]
            cluster_state.assume(info, "n", [("Pod", obj) for obj in planned])
        for info in rng.sample(infos, 6):
            cluster_state.forget(info.pod)
            cluster_state.check_invariants()
        assert [cluster_state.objects.get("Pod", obj.key) for obj in before] == before
        assert cluster_state._planned == {}


def test_a_plan_is_taken_back_without_a_look_at_plans_for_other_objects() -> None:
    assert calls_to_take_back(n_others=1) == calls_to_take_back(n_others=100)


def calls_to_take_back(n_others: int) -> int:
    """How many functions run while a plan is taken back whose object has been changed since."""
    cluster_state = loaded(make_node("n"))
    infos = [cluster_state.pod_info(make_pod(f"p{i}")) for i in range(n_others + 1)]
    for info in infos:
        planned = make_object("PersistentVolumeClaim", info.pod.name, namespace="default")
        cluster_state.assume(info, "n", [("PersistentVolumeClaim", planned)])
    cluster_state.objects.put("PersistentVolumeClaim", make_object("PersistentVolumeClaim", "p0", namespace="default"))
    calls: list[str] = []
    sys.setprofile(lambda frame, event, _: calls.append(event))
    try:
        cluster_state.forget(infos[0].pod)
    finally:
        sys.setprofile(None)
    return calls.count("call")


def test_an_object_that_an_assumed_pod_brought_goes_with_it() -> None:
    cluster_state = loaded(make_node("n"))
    info = cluster_state.pod_info(make_pod("p"))
    brought = make_object("PersistentVolumeClaim", "p-scratch", namespace="default")
    cluster_state.assume(info, "n", [("PersistentVolumeClaim", brought)])
    assert cluster_state.objects.get("PersistentVolumeClaim", "default/p-scratch") is brought
    cluster_state.forget(info.pod)
    assert cluster_state.objects.get("PersistentVolumeClaim", "default/p-scratch") is None


def test_an_assumed_pod_carries_the_annotations_of_its_binding_in_its_place() -> None:
    cluster_state = loaded(make_node("n"), make_pod("a", annotations={"kept": "yes"}), make_pod("b"))
    for name in ("a", "b"):
        pod = cluster_state.objects.get("Pod", f"default/{name}")
        assert isinstance(pod, Pod)
        cluster_state.assume(cluster_state.pod_info(pod), "n")
    carrying = cluster_state.assume_annotations(make_pod("a").uid, {"device": "0"})
    assert (
        cluster_state.columns.pods[cluster_state.columns.row_of["n"]][0]
        is carrying
        is cluster_state.placed(make_pod("a").uid)
    )
    assert carrying.pod.annotations == {"kept": "yes", "device": "0"}
    assert cluster_state.is_assumed(carrying.pod)
    cluster_state.check_invariants()
    cluster_state.forget(carrying.pod)
    assert pods_on(cluster_state, "n") == ["b"]
    pending = cluster_state.objects.get("Pod", "default/a")
    assert pending is not None
    assert "device" not in pending.annotations


def test_an_assumed_pod_carries_its_annotations_to_a_node_that_comes_later() -> None:
    cluster_state = loaded(make_pod("p"))
    cluster_state.assume(cluster_state.pod_info(make_pod("p")), "n")
    cluster_state.assume_annotations(make_pod("p").uid, {"device": "0"})
    told(cluster_state, make_node("n"))
    (info,) = cluster_state.columns.pods[cluster_state.columns.row_of["n"]]
    assert info.pod.annotations == {"device": "0"}
    cluster_state.check_invariants()


def test_a_freed_row_is_given_out_again() -> None:
    cluster_state = loaded(make_node("a"), make_node("b"))
    told(cluster_state, make_node("a"), EventType.DELETED)
    assert cluster_state.snapshot().nodes.names == ["b"]
    told(cluster_state, make_node("c"))
    assert cluster_state.columns.row_of == {"b": 1, "c": 0}
    assert cluster_state.snapshot().n_nodes == 2


def test_more_nodes_than_the_columns_have_room_for_make_them_grow() -> None:
    cluster_state = loaded(*[make_node(f"n{i}") for i in range(200)], make_pod("p", node="n199", requests={"cpu": "1"}))
    cluster_state.check_invariants()
    assert cpu_held(cluster_state, "n199") == 1000


def test_a_cluster_that_most_pods_left_keeps_room_for_the_others_only() -> None:
    pods = [make_pod(f"p{i}", node="n", labels={"app": f"a{i % 3}"}, requests={"cpu": i % 5}) for i in range(2200)]
    cluster_state = loaded(make_node("n"), *pods)
    for pod in pods[10:]:
        told(cluster_state, pod, EventType.DELETED)
    cluster_state.check_invariants()
    sizes = cluster_state.columns.pod_table.sizes()
    assert len(cluster_state.columns.pod_table.infos) == 10
    assert sizes == {"slots": 10, "requests": 6, "identities": 4, "label values": 0}
