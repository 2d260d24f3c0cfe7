"""Counters and histograms as Prometheus reads them."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.registry import Collector

from kubesched.metrics.families import Counters, Histograms, exponential


def page(family) -> list[str]:
    class Only(Collector):
        def collect(self):
            yield family.family()

    registry = CollectorRegistry()
    registry.register(Only())
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("# HELP")]


def test_counters_without_labels_begin_at_0():
    assert page(Counters("pods", "Pods.")) == ["# TYPE pods_total counter", "pods_total 0.0"]


def test_counters_count_by_their_labels():
    counters = Counters("pods", "Pods.", ("queue",))
    counters.add("active")
    counters.add("active", n=2)
    counters.add("backoff")
    assert page(counters)[1:] == ['pods_total{queue="active"} 3.0', 'pods_total{queue="backoff"} 1.0']


def test_counts_that_are_kept_elsewhere_are_shown_beside_them():
    counters = Counters("pods", "Pods.", ("queue",))
    counters.add("active")
    samples = counters.family([(("backoff",), 5)]).samples
    assert [(sample.labels["queue"], sample.value) for sample in samples] == [("active", 1), ("backoff", 5)]


def test_a_value_on_a_bound_belongs_to_its_bucket():
    histograms = Histograms("seconds", "Seconds.", (1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 9.0):
        histograms.of().observe(value)
    assert page(histograms)[1:] == [
        'seconds_bucket{le="1"} 2.0',
        'seconds_bucket{le="2"} 4.0',
        'seconds_bucket{le="+Inf"} 5.0',
        "seconds_count 5.0",
        "seconds_sum 14.0",
    ]


def test_each_combination_of_labels_has_a_histogram():
    histograms = Histograms("seconds", "Seconds.", (1.0,), ("verb",))
    assert page(histograms) == ["# TYPE seconds histogram"]
    histograms.of("get").observe(3.0)
    assert histograms.of("get") is histograms.of("get")
    assert 'seconds_sum{verb="get"} 3.0' in page(histograms)


def test_exponential_bounds_grow_by_their_factor():
    assert exponential(0.01, 2, 4) == (0.01, 0.02, 0.04, 0.08)
    assert exponential(0.00001, 1.5, 3)[-1] == pytest.approx(0.0000225)
