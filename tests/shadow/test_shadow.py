"""What shadow mode says of the bindings of another scheduler, and that it leaves the state as it was."""

import asyncio
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from kubesched.api import EventType, KubeObject, Node, Pod, PodCondition, WatchEvent
from kubesched.explanation import explain
from kubesched.framework import Plugin
from kubesched.release import Release
from kubesched.setup import set_up
from kubesched.shadow import Shadow, Verdict
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod
from tests.device_cluster import GPU, NOT_DECIDED, device_cluster
from tests.live.fake_api import FakeTiming
from tests.plugins.dynamic_resources.device_objects import (
    allocation,
    ask,
    claim,
    device,
    device_class,
    resource_slice,
    using,
)
from tests.plugins.one_plugin import read

SMALL = {"cpu": "4", "memory": "8Gi", "pods": "20"}
ONE = {"cpu": "1", "memory": "1Gi"}
AVOIDED = ["a=b:PreferNoSchedule"]


def small(name: str, **fields: Any) -> Node:
    return make_node(name, allocatable=SMALL, **fields)


class Watched:
    """A shadow over a cluster that a test shows.

    Attributes:
        verdicts: in the order in which they became final.
        clusters: with each, the cluster on which it was judged, for disagreements.
    """

    def __init__(
        self, *objects: KubeObject, plugins: tuple[type[Plugin], ...] = (), config: bytes | None = None
    ) -> None:
        self.verdicts: list[Verdict] = []
        self.clusters: list[list[KubeObject]] = []
        self.clock = FakeTiming()
        self.shadow = Shadow(set_up(config, plugins), self._take, clock=self.clock)
        for obj in objects:
            self.show(obj)
        self.shadow.feed.hand_over()
        self.shadow.feed.release()

    def _take(self, verdict: Verdict, cluster: Callable[[], list[KubeObject]]) -> None:
        self.verdicts.append(verdict)
        self.clusters.append(cluster())

    def show(self, *objects: KubeObject, type_: EventType = EventType.ADDED) -> None:
        for obj in objects:
            self.shadow.feed([WatchEvent(type_, type(obj).__name__, obj)])

    def change(self, *objects: KubeObject) -> None:
        self.show(*objects, type_=EventType.MODIFIED)

    def delete(self, *objects: KubeObject) -> None:
        self.show(*objects, type_=EventType.DELETED)

    def end(self) -> list[str]:
        """Give all second looks. Returns: the classes of the verdicts, in their order."""
        state = self.shadow.cluster_state
        before = orders(state)

        async def run_and_stop() -> None:
            running = asyncio.create_task(self.shadow.run())
            await asyncio.sleep(0)
            running.cancel()
            await asyncio.wait((running,))

        asyncio.run(run_and_stop())
        state.check_invariants()
        assert orders(state) == before
        assert self.shadow.sizes["suspects"] == 0
        return [verdict.agreement.value for verdict in self.verdicts]


def orders(state: ClusterState) -> tuple[list[list[str]], dict[str, list[str]]]:
    """The pods on each row, and the objects of each kind."""
    objects = {kind: [obj.key for obj in state.objects.list(kind)] for kind in state.objects.kinds}
    return [[info.pod.key for info in pods] for pods in state.columns.pods], objects


def bound(pod: Pod, node: str) -> Pod:
    return replace(pod, spec=replace(pod.spec, node_name=node))


def nominated(pod: Pod, node: str, *, failed: bool = False) -> Pod:
    conditions = (PodCondition("PodScheduled", "False", "Unschedulable", "no room"),) if failed else None
    return replace(pod, status=replace(pod.status, nominated_node_name=node, conditions=conditions))


def test_the_same_node_is_agreed_and_an_equally_good_one_is_a_tie() -> None:
    for node, wanted in (("n1", "agreed"), ("n2", "tie")):
        watched = Watched(small("n1"), small("n2"), small("n3", taints=AVOIDED))
        watched.show(make_pod("p", requests=ONE))
        watched.change(bound(make_pod("p", requests=ONE), node))
        assert watched.end() == [wanted]
        (verdict,) = watched.verdicts
        assert (verdict.ours, verdict.points, verdict.plugin, verdict.profile) == ("n1", 0, "", "default-scheduler")


def test_a_disagreement_names_the_plugin_and_the_points() -> None:
    watched = Watched(small("n1"), small("n2", taints=AVOIDED))
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(bound(pod, "n2"))
    assert watched.end() == ["disagreed"]
    (verdict,) = watched.verdicts
    assert (verdict.node, verdict.ours, verdict.plugin, verdict.points) == ("n2", "n1", "TaintToleration", 300)
    assert verdict.our_scores["TaintToleration"] - verdict.scores["TaintToleration"] == 300
    assert (verdict.n_nodes, verdict.n_feasible) == (2, 2)


@pytest.mark.parametrize(
    ("node", "plugin", "reason"),
    [
        ("full", "NodeResourcesFit", "Insufficient cpu"),
        ("cordoned", "NodeUnschedulable", "node(s) were unschedulable"),
        ("nowhere", "", "the node is not known"),
    ],
)
def test_a_node_that_is_not_feasible_has_the_reason(node: str, plugin: str, reason: str) -> None:
    full = make_node("full", allocatable={"cpu": "500m", "memory": "8Gi", "pods": "10"})
    watched = Watched(small("n1"), full, make_node("cordoned", allocatable=SMALL, spec={"unschedulable": True}))
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(bound(pod, node))
    assert watched.end() == ["disagreed"]
    (verdict,) = watched.verdicts
    assert (verdict.ours, verdict.plugin, verdict.reason, verdict.points) == ("n1", plugin, reason, 0)


def test_a_pod_that_fits_nowhere_for_us_has_the_message() -> None:
    watched = Watched(small("n1"))
    watched.show(pod := make_pod("p", requests={"cpu": "64"}))
    watched.change(bound(pod, "n1"))
    assert watched.end() == ["disagreed"]
    (verdict,) = watched.verdicts
    assert (verdict.ours, verdict.plugin, verdict.reason) == ("", "NodeResourcesFit", "Insufficient cpu")


def test_a_profile_judges_the_pods_with_its_name_and_counts_all_others() -> None:
    watched = Watched(small("n1"), small("n2"))
    foreign = make_pod("foreign", requests=ONE, spec={"schedulerName": "volcano"})
    watched.show(foreign)
    watched.change(bound(foreign, "n1"))
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(bound(pod, "n2"))
    assert watched.end() == ["agreed"]


def test_a_pod_that_was_never_pending_is_not_judged() -> None:
    watched = Watched(small("n1"), make_pod("there", node="n1"))
    watched.show(make_pod("late", node="n1"))
    watched.show(make_pod("static", node="n1", annotations={"kubernetes.io/config.mirror": "x"}))
    assert watched.end() == ["unseen"]


@pytest.mark.parametrize(
    ("percentage", "n_good", "wanted"),
    [
        (100, 60, "disagreed"),
        (50, 60, "sampled"),  # 140 of 200 nodes are no better, and 100 are enough for a sample
        (50, 120, "disagreed"),  # 80 are not enough: the sample had a better one
        (0, 100, "sampled"),  # adaptive: 100 nodes of 200
        (0, 101, "disagreed"),
    ],
)
def test_a_worse_node_can_be_the_best_of_a_sample(percentage: int, n_good: int, wanted: str) -> None:
    header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    config = f"{header}percentageOfNodesToScore: {percentage}\n".encode()
    nodes = [small(f"n{i}", taints=[] if i < n_good else AVOIDED) for i in range(200)]
    watched = Watched(*nodes, config=config)
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(bound(pod, "n199"))
    assert watched.end() == [wanted]


# --- states that the other scheduler may have seen ---


def decided_in_order(nodes: list[Node], pods: list[Pod]) -> dict[str, str]:
    """The nodes that a scheduler gives pods which it decides one after another."""
    placed: list[Pod] = []
    chosen: dict[str, str] = {}
    for pod in pods:
        best = explain([*nodes, *placed], pod).choice
        assert best is not None
        chosen[pod.name] = best.best.node
        placed.append(bound(pod, best.best.node))
    return chosen


@pytest.mark.parametrize("seed", range(6))
def test_bindings_that_are_shown_in_another_order_are_no_disagreement(seed: int) -> None:
    random = Random(seed)
    nodes = [make_node(f"n{i}", allocatable={"cpu": str(9 + 3 * i), "memory": "64Gi", "pods": "50"}) for i in range(4)]
    pods = [
        make_pod(f"p{i}", requests={"cpu": random.choice(("1", "2500m"))}, priority=random.choice((0, 10)))
        for i in range(9)
    ]
    queue = sorted(pods, key=lambda pod: -pod.priority)
    chosen = decided_in_order(nodes, queue)
    watched = Watched(*nodes)
    watched.show(*pods)
    random.shuffle(queue)
    watched.change(*(bound(pod, chosen[pod.name]) for pod in queue))
    classes = watched.end()
    assert len(classes) == len(pods)
    assert set(classes) <= {"agreed", "tie", "order"}
    assert "order" in classes
    assert watched.shadow.cluster_state.n_placed == len(pods)


def test_an_important_pod_that_came_after_the_binding_is_not_counted() -> None:
    watched = Watched(
        *(make_node(f"n{cpu}", allocatable={"cpu": cpu, "memory": "64Gi", "pods": 50}) for cpu in (10, 9))
    )
    first, second = (make_pod(name, requests={"cpu": "4"}) for name in ("first", "second"))
    watched.show(first, second)
    watched.change(bound(second, "n9"))  # decided when first was assumed on n10
    watched.show(high := make_pod("high", requests={"cpu": "4"}, priority=10))
    watched.change(bound(high, "n9"), bound(first, "n10"))
    watched.end()
    assert {verdict.pod: verdict.agreement.value for verdict in watched.verdicts}["default/second"] == "order"


def test_a_node_that_changed_after_the_decision_is_no_disagreement() -> None:
    watched = Watched(small("n1"), small("n2", taints=AVOIDED))
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(small("n1", taints=[*AVOIDED, "c=d:PreferNoSchedule"]))
    watched.delete(small("n2"))
    watched.show(small("n2"))
    watched.change(bound(pod, "n1"))
    assert watched.end() == ["order"]
    assert watched.shadow.cluster_state.columns.n_nodes == 2
    watched.show(later := make_pod("later", requests=ONE))
    watched.change(bound(later, "n2"))
    assert watched.end() == ["order", "agreed"]  # the changes are done again


def test_a_change_before_the_pod_came_is_not_undone() -> None:
    watched = Watched(small("n1"), small("n2"))
    watched.change(small("n1", taints=AVOIDED))
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(bound(pod, "n1"))
    assert watched.end() == ["disagreed"]


def test_a_node_that_is_shown_after_the_pod_is_no_disagreement() -> None:
    watched = Watched(small("n1", taints=AVOIDED))
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(bound(pod, "n2"))
    watched.show(small("n2"))
    assert watched.end() == ["order"]
    assert watched.shadow.cluster_state.placed(pod.uid) is not None


def test_a_pod_that_leaves_before_the_second_look_stays_away() -> None:
    watched = Watched(small("n1"), small("n2", taints=AVOIDED))
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(bound(pod, "n2"))
    watched.delete(bound(pod, "n2"))
    assert watched.end() == ["disagreed"]
    assert (watched.shadow.cluster_state.n_placed, watched.shadow.sizes["waiting"]) == (0, 0)


# --- nominations ---


def test_a_nomination_before_the_binding_is_judged_then_and_counts_from_then_on() -> None:
    watched = Watched(small("n1"), small("n2"), small("n3", taints=AVOIDED))
    first, second = make_pod("first", requests=ONE), make_pod("second", requests=ONE)
    watched.show(first, second)
    watched.change(nominated(first, "n1"))
    assert [verdict.agreement.value for verdict in watched.verdicts] == ["agreed"]
    watched.change(bound(second, "n2"))  # first takes room on n1 already
    watched.change(bound(nominated(first, "n1"), "n1"))
    assert watched.end() == ["agreed", "agreed"]
    assert watched.shadow.cluster_state.assumed_uids == []


def test_a_nomination_that_does_not_say_the_choice_is_a_disagreement() -> None:
    watched = Watched(small("n1"), small("n2", taints=AVOIDED))
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(nominated(pod, "n2"))
    watched.change(pod)  # binding failed, and the nomination was taken back
    assert watched.shadow.cluster_state.n_placed == 0
    watched.change(bound(pod, "n1"))
    assert sorted(watched.end()) == ["agreed", "disagreed"]


def test_a_preemptor_goes_to_its_nominated_node_and_keeps_others_off() -> None:
    watched = Watched(small("n1"), small("n2", taints=AVOIDED))
    urgent = make_pod("urgent", requests={"cpu": "4"}, priority=10)
    other = make_pod("other", requests={"cpu": "4"})
    watched.show(urgent, other)
    watched.change(nominated(urgent, "n1", failed=True))
    assert watched.verdicts == []
    watched.change(bound(other, "n2"))
    watched.change(bound(nominated(urgent, "n1", failed=True), "n1"))
    assert watched.end() == ["agreed", "agreed"]


# --- plugins, and what is kept ---


class OddNodes(Plugin):
    def score(self, state, pod, node):
        return 100 if int(node.name[1:]) % 2 else 0


def test_the_plugin_that_changes_the_choice_is_named() -> None:
    watched = Watched(small("n1"), small("n2", labels={"x": "y"}), plugins=(OddNodes,))
    watched.show(pod := make_pod("p", requests=ONE))
    watched.change(bound(pod, "n2"))
    assert watched.end() == ["disagreed"]
    assert (watched.verdicts[0].plugin, watched.verdicts[0].points) == ("OddNodes", 100)


def test_the_cluster_of_a_disagreement_explains_it() -> None:
    watched = Watched(small("n1"), small("n2"), small("n3", taints=AVOIDED))
    first, pod, last = (make_pod(name, requests=ONE) for name in ("first", "p", "last"))
    watched.show(first, pod, last)
    watched.change(bound(first, "n1"))
    watched.change(bound(pod, "n3"))
    watched.change(bound(last, "n2"), small("n2", taints=["late=x:NoSchedule"]))
    assert watched.end()[-1] == "disagreed"
    cluster, verdict = watched.clusters[-1], watched.verdicts[-1]
    explanation = explain(cluster, "default/p")
    best = explanation.choice
    assert best is not None
    assert (best.best.node, best.best.total) == (verdict.ours, sum(verdict.our_scores.values()))
    assert best.best.total - sum(verdict.scores.values()) == verdict.points
    assert {obj.name for obj in cluster if isinstance(obj, Pod)} == {"first", "p"}  # last took no room yet


def test_nothing_is_kept_of_pods_that_are_gone() -> None:
    watched = Watched(small("n1"), small("n2"))
    for i in range(50):
        watched.show(pod := make_pod(f"p{i}", requests=ONE))
        watched.change(bound(pod, f"n{1 + i % 2}"))
        watched.delete(bound(pod, f"n{1 + i % 2}"))
        watched.clock.seconds += 1
    watched.end()
    assert watched.shadow.sizes["waiting"] == 0
    assert watched.shadow.sizes["changes"] <= 2 * 17  # of the last seconds
    assert Counter(watched.end())["disagreed"] == 0


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("announced", [False, True])
def test_a_pod_that_is_not_decided_is_not_judged_and_keeps_its_room(announced: bool) -> None:
    served, plain = make_pod("served", requests={GPU: 1, "cpu": "5"}), make_pod("plain", requests={"cpu": "1"})
    watched = Watched(*device_cluster(), served, plain)
    if announced:
        watched.change(nominated(served, "dra-2"))
    watched.change(bound(served, "dra-2"), bound(plain, "dra-1"))
    assert watched.end() == ["undecided", "tie"]
    assert watched.verdicts[0].reason == NOT_DECIDED
    assert watched.shadow.cluster_state.snapshot().node_info("dra-2").requested["cpu"] == 6000


@pytest.mark.parametrize("is_extended", [False, True])
def test_a_pod_with_devices_is_judged_before_its_claim_is_written(is_extended: bool) -> None:
    resource = "example.com/gpu"
    slices = [resource_slice(name, [device("gpu-0")]) for name in ("n1", "n2")]
    mine = claim("p-extended-resources-x" if is_extended else "mine", ask())
    others = [*slices, device_class("gpu", resource=resource), *([] if is_extended else [mine])]
    spec = {} if is_extended else {"resourceClaims": using("mine")}
    pod = make_pod("p", requests={**ONE, **({resource: "1"} if is_extended else {})}, spec=spec)
    watched = Watched(small("n1"), small("n2"), *map(read, others), pod)
    watched.change(nominated(pod, "n1"))
    if is_extended:
        mine["metadata"]["annotations"] = {"resource.kubernetes.io/extended-resource-claim": "true"}
        mine["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": "p", "uid": pod.uid, "controller": True}]
        watched.show(read(mine))
    watched.change(read({**mine, "status": allocation("n1", "gpu-0")}))
    watched.change(bound(nominated(pod, "n1"), "n1"))
    assert watched.end() == ["agreed"]


def test_the_version_of_the_setup_decides() -> None:
    shadow = Shadow(set_up(release=Release(33)), lambda verdict, cluster: None, clock=FakeTiming())
    assert shadow.cluster_state.release == Release(33)
