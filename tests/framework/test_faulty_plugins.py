"""A plugin that raises or answers nonsense costs the pod that it was asked about its attempt, and nobody else anything.

The plugin of each case behaves well towards every pod but the one called `bad`. Whole runs in the simulator tell what
becomes of that pod and of the others.
"""

import asyncio
import logging
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.errors import PluginError
from kubesched.framework import (
    Code,
    Decision,
    DependsOn,
    EventRegistration,
    Plugin,
    PostFilterResult,
    PreFilterResult,
    Status,
    Wait,
)
from kubesched.plugins import DefaultPreemption, NodeResourcesFit
from kubesched.session import Placement, PodState, Report, Simulator
from kubesched.testing import make_node, make_pod, minimal_profile

Answer = Callable[[], Any]

BOOM = "boom"


class Log(logging.Handler):
    """Keeps what plugins and framework tell an operator."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.warnings: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.warnings.append(record.getMessage())


def raises() -> Any:
    raise RuntimeError(BOOM)


def exits() -> Any:
    sys.exit(0)


def answers(value: Any) -> Answer:
    return lambda: value


def concerns_bad_pod(arguments: tuple[Any, ...]) -> bool:
    names = [getattr(getattr(given, "pod", given), "name", "") for given in arguments]
    return "bad" in names


def faulty(hook: str, fault: Answer, good: Any = Status.SUCCESS, **hooks: Any) -> type[Plugin]:
    """A plugin whose hook is faulty towards the bad pod; `good` is its answer, or what makes it, for other pods."""

    def misbehaving(self: Plugin, *arguments: Any) -> Any:
        if concerns_bad_pod(arguments):
            return fault()
        return good(*arguments) if callable(good) else good

    return type("Faulty", (Plugin,), {hook: misbehaving, **hooks})


def run(*plugins: Plugin, n_nodes: int = 2, log: Log | None = None, **bad: Any) -> Report:
    """Simulate three pods on two nodes, one of them the bad one."""
    nodes = [make_node(f"n{i}", allocatable={"cpu": "2"}) for i in range(n_nodes)]
    pods = [make_pod("first"), make_pod("bad", **bad), make_pod("last")]
    simulator = Simulator([*nodes, *pods], [minimal_profile(*plugins)])
    logger, kept = logging.getLogger("kubesched.plugin"), log or Log()
    logger.addHandler(kept)
    try:
        return simulator.run()
    finally:
        logger.removeHandler(kept)


def outcome(report: Report) -> Placement:
    """What became of the bad pod; the others have to be placed."""
    by_pod = {placement.pod: placement for placement in report.placements}
    bad = by_pod.pop("default/bad")
    assert {name: placement.state for name, placement in by_pod.items()} == {
        "default/first": PodState.SCHEDULED,
        "default/last": PodState.SCHEDULED,
    }
    return bad


NO_STATUS = "must return a Status, such as Status.SUCCESS; found"
NO_WAIT = (
    'running Permit plugin "Faulty": must return a Status, such as Status.SUCCESS, or Wait(seconds) with a number '
    "that is not negative;"
)

FAULTS = [
    ("pre_filter", raises, 'running PreFilter plugin "Faulty": boom'),
    ("pre_filter", answers(None), f'running PreFilter plugin "Faulty": {NO_STATUS[:20]}'),
    (
        "pre_filter",
        answers(PreFilterResult(["n0"])),
        "a PreFilterResult of a frozenset of names; found PreFilterResult(",
    ),
    ("pre_filter", answers(Status(Code.WAIT)), 'running PreFilter plugin "Faulty"'),
    ("filter", raises, 'running "Faulty" filter plugin: boom'),
    ("filter", answers(None), "filter must return Status.SUCCESS or a rejection; found None"),
    ("filter", answers(Status.error(BOOM)), 'running "Faulty" filter plugin: boom'),
    ("filter", answers(Status.SKIP), "filter must return Status.SUCCESS or a rejection; found"),
    ("filter", exits, 'running "Faulty" filter plugin: SystemExit: 0'),
    (
        "filter",
        lambda: Status(Code.UNSCHEDULABLE, ["a list"]),
        "the reasons of a Status must be a tuple of strings; found",
    ),
    (
        "filter",
        lambda: Status(Code.UNSCHEDULABLE, None),
        "the reasons of a Status must be a tuple of strings; found None",
    ),
    ("pre_score", raises, 'running PreScore plugin "Faulty": boom'),
    ("pre_score", answers(None), f'running PreScore plugin "Faulty": {NO_STATUS} None'),
    ("pre_score", answers(Status.unschedulable(BOOM)), 'running PreScore plugin "Faulty": boom'),
    ("reserve", raises, 'running Reserve plugin "Faulty": boom'),
    ("reserve", answers(None), f'running Reserve plugin "Faulty": {NO_STATUS} None'),
    (
        "reserve",
        answers(Status.SKIP),
        'running Reserve plugin "Faulty": returned Skip, which this hook must not return',
    ),
    ("reserve", lambda: Status("no"), "the code of a Status must be a Code, such as Code.UNSCHEDULABLE; found 'no'"),
    ("permit", exits, 'running Permit plugin "Faulty": SystemExit: 0'),
    ("permit", raises, 'running Permit plugin "Faulty": boom'),
    ("permit", answers(None), f"{NO_WAIT} found None"),
    ("permit", answers(Wait), f"{NO_WAIT} found <class 'kubesched.framework.status.Wait'>"),
    ("permit", answers(60), f"{NO_WAIT} found 60"),
    ("permit", answers(Wait("60")), f"{NO_WAIT} found Wait(seconds='60')"),
    ("permit", answers(Wait(-1)), f"{NO_WAIT} found Wait(seconds=-1)"),
    (
        "permit",
        answers(Status(Code.WAIT)),
        'running Permit plugin "Faulty": returned Wait, which this hook must not return',
    ),
    ("pre_bind", raises, 'running PreBind plugin "Faulty": boom'),
    ("pre_bind", answers(None), f'running PreBind plugin "Faulty": {NO_STATUS} None'),
    ("bind", raises, 'running Bind plugin "Faulty": boom'),
    ("bind", answers(None), f'running Bind plugin "Faulty": {NO_STATUS} None'),
]


@pytest.mark.parametrize(("hook", "fault", "message"), FAULTS)
def test_the_attempt_ends_as_scheduler_error_and_says_which_plugin_and_hook(hook: str, fault: Answer, message: str):
    bad = outcome(run(faulty(hook, fault)()))
    assert (bad.state, bad.reason) == (PodState.ERROR, "SchedulerError")
    assert message in bad.message


def rows(value: Any) -> Callable[..., Any]:
    """A column hook's answer for a table: the value in every row."""
    return lambda state, pod, nodes: np.full(len(nodes), value, dtype=np.int64)


ONE_REASON = {"reasons": (Status.unschedulable("no"),)}
KEPT = {"depends_on": DependsOn.ROW, "filter_part": lambda self, state, pod: pod.name}

COLUMN_FAULTS = [
    ("filter_nodes", raises, "boom", {}),
    ("filter_nodes", answers(None), "filter_nodes must return 2 integers, one per row; found None", {}),
    ("filter_nodes", answers([0, 0]), "one per row; found [0, 0], which is not a NumPy array", {}),
    ("filter_nodes", answers(np.zeros(5, dtype=np.int8)), "found an array of int8 with shape (5,)", {}),
    ("filter_nodes", answers(np.zeros(2)), "found an array of float64 with shape (2,)", {}),
    ("filter_nodes", answers(np.array([0, 7])), "filter_nodes returned the verdict 7; `reasons` has 1", ONE_REASON),
    ("filter_nodes", answers(np.array([-1, 1])), "filter_nodes returned the verdict -1; `reasons` has 1", ONE_REASON),
    ("filter_nodes", raises, "boom", KEPT),
    ("filter_part", raises, "boom", KEPT | {"filter_nodes": lambda self, *given: rows(0)(*given)}),
    ("filter_part", answers([]), "unhashable type", KEPT | {"filter_nodes": lambda self, *given: rows(0)(*given)}),
]


@pytest.mark.parametrize(("hook", "fault", "message", "hooks"), COLUMN_FAULTS)
def test_a_column_filter_that_fails_is_a_scheduler_error(hook: str, fault: Answer, message: str, hooks: dict):
    good = rows(0) if hook == "filter_nodes" else "a part"
    bad = outcome(run(faulty(hook, fault, good, **{name: one for name, one in hooks.items() if name != hook})()))
    assert bad.reason == "SchedulerError"
    assert bad.message.startswith('running "Faulty" filter plugin: ')
    assert message in bad.message


@pytest.mark.parametrize("depends_on", DependsOn)
def test_a_verdict_without_a_meaning_on_one_node_is_a_scheduler_error(depends_on: DependsOn):
    def filter_nodes(self: Plugin, state: Any, pod: Any, nodes: Any) -> Any:
        return np.array([7 if pod.name == "bad" and name == "n0" else 0 for name in nodes.names])

    kept = {"depends_on": depends_on, "filter_part": lambda self, state, pod: pod.name}
    bad = outcome(run(type("Faulty", (Plugin,), {"filter_nodes": filter_nodes, **kept, **ONE_REASON})()))
    assert bad.reason == "SchedulerError"
    assert "filter_nodes returned the verdict 7; `reasons` has 1" in bad.message


def test_a_kept_verdict_that_loses_its_meaning_on_one_node_is_a_scheduler_error():
    class Faulty(Plugin):
        depends_on = DependsOn.ROW
        reasons = (Status.unschedulable("no"),)

        def filter_part(self, state, pod):
            return ""

        def filter_nodes(self, state, pod, nodes):
            return np.where(nodes.n_pods > 0, 7, 0)

    nodes = [make_node(f"n{i}") for i in range(5)]
    report = Simulator([*nodes, make_pod("a"), make_pod("b")], [minimal_profile(Faulty())]).run()
    assert [placement.state for placement in report.placements] == [PodState.SCHEDULED, PodState.ERROR]


def test_a_kept_verdict_without_a_meaning_is_a_scheduler_error():
    class Faulty(Plugin):
        depends_on = DependsOn.ROW
        reasons = (Status.unschedulable("no"),)

        def filter_part(self, state, pod):
            return pod.name

        def filter_nodes(self, state, pod, nodes):
            return np.full(len(nodes), 7 if pod.name == "bad" else 0)

    bad = outcome(run(Faulty()))
    assert bad.reason == "SchedulerError"
    assert "filter_nodes returned the verdict 7; `reasons` has 1" in bad.message


SCORE_FAULTS = [
    ("score", raises, 1, 'running Score plugins: plugin "Faulty" failed with: boom'),
    ("score", answers(None), 1, "score must return an int64; found None"),
    ("score", answers(0.5), 1, "score must return an int64; found 0.5"),
    ("score", answers(True), 1, "score must return an int64; found True"),
    ("score", answers(2**63), 1, "score must return an int64; found 9223372036854775808"),
    ("score", answers(101), 1, 'plugin "Faulty" returns an invalid score 101, it should in the range of [0, 100]'),
    ("score_nodes", raises, rows(1), 'running Score plugins: plugin "Faulty" failed with: boom'),
    ("score_nodes", answers([1, 2]), rows(1), "Faulty must score with 2 integers, one per row; found [1, 2]"),
    ("score_nodes", answers(np.ones(2)), rows(1), "found an array of float64 with shape (2,)"),
    ("score_nodes", answers(np.array([0, -1])), rows(1), 'plugin "Faulty" returns an invalid score -1'),
]


@pytest.mark.parametrize(("hook", "fault", "good", "message"), SCORE_FAULTS)
def test_a_score_that_fails_is_a_scheduler_error(hook: str, fault: Answer, good: Any, message: str):
    bad = outcome(run(faulty(hook, fault, good)()))
    assert bad.reason == "SchedulerError"
    assert message in bad.message


def unchanged(state: Any, pod: Any, scores: Any) -> Any:
    return scores


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (raises, 'running Normalize on Score plugins: plugin "Faulty" failed with: boom'),
        (answers(None), "integers, one per row; found None"),
        (answers(np.array([500, 500])), ""),
    ],
)
def test_a_normalisation_that_fails_is_a_scheduler_error(kept: bool, fault: Answer, message: str):
    hooks: dict[str, Any] = {"score_nodes": lambda self, *given: rows(3)(*given)}
    if kept:
        hooks |= {"depends_on": DependsOn.NODE, "score_part": lambda self, state, pod: pod.name}
    bad = outcome(run(faulty("normalize_score", fault, unchanged, **hooks)()))
    assert bad.reason == "SchedulerError"
    assert '"Faulty"' in bad.message
    assert message in bad.message


def test_a_normalisation_that_writes_into_its_argument_spoils_no_kept_column():
    class Writer(Plugin):
        depends_on = DependsOn.ROW

        def score_part(self, state, pod):
            return ""

        def score_nodes(self, state, pod, nodes):
            return np.arange(len(nodes))

        def normalize_score(self, state, pod, scores):
            if pod.name == "bad":
                scores += 1000
            return scores

    bad = outcome(run(Writer()))
    assert bad.reason == "SchedulerError"
    assert "read-only" in bad.message


# --- the queue ---


@pytest.mark.parametrize(("fault", "message"), [(raises, "boom"), (answers(None), f"{NO_STATUS} None")])
def test_a_pod_whose_pre_enqueue_fails_is_gated_as_upstream(fault: Answer, message: str):
    log = Log()
    bad = outcome(run(faulty("pre_enqueue", fault)(), log=log))
    assert bad.state is PodState.NOT_TRIED
    assert bad.message.startswith(f'running PreEnqueue plugin "Faulty": {message}')
    assert set(log.warnings) == ({f"pod default/bad is not tried: {bad.message}"} if fault is raises else set())


@pytest.mark.parametrize(
    ("fault", "message"), [(raises, "boom"), (answers(3), "sort_key must return a tuple; found 3")]
)
def test_a_pod_whose_sort_key_fails_is_a_scheduler_error(fault: Answer, message: str):
    bad = outcome(run(faulty("sort_key", fault, lambda queued: (queued.timestamp,))()))
    assert bad.reason == "SchedulerError"
    assert bad.message.startswith('running QueueSort plugin "Faulty": ')
    assert bad.message.endswith(message)


@pytest.mark.parametrize(("fault", "message"), [(raises, "boom"), (answers("x"), "less must return a bool; found 'x'")])
def test_an_attempt_whose_comparison_fails_is_a_scheduler_error(fault: Answer, message: str):
    plugin = faulty("less", fault, lambda a, b: a.timestamp < b.timestamp)()
    pods = [make_pod("first"), make_pod("bad"), make_pod("last")]
    simulator = Simulator([make_node("n0"), *pods], [minimal_profile(plugin)])
    attempts: list[Decision] = []
    simulator.decisions = attempts.append
    assert outcome(simulator.run()).state is PodState.SCHEDULED, "once no other pod is left to compare it with"
    first = next(decision for decision in attempts if decision.pod.name == "bad")
    assert first.reason == "SchedulerError"
    assert first.outcome.message.startswith('running QueueSort plugin "Faulty": ')
    assert first.outcome.message.endswith(message)


def test_pods_whose_sort_keys_cannot_be_compared_are_all_tried():
    log = Log()
    plugin = faulty("sort_key", answers((None, "a")), lambda queued: (1, queued.pod.name))()
    assert outcome(run(plugin, log=log)).state is PodState.SCHEDULED
    assert any("cannot compare" in warning for warning in log.warnings)


def test_a_comparison_that_fails_between_two_pods_blames_neither():
    class Picky(Plugin):
        def less(self, a, b):
            if a is not b and a.pod.name != b.pod.name:
                raise RuntimeError(BOOM)
            return False

    log = Log()
    assert outcome(run(Picky(), log=log)).state is PodState.SCHEDULED
    assert any(BOOM in warning for warning in log.warnings)


# --- when nothing fits ---


class NotForBadPods(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("bad") if pod.name == "bad" else Status.SUCCESS


POST_FILTER_FAULTS = [
    (raises, "boom"),
    (answers(None), "must return (PostFilterResult or None, Status); found None"),
    (answers((None, None)), "must return (PostFilterResult or None, Status); found (None, None)"),
    (answers(("n0", Status.SUCCESS)), "must return (PostFilterResult or None, Status); found ('n0'"),
    (answers((PostFilterResult("n0", ("a pod",)), Status.SUCCESS)), "must return (PostFilterResult or None, Status)"),
    (answers((PostFilterResult(7), Status.SUCCESS)), "must return (PostFilterResult or None, Status)"),
]


@pytest.mark.parametrize(("fault", "message"), POST_FILTER_FAULTS)
def test_a_failing_post_filter_adds_to_the_message_of_an_unschedulable_pod_as_upstream(fault: Answer, message: str):
    bad = outcome(run(NotForBadPods(), faulty("post_filter", fault, lambda *given: (None, Status.unschedulable()))()))
    assert (bad.state, bad.reason) == (PodState.UNSCHEDULABLE, "Unschedulable")
    assert bad.message.startswith('0/2 nodes are available: 2 bad. running PostFilter plugin "Faulty": ')
    assert message in bad.message


def watcher(**hooks: Callable[..., Any]) -> Plugin:
    """A plugin that is told of pods moved in what-if tables."""
    quiet = {name: lambda self, *given: None for name in ("add_pods", "remove_pods")}
    pre_filter = {"pre_filter": lambda self, *given: Status.SUCCESS}
    return type("Faulty", (Plugin,), pre_filter | quiet | hooks)()


@pytest.mark.parametrize("hook", ["add_pods", "remove_pods"])
def test_a_what_if_hook_that_fails_ends_preemption_with_its_name(hook: str):
    plugins = (NodeResourcesFit(), watcher(**{hook: lambda self, *given: raises()}), DefaultPreemption())
    nodes = [make_node("n0", allocatable={"cpu": "2"})]
    placed = make_pod("old", node="n0", requests={"cpu": "1500m"}, priority=-5)
    pods = [make_pod("first"), make_pod("bad", requests={"cpu": "1"}), make_pod("last")]
    report = Simulator([*nodes, placed, *pods], [minimal_profile(*plugins)]).run()
    bad = outcome(report)
    assert bad.reason == "Unschedulable"
    verb = "AddPod" if hook == "add_pods" else "RemovePod"
    assert f'running {verb} on PreFilter plugin "Faulty": boom' in bad.message
    assert report.victims == ()


def test_a_what_if_hook_that_fails_for_nominated_pods_is_a_scheduler_error():
    promised = make_pod("promised", priority=5, status={"nominatedNodeName": "n0"}, spec={"schedulingGates": []})
    unhelpful = type("Closed", (Plugin,), {"filter": lambda self, state, pod, node: closed_for(pod)})()
    plugins = (unhelpful, watcher(add_pods=lambda self, state, pod, changes: raises() if pod.name == "bad" else None))
    nodes = [make_node("n0"), make_node("n1")]
    pods = [make_pod("first"), make_pod("bad"), make_pod("last")]
    report = Simulator([*nodes, promised, *pods], [minimal_profile(*plugins)]).run()
    bad = {placement.pod: placement for placement in report.placements}["default/bad"]
    assert bad.reason == "SchedulerError"
    assert bad.message == 'running AddPod on PreFilter plugin "Faulty": boom'


def closed_for(pod: Any) -> Status:
    return Status.unschedulable("closed") if pod.name == "promised" else Status.SUCCESS


# --- reserve and the binding cycle ---


def test_an_unreserve_that_fails_is_logged_and_the_pod_is_given_back():
    log = Log()
    plugin = faulty("unreserve", raises, None, reserve=lambda self, state, pod, name: refused(pod))()
    bad = outcome(run(plugin, log=log))
    assert (bad.reason, bad.message) == ("Unschedulable", "0/1 nodes are available: 1 refused.")
    (warning,) = set(log.warnings)
    assert warning.startswith("Unreserve plugin Faulty: boom (test_faulty_plugins.py:")


def refused(pod: Any) -> Status:
    return Status.unschedulable("refused") if pod.name == "bad" else Status.SUCCESS


PRE_FLIGHT_FAULTS = [
    (raises, 'running PreBindPreFlight "Faulty": boom'),
    (answers(None), f'running PreBindPreFlight "Faulty": {NO_STATUS} None'),
    (answers(Status.unschedulable("no")), 'PreBindPreFlight Faulty returned "Unschedulable", which is unsupported. '),
]


@pytest.mark.parametrize(("fault", "message"), PRE_FLIGHT_FAULTS)
def test_a_failing_pre_flight_is_a_scheduler_error(fault: Answer, message: str):
    plugin = faulty("pre_bind_pre_flight", fault, pre_bind=lambda self, *given: Status.SUCCESS)()
    bad = outcome(run(plugin))
    assert bad.reason == "SchedulerError"
    assert bad.message.startswith(message)


def test_a_pre_bind_that_rejects_again_and_again_ends_the_run():
    bad = outcome(run(faulty("pre_bind", answers(Status.unschedulable("no")))()))
    assert (bad.reason, bad.message) == ("Unschedulable", "0/1 nodes are available: 1 no.")


class ForeignYield:
    """Awaited, it gives the driver something that no driver knows."""

    def __await__(self):
        yield "a future of some other library"


async def awaits_something_foreign() -> Status:
    await ForeignYield()
    return Status.SUCCESS


async def awaits_the_clock() -> Status:
    await asyncio.sleep(1)
    return Status.SUCCESS


async def raises_late() -> Status:
    raise RuntimeError(BOOM)


async def exits_late() -> Status:
    sys.exit(0)


@pytest.mark.parametrize(
    ("hook", "fault", "message"),
    [
        ("pre_bind", raises_late, 'running PreBind plugin "Faulty": boom'),
        ("pre_bind", exits_late, 'running PreBind plugin "Faulty": SystemExit: 0'),
        (
            "pre_bind",
            awaits_something_foreign,
            "a hook can await only what the handle offers; found 'a future",
        ),
        ("bind", awaits_something_foreign, "a hook can await only what the handle offers; found 'a future"),
        ("bind", awaits_the_clock, "a hook can await only what the handle offers; found <Future"),
    ],
)
def test_a_coroutine_that_fails_is_a_scheduler_error(hook: str, fault: Answer, message: str):
    bad = outcome(run(faulty(hook, fault)()))
    assert bad.reason == "SchedulerError"
    assert message in bad.message


def test_a_condition_that_fails_is_raised_where_it_is_awaited():
    class Waiting(Plugin):
        async def pre_bind(self, state, pod, node_name):
            await self.handle.wait(raises if pod.name == "bad" else lambda: True, 5.0)
            return Status.SUCCESS

    bad = outcome(run(Waiting()))
    assert (bad.reason, bad.message) == ("SchedulerError", 'running PreBind plugin "Waiting": boom')


def test_a_condition_that_fails_later_is_raised_where_it_is_awaited():
    class Waiting(Plugin):
        async def pre_bind(self, state, pod, node_name):
            asked = iter([False])
            await self.handle.wait(lambda: next(asked), 5.0)
            return Status.SUCCESS

    report = run(Waiting())
    assert {placement.reason for placement in report.placements} == {"SchedulerError"}


@pytest.mark.parametrize("fault", [raises, answers("nonsense")])
def test_a_post_bind_that_fails_changes_nothing_for_the_bound_pod(fault: Answer):
    log = Log()
    bad = outcome(run(faulty("post_bind", fault, None)(), log=log))
    assert bad.state is PodState.SCHEDULED
    assert len(log.warnings) == (fault is raises)
    assert all(warning.startswith("PostBind plugin Faulty: boom (test_faulty") for warning in log.warnings)


# --- registrations, hints, life ---


def hinting(hint: Callable[..., Any]) -> Plugin:
    """Rejects the bad pod until another pod was placed, and then asks its hint."""

    def rejecting(self: Plugin, state: Any, pod: Any, node: Any) -> Status:
        seen.calls += pod.name == "bad"
        return Status.unschedulable("not yet") if pod.name == "bad" and seen.calls <= 2 else Status.SUCCESS

    seen = SimpleNamespace(calls=0)
    event = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
    registered = [EventRegistration(event, hint)]
    hooks = {"filter": rejecting, "events_to_register": lambda self: registered}
    return type("Faulty", (Plugin,), hooks)()


@pytest.mark.parametrize("fault", [raises, answers(None), answers("Queue")])
def test_a_hint_that_fails_counts_as_queue_as_upstream(fault: Answer):
    log = Log()
    bad = outcome(run(hinting(lambda pod, old, new: fault()), log=log))
    assert bad.state is PodState.SCHEDULED
    assert log.warnings[0].startswith("queueing hint of plugin Faulty: ")


@pytest.mark.parametrize("answer", [raises, answers(None), answers(["NodeAdd"])])
def test_a_plugin_that_cannot_register_its_events_does_not_run(answer: Answer):
    plugin = type("Faulty", (Plugin,), {"events_to_register": lambda self: answer()})()
    with pytest.raises(PluginError, match=r'^events_to_register of plugin "Faulty": '):
        run(plugin)


async def fails_late(self: Plugin, handle: Any) -> None:
    raise RuntimeError(BOOM)


@pytest.mark.parametrize("start", [lambda self, handle: raises(), fails_late])
def test_a_plugin_that_does_not_start_is_named(start: Callable[..., Any]):
    plugin = type("Faulty", (Plugin,), {"start": start, "filter": lambda self, *given: Status.SUCCESS})()
    with pytest.raises(PluginError, match=r'^starting plugin "Faulty": RuntimeError: boom \(test_') as raised:
        run(plugin)
    assert (raised.value.plugin, raised.value.extension_point) == ("Faulty", "start")


def test_a_plugin_that_does_not_stop_is_logged_when_the_work_is_done():
    log = Log()
    plugin = type("Faulty", (Plugin,), {"stop": lambda self: raises()})()
    assert outcome(run(plugin, log=log)).state is PodState.SCHEDULED
    (said,) = log.warnings
    assert said.startswith("stop of plugin Faulty: RuntimeError: boom (test_faulty_plugins.py:")


def test_reasons_that_are_no_text_are_shown_as_text():
    bad = outcome(run(faulty("filter", answers(Status.unschedulable(ValueError("why"))))()))
    assert bad.message == "0/2 nodes are available: 2 why."
