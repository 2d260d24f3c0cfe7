"""Metrics of plugins: what a plugin asks its handle for. A driver with a page for Prometheus keeps them.

What a plugin asks for is checked in every run, so that a simulation and a test find a mistake.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from kubesched.framework.metric_checks import (
    buckets_of,
    check_label_values,
    check_text,
    increase_of,
    metric_name,
    number_of,
)

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_MAX_METRICS: Final = 100  # of one plugin


class PluginCounter(Protocol):
    """A number that only grows, one for each combination of label values."""

    def add(self, *labels: str, n: int = 1) -> None:
        """Count n more.

        Args:
            labels: the values, in the order of the labels.
        """
        ...


class PluginGauge(Protocol):
    """A number that goes up and down, one for each combination of label values."""

    def set(self, value: float, *labels: str) -> None:
        """Set the number."""
        ...

    def remove(self, *labels: str) -> None:
        """Forget the number of these label values, for example of a node that is gone."""
        ...


class PluginHistogram(Protocol):
    """Counts values by size, for each combination of label values."""

    def observe(self, value: float, *labels: str) -> None:
        """Count a value."""
        ...


class PluginMetrics(Protocol):
    """The metrics of one plugin, on the page as `kubesched_plugin_PLUGIN_NAME`; `-` and `.` of the plugin become `_`.

    A second call with the same name gives the same metric, so the instances of several profiles share it. At most 500
    combinations of label values are kept for each metric. Further ones are counted together, as `other`; those of a
    gauge are left out. A plugin has at most 100 metrics: what differs is a label. A label value is cut after 256
    characters. Numbers are finite; a counter adds whole numbers.

    Args of all methods:
        name: of the metric: lower-case letters, digits and `_`. A unit is part of it: `age_seconds`.
        text: one sentence for people who read the page.
        labels: names of labels, at most 10, in the order of their values.

    Raises of all methods:
        ValueError: an argument is not valid, or the plugin has another metric of this name, or 100 metrics. So do the
            methods of a metric.

    Example:
        def start(self, handle):
            self.lookups = handle.metrics.counter("lookups", "Lookups of owners.", labels=("result",))

        def score(self, state, pod, node):
            self.lookups.add("hit")
            return 50
    """

    def counter(self, name: str, text: str, labels: Sequence[str] = ()) -> PluginCounter:
        """A counter. Its name on the page ends with `_total`."""
        ...

    def gauge(self, name: str, text: str, labels: Sequence[str] = ()) -> PluginGauge:
        """A gauge."""
        ...

    def histogram(
        self, name: str, text: str, labels: Sequence[str] = (), buckets: Sequence[float] = SECONDS
    ) -> PluginHistogram:
        """A histogram.

        Args:
            buckets: their upper bounds, ascending; by default for seconds.
        """
        ...


class NoMetrics(PluginMetrics):
    """Checks what a plugin asks for, and keeps no numbers.

    Args:
        shapes: the metrics of all plugins of the run.
    """

    def __init__(self, plugin: str, shapes: "MetricShapes") -> None:
        self._plugin = plugin
        self._shapes = shapes

    def counter(self, name: str, text: str, labels: Sequence[str] = ()) -> PluginCounter:
        """A counter that no page shows."""
        return self._checked("counter", name, text, labels)

    def gauge(self, name: str, text: str, labels: Sequence[str] = ()) -> PluginGauge:
        """A gauge that no page shows."""
        return self._checked("gauge", name, text, labels)

    def histogram(
        self, name: str, text: str, labels: Sequence[str] = (), buckets: Sequence[float] = SECONDS
    ) -> PluginHistogram:
        """A histogram that no page shows."""
        return self._checked("histogram", name, text, labels, buckets_of(name, buckets))

    def _checked(self, kind: str, name: str, text: str, labels: Sequence[str], further: object = None) -> "_Unread":
        full_name = self._shapes.check(self._plugin, kind, name, text, labels, further)
        return _Unread(full_name, tuple(labels))


class _Unread(PluginCounter, PluginGauge, PluginHistogram):
    def __init__(self, name: str, labels: tuple[str, ...]) -> None:
        self._name, self._labels = name, labels

    def add(self, *labels: str, n: int = 1) -> None:
        """Check the arguments."""
        increase_of(self._name, n)
        check_label_values(self._name, self._labels, labels)

    def set(self, value: float, *labels: str) -> None:
        """Check the arguments."""
        number_of(self._name, value)
        check_label_values(self._name, self._labels, labels)

    def remove(self, *labels: str) -> None:
        """Check the arguments."""
        check_label_values(self._name, self._labels, labels)

    def observe(self, value: float, *labels: str) -> None:
        """Check the arguments."""
        number_of(self._name, value)
        check_label_values(self._name, self._labels, labels)


class MetricShapes:
    """The metrics that plugins have, by their names on the page: one name is one metric of one plugin."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, ...]] = {}
        self._n_of: dict[str, int] = {}

    def check(self, plugin: str, kind: str, name: str, text: str, labels: Sequence[str], further: object = None) -> str:
        """Note a metric. Returns: its name on the page.

        Args:
            further: what has to be equal, too.
        Raises:
            ValueError: it cannot be kept.
        """
        full_name = metric_name(plugin, name, labels)
        check_text(name, text)
        shape = (plugin, kind, tuple(labels), further)
        known = self._known.get(full_name)
        if known == shape:
            return full_name
        if known is not None:
            raise ValueError(
                f"{full_name} exists, of another plugin or kind, or with other labels or buckets; rename it"
            )
        n = self._n_of.get(plugin, 0)
        if n >= _MAX_METRICS:
            raise ValueError(
                f"the metric {name}: the plugin {plugin} has {n} metrics, and may not have more; use labels"
            )
        self._known[full_name], self._n_of[plugin] = shape, n + 1
        return full_name
