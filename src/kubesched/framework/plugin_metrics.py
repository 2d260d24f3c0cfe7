"""Metrics of plugins: what a plugin asks its handle for. A driver with a page for Prometheus keeps them.

What a plugin asks for is checked in every run, so that a simulation and a test find a mistake.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, Protocol

__all__ = [
    "SECONDS",
    "MetricShapes",
    "NoMetrics",
    "PluginCounter",
    "PluginGauge",
    "PluginHistogram",
    "PluginMetrics",
    "buckets_of",
    "check_increase",
    "check_label_values",
    "metric_name",
]

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_MAX_METRICS: Final = 100  # of one plugin
_MAX_BUCKETS: Final = 100
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
    combinations of label values are kept for each metric. Further ones are counted together, as `other`; those of a
    gauge are left out. A plugin has at most 100 metrics: what differs is a label.

    Args of all methods:
        name: of the metric: lower-case letters, digits and `_`. A unit is part of it: `age_seconds`.
        text: one sentence for people who read the page.
        labels: names of labels, in the order of their values.

    Raises of all methods:
        ValueError: a name is not valid, or the plugin has another metric of this name, or 100 metrics.

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
        return self._checked("counter", name, labels)

    def gauge(self, name: str, text: str, labels: Sequence[str] = ()) -> PluginGauge:
        """A gauge that no page shows."""
        return self._checked("gauge", name, labels)

    def histogram(
        self, name: str, text: str, labels: Sequence[str] = (), buckets: Sequence[float] = SECONDS
    ) -> PluginHistogram:
        """A histogram that no page shows."""
        return self._checked("histogram", name, labels, buckets_of(name, buckets))

    def _checked(self, kind: str, name: str, labels: Sequence[str], further: object = None) -> "_Unread":
        full_name = self._shapes.check(self._plugin, kind, name, labels, further)
        return _Unread(full_name, tuple(labels))


class _Unread(PluginCounter, PluginGauge, PluginHistogram):
    def __init__(self, name: str, labels: tuple[str, ...]) -> None:
        self._name, self._labels = name, labels

    def add(self, *labels: str, n: int = 1) -> None:
        """Check the arguments."""
        check_increase(n)
        check_label_values(self._name, self._labels, labels)

    def set(self, value: float, *labels: str) -> None:
        """Check the arguments."""
        float(value)
        check_label_values(self._name, self._labels, labels)

    def remove(self, *labels: str) -> None:
        """Check the arguments."""
        check_label_values(self._name, self._labels, labels)

    def observe(self, value: float, *labels: str) -> None:
        """Check the arguments."""
        float(value)
        check_label_values(self._name, self._labels, labels)


class MetricShapes:
    """The metrics that plugins have, by their names on the page: one name is one metric of one plugin."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, ...]] = {}
        self._n_of: dict[str, int] = {}

    def check(self, plugin: str, kind: str, name: str, labels: Sequence[str], further: object = None) -> str:
        """Note a metric. Returns: its name on the page.

        Args:
            further: what has to be equal, too.
        Raises:
            ValueError: it cannot be kept.
        """
        full_name = metric_name(plugin, name, labels)
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


def check_label_values(name: str, labels: tuple[str, ...], values: tuple[Any, ...]) -> None:
    """Check the label values of one call.

    Raises:
        ValueError, TypeError: they are too many or too few, or not texts.
    """
    if len(values) != len(labels):
        expected = ", ".join(labels) or "none"
        raise ValueError(f"{name}: found {len(values)} label values; expected one for each label ({expected})")
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name}: the label value {value!r:.80} is not a text")


def check_increase(n: int) -> None:
    """Check what a counter is to add.

    Raises:
        ValueError: it is negative.
    """
    if n < 0:
        raise ValueError(f"a counter only grows; found {n}")


def buckets_of(name: str, buckets: Sequence[float]) -> tuple[float, ...]:
    """The upper bounds of a histogram.

    Raises:
        ValueError: they are not valid.
    """
    bounds = tuple(map(float, buckets))
    is_ascending = all(a < b for a, b in pairwise(bounds))
    if not (0 < len(bounds) <= _MAX_BUCKETS and is_ascending and all(map(math.isfinite, bounds))):
        raise ValueError(f"buckets of {name}: found {buckets!r:.80}; expected up to {_MAX_BUCKETS} ascending numbers")
    return bounds


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
