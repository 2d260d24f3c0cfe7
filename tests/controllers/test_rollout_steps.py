"""The steps of a rollout keep the bounds of its strategy, whichever pods find a node."""

from collections.abc import Callable, Iterator

from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import Pod, RollingUpdate, UpdateStrategy, Workload
from kubesched.controllers import RolloutPlan, RolloutView, ordinal_of, plan_rollout
from kubesched.testing import make_pod

HAS_NODE = st.sets(st.integers(0, 11))


def pods(n: int, name: str, node: str = "") -> list[Pod]:
    return [make_pod(f"{name}-{i}", node=node) for i in range(n)]


def walked(plan: RolloutPlan, finds_node: Callable[[Pod], bool]) -> Iterator[set[str]]:
    """Take the steps; after each, and between its two halves, the pods that there are and those of them that run."""
    there = {pod.key: pod for pod in (*plan.old, *plan.kept)}
    view = RolloutView(there.get, plan.old, plan.kept)
    for step in plan.steps(view):
        for pod in step.gone:
            assert pod.key in there
            del there[pod.key]
            view.old.pop(pod.key, None)
            view.running.discard(pod.key)
        yield view.running & there.keys()
        for pod in step.created:
            assert pod.key not in there
            there[pod.key] = pod
        view.running |= {pod.key for pod in step.created if finds_node(pod)}
        yield view.running & there.keys()
        assert len(there) <= 2 * len(plan.new) + len(plan.kept) + len(plan.old)


@given(n=st.integers(1, 12), surge=st.integers(0, 12), unavailable=st.integers(0, 12), placed=HAS_NODE)
def test_a_deployment_never_has_fewer_running_pods_than_it_may(n: int, surge: int, unavailable: int, placed: set[int]):
    bounds = RollingUpdate(max_surge=surge, max_unavailable=unavailable or (0 if surge else 1))
    plan = plan_rollout(
        Workload("Deployment", "default", "web"),
        UpdateStrategy(rolling_update=bounds),
        pods(n, "old", "n1"),
        pods(n, "new"),
    )
    least = n - (unavailable or (0 if surge else 1))
    seen = [len(running) for running in walked(plan, lambda pod: ordinal_of(pod) in placed)]
    assert min(seen) >= max(0, least)
    assert set(range(n)) - placed or seen[-1] == n


@given(n=st.integers(1, 12), at_a_time=st.integers(1, 4), partition=st.integers(0, 11), placed=HAS_NODE)
def test_a_stateful_set_goes_down_to_its_partition(n: int, at_a_time: int, partition: int, placed: set[int]):
    if partition >= n:
        return
    bounds = RollingUpdate(max_unavailable=at_a_time, partition=partition)
    workload = Workload("StatefulSet", "default", "db")
    plan = plan_rollout(workload, UpdateStrategy(rolling_update=bounds), pods(n, "old", "n1"), pods(n, "new"))
    assert [ordinal_of(pod) for pod in plan.kept] == list(range(partition))
    for running in walked(plan, lambda pod: ordinal_of(pod) in placed):
        assert len(running) >= n - at_a_time


def test_a_stateful_set_waits_for_a_pod_that_does_not_run():
    old = [make_pod("db-0"), make_pod("db-1", node="n1")]
    plan = plan_rollout(Workload("StatefulSet", "default", "db"), UpdateStrategy(), old, pods(3, "db"))
    view = RolloutView({pod.key: pod for pod in old}.get, plan.old)
    assert not list(plan.steps(view))
    assert view.awaited is old[0]
