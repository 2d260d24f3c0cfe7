"""Every answer that our extender can give, and what a stock kube-scheduler makes of it, in both modes.

One extender, one kube-scheduler and one crowd of pods for each mode: a pod's script says what the plugin answers for
it, so each pod is one combination. All are scheduled at once; the tests then look at what became of theirs.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.integration.cleaning import clear
from tests.integration.control_plane import ControlPlane
from tests.integration.extender_process import ExtenderProcess
from tests.integration.extender_stage import (
    BIND_OUTCOMES,
    N_NODES,
    NODES,
    SCORE_COMBINATIONS,
    STRIKE_COMBINATIONS,
    VERDICT_COMBINATIONS,
    Stage,
    fill,
    name_of,
)
from tests.integration.scheduler_process import SchedulerProcess

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

WORDS = {
    "unschedulable": "not now",
    "unresolvable": "never",
    "narrowed": "node(s) didn't satisfy plugin(s) [Scripted]",
}
ERRORS = {
    "error": 'running "Scripted" filter plugin: no list of devices',
    "raises": 'running "Scripted" filter plugin: ValueError: no device',
}

BIND_ERRORS = {
    "ok": "",
    "taken": "the device is taken",
    "raises": 'running Reserve plugin "ScriptedBinding": ValueError: no device',
    "late": 'running PreBind plugin "ScriptedBinding": no driver',
}


@pytest.fixture(scope="module", params=("names", "nodes"))
def stage(
    request: pytest.FixtureRequest, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """All pods of one mode after their first attempt."""

    def folder(name: str) -> Path:
        return tmp_path_factory.mktemp(name)

    clear(control_plane.client)
    fill(control_plane.client)
    plugins, options = ["Scripted"], []
    if request.param == "names":
        plugins += ["ScriptedBinding"]
        options = ["--kubeconfig", str(control_plane.kubeconfig(folder("kubeconfig") / "kubeconfig"))]
    started: list[ExtenderProcess | SchedulerProcess] = []
    try:
        extender = ExtenderProcess(folder("extender"), plugins, *options)
        started.append(extender)
        stanza = extender.stanza | {"weight": 1000}  # so that our scores outweigh kube-scheduler's own
        for ignorable, profile in ((False, "default-scheduler"), (True, "ignoring")):
            config = {
                "extenders": [stanza | {"ignorable": ignorable}],
                "profiles": [{"schedulerName": profile}],
                "podInitialBackoffSeconds": 60,
                "podMaxBackoffSeconds": 60,
            }
            started.append(SchedulerProcess(control_plane, folder(profile), config))
        yield Stage(request.param, extender, control_plane.client)
    finally:
        for process in reversed(started):
            process.stop()


# --- filter ---


def histogram(counts: Mapping[str, int]) -> str:
    parts = sorted(f"{n} {words}" for words, n in counts.items() if n)
    return f"0/{N_NODES} nodes are available: {', '.join(parts)}."


@pytest.mark.parametrize("verdicts", VERDICT_COMBINATIONS, ids="-".join)
def test_filter_answers(stage: Stage, verdicts: tuple[str, ...]) -> None:
    """Errors end the attempt, survivors are the choice, and of rejections preemption may help with one kind only."""
    name = name_of("verdicts", verdicts)
    words = WORDS if set(verdicts) != {"narrowed"} else {"narrowed": "node(s) didn't satisfy plugin Scripted"}
    by_node = dict(zip(NODES, verdicts, strict=True))
    fitting = [node for node, verdict in by_node.items() if verdict == "fits"]
    answers = stage.answers(name, "filter")
    assert answers
    if errors := {ERRORS[verdict] for verdict in verdicts if verdict in ERRORS}:
        reason, message = stage.refusal(name)
        assert (reason, without_place(message) in errors) == ("SchedulerError", True)
        assert {without_place(answer["Error"]) for answer in answers} <= errors
        assert all(answer["Nodes"] is answer["NodeNames"] is None for answer in answers)
        return
    for answer in answers:
        assert stage.survivors(answer) == fitting
        failed = {node: words[verdict] for node, verdict in by_node.items() if verdict == "unschedulable"}
        assert answer["FailedNodes"] == failed
        assert answer["FailedAndUnresolvableNodes"] == {
            node: words[verdict] for node, verdict in by_node.items() if node not in (*failed, *fitting)
        }
    if fitting:
        assert stage.node(name) in fitting
        return
    rejected = Counter(words[verdict] for verdict in verdicts)
    helped = rejected["not now"]
    before = histogram({**rejected, "node(s) didn't match Pod's node affinity/selector": N_NODES - 3})
    after = histogram(
        {
            "No preemption victims found for incoming pod": helped,
            "Preemption is not helpful for scheduling": N_NODES - helped,
        }
    )
    assert stage.refusal(name) == ("Unschedulable", f"{before} no new claims to deallocate, preemption: {after}")


def test_an_ignorable_extender_that_fails_a_filter_is_passed_over(stage: Stage) -> None:
    assert stage.answers("ignored-filter", "filter")[0]["Error"] == ERRORS["error"]
    assert stage.node("ignored-filter") in NODES


# --- prioritize ---


@pytest.mark.parametrize("verdicts", [one for one in VERDICT_COMBINATIONS if not set(one) & set(ERRORS)], ids="-".join)
def test_scores_are_asked_for_where_there_is_a_choice(stage: Stage, verdicts: tuple[str, ...]) -> None:
    asked = stage.answers(name_of("verdicts", verdicts), "prioritize")
    assert len(asked) == (verdicts.count("fits") > 1)


@pytest.mark.parametrize("scores", SCORE_COMBINATIONS, ids=str)
def test_prioritize_answers(stage: Stage, scores: tuple[int | None, ...]) -> None:
    """The best score wins; where kube-scheduler cannot read scores, it goes on without them."""
    name = name_of("scores", scores)
    (answer,) = stage.answers(name, "prioritize")
    if None in scores:
        assert 'plugin "Scripted" failed with: ' in answer
        assert stage.node(name) in NODES
        return
    tenths = {node: (score + 5) // 10 for node, score in zip(NODES, scores, strict=True) if score is not None}
    assert {one["Host"]: one["Score"] for one in answer} == tenths
    assert stage.node(name) in [node for node, score in tenths.items() if score == max(tenths.values())]


# --- preempt ---


FULL = histogram({"node(s) didn't match Pod's node affinity/selector": N_NODES - 3, "Insufficient cpu": 3})


@pytest.mark.parametrize("struck", STRIKE_COMBINATIONS, ids="".join)
def test_preempt_answers(stage: Stage, struck: tuple[str, ...]) -> None:
    """Of the nodes that stay, the one with the least important victim is taken; where none stays, nobody has to go."""
    group = name_of("strike", struck)
    left = [letter for letter in "abc" if letter not in struck]
    answer = stage.answers(group, "preempt")[0]
    assert sorted(answer["NodeNameToMetaVictims"]) == [f"{group}-{letter}" for letter in left]
    assert all(len(entry["Pods"]) == 1 for entry in answer["NodeNameToMetaVictims"].values())
    reason, message = stage.refusal(group)
    assert reason == "Unschedulable"
    assert message.startswith(FULL)
    chosen = [f"{group}-{letter}" for letter in left[:1]]
    assert stage.leaving(group) == chosen
    if not chosen:
        assert message == f"{FULL} no new claims to deallocate, preemption: no candidate node for preemption"
    assert stage.pods[group]["status"].get("nominatedNodeName") == (chosen[0] if chosen else None)


def test_violated_budgets_come_back_as_they_went(stage: Stage) -> None:
    """Without their number the least important victim, which is protected, would have to go."""
    counts = [
        entry["NumPDBViolations"]
        for _, entry in sorted(stage.answers("protected", "preempt")[0]["NodeNameToMetaVictims"].items())
    ]
    assert counts == [1, 0, 0]
    assert stage.leaving("protected") == ["protected-b"]


def test_a_preemption_that_a_plugin_fails_evicts_nobody(stage: Stage) -> None:
    assert stage.answers("faulty", "preempt")[0].startswith('running preempt of plugin "Scripted": TypeError')
    assert stage.leaving("faulty") == []
    failed = f"failed preempt with extender at URL {stage.url}/preempt, code 500"
    assert stage.refusal("faulty") == ("Unschedulable", f"{FULL} preemption: {failed}")


def test_an_ignorable_extender_that_fails_a_preemption_is_passed_over(stage: Stage) -> None:
    assert stage.answers("ignored-preempt", "preempt")[0].startswith('running preempt of plugin "Scripted": TypeError')
    assert stage.leaving("ignored") == ["ignored-a"]


def test_a_node_that_only_we_reject_looks_free_to_preemption(stage: Stage) -> None:
    """That is why rejections are passed on as unresolvable where no plugin defines preempt."""
    reason, message = stage.refusal("rejected")
    assert reason == "Unschedulable"
    assert "3 not now" in message
    assert 'expected at least one victim pod on node "rejected-' in message
    assert stage.answers("rejected", "preempt") == []
    assert stage.leaving("rejected") == []


def without_place(message: str) -> str:
    """The message without the place in the plugin's file."""
    return re.sub(r" \(extender_plugins\.py:\d+ in \w+\)", "", message)


# --- bind ---


@pytest.mark.parametrize("outcome", BIND_OUTCOMES)
def test_bind_answers(stage: Stage, outcome: str) -> None:
    """A pod is where we bound it, with our annotations; a bind that fails is the pod's SchedulerError."""
    name, error = f"bind-{outcome}", BIND_ERRORS[outcome]
    annotations = stage.pods[name]["metadata"]["annotations"]
    if stage.mode == "nodes":  # without a cluster of its own the extender binds nothing
        assert (stage.answers(name, "bind"), stage.node(name) in NODES) == ([], True)
        return
    (said,) = stage.answers(name, "bind")[0].values()
    assert without_place(said) == error
    if error:
        reason, message = stage.refusal(name)
        assert (reason, without_place(message)) == ("SchedulerError", error)
        assert "example.com/device" not in annotations
    else:
        assert annotations["example.com/device"] == stage.node(name) != ""


def test_an_ignorable_extender_that_fails_a_bind_leaves_it_to_kube_scheduler(stage: Stage) -> None:
    assert stage.node("ignored-bind") in NODES
    assert "example.com/device" not in stage.pods["ignored-bind"]["metadata"]["annotations"]
    assert stage.answers("ignored-bind", "bind") == (
        [{"Error": "the device is taken"}] if stage.mode == "names" else []
    )
