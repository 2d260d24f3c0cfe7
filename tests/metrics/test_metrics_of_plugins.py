"""The metrics of plugins on a page: names, sharing between profiles, and the bound of label values."""

import logging
import math

import numpy as np
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from kubesched.framework import Services
from kubesched.metrics import MetricsOfPlugins


def page(metrics: MetricsOfPlugins) -> list[str]:
    registry = CollectorRegistry(auto_describe=True)
    registry.register(metrics)
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("# HELP")]


def test_a_counter_a_gauge_and_a_histogram_are_on_the_page():
    metrics = MetricsOfPlugins()
    mine = metrics.of("my-plugin")
    mine.counter("lookups", "Lookups.", labels=("result",)).add("hit", n=2)
    mine.gauge("age_seconds", "Age.").set(1.5)
    mine.histogram("size", "Size.", buckets=(1, 2)).observe(1.5)
    assert page(metrics) == [
        "# TYPE kubesched_plugin_my_plugin_lookups_total counter",
        'kubesched_plugin_my_plugin_lookups_total{result="hit"} 2.0',
        "# TYPE kubesched_plugin_my_plugin_age_seconds gauge",
        "kubesched_plugin_my_plugin_age_seconds 1.5",
        "# TYPE kubesched_plugin_my_plugin_size histogram",
        'kubesched_plugin_my_plugin_size_bucket{le="1"} 0.0',
        'kubesched_plugin_my_plugin_size_bucket{le="2"} 1.0',
        'kubesched_plugin_my_plugin_size_bucket{le="+Inf"} 1.0',
        "kubesched_plugin_my_plugin_size_count 1.0",
        "kubesched_plugin_my_plugin_size_sum 1.5",
    ]


def test_a_class_may_have_a_name_in_any_script():
    metrics = MetricsOfPlugins()
    metrics.of("Größe").counter("calls", "Calls.").add()
    assert page(metrics)[1:] == ["kubesched_plugin_Gr__e_calls_total 1.0"]


def test_a_second_profile_counts_in_the_same_metric():
    metrics = MetricsOfPlugins()
    for _ in range(2):
        metrics.of("Mine").counter("calls", "Calls.").add()
    assert metrics.samples() == {"kubesched_plugin_Mine_calls_total": 2.0}


def test_label_values_beyond_the_bound_count_as_other_and_are_told_once(caplog):
    metrics = MetricsOfPlugins()
    counter = metrics.of("Mine").counter("calls", "Calls.", labels=("node", "result"))
    for number in range(510):
        counter.add(f"n{number}", "hit")
    counter.add("n3", "hit")
    samples = metrics.samples()
    assert len(samples) == 501
    assert samples['kubesched_plugin_Mine_calls_total{node="other",result="other"}'] == 10
    assert samples['kubesched_plugin_Mine_calls_total{node="n3",result="hit"}'] == 2
    (line,) = caplog.messages
    assert line.endswith(
        "_Mine_calls has 500 combinations of label values; further ones count as other, such as n500, hit"
    )
    assert caplog.records[0].levelno == logging.WARNING


def test_a_gauge_that_is_removed_makes_room():
    metrics = MetricsOfPlugins()
    gauge = metrics.of("Mine").gauge("load", "Load.", labels=("node",))
    for number in range(1000):
        gauge.set(number, f"n{number}")
        gauge.remove(f"n{number}")
    gauge.set(7, "last")
    gauge.remove("never seen")
    assert metrics.samples() == {'kubesched_plugin_Mine_load{node="last"}': 7.0}


@pytest.mark.parametrize(
    "offered", [MetricsOfPlugins().of("Mine"), Services().metrics_of("Mine")], ids=["kept", "not kept"]
)
@pytest.mark.parametrize(
    ("name", "labels", "said"),
    [
        ("Calls", (), "'Calls' is not the name of a metric"),
        ("calls-made", (), "'calls-made' is not the name of a metric"),
        ("", (), "'' is not the name of a metric"),
        ("calls", ("Node",), "'Node' is not the name of a label"),
        ("calls", "node", "found 'node'; expected a list of names"),
        ("calls", ("a", "a"), "found a, a; expected each once"),
        ("calls", ("le",), "expected each once, and not le"),
        ("calls_total", (), "ends with _total, which Prometheus appends itself"),
        ("calls_bucket", (), "ends with _bucket"),
    ],
)
def test_names_are_checked_in_every_run(offered, name, labels, said):
    for make in (offered.counter, offered.gauge, offered.histogram):
        with pytest.raises(ValueError, match=said):
            make(name, "Text.", labels=labels)


RUNS = pytest.mark.parametrize(
    "of", [lambda: MetricsOfPlugins().of, lambda: Services().metrics_of], ids=["live", "simulated"]
)


@RUNS
def test_one_name_is_one_metric_in_every_run(of):
    mine = of()("a-b")
    mine.counter("calls", "Calls.", labels=("node",))
    mine.histogram("sizes", "Sizes.", buckets=(1, 2))
    for again in (
        lambda: mine.counter("calls", "Calls."),
        lambda: mine.gauge("calls", "Calls.", labels=("node",)),
        lambda: mine.histogram("sizes", "Sizes.", buckets=(1, 3)),
    ):
        with pytest.raises(ValueError, match=r"kubesched_plugin_a_b_\w+ exists, of another plugin or kind"):
            again()


@RUNS
def test_names_of_two_plugins_may_not_meet_on_the_page(of):
    offered = of()
    offered("a-b").counter("calls", "Calls.", labels=("node",))
    with pytest.raises(ValueError, match="kubesched_plugin_a_b_calls exists, of another plugin or kind"):
        offered("a.b").counter("calls", "Calls.", labels=("node",))


@RUNS
def test_a_plugin_has_a_hundred_metrics_in_every_run(of):
    offered = of()
    mine = offered("Mine")
    for number in range(100):
        mine.counter(f"c{number}", "Calls.")
    for make in (mine.counter, mine.gauge, mine.histogram):
        with pytest.raises(ValueError, match="the metric more: the plugin Mine has 100 metrics, and may not have more"):
            make("more", "More.")
    assert mine.counter("c7", "Calls.") is not None
    assert offered("Other").counter("calls", "Calls.") is not None


@RUNS
def test_a_wrong_use_fails_in_the_hook_in_every_run(of):
    mine = of()("Mine")
    counter, gauge = (make("a" + make.__name__, "A.", labels=("node",)) for make in (mine.counter, mine.gauge))
    sizes = mine.histogram("sizes", "Sizes.")
    for use in (lambda: counter.add("a", "b"), lambda: gauge.set(1, "a", "b"), lambda: gauge.remove("a", "b")):
        with pytest.raises(ValueError, match=r"found 2 label values; expected one for each label \(node\)"):
            use()
    with pytest.raises(ValueError, match=r"found 1 label values; expected one for each label \(none\)"):
        sizes.observe(1, "a")
    with pytest.raises(ValueError, match="the label value 3 is not a text"):
        counter.add(3)
    with pytest.raises(ValueError, match="a counter only grows; found -1"):
        counter.add("a", n=-1)
    with pytest.raises(ValueError, match="expected up to 100 ascending numbers"):
        mine.histogram("size", "Size.", buckets=(2, 1))
    for use in (lambda: gauge.set("high", "a"), lambda: sizes.observe("high")):
        with pytest.raises(ValueError, match="found 'high'; expected a finite number"):
            use()


@RUNS
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, None, "1", b"1", 10**400, 10**5000, 1j, [1]], ids=type
)
def test_numbers_are_finite_in_every_run(of, value):
    mine = of()("Mine")
    for use in (mine.gauge("load", "Load.").set, mine.histogram("sizes", "Sizes.").observe):
        with pytest.raises(ValueError, match=r"kubesched_plugin_Mine_\w+: found .*; expected a finite number"):
            use(value)


@RUNS
@pytest.mark.parametrize("n", [math.nan, math.inf, 0.5, 1.0, None, "1", -1, 2**63, 10**5000], ids=type)
def test_a_counter_adds_whole_numbers_in_every_run(of, n):
    counter = of()("Mine").counter("calls", "Calls.")
    with pytest.raises(ValueError, match="kubesched_plugin_Mine_calls: "):
        counter.add(n=n)
    counter.add(n=np.int64(2))


@RUNS
def test_every_wrong_argument_is_one_kind_of_error(of):
    mine = of()("Mine")
    wrong = [{"name": name} for name in (None, 3, b"calls")] + [{"text": text} for text in (None, 3, "a" * 1001)]
    wrong += [
        {"labels": labels} for labels in (None, 3, b"ab", (None,), {"a"}, iter("a"), [f"l{i}" for i in range(11)])
    ]
    for make in (mine.counter, mine.gauge, mine.histogram):
        for arguments in wrong:
            with pytest.raises(ValueError, match="expected") as told:
                make(**({"name": "calls", "text": "Calls."} | arguments))
            assert len(str(told.value)) < 300
    for buckets in (None, 3, "12", [None], [math.nan], [1, math.inf], [10**5000], iter([1.0])):
        with pytest.raises(ValueError, match="expected up to 100 ascending numbers"):
            mine.histogram("sizes", "Sizes.", buckets=buckets)
    assert mine.counter("calls", "Calls.") is not None  # none of them was noted


def test_long_label_values_are_cut(caplog):
    metrics = MetricsOfPlugins()
    gauge = metrics.of("Mine").gauge("load", "Load.", labels=("node",))
    long = "a" * 3_000_000
    for value in (1, 2):
        gauge.set(value, long + str(value))
    assert metrics.samples() == {'kubesched_plugin_Mine_load{node="' + "a" * 256 + '"}': 2.0}
    gauge.remove(long)
    assert metrics.samples() == {}
    for number in range(501):
        gauge.set(1, f"{number}\n{long}")
    (line,) = caplog.messages
    assert len(line) < 500
    assert line.isprintable()


def test_any_text_is_on_the_page():
    metrics = MetricsOfPlugins()
    metrics.of("Mine").counter("calls", "Calls \ud800", labels=("node",)).add("\ud800")
    assert 'kubesched_plugin_Mine_calls_total{node="?"} 1.0' in page(metrics)


def test_a_gauge_beyond_the_bound_is_left_out_and_said_once(caplog):
    metrics = MetricsOfPlugins()
    gauge = metrics.of("Mine").gauge("load", "Load.", labels=("node",))
    for number in range(510):
        gauge.set(number, f"n{number}")
    assert len(metrics.samples()) == 500
    (line,) = caplog.messages
    assert line.endswith("_load has 500 combinations of label values; further ones are left out, such as n500")
    gauge.remove("n509")
    gauge.remove("n0")
    gauge.set(1, "n509")
    assert len(metrics.samples()) == 500
    assert metrics.samples()['kubesched_plugin_Mine_load{node="n509"}'] == 1


@pytest.mark.parametrize("use", [lambda m: m.counter("a", "", ["b"]).add("x", n=3), lambda m: m.gauge("a", "").set(1)])
def test_without_a_page_nothing_happens(use):
    assert use(Services().metrics_of("Mine")) is None
