"""What becomes of a pod for every kind of answer that an extender can give, over HTTP.

The rows are what kube-scheduler v1.36.3 did with the same answers on a test bed, except that null for the victims of a
node, on which it ends, is an error. Where it shows the words of Go's JSON decoder, only the field is compared.
"""

import asyncio
import json
import logging
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from kubesched import Simulator
from kubesched.config import KubeSchedulerConfiguration
from kubesched.extender_client import ExtenderCaller
from kubesched.framework import Status
from kubesched.scheduler import Extenders, drive
from kubesched.session import Placement
from kubesched.setup import Setup, load_configuration
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod
from tests.extender.programmable import Answer, Call, ProgrammableExtender

NODES = ("n1", "n2", "n3")
FIXED = {"Host": "n3", "Score": 1}


class Stage:
    """Three nodes, a pod, and extenders that a test programs.

    Attributes:
        answers: what `extender/verb` gets. Everything else passes all nodes, scores none and keeps victims.
    """

    def __init__(self, server: ProgrammableExtender) -> None:
        self._server = server
        self.answers: dict[str, Answer] = {}
        server.answer = lambda call: self.answers.get(f"{call.extender}/{call.verb}") or agreement(call)

    def stanza(self, name: str, **fields: Any) -> dict[str, Any]:
        return {"urlPrefix": self._server.url(name), "httpTimeout": "1s", "nodeCacheCapable": True, **fields}

    def place(self, *stanzas: dict[str, Any], is_full: bool = False) -> Placement:
        """What becomes of the pod; with `is_full` it has to evict another one, of which n1 has the least important."""
        nodes = [make_node(name, allocatable={"cpu": "4", "pods": "110"}) for name in NODES]
        running = [
            make_pod(f"on-{name}", node=name, requests={"cpu": "4"}, priority=i, metadata={"uid": f"uid-{name}"})
            for i, name in enumerate(NODES)
        ]
        pod = make_pod("p", requests={"cpu": "2"}, priority=100)
        configuration = configured(stanzas)
        calls = ExtenderCaller(configuration.extenders)
        simulator = Simulator([*nodes, *(running if is_full else ()), pod], configuration, extender_calls=calls)
        return next(one for one in simulator.run().placements if one.pod == "default/p")

    def asked(self, extender: str, verb: str) -> list[dict[str, Any]]:
        """The requests that one verb of one extender got."""
        calls = [call for call in self._server.calls if (call.extender, call.verb) == (extender, verb)]
        return [json.loads(call.body) for call in calls]


CONFIGURATION: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {"score": {"disabled": [{"name": "*"}]}, "preScore": {"disabled": [{"name": "*"}]}},
        }
    ],
}


def configured(stanzas: Sequence[dict[str, Any]]) -> KubeSchedulerConfiguration:
    return load_configuration(json.dumps({**CONFIGURATION, "extenders": stanzas}).encode())


def agreement(call: Call) -> Answer:
    """What an extender answers that agrees with everything."""
    request = json.loads(call.body)
    if call.verb == "filter":
        return said({"NodeNames": request["NodeNames"], "Nodes": request["Nodes"]})
    return said([] if call.verb == "prioritize" else {"NodeNameToMetaVictims": request.get("NodeNameToMetaVictims")})


def said(value: object) -> Answer:
    return Answer(json.dumps(value).encode())


@pytest.fixture
def stage() -> Iterator[Stage]:
    with ProgrammableExtender(lambda call: Answer()) as server:
        yield Stage(server)


# --- filter: who survives, by the next extender's request ---

REJECTED: tuple[str, ...] = ()
ITEMS = b'{"Nodes":{"items":[{"metadata":{"name":"n2"}},{"metadata":{"name":"n1"}}]}'
SURVIVORS: list[tuple[bytes, Sequence[str], Sequence[str]]] = [
    (b"{}", REJECTED, REJECTED),
    (b"null", REJECTED, REJECTED),
    (b'{"node_names":["n1"]}', REJECTED, REJECTED),
    (b'{"NodeNames":["n1"]}', REJECTED, ["n1"]),
    (b'{"nodenames":["n3","n1"]}', REJECTED, ["n3", "n1"]),
    (b'{"NodeNames":["n2","n2"]}', REJECTED, ["n2", "n2"]),
    (b'{"NodeNames":[]}', REJECTED, REJECTED),
    (b'{"NodeNames":null}', REJECTED, REJECTED),
    (ITEMS + b"}", ["n2", "n1"], ["n2", "n1"]),
    (ITEMS + b',"NodeNames":["n3"]}', ["n2", "n1"], ["n3"]),
    (ITEMS + b',"NodeNames":[]}', ["n2", "n1"], REJECTED),
    (b'{"Nodes":{"items":[]}}', REJECTED, REJECTED),
    (b'{"Nodes":{"items":null}}', REJECTED, REJECTED),
    (b'{"Nodes":{"items":[]},"NodeNames":["n3"]}', REJECTED, ["n3"]),
    (b'{"NodeNames":["n1"],"FailedNodes":{"n1":"polluted","elsewhere":"ghost"}}', REJECTED, ["n1"]),
    (b'{"NodeNames":["n1"]} and more', REJECTED, ["n1"]),
]


@pytest.mark.parametrize("form", ["nodes", "names"])
@pytest.mark.parametrize(("body", "of_nodes", "of_names"), SURVIVORS)
def test_survivors_of_a_filter(
    stage: Stage, body: bytes, of_nodes: Sequence[str], of_names: Sequence[str], form: str
) -> None:
    expected = of_names if form == "names" else of_nodes
    stage.answers["one/filter"] = Answer(body)
    one = stage.stanza("one", filterVerb="filter", nodeCacheCapable=form == "names")
    placement = stage.place(one, stage.stanza("two", filterVerb="filter"))
    offered = [request["NodeNames"] for request in stage.asked("two", "filter")]
    assert offered == ([list(expected)] if expected else [])
    assert bool(placement.node) == bool(expected)


WHY = {
    b'{"NodeNames":[],"FailedNodes":{"n1":"no gpu","n2":"no gpu","n3":"busy"}}': (
        "1 busy, 2 no gpu. no new claims to deallocate, preemption: 0/3 nodes are available: "
        "3 No preemption victims found for incoming pod."
    ),
    b'{"NodeNames":[],"FailedAndUnresolvableNodes":{"n1":"no gpu","n2":"no gpu","n3":"busy"}}': (
        "1 busy, 2 no gpu. no new claims to deallocate, preemption: 0/3 nodes are available: "
        "3 Preemption is not helpful for scheduling."
    ),
    b'{"FailedNodes":{"n1":"soft","n2":"","zz":"ghost"},"FailedAndUnresolvableNodes":{"n1":"hard","n3":""}}': (
        "1 ghost, 1 hard, 2 . no new claims to deallocate, preemption: 0/3 nodes are available: "
        "1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
    ),
    b"{}": (
        "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    ),
    b'{"FailedNodes":{"n1":"no gpu"}}': (
        "1 no gpu. no new claims to deallocate, preemption: 0/3 nodes are available: "
        "1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
    ),
}


@pytest.mark.parametrize("body", WHY)
def test_words_about_rejected_nodes(stage: Stage, body: bytes) -> None:
    stage.answers["one/filter"] = Answer(body)
    placement = stage.place(stage.stanza("one", filterVerb="filter"))
    assert (placement.reason, placement.message) == ("Unschedulable", f"0/3 nodes are available: {WHY[body]}")


FAILURES = [
    (Answer(b'{"Error":"no driver","NodeNames":["n1"]}'), "no driver"),
    (Answer(b'{"NodeNames":["n1","zz"]}'), 'extender "LINK" claims a filtered node "zz" which is not found .* list'),
    (Answer(b"x", 500), "failed filter with extender at URL LINK/filter, code 500"),
    (Answer(b"{}", 201), "failed filter with extender at URL LINK/filter, code 201"),
    (Answer(b"", 204), "failed filter with extender at URL LINK/filter, code 204"),
    (Answer(b""), "EOF.*"),
    (Answer(b"<html>"), ".*ExtenderFilterResult.*|invalid character '<' looking for beginning of value"),
    (Answer(b"[]"), ".*ExtenderFilterResult.*"),
    (Answer(b'{"Nodes":[]}'), ".*Nodes.*"),
    (Answer(b'{"FailedNodes":{"a":1}}'), ".*FailedNodes.*"),
    (Answer(b'{"FailedAndUnresolvableNodes":{"a":[]}}'), ".*FailedAndUnresolvableNodes.*"),
    (Answer(is_dropped=True), 'Post "LINK/filter": .*'),
    (Answer(b'{"NodeNames":["n1"]}', seconds=1.5), 'Post "LINK/filter": context deadline exceeded .*awaiting headers.'),
]


@pytest.mark.parametrize(("answer", "words"), FAILURES)
def test_a_filter_that_fails(stage: Stage, answer: Answer, words: str) -> None:
    """The attempt ends, and others are not asked; or an ignorable extender is passed over, and the nodes stay."""
    stage.answers["one/filter"] = answer
    one = stage.stanza("one", filterVerb="filter")
    placement = stage.place(one, stage.stanza("two", filterVerb="filter"))
    assert placement.reason == "SchedulerError"
    assert re.fullmatch(words.replace("LINK", one["urlPrefix"]), placement.message)
    assert stage.asked("two", "filter") == []

    after = stage.place({**one, "ignorable": True}, stage.stanza("three", filterVerb="filter", ignorable=True))
    assert after.node == "n1"
    assert [request["NodeNames"] for request in stage.asked("three", "filter")] == [list(NODES)]


# --- prioritize: the scores of n3 and n2 decide against n1, which is the first ---

LARGEST = 2**63 - 1
SCORES: list[tuple[bytes, str]] = [
    (b'[{"Host":"n3","Score":7}]', "n3"),
    (b'[{"host":"n2","score":1}] and more', "n2"),
    (b'[{"Host":"n1","Score":-3}]', "n2"),
    (b'[{"Host":"n2","Score":10},{"Host":"n3","Score":100}]', "n3"),
    (b'[{"Host":"n2","Score":4},{"Host":"n3","Score":7},{"Host":"n2","Score":4}]', "n2"),
    (b'[{"Host":"zz","Score":100},{"Host":"n2","Score":1}]', "n2"),
    (b'[{"Host":"n3","Score":%d},{"Host":"n1","Score":0}]' % LARGEST, "n1"),  # wraps to -10
    (b"[]", "n1"),
    (b"null", "n1"),
]
WITHOUT_SCORES = [
    Answer(b"{}"),
    Answer(b""),
    Answer(b"<html>"),
    Answer(b'[{"Host":"n3","Score":10}]', 500),
    Answer(b'[{"Host":"n3","Score":10},{"Host":"n2","Score":7.0}]'),
    Answer(b'[{"Host":"n3","Score":10},{"Host":"n2","Score":1e3}]'),
    Answer(b'[{"Host":"n3","Score":10},{"Host":"n2","Score":"7"}]'),
    Answer(b'[{"Host":"n3","Score":99999999999999999999}]'),
    Answer(is_dropped=True),
    Answer(b'[{"Host":"n3","Score":10}]', seconds=1.5),
]


@pytest.mark.parametrize(("body", "node"), SCORES)
def test_scores_decide(stage: Stage, body: bytes, node: str) -> None:
    stage.answers["one/prioritize"] = Answer(body)
    assert stage.place(stage.stanza("one", prioritizeVerb="prioritize", weight=1)).node == node


@pytest.mark.parametrize("answer", WITHOUT_SCORES)
def test_scores_that_cannot_be_read_are_left_out_and_those_of_others_count(stage: Stage, answer: Answer) -> None:
    stage.answers["one/prioritize"] = answer
    stage.answers["two/prioritize"] = said([{"Host": "n2", "Score": 1}])
    one, two = (stage.stanza(name, prioritizeVerb="prioritize", weight=1) for name in ("one", "two"))
    placement = stage.place(one, two)
    assert (placement.node, placement.message) == ("n2", "")


def test_one_node_is_scored_only_if_it_is_named_twice(stage: Stage) -> None:
    one = stage.stanza("one", filterVerb="filter", prioritizeVerb="prioritize", weight=1)
    stage.answers["one/filter"] = said({"NodeNames": ["n2"]})
    assert stage.place(one).node == "n2"
    assert stage.asked("one", "prioritize") == []
    stage.answers["one/filter"] = said({"NodeNames": ["n2", "n2"]})
    assert stage.place(one).node == "n2"
    assert [request["NodeNames"] for request in stage.asked("one", "prioritize")] == [["n2", "n2"]]


# --- preempt: without an extender the pod on n1 leaves ---


def victims(*uids: str, n_violations: int = 0) -> dict[str, Any]:
    return {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": n_violations}


NONE_LEFT = "no candidate node for preemption"
NO_VICTIM = 'expected at least one victim pod on node "n1"'
LEAVING: list[tuple[object, str, str]] = [
    ({"NodeNameToMetaVictims": {"n2": victims("uid-n2"), "n3": victims("uid-n3")}}, "default/on-n2", "default/on-n2"),
    (
        {"NodeNameToMetaVictims": {"n1": victims("uid-n1", n_violations=2), "n3": victims("uid-n3")}},
        *2 * ["default/on-n3"],
    ),
    ({}, NONE_LEFT, NONE_LEFT),
    (None, NONE_LEFT, NONE_LEFT),
    ({"NodeNameToMetaVictims": {}}, NONE_LEFT, NONE_LEFT),
    ({"NodeNameToVictims": {"n2": {"Pods": [{"metadata": {"uid": "uid-n2"}}]}}}, NONE_LEFT, NONE_LEFT),
    ({"NodeNameToMetaVictims": {"n1": victims()}}, NO_VICTIM, NONE_LEFT),
    ({"NodeNameToMetaVictims": {"n1": {"Pods": None}}}, NO_VICTIM, NONE_LEFT),
    ({"NodeNameToMetaVictims": {"n1": victims(), "n3": victims("uid-n3")}}, NO_VICTIM, "default/on-n3"),
    ({"NodeNameToMetaVictims": {"zz": victims("1")}}, 'nodeinfo not found for node name "zz"', "default/on-n1"),
    (
        {"NodeNameToMetaVictims": {"n1": victims("1")}},
        "extender: LINK claims to preempt pod (UID: &{1}) on node: n1, but the pod is not found on that node",
        "default/on-n1",
    ),
    (
        {"NodeNameToMetaVictims": {"n1": None}},
        "NodeNameToMetaVictims['n1']: found null; expected the victims, or no entry",
        "default/on-n1",
    ),
]


@pytest.mark.parametrize("form", ["pods", "names"])
@pytest.mark.parametrize(("answer", "expected", "if_ignorable"), LEAVING)
def test_answers_to_preempt(stage: Stage, answer: object, expected: str, if_ignorable: str, form: str) -> None:
    stage.answers["one/preempt"] = said(answer)
    one = stage.stanza("one", preemptVerb="preempt", nodeCacheCapable=form == "names")
    for stanza, outcome in ((one, expected), ({**one, "ignorable": True}, if_ignorable)):
        placement = stage.place(stanza, is_full=True)
        if outcome.startswith("default/"):
            assert (placement.victims, bool(placement.node)) == ((outcome,), True)
        else:
            assert placement.victims == ()
            assert placement.message.startswith("0/3 nodes are available: 3 Insufficient cpu. ")
            assert placement.message.endswith(f"preemption: {outcome.replace('LINK', one['urlPrefix'])}")


def test_preempt_is_asked_of_one_extender_after_the_other_until_no_node_is_left(stage: Stage) -> None:
    stanzas = [stage.stanza(name, preemptVerb="preempt") for name in ("one", "two", "three")]
    stage.answers["one/preempt"] = said({"NodeNameToMetaVictims": {"n2": victims("uid-n2"), "n3": victims("uid-n3")}})
    stage.answers["two/preempt"] = said({})
    assert stage.place(*stanzas, is_full=True).message.endswith(NONE_LEFT)
    assert list(stage.asked("two", "preempt")[0]["NodeNameToMetaVictims"]) == ["n2", "n3"]
    assert stage.asked("three", "preempt") == []


# --- bind ---

BOUND = [b"{}", b"null", b'{"Error":""}', b'{"Error":""} and more']
UNBOUND = [
    (Answer(b'{"Error":"the device is gone"}'), "the device is gone"),
    (Answer(b'{"error":"the device is gone"}'), "the device is gone"),
    (Answer(b""), "EOF.*"),
    (Answer(b"{}", 500), "failed bind with extender at URL LINK/bind, code 500"),
    (Answer(b"[]"), ".*ExtenderBindingResult.*"),
    (Answer(is_dropped=True), 'Post "LINK/bind": .*'),
]


def bound(*stanzas: dict[str, Any]) -> Status | None:
    """What came of the pod's binding; None where it is left to plugins."""
    configuration = configured(stanzas)
    pod = make_pod("p", metadata={"uid": "u1"})

    async def story() -> Status | None:
        calls = ExtenderCaller(configuration.extenders)
        try:
            extenders = Extenders(configuration.extenders, logging.getLogger("extenders"))
            return await drive(
                extenders.bind(ClusterState().pod_info(pod), "n2"), Setup(configuration, (), calls).answer_cycle
            )
        finally:
            await calls.close()

    return asyncio.run(story())


@pytest.mark.parametrize("body", BOUND)
def test_an_extender_that_binds(stage: Stage, body: bytes) -> None:
    stage.answers["one/bind"] = Answer(body)
    status = bound(stage.stanza("one", bindVerb="bind"))
    assert status is not None
    assert status.is_success
    assert stage.asked("one", "bind") == [{"PodName": "p", "PodNamespace": "default", "PodUID": "u1", "Node": "n2"}]


@pytest.mark.parametrize(("answer", "words"), UNBOUND)
def test_an_extender_that_does_not_bind(stage: Stage, answer: Answer, words: str) -> None:
    stage.answers["one/bind"] = answer
    one = stage.stanza("one", bindVerb="bind")
    status = bound(one)
    assert status is not None
    assert re.fullmatch(words.replace("LINK", one["urlPrefix"]), status.message)
    assert bound({**one, "ignorable": True}) is None
