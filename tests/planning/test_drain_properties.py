"""Drains that share one cluster in memory equal simulations of the clusters that they come to."""

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.planning import Drainer, Fate, drain
from kubesched.setup import set_up
from kubesched.simulator import Simulator, Trials
from tests.planning.drain_clusters import random_cluster

SEEDS = range(4)


def places(objects: list[KubeObject]) -> dict[str, str]:
    return {one.key: one.node_name for one in objects if isinstance(one, Pod) and not one.is_finished}


def simulated(objects: list[KubeObject]) -> dict[str, str]:
    """Where all pods are after a simulation; those that preemption evicts are nowhere."""
    report = Simulator(objects).run()
    after = places(objects) | {one.pod: one.node for one in report.placements}
    return {key: node for key, node in after.items() if key not in {victim.pod for victim in report.victims}}


@pytest.mark.parametrize("seed", SEEDS)
def test_simulating_the_result_of_a_drain_gives_the_same_placements(seed: int):
    objects = random_cluster(seed)
    with Drainer(objects, set_up()) as drainer:
        for names in (["n0"], ["n1", "n2"], ["n0", "n1", "n2", "n3"]):
            result = drainer.drain(names)
            after = simulated(list(result.objects))
            moved = {pod.pod: pod.to for pod in result.pods if pod.fate in (Fate.MOVES, Fate.PENDING)}
            assert {key: after.get(key, "") for key in moved} == moved
            assert not {pod.pod for pod in result.pods if pod.fate in (Fate.LOST, Fate.GONE)} & after.keys()
            stay = {pod.pod: pod.node for pod in result.pods if pod.fate in (Fate.BLOCKED, Fate.STAYS)}
            assert {key: after.get(key) for key in stay} == stay


@pytest.mark.parametrize("seed", SEEDS)
def test_each_drain_begins_with_the_same_cluster(seed: int):
    objects = random_cluster(seed)
    with Drainer(objects, set_up()) as drainer:
        each = list(drainer.each())
        again = list(drainer.each())
    for first, second in zip(each, again, strict=True):
        assert (first.pods, first.pushed_out, first.budgets) == (second.pods, second.pushed_out, second.budgets)
    last = each[-1]
    alone = drain(objects, last.nodes)
    assert (alone.pods, alone.pushed_out, alone.budgets) == (last.pods, last.pushed_out, last.budgets)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_set_that_most_finds_can_go_together(seed: int):
    objects = random_cluster(seed)
    with Drainer(objects, set_up()) as drainer:
        result = drainer.most()
        assert result.can_go
        assert result.pods == drainer.drain(result.nodes).pods
        if any(one.can_go for one in drainer.each()):
            assert result.nodes


@pytest.mark.parametrize("seed", SEEDS)
def test_a_trial_that_is_taken_back_leaves_a_cluster_like_a_new_one(seed: int):
    objects = random_cluster(seed)
    trials = Trials(objects)
    start = trials.mark()
    first = trials.schedule()
    trials.go_back(start)
    trials.cluster_state.check_invariants()
    assert places(trials.objects()) == places(objects)
    assert trials.schedule().placements == first.placements == Simulator(objects).run().placements
    trials.close()
