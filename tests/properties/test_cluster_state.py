"""Whatever happens to a cluster: what is kept equals what a fresh load of the same objects holds."""

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kubesched.api import EventType, WatchEvent
from kubesched.state import ClusterState, NodeColumns
from tests.properties.cluster_walk import Walk, as_pod, generated, read
from tests.trials import examples, seeds

FEATURES = ("ephemeral", "image-sizes", "inline-disks", "pod-level", "resize", "selectors", "sidecars", "zones")


class ClusterStateMachine(RuleBasedStateMachine):
    """A random walk; relations that are asked for on the way have to be kept from then on."""

    @initialize(seed=st.integers(0, 200), features=st.sets(st.sampled_from(FEATURES), max_size=3))
    def begin(self, seed: int, features: set[str]) -> None:
        self.walk = Walk(seed, tuple(sorted(features)))

    @rule(step=st.sampled_from(Walk.STEPS), number=st.integers(0, 10**6))
    def step(self, step: str, number: int) -> None:
        self.walk.step(step, number)

    @rule(app=st.sampled_from(["web", "db", "batch"]), terminating=st.booleans(), key=st.sampled_from(["disk", "rank"]))
    def ask_for_a_group(self, app: str, terminating: bool, key: str) -> None:
        groups = self.walk.cluster_state.groups
        wanted = ("test", app, terminating)
        group = groups.group(wanted, lambda pod: pod.labels.get("app") == app, includes_terminating=terminating)
        group.by_domain(key)
        group.by_domain("topology.kubernetes.io/zone")

    @rule(number=st.integers(0, 10**6))
    def ask_which_terms_mean_a_pod(self, number: int) -> None:
        cluster_state = self.walk.cluster_state
        infos = [cluster_state.pod_info(as_pod(pod)) for pod in self.walk.pods.values()]
        if infos:
            identity = infos[number % len(infos)].identity
            for counts in (
                cluster_state.required_anti_affinity,
                cluster_state.required_affinity,
                cluster_state.preferred_affinity,
            ):
                counts.about(identity, cluster_state.snapshot().namespace_labels)

    @invariant()
    def nothing_is_miscounted(self) -> None:
        if hasattr(self, "walk"):
            self.walk.cluster_state.check_invariants()

    def teardown(self) -> None:
        if hasattr(self, "walk"):
            assert_same_columns(self.walk.cluster_state, self.walk.fresh())


def assert_same_columns(walked: ClusterState, fresh: ClusterState) -> None:
    """Node by node, because rows are numbered in another order."""
    assert described(walked) == described(fresh)


def described(cluster_state: ClusterState) -> dict[str, dict]:
    columns = cluster_state.columns
    return {name: row_of(columns, row) for name, row in columns.row_of.items()}


def row_of(columns: NodeColumns, row: int) -> dict:
    names = columns.resources.values

    def amounts(matrix: np.ndarray) -> dict[str, int]:
        return {name: int(amount) for name, amount in zip(names, matrix[:, row], strict=False) if amount}

    return {
        "allocatable": amounts(columns.allocatable),
        "requested": amounts(columns.requested),
        "nonZeroRequested": columns.non_zero_requested[:, row].tolist(),
        "allowedPods": int(columns.allowed_pods[row]),
        "pods": sorted(info.pod.uid for info in columns.pods[row]),
        "unschedulable": bool(columns.unschedulable[row]),
        "taints": columns.taint_lists.values[columns.taint_ids[row]],
        "features": columns.feature_lists.values[columns.feature_ids[row]],
        "images": sorted(name for name, image in columns.images.items() if row in image.rows),
    }


TestClusterState = ClusterStateMachine.TestCase
TestClusterState.settings = examples(25, stateful_step_count=30)


@given(seed=st.integers(0, 50), node=st.integers(0, 5), pod=st.integers(0, 2))
@examples(15)
def test_forget_gives_back_what_assume_took(seed: int, node: int, pod: int) -> None:
    cluster_state = ClusterState()
    items = generated(seed, nodes=6)
    pending = [item for item in items if item["kind"] == "Pod" and not item["spec"].get("nodeName")]
    cluster_state.load([(item["kind"], read(item)) for item in items])
    claim = next(iter(cluster_state.objects.list("PersistentVolumeClaim")))
    before = everything(cluster_state)
    info = cluster_state.pod_info(as_pod(pending[pod]))
    row = cluster_state.columns.row_of[f"node-{node:04d}"]
    clashes = [
        entry
        for entry in info.ports.value
        if entry in cluster_state.columns.ports and cluster_state.columns.ports[entry][row]
    ]
    hypothesis.assume(not clashes)  # a port held twice is free once one of its holders has left, as upstream has it
    taken = read({**claim.document, "spec": {"volumeName": "taken"}})
    cluster_state.assume(info, f"node-{node:04d}", [("PersistentVolumeClaim", taken)])
    assert everything(cluster_state) != before
    cluster_state.forget(info.pod)
    cluster_state.check_invariants()
    assert everything(cluster_state) == before


def everything(cluster_state: ClusterState) -> tuple:
    columns = cluster_state.columns
    kinds = ("Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "Service")
    objects = {kind: [msg.raw for msg in cluster_state.objects.list(kind)] for kind in kinds}
    pods = [[info.pod.uid for info in row] for row in columns.pods]
    ports = {entry: used.tolist() for entry, used in columns.ports.items() if used.any()}
    return (
        described(cluster_state),
        objects,
        pods,
        ports,
        cluster_state.snapshot().order().tolist(),
        cluster_state.assumed_uids,
    )


@pytest.mark.parametrize("seed", seeds(4))
def test_any_order_of_events_that_ends_in_the_same_objects_gives_the_same_columns(seed: int) -> None:
    items = generated(seed, bound=20)
    forwards, backwards = ClusterState(), ClusterState()
    for cluster_state, order in ((forwards, items), (backwards, items[::-1])):
        for item in order:
            cluster_state.apply(WatchEvent(EventType.ADDED, item["kind"], read(item)))
    assert_same_columns(forwards, backwards)
    backwards.check_invariants()


@pytest.mark.parametrize("seed", seeds(4))
def test_loading_at_once_gives_what_the_same_objects_give_one_by_one(seed: int) -> None:
    items = generated(seed, bound=20)
    bound = [item for item in items if item["kind"] == "Pod" and item["spec"].get("nodeName")]
    finished = {**bound[0], "status": {"phase": "Succeeded"}}
    relabelled = {**bound[1], "metadata": {**bound[1]["metadata"], "labels": {"app": "changed"}}}
    objects = [(item["kind"], read(item)) for item in (*items, finished, relabelled, bound[2])]
    at_once, one_by_one = ClusterState(), ClusterState()
    at_once.load(objects)
    for kind, known in sorted(objects, key=lambda entry: entry[0] != "Node"):
        one_by_one.apply(WatchEvent(EventType.ADDED, kind, known))
    at_once.check_invariants()
    assert everything(at_once) == everything(one_by_one)
