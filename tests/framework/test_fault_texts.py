"""What plugins raise and answer, as text: for every hook, also where a `__str__` or a `__repr__` fails itself."""

import logging
import re
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest

from kubesched.errors import PluginError
from kubesched.framework import Plugin, Status, Verdicts, answer_text, fault_place, fault_text, in_one_line
from kubesched.serving import set_up_logging
from kubesched.session import PodState, Simulator
from kubesched.testing import make_node, make_pod, minimal_profile
from tests.framework.test_faulty_plugins import (
    KEPT,
    Log,
    answers,
    closed_for,
    faulty,
    hinting,
    outcome,
    refused,
    rows,
    run,
    watcher,
)


def fails(self: object) -> Any:
    raise ValueError("no words")


class Mute(Exception):
    """Has no text, and no repr."""

    __str__ = __repr__ = fails


class Numeric(RuntimeError):
    """Its text is not a text."""

    def __str__(self):
        return 3  # noqa: PLE0307


class Blank:
    """An answer that cannot be shown."""

    __repr__ = fails


MUTE = "Mute: <exception str() failed>"
BLANK = "a Blank, whose repr() failed"


def raises_mute(*given: Any) -> Any:
    raise Mute


async def raises_mute_late() -> Any:
    raise Mute


# --- the words ---


@pytest.mark.parametrize(
    ("error", "text", "line"),
    [
        (RuntimeError("boom\ntwice"), "boom\ntwice", "RuntimeError: boom twice"),
        (RuntimeError(), "RuntimeError", "RuntimeError"),
        (KeyError("zone"), "KeyError: 'zone'", "KeyError: 'zone'"),
        (Mute(), MUTE, MUTE),
        (Numeric(), "Numeric: <exception str() failed>", "Numeric: <exception str() failed>"),
        (ValueError(Blank()), "ValueError: <exception str() failed>", "ValueError: <exception str() failed>"),
    ],
)
def test_an_exception_has_a_text_whatever_its_str_does(error: Exception, text: str, line: str):
    assert (fault_text(error), in_one_line(error)) == (text, line)


@pytest.mark.parametrize(
    ("answer", "text"),
    [(None, "None"), ("x" * 200, "'" + "x" * 79), (Blank(), BLANK), ((Blank(),), "a tuple, whose repr() failed")],
)
def test_an_answer_has_a_text_whatever_its_repr_does(answer: object, text: str):
    assert answer_text(answer) == text


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("error", [Mute(), Numeric(), ValueError("caf\udce9")])
def test_a_stack_trace_of_it_is_logged(error: Exception, as_json: bool):
    stream = StringIO()
    root = logging.getLogger()
    before = root.handlers[:], root.level
    set_up_logging({}, as_json=as_json, stream=stream)
    try:
        logging.getLogger("kubesched.test").error("filter failed", exc_info=error)
    finally:
        root.handlers[:], root.level = before[0], before[1]
    assert stream.getvalue().startswith('{"time"' if as_json else "2")
    assert type(error).__name__ in stream.getvalue()


# --- every hook ---

HOOKS: list[tuple[str, Any, dict[str, Any]]] = [
    ("pre_filter", Status.SUCCESS, {}),
    ("filter", Status.SUCCESS, {}),
    ("filter_nodes", rows(0), {}),
    ("pre_score", Status.SUCCESS, {}),
    ("score", 1, {}),
    ("score_nodes", rows(1), {}),
    ("normalize_score", lambda state, pod, scores: scores, {"score_nodes": lambda self, *given: rows(3)(*given)}),
    ("reserve", Status.SUCCESS, {}),
    ("permit", Status.SUCCESS, {}),
    ("pre_bind", Status.SUCCESS, {}),
    ("pre_bind_pre_flight", Status.SUCCESS, {"pre_bind": lambda self, *given: Status.SUCCESS}),
    ("bind", Status.SUCCESS, {}),
    ("sort_key", lambda queued: (queued.timestamp,), {}),
]
SHOW_ANSWERS = {"pre_filter", "filter_nodes", "pre_score", "score_nodes", "normalize_score", "reserve", "permit"}
SHOW_ANSWERS |= {"pre_bind", "pre_bind_pre_flight", "bind", "sort_key"}  # of the others the plugin is named


@pytest.mark.parametrize(("hook", "good", "hooks"), HOOKS)
def test_an_exception_without_a_text_is_reported_for_every_hook(hook: str, good: Any, hooks: dict[str, Any]):
    bad = outcome(run(faulty(hook, raises_mute, good, **hooks)()))
    assert (bad.state, bad.reason) == (PodState.ERROR, "SchedulerError")
    assert bad.message.endswith(MUTE)
    assert '"Faulty"' in bad.message


@pytest.mark.parametrize(("hook", "good", "hooks"), HOOKS)
def test_an_answer_that_cannot_be_shown_is_reported_for_every_hook(hook: str, good: Any, hooks: dict[str, Any]):
    bad = outcome(run(faulty(hook, answers(Blank()), good, **hooks)()))
    assert (bad.state, bad.reason) == (PodState.ERROR, "SchedulerError")
    assert '"Faulty"' in bad.message or "Faulty must score" in bad.message
    assert hook not in SHOW_ANSWERS or bad.message.endswith(BLANK)


@pytest.mark.parametrize("hook", ["pre_bind", "bind"])
def test_a_coroutine_that_raises_one_is_reported(hook: str):
    bad = outcome(run(faulty(hook, raises_mute_late)()))
    assert (bad.reason, bad.message.endswith(MUTE)) == ("SchedulerError", True)


@pytest.mark.parametrize("reason", [Mute(), Blank(), Numeric()])
@pytest.mark.parametrize("hook", ["pre_filter", "filter", "reserve", "permit"])
def test_a_reason_that_cannot_be_shown_is_a_fault_of_the_plugin(hook: str, reason: Any):
    bad = outcome(run(faulty(hook, lambda: Status.unschedulable(reason))()))
    assert bad.reason == "SchedulerError"
    assert '"Faulty"' in bad.message


def test_a_meaning_and_a_part_that_fail_are_reported():
    def verdicts() -> Verdicts:
        return Verdicts(rows(1)(None, None, "ab"), raises_mute)

    hooks = {"depends_on": KEPT["depends_on"], "filter_nodes": lambda self, *given: rows(0)(*given)}
    for plugin in (faulty("filter_nodes", verdicts, rows(0)), faulty("filter_part", raises_mute, "", **hooks)):
        assert outcome(run(plugin())).message == f'running "Faulty" filter plugin: {MUTE}'


@pytest.mark.parametrize(("fault", "said"), [(raises_mute, MUTE), (answers(Blank()), BLANK)])
def test_what_gates_a_pod_is_reported(fault: Callable[[], Any], said: str):
    bad = outcome(run(faulty("pre_enqueue", fault)()))
    assert (bad.state, said in bad.message) == (PodState.NOT_TRIED, True)


@pytest.mark.parametrize(
    ("fault", "said"), [(raises_mute, MUTE), (answers(Blank()), BLANK), (answers((Blank(), 1)), "tuple")]
)
def test_a_post_filter_is_reported(fault: Callable[[], Any], said: str):
    closed = faulty("filter", answers(Status.unschedulable("bad")))
    plugin = faulty("post_filter", fault, lambda *given: (None, Status.unschedulable()))
    assert said in outcome(run(closed(), plugin())).message


def test_a_what_if_hook_is_reported():
    promised = make_pod("promised", priority=5, status={"nominatedNodeName": "n0"}, spec={"schedulingGates": []})
    adding = watcher(add_pods=lambda self, state, pod, changes: raises_mute() if pod.name == "bad" else None)
    closed = type("Closed", (Plugin,), {"filter": lambda self, state, pod, node: closed_for(pod)})()
    report = Simulator([make_node("n0"), promised, make_pod("bad")], [minimal_profile(closed, adding)]).run()
    messages = {placement.pod: placement.message for placement in report.placements}
    assert messages["default/bad"] == f'running AddPod on PreFilter plugin "Faulty": {MUTE}'


# --- what is logged and no more ---


def logged(plugin: Plugin) -> list[str]:
    """What is logged in a run that goes on without the plugin's answer."""
    log = Log()
    run(plugin, log=log)
    return log.warnings


def test_an_unreserve_a_post_bind_and_a_stop_are_logged():
    unreserve = faulty("unreserve", raises_mute, None, reserve=lambda self, state, pod, name: refused(pod))()
    (said,) = set(logged(unreserve))
    assert said.startswith(f"Unreserve plugin Faulty: {MUTE} (test_faulty_plugins.py:")
    (said,) = logged(faulty("post_bind", raises_mute, None)())
    assert said.startswith(f"PostBind plugin Faulty: {MUTE} (test_faulty_plugins.py:")
    stopping = type("Faulty", (Plugin,), {"stop": raises_mute, "filter": lambda self, *given: Status.SUCCESS})()
    (said,) = logged(stopping)
    assert said.startswith(f"stop of plugin Faulty: {MUTE} (test_fault_texts.py:")


@pytest.mark.parametrize(("fault", "said"), [(raises_mute, MUTE), (answers(Blank()), BLANK)])
def test_a_hint_and_a_comparison_are_logged(fault: Callable[[], Any], said: str):
    assert said in logged(hinting(lambda pod, old, new: fault()))[0]
    comparing = type("Faulty", (Plugin,), {"less": lambda self, a, b: fault()})()
    assert said in logged(comparing)[0]


def test_sort_keys_that_cannot_be_shown_are_logged():
    class Odd(Blank):
        def __lt__(self, other):
            raise TypeError

    plugin = faulty("sort_key", lambda: (Odd(),), lambda queued: (1,))()
    assert logged(plugin) == ["QueueSort plugin Faulty: cannot compare a tuple, whose repr() failed with (1,)"]


@pytest.mark.parametrize(("answer", "said"), [(raises_mute, MUTE), (lambda self: [Blank()], BLANK)])
def test_registrations_are_reported(answer: Callable[..., Any], said: str):
    plugin = type("Faulty", (Plugin,), {"events_to_register": answer})()
    with pytest.raises(PluginError, match=r'^events_to_register of plugin "Faulty": ') as raised:
        run(plugin)
    assert said in str(raised.value)


def test_a_start_is_reported():
    plugin = type("Faulty", (Plugin,), {"start": raises_mute, "filter": lambda self, *given: Status.SUCCESS})()
    with pytest.raises(PluginError, match=re.escape(f'starting plugin "Faulty": {MUTE} (test_fault_texts.py:')):
        run(plugin)


def test_something_foreign_that_is_awaited_is_reported():
    class Foreign:
        def __await__(self):
            yield Blank()

    async def waits() -> Status:
        await Foreign()
        return Status.SUCCESS

    assert outcome(run(faulty("pre_bind", waits)())).message.endswith(BLANK)


def test_the_place_of_a_fault_is_the_last_frame_of_the_plugin_s_file():
    with pytest.raises(ValueError, match="no words") as caught:
        parse_inside()
    assert fault_place(caught.value) == f"test_fault_texts.py:{fails.__code__.co_firstlineno + 1} in fails"


def parse_inside():
    fails(None)


def test_a_fault_that_no_plugin_raised_has_no_place():
    assert fault_place(None) == fault_place(ValueError("never raised")) == ""
