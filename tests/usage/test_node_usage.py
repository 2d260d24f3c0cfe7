import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from kubesched.api import EventType, KubeObject, WatchEvent, kind_of
from kubesched.errors import ConfigError
from kubesched.explanation import Explanation, explain
from kubesched.framework import Clock, Framework, QueueingHint, Services, VirtualClock
from kubesched.pages.explanations import explanation_page
from kubesched.scheduler import build_frameworks, straight
from kubesched.session import Simulator, attempt
from kubesched.setup import find_plugins, set_up
from kubesched.snapshot import ClusterObjects, load_snapshot, write_snapshot
from kubesched.state import ClusterState
from kubesched.testing import (
    FakeCluster,
    check_plugin,
    make_node,
    make_object,
    make_pod,
    minimal_profile,
    varied_scenario,
)
from kubesched.usage import NodeUsage
from kubesched.usage.samples import Sample, fresh_samples, time_of

METRICS = "metrics.k8s.io/v1beta1/NodeMetrics"
ROOM = {"cpu": "4", "memory": "8Gi"}
NODES = [make_node(name, allocatable=ROOM) for name in ("a", "b", "c")]
POD = make_pod("p", requests={"cpu": "1"})


def metrics(node: str, cpu: str, memory: str, seconds: int = 0, window: str = "20s") -> KubeObject:
    timestamp = f"2026-03-02T08:{seconds // 60:02}:{seconds % 60:02}Z"
    return make_object(METRICS, node, timestamp=timestamp, window=window, usage={"cpu": cpu, "memory": memory})


def plugin(**args: Any) -> NodeUsage:
    return NodeUsage(NodeUsage.Args(**args))


def scores(*objects: KubeObject, pods: Any = (), **args: Any) -> dict[str, int]:
    with FakeCluster(plugin(**args), nodes=NODES, pods=pods, objects=objects) as cluster:
        return cluster.score(POD)


MEASURED = [metrics("a", "1", "2Gi"), metrics("b", "123456789n", "6Gi"), metrics("c", "5", "1Gi")]


def test_the_scarcer_resource_decides() -> None:
    """a: 3 of 4 cores and 6 of 8Gi are free, 75%; b: 2 of 8Gi, 25%; c: nothing of 4 cores."""
    assert scores(*MEASURED) == {"a": 75, "b": 25, "c": 0}


def test_a_pod_counts_by_its_requests_until_a_sample_has_it() -> None:
    """a: 1 core and 2Gi are measured. A pod that requests 1 core and 3Gi leaves 2 of 4 cores and 3 of 8Gi, 37%."""
    placed = {"node": "a", "requests": {"cpu": "1", "memory": "3Gi"}}
    new = make_pod("new", **placed)
    assert scores(metrics("a", "1", "2Gi"), pods=[new])["a"] == 37
    late = make_pod("late", **placed, status={"startTime": "2026-03-02T07:59:50Z"})  # in the window of 20 s
    assert scores(metrics("a", "1", "2Gi"), pods=[late])["a"] == 37
    seen = make_pod("seen", **placed, status={"startTime": "2026-03-02T07:59:40Z"})
    assert scores(metrics("a", "1", "2Gi"), pods=[seen])["a"] == 75
    with FakeCluster(plugin(), nodes=NODES, pods=[new], objects=[metrics("a", "1", "2Gi")]) as cluster:
        assert cluster.score(POD)["a"] == 37
        started = make_pod("new", **placed, status={"startTime": "2026-03-02T08:00:00Z"})
        cluster.put(started)
        assert cluster.score(POD)["a"] == 37
        cluster.put(metrics("a", "2", "5Gi", seconds=30))
        assert cluster.score(POD)["a"] == 37
        cluster.put(metrics("a", "1", "4Gi", seconds=30))
        assert cluster.score(POD)["a"] == 50


STALE = [metrics("a", "1", "2Gi"), metrics("b", "1", "2Gi", seconds=121)]


@pytest.mark.parametrize(
    ("when_stale", "expected"),
    [("ignore", {"a": 50, "b": 75, "c": 100}), ("zero", {"a": 0, "b": 75, "c": 0}), ("reject", {"b": 75})],
)
def test_a_node_without_a_recent_sample_gets_what_the_argument_says(when_stale: str, expected: dict[str, int]) -> None:
    """a is stale, and its pod requests half of its cores; c has no sample."""
    half = make_pod("half", node="a", requests={"cpu": "2"}, status={"startTime": "2026-03-02T07:00:00Z"})
    assert scores(*STALE, pods=[half], when_stale=when_stale, stale_after="2m") == expected


def test_a_rejection_says_why() -> None:
    with FakeCluster(plugin(when_stale="reject"), nodes=NODES, objects=STALE) as cluster:
        assert cluster.filter(POD)["a"].message == "node(s) had no recent usage data"


def test_samples_become_stale_as_time_passes() -> None:
    clock, state = VirtualClock(), ClusterState()
    state.load([(kind_of(one), one) for one in (*NODES, metrics("a", "1", "2Gi"))])
    usage = plugin(when_stale="zero")
    (framework,) = build_frameworks([minimal_profile(usage)], state, Services(clock=clock)).values()
    usage.start(usage.handle)
    nodes = state.snapshot().nodes

    def score(seconds: float) -> int:
        clock.advance_to(1772438400 + seconds)  # 2026-03-02T08:00:00Z
        usage.score_part(None, POD)  # type: ignore[arg-type]
        return int(usage.score_nodes(None, POD, nodes)[0])  # type: ignore[arg-type]

    assert framework.has_scores
    assert [score(119), score(121)] == [75, 0]
    state.apply(WatchEvent(EventType.MODIFIED, "metrics.k8s.io/v1beta1/nodes", metrics("a", "2", "2Gi", seconds=60)))
    assert [score(122), score(181)] == [50, 0]


@pytest.mark.parametrize(("when_stale", "now"), [("zero", {"a": 0, "b": 50, "c": 0}), ("reject", {"b": 50})])
def test_a_profile_never_gets_the_answers_of_another_about_older_samples(when_stale: str, now: dict[str, int]) -> None:
    """The second of two equal profiles reads its first samples after the first profile's first, which are older."""
    state, services = ClusterState(), Services(clock=VirtualClock())
    state.load([(kind_of(one), one) for one in (*NODES, metrics("a", "1", "2Gi"))])
    profiles = [minimal_profile(plugin(when_stale=when_stale)) for _ in range(2)]
    profiles = [structs.replace(one, scheduler_name=str(i)) for i, one in enumerate(profiles)]
    first, second = build_frameworks(profiles, state, services).values()

    def answers(framework: Framework) -> dict[str, int]:
        scores = straight(attempt(framework, state.pod_info(POD))).scores
        assert scores is not None
        return dict(zip(scores.nodes.names, scores.total.tolist(), strict=True))

    assert answers(first)["a"] == 75
    for change, sample in ((EventType.DELETED, metrics("a", "1", "2Gi")), (EventType.ADDED, metrics("b", "2", "2Gi"))):
        state.apply(WatchEvent(change, kind_of(sample), sample))
    assert answers(second) == now


class WallClock(Clock):
    """A clock that is not virtual, at 2026-03-02T08:00:00Z."""

    def now(self) -> float:
        return 1772438400.0

    def monotonic(self) -> float:
        return 0.0


@pytest.mark.parametrize("seconds", [121, 3599, 999 * 60])
@pytest.mark.parametrize("clock", [WallClock(), VirtualClock()], ids=["live", "offline"])
def test_a_sample_from_the_future_is_left_out_and_the_others_count(
    clock: Clock, seconds: int, caplog: pytest.LogCaptureFixture
) -> None:
    def sample(node: str, at: int) -> KubeObject:
        time = datetime.fromtimestamp(1772438400 + at, UTC).isoformat()
        return make_object(METRICS, node, timestamp=time, usage={"cpu": "1", "memory": "2Gi"})

    state, usage = ClusterState(), plugin(when_stale="reject")
    samples = [sample("a", 0), sample("b", -1), sample("c", seconds)]
    state.load([(kind_of(one), one) for one in (*NODES, *samples)])
    build_frameworks([minimal_profile(usage)], state, Services(clock=clock))
    usage.start(usage.handle)
    for _ in range(2):
        usage.filter_part(None, POD)  # type: ignore[arg-type]
        usage._expires = -1.0
    assert list(usage._current()) == ["a", "b"]
    (said,) = [text for text in caplog.messages if "from the future" in text]
    assert "check the clocks of these nodes: c (2026-03-0" in said
    state.apply(WatchEvent(EventType.MODIFIED, "metrics.k8s.io/v1beta1/nodes", sample("c", 0)))
    assert list(usage._current()) == ["a", "b", "c"]
    (hint,) = (one.hint for one in usage.events_to_register())
    assert hint is not None
    assert hint(POD, samples[2], sample("c", 0)) is QueueingHint.QUEUE


def test_explain_counts_samples_from_the_future() -> None:
    objects = [*NODES, POD, metrics("a", "1", "2Gi"), metrics("b", "1", "2Gi"), metrics("c", "1", "2Gi", seconds=3000)]
    explanation = explain(objects, POD, set_up(None, [NodeUsage], {"NodeUsage": {"whenStale": "reject"}}))
    assert explanation.best == ["a", "b"]
    assert explanation.notes["NodeUsage"][1] == (
        "nodes without one (0 stale, 0 missing, 1 from the future) are rejected: c"
    )


def test_half_of_the_nodes_may_be_stale() -> None:
    samples = {str(n): Sample(1, 1, 1000.0 if n < 15 else 5000.0 + n) for n in range(20)}
    assert time_of(samples.values(), 120) == 5019.0
    assert len(fresh_samples(samples, 5019.0, 120)) == 5
    assert [time_of([Sample(1, 1, time) for time in times], 10) for times in ([], [7], [1, 99])] == [0, 7, 99]


def test_samples_of_nodes_that_are_gone_are_given_back() -> None:
    with FakeCluster(usage := plugin(), nodes=NODES, objects=MEASURED) as cluster:
        cluster.score(POD)
        cluster.remove(*MEASURED[1:])
        cluster.score(POD)
        assert list(usage._known) == list(usage._samples) == list(usage._fresh) == ["a"]


def test_a_sample_that_is_not_valid_is_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert scores(metrics("a", "much", "1Gi"), metrics("b", "1", "2Gi"), when_stale="zero") == {"a": 0, "b": 75, "c": 0}
    assert "NodeMetrics a is left out" in caplog.text


@pytest.mark.parametrize(
    "usage",
    [
        {"cpu": "1", "memory": "10E"},
        {"cpu": "1", "memory": "100Ei"},
        {"cpu": "1e60", "memory": "1Gi"},
        {"cpu": "9223372036854775807", "memory": "1Gi"},
        {"cpu": "1", "memory": "-5Gi"},
        {"cpu": "-1m", "memory": "1Gi"},
        {"cpu": "1", "memory": "1e400"},
        {"cpu": "1" * 200, "memory": "1Gi"},
    ],
    ids=repr,
)
def test_an_amount_that_no_node_can_use_is_left_out_with_a_warning(
    usage: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    assert scores(metrics("a", **usage), metrics("b", "1", "2Gi"), when_stale="zero") == {"a": 0, "b": 75, "c": 0}
    (said,) = [text for text in caplog.messages if "NodeMetrics a is left out" in text]
    assert "expected an amount that a node can use" in said
    assert len(said) < 250


def test_pods_that_ask_for_more_than_can_be_counted_leave_no_room() -> None:
    pods = [make_pod(f"p{n}", node="a", requests={"memory": str(2**63 - 1)}) for n in range(3)]
    assert scores(metrics("a", "1", "2Gi"), pods=pods)["a"] == 0


def test_a_new_sample_wakes_a_pod_only_if_there_was_none_or_a_stale_one() -> None:
    with FakeCluster(usage := plugin(when_stale="reject"), nodes=NODES):
        ((event, hint, *_),) = usage.events_to_register()
    assert event.label.startswith("nodes.v1beta1.metrics.k8s.io")
    assert hint is not None
    first, next_, late = (metrics("a", "1", "1Gi", seconds=seconds) for seconds in (0, 15, 400))
    answers = [hint(POD, None, first), hint(POD, first, next_), hint(POD, first, late)]
    assert answers == [QueueingHint.QUEUE, QueueingHint.SKIP, QueueingHint.QUEUE]


# --- explain ---


def test_explain_shows_the_coverage_and_the_age() -> None:
    setup = set_up(None, [NodeUsage], {"NodeUsage": {"whenStale": "zero"}})
    objects = [*NODES, POD, metrics("a", "1", "2Gi", seconds=50), metrics("b", "1", "2Gi", seconds=121)]
    explanation = explain(objects, POD, setup)
    (first, second) = explanation.notes["NodeUsage"]
    assert first == (
        "2 of 3 nodes have a recent sample from metrics.k8s.io, taken at 2026-03-02T08:02:01Z and up to 71 s earlier"
    )
    assert second == "nodes without one (0 stale, 1 missing) get the score 0: c"
    page = explanation_page(explanation)
    assert page.document["notes"][1] == {"plugin": "NodeUsage", "text": second}
    assert any(getattr(part, "text", "") == f"NodeUsage: {first}; {second}." for part in page.parts)


def test_offline_a_sample_is_as_old_as_it_was_when_the_snapshot_was_taken(tmp_path: Path) -> None:
    def explained(taken_at: str) -> Explanation:
        objects = ClusterObjects(
            (*NODES, POD, metrics("a", "1", "2Gi"), metrics("b", "2", "2Gi", seconds=20)),
            taken_at=datetime.fromisoformat(taken_at),
            listed_kinds=frozenset(["metrics.k8s.io/v1beta1/nodes"]),
        )
        write_snapshot(objects, tmp_path / "cluster.json")
        setup = set_up(None, [NodeUsage], {"NodeUsage": {"whenStale": "reject"}})
        return explain([*load_snapshot(tmp_path / "cluster.json")], "default/p", setup)

    fresh, stale = explained("2026-03-02T08:00:50Z"), explained("2026-03-02T09:00:00Z")
    assert fresh.best == ["a"]
    assert fresh.notes["NodeUsage"][0].endswith("and up to 20 s earlier; the newest is 30 s old")
    assert not stale.fits
    assert stale.notes["NodeUsage"] == (
        "0 of 3 nodes have a recent sample from metrics.k8s.io",
        "nodes without one (2 stale, 1 missing) are rejected: a, b, c",
    )


def test_a_fault_in_explain_data_is_logged_and_the_verdict_stays(caplog: pytest.LogCaptureFixture) -> None:
    class Silent(NodeUsage):
        def explain_data(self, state, pod):
            return 1 // 0

    explanation = explain([*NODES, POD, *MEASURED], POD, set_up(None, [Silent]))
    assert explanation.best[0] == "a"
    assert explanation.notes == {}
    assert 'running ExplainData plugin "Silent": ZeroDivisionError' in caplog.text


# --- the other sources ---


def listed(path: Path, **usage: tuple[str, str]) -> str:
    items = [
        {"metadata": {"name": name}, "usage": {"cpu": cpu, "memory": memory}} for name, (cpu, memory) in usage.items()
    ]
    path.write_text(json.dumps({"items": items}))
    return str(path)


def test_a_file_is_read_in_place_of_the_api_and_no_kind_is_watched(tmp_path: Path) -> None:
    path = listed(tmp_path / "usage.json", a=("1", "2Gi"))
    usage = plugin(path=path)
    assert usage.reads == ()
    assert plugin().reads == (f"{METRICS}?",)
    with FakeCluster(usage, nodes=NODES, objects=[metrics("b", "4", "8Gi")]) as cluster:
        assert cluster.score(POD) == {"a": 75, "b": 100, "c": 100}


def test_a_file_that_cannot_be_read_again_leaves_the_samples_and_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "usage.json"
    with FakeCluster(usage := plugin(path=listed(path, a=("1", "2Gi"))), nodes=NODES) as cluster:
        path.write_text("{")
        asyncio.run(usage.refresh())
        asyncio.run(usage.refresh())
        assert cluster.score(POD)["a"] == 75
        listed(path, a=("2", "2Gi"))
        asyncio.run(usage.refresh())
        assert cluster.score(POD)["a"] == 50
    assert len([text for text in caplog.messages if "usage.json" in text]) == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"staleAfter": "0s"}, "staleAfter: Invalid value"),
        ({"refreshSeconds": -1}, "refreshSeconds: Invalid value"),
        ({"whenStale": "keep"}, "whenStale"),
        ({"prometheus": {"url": "prometheus:9090"}}, "prometheus.url: Invalid value"),
        ({"prometheus": {"url": "http://p", "query": ""}}, "prometheus.query: Required value"),
        ({"prometheus": {"url": "http://p"}, "path": "x"}, "path: Invalid value"),
        ({"prometheus": {"url": "http://p", "querry": "up"}}, "querry"),
    ],
)
def test_arguments_that_are_not_valid_are_refused(args: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        set_up(None, [NodeUsage], {"NodeUsage": args})


# --- bundled ---

ENABLED = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: NodeUsage, weight: 5}]}}}]
"""


def test_a_configuration_enables_it_by_its_name() -> None:
    setup = set_up(ENABLED)
    assert setup.profiles[0].weights["NodeUsage"] == 5
    assert f"{METRICS}?" in setup.watched_kinds
    (placed,) = Simulator([*NODES, POD, *MEASURED], setup).run().placements
    assert placed.node == "a"


def test_a_plugin_of_the_user_may_have_its_name() -> None:
    other = type("NodeUsage", (NodeUsage,), {})
    assert find_plugins([other])["NodeUsage"].plugin_class is other


SCENARIO = varied_scenario().extended(objects=[metrics(f"n{i}", "1", "2Gi") for i in range(1, 5)])


@pytest.mark.parametrize("check", check_plugin(NodeUsage, args={"whenStale": "reject"}, scenario=SCENARIO), ids=str)
def test_contract(check: Any) -> None:
    check()
