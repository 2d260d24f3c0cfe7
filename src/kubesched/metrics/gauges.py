"""What is read off a scheduler when a client asks for the page, in that thread: copies, each taken in one step.

Events that a driver could not write are counted by reason; kube-scheduler does not count them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubesched.metrics.families import Counters
from kubesched.scheduler import Scheduler


class Gauges(Collector):
    """The gauges of kube-scheduler.

    Args:
        n_binding: how many binding cycles and evictions run.
        is_leader: whether this process leads; None without leader election.
        lease_name: of the Lease.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        n_binding: Callable[[], int] | None,
        is_leader: Callable[[], bool] | None,
        lease_name: str,
    ) -> None:
        self._scheduler = scheduler
        self._n_binding = n_binding
        self._is_leader = is_leader
        self._lease_name = lease_name

    def collect(self) -> Iterable[Metric]:
        """The gauges as they are now."""
        queue, state = self._scheduler.queue, self._scheduler.cluster_state
        yield _gauge(
            "scheduler_pending_pods",
            "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means "
            "number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler "
            "attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never "
            "attempted to schedule because they are gated.",
            ("queue",),
            {(name,): n for name, n in queue.counts().items()},
        )
        yield _gauge(
            "scheduler_unschedulable_pods",
            "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all "
            "plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin.",
            ("plugin", "profile"),
            queue.rejections(),
        )
        yield _gauge(
            "scheduler_inflight_events",
            "Number of events currently tracked in the scheduling queue.",
            ("event",),
            {(label,): n for label, n in queue.in_flight_events().items()},
        )
        yield _gauge(
            "scheduler_cache_size",
            "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
            ("type",),
            {("assumed_pods",): len(state.assumed_uids), ("nodes",): state.columns.n_nodes, ("pods",): state.n_placed},
        )
        if self._n_binding is not None:
            yield _gauge(
                "scheduler_goroutines",
                "Number of running tasks split by the work they do: binding cycles and evictions.",
                ("operation",),
                {("binding",): self._n_binding()},
            )
        if self._is_leader is not None:
            yield _gauge(
                "leader_election_master_status",
                "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates "
                "master. 'name' is the string used to identify the lease.",
                ("name",),
                {(self._lease_name,): int(self._is_leader())},
            )


def _gauge(name: str, text: str, labels: tuple[str, ...], values: Mapping[Any, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=labels)
    for combination, value in values.items():
        family.add_metric(combination, value)
    return family


class EventMetrics(Collector):
    """Shows on a page what an EventRecorder has discarded.

    Args:
        discarded: the counts by reason, which grow; every reason is a key from the start.
    """

    def __init__(self, discarded: Mapping[str, int]) -> None:
        self._discarded = discarded
        self._counters = Counters(
            "kubesched_events_discarded",
            "Events for users that were not written, by reason; kube-scheduler does not have this.",
            ("reason",),
        )

    def collect(self) -> Iterable[Metric]:
        """The counts as they are; may be called from any thread."""
        yield self._counters.family(((reason,), n) for reason, n in self._discarded.items())
