"""One pod, one snapshot: which nodes are looked at, which is taken, and what is noted where none fits."""

from collections.abc import Iterable
from itertools import zip_longest
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import EventType, Pod, WatchEvent
from kubesched.framework import (
    Code,
    Decision,
    Plugin,
    PostFilterResult,
    PreFilterResult,
    Profile,
    QueuedPodInfo,
    Status,
)
from kubesched.scheduler import SchedulingCycle, TieBreak, build_frameworks, straight
from kubesched.state import ClusterState
from kubesched.testing.builders import make_node, make_pod
from kubesched.testing.fake_cluster import minimal_profile
from tests.scheduler.test_selection import heap_root


class Labelled(Plugin):
    """Wants the nodes that the pod's annotation `nodes` names; `!` after a name forbids it for good, `?` breaks."""

    reasons = (Status.unschedulable("not named"), Status.unresolvable("never"), Status.error("broken"))

    def filter_nodes(self, state, pod, nodes):
        named = pod.annotations.get("nodes")
        verdicts = np.full(len(nodes), 0 if named is None else 1, dtype=np.int16)
        for name in (named or "").split():
            position = nodes.position_of(name.strip("!?"))
            if position is not None:
                verdicts[position] = {"!": 2, "?": 3}.get(name[-1], 0)
        return verdicts


class Narrowing(Plugin):
    """Narrows to the nodes that the pod's annotation `only` names."""

    def pre_filter(self, state, pod, nodes):
        only = pod.annotations.get("only")
        return Status.SUCCESS if only is None else PreFilterResult(frozenset(only.split()))


class Cores(Plugin):
    """Scores nodes by their cores."""

    def score_nodes(self, state, pod, nodes):
        return nodes.allocatable[0] // 1000


class MakesRoom(Plugin):
    """Notes the diagnosis, and nominates a node."""

    def post_filter(self, state, pod, diagnosis):
        self.diagnosis = diagnosis
        return PostFilterResult("n1"), Status.unschedulable("no victims")


def cycle(
    *plugins: Plugin, nodes: Iterable[object], tie_break: TieBreak = TieBreak.UPSTREAM, percentage: int = 0
) -> "Cycle":
    return Cycle(minimal_profile(*plugins), nodes, tie_break, percentage)


class Cycle:
    def __init__(self, profile: Profile, nodes: Iterable[object], tie_break: TieBreak, percentage: int) -> None:
        profile.percentage_of_nodes_to_score = percentage
        self.cluster_state = ClusterState()
        self.cluster_state.load([("Node", node) for node in nodes])
        self.framework = build_frameworks([profile], self.cluster_state)["default-scheduler"]
        self.cycle = SchedulingCycle(tie_break, Random(0))

    def decide(self, pod: Pod) -> Decision:
        queued = QueuedPodInfo(pod, pod.key, 0.0, attempts=1)
        info, snapshot = self.cluster_state.pod_info(pod), self.cluster_state.snapshot()
        decision, _ = straight(self.cycle.decide(self.framework, info, snapshot, queued))
        return decision


def pod(name: str = "p", **annotations: str) -> Pod:
    return make_pod(name, annotations=annotations)


def nodes(n: int, zones: str = "a") -> list[object]:
    return [make_node(f"n{i}", zone=zones[i % len(zones)]) for i in range(n)]


def test_the_node_with_the_highest_total_is_taken_and_the_next_ones_are_remembered() -> None:
    cores = ("2", "8", "4", "16", "1")
    decision = cycle(
        Cores(), nodes=[make_node(f"n{i}", allocatable={"cpu": cpu}) for i, cpu in enumerate(cores)]
    ).decide(pod())
    assert (decision.node_name, decision.chosen.total, decision.chosen.scores) == ("n3", 16, {"Cores": 16})
    assert decision.runners_up == (("n1", 8), ("n2", 4), ("n0", 2))
    assert (decision.n_nodes, decision.n_evaluated, decision.n_feasible) == (5, 5, 5)


def test_the_only_feasible_node_is_taken_without_asking_scores() -> None:
    class Never(Plugin):
        def score_nodes(self, state, pod, nodes):
            raise AssertionError("asked")

    decision = cycle(Labelled(), Never(), nodes=nodes(3)).decide(pod(nodes="n1"))
    assert (decision.node_name, decision.n_feasible, decision.chosen.scores) == ("n1", 1, {})


def test_without_nodes_nothing_is_asked() -> None:
    decision = cycle(Labelled(), nodes=[]).decide(pod())
    assert decision.outcome.message == "no nodes available to schedule pods"
    assert decision.outcome.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert (decision.node_name, decision.nominated_node_name) == ("", "")


def test_where_nothing_fits_reasons_are_counted_and_postfilter_is_heard() -> None:
    room = MakesRoom()
    decision = cycle(Labelled(), room, nodes=nodes(3)).decide(pod(nodes="n0!"))
    assert decision.outcome.message == "0/3 nodes are available: 1 never, 2 not named. no victims"
    assert decision.reason == "Unschedulable"
    assert decision.unschedulable_plugins == {"Labelled"}
    assert decision.nominated_node_name == "n1"
    assert room.diagnosis.status_of("n0").code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert room.diagnosis.status_of("n1").code is Code.UNSCHEDULABLE


def test_a_failing_filter_ends_the_attempt_even_if_other_nodes_fit() -> None:
    decision = cycle(Labelled(), MakesRoom(), nodes=nodes(3)).decide(pod(nodes="n0 n1?"))
    assert (decision.reason, decision.node_name) == ("SchedulerError", "")
    assert "broken" in decision.outcome.message


def test_nodes_that_prefilter_left_out_have_its_reason() -> None:
    decision = cycle(Narrowing(), Labelled(), nodes=nodes(4)).decide(pod(only="n1 n2 gone", nodes="n3"))
    text = "0/4 nodes are available: 2 node(s) didn't satisfy plugin(s) [Narrowing], 2 not named."
    assert decision.outcome.message == text
    assert decision.unschedulable_plugins == {"Narrowing", "Labelled"}


def test_a_prefilter_that_leaves_no_node_rejects_the_pod() -> None:
    class Other(Narrowing):
        def pre_filter(self, state, pod, nodes):
            return PreFilterResult(frozenset({"n0"}))

    alone = cycle(Narrowing(), nodes=nodes(2)).decide(pod(only=""))
    assert alone.outcome.message == "0/2 nodes are available: node(s) didn't satisfy plugin Narrowing."
    both = cycle(Other(), Narrowing(), nodes=nodes(2)).decide(pod(only="n1"))
    text = "0/2 nodes are available: node(s) didn't satisfy plugin(s) [Narrowing Other] simultaneously."
    assert both.outcome.message == text
    assert both.unschedulable_plugins == {"Narrowing", "Other"}


def test_the_nominated_node_is_taken_unseen_when_it_fits() -> None:
    scored = cycle(Labelled(), Cores(), nodes=[*nodes(2), make_node("big", allocatable={"cpu": "64"})])
    nominated = make_pod("p", status={"nominatedNodeName": "n1"})
    assert scored.decide(nominated).node_name == "n1"
    assert scored.decide(make_pod("p", status={"nominatedNodeName": "gone"})).node_name == "big"


def test_a_nominated_node_that_does_not_fit_is_counted_once() -> None:
    nominated = make_pod("p", annotations={"nodes": "n9", "only": "n1"}, status={"nominatedNodeName": "n0"})
    decision = cycle(Narrowing(), Labelled(), nodes=nodes(3)).decide(nominated)
    text = "0/3 nodes are available: 1 node(s) didn't satisfy plugin(s) [Narrowing], 2 not named."
    assert decision.outcome.message == text


def test_equal_nodes_are_taken_in_the_order_in_which_kube_scheduler_lists_them() -> None:
    listed = [make_node("a0", zone="a"), make_node("a1", zone="a"), make_node("b0", zone="b")]
    upstream = cycle(Labelled(), Cores(), nodes=listed)
    assert upstream.decide(pod(nodes="a1 b0")).node_name == "b0"  # the listing is a0 b0 a1
    first = cycle(Labelled(), Cores(), nodes=listed, tie_break=TieBreak.FIRST)
    assert first.decide(pod(nodes="a1 b0")).node_name == "a1"


class Listing:
    """The nodes as kube-scheduler lists them: the first of every zone, then the second of every zone, and so on."""

    def __init__(self) -> None:
        self.zones: dict[str, list[str]] = {}

    def add(self, name: str, zone: str) -> None:
        self.zones.setdefault(zone, []).append(name)

    def remove(self, name: str) -> None:
        self.zones = {zone: kept for zone, names in self.zones.items() if (kept := [n for n in names if n != name])}

    @property
    def names(self) -> list[str]:
        return [name for turn in zip_longest(*self.zones.values()) for name in turn if name is not None]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 2)), min_size=3, max_size=12), st.data())
def test_of_equal_nodes_the_root_of_the_heap_is_taken_whatever_nodes_come_and_go(made, data) -> None:
    upstream, listing, cores = cycle(Narrowing(), Labelled(), Cores(), nodes=[]), Listing(), {}
    for i, (zone, n_cores) in enumerate(made):
        name = f"n{i}"
        cores[name] = n_cores
        listing.add(name, zone)
        node = make_node(name, zone=zone, allocatable={"cpu": str(n_cores)})
        upstream.cluster_state.apply(WatchEvent(EventType.ADDED, "Node", node))
        if i % 4 == 2:
            gone = data.draw(st.sampled_from(listing.names))
            listing.remove(gone)
            upstream.cluster_state.apply(WatchEvent(EventType.DELETED, "Node", make_node(gone)))
        upstream.decide(pod(only=" ".join(data.draw(st.sets(st.sampled_from(listing.names), min_size=1)))))
        fitting = data.draw(
            st.sets(st.sampled_from(listing.names), min_size=2) if len(listing.names) > 1 else st.none()
        )
        decision = upstream.decide(pod() if fitting is None else pod(nodes=" ".join(fitting)))
        start = upstream.cycle.next_start
        found = [n for n in (*listing.names[start:], *listing.names[:start]) if fitting is None or n in fitting]
        assert decision.node_name == found[heap_root([cores[name] for name in found])]


def test_a_search_among_few_nodes_moves_where_the_next_one_begins() -> None:
    upstream = cycle(Narrowing(), Cores(), nodes=nodes(5))
    assert upstream.decide(pod()).node_name == "n0"
    upstream.decide(pod(only="n3 n4"))
    assert upstream.decide(pod()).node_name == "n2"
    assert upstream.cycle.next_start == 2


def test_the_start_counts_nodes_that_do_not_fit() -> None:
    upstream = cycle(Narrowing(), Labelled(), Cores(), nodes=nodes(5))
    upstream.decide(pod(only="n1"))
    assert upstream.decide(pod(nodes="n0 n3 n4")).node_name == "n3"


def test_a_nominated_node_that_was_rejected_counts_as_looked_at() -> None:
    upstream = cycle(Narrowing(), Labelled(), Cores(), nodes=nodes(5))
    upstream.decide(make_pod("p", annotations={"only": "n1 n2", "nodes": "n1"}, status={"nominatedNodeName": "n4"}))
    assert upstream.cycle.next_start == 3


def test_without_scores_the_first_feasible_node_of_each_search_is_taken() -> None:
    upstream = cycle(Labelled(), nodes=nodes(4))
    taken = [upstream.decide(pod(nodes="n0 n1 n3")).node_name for _ in range(5)]
    assert taken == ["n0", "n1", "n3", "n0", "n1"]
    first = cycle(Labelled(), nodes=nodes(4), tie_break=TieBreak.FIRST)
    assert [first.decide(pod()).node_name for _ in range(3)] == ["n0"] * 3


@pytest.mark.parametrize("tie_break", [TieBreak.UPSTREAM, TieBreak.FIRST])
def test_a_percentage_ends_the_search_and_the_next_one_begins_there(tie_break: TieBreak) -> None:
    sampling = cycle(Labelled(), Cores(), nodes=nodes(250), tie_break=tie_break, percentage=10)
    first, second, third = (sampling.decide(pod()) for _ in range(3))
    assert [first.n_evaluated, second.n_evaluated, third.n_evaluated] == [100, 100, 100]
    assert [first.node_name, second.node_name, third.node_name] == ["n0", "n100", "n200"]
    assert sampling.cycle.next_start == 50


def test_the_search_goes_on_until_one_feasible_node_more_is_met() -> None:
    sampling = cycle(Labelled(), Cores(), nodes=nodes(250), percentage=10)
    fitting = " ".join(f"n{i}" for i in range(250) if i % 2)
    decision = sampling.decide(pod(nodes=fitting))
    assert (decision.n_evaluated, decision.n_feasible) == (201, 100)  # n0 to n200; n201 is the one too many
    assert sampling.cycle.next_start == 201


def test_a_percentage_of_100_or_none_looks_at_all_nodes() -> None:
    for percentage in (0, 100):
        decision = cycle(Labelled(), Cores(), nodes=nodes(250), percentage=percentage).decide(pod())
        assert decision.n_evaluated == 250


def test_a_score_out_of_range_ends_the_attempt() -> None:
    big = [make_node("n0"), make_node("n1", allocatable={"cpu": "101"})]
    decision = cycle(Cores(), nodes=big).decide(pod())
    assert decision.reason == "SchedulerError"
    assert decision.outcome.message == (
        'applying score defaultWeights on Score plugins: plugin "Cores" returns an invalid score 101, '
        "it should in the range of [0, 100] after normalizing"
    )
