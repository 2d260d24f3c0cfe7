"""The metrics of shadow mode: how the decisions of another scheduler compare with ours."""

from collections import Counter
from collections.abc import Iterable

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubesched.metrics.families import Counters, Histograms, exponential
from kubesched.metrics.metrics_of_plugins import MetricsOfPlugins


class ShadowMetrics(Collector):
    """Counts judged bindings. Its methods belong to one thread, except `collect`.

    Attributes:
        counts: judged bindings by class.
        plugins: the metrics of plugins.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.plugins = MetricsOfPlugins()
        self._decisions = Counters(
            "kubesched_shadow_decisions",
            "Bindings of another scheduler by class: agreed, tie, sampled, order, disagreed, or unseen: not judged, "
            "because the watch showed the pod only with a node.",
            ("class", "profile"),
        )
        self._seconds = Histograms(
            "kubesched_shadow_decision_duration_seconds",
            "Time to judge a binding when it is seen, in seconds.",
            exponential(0.0001, 2, 15),
        )

    def count(self, agreement: str, profile: str) -> None:
        """Count a binding whose class is final."""
        self.counts[agreement] += 1
        self._decisions.add(agreement, profile)

    def took(self, seconds: float) -> None:
        """A binding was judged when it was seen."""
        self._seconds.of().observe(seconds)

    def collect(self) -> Iterable[Metric]:
        """Everything that was counted; may be called from any thread."""
        yield self._decisions.family()
        yield self._seconds.family()
        yield from self.plugins.collect()
