"""Which hook is called when, and what its answer causes."""

from collections.abc import Mapping

import numpy as np
import pytest

from kubesched.api import Pod
from kubesched.framework import (
    Code,
    CycleState,
    DependsOn,
    NominatedPods,
    Plugin,
    PostFilterResult,
    PreFilterResult,
    Services,
    Status,
    Wait,
    default_normalize,
    find_feasible,
)
from kubesched.framework.framework import Framework
from kubesched.scheduler import build_frameworks, straight
from kubesched.state import ClusterState
from kubesched.testing.builders import make_node, make_pod
from kubesched.testing.fake_cluster import minimal_profile

POD = make_pod("p", requests={"cpu": "1"})


def framework(
    *plugins: Plugin,
    weights: dict[str, int] | None = None,
    n_nodes: int = 3,
    nominated: Mapping[str, Pod] | None = None,
) -> Framework:
    cluster_state = ClusterState()
    cluster_state.load([("Node", make_node(f"n{i}", allocatable={"cpu": str(i + 1)})) for i in range(n_nodes)])
    pairs = [(node, cluster_state.pod_info(pod)) for node, pod in (nominated or {}).items()]
    services = Services(nominated=NominatedPods(cluster_state.columns, lambda: pairs))
    (found,) = build_frameworks([minimal_profile(*plugins, weights=weights)], cluster_state, services).values()
    return found


def new_cycle(found: Framework) -> CycleState:
    return CycleState(found.handle.cluster_state.pod_info(POD))


def pre_filtered(*plugins: Plugin):
    found = framework(*plugins)
    return found.run_pre_filter(new_cycle(found), POD, found.handle.snapshot().nodes)


def answering(name: str, hook: str, answer: object) -> Plugin:
    return type(name, (Plugin,), {hook: lambda self, *given: answer})()


class Cores(Plugin):
    """Rejects the node with one core; scores nodes by cores."""

    reasons = (Status.unschedulable("too small"),)

    def filter_nodes(self, state, pod, nodes):
        return nodes.allocatable[0] < 2000

    def score_nodes(self, state, pod, nodes):
        return nodes.allocatable[0] // 1000


class KeptCores(Cores):
    """The same, kept."""

    depends_on = DependsOn.NODE

    def filter_part(self, state, pod):
        return None

    def score_part(self, state, pod):
        return None

    def normalize_score(self, state, pod, scores):
        return default_normalize(scores)


# --- PreFilter ---


def test_an_unschedulable_prefilter_is_remembered_and_the_others_are_asked() -> None:
    first = answering("A", "pre_filter", Status.unschedulable("no"))
    last = answering("B", "pre_filter", Status.unschedulable("never mind"))
    assert pre_filtered(first, last).status == Status.unschedulable("never mind").by("B")
    stops = answering("C", "pre_filter", Status.unresolvable("stop"))
    assert pre_filtered(first, stops, last).status == Status.unresolvable("stop").by("C")


def test_prefilters_narrow_the_nodes_together() -> None:
    some = answering("A", "pre_filter", PreFilterResult(frozenset({"n0", "n1"})))
    others = answering("B", "pre_filter", PreFilterResult(frozenset({"n1", "n2"})))
    found = pre_filtered(some, others)
    assert (found.status, found.node_names, found.narrowed_by) == (Status.SUCCESS, {"n1"}, ["A", "B"])


def test_a_skipping_prefilter_switches_its_filter_off() -> None:
    class Skips(Cores):
        def pre_filter(self, state, pod, nodes):
            return Status.SKIP

    found = framework(Skips())
    result = find_feasible(found, new_cycle(found), found.handle.snapshot().nodes).result
    assert result.all_fit


# --- Filter ---


def test_a_rule_is_asked_whole_when_it_may_be_kept_and_else_only_about_survivors() -> None:
    asked = []

    class Notes(Plugin):
        reasons = (Status.unschedulable("no"),)

        def filter_nodes(self, state, pod, nodes):
            asked.append((self.name, nodes.names))
            return np.zeros(len(nodes), dtype=np.int16)

        def filter_part(self, state, pod):
            return None

    anything = type("Anything", (Notes,), {})()
    kept = type("Kept", (Notes,), {"depends_on": DependsOn.ROW})()
    related = type("Related", (Notes,), {"depends_on": DependsOn.CLUSTER})()
    found = framework(Cores(), anything, kept, related)
    nodes = found.handle.snapshot().nodes
    found.run_filter(new_cycle(found), POD, nodes, is_whole=True)
    everything, survivors = ["n0", "n1", "n2"], ["n1", "n2"]
    assert asked == [("Anything", survivors), ("Kept", everything), ("Related", everything)]


def test_kept_and_fresh_verdicts_are_the_same() -> None:
    asked = []

    class Notes(KeptCores):
        def filter_nodes(self, state, pod, nodes):
            asked.append(nodes.names)
            return super().filter_nodes(state, pod, nodes)

    kept, fresh = framework(Notes()), framework(Cores())
    for found in (kept, kept, fresh):
        result = found.run_filter(new_cycle(found), POD, found.handle.snapshot().nodes, is_whole=True)
        assert result.fits.tolist() == [False, True, True]
    assert asked == [["n0", "n1", "n2"]]


# --- PostFilter ---


def post_filtered(*plugins: Plugin) -> tuple[PostFilterResult | None, Status]:
    found = framework(Cores(), *plugins)
    state = new_cycle(found)
    diagnosis = find_feasible(found, state, found.handle.snapshot().nodes)
    return straight(found.run_post_filter(state, POD, diagnosis))


def test_the_first_postfilter_that_succeeds_ends_the_run() -> None:
    no = answering("A", "post_filter", (None, Status.unschedulable("not I")))
    room = PostFilterResult("n1")
    yes = answering("B", "post_filter", (room, Status.SUCCESS))
    never = answering("C", "post_filter", (None, Status.error("asked")))
    assert post_filtered(no, yes, never) == (room, Status.SUCCESS.by("B"))


def test_rejections_of_postfilters_are_put_together() -> None:
    no = answering("A", "post_filter", (None, Status.unschedulable("not I")))
    clears = PostFilterResult("")
    neither = answering("B", "post_filter", (clears, Status.unschedulable("nor I")))
    assert post_filtered(no, neither) == (clears, Status(Code.UNSCHEDULABLE, ("not I", "nor I"), "A"))


# --- Score ---


def scored(*plugins: Plugin, weights: dict[str, int] | None = None) -> dict[str, list[int]]:
    found = framework(*plugins, weights=weights)
    state = new_cycle(found)
    result = find_feasible(found, state, found.handle.snapshot().nodes).result
    scores = found.run_score(state, POD, result.feasible, is_whole=True)
    return {name: scores.of(name).tolist() for name in scores.by_plugin} | {"total": scores.total.tolist()}


def test_scores_are_normalised_over_feasible_nodes_and_weighted() -> None:
    assert scored(KeptCores(), weights={"KeptCores": 3}) == {"KeptCores": [198, 300], "total": [198, 300]}


def test_totals_add_up_over_plugins() -> None:
    other = answering("Other", "score_nodes", np.array([5, 5]))
    assert scored(Cores(), other, weights={"Other": 2}) == {"Cores": [2, 3], "Other": [10, 10], "total": [12, 13]}


def test_a_skipping_prescore_leaves_the_plugin_out() -> None:
    class Skips(Cores):
        def pre_score(self, state, pod, nodes):
            assert nodes.names == ["n1", "n2"]
            return Status.SKIP

    assert scored(Skips()) == {"total": [0, 0]}


def test_a_score_that_all_nodes_share_is_normalised_and_weighted_too() -> None:
    class Same(KeptCores):
        def filter_nodes(self, state, pod, nodes):
            return np.zeros(len(nodes), dtype=np.int16)

        def score_nodes(self, state, pod, nodes):
            return np.full(len(nodes), 7, dtype=np.int64)

    assert scored(Same(), weights={"Same": 2}) == {"Same": [200] * 3, "total": [200] * 3}


# --- nominated pods ---


def test_a_node_must_fit_with_and_without_the_pods_nominated_to_it() -> None:
    class Sees(Plugin):
        """Rejects nodes with pods, and the node n2 without."""

        depends_on = DependsOn.CLUSTER
        reasons = (Status.unschedulable("occupied"), Status.unschedulable("empty"))

        def filter_nodes(self, state, pod, nodes):
            wants_company = np.array([name == "n2" for name in nodes.names])
            return np.where(wants_company, np.where(nodes.n_pods > 0, 0, 2), nodes.n_pods > 0)

    pod = make_pod("nominated", requests={"cpu": "1"})
    found = framework(Sees(), nominated={"n1": pod, "n2": pod})
    nodes = found.handle.snapshot().nodes
    statuses = found.run_filter_with_nominated(new_cycle(found), POD, nodes, is_whole=True).statuses()
    assert [statuses[i].message for i in range(3)] == ["", "occupied", "empty"]
    what_if = found.what_if(new_cycle(found), POD, nodes)
    assert what_if.fits().tolist() == what_if.filter().fits.tolist() == [True, False, False]
    assert nodes.n_pods.tolist() == [0, 0, 0]


def test_the_nomination_of_the_incoming_pod_itself_does_not_count() -> None:
    found = framework(nominated={"n0": POD, "n1": make_pod("other")})
    cluster_state = found.handle.cluster_state
    nodes = cluster_state.snapshot().nodes
    for table, expected in ((nodes, [1]), (nodes.select(np.array([1, 0])), [0]), (nodes.select(np.array([0])), [])):
        positions, pods = found.handle.nominated.on(table, cluster_state.pod_info(POD))
        assert positions.tolist() == expected
        assert [info.pod.name for info in pods.infos] == ["other"] * len(expected)


def permitted(*plugins: Plugin) -> tuple[Status, dict[str, float]]:
    found = framework(*plugins)
    return found.run_permit(new_cycle(found), POD, "n0")


def test_permit_gives_how_long_each_plugin_wants_to_be_waited_for():
    plugins = (answering("A", "permit", Wait(3)), answering("B", "permit", Status.SUCCESS))
    assert permitted(*plugins, answering("C", "permit", Wait(0.5))) == (Status.SUCCESS, {"A": 3, "C": 0.5})
    assert permitted() == (Status.SUCCESS, {})


def test_the_first_rejection_of_permit_ends_it():
    plugins = (answering("A", "permit", Wait(3)), answering("B", "permit", Status.unschedulable("no")))
    status, _ = permitted(*plugins, answering("C", "permit", None))
    assert status == Status.unschedulable("no").by("B")


@pytest.mark.parametrize("wait", [Wait(-1), Wait(float("nan")), Wait(None), Wait("1s")])
def test_a_wait_that_is_no_length_of_time_is_a_fault(wait: Wait):
    status, waits = permitted(answering("A", "permit", wait))
    assert (status.code, status.plugin, waits) == (Code.ERROR, "A", {})
    assert status.message.startswith('running Permit plugin "A": must return a Status')
