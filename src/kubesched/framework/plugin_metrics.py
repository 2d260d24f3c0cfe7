"""Metrics of plugins: what a plugin asks its handle for. A driver with a page for Prometheus keeps them.

The names are checked in every run, so that a simulation finds a wrong one.
"""

import re
from collections.abc import Sequence
from typing import Final, Protocol

__all__ = ["SECONDS", "NoMetrics", "PluginCounter", "PluginGauge", "PluginHistogram", "PluginMetrics", "metric_name"]

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_]")  # of Prometheus; a class may have a name in any script
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,99}")
_ENDINGS: Final = ("_bucket", "_sum", "_count", "_created", "_info", "_total")
"""What Prometheus appends to names."""


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
    combinations of label values are kept for each metric. Further ones are counted together, as `other`.

    Args of all methods:
        name: of the metric: lower-case letters, digits and `_`. A unit is part of it: `age_seconds`.
        text: one sentence for people who read the page.
        labels: names of labels, in the order of their values.

    Raises of all methods:
        ValueError: a name is not valid, or the plugin has another metric of this name.

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
    """Checks names and keeps nothing."""

    def __init__(self, plugin: str) -> None:
        self._plugin = plugin

    def counter(self, name: str, text: str, labels: Sequence[str] = ()) -> PluginCounter:
        """A counter that no page shows."""
        return self._checked(name, labels)

    def gauge(self, name: str, text: str, labels: Sequence[str] = ()) -> PluginGauge:
        """A gauge that no page shows."""
        return self._checked(name, labels)

    def histogram(
        self, name: str, text: str, labels: Sequence[str] = (), buckets: Sequence[float] = SECONDS
    ) -> PluginHistogram:
        """A histogram that no page shows."""
        return self._checked(name, labels)

    def _checked(self, name: str, labels: Sequence[str]) -> "_Unread":
        metric_name(self._plugin, name, labels)
        return _Unread()


class _Unread(PluginCounter, PluginGauge, PluginHistogram):
    def add(self, *labels: str, n: int = 1) -> None:
        """Do nothing."""

    def set(self, value: float, *labels: str) -> None:
        """Do nothing."""

    def remove(self, *labels: str) -> None:
        """Do nothing."""

    def observe(self, value: float, *labels: str) -> None:
        """Do nothing."""


def metric_name(plugin: str, name: str, labels: Sequence[str]) -> str:
    """The name of a metric on the page.

    Raises:
        ValueError: it, or that of a label, is not valid.

    Example:
        assert metric_name("my-plugin", "lookups", ()) == "kubesched_plugin_my_plugin_lookups"
    """
    if isinstance(labels, str):
        raise ValueError(f"labels of the metric {name}: found {labels!r}; expected a list of names")
    for what, given in (("metric", name), *(("label", label) for label in labels)):
        if not _NAME.fullmatch(given):
            expected = "expected lower-case letters, digits and '_', the first a letter"
            raise ValueError(f"{given!r:.80} is not the name of a {what}; {expected}")
    if len(set(labels)) < len(labels) or "le" in labels:
        raise ValueError(f"labels of the metric {name}: found {', '.join(labels)}; expected each once, and not le")
    if name.endswith(_ENDINGS):
        ending = next(ending for ending in _ENDINGS if name.endswith(ending))
        raise ValueError(f"the metric {name} ends with {ending}, which Prometheus appends itself; leave it out")
    return f"kubesched_plugin_{_NOT_IN_NAMES.sub('_', plugin)}_{name}"
