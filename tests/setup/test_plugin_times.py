"""A clock for plugins measures every hook of those that are not in-tree."""

import pytest

from kubesched.explanation import Explainer
from kubesched.framework import Plugin, Status
from kubesched.session import Session
from kubesched.setup import PluginClock, PluginTimes, set_up
from kubesched.testing import make_node, make_pod


class Ticking:
    """A clock that plugins move."""

    seconds = 0.0

    def __call__(self) -> float:
        return Ticking.seconds


class Slow(Plugin):
    """Takes a second in one of its hooks."""

    hook = ""

    def _take(self, hook: str) -> Status:
        Ticking.seconds += hook == Slow.hook
        return Status.SUCCESS

    def pre_enqueue(self, pod):
        return self._take("pre_enqueue")

    def pre_filter(self, state, pod, nodes):
        return self._take("pre_filter")

    def filter(self, state, pod, node):
        self._take("filter")
        return Status.unschedulable("no") if pod.name == "rejected" else Status.SUCCESS

    def post_filter(self, state, pod, diagnosis):
        self._take("post_filter")
        return None, Status.unschedulable()

    def score(self, state, pod, node):
        self._take("score")
        return 1

    def reserve(self, state, pod, node_name):
        return self._take("reserve")

    def permit(self, state, pod, node_name):
        return self._take("permit")

    def pre_bind(self, state, pod, node_name):
        return self._take("pre_bind")

    def explain_rejection(self, state, pod, node, status):
        self._take("explain_rejection")
        return ["because"]


HOOKS = ["pre_enqueue", "pre_filter", "filter", "post_filter", "score", "reserve", "permit", "pre_bind"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> PluginClock:
    monkeypatch.setattr(Ticking, "seconds", 0.0)
    return PluginClock(set_up(None, [Slow]).profiles, Ticking())


@pytest.mark.parametrize("hook", HOOKS)
def test_the_time_of_each_hook_counts(hook: str, clock: PluginClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slow, "hook", hook)
    objects = [make_node("n1"), make_node("n2"), make_pod("web"), make_pod("rejected")]
    with Session(objects, set_up(None, [Slow]).watched_by(clock)) as session:
        Ticking.seconds += 0.25
        session.schedule()
    times = clock.take()
    assert times.by_plugin == {"Slow": Ticking.seconds - 0.25} != {"Slow": 0.0}
    assert times.seconds == Ticking.seconds
    assert times.slowest == ("Slow", times.by_plugin["Slow"] / times.seconds)


def test_details_of_rejections_count(clock: PluginClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slow, "hook", "explain_rejection")
    with Explainer([make_node("n1"), make_pod("rejected")], set_up(None, [Slow]).watched_by(clock)) as explainer:
        explainer.explain("default/rejected")
        Ticking.seconds += 0.25
    times = clock.take()
    assert times.by_plugin["Slow"] == Ticking.seconds - 0.25 > 0


def test_what_was_taken_does_not_count_again(clock: PluginClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slow, "hook", "filter")
    with Session([make_node("n1"), make_pod("web")], set_up(None, [Slow]).watched_by(clock)) as session:
        session.schedule()
    clock.take()
    assert clock.take() == PluginTimes()


def test_in_tree_plugins_are_not_measured() -> None:
    assert PluginClock(set_up().profiles).plugins == frozenset()
    assert PluginClock(set_up(None, [Slow]).profiles).plugins == {"Slow"}


def test_times_of_several_runs_are_added() -> None:
    times = PluginTimes(2.0, {"A": 1.5}) + PluginTimes(1.0, {"B": 0.5})
    assert times == PluginTimes(3.0, {"A": 1.5, "B": 0.5})
    assert times.slowest is None
    assert (PluginTimes(2.0, {"A": 1.5}) + PluginTimes(0.5, {"A": 0.5})).slowest == ("A", 0.8)
    assert PluginTimes().slowest is None
