import numpy as np
import pytest

from kubesched.api import ActionType
from kubesched.framework import PodChanges, QueueingHint, Status
from kubesched.legacy.plugins.legacy_args import ServiceAffinityArgs
from kubesched.legacy.plugins.service_affinity import ServiceAffinity
from kubesched.state import PodBatch
from tests.plugins.hinting import NODE_ADD, POD_DELETE, hint, node_event
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

REJECTED = Status.unschedulable("node(s) didn't match service affinity")
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": {"app": "web"}},
}
NODES = [node("a", labels={"rack": "1", "row": "x"}), node("b", labels={"rack": "2"}), node("c")]


def web(name: str = "new", **spec) -> dict:
    made = pod(name, **spec)
    made["metadata"]["labels"] = {"app": "web"}
    return made


def asked(*objects: dict, new: dict | None = None, labels: tuple[str, ...] = ("rack",), spread: str = "") -> Asked:
    args = ServiceAffinityArgs(labels, (spread,) if spread else ())
    return Asked(ServiceAffinity(args), [*NODES, *objects], new or web())


def rejected(given: Asked) -> set[str]:
    assert given.pre_filter() is Status.SUCCESS
    found = given.filter()
    assert set(found.values()) <= {REJECTED}
    return set(found)


def test_a_pod_follows_the_first_pod_of_its_service():
    assert rejected(asked(SERVICE, web("there", nodeName="b"))) == {"a", "c"}


def test_the_first_pod_is_the_first_in_the_order_of_the_snapshot():
    assert rejected(asked(SERVICE, web("late", nodeName="b"), web("early", nodeName="a"))) == {"b", "c"}


def test_without_a_service_or_a_pod_of_it_every_node_fits():
    assert rejected(asked(web("there", nodeName="b"))) == set()
    assert rejected(asked(SERVICE)) == set()


def test_a_pod_counts_only_with_all_labels_of_the_incoming_pod():
    new = web()
    new["metadata"]["labels"]["track"] = "canary"
    assert rejected(asked(SERVICE, web("there", nodeName="b"), new=new)) == set()


def test_the_node_selector_comes_before_the_pods_of_the_service():
    new = web(nodeSelector={"rack": "2", "disk": "ssd"})
    assert rejected(asked(SERVICE, web("there", nodeName="a"), new=new)) == {"a", "c"}
    assert rejected(asked(SERVICE, web("there", nodeName="a"), new=new, labels=("rack", "row"))) == {"a", "b", "c"}


def test_a_label_that_the_followed_node_lacks_is_not_wanted():
    assert rejected(asked(SERVICE, web("there", nodeName="b"), labels=("rack", "row"))) == {"a", "c"}


def test_without_affinity_labels_the_filter_is_skipped():
    assert asked(SERVICE, labels=()).pre_filter() is Status.SKIP


def without(given: Asked, name: str, position: int) -> set[str]:
    """The rejected nodes of a what-if table that lost a pod."""
    state, table = given.state, given.nodes.copy()
    gone = PodBatch([info for info in given.nodes.pods(position) if info.pod.name == name])
    table.remove(np.array([position]), gone)
    given.plugin.remove_pods(state, given.pod, PodChanges(table, np.array([position]), gone))
    return set(given.filter(table))


def test_a_node_whose_first_pod_left_is_judged_by_the_next():
    given = asked(SERVICE, web("first", nodeName="a"), web("next", nodeName="b"))
    assert rejected(given) == {"b", "c"}
    assert without(given, "first", 0) == {"a", "b", "c"}


def test_a_node_that_keeps_one_of_two_first_pods_stays_the_one_to_follow():
    given = asked(SERVICE, web("first", nodeName="a"), web("second", nodeName="a"), web("next", nodeName="b"))
    assert rejected(given) == {"b", "c"}
    assert without(given, "first", 0) == {"b", "c"}


def test_a_rejection_names_who_wants_the_label():
    given = asked(SERVICE, web("there", nodeName="b"), new=web(nodeSelector={"row": "x"}), labels=("rack", "row"))
    given.pre_filter()
    info = given.cluster.snapshot().node_info("c")
    assert sorted(given.plugin.explain_rejection(given.state, given.pod, info, REJECTED)) == [
        "label rack is absent; the service's first pod wants 2",
        "label row is absent; the nodeSelector wants x",
    ]


def test_the_score_prefers_values_with_few_pods_and_gives_0_without_the_label():
    placed = [web(f"p{i}", nodeName=name) for i, name in enumerate("aaab")]
    assert asked(SERVICE, *placed, spread="rack").normalized() == {"a": 25, "b": 75, "c": 0}


def test_without_pods_of_the_service_every_value_scores_100():
    assert asked(SERVICE, spread="rack").normalized() == {"a": 100, "b": 100, "c": 0}


def test_pods_on_nodes_without_the_label_count_in_the_total():
    placed = [web(f"p{i}", nodeName=name) for i, name in enumerate("acc")]
    assert asked(SERVICE, *placed, spread="rack").normalized() == {"a": 66, "b": 100, "c": 0}


@pytest.mark.parametrize(("app", "expected"), [("web", QueueingHint.QUEUE), ("db", QueueingHint.SKIP)])
def test_a_pod_that_leaves_helps_when_it_was_one_to_follow(app: str, expected: QueueingHint):
    gone = web("gone", nodeName="a")
    gone["metadata"]["labels"] = {"app": app}
    assert hint(ServiceAffinity(), POD_DELETE, read_pod(web()), read_pod(gone), None) is expected


def test_a_node_helps_when_an_affinity_label_comes_or_changes():
    plugin = ServiceAffinity(ServiceAffinityArgs(("rack",)))
    waiting, one, other = read_pod(web()), read(node("n", labels={"rack": "1"})), read(node("n", labels={"row": "2"}))
    relabelled = node_event(ActionType.UPDATE_NODE_LABEL)
    assert hint(plugin, NODE_ADD, waiting, None, other) is QueueingHint.QUEUE
    assert hint(plugin, relabelled, waiting, other, one) is QueueingHint.QUEUE
    assert hint(plugin, relabelled, waiting, one, one) is QueueingHint.SKIP
