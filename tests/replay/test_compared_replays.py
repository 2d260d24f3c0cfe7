"""A trace with two configurations: figures over time, and what is beyond chance."""

from kubesched.comparison import Candidate, ReadCandidate, packed
from kubesched.pages.formats import as_text
from kubesched.pages.replays import compared_replays_page
from kubesched.replay import compare_replays
from kubesched.testing import make_node
from kubesched.traces import Trace
from tests.replay.traces_of_pods import arrival

NODES = tuple(make_node(f"n{i}", allocatable={"cpu": "4"}) for i in range(6))
TRACE = Trace(NODES, tuple(arrival(10 * i, f"p{i}", 100.0, "1") for i in range(40)), name="small")
SPREAD = ReadCandidate(Candidate("spread"))
PACKED = ReadCandidate(packed(Candidate("packed")))


def test_packing_uses_fewer_nodes_over_time() -> None:
    answer = compare_replays(TRACE, a=SPREAD.set_up, b=PACKED.set_up, names=("spread", "packed"), seeds=3)
    found = {one.name: one for one in answer.differences}
    assert found["nodes_in_use"].is_finding
    assert found["nodes_in_use"].a.mean > found["nodes_in_use"].b.mean
    assert not found["running"].is_finding
    text = as_text(compared_replays_page(answer), 160)
    assert text.splitlines()[0].startswith("packed instead of spread, on average over time: nodes in use ")


def test_one_configuration_does_not_differ_from_itself() -> None:
    answer = compare_replays(TRACE, a=SPREAD.set_up, b=SPREAD.set_up, seeds=2)
    assert not any(one.is_finding for one in answer.differences)
    first = "B instead of A: no figure over time differs beyond chance."
    assert compared_replays_page(answer).verdict.text == first


def test_waits_are_those_that_a_replay_reports() -> None:
    nodes = [make_node("n1", allocatable={"cpu": "4"}), make_node("n2", allocatable={"cpu": "8"})]
    trace = Trace(tuple(nodes), (arrival(0, "a", 600.0, "3"), arrival(60, "b", 600.0, "6")), name="two")
    answer = compare_replays(trace, a=SPREAD.set_up, b=PACKED.set_up, seeds=1)
    [wait] = [one for one in answer.differences if one.name == "wait"]
    assert (wait.a.mean, wait.b.mean) == (270.0, 0.0)
    assert (wait.a.mean, wait.a.p95) == (answer.of_a[0].waits[0].mean, answer.of_a[0].waits[0].p95)


def test_the_end_of_a_figure_is_that_of_the_last_sample() -> None:
    """The share of the nodes in use is none where no node is in use."""
    run = compare_replays(TRACE, a=SPREAD.set_up, b=SPREAD.set_up, seeds=1).of_a[0]
    assert run.over_time("nodes_in_use").end == 0
    assert run.over_time("cpu_utilization").end is None
