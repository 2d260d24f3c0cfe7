"""Whole runs on the virtual clock: what becomes of every pending pod."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from kubesched.api import KubeObject, Pod
from kubesched.errors import InputError
from kubesched.framework import Plugin, Reservations, Status, Wait
from kubesched.plugins import IN_TREE_PLUGINS
from kubesched.scheduler import TieBreak
from kubesched.session import Placement, PodState, Report, Simulator
from kubesched.setup import set_up
from kubesched.testing.builders import make_node, make_object, make_pod
from kubesched.testing.fake_cluster import minimal_profile
from tests.device_cluster import GPU, NOT_DECIDED, WITHOUT_DRA, device_cluster

Fit = IN_TREE_PLUGINS["NodeResourcesFit"]
STARTED = {"startTime": "2026-01-01T00:00:00Z"}
NOT_FOUND = 'running Bind plugin "DefaultBinder": pods "low" not found'


def pending(name: str, cpu: str = "1", **said) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, **said)


def running(name: str, cpu: str = "1", node: str = "n", **said) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, node=node, status=STARTED, **said)


def run(*objects: KubeObject, plugins: tuple[Plugin, ...] | None = None, **options) -> Report:
    configuration = None if plugins is None else [minimal_profile(*plugins)]
    return Simulator(objects, configuration, **options).run()


def by_pod(report: Report) -> dict[str, Placement]:
    return {placement.pod.removeprefix("default/"): placement for placement in report.placements}


def nodes_of(report: Report) -> dict[str, str]:
    return {name: placement.node for name, placement in by_pod(report).items()}


def test_pods_are_placed_one_after_another_until_the_room_is_gone() -> None:
    report = run(make_node("n", allocatable={"cpu": "2"}), *[pending(f"p{i}") for i in range(3)])
    assert nodes_of(report) == {"p0": "n", "p1": "n", "p2": ""}
    last = by_pod(report)["p2"]
    assert (last.state, last.reason, last.attempts) == (PodState.UNSCHEDULABLE, "Unschedulable", 1)
    assert last.message.startswith("0/1 nodes are available: 1 Insufficient cpu. ")
    assert (report.count(PodState.SCHEDULED), report.seconds) == (2, 0.0)


def test_higher_priority_goes_first_and_the_file_decides_among_equals() -> None:
    small = make_node("n", allocatable={"cpu": "2"})
    report = run(small, pending("a"), pending("b", priority=5), pending("c"), plugins=(Fit(),))
    assert nodes_of(report) == {"b": "n", "a": "n", "c": ""}
    assert list(nodes_of(report)) == ["b", "a", "c"]


def test_the_fill_of_a_node_before_and_after_is_reported() -> None:
    report = run(make_node("n"), running("r", "500m"), pending("p", "1"))
    assert report.before.held("n") == {"cpu": 500, "pods": 1}
    assert report.after.held("n") == {"cpu": 1500, "pods": 2}
    assert report.after.allocatable("n")["cpu"] == 4000


def test_victims_leave_and_the_preemptor_takes_their_place() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    report = run(
        make_node("n", allocatable={"cpu": "2"}),
        running("low", "2", metadata={"ownerReferences": [owner]}),
        pending("high", "2", priority=10),
    )
    placed = by_pod(report)["high"]
    assert (placed.state, placed.node, placed.attempts) == (PodState.SCHEDULED, "n", 2)
    assert placed.victims == ("default/low",)
    (victim,) = report.victims
    assert (victim.pod, victim.owner, victim.node, victim.preemptor) == (
        "default/low",
        "ReplicaSet/web",
        "n",
        "default/high",
    )
    assert report.after.held("n") == {"cpu": 2000, "pods": 1}


def test_the_least_important_pods_that_make_enough_room_leave() -> None:
    report = run(
        make_node("n", allocatable={"cpu": "4"}),
        running("a", "2", priority=1),
        running("b", "1", priority=3),
        running("c", "1", priority=2),
        pending("high", "2", priority=10),
    )
    assert by_pod(report)["high"].victims == ("default/a",)


def test_a_pod_that_was_placed_can_be_evicted_again() -> None:
    class Late(Plugin):
        """Lets the pod called `high` into the queue once `low` is placed."""

        def pre_enqueue(self, pod: Pod) -> Status:
            placed = self.handle.get("Pod", "default", "low")
            waits = pod.name == "high" and placed is not None and not placed.node_name
            return Status.unresolvable("not yet") if waits else Status.SUCCESS

    preemption = IN_TREE_PLUGINS["DefaultPreemption"]()
    report = run(
        make_node("n", allocatable={"cpu": "1"}),
        pending("low"),
        pending("high", priority=10),
        plugins=(Late(), Fit(), preemption),
    )
    assert by_pod(report)["high"].node == "n"
    low = by_pod(report)["low"]
    assert (low.node, low.evicted_by, low.is_left_pending) == ("n", "default/high", True)


class Slow(Plugin):
    """Keeps `low` in its binding cycle for a minute; `high` comes into the queue meanwhile."""

    low_waits = False

    def pre_enqueue(self, pod: Pod) -> Status:
        is_early = pod.name == "high" and not self.low_waits
        return Status.unresolvable("not yet") if is_early else Status.SUCCESS

    async def keep(self, pod: Pod) -> None:
        if pod.name == "low":
            self.low_waits = True
            self.handle.activate([self.handle.get("Pod", "default", "high")])
            await self.handle.wait(lambda: False, 60.0)


def preempted_by_high(slow: Slow) -> Report:
    others = [IN_TREE_PLUGINS[name]() for name in ("DefaultPreemption", "DefaultBinder")]
    report = run(
        make_node("n", allocatable={"cpu": "1"}),
        pending("low"),
        pending("high", priority=10),
        plugins=(slow, Fit(), *others),
    )
    assert by_pod(report)["high"].node == "n"
    assert report.after.held("n") == {"cpu": 1000, "pods": 1}
    return report


def test_a_pod_that_is_preempted_while_it_waits_in_pre_bind_is_tried_again() -> None:
    class InPreBind(Slow):
        async def pre_bind(self, state, pod, node_name):
            await self.keep(pod)
            return Status.SUCCESS

    low = by_pod(preempted_by_high(InPreBind()))["low"]
    assert (low.state, low.evicted_by, low.attempts) == (PodState.UNSCHEDULABLE, "", 2)


def test_a_pod_that_is_evicted_while_it_waits_in_bind_is_not_bound() -> None:
    class InBind(Slow):
        async def bind(self, state, pod, node_name):
            await self.keep(pod)
            return Status.SKIP

    low = by_pod(preempted_by_high(InBind()))["low"]
    assert (low.state, low.evicted_by, low.message) == (PodState.ERROR, "default/high", NOT_FOUND)


def test_a_pod_that_must_not_preempt_evicts_nobody() -> None:
    polite = pending("high", "4", priority=10, spec={"preemptionPolicy": "Never"})
    report = run(make_node("n"), running("low", "2"), polite)
    assert report.victims == ()
    assert by_pod(report)["high"].message.endswith("not eligible due to preemptionPolicy=Never.")


def test_a_disruption_budget_decides_between_nodes() -> None:
    budget = make_object(
        "PodDisruptionBudget",
        "b",
        spec={"selector": {"matchLabels": {"app": "kept"}}},
        status={"disruptionsAllowed": 0},
    )
    report = run(
        make_node("n", allocatable={"cpu": "1"}),
        make_node("m", allocatable={"cpu": "1"}),
        running("kept", labels={"app": "kept"}),
        running("other", node="m"),
        budget,
        pending("high", priority=10),
    )
    assert by_pod(report)["high"].victims == ("default/other",)


def test_a_nominated_pod_gets_its_node_before_others_of_lower_priority() -> None:
    nominated = pending("nominated", "2", priority=10, status={"nominatedNodeName": "n"})
    report = run(make_node("n", allocatable={"cpu": "2"}), make_node("m"), nominated, pending("p", "2"))
    assert nodes_of(report) == {"nominated": "n", "p": "m"}


def test_gated_terminating_and_foreign_pods_are_not_tried() -> None:
    report = run(
        make_node("n"),
        pending("gated", spec={"schedulingGates": [{"name": "quota"}]}),
        pending("leaving", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
        pending("foreign", spec={"schedulerName": "another"}),
        pending("done", status={"phase": "Succeeded"}),
    )
    assert {name: (p.state, p.message) for name, p in by_pod(report).items()} == {
        "gated": (PodState.NOT_TRIED, "waiting for scheduling gates: [quota]"),
        "leaving": (PodState.NOT_TRIED, "the pod is being deleted"),
        "foreign": (PodState.NOT_TRIED, 'no profile has the scheduler name "another"; found: default-scheduler'),
    }


def test_a_pod_whose_plugin_keeps_failing_is_given_up() -> None:
    class Broken(Plugin):
        def filter(self, state, pod, node):
            if pod.name == "bad":
                raise RuntimeError("broken")
            return Status.SUCCESS

    report = run(make_node("n"), pending("bad", priority=5), *[pending(f"p{i}") for i in range(3)], plugins=(Broken(),))
    bad = by_pod(report)["bad"]
    assert (bad.state, bad.reason) == (PodState.ERROR, "SchedulerError")
    assert 2 <= bad.attempts <= 12
    assert report.count(PodState.SCHEDULED) == 3


def test_permit_waits_on_the_virtual_clock() -> None:
    class Holds(Plugin):
        def permit(self, state, pod, node_name):
            return Wait(600) if pod.name.startswith("held") else Status.SUCCESS

    report = run(make_node("n"), pending("held-1"), pending("held-2"), pending("p"), plugins=(Holds(),))
    assert nodes_of(report)["p"] == "n"
    for held in (by_pod(report)["held-1"], by_pod(report)["held-2"]):
        assert held.state is PodState.UNSCHEDULABLE
        assert "rejected due to timeout after waiting 600s at plugin Holds" in held.message
    assert report.seconds >= 600


def test_a_pod_in_permit_is_bound_when_another_one_lets_it_go() -> None:
    class Pair(Plugin):
        """Holds the first pod until the second is there."""

        def permit(self, state, pod, node_name):
            waiting = self.handle.waiting_pods()
            for other in waiting.values():
                other.allow("Pair")
            return Status.SUCCESS if waiting else Wait(60)

    report = run(make_node("n"), pending("a"), pending("b"), plugins=(Pair(),))
    assert nodes_of(report) == {"a": "n", "b": "n"}
    assert report.seconds < 60


class OneDevice(Plugin):
    """One device per node, taken in Reserve and looked for in Filter."""

    devices = Reservations("device", str)

    def filter(self, state, pod, node) -> Status:
        return Status.unschedulable("taken") if self.devices.held_on(node) else Status.SUCCESS

    def reserve(self, state, pod, node_name) -> Status:
        assert not self.devices.held_on(self.handle.snapshot().node_info(node_name))
        self.devices.take(state, "0")
        return Status.SUCCESS


def test_what_reserve_took_stays_with_the_bound_pod() -> None:
    held = {"annotations": {"device": "0"}}
    nodes = [make_node(name) for name in ("held", "ended", "free")]
    there = [make_pod("a", node="held", **held), make_pod("b", node="ended", status={"phase": "Failed"}, **held)]
    simulator = Simulator([*nodes, *there, *[pending(f"p{i}") for i in range(3)]], plugins=[OneDevice])
    placed = nodes_of(simulator.run())
    assert sorted(placed.values()) == ["", "ended", "free"]
    for name in ("ended", "free"):
        (info,) = simulator.cluster_state.snapshot().node_info(name).pods
        assert info.pod.annotations == {"device": "0"}


def test_room_that_appears_is_offered_to_pods_that_had_given_up() -> None:
    class Swap(Plugin):
        """Rejects the pod `waits` until `p` is placed, and hears of every event."""

        reasons = (Status.unschedulable("wait for p"),)

        def filter_nodes(self, state, pod, nodes):
            placed = any(info.pod.name == "p" for i in range(len(nodes)) for info in nodes.pods(i))
            return np.full(len(nodes), int(pod.name == "waits" and not placed))

    report = run(make_node("n"), pending("waits", priority=5), pending("p"), plugins=(Swap(),))
    waits = by_pod(report)["waits"]
    assert (waits.node, waits.attempts) == ("n", 2)


def test_ties_are_broken_as_told() -> None:
    zoned = [make_node("a0", zone="a"), make_node("a1", zone="a"), make_node("b0", zone="b")]
    taken = {how: nodes_of(run(*zoned, pending("p"), tie_break=how))["p"] for how in TieBreak}
    assert (taken[TieBreak.FIRST], taken[TieBreak.UPSTREAM]) == ("a0", "a0")
    seeds = {nodes_of(run(*zoned, pending("p"), tie_break=TieBreak.RANDOM, seed=seed))["p"] for seed in range(12)}
    assert seeds == {"a0", "a1", "b0"}


def test_the_same_input_gives_the_same_report() -> None:
    objects = [
        *[make_node(f"n{i}", allocatable={"cpu": "2"}) for i in range(4)],
        *[running(f"r{i}", node=f"n{i % 4}", priority=i % 3) for i in range(8)],
        *[pending(f"p{i}", "1", priority=i) for i in range(8)],
    ]
    reports = [run(*objects, seed=3, tie_break=TieBreak.RANDOM) for _ in range(2)]
    assert reports[0].placements == reports[1].placements
    assert reports[0].victims == reports[1].victims


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    Simulator([make_node("n"), *[pending(f"p{i}", "1m") for i in range(100)]]).run(lambda *now: told.append(now))
    assert told[-1] == (100, 100)
    assert told == sorted(told)


def test_every_decision_is_told() -> None:
    simulator = Simulator([make_node("n"), pending("a"), pending("b")])
    names: list[str] = []
    simulator.decisions = lambda decision: names.append(decision.pod.name)
    simulator.run()
    assert set(names) == {"a", "b"}


def test_a_simulator_runs_once() -> None:
    simulator = Simulator([make_node("n"), pending("p")])
    simulator.run()
    with pytest.raises(InputError, match="this simulator has already run; create a new one"):
        simulator.run()


def test_a_simulator_without_pending_pods_runs_once_and_stops_its_plugins_once() -> None:
    class Stops(Plugin):
        n_stops = 0

        def stop(self):
            self.n_stops += 1

    plugin = Stops()
    simulator = Simulator([make_node("n")], [minimal_profile(plugin)])
    simulator.run()
    with pytest.raises(InputError, match="this simulator has already run; create a new one"):
        simulator.run()
    simulator.close()
    assert plugin.n_stops == 1


def test_profiles_serve_one_simulator_at_a_time() -> None:
    setup = set_up()
    objects = [make_node("n"), pending("p")]
    first = Simulator(objects, setup)
    with pytest.raises(InputError, match="these profiles serve another cluster, which is not closed"):
        Simulator([], setup)
    assert first.run().count(PodState.SCHEDULED) == 1
    assert Simulator(objects, setup).run().count(PodState.SCHEDULED) == 1


@pytest.mark.parametrize("snapshot", ["cluster.json", [1]])
def test_a_snapshot_of_something_else_is_bad_input(snapshot) -> None:
    with pytest.raises(InputError, match="a snapshot has Kubernetes objects; found "):
        Simulator(snapshot)


def test_without_nodes_every_pod_says_so() -> None:
    placement = by_pod(run(pending("p")))["p"]
    assert (placement.state, placement.message) == (PodState.UNSCHEDULABLE, "no nodes available to schedule pods")


def test_a_run_leaves_a_state_that_holds() -> None:
    objects = [
        *[make_node(f"n{i}", allocatable={"cpu": "3"}) for i in range(3)],
        *[running(f"r{i}", node=f"n{i % 3}") for i in range(6)],
        *[pending(f"p{i}", "2", priority=i % 3) for i in range(6)],
    ]
    simulator = Simulator(objects)
    simulator.run()
    simulator.cluster_state.check_invariants()
    simulator.scheduler.queue.check_invariants()
    assert simulator.cluster_state.assumed_uids == []


def test_a_wait_is_looked_at_when_something_changed_that_it_reads_and_when_its_time_is_over() -> None:
    asked: list[str] = []

    class Waiting(Plugin):
        async def pre_bind(self, state, pod, node_name):
            await self.handle.wait(lambda: asked.append(pod.name), 30.0, reads=("Node",))
            return Status.SUCCESS

    report = run(make_node("n"), *[pending(f"p{i}") for i in range(5)], plugins=(Waiting(),))
    assert report.count(PodState.SCHEDULED) == 5
    assert asked == [f"p{i}" for i in range(5)] * 2  # before it waits, and at the end
    assert report.seconds == 30.0


@pytest.mark.parametrize("reads", [lambda: "Node", lambda: 1 / 0, lambda: ["Nod"]])
def test_a_function_that_does_not_name_what_is_read_fails_the_pod(reads: Callable[[], object]) -> None:
    class Waiting(Plugin):
        async def pre_bind(self, state, pod, node_name):
            await self.handle.wait(lambda: False, 30.0, reads=reads)
            return Status.SUCCESS

    report = run(make_node("n"), pending("p"), plugins=(Waiting(),))
    assert report.placements[0].message.startswith('running PreBind plugin "Waiting": ')
    assert report.seconds < 30.0


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("nominated", ["", "plugin-1"])
def test_nobody_is_evicted_for_a_pod_that_is_not_decided(nominated: str) -> None:
    status = {"nominatedNodeName": nominated} if nominated else {}
    wanting = make_pod("wants-gpu", priority=1000, requests={GPU: 1}, status=status)
    report = Simulator([*device_cluster(), wanting, make_pod("plain", requests={"cpu": "1"})]).run()
    served, plain = by_pod(report)["wants-gpu"], by_pod(report)["plain"]
    assert (served.state, served.node, served.diagnosis) == (PodState.NOT_DECIDED, "", NOT_DECIDED)
    assert (served.message, served.reason) == (NOT_DECIDED, "")
    assert served.is_left_pending
    assert report.victims == ()
    assert report.undecided == (NOT_DECIDED,)
    assert report.faults == ()
    assert plain.state is PodState.SCHEDULED


def test_a_pod_that_devices_serve_evicts_nobody_and_takes_a_free_one() -> None:
    wanting = [make_pod(f"wants-gpu-{i}", priority=1000, requests={GPU: 1}) for i in range(6)]
    report = Simulator([*device_cluster(), *wanting]).run()
    where = Counter(one.node for one in report.placements)
    assert (where, report.victims) == ({"dra-1": 2, "dra-2": 2, "dra-3": 2}, ())


def test_without_dynamic_resources_a_served_pod_goes_where_upstream_puts_it() -> None:
    wanting = make_pod("wants-gpu", priority=1000, requests={GPU: 1})
    report = Simulator([*device_cluster(), wanting], WITHOUT_DRA).run()
    (placement,) = report.placements
    assert (placement.state, report.victims) == (PodState.SCHEDULED, ())
    assert placement.node.startswith("dra-")


@pytest.mark.parametrize("hook", ["filter", "reserve", "permit"])
def test_a_plugin_that_rejects_without_a_reason_is_named_once(hook: str, caplog: pytest.LogCaptureFixture) -> None:
    class Mute(Plugin):
        pass

    setattr(Mute, hook, lambda self, state, pod, node: Status.unschedulable())
    Simulator([make_node("n"), pending("a"), pending("b")], plugins=[Mute]).run()
    told = [message for message in caplog.messages if "without a reason" in message]
    assert len(told) == 1
    assert told[0].startswith("plugin Mute rejects without a reason, for example pod default/a; give one")


def test_a_plugin_with_a_reason_is_not_named(caplog: pytest.LogCaptureFixture) -> None:
    class Told(Plugin):
        def filter(self, state, pod, node):
            return Status.unschedulable("node(s) had no license")

    Simulator([make_node("n"), pending("a")], plugins=[Told]).run()
    assert caplog.messages == []
