"""The calls over HTTP: where they go, what refuses them, what is counted, logged and recorded of each."""

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from kubesched.api import EventType, WatchEvent
from kubesched.extender import Extender, ExtenderService, Recorder, read_recording, service
from kubesched.extender.extender_metrics import ExtenderMetrics
from kubesched.extender.paths import VerbPaths
from kubesched.extender.recording import RecordedWatch
from kubesched.extender.service import add_routes
from kubesched.framework import Plugin, Status
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.extender.asking import encode, node, pod, with_nodes
from tests.extender.test_plugin_extender import Reserves, Strikes, Writes
from tests.extender.virtual_time import LoopClock
from tests.serving.running import connected, new_server, serving

BUDGET = 4.0
TWO = with_nodes(node("n1"), node("n2"))
MANY = with_nodes(*(node(f"n{i}") for i in range(600)))


class Time:
    """The clock of the service; plugins move it."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds

    time = monotonic


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr(service, "time", found)
    return found


class Likes(Plugin):
    """Does what a test says before it answers."""

    doing: Callable[[], Any] = staticmethod(lambda: None)

    def filter(self, state, pod, node):
        if node.name in ("n1", "n599"):
            type(self).doing()
        return Status.unresolvable("even") if node.name == "n2" else Status.SUCCESS

    def score(self, state, pod, node):
        type(self).doing()
        return 100


def doing(what: Callable[[], Any]) -> type[Plugin]:
    return type("Likes", (Likes,), {"doing": staticmethod(what)})


class Served:
    """A service on a port, and what is counted of it."""

    def __init__(self, *plugins: type[Plugin], is_ready: bool = True, recorder: Any = None, **options: Any) -> None:
        setup = set_up(None, plugins or (Likes,), default_plugins=False)
        options = {"clock": LoopClock(), "is_watched": False} | options
        self.extender = Extender(setup, **options)
        self.app = web.Application()
        self.server = new_server(app=self.app)
        self.registry = CollectorRegistry()
        self.service = ExtenderService(
            self.extender,
            self.server.bodies,
            ExtenderMetrics(self.registry, self.extender, None),
            budget_seconds=BUDGET,
            recorder=recorder,
            describe=lambda: {"cacheAgeSeconds": 0.5},
        )
        add_routes(self.app, self.service, VerbPaths(self.extender.singles))
        if is_ready:
            self.service.unready = ""

    @asynccontextmanager
    async def connected(self):
        async with serving(self.server), connected(self.server) as client:
            yield client

    def count(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(f"kubesched_extender_{name}", labels) or 0.0


def asked(*calls: tuple[str, bytes], served: Callable[[], Served] = Served) -> tuple[list[tuple[int, Any]], Served]:
    """The answers to some calls on one connection: status, and the document or the text."""

    async def story() -> tuple[list[tuple[int, Any]], Served]:
        made = served()
        answers = []
        async with made.connected() as client:
            for path, body in calls:
                status, headers, text = await client.ask("POST" if body else "GET", path, body)
                is_json = headers["content-type"].startswith("application/json")
                answers.append((status, json.loads(text) if is_json else text))
        return answers, made

    return asyncio.run(asyncio.wait_for(story(), 20))


# --- routes ---


@pytest.mark.parametrize("path", ["/filter", "//filter", "/predicates/Likes"])
def test_filter_is_answered_where_samples_have_it(path: str):
    ((status, answer),), _ = asked((path, TWO))
    assert status == 200
    assert [one["metadata"]["name"] for one in answer["Nodes"]["items"]] == ["n1"]
    assert answer["FailedAndUnresolvableNodes"] == {"n2": "even"}


@pytest.mark.parametrize("path", ["/prioritize", "/priorities/Likes"])
def test_prioritize_is_answered_where_samples_have_it(path: str):
    assert asked((path, TWO))[0] == [(200, [{"Host": "n1", "Score": 10}, {"Host": "n2", "Score": 10}])]


@pytest.mark.parametrize("path", ["/preempt", "/preemption"])
def test_preempt_is_answered_where_samples_have_it(path: str):
    body = encode({"Pod": pod(), "NodeNameToVictims": {"n1": {"Pods": [pod("v")], "NumPDBViolations": 0}}})
    assert asked((path, body), served=lambda: Served(Strikes))[0] == [(200, {"NodeNameToMetaVictims": {}})]


def test_a_plugin_that_is_not_served_is_told_with_those_that_are():
    ((status, text),), _ = asked(("/predicates/Lieks", TWO))
    assert (status, text) == (404, "no plugin named 'Lieks'; expected one of Likes\n")


def test_bind_without_plugins_that_bind_says_how_to_have_it():
    ((status, text),), _ = asked(("/bind", b"{}"))
    assert status == 404
    assert "start it with --bind" in text


def bound(plugin: type[Plugin] = Reserves, writes: Writes | None = None, **options: Any) -> Served:
    made = Served(plugin, is_watched=True, writes=writes or Writes(), **options)
    shown = (make_node("n1"), make_pod("p"))
    made.extender.apply(WatchEvent(EventType.ADDED, type(one).__name__, one) for one in shown)
    return made


def test_bind_is_answered_and_shown():
    body = encode({"PodName": "p", "PodNamespace": "default", "PodUID": make_pod("p").uid, "Node": "n1"})
    (_, (status, shown)), made = asked(("/bind", body), ("/inspect", b""), served=bound)
    assert status == 200
    assert shown["assumedPods"] == [{"pod": "default/p", "node": "n1"}]
    assert [call["verb"] for call in shown["calls"]] == ["bind"]
    assert made.count("requests_total", verb="bind", outcome="success") == 1
    assert made.count("assumed_pods") == 1


# --- /inspect ---


def test_inspect_shows_what_is_known_and_what_was_done_last():
    calls = [("/filter", TWO), ("/prioritize", TWO), ("/filter", b"{}"), ("/inspect", b"")]
    ((*_, (status, shown))), _ = asked(*calls)
    assert status == 200
    assert (shown["ready"], shown["unready"], shown["verbs"]) == (True, "", ["filter", "prioritize"])
    assert (shown["nodes"], shown["assumedPods"], shown["cacheAgeSeconds"]) == (2, [], 0.5)
    failed, scored, filtered = shown["calls"]
    assert (filtered["pod"], filtered["nodesOffered"], filtered["nodesKept"]) == ("d/p", 2, 1)
    assert (scored["verb"], scored["at"], scored["milliseconds"]) == ("prioritize", 1000.0, 0.0)
    assert failed["error"]
    assert "error" not in filtered


@pytest.mark.parametrize(
    ("remote", "name", "is_shown"),
    [
        ("127.0.0.1", "", True),
        ("127.8.8.8", "", True),
        ("::1", "", True),
        ("10.0.0.7", "", False),
        ("nonsense", "", False),
        (None, "", False),
        ("10.0.0.7", "ops", True),
    ],
)
def test_inspect_is_for_certificates_and_those_on_this_machine(remote: str | None, name: str, is_shown: bool):
    certificate = {"subject": ((("commonName", name),),)} if name else None
    request: Any = SimpleNamespace(remote=remote, get_extra_info=lambda key: certificate)
    if is_shown:
        assert asyncio.run(Served().service.inspect(request)).status == 200
    else:
        with pytest.raises(web.HTTPForbidden) as refused:
            asyncio.run(Served().service.inspect(request))
        assert refused.value.text == "/inspect answers only clients with a certificate and clients on this machine\n"


# --- what goes wrong ---


def test_until_it_is_ready_every_call_is_refused_in_its_own_form(tmp_path: Path):
    def served() -> Served:
        return Served(Likes, is_ready=False, recorder=Recorder(tmp_path))

    (filtered, scored), _ = asked(("/filter", TWO), ("/prioritize", TWO), served=served)
    said = "kubesched extender: not ready: starting"
    assert (filtered[0], filtered[1]["Error"], filtered[1]["Nodes"]) == (200, said, None)
    assert scored == (500, f"{said}\n")
    assert list(read_recording(tmp_path)) == [RecordedWatch(())]


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (lambda: 1 / 0, "Likes"),
        (lambda: sys.exit(0), 'running "Likes" filter plugin: SystemExit: 0'),
        (lambda: raise_(KeyboardInterrupt()), "kubesched extender: a plugin raised KeyboardInterrupt"),
        (lambda: raise_(asyncio.CancelledError()), 'running "Likes" filter plugin: CancelledError'),
    ],
)
def test_nothing_that_a_plugin_raises_ends_more_than_its_call(raised: Callable[[], Any], said: str):
    n_asked = iter(range(100))

    def first() -> None:
        if next(n_asked) == 0:
            raised()

    (failed, answered), made = asked(("/filter", TWO), ("/filter", TWO), served=lambda: Served(doing(first)))
    assert said in failed[1]["Error"]
    assert answered[1]["Error"] == ""
    assert made.count("requests_total", verb="filter", outcome="error") == 1
    assert made.count("requests_total", verb="filter", outcome="success") == 1


def raise_(error: BaseException) -> None:
    raise error


class Mute(Exception):
    """Its text cannot be had."""

    def __str__(self):
        raise ValueError("no words")

    __repr__ = __str__


def mute(hook: str, *, answers: bool) -> type[Plugin]:
    """A plugin whose hook raises or answers something that cannot be shown."""

    def misbehaving(self: Plugin, *given: Any) -> Any:
        if answers:
            return Mute()
        raise Mute

    return type("Faulty", (Plugin,), {hook: misbehaving})


CALLS = {
    "filter": TWO,
    "prioritize": TWO,
    "preempt": encode({"Pod": pod(), "NodeNameToVictims": {"n1": {"Pods": [pod("v")], "NumPDBViolations": 0}}}),
    "bind": encode({"PodName": "p", "PodNamespace": "default", "PodUID": make_pod("p").uid, "Node": "n1"}),
}


@pytest.mark.parametrize("answers", [False, True])
@pytest.mark.parametrize(
    ("verb", "hook"),
    [
        ("filter", "pre_filter"),
        ("filter", "filter"),
        ("filter", "filter_nodes"),
        ("prioritize", "pre_score"),
        ("prioritize", "score"),
        ("prioritize", "score_nodes"),
        ("preempt", "preempt"),
        ("bind", "reserve"),
        ("bind", "permit"),
        ("bind", "pre_bind"),
        ("bind", "bind"),
    ],
)
def test_a_fault_that_cannot_be_shown_is_the_plugins(
    verb: str, hook: str, answers: bool, caplog: pytest.LogCaptureFixture
):
    plugin = mute(hook, answers=answers)
    if hook == "pre_score":
        plugin.score = lambda self, *given: 1
    ((_, answer),), made = asked((f"/{verb}", CALLS[verb]), served=lambda: bound(plugin))
    error = answer if isinstance(answer, str) else answer["Error"]
    assert "Faulty" in error
    assert "internal error" not in error
    assert made.count("plugin_errors_total", verb=verb, plugin="Faulty") == 1
    assert [record.levelname for record in caplog.records if record.name == "kubesched.extender"] == ["WARNING"]


def test_a_plugin_that_rejects_a_binding_has_no_error():
    class Refuses(Plugin):
        def reserve(self, state, pod, node_name):
            return Status.unschedulable("taken")

    ((_, answer),), made = asked(("/bind", CALLS["bind"]), served=lambda: bound(Refuses))
    assert answer["Error"] == "taken"
    assert made.count("requests_total", verb="bind", outcome="error") == 1
    assert made.count("plugin_errors_total", verb="bind", plugin="Refuses") in (None, 0)


def test_a_text_that_utf8_cannot_carry_is_escaped():
    ((_, answer),), _ = asked(
        ("/filter", TWO), served=lambda: Served(doing(lambda: raise_(KeyboardInterrupt("\udce9"))))
    )
    assert answer["Error"].startswith(
        "kubesched extender: a plugin raised KeyboardInterrupt: \\udce9 (test_service.py:"
    )


def test_a_fault_of_our_own_is_told_and_logged(caplog: pytest.LogCaptureFixture):
    def broken() -> Served:
        made = Served()
        made.extender.verbs.filter = lambda body, checkpoint: 1 / 0
        return made

    ((status, answer),), _ = asked(("/filter", TWO), served=broken)
    assert status == 200
    assert answer["Error"].startswith("kubesched extender: internal error: ZeroDivisionError")
    assert "filter failed" in caplog.text


# --- time ---


def passing(clock: Time, seconds: float) -> type[Plugin]:
    def pass_time() -> None:
        clock.seconds += seconds

    return doing(pass_time)


def test_what_comes_after_the_time_is_a_timeout_and_not_a_success(clock: Time, caplog: pytest.LogCaptureFixture):
    ((_, answer),), made = asked(("/filter", TWO), served=lambda: Served(passing(clock, 5.0)))
    assert (answer["Error"], answer["Nodes"]) == ("kubesched extender: no answer within 4s", None)
    assert made.count("requests_total", verb="filter", outcome="timeout") == 1
    assert made.count("requests_total", verb="filter", outcome="success") == 0
    assert made.count("near_deadline_total", verb="filter") == 1
    assert made.count("nodes_total", verb="filter", what="kept") == 0
    assert made.count("request_duration_seconds_sum", verb="filter") == 5.0
    assert "filter d/p: kubesched extender: no answer within 4s" in caplog.text


class Slow(Plugin):
    """Takes its time for each node, and all of it for tables and plans."""

    clock: Time
    asked: list[str]

    def pass_time(self, name: str) -> None:
        self.asked.append(name)
        self.clock.seconds += 1.5

    def pre_filter(self, state, pod, nodes):
        return Status.SUCCESS


class SlowFilter(Slow):
    def filter(self, state, pod, node):
        self.pass_time(node.name)
        return Status.SUCCESS


class SlowScore(Slow):
    def score(self, state, pod, node):
        self.pass_time(node.name)
        return 1


class SlowTable(Slow):
    def filter_nodes(self, state, pod, nodes):
        self.clock.seconds += 5
        return np.zeros(len(nodes), dtype=np.int8)

    def score_nodes(self, state, pod, nodes):
        self.clock.seconds += 5
        return np.zeros(len(nodes), dtype=np.int64)


class SlowPlan(Slow):
    def preempt(self, state, pod, victims_by_node):
        self.clock.seconds += 5
        return victims_by_node


PLAN = encode({"Pod": pod(), "NodeNameToVictims": {"n1": {"Pods": [pod("v")]}}, "NodeNameToMetaVictims": None})


@pytest.mark.parametrize(
    ("plugin", "path", "body", "n_asked"),
    [
        (SlowFilter, "/filter", MANY, 3),
        (SlowScore, "/prioritize", MANY, 3),
        (SlowTable, "/filter", MANY, 0),
        (SlowTable, "/prioritize", MANY, 0),
        (SlowPlan, "/preempt", PLAN, 0),
    ],
)
def test_nothing_is_begun_once_the_time_is_over(clock: Time, plugin, path: str, body: bytes, n_asked: int):
    timed = type("Timed", (plugin,), {"clock": clock, "asked": []})
    ((status, answer),), made = asked((path, body), served=lambda: Served(timed))
    text = answer["Error"] if status == 200 else answer
    assert text.strip() == "kubesched extender: no answer within 4s"
    assert made.count("requests_total", verb=path.strip("/"), outcome="timeout") == 1
    assert len(timed.asked) == n_asked


@pytest.mark.parametrize(("seconds", "outcome"), [(3.9, "success"), (4.1, "timeout")])
def test_a_binding_that_succeeds_after_the_time_is_a_timeout(seconds: float, outcome: str):
    class Hands:
        """A clock that plugins move."""

        at = 1000.0

        def monotonic(self) -> float:
            return self.at

        now = monotonic

    class SlowAtTheEnd(Reserves):
        def post_bind(self, state, pod, node_name):
            hands.at += seconds

    hands, writes = Hands(), Writes()
    ((status, answer),), made = asked(("/bind", CALLS["bind"]), served=lambda: bound(SlowAtTheEnd, writes, clock=hands))
    late = (
        "binding default/p: no outcome after 4s; if the API server has accepted the Binding, the pod is "
        "bound nevertheless"
    )
    assert (status, answer["Error"]) == (200, "" if outcome == "success" else late)
    assert made.count("requests_total", verb="bind", outcome=outcome) == 1
    assert len(writes.bindings) == made.count("assumed_pods") == 1


@pytest.mark.parametrize(("seconds", "n_near"), [(3.1, 0), (3.3, 1)])
def test_more_than_four_fifths_of_the_time_is_near(clock: Time, seconds: float, n_near: int):
    _, made = asked(("/filter", TWO), served=lambda: Served(passing(clock, seconds)))
    assert made.count("near_deadline_total", verb="filter") == n_near


@pytest.mark.parametrize("allow", [False, True])
def test_a_call_whose_time_is_over_fails_or_lets_all_nodes_pass(clock: Time, allow: bool):
    served = lambda: Served(passing(clock, 5.0), allow_on_timeout=allow)  # noqa: E731
    ((status, answer),), made = asked(("/filter", MANY), served=served)
    said = "kubesched extender: no answer within 4s"
    assert (status, answer["Error"]) == (200, "" if allow else said)
    assert len((answer["Nodes"] or {"items": ()})["items"]) == (600 if allow else 0)
    assert made.count("requests_total", verb="filter", outcome="timeout") == 1


# --- what is written down ---


def test_bodies_are_logged_at_debug_only_and_without_secrets(caplog: pytest.LogCaptureFixture):
    secret = pod(containers=[{"name": "c", "env": [{"name": "PASSWORD", "value": "s3cret"}]}])
    call = ("/filter", with_nodes(node("n1"), pod=secret))
    caplog.set_level(logging.INFO)
    asked(call)
    assert "request:" not in caplog.text
    caplog.set_level(logging.DEBUG, "kubesched.extender")
    asked(call)
    assert 'filter request: {"Pod"' in caplog.text
    assert "filter answer: {" in caplog.text
    assert "filter d/p: 1 of 1 nodes, 0.000 s" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_body_of_any_depth_is_answered_at_debug(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG, "kubesched.extender")
    deep = [b'{"Pod":{"spec":%b0%b},"NodeNames":["n1"]}' % (b"[" * depth, b"]" * depth) for depth in (500, 100_000)]
    answers, _ = asked(*(("/filter", body) for body in deep))
    assert [status for status, _ in answers] == [200, 200]
    assert all(answer["Error"] for _, answer in answers)
    assert 'filter request: {"Pod":{"spec":"[hidden]"},"NodeNames":["n1"]}' in caplog.text


def test_calls_are_recorded_with_their_answers(tmp_path: Path):
    with Recorder(tmp_path) as recorder:
        asked(("/filter", TWO), ("/predicates/Likes", b"?"), served=lambda: Served(Likes, recorder=recorder))
    _, first, second = read_recording(tmp_path)
    assert (first.path, first.request, first.status) == ("/filter", TWO, 200)
    assert json.loads(first.answer)["FailedAndUnresolvableNodes"] == {"n2": "even"}
    assert (second.path, second.request) == ("/predicates/Likes", b"?")


def test_a_plugin_at_fault_is_counted():
    _, made = asked(("/prioritize", TWO), served=lambda: Served(doing(lambda: 1 / 0)))
    assert made.count("plugin_errors_total", verb="prioritize", plugin="Likes") == 1
    assert made.count("in_flight") == 0
