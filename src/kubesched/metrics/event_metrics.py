"""The events for users that a driver could not write, by reason; kube-scheduler does not count them."""

from collections.abc import Iterable, Mapping

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubesched.metrics.families import Counters


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
