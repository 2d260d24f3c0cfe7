"""Counters and histograms that cost well below a microsecond to feed: they run several times for each pod.

They belong to one thread. The page is made in another thread, which copies what it reads in one step each.
"""

from bisect import bisect_left
from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.utils import floatToGoString


def exponential(start: float, factor: float, n: int) -> tuple[float, ...]:
    """Upper bounds of n buckets, each `factor` times the one before; Prometheus' ExponentialBuckets."""
    bounds = []
    for _ in range(n):
        bounds.append(start)
        start *= factor
    return tuple(bounds)


class Family:
    """Metrics with one name, one per combination of label values."""

    def __init__(self, name: str, text: str, labels: tuple[str, ...] = ()) -> None:
        self._described = (name, text, labels)

    def family(self) -> Metric:
        """The metrics as they are."""
        raise NotImplementedError


class Counters(Family):
    """Counters.

    Args:
        name: without `_total`.
    """

    def __init__(self, name: str, text: str, labels: tuple[str, ...] = ()) -> None:
        super().__init__(name, text, labels)
        self._values: dict[tuple[str, ...], int] = {} if labels else {(): 0}

    def add(self, *labels: str, n: int = 1) -> None:
        """Count n more."""
        self._values[labels] = self._values.get(labels, 0) + n

    def family(self, further: Iterable[tuple[tuple[str, ...], int]] = ()) -> CounterMetricFamily:
        """The counters as they are.

        Args:
            further: label values and counts that are kept elsewhere.
        """
        name, text, labels = self._described
        family = CounterMetricFamily(name, text, labels=labels)
        for values, n in (*list(self._values.items()), *further):
            family.add_metric(values, n)
        return family


class Levels(Family):
    """Gauges that are set."""

    def __init__(self, name: str, text: str, labels: tuple[str, ...] = ()) -> None:
        super().__init__(name, text, labels)
        self._values: dict[tuple[str, ...], float] = {}

    def set(self, value: float, *labels: str) -> None:
        """Set one of them."""
        self._values[labels] = value

    def remove(self, *labels: str) -> None:
        """Forget one of them."""
        self._values.pop(labels, None)

    def family(self) -> GaugeMetricFamily:
        """The gauges as they are."""
        name, text, labels = self._described
        family = GaugeMetricFamily(name, text, labels=labels)
        for values, value in list(self._values.items()):
            family.add_metric(values, value)
        return family


class Histogram:
    """Counts values by bucket, and adds them up."""

    __slots__ = ("_bounds", "_cells")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._cells: list[float] = [0] * (len(bounds) + 1) + [0.0]  # one per bucket, +Inf, the sum

    def observe(self, value: float) -> None:
        """Count a value."""
        cells = self._cells
        cells[bisect_left(self._bounds, value)] += 1
        cells[-1] += value

    def cells(self) -> tuple[list[float], float]:
        """Values up to each bound and +Inf, cumulative, and the sum of all values."""
        *counts, total = list(self._cells)
        for i in range(1, len(counts)):
            counts[i] += counts[i - 1]
        return counts, total


class Histograms(Family):
    """Histograms with the same buckets."""

    def __init__(self, name: str, text: str, bounds: tuple[float, ...], labels: tuple[str, ...] = ()) -> None:
        super().__init__(name, text, labels)
        self._bounds = bounds
        self._children: dict[tuple[str, ...], Histogram] = {}
        if not labels:
            self.of()

    def of(self, *labels: str) -> Histogram:
        """The histogram of some label values."""
        child = self._children.get(labels)
        if child is None:
            child = self._children[labels] = Histogram(self._bounds)
        return child

    def family(self) -> HistogramMetricFamily:
        """The histograms as they are."""
        name, text, labels = self._described
        family = HistogramMetricFamily(name, text, labels=labels)
        bounds = [*map(_as_upstream, self._bounds), "+Inf"]
        for values, child in list(self._children.items()):
            counts, total = child.cells()
            family.add_metric(values, list(zip(bounds, counts, strict=True)), total)
        return family


def _as_upstream(bound: float) -> str:
    """The bound as kube-scheduler writes it: 1, where the Python client has 1.0."""
    text: str = floatToGoString(bound)  # type: ignore[no-untyped-call]
    return text.removesuffix(".0")
