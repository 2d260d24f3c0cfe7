"""Keeps the metrics of plugins, and shows them on the page of a driver.

A plugin may use any label values, so the combinations of each metric are bounded: what comes after the first 500 is
counted under the value `other`. A log line says so, once for each metric.
"""

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubesched.framework import SECONDS, PluginCounter, PluginGauge, PluginHistogram, PluginMetrics, metric_name
from kubesched.metrics.families import Counters, Histograms, Levels

__all__ = ["MetricsOfPlugins"]

_MAX_SERIES: Final = 500  # of one metric
_OTHER: Final = "other"
_MAX_BUCKETS: Final = 100
_LOG: Final = logging.getLogger("kubesched.plugin")


class MetricsOfPlugins(Collector):
    """The metrics of all plugins of a process. Methods of the metrics belong to one thread, `collect` to any."""

    def __init__(self) -> None:
        self._metrics: dict[str, tuple[object, _Kept]] = {}

    def of(self, plugin: str) -> PluginMetrics:
        """What the handle of a plugin offers."""
        return _OfOne(plugin, self._metrics)

    def collect(self) -> Iterable[Metric]:
        """Everything that plugins have counted."""
        for _, kept in list(self._metrics.values()):
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
    """The combinations of label values of one metric."""

    def __init__(self, name: str, labels: tuple[str, ...]) -> None:
        self._name = name
        self._labels = labels
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._is_told = False

    def __call__(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """The values to count under."""
        known = self._known.get(values)
        return self._new(values) if known is None else known

    def remove(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """Make room for others. Returns: what was counted under."""
        return self._known.pop(values, values)

    def _new(self, values: tuple[str, ...]) -> tuple[str, ...]:
        if len(values) != len(self._labels):
            expected = ", ".join(self._labels) or "none"
            raise ValueError(
                f"{self._name}: found {len(values)} label values; expected one for each label ({expected})"
            )
        for value in values:
            if not isinstance(value, str):
                raise TypeError(f"{self._name}: the label value {value!r:.80} is not a text")
        if len(self._known) < _MAX_SERIES:
            shown = tuple(map(_utf8, values))
            self._known[values] = shown
            return shown
        if not self._is_told:
            self._is_told = True
            _LOG.warning(
                "%s has %d combinations of label values; further ones count as %s, such as %s",
                self._name,
                _MAX_SERIES,
                _OTHER,
                ", ".join(values),
            )
        return (_OTHER,) * len(values)


class _Counter(PluginCounter):
    def __init__(self, name: str, text: str, labels: tuple[str, ...]) -> None:
        self._values = _LabelValues(name, labels)
        self._counters = Counters(name, text, labels)
        self.family = self._counters.family

    def add(self, *labels: str, n: int = 1) -> None:
        """Count n more."""
        if n < 0:
            raise ValueError(f"a counter only grows; found {n}")
        self._counters.add(*self._values(labels), n=n)


class _Gauge(PluginGauge):
    def __init__(self, name: str, text: str, labels: tuple[str, ...]) -> None:
        self._values = _LabelValues(name, labels)
        self._levels = Levels(name, text, labels)
        self.family = self._levels.family

    def set(self, value: float, *labels: str) -> None:
        """Set the number."""
        self._levels.set(float(value), *self._values(labels))

    def remove(self, *labels: str) -> None:
        """Forget the number."""
        self._levels.remove(*self._values.remove(labels))


class _Histogram(PluginHistogram):
    def __init__(self, name: str, text: str, labels: tuple[str, ...], bounds: tuple[float, ...]) -> None:
        self._values = _LabelValues(name, labels)
        self._histograms = Histograms(name, text, bounds, labels)
        self.family = self._histograms.family

    def observe(self, value: float, *labels: str) -> None:
        """Count a value."""
        self._histograms.of(*self._values(labels)).observe(float(value))


_Kept = _Counter | _Gauge | _Histogram


class _OfOne(PluginMetrics):
    """The metrics of one plugin."""

    def __init__(self, plugin: str, metrics: dict[str, tuple[object, _Kept]]) -> None:
        self._plugin = plugin
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
        histogram: PluginHistogram = self._metric(_Histogram, name, text, labels, _bounds(name, buckets))
        return histogram

    def _metric(self, kind: Callable[..., Any], name: str, text: str, labels: Sequence[str], *further: object) -> Any:
        """The metric that the plugin has already, in this profile or another, or a new one."""
        full_name = metric_name(self._plugin, name, labels)
        shape = (self._plugin, kind, tuple(labels), further)
        if full_name not in self._metrics:
            self._metrics[full_name] = shape, kind(full_name, _utf8(text), tuple(labels), *further)
        known, metric = self._metrics[full_name]
        if known != shape:
            raise ValueError(
                f"{full_name} exists, of another plugin or kind, or with other labels or buckets; rename it"
            )
        return metric


def _utf8(text: str) -> str:
    """The text without what UTF-8 cannot write, which would cost the whole page."""
    return text.encode("utf-8", "replace").decode()


def _bounds(name: str, buckets: Sequence[float]) -> tuple[float, ...]:
    bounds = tuple(map(float, buckets))
    is_ascending = all(a < b for a, b in pairwise(bounds))
    if not (0 < len(bounds) <= _MAX_BUCKETS and is_ascending and all(map(math.isfinite, bounds))):
        raise ValueError(f"buckets of {name}: found {buckets!r:.80}; expected up to {_MAX_BUCKETS} ascending numbers")
    return bounds
