"""DefaultPreemption: who is asked to leave, where, and why nobody is."""

from random import Random

import pytest

from kubesched.framework import (
    Code,
    CycleState,
    NominatedPods,
    Plugin,
    PostFilterResult,
    Services,
    Status,
    find_feasible,
)
from kubesched.pages.simulations import placed_line
from kubesched.plugins import DefaultPreemption, NodeResourcesFit
from kubesched.plugins.args import DefaultPreemptionArgs
from kubesched.release import Release
from kubesched.scheduler import TieBreak, build_frameworks, straight
from kubesched.session import Simulator, place
from kubesched.setup import set_up
from kubesched.state import ClusterState
from kubesched.testing import FakeCluster, make_node, make_object, make_pod, minimal_profile

START = "2026-01-01T00:00:00Z"
HELPLESS = "Preemption is not helpful for scheduling"


def node(name: str, cpu: str = "2", **said):
    return make_node(name, allocatable={"cpu": cpu}, **said)


def low(name: str, cpu: str = "1", on: str = "n", priority: int = 0, start: int = 0, **said):
    status = {"startTime": f"2026-01-01T00:00:{start:02d}Z", **said.pop("status", {})}
    return make_pod(name, node=on, requests={"cpu": cpu}, priority=priority, status=status, **said)


def high(cpu: str = "1", priority: int = 10, **said):
    return make_pod("p", requests={"cpu": cpu}, priority=priority, **said)


def budget(name: str, app: str, allowed: int):
    return make_object(
        "PodDisruptionBudget",
        name,
        spec={"selector": {"matchLabels": {"app": app}}},
        status={"disruptionsAllowed": allowed},
    )


def preempt(pod, *objects, plugins: tuple[Plugin, ...] = (), nominated=None, args=None, seed: int = 0):
    plugins = (NodeResourcesFit(), *plugins, DefaultPreemption(args))
    cluster_state = ClusterState()
    cluster_state.load([(type(known).__name__, known) for known in objects])
    pairs = [(name, cluster_state.pod_info(other)) for name, other in nominated or ()]
    services = Services(rng=Random(seed), nominated=NominatedPods(cluster_state.columns, lambda: pairs))
    (framework,) = build_frameworks([minimal_profile(*plugins)], cluster_state, services).values()
    info = cluster_state.pod_info(pod)
    state = CycleState(info)
    diagnosis = find_feasible(framework, state, cluster_state.snapshot().nodes)
    return straight(framework.run_post_filter(state, pod, diagnosis))


def outcome(pod, *objects, **said) -> tuple[str, list[str]]:
    result, status = preempt(pod, *objects, **said)
    assert isinstance(result, PostFilterResult), status
    return result.nominated_node_name, [victim.pod.name for victim in result.victims]


def refusal(pod, *objects, **said) -> str:
    result, status = preempt(pod, *objects, **said)
    assert result is None or not result.nominated_node_name
    return status.message


def test_only_pods_of_lower_priority_leave_and_only_as_many_as_it_takes() -> None:
    pods = [low("a", priority=1), low("b", priority=3), low("c", "1", priority=10)]
    assert outcome(high(), node("n", "3"), *pods) == ("n", ["a"])


def test_the_most_important_pods_are_put_back_first() -> None:
    pods = [low("older", start=1), low("newer", start=9)]
    assert outcome(high(), node("n"), *pods) == ("n", ["newer"])


def test_victims_are_named_the_most_important_first() -> None:
    pods = [low("a", priority=1), low("b", priority=5)]
    assert outcome(high("2"), node("n"), *pods) == ("n", ["b", "a"])


@pytest.mark.parametrize(
    ("on_n", "on_m", "chosen"),
    [
        ([("a", 5)], [("b", 3)], "m"),  # the lowest highest priority
        ([("a", 3), ("b", 3)], [("c", 3), ("d", 1)], "m"),  # the lowest sum
        ([("a", 3)], [("b", 3)], "n"),  # the first of equals
    ],
)
def test_the_node_that_costs_least_is_chosen(on_n: list, on_m: list, chosen: str) -> None:
    pods = [low(name, on="n", priority=priority) for name, priority in on_n]
    pods += [low(name, on="m", priority=priority) for name, priority in on_m]
    size = str(len(on_n))
    assert outcome(high(size), node("n", size), node("m", size), *pods)[0] == chosen


@pytest.mark.parametrize("priority", [5, -5])
def test_one_victim_costs_less_than_two_of_its_priority(priority: int) -> None:
    two = [low("a", on="n", priority=priority), low("b", on="n", priority=priority)]
    one = low("c", "2", on="m", priority=priority)
    assert outcome(high("2"), node("n"), node("m"), *two, one) == ("m", ["c"])


def test_of_otherwise_equal_nodes_the_one_whose_victims_started_last_is_chosen() -> None:
    pods = [low("a", on="n", start=5), low("b", on="m", start=9)]
    assert outcome(high(), node("n", "1"), node("m", "1"), *pods) == ("m", ["b"])


def test_a_budget_is_broken_only_where_nothing_else_helps() -> None:
    kept = low("kept", on="n", labels={"app": "kept"})
    other = low("other", on="m", priority=5)
    full = [node("n", "1"), node("m", "1")]
    assert outcome(high(), *full, kept, other, budget("b", "kept", 0)) == ("m", ["other"])
    assert outcome(high(), *full, kept, other, budget("b", "kept", 1)) == ("n", ["kept"])
    result, _ = preempt(high(), full[0], kept, budget("b", "kept", 0))
    assert (result.nominated_node_name, result.n_pdb_violations) == ("n", 1)


def test_pods_that_a_budget_protects_are_put_back_first() -> None:
    pods = [low("kept", labels={"app": "kept"}), low("other", priority=5)]
    assert outcome(high(), node("n"), *pods, budget("b", "kept", 0)) == ("n", ["other"])


def test_every_protected_pod_uses_up_its_budget() -> None:
    pods = [low(f"p{i}", labels={"app": "kept"}, start=i) for i in range(3)]
    result, _ = preempt(high("3"), node("n", "3"), *pods, budget("b", "kept", 1))
    assert (len(result.victims), result.n_pdb_violations) == (3, 2)


def test_nodes_that_no_eviction_helps_are_not_tried() -> None:
    small, full = node("small", "1"), node("n", "2")
    message = refusal(high("2"), small, full, low("a", "1", priority=10))
    reasons = f"1 No preemption victims found for incoming pod, 1 {HELPLESS}"
    assert message == f"preemption: 0/2 nodes are available: {reasons}."


def test_a_pod_that_still_does_not_fit_says_why() -> None:
    pods = [low("a", "1", priority=10), low("b", "500m")]
    message = refusal(high("1500m"), node("n"), *pods)
    assert message == "preemption: 0/1 nodes are available: 1 Insufficient cpu."


class Fickle(Plugin):
    """Rejects a node only the first time."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.open = {name}

    def filter(self, state, pod, node):
        if node.name not in self.open:
            return Status.SUCCESS
        self.open.remove(node.name)
        return Status.unschedulable("not now")


def test_a_node_on_which_nobody_has_to_leave_is_an_error() -> None:
    result, status = preempt(high(), node("n"), low("a"), plugins=(Fickle("n"),))
    assert (result, status.code) == (None, Code.ERROR)
    assert status.message == 'preemption: expected at least one victim pod on node "n"'


def test_a_node_on_which_nobody_has_to_leave_is_no_candidate_beside_others() -> None:
    pods = [low("a", priority=1), low("b", "2", on="m", priority=5)]
    assert outcome(high(), node("n"), node("m"), *pods, plugins=(Fickle("n"),)) == ("m", ["b"])


def test_a_polite_pod_preempts_nobody() -> None:
    pod = high(spec={"preemptionPolicy": "Never"})
    assert refusal(pod, node("n", "1"), low("a")) == "preemption: not eligible due to preemptionPolicy=Never."


def leaving(name: str, **said):
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    status = {"conditions": [condition], **said.pop("status", {})}
    return low(name, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}, status=status, **said)


def test_a_pod_waits_for_the_victims_on_its_nominated_node() -> None:
    pod = high(status={"nominatedNodeName": "n"})
    text = "preemption: not eligible due to a terminating pod on the nominated node."
    assert refusal(pod, node("n", "1"), leaving("a")) == text
    assert outcome(pod, node("n", "1"), leaving("a", status={"conditions": []})) == ("n", ["a"])


def test_room_is_kept_for_pods_nominated_with_equal_or_higher_priority() -> None:
    other = make_pod("other", requests={"cpu": "1"}, priority=10)
    objects = [node("n"), low("a"), low("b", priority=1)]
    assert outcome(high(), *objects) == ("n", ["a"])
    assert outcome(high(), *objects, nominated=[("n", other)]) == ("n", ["b", "a"])


def test_the_search_ends_with_enough_candidates_from_where_chance_says() -> None:
    nodes = [node(f"n{i:02d}", "1") for i in range(40)]
    pods = [low(f"p{i:02d}", on=f"n{i:02d}") for i in range(40)]
    few = DefaultPreemptionArgs(min_candidate_nodes_percentage=0, min_candidate_nodes_absolute=1)
    chosen = {outcome(high(), *nodes, *pods, args=few, seed=seed)[0] for seed in range(8)}
    assert len(chosen) > 3
    assert {outcome(high(), *nodes, *pods, seed=seed)[0] for seed in range(8)} == {"n00"}


def test_when_the_first_nodes_have_no_victims_all_others_are_compared() -> None:
    few = DefaultPreemptionArgs(min_candidate_nodes_percentage=0, min_candidate_nodes_absolute=1)
    seed = next(seed for seed in range(10_000) if Random(seed).randrange(300) == 0)  # the search begins at n000
    priorities = {f"n{i:03d}": 10 if i < 150 else 5 for i in range(300)} | {"n299": 1}
    pods = [low(f"p{name}", on=name, priority=priority) for name, priority in priorities.items()]
    assert outcome(high(), *[node(name, "1") for name in priorities], *pods, args=few, seed=seed)[0] == "n299"


def test_other_plugins_may_strike_nodes_from_the_plan() -> None:
    class Spares(Plugin):
        def preempt(self, state, pod, victims_by_node):
            return {name: victims for name, victims in victims_by_node.items() if name != "n"}

    cluster = [node("n", "1"), node("m", "1"), low("a", on="n"), low("b", on="m", priority=5)]
    plugin = DefaultPreemption()
    fake = FakeCluster(NodeResourcesFit(), plugin, Spares(), objects=cluster)
    info = fake.cluster_state.pod_info(high())
    state = CycleState(info)
    diagnosis = find_feasible(fake.framework, state, fake.cluster_state.snapshot().nodes)
    result, status = plugin.post_filter(state, info.pod, diagnosis)
    assert (result.nominated_node_name, status) == ("m", Status.SUCCESS)


def test_a_plugin_that_fails_to_strike_nodes_is_named() -> None:
    class Forgets(Plugin):
        def preempt(self, state, pod, victims_by_node):
            return None

    with FakeCluster(NodeResourcesFit(), DefaultPreemption(), Forgets(), objects=[node("n", "1"), low("a")]) as fake:
        info = fake.cluster_state.pod_info(high())
        state = CycleState(info)
        diagnosis = find_feasible(fake.framework, state, fake.cluster_state.snapshot().nodes)
        _, status = straight(fake.framework.run_post_filter(state, info.pod, diagnosis))
    assert status.message == (
        'running PostFilter plugin "DefaultPreemption": running preempt of plugin "Forgets": must return a mapping by '
        "node name; found None"
    )


def test_a_pod_whose_victims_are_still_leaving_is_kept_out_of_the_queue() -> None:
    preempting: set[str] = set()
    profile, services = minimal_profile(DefaultPreemption()), Services(preempting=preempting)
    (framework,) = build_frameworks([profile], ClusterState(), services).values()
    pod = high()
    assert framework.run_pre_enqueue(pod).is_success
    preempting.add(pod.uid)
    status = framework.run_pre_enqueue(pod)
    assert status.message == "waiting for the preemption for this pod to be finished"


class KeepOut(Plugin):
    """Strikes one node from every preemption plan."""

    def filter(self, state, pod, node):
        return Status.SUCCESS

    def preempt(self, state, pod, victims_by_node):
        return {name: victims for name, victims in victims_by_node.items() if name != "n"}


def test_another_plugin_may_strike_a_node_from_the_plan() -> None:
    cheap, dear = low("cheap", cpu="2"), low("dear", cpu="2", on="m", priority=5)
    assert outcome(high(), node("n"), node("m"), cheap, dear) == ("n", ["cheap"])
    assert outcome(high(), node("n"), node("m"), cheap, dear, plugins=(KeepOut(),)) == ("m", ["dear"])
    alone = refusal(high(), node("n"), cheap, plugins=(KeepOut(),))
    assert alone == "preemption: no candidate node for preemption"


@pytest.mark.parametrize(
    ("started", "victims"),
    [("", ("a", "d")), ("a", ("b", "d")), ("b", ("a", "d")), ("d", ("a", "c")), ("abcd", ("d", "d"))],
)
def test_which_of_the_pods_that_have_not_started_goes_depends_on_the_version(
    started: str, victims: tuple[str, str]
) -> None:
    """As v1.36.3 and v1.37.2 choose."""
    pods = [
        make_pod(name, node="n", requests={"cpu": "1"}, status={"startTime": START} if name in started else {})
        for name in "abcd"
    ]
    asked = [Simulator([node("n", "4"), *pods, high()], set_up(release=Release(minor))) for minor in (36, 37)]
    lines = [placed_line(one) for simulator in asked for one in place(simulator, TieBreak.FIRST)]
    assert [line["preemption"][0]["victims"] for line in lines] == [[f"default/{name}"] for name in victims]
