"""The scheduler asks the extenders of the configuration, and does what follows from their answers."""

import asyncio
import json
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest

from kubesched.api import EventType, Pod, WatchEvent, decode_object
from kubesched.config import ExtenderConfig, ExtenderManagedResource
from kubesched.framework import (
    Action,
    ActionDone,
    Bind,
    CallExtender,
    Decision,
    PatchPodStatus,
    Plugin,
    RecordEvent,
    Services,
    VirtualClock,
)
from kubesched.plugins import DefaultBinder, DefaultPreemption, NodeResourcesFit
from kubesched.plugins.args import DefaultPreemptionArgs, NodeResourcesFitArgs
from kubesched.scheduler import Scheduler, TieBreak, Together, drive, load_cluster
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod, minimal_profile

Answer = Callable[[dict[str, Any]], Any]
"""What a verb answers to a request; an Exception fails."""

NAMES = ExtenderConfig(url_prefix="http://one/", filter_verb="f", node_cache_capable=True)


class Cluster:
    """A scheduler with extenders; `answers` is what each verb of each extender says, by `urlPrefix verb`."""

    def __init__(
        self,
        *extenders: ExtenderConfig,
        answers: dict[str, Answer],
        nodes: int = 3,
        pods: tuple[Pod, ...] = (),
        plugins: tuple[Plugin, ...] = (),
        tie_break: TieBreak = TieBreak.UPSTREAM,
    ) -> None:
        self.answers = answers
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.events: list[str] = []
        self.bound: dict[str, str] = {}
        self.evicted: list[str] = []
        state = ClusterState()
        profile = minimal_profile(NodeResourcesFit(NodeResourcesFitArgs()), *plugins, DefaultBinder())
        self.scheduler = Scheduler(
            [profile],
            state,
            Services(clock=VirtualClock(), rng=Random(7)),
            emit=self._emit,
            tie_break=tie_break,
            extenders=extenders,
        )
        objects = [*(make_node(f"n{i}", allocatable={"cpu": "4", "pods": "110"}) for i in range(nodes)), *pods]
        for pod in load_cluster(state, objects):
            self.scheduler.handle_event(WatchEvent(EventType.ADDED, "Pod", pod))

    def _emit(self, action: Action) -> None:
        if isinstance(action, RecordEvent):
            self.events.append(action.note)

    def try_one(self) -> Decision:
        """The next attempt, with its binding cycle or eviction."""
        return asyncio.run(self._try_one())

    async def _try_one(self) -> Decision:
        taken = await drive(self.scheduler.attempt(), self._answer)
        assert taken is not None
        decision, cycle = taken
        if cycle is not None:
            outcome = await drive(cycle, self._answer)
            decision = outcome if isinstance(outcome, Decision) else decision
        return decision

    async def _answer(self, request: Any) -> Any:
        if isinstance(request, Together):
            return [await self._answer(action) for action in request.actions]
        if isinstance(request, Bind):
            self.bound[request.pod.name] = request.node_name
        if not isinstance(request, CallExtender):
            if not isinstance(request, PatchPodStatus | Bind | RecordEvent):
                self.evicted.append(request.pod.name)
            return ActionDone(request)
        key = f"{request.extender.url_prefix} {request.verb}"
        body = json.loads(request.body)
        self.calls.append((key, body))
        answer = self.answers[key](body)
        if isinstance(answer, Exception):
            return ActionDone(request, error=str(answer))
        return ActionDone(request, answer=answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def asked(self) -> list[str]:
        return [key for key, _ in self.calls]


def pending(name: str = "p", cpu: str = "1", **further: Any) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, **further)


def keep(*names: str, **further: Any) -> Answer:
    return lambda body: {"NodeNames": [name for name in body["NodeNames"] if name in names], **further}


def test_a_pod_goes_to_a_node_that_the_extender_leaves() -> None:
    cluster = Cluster(NAMES, answers={"http://one/ filter": keep("n2")}, pods=(pending(),))
    decision = cluster.try_one()
    assert decision.node_name == "n2"
    assert decision.n_feasible == 1
    (_, body) = cluster.calls[0]
    assert body["Nodes"] is None
    assert body["NodeNames"] == ["n0", "n1", "n2"]
    assert body["Pod"]["metadata"]["name"] == "p"


def test_rejections_by_an_extender_are_counted_with_its_words() -> None:
    answer = keep(FailedNodes={"n0": "no gpu", "n1": "no gpu"}, FailedAndUnresolvableNodes={"n1": "broken"})
    cluster = Cluster(NAMES, answers={"http://one/ filter": answer}, pods=(pending(),))
    decision = cluster.try_one()
    assert decision.outcome.message == "0/3 nodes are available: 1 broken, 1 no gpu."
    assert decision.unschedulable_plugins == {"Extender"}
    assert decision.reason == "Unschedulable"


def test_after_a_rejection_by_an_extender_any_event_wakes_the_pod() -> None:
    cluster = Cluster(NAMES, answers={"http://one/ filter": keep()}, pods=(pending(),))
    cluster.try_one()
    assert cluster.scheduler.queue.counts()["unschedulable"] == 1
    cluster.scheduler.handle_event(WatchEvent(EventType.ADDED, "Pod", make_pod("other", node="n0")))
    assert cluster.scheduler.queue.counts()["unschedulable"] == 0


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda body: {"NodeNames": [], "Error": "out of luck"}, "out of luck"),
        (lambda body: ConnectionError("refused"), "refused"),
        (
            lambda body: {"NodeNames": ["gone"]},
            'extender "http://one/" claims a filtered node "gone" which is not found in the input node list',
        ),
    ],
)
def test_an_error_ends_the_attempt_unless_the_extender_is_ignorable(answer: Answer, message: str) -> None:
    cluster = Cluster(NAMES, answers={"http://one/ filter": answer}, pods=(pending(),))
    decision = cluster.try_one()
    assert (decision.reason, decision.outcome.message) == ("SchedulerError", message)
    assert cluster.scheduler.queue.counts()["backoff"] == 1

    ignorable = ExtenderConfig(url_prefix="http://one/", filter_verb="f", node_cache_capable=True, ignorable=True)
    cluster = Cluster(ignorable, answers={"http://one/ filter": answer}, pods=(pending(),))
    assert cluster.try_one().n_feasible == 3


def test_ignorable_extenders_come_last_and_see_what_the_others_left() -> None:
    first = ExtenderConfig(url_prefix="http://a", filter_verb="f", node_cache_capable=True, ignorable=True)
    second = ExtenderConfig(url_prefix="http://b", filter_verb="f", node_cache_capable=True)
    answers = {"http://a filter": keep("n0", "n1"), "http://b filter": keep("n1", "n2")}
    cluster = Cluster(first, second, answers=answers, pods=(pending(),))
    assert cluster.try_one().node_name == "n1"
    assert cluster.asked() == ["http://b filter", "http://a filter"]
    assert cluster.calls[1][1]["NodeNames"] == ["n1", "n2"]


def test_an_extender_is_asked_only_about_pods_that_list_its_resources() -> None:
    managing = ExtenderConfig(
        url_prefix="http://one/",
        filter_verb="f",
        node_cache_capable=True,
        managed_resources=(ExtenderManagedResource("example.com/gpu", True),),
    )
    gpu = make_pod("gpu", requests={"example.com/gpu": "0"})
    cluster = Cluster(managing, answers={"http://one/ filter": keep("n1")}, pods=(pending(), gpu))
    decisions = {decision.pod.name: decision for decision in (cluster.try_one(), cluster.try_one())}
    assert len(cluster.calls) == 1
    assert cluster.calls[0][1]["Pod"]["metadata"]["name"] == "gpu"
    assert decisions["p"].node_name == "n0"


def test_scores_are_scaled_and_added_and_errors_are_dropped() -> None:
    good = ExtenderConfig(url_prefix="http://a", prioritize_verb="p", weight=2, node_cache_capable=True)
    bad = ExtenderConfig(url_prefix="http://b", prioritize_verb="p", weight=9, node_cache_capable=True)
    answers: dict[str, Answer] = {
        "http://a prioritize": lambda body: [{"Host": "n1", "Score": 7}, {"Host": "elsewhere", "Score": 9}],
        "http://b prioritize": lambda body: [{"Host": "n2", "Score": 7.5}],
    }
    cluster = Cluster(good, bad, answers=answers, pods=(pending(),))
    decision = cluster.try_one()
    assert decision.node_name == "n1"
    assert decision.chosen is not None
    assert decision.chosen.scores["extender http://a"] == 140
    assert decision.chosen.total == decision.runners_up[0][1] + 140
    assert cluster.asked() == ["http://a prioritize", "http://b prioritize"]


def test_equal_answers_about_other_nodes_are_read_for_these_nodes() -> None:
    both = ExtenderConfig(url_prefix="u", filter_verb="f", prioritize_verb="p", weight=1, node_cache_capable=True)
    answers: dict[str, Answer] = {
        "u filter": lambda body: {"NodeNames": body["NodeNames"]},
        "u prioritize": lambda body: [{"Host": "n1", "Score": 7}, {"Host": "n2", "Score": 9}],
    }
    cluster = Cluster(both, answers=answers, pods=(pending("first", priority=1), pending("second")))
    assert cluster.try_one().node_name == "n2"
    full = make_pod("full", node="n2", requests={"cpu": "3"})
    cluster.scheduler.handle_event(WatchEvent(EventType.ADDED, "Pod", full))
    decision = cluster.try_one()
    assert [body["NodeNames"] for key, body in cluster.calls if key == "u prioritize"] == [
        ["n0", "n1", "n2"],
        ["n0", "n1"],
    ]
    assert decision.chosen is not None
    assert decision.chosen.scores["extender u"] == 70


def test_a_single_node_is_not_scored() -> None:
    both = ExtenderConfig(url_prefix="u", filter_verb="f", prioritize_verb="p", weight=1, node_cache_capable=True)
    cluster = Cluster(both, answers={"u filter": keep("n1")}, pods=(pending(),))
    assert cluster.try_one().node_name == "n1"
    assert cluster.asked() == ["u filter"]


def test_between_equal_nodes_with_a_score_chance_decides() -> None:
    scoring = ExtenderConfig(url_prefix="u", prioritize_verb="p", weight=1, node_cache_capable=True)
    answers: dict[str, Answer] = {"u prioritize": lambda body: [{"Host": host, "Score": 5} for host in ("n1", "n2")]}
    chosen = set()
    for _ in range(20):
        cluster = Cluster(scoring, answers=answers, pods=tuple(pending(f"p{i}", cpu="0") for i in range(5)))
        chosen |= {cluster.try_one().node_name for _ in range(5)}
    assert chosen == {"n1", "n2"}


def test_whole_nodes_travel_as_they_are_and_come_back_without_their_pods() -> None:
    whole = ExtenderConfig(url_prefix="u", filter_verb="f")
    running = make_pod("running", node="n0", requests={"cpu": "3"})

    class MostRoom(Plugin):
        def score_nodes(self, state: Any, pod: Any, nodes: Any) -> Any:
            return 100 - nodes.n_pods * 10

    def both(body: dict[str, Any]) -> Any:
        return {"Nodes": {"items": body["Nodes"]["items"][:2]}}

    cluster = Cluster(whole, answers={"u filter": both}, pods=(running, pending(cpu="500m")), plugins=(MostRoom(),))
    decision = cluster.try_one()
    assert decision.chosen is not None
    assert decision.chosen.scores["MostRoom"] == 100
    assert decision.runners_up[0][1] == decision.chosen.total  # as kube-scheduler v1.36, which sees both without pods
    assert [node["metadata"]["name"] for node in cluster.calls[0][1]["Nodes"]["items"]] == ["n0", "n1", "n2"]


def preempting() -> tuple[Plugin, ...]:
    return (DefaultPreemption(DefaultPreemptionArgs()),)


def full(*, cpu: str = "4") -> tuple[Pod, ...]:
    running = tuple(make_pod(f"r{i}", node=f"n{i}", requests={"cpu": "4"}, priority=i) for i in range(3))
    return (*running, make_pod("p", requests={"cpu": cpu}, priority=100))


VICTIM_STORED = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "v", "namespace": "default", "uid": "v1"},
    "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
    "status": {},
}
PREEMPTING = ExtenderConfig(url_prefix="u", preempt_verb="v", node_cache_capable=True)


def test_an_extender_chooses_between_the_victims_of_preemption() -> None:
    answers: dict[str, Answer] = {
        "u preempt": lambda body: {"NodeNameToMetaVictims": {"n2": body["NodeNameToMetaVictims"]["n2"]}}
    }
    cluster = Cluster(PREEMPTING, answers=answers, pods=full(), plugins=preempting())
    decision = cluster.try_one()
    assert decision.nominated_node_name == "n2"
    assert [info.pod.name for info in decision.victims] == ["r2"]
    body = cluster.calls[0][1]
    assert body["NodeNameToVictims"] is None
    assert set(body["NodeNameToMetaVictims"]) == {"n0", "n1", "n2"}


def test_a_victim_that_is_not_seen_on_its_node_yet_is_sent_with_the_node() -> None:
    whole = ExtenderConfig(url_prefix="u", preempt_verb="v")
    answers: dict[str, Answer] = {"u preempt": lambda body: {}}
    victim = decode_object("Pod", msgspec.json.encode(VICTIM_STORED))
    cluster = Cluster(whole, answers=answers, nodes=1, pods=(victim,), plugins=preempting())
    assert cluster.try_one().node_name == "n0"
    preemptor = make_pod("p", requests={"cpu": "4"}, priority=100)
    cluster.scheduler.handle_event(WatchEvent(EventType.ADDED, "Pod", preemptor))
    cluster.try_one()
    (sent,) = cluster.calls[0][1]["NodeNameToVictims"]["n0"]["Pods"]
    assert sent["spec"]["nodeName"] == "n0"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "preemption: no candidate node for preemption"),
        ({"n9": {"Pods": []}}, 'preemption: nodeinfo not found for node name "n9"'),
        (
            {"n0": {"Pods": [{"UID": "x"}]}},
            "extender: u claims to preempt pod (UID: &{x}) on node: n0, but the pod is not found on that node",
        ),
        ({"n0": {"Pods": []}}, 'preemption: expected at least one victim pod on node "n0"'),
        ({"n0": None}, "preemption: NodeNameToMetaVictims['n0']: found null; expected the victims, or no entry"),
    ],
)
def test_odd_answers_to_preempt(entries: dict[str, Any], message: str) -> None:
    cluster = Cluster(
        PREEMPTING,
        answers={"u preempt": lambda body: {"NodeNameToMetaVictims": entries}},
        pods=full(),
        plugins=preempting(),
    )
    assert cluster.try_one().outcome.message.endswith(message)


def test_an_extender_binds_in_place_of_the_bind_plugins() -> None:
    binding = ExtenderConfig(url_prefix="u", bind_verb="b")
    cluster = Cluster(binding, answers={"u bind": lambda body: {}}, pods=(pending(),))
    node_name = cluster.try_one().node_name
    assert cluster.bound == {}
    pod = cluster.calls[0][1]
    assert (pod["PodName"], pod["PodNamespace"], pod["Node"]) == ("p", "default", node_name)


def test_a_failed_bind_is_final_unless_the_extender_is_ignorable() -> None:
    answers: dict[str, Answer] = {"u bind": lambda body: {"Error": "no"}}
    cluster = Cluster(ExtenderConfig(url_prefix="u", bind_verb="b"), answers=answers, pods=(pending(),))
    decision = cluster.try_one()
    assert (decision.reason, decision.outcome.message) == ("SchedulerError", "no")
    assert cluster.bound == {}
    ignorable = ExtenderConfig(url_prefix="u", bind_verb="b", ignorable=True)
    cluster = Cluster(ignorable, answers=answers, pods=(pending(),))
    node_name = cluster.try_one().node_name
    assert cluster.bound == {"p": node_name}


def test_the_nominated_node_is_asked_about_alone() -> None:
    nominated = pending(status={"nominatedNodeName": "n1"})
    cluster = Cluster(NAMES, answers={"http://one/ filter": keep("n1", "n2")}, pods=(nominated,))
    assert cluster.try_one().node_name == "n1"
    assert [body["NodeNames"] for _, body in cluster.calls] == [["n1"]]


def test_a_nominated_node_that_the_extender_names_twice_is_scored() -> None:
    """kube-scheduler v1.36.3 counts two feasible nodes, and asks for priorities of both."""
    both = ExtenderConfig(url_prefix="u", filter_verb="f", prioritize_verb="p", weight=1, node_cache_capable=True)
    answers: dict[str, Answer] = {
        "u filter": lambda body: {"NodeNames": body["NodeNames"] * 2},
        "u prioritize": lambda body: [{"Host": "n1", "Score": 3}],
    }
    cluster = Cluster(both, answers=answers, pods=(pending(status={"nominatedNodeName": "n1"}),))
    decision = cluster.try_one()
    assert decision.node_name == "n1"
    assert decision.n_feasible == 2
    assert [(key, body["NodeNames"]) for key, body in cluster.calls] == [
        ("u filter", ["n1"]),
        ("u prioritize", ["n1", "n1"]),
    ]


def test_an_error_about_the_nominated_node_leads_to_a_whole_search() -> None:
    def fail_alone(body: dict[str, Any]) -> Any:
        return OSError("once") if len(body["NodeNames"]) == 1 else {"NodeNames": ["n2"]}

    nominated = pending(status={"nominatedNodeName": "n1"})
    cluster = Cluster(NAMES, answers={"http://one/ filter": fail_alone}, pods=(nominated,))
    assert cluster.try_one().node_name == "n2"


def test_the_next_search_begins_behind_a_nominated_node_that_an_extender_rejected() -> None:
    """kube-scheduler v1.36.3 counts such a node twice: as rejected, and as one that passes the filters."""

    def not_alone(body: dict[str, Any]) -> Any:
        names = body["NodeNames"]
        return {"FailedNodes": {names[0]: "no"}} if len(names) == 1 else {"NodeNames": names}

    pods = (pending("first", status={"nominatedNodeName": "n1"}, priority=1), pending("second"))
    cluster = Cluster(NAMES, answers={"http://one/ filter": not_alone}, pods=pods)
    cluster.try_one()
    cluster.try_one()
    assert [body["NodeNames"] for _, body in cluster.calls] == [["n1"], ["n0", "n1", "n2"], ["n1", "n2", "n0"]]


def test_an_attempt_that_is_broken_off_leaves_the_pod_in_the_queue() -> None:
    cluster = Cluster(NAMES, answers={}, pods=(pending(),))
    attempt = cluster.scheduler.attempt()
    attempt.send(None)
    attempt.close()
    assert cluster.scheduler.queue.counts()["active"] == 1
