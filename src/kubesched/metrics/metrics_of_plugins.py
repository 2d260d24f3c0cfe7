"""Keeps the metrics of plugins, and shows them on the page of a driver.

A plugin may use any label values, so the combinations of each metric are bounded: what comes after the first 500 is
counted under the value `other`. Gauges of several objects have no common value, so further gauges are left out. A log
line says so, once for each metric. The number of metrics is bounded by MetricShapes. Label
values are cut.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubesched.framework import (
    SECONDS,
    MetricShapes,
    PluginCounter,
    PluginGauge,
    PluginHistogram,
    PluginMetrics,
    buckets_of,
    check_label_values,
    increase_of,
    number_of,
)
from kubesched.metrics.families import Counters, Histograms, Levels

_MAX_SERIES: Final = 500  # of one metric
_MAX_VALUE: Final = 256  # characters
_OTHER: Final = "other"
_OF_UPSTREAM: Final = {"DynamicResources": "scheduler"}  # plugins whose metrics kube-scheduler has, under its names
_LOG: Final = logging.getLogger("kubesched.plugin")


class MetricsOfPlugins(Collector):
    """The metrics of all plugins of a process. Methods of the metrics belong to one thread, `collect` to any."""

    def __init__(self) -> None:
        self._metrics: dict[str, _Kept] = {}
        self._shapes = MetricShapes()

    def of(self, plugin: str) -> PluginMetrics:
        """What the handle of a plugin offers."""
        return _OfOne(plugin, self._shapes, self._metrics)

    def collect(self) -> Iterable[Metric]:
        """Everything that plugins have counted."""
        for kept in list(self._metrics.values()):
            yield kept.family()

    def samples(self) -> dict[str, float]:
        """Every number of the page, by its line: `kubesched_plugin_TeamZone_lookups_total{result="hit"}`."""
        return {
            _line(sample.name, sample.labels): sample.value for metric in self.collect() for sample in metric.samples
        }


def _line(name: str, labels: dict[str, str]) -> str:
    listed = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{listed}}}" if listed else name


class _LabelValues:
    """The combinations of label values of one metric.

    Args:
        has_rest: whether those beyond the bound count together.
    """

    def __init__(self, name: str, labels: tuple[str, ...], *, has_rest: bool = True) -> None:
        self._rest = (_OTHER,) * len(labels) if has_rest else None
        self._name = name
        self._labels = labels
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._has_warned = False

    def __call__(self, values: tuple[str, ...]) -> tuple[str, ...] | None:
        """The values to count under; None for nothing."""
        known = self._known.get(values)
        return self._new(values) if known is None else known

    def remove(self, values: tuple[str, ...]) -> tuple[str, ...] | None:
        """Make room for others. Returns: what was counted under; None for nothing."""
        check_label_values(self._name, self._labels, values)
        return self._known.pop(_cut(values), None)

    def _new(self, values: tuple[str, ...]) -> tuple[str, ...] | None:
        check_label_values(self._name, self._labels, values)
        values = _cut(values)
        if (known := self._known.get(values)) is not None:
            return known
        if len(self._known) < _MAX_SERIES:
            shown = tuple(map(_utf8, values))
            self._known[values] = shown
            return shown
        if not self._has_warned:
            self._has_warned = True
            what = "are left out" if self._rest is None else f"count as {_OTHER}"
            text = "%s has %d combinations of label values; further ones %s, such as %s"
            _LOG.warning(text, self._name, _MAX_SERIES, what, _on_a_line(values))
        return self._rest


class _Counter(PluginCounter):
    def __init__(self, name: str, text: str, labels: tuple[str, ...]) -> None:
        self._name = name
        self._values = _LabelValues(name, labels)
        self._counters = Counters(name, text, labels)
        self.family = self._counters.family

    def add(self, *labels: str, n: int = 1) -> None:
        """Count n more."""
        number = increase_of(self._name, n)
        if (values := self._values(labels)) is not None:
            self._counters.add(*values, n=number)


class _Gauge(PluginGauge):
    def __init__(self, name: str, text: str, labels: tuple[str, ...]) -> None:
        self._name = name
        self._values = _LabelValues(name, labels, has_rest=False)
        self._levels = Levels(name, text, labels)
        self.family = self._levels.family

    def set(self, value: float, *labels: str) -> None:
        """Set the number."""
        number = number_of(self._name, value)
        if (values := self._values(labels)) is not None:
            self._levels.set(number, *values)

    def remove(self, *labels: str) -> None:
        """Forget the number."""
        if (values := self._values.remove(labels)) is not None:
            self._levels.remove(*values)


class _Histogram(PluginHistogram):
    def __init__(self, name: str, text: str, labels: tuple[str, ...], bounds: tuple[float, ...]) -> None:
        self._name = name
        self._values = _LabelValues(name, labels)
        self._histograms = Histograms(name, text, bounds, labels)
        self.family = self._histograms.family

    def observe(self, value: float, *labels: str) -> None:
        """Count a value."""
        number = number_of(self._name, value)
        if (values := self._values(labels)) is not None:
            self._histograms.of(*values).observe(number)


_Kept = _Counter | _Gauge | _Histogram


class _OfOne(PluginMetrics):
    """The metrics of one plugin."""

    def __init__(self, plugin: str, shapes: MetricShapes, metrics: dict[str, _Kept]) -> None:
        self._plugin = plugin
        self._shapes = shapes
        self._metrics = metrics

    def counter(self, name: str, text: str, labels: Sequence[str] = ()) -> PluginCounter:
        """A counter."""
        counter: PluginCounter = self._metric(_Counter, name, text, labels)
        return counter

    def gauge(self, name: str, text: str, labels: Sequence[str] = ()) -> PluginGauge:
        """A gauge."""
        gauge: PluginGauge = self._metric(_Gauge, name, text, labels)
        return gauge

    def histogram(
        self, name: str, text: str, labels: Sequence[str] = (), buckets: Sequence[float] = SECONDS
    ) -> PluginHistogram:
        """A histogram."""
        histogram: PluginHistogram = self._metric(_Histogram, name, text, labels, buckets_of(name, buckets))
        return histogram

    def _metric(self, kind: Callable[..., Any], name: str, text: str, labels: Sequence[str], *further: object) -> Any:
        """The metric that the plugin has already, in this profile or another, or a new one."""
        full_name = self._shapes.check(self._plugin, kind.__name__, name, text, labels, further)
        if (prefix := _OF_UPSTREAM.get(self._plugin)) is not None:
            full_name = f"{prefix}_{name}"
        if full_name not in self._metrics:
            self._metrics[full_name] = kind(full_name, _utf8(text), tuple(labels), *further)
        return self._metrics[full_name]


def _cut(values: tuple[str, ...]) -> tuple[str, ...]:
    """The values at the length that is kept."""
    return tuple(value[:_MAX_VALUE] for value in values)


def _on_a_line(values: tuple[str, ...]) -> str:
    text = ", ".join(values)
    return text if text.isprintable() else ascii(text)


def _utf8(text: str) -> str:
    """The text without what UTF-8 cannot write, which would cost the whole page."""
    return text.encode("utf-8", "replace").decode()
