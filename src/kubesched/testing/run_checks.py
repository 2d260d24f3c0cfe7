"""Checks of whole runs: every hook in its place, called as the scheduler calls it."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

from kubesched.api import ActionType, Pod, custom_resource, kind_of
from kubesched.framework import (
    Code,
    CycleState,
    EventRegistration,
    FrameworkStep,
    Plugin,
    Probe,
    QueueingHint,
    Status,
)
from kubesched.session import Simulator
from kubesched.setup import set_up
from kubesched.testing.fake_cluster import FakeCluster, minimal_profile
from kubesched.testing.subject import Subject, difference

_PACKAGE: Final = Path(__file__).parents[1]


class _Warnings(logging.Handler):
    """Keeps kubesched's own warnings while it is entered: faults that cost no pod its attempt. A plugin may warn."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        if Path(record.pathname).is_relative_to(_PACKAGE):
            self.texts.append(record.getMessage())

    def __enter__(self) -> Self:
        logging.getLogger("kubesched.plugin").addHandler(self)
        return self

    def __exit__(self, *raised: object) -> None:
        logging.getLogger("kubesched.plugin").removeHandler(self)


class _PostFilterFaults(Probe):
    """Notes the pods for which PostFilter failed: such a pod is only unschedulable."""

    def __init__(self) -> None:
        self.uids: set[str] = set()

    def ended(self, step: FrameworkStep) -> None:
        """Note the pod."""
        if step.point == "PostFilter" and step.status.code is Code.ERROR:
            self.uids.add(step.pod.uid)


def check_allowed_answers(subject: Subject) -> None:
    """No hook raises or answers what it may not, in a whole simulation and when it is asked by itself."""
    cluster = subject.cluster()
    plugin = subject.plugin_in(cluster)
    for pod in subject.scenario.pending:
        subject.answers(cluster, pod)
        if plugin.defines("pre_enqueue"):
            _check_pre_enqueue(subject, plugin, pod)
    if plugin.defines("events_to_register"):
        _check_hints(subject, plugin)
    _check_simulation(subject)


def _check_pre_enqueue(subject: Subject, plugin: Plugin, pod: Pod) -> None:
    status: object = plugin.pre_enqueue(pod)
    fine = isinstance(status, Status) and (status.is_success or status.is_rejected)
    assert fine, f"{subject.name}.pre_enqueue: pod {pod.key}: must return SUCCESS or a rejection; found {status!r}"


def _check_hints(subject: Subject, plugin: Plugin) -> None:
    for entry in plugin.events_to_register():
        assert isinstance(entry, EventRegistration), (
            f"{subject.name}.events_to_register: must return a list of EventRegistration; found {entry!r} in it"
        )
        if entry.hint is None:
            continue
        for pod in subject.scenario.pending:
            for old, new in _happenings(subject, entry):
                answer: object = entry.hint(pod, old, new)
                assert isinstance(answer, QueueingHint), (
                    f"{subject.name}: its hint for {entry.event.label} must return a QueueingHint; found {answer!r}"
                )


def _happenings(subject: Subject, entry: EventRegistration) -> Iterator[tuple[Any, Any]]:
    """(before, after) of objects of the scenario to which the event may have happened."""
    scenario = subject.scenario
    resource = entry.event.resource
    kind = str(resource).rpartition("/")[2].removeprefix("Assigned").removeprefix("Unschedulable")
    for known in (*scenario.nodes, *scenario.pods, *scenario.pending, *scenario.objects):
        if kind not in (kind_of(known), custom_resource(kind_of(known))):
            continue
        if entry.event.action & ActionType.ADD:
            yield None, known
        if entry.event.action & ActionType.DELETE:
            yield known, None
        if entry.event.action & ActionType.UPDATE:
            yield known, known


def _check_simulation(subject: Subject) -> None:
    scenario = subject.scenario
    objects = (*scenario.nodes, *scenario.pods, *scenario.pending, *scenario.objects)
    probe = _PostFilterFaults()
    simulator = Simulator(objects, set_up([minimal_profile(subject.plugin())]).watched_by(probe))
    failures: list[str] = []

    def note(decision: Any) -> None:
        outcome = decision.outcome
        if decision.reason == "SchedulerError":
            failures.append(f"pod {decision.pod.key}: {outcome.status.located}")
        elif decision.pod.uid in probe.uids:
            failures.append(f"pod {decision.pod.key}: {outcome.message}")

    simulator.decisions = note
    with _Warnings() as warnings:
        simulator.run()
    problems = failures + warnings.texts
    assert not problems, f"{subject.name}: {problems[0]}"


def check_unreserve(subject: Subject) -> None:
    """After unreserve everything is as before reserve; unreserve without reserve does no harm."""
    cluster = subject.cluster()
    for pod in subject.scenario.pending:
        before = {other.key: subject.answers(cluster, other) for other in subject.scenario.pending}
        fitting = [name for name, status in before[pod.key][0].items() if status.is_success]
        for name in fitting[:2]:
            for reserves in (True, False):
                _reserve_and_undo(subject, cluster, pod, name, reserves=reserves)
        for other in subject.scenario.pending:
            trace = difference(before[other.key], subject.answers(cluster, other))
            assert not trace, (
                f"{subject.name}: reserve and unreserve for pod {pod.key} change something: {other.key}: {trace}"
            )


def _reserve_and_undo(subject: Subject, cluster: FakeCluster, pod: Pod, node_name: str, *, reserves: bool) -> None:
    framework, state = cluster.framework, CycleState(cluster.cluster_state.pod_info(pod))
    framework.run_pre_filter(state, pod, cluster.nodes)
    framework.run_filter(state, pod, cluster.nodes, is_whole=False)
    placed = cluster.cluster_state.assume(state.pod, node_name)
    with _Warnings() as warnings:
        if reserves:
            framework.run_reserve(state, placed.pod, node_name)
        framework.run_unreserve(state, placed.pod, node_name)
    cluster.cluster_state.forget(placed.pod)
    assert not warnings.texts, f"{subject.name}: pod {pod.key}, node {node_name}: {warnings.texts[0]}"
