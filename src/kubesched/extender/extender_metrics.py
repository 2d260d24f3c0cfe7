"""The extender's metrics. They have kubesched's names, because kube-scheduler has extender metrics only on its side."""

from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubesched.cluster import ClusterWatch
from kubesched.extender.answer import Answer
from kubesched.extender.plugin_extender import Extender
from kubesched.extender.recording import Recorder
from kubesched.serving import Server

_VERBS: Final = ("filter", "prioritize", "preempt", "bind")
_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class CallsInFlight:
    """Counts the calls that are inside a `with`."""

    def __init__(self) -> None:
        self.n = 0

    def __enter__(self) -> None:
        self.n += 1

    def __exit__(self, *_error: object) -> None:
        self.n -= 1


class ExtenderMetrics:
    """Counters and histograms of calls, and gauges of what the extender knows."""

    def __init__(
        self,
        registry: CollectorRegistry,
        extender: Extender,
        watch: ClusterWatch | None,
        recorder: Recorder | None = None,
        server: Server | None = None,
    ) -> None:
        requests = Counter(
            "kubesched_extender_requests", "Calls by verb and outcome.", ("verb", "outcome"), registry=registry
        )
        seconds = Histogram(
            "kubesched_extender_request_duration_seconds",
            "From the headers of a call to its answer.",
            ("verb",),
            buckets=_SECONDS,
            registry=registry,
        )
        nodes = Counter(
            "kubesched_extender_nodes", "Nodes offered to a verb, and nodes kept.", ("verb", "what"), registry=registry
        )
        self._plugin_errors = Counter(
            "kubesched_extender_plugin_errors",
            "Calls that failed because of a plugin.",
            ("verb", "plugin"),
            registry=registry,
        )
        near = Counter(
            "kubesched_extender_near_deadline",
            "Calls that took more than four fifths of their time.",
            ("verb",),
            registry=registry,
        )
        self.in_flight = CallsInFlight()
        in_flight = Gauge("kubesched_extender_in_flight", "Calls that are not answered yet.", registry=registry)
        in_flight.set_function(lambda: self.in_flight.n)
        self._requests = {
            (verb, outcome): requests.labels(verb, outcome)
            for verb in _VERBS
            for outcome in ("success", "error", "timeout", "unread")
        }
        self._seconds = {verb: seconds.labels(verb) for verb in _VERBS}
        self._offered = {verb: nodes.labels(verb, "offered") for verb in _VERBS}
        self._kept = {verb: nodes.labels(verb, "kept") for verb in _VERBS}
        self._near = {verb: near.labels(verb) for verb in _VERBS}
        registry.register(_Knowledge(extender, watch, recorder, server))

    def note(self, verb: str, answer: Answer, seconds: float, *, is_near: bool) -> None:
        """Count one call."""
        outcome = "timeout" if answer.is_late else "error" if answer.error else "success"
        self._requests[verb, outcome].inc()
        self._seconds[verb].observe(seconds)
        self._offered[verb].inc(answer.n_offered)
        self._kept[verb].inc(answer.n_kept)
        if is_near:
            self._near[verb].inc()
        if answer.plugin:
            self._plugin_errors.labels(verb, answer.plugin).inc()

    def note_unread(self, verb: str) -> None:
        """Count a call whose body did not come, or was refused."""
        self._requests[verb, "unread"].inc()


class _Knowledge(Collector):
    """What is read off the extender when a client asks; single numbers, so that no lock is needed."""

    def __init__(
        self, extender: Extender, watch: ClusterWatch | None, recorder: Recorder | None, server: Server | None
    ) -> None:
        self._extender = extender
        self._watch = watch
        self._recorder = recorder
        self._server = server

    def collect(self) -> Iterable[Metric]:
        """The current series."""
        extender = self._extender
        yield GaugeMetricFamily(
            "kubesched_extender_nodes_known", "Nodes in the cache.", extender.cluster_state.columns.n_nodes
        )
        yield CounterMetricFamily(
            "kubesched_extender_nodes_decoded",
            "Nodes of requests that were new or had changed.",
            extender.nodes.n_decoded,
        )
        yield CounterMetricFamily(
            "kubesched_extender_nodes_unknown",
            "Requested names that the watch had not shown.",
            extender.nodes.n_unknown,
        )
        if extender.binder is not None:
            yield GaugeMetricFamily(
                "kubesched_extender_assumed_pods",
                "Pods bound but not confirmed by the watch.",
                len(extender.binder.assumed()),
            )
        if extender.pods_in_flight is not None:
            yield CounterMetricFamily(
                "kubesched_extender_undecided_pods_given_up",
                "Pods that filter let pass and whose node was not known in time.",
                extender.pods_in_flight.n_given_up,
            )
        if self._server is not None:
            yield CounterMetricFamily(
                "kubesched_extender_tls_failures",
                "Connections whose TLS handshake failed.",
                self._server.n_refused_handshakes,
            )
        if self._recorder is not None:
            yield GaugeMetricFamily(
                "kubesched_extender_recording",
                "1 while calls are recorded, 0 after recording failed.",
                float(not self._recorder.error),
            )
        if self._watch is not None:
            yield from self._of_watch(self._watch)

    @staticmethod
    def _of_watch(watch: ClusterWatch) -> Iterable[Metric]:
        yield GaugeMetricFamily(
            "kubesched_cluster_cache_age_seconds",
            "Seconds since the last answer of the API server, for the stalest kind.",
            watch.age(),
        )
        synced = GaugeMetricFamily("kubesched_cluster_cache_synced", "1 after the first list.", labels=["kind"])
        events = CounterMetricFamily("kubesched_cluster_watch_events", "Changes received.", labels=["kind"])
        lists = CounterMetricFamily("kubesched_cluster_lists", "Lists started.", labels=["kind"])
        watches = CounterMetricFamily("kubesched_cluster_watches", "Watches started.", labels=["kind"])
        skipped = CounterMetricFamily(
            "kubesched_cluster_objects_skipped", "Objects that did not decode.", labels=["kind"]
        )
        restarts = CounterMetricFamily(
            "kubesched_cluster_watch_restarts", "Ends of lists and watches.", labels=["kind", "reason"]
        )
        for kind, reflector in watch.reflectors.items():
            counts = reflector.counts
            synced.add_metric([kind], float(reflector.synced.is_set()))
            events.add_metric([kind], counts.events)
            lists.add_metric([kind], counts.lists)
            watches.add_metric([kind], counts.watches)
            skipped.add_metric([kind], counts.skipped)
            for reason, n in list(counts.restarts.items()):
                restarts.add_metric([kind, reason.value], n)
        yield from (synced, events, lists, watches, skipped, restarts)
