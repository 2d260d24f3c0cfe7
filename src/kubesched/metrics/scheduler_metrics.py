"""What kube-scheduler counts, under the same names: fed with decisions and with what a driver observes.

Rule: kube-scheduler v1.36 metrics: names, types, labels, buckets. Upstream reads its own clock between the steps; here
the driver reports how long each took. `docs/upstream-map.md` lists the families that have no meaning here.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubesched.api import ClusterEvent, EventResource, EventType, KubeObject, Pod, WatchEvent, custom_resource
from kubesched.framework import ActionDone, CallExtender, Decision, Status
from kubesched.metrics.families import Counters, Family, Histograms, exponential
from kubesched.metrics.gauges import Gauges
from kubesched.metrics.metrics_of_plugins import MetricsOfPlugins
from kubesched.metrics.observer import Observer
from kubesched.metrics.released_metrics import ReleasedMetrics
from kubesched.metrics.step_metrics import StepMetrics
from kubesched.scheduler import Scheduler

_MOST_ATTEMPTS: Final = 15  # from here on the label is `15+`
_ACTIONS: Final = {EventType.ADDED: "Add", EventType.MODIFIED: "Update", EventType.DELETED: "Delete"}
_RESOURCES: Final = {resource.value.rpartition("/")[2]: resource.value for resource in EventResource}


class SchedulerMetrics(Observer, Collector):
    """The metrics of a live scheduler: an observer of its driver, and what a registry collects.

    Its methods belong to the thread of the scheduler, except `collect`.

    Args:
        clock: seconds, for the durations of plugins.
        rng: draws the cycles in which single plugins are measured.

    Attributes:
        steps: the probe of the frameworks.
        plugins: the metrics of plugins.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter, rng: Random | None = None) -> None:
        self.steps = StepMetrics(clock, rng or Random())
        self.plugins = MetricsOfPlugins()
        self._attempts = Counters(
            "scheduler_schedule_attempts",
            "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, "
            "while 'error' means an internal scheduler problem.",
            ("profile", "result"),
        )
        self._attempt_seconds = Histograms(
            "scheduler_scheduling_attempt_duration_seconds",
            "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
            exponential(0.001, 2, 15),
            ("profile", "result"),
        )
        self._algorithm_seconds = Histograms(
            "scheduler_scheduling_algorithm_duration_seconds",
            "Scheduling algorithm latency in seconds, with Reserve and Permit",
            exponential(0.001, 2, 15),
        )
        self._event_seconds = Histograms(
            "scheduler_event_handling_duration_seconds",
            "Event handling latency in seconds.",
            exponential(0.0001, 2, 12),
            ("event",),
        )
        self._incoming = Counters(
            "scheduler_queue_incoming_pods",
            "Number of pods added to scheduling queues by event and queue type.",
            ("event", "queue"),
        )
        self._pod_attempts = Histograms(
            "scheduler_pod_scheduling_attempts",
            "Number of attempts to successfully schedule a pod.",
            exponential(1, 2, 5),
        )
        self._pod_seconds = Histograms(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might "
            "involve multiple scheduling attempts.",
            exponential(0.01, 2, 20),
            ("attempts",),
        )
        self._after_flush = Counters(
            "scheduler_pod_scheduled_after_flush",
            "Number of pods that were successfully scheduled after being flushed from unschedulablePods due to "
            "timeout. This metric helps detect potential queueing hint misconfigurations or event handling issues.",
        )
        self._permit_seconds = Histograms(
            "scheduler_permit_wait_duration_seconds",
            "Duration of waiting on permit.",
            exponential(0.001, 2, 15),
            ("result",),
        )
        self._extender_seconds = Histograms(
            "kubesched_scheduler_extender_call_duration_seconds",
            "Duration of calls to the extenders of the configuration, by urlPrefix; kube-scheduler does not have this.",
            exponential(0.001, 2, 15),
            ("extender", "verb", "result"),
        )
        self._preemptions = Counters(
            "scheduler_preemption_attempts", "Total preemption attempts in the cluster till now"
        )
        self._victims = Histograms(
            "scheduler_preemption_victims", "Number of selected preemption victims", exponential(1, 2, 7)
        )
        self._evictions = Counters(
            "scheduler_preemption_goroutines_execution", "Number of preemption tasks executed.", ("result",)
        )
        self._eviction_seconds = Histograms(
            "scheduler_preemption_goroutines_duration_seconds",
            "Duration in seconds for running tasks for the preemption.",
            exponential(0.01, 2, 20),
            ("result",),
        )
        own = [family for family in vars(self).values() if isinstance(family, Family)]
        self._families = sorted(own, key=lambda family: isinstance(family, Histograms))  # those come last

    def register(
        self,
        registry: CollectorRegistry,
        scheduler: Scheduler,
        *,
        n_binding: Callable[[], int] | None = None,
        is_leader: Callable[[], bool] | None = None,
        lease_name: str = "",
    ) -> None:
        """Show everything on the page of a registry, with the gauges of a scheduler.

        Args:
            n_binding: how many binding cycles and evictions run.
            is_leader: whether this process leads; None without leader election.
            lease_name: of the Lease.
        """
        for collector in (self, Gauges(scheduler, n_binding, is_leader, lease_name)):
            registry.register(ReleasedMetrics(collector, scheduler.cluster_state.release))

    # --- what happens ---

    def queued(self, place: str, event: str, pod: Pod) -> None:
        """A pod came into a queue."""
        self._incoming.add(event, place)

    def handled(
        self, event: WatchEvent, before: KubeObject | None, changes: Sequence[ClusterEvent], seconds: float
    ) -> None:
        """An event was taken in; `before` is the object that was known."""
        for label in self._labels(event, before, [change.label for change in changes]):
            self._event_seconds.of(label).observe(seconds)

    def _labels(self, event: WatchEvent, before: KubeObject | None, changes: list[str]) -> list[str]:
        """What upstream observes for an event, as measured with v1.36.3; nothing for what it does not handle.

        An update of a node counts once for each property that changed. An update of a pod counts as such, and once for
        each property; for an assigned pod without one, Update counts twice. A pod that gets its node also leaves the
        queue.
        """
        pod, action = event.object, _ACTIONS[event.type]
        if not isinstance(pod, Pod):
            if event.kind == "Node" and event.type is EventType.MODIFIED:
                return changes
            resource = _RESOURCES.get(event.kind) or custom_resource(event.kind)
            return [f"{resource}{action}"] if resource else []
        is_mine, is_update = pod.scheduler_name in self.steps.profiles, event.type is EventType.MODIFIED
        if not pod.node_name:
            label = f"UnschedulablePod{action}"
            return [label, *([one for one in changes if one != label] if is_update else [])] if is_mine else []
        if event.type is EventType.DELETED:
            return ["AssignedPodDelete"]
        if isinstance(before, Pod) and before.node_name:
            return ["AssignedPodUpdate", *changes]
        return [*(["UnschedulablePodDelete"] if is_mine and before is not None else []), "AssignedPodAdd"]

    def decided(self, decision: Decision, seconds: float) -> None:
        """A scheduling cycle ended, after so many seconds."""
        if decision.pod.is_terminating:  # it was skipped
            return
        self._algorithm_seconds.of().observe(seconds)
        if decision.outcome.status.is_success:
            return
        self._ended(decision, seconds)
        if decision.rejections:  # no node fitted, so PostFilter ran
            self._preemptions.add()
        if decision.victims:
            self._victims.of().observe(len(decision.victims))

    def called(self, done: ActionDone) -> None:
        """A call of an extender ended."""
        action = done.action
        assert isinstance(action, CallExtender)
        result = "error" if done.error else "success"
        self._extender_seconds.of(action.extender.shown_url, action.verb, result).observe(done.seconds)

    def permitted(self, status: Status, seconds: float) -> None:
        """A pod that had to wait in Permit goes on, or is rejected."""
        self._permit_seconds.of(status.code.value).observe(seconds)

    def bound(self, decision: Decision, seconds: float, queued_seconds: float) -> None:
        """A pod was bound.

        Args:
            seconds: since its last attempt began.
            queued_seconds: since it first became active.
        """
        self._ended(decision, seconds)
        attempts = str(decision.attempt) if decision.attempt < _MOST_ATTEMPTS else f"{_MOST_ATTEMPTS}+"
        self._pod_attempts.of().observe(decision.attempt)
        self._pod_seconds.of(attempts).observe(queued_seconds)
        if decision.was_flushed:
            self._after_flush.add()

    def failed(self, decision: Decision, seconds: float) -> None:
        """A binding cycle failed, so many seconds after its attempt began."""
        self._ended(decision, seconds)

    def evicted(self, seconds: float) -> None:
        """The eviction of a decision's victims ended. Rule: upstream's result is always `success`."""
        self._evictions.add("success")
        self._eviction_seconds.of("success").observe(seconds)

    def _ended(self, decision: Decision, seconds: float) -> None:
        status = decision.outcome.status
        result = "scheduled" if status.is_success else "unschedulable" if status.is_rejected else "error"
        self._attempts.add(decision.profile, result)
        self._attempt_seconds.of(decision.profile, result).observe(seconds)

    # --- the page ---

    def collect(self) -> Iterable[Metric]:
        """Everything that was counted; may be called from any thread."""
        yield from (family.family() for family in self._families)
        yield from self.steps.families()
        yield from self.plugins.collect()
