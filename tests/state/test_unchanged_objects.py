"""Updates that say nothing new: rows, logs and memos stay as they are, and the newest object is kept."""

import msgspec
import numpy as np
import pytest

from kubesched.api import EventType, KubeObject, Pod, WatchEvent
from kubesched.state import ClusterState, Identity
from kubesched.testing import make_node, make_object, make_pod

PENDING = {"phase": "Pending"}
STARTED = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}


def placed(**said) -> Pod:
    return make_pod("p", node="n", labels={"app": "web"}, requests={"cpu": "1"}, status=STARTED, **said)


@pytest.fixture
def cluster_state() -> ClusterState:
    found = ClusterState()
    found.load([("Node", make_node("n", labels={"disk": "ssd"})), ("Pod", placed())])
    return found


def newer(obj, **fields):
    metadata = msgspec.structs.replace(fields.pop("metadata", obj.metadata), resource_version="999")
    return msgspec.structs.replace(obj, metadata=metadata, **fields)


def generations(cluster_state: ClusterState) -> tuple[int, int]:
    return cluster_state.columns.node_log.generation, cluster_state.columns.row_log.generation


def told(cluster_state: ClusterState, obj: KubeObject) -> list[str]:
    return [c.event.label for c in cluster_state.apply(WatchEvent(EventType.MODIFIED, type(obj).__name__, obj))]


def test_the_heartbeat_of_a_node_changes_no_row(cluster_state: ClusterState) -> None:
    before, node = generations(cluster_state), newer(make_node("n", labels={"disk": "ssd"}))
    assert told(cluster_state, node) == []
    assert generations(cluster_state) == before
    assert cluster_state.columns.nodes[0] is cluster_state.objects.get("Node", "n") is node


def test_a_status_without_news_changes_no_row(cluster_state: ClusterState) -> None:
    before, pod = generations(cluster_state), newer(placed())
    assert told(cluster_state, pod) == ["AssignedPodUpdate"]
    assert generations(cluster_state) == before
    (info,) = cluster_state.columns.pods[0]
    assert info.pod is cluster_state.objects.get("Pod", pod.key) is pod
    cluster_state.check_invariants()


def test_a_condition_of_a_pod_changes_its_row_once_and_its_start_is_read_again(cluster_state: ClusterState) -> None:
    nodes, rows = generations(cluster_state)
    later = msgspec.structs.replace(placed().status, start_time="2026-01-02T00:00:00Z")
    told(cluster_state, newer(placed(), status=later))
    assert generations(cluster_state) == (nodes, rows + 1)
    table = cluster_state.columns.pod_table
    table.settle()
    assert cluster_state.columns.pods[0][0].start == table.starts(np.array([0]))[0]
    cluster_state.check_invariants()


def test_an_annotation_of_a_pod_changes_its_row_once(cluster_state: ClusterState) -> None:
    nodes, rows = generations(cluster_state)
    annotated = placed(metadata={"annotations": {"a": "b"}})
    assert told(cluster_state, annotated) == ["AssignedPodUpdate"]
    assert generations(cluster_state) == (nodes, rows + 1)
    assert cluster_state.snapshot().node_info("n").pods[0].pod is annotated
    cluster_state.check_invariants()


@pytest.mark.parametrize("change", [{"labels": {"app": "db"}}, {"deletion_timestamp": "2026-01-02T00:00:00Z"}])
def test_a_pod_that_others_no_longer_select_is_counted_out(cluster_state: ClusterState, change: dict) -> None:
    def is_web(pod: Identity) -> bool:
        return pod.labels.get("app") == "web"

    group = cluster_state.groups.group("web", is_web, includes_terminating=False)
    assert group.counts[0] == 1
    told(cluster_state, newer(placed(), metadata=msgspec.structs.replace(placed().metadata, **change)))
    assert group.counts[0] == 0
    cluster_state.check_invariants()


def test_a_pod_that_has_its_host_ports_changes_no_row_without_news(cluster_state: ClusterState) -> None:
    pod = make_pod("a", node="n", host_ports=[80, 81])
    told(cluster_state, pod)
    before = generations(cluster_state)
    told(cluster_state, newer(pod))
    assert generations(cluster_state) == before
    homeless = make_pod("b", node="gone", host_ports=[80])
    told(cluster_state, homeless)
    told(cluster_state, newer(homeless))
    assert generations(cluster_state) == before
    cluster_state.check_invariants()


def test_a_pod_whose_host_port_was_freed_takes_it_again_with_every_update(cluster_state: ClusterState) -> None:
    """As upstream's set of ports has it: the first of two holders that leaves frees the port for both."""
    held = [make_pod(name, node="n", host_ports=[80]) for name in ("a", "b")]
    for pod in held:
        told(cluster_state, pod)
    cluster_state.apply(WatchEvent(EventType.DELETED, "Pod", held[0]))
    assert not any(used[0] for used in cluster_state.columns.ports.values())
    told(cluster_state, newer(held[1]))
    assert any(used[0] for used in cluster_state.columns.ports.values())


def test_confirming_an_assumed_pod_changes_no_row_when_it_is_as_assumed(cluster_state: ClusterState) -> None:
    pending = make_pod("q", requests={"cpu": "1"}, status=PENDING)
    told(cluster_state, pending)
    cluster_state.assume(cluster_state.pod_info(pending), "n")
    before = generations(cluster_state)
    assert told(cluster_state, make_pod("q", node="n", requests={"cpu": "1"}, status=PENDING)) == ["AssignedPodAdd"]
    assert (generations(cluster_state), cluster_state.is_assumed(pending)) == (before, False)
    cluster_state.check_invariants()


def test_the_removal_of_an_unknown_object_is_no_change(cluster_state: ClusterState) -> None:
    objects = cluster_state.objects
    assert (objects.remove("Namespace", "unknown"), objects.generation("Namespace")) == (None, 0)
    objects.put("Namespace", make_object("Namespace", "dev"))
    objects.remove("Namespace", "dev")
    assert objects.generation("Namespace") == 2


def test_a_service_whose_selector_stays_leaves_the_generation_of_its_namespace() -> None:
    cluster_state = ClusterState()
    told(cluster_state, make_object("Service", "s", spec={"selector": {"app": "web"}}))
    generation = cluster_state.services.generation("default")
    told(
        cluster_state,
        make_object("Service", "s", metadata={"annotations": {"a": "b"}}, spec={"selector": {"app": "web"}}),
    )
    told(cluster_state, make_object("Service", "s", namespace="prod", spec={"selector": {"app": "web"}}))
    assert cluster_state.services.generation("default") == generation
    told(cluster_state, make_object("Service", "s", spec={"selector": {"app": "db"}}))
    assert cluster_state.services.generation("default") != generation
    assert list(cluster_state.services.selecting("default", {"app": "db"})) == [{"app": "db"}]


def test_a_namespace_whose_last_service_left_is_not_taken_for_what_it_was() -> None:
    cluster_state, service = ClusterState(), make_object("Service", "s", spec={"selector": {"app": "web"}})
    told(cluster_state, service)
    generation = cluster_state.services.generation("default")
    cluster_state.apply(WatchEvent(EventType.DELETED, "Service", service))
    assert (cluster_state.services.generation("default"), cluster_state.services._selectors) == (0, {})
    told(cluster_state, service)
    assert cluster_state.services.generation("default") not in (0, generation)


def test_a_disruption_budget_is_parsed_once_and_its_status_followed() -> None:
    cluster_state = ClusterState()

    def budget(allowed: int, app: str) -> KubeObject:
        spec = {"selector": {"matchLabels": {"app": app}}}
        return make_object("PodDisruptionBudget", "b", spec=spec, status={"disruptionsAllowed": allowed})

    told(cluster_state, budget(1, "web"))
    (known,) = cluster_state.disruption_budgets.of("default")
    told(cluster_state, budget(0, "web"))
    assert list(cluster_state.disruption_budgets.of("default")) == [known]
    assert known.allowed == 0
    told(cluster_state, budget(0, "db"))
    assert list(cluster_state.disruption_budgets.of("default")) != [known]
    cluster_state.apply(WatchEvent(EventType.DELETED, "PodDisruptionBudget", budget(0, "db")))
    assert not cluster_state.disruption_budgets


def test_a_node_is_found_at_once_among_many_with_free_rows() -> None:
    cluster_state = ClusterState()
    cluster_state.load([("Node", make_node(f"n{i:03}")) for i in range(200)])
    cluster_state.apply(WatchEvent(EventType.DELETED, "Node", make_node("n007")))
    nodes = cluster_state.snapshot().nodes
    assert [nodes.position_of(name) for name in nodes.names] == list(range(199))
    assert nodes.position_of("n007") is None
    assert nodes.select(nodes.all_rows[:100]).position_of("n199") is None
