"""A trace in virtual time: pods wait, run for their duration, are evicted and come again; nodes come and go."""

from random import Random

import msgspec
import pytest

from kubesched.errors import InputError
from kubesched.framework import Plugin
from kubesched.replay import PodRun, Replay, replay
from kubesched.replay.cluster_samples import ClusterSamples
from kubesched.replay.timeline import Timeline
from kubesched.scheduler import TieBreak
from kubesched.session import Session, Simulator
from kubesched.testing import make_node, make_pod, minimal_profile
from kubesched.traces import Arrival, NodeChange, Trace
from tests.replay.traces_of_pods import SMALL, arrival, pod, trace
from tests.trials import seeds


def owned_by(kind: str) -> dict[str, object]:
    return {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "u", "controller": True}


def runs(answer: Replay) -> list[tuple[str, float, float | None, str, float | None, bool]]:
    return [
        (one.pod.partition("/")[2], one.arrived, one.bound, one.node, one.ended, one.is_evicted) for one in answer.pods
    ]


def test_the_duration_of_a_pod_counts_from_its_binding() -> None:
    answer = replay(trace(arrival(0, "a", 10), arrival(1, "b", 10)))
    assert runs(answer) == [("a", 0, 0, "n1", 10, False), ("b", 1, 10, "n1", 20, False)]
    assert answer.end == 20
    assert (answer.waits[0].mean, answer.waits[0].longest) == (4.5, 9)


def test_room_is_free_at_the_moment_at_which_a_pod_ends() -> None:
    answer = replay(trace(arrival(0, "a", 10), arrival(10, "b", 5)))
    assert runs(answer)[1] == ("b", 10, 10, "n1", 15, False)


def test_a_trace_may_begin_at_any_time() -> None:
    answer = replay(trace(arrival(1_700_000_000, "a", 10)))
    assert (answer.begin, answer.end) == (1_700_000_000, 1_700_000_010)


def test_pods_that_never_fit_are_pending_with_the_reason() -> None:
    answer = replay(trace(arrival(0, "big", 10, "2"), arrival(0, "a", 10)))
    assert [one.pod for one in answer.left] == ["default/big"]
    assert answer.left[0].message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert runs(answer)[-1] == ("big", 0, None, "", None, False)
    assert answer.series["pending"][-1] == 1
    assert answer.waits[0].n_pending == 1


def test_a_pod_is_tried_again_when_a_node_comes() -> None:
    new = NodeChange(25, make_node("n2", allocatable={"cpu": "2"}))
    answer = replay(trace(arrival(0, "big", 10, "2"), changes=[new]))
    assert runs(answer) == [("big", 0, 25, "n2", 35, False)]


def test_the_pods_of_a_node_that_goes_come_again() -> None:
    gone = NodeChange(4, SMALL, is_gone=True)
    back = NodeChange(7, SMALL)
    tiny = make_node("n2", allocatable={"cpu": "100m"})
    answer = replay(trace(arrival(0, "a", 10), nodes=[SMALL, tiny], changes=[gone, back]))
    assert runs(answer) == [("a", 0, 0, "n1", 4, True), ("a", 4, 7, "n1", 17, False)]
    assert (answer.n_evicted, answer.n_lost) == (1, 0)


def test_a_pod_that_does_not_come_again_is_lost() -> None:
    lost = Arrival(0, pod("a"), 10, comes_again=False)
    answer = replay(trace(lost, changes=[NodeChange(4, SMALL, is_gone=True)]))
    assert runs(answer) == [("a", 0, 0, "n1", 4, True)]
    assert answer.n_lost == 1


@pytest.mark.parametrize(("kind", "comes"), [("ReplicaSet", True), ("", False)])
def test_without_a_word_in_the_trace_the_controller_decides(kind: str, comes: bool) -> None:
    owned = make_pod("a", requests={"cpu": "1"}, metadata={"ownerReferences": [owned_by(kind)]} if kind else {})
    answer = replay(trace(Arrival(0, owned, 10), changes=[NodeChange(4, SMALL, is_gone=True)]))
    assert [one.pod for one in answer.left] == (["default/a"] if comes else [])


def test_a_victim_of_preemption_waits_and_runs_again_for_its_whole_duration() -> None:
    answer = replay(trace(arrival(0, "low", 100), arrival(40, "high", 10, priority=5)))
    assert runs(answer) == [
        ("low", 0, 0, "n1", 40, True),
        ("high", 40, 40, "n1", 50, False),
        ("low", 40, 50, "n1", 150, False),
    ]
    assert [(one.priority, one.n_pods) for one in answer.waits] == [(None, 3), (5, 1), (0, 2)]


def test_a_pod_that_names_its_node_runs_there() -> None:
    answer = replay(trace(arrival(0, "there", 30, node="n1"), arrival(5, "a", 1)))
    assert runs(answer) == [("there", 0, 0, "n1", 30, False), ("a", 5, 30, "n1", 31, False)]


def test_a_pod_that_named_its_node_waits_for_another_one_when_that_goes() -> None:
    nodes = [SMALL, make_node("n2", allocatable={"cpu": "1"})]
    gone = NodeChange(3, SMALL, is_gone=True)
    answer = replay(trace(arrival(0, "there", 30, node="n1"), nodes=nodes, changes=[gone]))
    assert runs(answer) == [("there", 0, 0, "n1", 3, True), ("there", 3, 3, "n2", 33, False)]


def test_of_a_cluster_only_the_pods_stay_that_belong_to_their_node() -> None:
    of_daemon_set = {"ownerReferences": [owned_by("DaemonSet")]}
    daemon = make_pod("log", node="n1", requests={"cpu": "500m"}, metadata=of_daemon_set)
    other = make_pod("other", node="n1", requests={"cpu": "500m"})
    answer = replay(trace(arrival(0, "a", 10, "500m")), [SMALL, daemon, other])
    assert answer.notes == ("of the cluster, 1 pod is left out",)
    assert answer.series["cpu_requested"][-1] == 500
    assert answer.series["nodes_in_use"][-1] == 0


class Broken(Plugin):
    def filter(self, state, pod, node):
        raise ValueError("no")


def test_a_pod_that_found_no_node_at_all_is_tried_when_one_comes() -> None:
    answer = replay(trace(arrival(0, "a", 10), nodes=(), changes=[NodeChange(100, SMALL)]))
    assert runs(answer)[0][2] is not None
    assert 100 <= runs(answer)[0][2] <= 110  # within the longest backoff


def test_faults_of_plugins_are_in_the_answer() -> None:
    answer = replay(trace(arrival(0, "a", 10)), configuration=[minimal_profile(Broken())])
    assert len(answer.faults) == 1
    assert "ValueError: no" in answer.faults[0]


# --- properties ---


@pytest.mark.parametrize("seed", seeds(4))
def test_pods_that_come_at_once_and_stay_go_where_a_simulation_has_them(seed: int) -> None:
    rng = Random(seed)
    nodes = [make_node(f"n{i}", zone=f"z{i % 3}", allocatable={"cpu": str(rng.randint(1, 8))}) for i in range(12)]
    pods = [pod(f"p{i}", f"{rng.randint(1, 30) * 100}m", priority=rng.randint(0, 2)) for i in range(50)]
    ties = {"tie_break": TieBreak.RANDOM, "seed": seed}
    report = Simulator([*nodes, *pods], **ties).run()
    answer = replay(trace(*(Arrival(0, one, comes_again=False) for one in pods), nodes=nodes), **ties)
    placed = {one.pod: one.node for one in answer.pods if not one.is_evicted and one.node}
    assert placed == {one.pod: one.node for one in report.placements if one.node and not one.evicted_by}
    assert [one.pod for one in answer.left] == [one.pod for one in report.placements if not one.node]
    assert {one.pod: one.message for one in answer.left} == {
        one.pod: one.message for one in report.placements if not one.node
    }


def some_trace(seed: int, n_pods: int = 120) -> Trace:
    rng = Random(seed)
    nodes = [make_node(f"n{i}", allocatable={"cpu": "4", "example.com/gpu": str(i % 3)}) for i in range(8)]
    arrivals = []
    for i in range(n_pods):
        more = {"example.com/gpu": str(rng.randint(1, 2))} if rng.random() < 0.3 else {}
        one = make_pod(
            f"p{i}", requests={"cpu": rng.choice(("500m", "1", "2")), **more}, priority=rng.choice((0, 0, 9))
        )
        arrivals.append(Arrival(rng.randint(0, 600), one, float(rng.randint(0, 200)), comes_again=True))
    away = rng.choice(nodes)
    changes = (NodeChange(200, away, is_gone=True), NodeChange(420, away))
    return Trace(tuple(nodes), tuple(sorted(arrivals, key=lambda one: one.at)), changes)


def carried_out(trace: Trace) -> tuple[Session, Timeline]:
    session = Session(trace.nodes)
    samples = ClusterSamples(session, [one.pod for one in trace.arrivals], trace.nodes)
    timeline = Timeline(trace, session, samples, 50.0)
    session.carry_out(timeline)
    return session, timeline


@pytest.mark.parametrize("seed", seeds(4))
def test_nothing_is_left_of_pods_that_have_ended(seed: int) -> None:
    given = some_trace(seed)
    session, timeline = carried_out(given)
    empty = Session(given.nodes)
    state, of_empty = session.cluster_state, empty.cluster_state
    state.check_invariants()
    session.scheduler.queue.check_invariants()
    assert {one.pod for one in timeline.runs if not one.is_evicted} == {one.pod.key for one in given.arrivals}
    assert session.waiting() == []
    assert sorted(one.key for one in session.objects()) == sorted(one.key for one in given.nodes)
    assert state.columns.sizes() == of_empty.columns.sizes()
    assert not state.columns.held.any()
    assert list(timeline.left_over()) == []
    assert timeline.counts()[0] == timeline.counts()[1]
    session.close()
    empty.close()


def test_the_same_trace_gives_the_same_answer() -> None:
    first, second = replay(some_trace(3)), replay(some_trace(3))
    assert (first.series, first.pods, first.waits) == (second.series, second.pods, second.waits)


@pytest.mark.parametrize("seed", seeds(3))
def test_at_no_time_a_node_has_more_than_it_offers_and_no_pod_runs_twice(seed: int) -> None:
    given = some_trace(seed)
    answer = replay(given)
    offered = {node.name: 4000 for node in given.nodes}
    requests = {one.pod.key: one.pod.requests["cpu"] for one in given.arrivals}
    for moment in sorted({one.bound for one in answer.pods if one.bound is not None}):
        here = [one for one in answer.pods if one.bound is not None and one.bound <= moment < (one.ended or 0)]
        assert len({one.pod for one in here}) == len(here)
        for name, room in offered.items():
            assert sum(requests[one.pod] for one in here if one.node == name) <= room


def test_samples_do_not_change_what_happens() -> None:
    given = some_trace(5)
    often, rarely = replay(given, every=1), replay(given, every=1e9)
    assert (often.pods, often.left) == (rarely.pods, rarely.left)
    assert len(often.series["time"]) > 600
    assert len(rarely.series["time"]) == 1


# --- bad input ---


def test_what_cannot_be_replayed_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"^small has no pods; expected a list of pods with their times$"):
        replay(trace())
    with pytest.raises(InputError, match=r"^small has no nodes; expected a list of nodes, or a snapshot with some$"):
        replay(trace(arrival(0, "a"), nodes=()))
    daemon = make_pod("a", node="n1", metadata={"ownerReferences": [owned_by("DaemonSet")]})
    with pytest.raises(InputError, match=r"^in the trace and in the cluster: default/a; expected each pod once$"):
        replay(trace(arrival(0, "a")), [SMALL, daemon])
    with pytest.raises(InputError, match=r"^every: found 0; expected a number of seconds above 0$"):
        replay(trace(arrival(0, "a")), every=0)


def test_a_pod_run_is_a_line_of_json() -> None:
    run = PodRun("default/a", 0, 1.0, 2.0, "n1", 3.0)
    assert run.waited == 1.0
    assert (
        msgspec.json.encode(run)
        == b'{"pod":"default/a","priority":0,"arrived":1.0,"bound":2.0,"node":"n1","ended":3.0}'
    )
