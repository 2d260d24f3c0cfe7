"""Recorded calls against other plugins: what differs, in sentences, and what is not played."""

import json
from pathlib import Path
from typing import Any

import pytest

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.errors import InputError, PluginError, StateError
from kubesched.extender import Answer, Extender, Recorder, Replayed, replay
from kubesched.framework import Plugin, Status
from kubesched.setup import Setup, set_up
from kubesched.testing import make_node, make_pod
from tests.extender.asking import encode, in_time, node, pod, with_names, with_nodes
from tests.extender.virtual_time import LoopClock

NODES = [f"n{i}" for i in range(8)]
WHOLE = with_nodes(*map(node, NODES))
NAMES = with_names(*NODES)
PREEMPT = encode(
    {"Pod": pod(), "NodeNameToVictims": {name: {"Pods": [pod("v")], "NumPDBViolations": 0} for name in ("n1", "n2")}}
)


class Choice(Plugin):
    """Says what its class says."""

    rejected: tuple[str, ...] = ("n1",)
    reason = "not here"
    scores: dict[str, int] = {}
    struck: tuple[str, ...] = ()

    def filter(self, state, pod, node):
        return Status.unresolvable(self.reason) if node.name in self.rejected else Status.SUCCESS

    def score(self, state, pod, node):
        return self.scores.get(node.name, 50)

    def preempt(self, state, pod, victims_by_node):
        return {name: victims for name, victims in victims_by_node.items() if name not in self.struck}


def choice(**says: Any) -> Setup:
    return set_up(None, [type("Choice", (Choice,), says)], default_plugins=False)


def record(folder: Path, *calls: tuple[str, bytes], watched: tuple[KubeObject, ...] | None = None) -> Path:
    """Calls as the plugin Choice answers them."""
    is_watched = watched is not None
    extender = Extender(choice(), clock=LoopClock(), is_watched=is_watched)
    with Recorder(folder, ("Node", "Pod") if is_watched else ()) as recorder:
        events = [WatchEvent(EventType.ADDED, type(one).__name__, one) for one in watched or ()]
        recorder.events(events)
        extender.apply(events)
        for path, body in calls:
            verb, _, name = path.strip("/").partition("/")
            verbs = extender.singles[name] if name else extender.verbs
            known = {"predicates": "filter", "priorities": "prioritize", "preemption": "preempt"}
            recorder.call(path, body, getattr(verbs, known.get(verb, verb))(body, in_time))
    return folder


def differences(folder: Path, **says: Any) -> list[str]:
    """What differs in the only call."""
    (one,) = replay(choice(**says), folder)
    assert (one.number, one.pod, one.is_skipped) == (1, "d/p", False)
    return list(one.differences)


PATHS = ["/filter", "/prioritize", "/preempt", "/predicates/Choice", "/priorities/Choice", "/preemption"]


def body_for(path: str) -> bytes:
    return PREEMPT if "preempt" in path else WHOLE


def test_the_same_plugins_answer_the_same(tmp_path: Path):
    record(tmp_path, *((path, body_for(path)) for path in PATHS), ("/filter", b"{}"), ("/prioritize", b"{}"))
    played = list(replay(choice(), tmp_path))
    assert [one.number for one in played] == list(range(1, 9))
    assert [one.verb for one in played] == ["filter", "prioritize", "preempt"] * 2 + ["filter", "prioritize"]
    assert not any(one.differences or one.is_skipped for one in played)


@pytest.mark.parametrize(
    ("says", "sentences"),
    [
        ({"rejected": ("n1", "n2")}, ["rejected now: n2"]),
        ({"rejected": ()}, ["pass now: n1"]),
        ({"reason": "elsewhere"}, ["FailedAndUnresolvableNodes with another message: n1"]),
        ({"rejected": tuple(NODES)}, ["rejected now: n0, n2, n3, n4, n5 and 2 more"]),
        ({"scores": {"n1": 99}}, []),
    ],
)
@pytest.mark.parametrize("path", ["/filter", "/predicates/Choice"])
def test_other_filters_differ_by_nodes(tmp_path: Path, path: str, says: dict[str, Any], sentences: list[str]):
    assert differences(record(tmp_path, (path, WHOLE)), **says) == sentences


def test_a_rejection_that_changes_its_kind_is_told(tmp_path: Path):
    record(tmp_path, ("/filter", WHOLE))

    def rejects(self, state, pod, node):
        return Status.unschedulable("not here") if node.name == "n1" else Status.SUCCESS

    assert differences(tmp_path, filter=rejects) == [
        "now in FailedNodes: n1",
        "no longer in FailedAndUnresolvableNodes: n1",
    ]


def test_other_scores_are_told_by_node(tmp_path: Path):
    record(tmp_path, ("/prioritize", WHOLE))
    assert differences(tmp_path, scores={"n1": 99, "n2": 54, "n3": 0}) == ["other scores: n1 5 -> 10, n3 5 -> 0"]


def test_other_candidates_for_preemption_are_told(tmp_path: Path):
    record(tmp_path, ("/preempt", PREEMPT))
    assert differences(tmp_path, struck=("n1",)) == ["removed from preemption now: n1"]


def test_a_plugin_that_fails_now_is_told_in_its_words(tmp_path: Path):
    record(tmp_path / "filter", ("/filter", WHOLE))
    record(tmp_path / "score", ("/prioritize", WHOLE))

    def fails(self, state, pod, node):
        raise RuntimeError("boom")

    error, *nodes = differences(tmp_path / "filter", filter=fails)
    assert error == "error was '', is 'running \"Choice\" filter plugin: boom (test_call_replay.py:128 in fails)'"
    assert nodes[0].startswith("rejected now: n0, n2")
    assert differences(tmp_path / "score", score=fails) == ["status was 200, is 500"]


def test_a_failure_in_other_words_is_told(tmp_path: Path):
    with Recorder(tmp_path) as recorder:
        recorder.call("/prioritize", WHOLE, Answer([b"boom" * 500], status=500))

    def fails(self, state, pod, node):
        raise RuntimeError("bang")

    (sentence,) = differences(tmp_path, score=fails)
    assert sentence.startswith("was 'boomboom")
    assert "...', is 'running Score plugins: plugin \"Choice\" failed with: bang (test_call_replay.py:" in sentence


# --- with a watch ---


def test_what_the_watch_told_is_there_when_the_call_comes(tmp_path: Path):
    record(tmp_path, ("/filter", NAMES), watched=tuple(map(make_node, NODES)))
    assert differences(tmp_path) == []
    assert differences(tmp_path, rejected=()) == ["pass now: n1"]


def test_pods_that_the_watch_showed_are_seen_by_plugins(tmp_path: Path):
    record(tmp_path, ("/filter", NAMES), watched=(*map(make_node, NODES), make_pod("v", node="n5")))

    def rejects(self, state, pod, node):
        return Status.unresolvable("not here") if node.pods or node.name == "n1" else Status.SUCCESS

    assert differences(tmp_path, filter=rejects) == ["rejected now: n5"]


def test_plugins_that_read_more_than_was_watched_are_refused(tmp_path: Path):
    with Recorder(tmp_path, ("Node",)) as recorder:
        recorder.events([WatchEvent(EventType.ADDED, "Node", make_node("n1"))])
    with pytest.raises(InputError, match=r"the plugins read Pod, and .* recorded is only Node; record again"):
        differences(tmp_path)


def test_an_event_that_made_no_sense_then_is_passed_over_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    record(tmp_path, ("/filter", NAMES), watched=tuple(map(make_node, NODES)))
    apply = Extender.apply

    def complaining(self: Extender, events: Any) -> None:
        apply(self, events)
        raise StateError("this contradicts what is known")

    monkeypatch.setattr(Extender, "apply", complaining)
    assert differences(tmp_path) == []


# --- the life of plugins ---


def test_plugins_are_started_with_what_the_watch_had_shown_and_stopped(tmp_path: Path):
    record(tmp_path, ("/filter", NAMES), ("/filter", NAMES), watched=tuple(map(make_node, NODES)))
    seen: list[object] = []

    async def start(self, handle):
        self.rejected = ("n1",)
        seen.append(sum(1 for _ in handle.list("Node")))

    played = list(replay(choice(start=start, stop=lambda self: seen.append("stopped"), rejected=None), tmp_path))
    assert [one.differences for one in played] == [(), ()]
    assert seen == [8, "stopped"]


def test_a_plugin_that_does_not_start_ends_it(tmp_path: Path):
    def start(self, handle):
        raise OSError("no table")

    with pytest.raises(PluginError, match=r'^starting plugin "Choice": OSError: no table \(test_call_replay'):
        list(replay(choice(start=start), record(tmp_path, ("/filter", WHOLE))))


# --- what is not played ---


def test_binds_calls_of_others_and_late_answers_are_left_out(tmp_path: Path):
    with Recorder(tmp_path) as recorder:
        recorder.call("/bind", b"{}", Answer([b'{"Error":""}']))
        recorder.call("/predicates/Gone", WHOLE, Answer([b"{}"]))
        recorder.call("/filter", WHOLE, Answer([b'{"Error":"no answer within 4s"}'], is_late=True))
        recorder.call("/frob", b"", Answer([b""]))
    played = list(replay(choice(), tmp_path))
    assert played == [
        Replayed(number, verb, is_skipped=True) for number, verb in enumerate(("bind", "filter", "filter", "frob"), 1)
    ]


@pytest.mark.parametrize(
    "answer", [b"null", b"[]", b"3", b"not json", b'{"FailedNodes":3}', b'{"Nodes":{"items":[{}]}}']
)
@pytest.mark.parametrize("path", ["/filter", "/prioritize", "/preempt"])
def test_an_answer_that_somebody_changed_is_a_difference(tmp_path: Path, path: str, answer: bytes):
    with Recorder(tmp_path) as recorder:
        recorder.call(path, body_for(path), Answer([answer]))
    assert differences(tmp_path)


def test_answers_that_say_the_same_in_other_bytes_are_the_same(tmp_path: Path):
    record(tmp_path / "rec", ("/filter", WHOLE))
    text = (tmp_path / "rec" / "recording.jsonl").read_text().splitlines()
    call = json.loads(text[1])
    call["call"]["answer"] = dict(reversed(call["call"]["answer"].items()))
    (tmp_path / "other.jsonl").write_text(f"{text[0]}\n{json.dumps(call)}\n")
    assert differences(tmp_path / "other.jsonl") == []


def test_an_empty_recording_is_refused(tmp_path: Path):
    (tmp_path / "recording.jsonl").touch()
    with pytest.raises(InputError, match="the recording is empty"):
        list(replay(choice(), tmp_path))
