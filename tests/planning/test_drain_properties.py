"""Drains that share one cluster in memory equal simulations of the clusters that they come to."""

from collections.abc import Callable
from random import Random

import msgspec
import pytest

from kubesched.api import KubeObject, Node, Pod
from kubesched.planning import Drainer, Fate, drain
from kubesched.scheduler import TieBreak
from kubesched.session import Fill, Report, Session, Simulator
from kubesched.setup import set_up
from tests.planning.drain_clusters import claimed_cluster, packed_cluster, random_cluster
from tests.trials import seeds

Cluster = Callable[[int], list[KubeObject]]
SEEDS = seeds(2)
CLUSTERS = pytest.mark.parametrize("cluster", [random_cluster, claimed_cluster])
HAS_SUCCESSOR = (Fate.MOVES, Fate.PENDING, Fate.STILL_PENDING)


def places(objects: list[KubeObject]) -> dict[str, str]:
    return {one.key: one.node_name for one in objects if isinstance(one, Pod) and not one.is_finished}


def after_simulation(objects: list[KubeObject], report: Report) -> dict[str, str]:
    """Where all pods are; those that preemption evicts are nowhere."""
    after = places(objects) | {one.pod: one.node for one in report.placements}
    return {key: node for key, node in after.items() if key not in {victim.pod for victim in report.victims}}


def held(fill: Fill) -> dict[str, dict[str, int]]:
    return {node: fill.held(node) for node in fill.node_names}


@CLUSTERS
@pytest.mark.parametrize("tie_break", TieBreak)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_cluster_after_a_drain_has_the_pods_where_the_result_has_them(
    cluster: Cluster, seed: int, tie_break: TieBreak
):
    objects = cluster(seed)
    with Drainer(objects, set_up(), tie_break=tie_break, seed=7) as drainer:
        for names in (["n0"], ["n1", "n2"], ["n0", "n1", "n2", "n3"]):
            result = drainer.drain(names)
            written = list(result.objects)
            report = Simulator(written, tie_break=tie_break, seed=7).run()
            if not result.pushed_out:  # whose new pods are there, too
                assert held(report.after) == held(result.after)
                assert report.after.devices.counts == result.after.devices.counts
            after = after_simulation(written, report)
            moved = {pod.pod: pod.to for pod in result.pods if pod.fate in HAS_SUCCESSOR}
            assert {key: after.get(key, "") for key in moved} == moved
            assert not {pod.pod for pod in result.pods if pod.fate in (Fate.LOST, Fate.GONE)} & after.keys()
            stay = {pod.pod: pod.node for pod in result.pods if pod.fate in (Fate.BLOCKED, Fate.STAYS)}
            assert {key: after.get(key) for key in stay} == stay


@pytest.mark.parametrize("seed", SEEDS)
def test_no_step_evicts_more_pods_than_a_budget_allows(seed: int):
    objects = random_cluster(seed)
    result = drain(objects, ["n0", "n1", "n2"])
    has_started = {one.key for one in objects if isinstance(one, Pod) and one.node_name}  # others need no allowance
    for budget in result.budgets:
        pods = [pod for pod in result.pods if budget.budget in pod.budgets and pod.step and pod.pod in has_started]
        for step in range(1, result.steps + 1):
            n_evicted = sum(pod.step <= step for pod in pods)
            n_back = sum(pod.step < step and pod.fate is Fate.MOVES for pod in pods)
            assert n_evicted <= budget.allowed + n_back


@CLUSTERS
@pytest.mark.parametrize("seed", SEEDS)
def test_each_drain_begins_with_the_same_cluster(cluster: Cluster, seed: int):
    objects = cluster(seed)
    with Drainer(objects, set_up()) as drainer:
        each = list(drainer.each())
        again = list(drainer.each())
    for first, second in zip(each, again, strict=True):
        assert (first.pods, first.pushed_out, first.budgets) == (second.pods, second.pushed_out, second.budgets)
    last = each[-1]
    alone = drain(objects, last.nodes)
    without_causes = [
        [msgspec.structs.replace(pod, cause="", fix="") for pod in one.pods] for one in (alone, last)
    ]  # `each` looks for them once
    assert without_causes[0] == without_causes[1]
    assert (alone.pushed_out, alone.budgets) == (last.pushed_out, last.budgets)


@CLUSTERS
@pytest.mark.parametrize("seed", SEEDS)
def test_the_set_that_most_finds_can_go_together(cluster: Cluster, seed: int):
    objects = cluster(seed)
    with Drainer(objects, set_up()) as drainer:
        result = drainer.most()
        assert result.can_go
        assert result.pods == drain(objects, result.nodes).pods
        written = list(result.objects)
        after = after_simulation(written, Simulator(written).run())
        staying = {pod.pod for pod in result.of(Fate.STAYS)}
        assert {pod for pod, node in after.items() if node in result.nodes} == staying
        assert all(after[pod.pod] for pod in result.of(Fate.MOVES))
        left_before = {victim.pod for victim in result.evicted_before}
        assert all(after[pod] for pod, node in places(objects).items() if node and pod not in left_before)
        if any(one.can_go for one in drainer.each()):
            assert result.nodes


@CLUSTERS
@pytest.mark.parametrize("seed", SEEDS)
def test_a_trial_that_is_taken_back_leaves_a_cluster_like_a_new_one(cluster: Cluster, seed: int):
    objects = cluster(seed)
    session = Session(objects)
    with session.fork():
        first = session.schedule()
    session.cluster_state.check_invariants()
    assert places(session.objects()) == places(objects)
    assert session.schedule().placements == first.placements == Simulator(objects).run().placements
    session.close()


@pytest.mark.parametrize("seed", sorted({*SEEDS, 6, 38}))
def test_no_loop_over_drain_finds_more_nodes_than_most(seed: int):
    """On seeds 6, 9, 35 and 38 a single pass, the least full node first, finds less than a loop in some order."""
    check_no_loop_finds_more(random_cluster(seed))


@pytest.mark.parametrize("seed", [2])
def test_no_loop_finds_more_nodes_of_a_cluster_where_the_order_matters(seed: int):
    check_no_loop_finds_more(packed_cluster(seed))


def check_no_loop_finds_more(objects: list[KubeObject]) -> None:
    with Drainer(objects, set_up()) as drainer:
        names = [one.name for one in objects if isinstance(one, Node)]
        n_most = len(drainer.most().nodes)
        for order in range(5):
            Random(order).shuffle(names)
            going: list[str] = []
            for name in names:
                if drainer.drain([*going, name]).can_go:
                    going.append(name)
            assert len(going) <= n_most, names


def test_the_same_seed_finds_the_same_set():
    objects = random_cluster(6)
    with Drainer(objects, set_up(), seed=3) as drainer:
        assert drainer.most().nodes == drainer.most().nodes


def test_a_fix_that_moves_a_pod_to_a_node_that_it_adds_is_tried():
    result = drain(claimed_cluster(39), ["n0", "n1"])
    assert [pod.fix for pod in result.of(Fate.STILL_PENDING)]
