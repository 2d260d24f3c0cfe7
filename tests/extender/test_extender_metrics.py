"""What an extender counts, as series."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry

from kubesched.api import EventType, WatchEvent
from kubesched.cluster import ClusterWatch, Restart
from kubesched.extender import Answer, Extender
from kubesched.extender.extender_metrics import ExtenderMetrics
from kubesched.framework import Plugin, Status
from kubesched.setup import set_up
from kubesched.testing import make_node
from tests.cluster.fake_api_server import FakeApiServer, client_of
from tests.extender.asking import in_time, node, with_names, with_nodes
from tests.extender.test_plugin_extender import NotN1, Reserves, Writes
from tests.extender.virtual_time import LoopClock


def series(*plugins: type[Plugin], watch: ClusterWatch | None = None, **options):
    """Extender, metrics, and a way to read a series."""
    setup = set_up(None, plugins or (NotN1,), default_plugins=False)
    extender = Extender(setup, **{"clock": LoopClock(), "is_watched": watch is not None} | options)
    registry = CollectorRegistry()
    metrics = ExtenderMetrics(registry, extender, watch)
    return extender, metrics, lambda name, **labels: registry.get_sample_value(f"kubesched_{name}", labels)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(Answer(), "success"), (Answer(error="no"), "error"), (Answer(error="late", is_late=True), "timeout")],
)
def test_every_outcome_has_a_series_of_its_own(answer: Answer, outcome: str):
    _, metrics, read = series()
    metrics.note("filter", answer, 0.5, is_near=False)
    counted = {
        one: read("extender_requests_total", verb="filter", outcome=one) for one in ("success", "error", "timeout")
    }
    assert counted == {one: float(one == outcome) for one in counted}
    assert read("extender_requests_total", verb="bind", outcome="success") == 0


def test_a_call_adds_its_time_and_its_nodes():
    _, metrics, read = series()
    metrics.note("filter", Answer(n_offered=5, n_kept=3, error="boom", plugin="P"), 0.3, is_near=True)
    assert read("extender_request_duration_seconds_bucket", verb="filter", le="0.25") == 0
    assert read("extender_request_duration_seconds_bucket", verb="filter", le="0.5") == 1
    assert read("extender_nodes_total", verb="filter", what="offered") == 5
    assert read("extender_nodes_total", verb="filter", what="kept") == 3
    assert read("extender_near_deadline_total", verb="filter") == 1
    assert read("extender_plugin_errors_total", verb="filter", plugin="P") == 1


def test_what_is_known_is_read_when_it_is_asked_for():
    extender, _, read = series()
    body = with_nodes(node("n1"), node("n2"))
    for _ in range(2):
        extender.verbs.filter(body, in_time)
    assert (read("extender_nodes_known"), read("extender_nodes_decoded_total")) == (2, 2)
    assert read("extender_assumed_pods") is None
    assert read("extender_undecided_pods_given_up_total") is None
    assert series(Reserves, is_watched=True, writes=Writes())[2]("extender_assumed_pods") == 0


class Counts(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("full") if node.pods else Status.SUCCESS


def test_a_filter_that_counts_pods_has_a_series_of_those_that_were_not_waited_for():
    extender, _, read = series(Counts, is_watched=True)
    assert extender.pods_in_flight is not None
    extender.pods_in_flight.n_given_up = 3
    assert read("extender_undecided_pods_given_up_total") == 3


def test_a_watch_has_series_for_each_kind():
    async def story():
        async with FakeApiServer() as server, client_of(server) as client:
            watch = ClusterWatch(client, lambda events: None, kinds=("Node", "Pod"))
            extender, _, read = series(watch=watch)
            extender.apply([WatchEvent(EventType.ADDED, "Node", make_node("n1"))])
            extender.verbs.filter(with_names("n1", "n9"), in_time)
            assert read("extender_nodes_unknown_total") == 1
            assert read("cluster_cache_age_seconds") == float("inf")
            watch.reflectors["Node"].synced.set()
            assert [read("cluster_cache_synced", kind=kind) for kind in ("Node", "Pod")] == [1, 0]
            counts = watch.reflectors["Pod"].counts
            counts.events = 7
            reason = next(iter(Restart))
            counts.restarts[reason] = 2
            assert read("cluster_watch_events_total", kind="Pod") == 7
            assert read("cluster_watch_restarts_total", kind="Pod", reason=reason.value) == 2

    asyncio.run(story())
