"""The verbs from body to body: what plugins say, what they do wrong, and when they are late."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.deadlines.late import Slow
from kubesched.extender import Answer
from kubesched.framework import Code, Plugin, PreFilterResult, Profile, Status
from kubesched.testing import make_node, make_pod, minimal_profile
from tests.extender.asking import (
    Looks,
    Server,
    captured,
    encode,
    failure,
    filter_result,
    in_time,
    node,
    pod,
    preemption_result,
    with_names,
    with_nodes,
)

BOOM = "boom"


def raises(*given: Any) -> Any:
    raise RuntimeError(BOOM)


def answers(value: Any) -> Callable[..., Any]:
    return lambda *given: value


def faulty(hook: str, fault: Callable[..., Any], **hooks: Any) -> Plugin:
    return type("Faulty", (Plugin,), {hook: lambda self, *given: fault(*given), **hooks})()


class Content(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS


def scoring(name: str, score: Callable[[str], int], *, columns: bool = False, **hooks: Any) -> Plugin:
    """A plugin that scores nodes by name."""
    if columns:
        hooks["score_nodes"] = lambda self, state, pod, nodes: np.array([score(one) for one in nodes.names], np.int64)
    else:
        hooks["score"] = lambda self, state, pod, node: score(node.name)
    return type(name, (Plugin,), hooks)()


def named(name: str, *plugins: Plugin, **weights: int) -> Profile:
    built = minimal_profile(*plugins, weights=weights)
    return Profile(name, 0, built.points, built.weights, built.plugins)


# --- captured bodies ---


def test_captured_filter_requests_come_back_in_their_own_form():
    result = Server(Content()).filter(captured("filter-nodes"))
    assert result.raws == [bytes(raw) for raw in items(captured("filter-nodes"))]
    server = Server(Content(), watched=[make_node("n1"), make_node("n2")])
    assert server.filter(captured("filter-names")).NodeNames == ["n1", "n2"]
    assert server.filter(captured("filter-nodes")).raws == result.raws


def test_captured_prioritize_requests():
    plugin = scoring("Second", lambda name: 100 if name == "n2" else 24)
    assert Server(plugin).scores(captured("filter-nodes")) == {"n1": 2, "n2": 10}
    server = Server(plugin, watched=[make_node("n1"), make_node("n2")])
    assert server.scores(captured("filter-names")) == {"n1": 2, "n2": 10}


def test_captured_preempt_requests_are_answered_by_uid_in_both_modes():
    for body in (captured("preempt-victims"), captured("preempt-meta")):
        server = Server(watched=[make_node("n1"), make_pod("v", node="n1", metadata={"uid": "v1"})])
        (entry,) = server.preempt(body).items()
        assert (entry[0], entry[1].uids, entry[1].NumPDBViolations) == ("n1", ["v1"], 2)
    assert Server().preempt(captured("preempt-victims")).keys() == {"n1"}


def test_the_nodes_of_a_real_cluster_come_back_byte_for_byte():
    recorded = captured("filter-answer-two-nodes-v1.17")
    body = recorded.replace(b"{", b'{"Pod":' + encode(pod()) + b",", 1)
    result = Server(Content()).filter(body)
    assert result.survivors == ["k8s-master", "node01"]
    assert all(raw in recorded for raw in result.raws)


def items(body: bytes) -> list[msgspec.Raw]:
    class List(msgspec.Struct):
        items: list[msgspec.Raw]

    class Args(msgspec.Struct):
        Nodes: List

    return msgspec.json.decode(body, type=Args).Nodes.items


@given(kept=st.sets(st.integers(0, 5)), n=st.integers(1, 6), text=st.text(max_size=5))
def test_survivors_are_byte_for_byte_those_of_the_request_in_its_order(kept: set[int], n: int, text: str):
    class Keeps(Plugin):
        def filter(self, state, pod, node):
            return Status.SUCCESS if int(node.name[1:]) in kept else Status.unresolvable(text)

    raws = [json.dumps({"metadata": {"name": f"n{i}"}, "x": text}, indent=i % 3).encode() for i in range(n)]
    result = Server(Keeps()).filter(b'{"Pod":%b,"Nodes":{"items":[ %b ]}}' % (encode(pod()), b"\n,".join(raws)))
    assert result.raws == [raw for i, raw in enumerate(raws) if i in kept]
    assert len(result.FailedAndUnresolvableNodes) == n - len(result.raws)


# --- profiles ---


def test_the_pods_scheduler_name_picks_the_profile_and_other_names_get_the_first():
    def saying(text: str) -> Plugin:
        return faulty("filter", answers(Status.unresolvable(text)))

    server = Server(named("first", saying("one")), named("second", saying("two")))
    for scheduler_name, text in {"first": "one", "second": "two", "third": "one", "": "one"}.items():
        body = with_nodes(node("n1"), pod=pod(schedulerName=scheduler_name))
        assert server.filter(body).FailedAndUnresolvableNodes == {"n1": text}


def test_a_pod_without_scheduler_name_is_default_schedulers():
    rejecting = faulty("filter", answers(Status.unresolvable("no")))
    server = Server(named("gpu", rejecting), named("default-scheduler", Content()))
    assert server.filter(with_nodes(node("n1"))).survivors == ["n1"]


def test_every_profile_scores_by_the_extenders_one_weight():
    """The weight is the largest sum; a profile with a smaller one keeps its share of it."""
    best = scoring("Best", lambda name: 100)
    server = Server(named("small", best, Best=1), named("large", scoring("Best", lambda name: 100), Best=4))
    assert server.verbs.weight == 4
    assert server.scores(with_nodes(node("n1"), pod=pod(schedulerName="large"))) == {"n1": 10}
    assert server.scores(with_nodes(node("n1"), pod=pod(schedulerName="small"))) == {"n1": 3}


def test_preempt_asks_the_plugins_of_the_pods_profile():
    striking = faulty("preempt", answers({}))
    server = Server(named("first", Content()), named("second", striking))
    victims = {"n1": {"Pods": [pod("v")]}}
    for scheduler_name, kept in {"first": {"n1"}, "second": set()}.items():
        body = encode({"Pod": pod(schedulerName=scheduler_name), "NodeNameToVictims": victims})
        assert server.preempt(body).keys() == kept


# --- scores ---


@pytest.mark.parametrize("columns", [False, True])
def test_scores_of_several_plugins_are_one(columns: bool):
    first = scoring("First", lambda name: int(name[1:]), columns=columns)
    second = scoring("Second", lambda name: 100, columns=columns)
    server = Server(minimal_profile(first, second, weights={"First": 3}))
    assert server.scores(with_nodes(node("n0"), node("n50"), node("n100"))) == {"n0": 3, "n50": 6, "n100": 10}


def test_normalised_scores_count():
    plugin = scoring(
        "Raw", lambda name: int(name[1:]), normalize_score=lambda self, state, pod, scores: scores * 100 // scores.max()
    )
    assert Server(plugin).scores(with_nodes(node("n7"), node("n70000"))) == {"n7": 0, "n70000": 10}


def test_a_plugin_that_skips_scoring_adds_nothing():
    skipping = scoring("Skips", lambda name: 100, pre_score=lambda self, state, pod, nodes: Status.SKIP)
    assert Server(skipping).scores(with_nodes(node("n1"))) == {"n1": 0}
    both = Server(skipping, scoring("Other", lambda name: 100))
    assert both.scores(with_nodes(node("n1"))) == {"n1": 5}


def test_without_score_plugins_every_score_is_0():
    assert Server(Content()).scores(with_nodes(node("n1"), node("n2"))) == {"n1": 0, "n2": 0}


def test_score_plugins_read_what_their_pre_filter_wrote_for_the_pod():
    class Data(list[str]):
        pass

    class Both(Plugin):
        def pre_filter(self, state, pod, nodes):
            state.write(Data([pod.name]))
            return Status.SUCCESS

        def score(self, state, pod, node):
            return 100 if state.read(Data) == ["p"] else 0

    assert Server(Both()).scores(with_nodes(node("n1"))) == {"n1": 10}


def test_a_pod_that_pre_filter_rejects_or_narrows_still_gets_every_score():
    rejected = faulty("pre_filter", answers(Status.unresolvable("no")), score=lambda self, *given: 100)
    assert Server(rejected).scores(with_nodes(node("n1"), node("n2"))) == {"n1": 0, "n2": 0}
    narrowed = faulty("pre_filter", answers(PreFilterResult(frozenset({"n2"}))), score=lambda self, *given: 100)
    assert Server(narrowed).scores(with_nodes(node("n1"), node("n2"))).keys() == {"n1", "n2"}


@given(
    weights=st.lists(st.integers(1, 2**52), min_size=1, max_size=3),
    table=st.lists(st.lists(st.integers(0, 100), min_size=3, max_size=3), min_size=1, max_size=4),
)
def test_scores_are_the_weighted_sum_in_tenths(weights: list[int], table: list[list[int]]):
    total = sum(weights)
    plugins = [scoring(f"P{i}", lambda name, i=i: table[int(name)][i]) for i in range(len(weights))]
    profile = minimal_profile(*plugins, weights={f"P{i}": weight for i, weight in enumerate(weights)})
    scores = Server(profile).scores(with_nodes(*(node(str(i)) for i in range(len(table)))))
    assert scores == {
        str(i): (2 * sum(w * s for w, s in zip(weights, row, strict=False)) + 10 * total) // (20 * total)
        for i, row in enumerate(table)
    }


# --- plugins that fail ---


FILTER_FAULTS = [
    ("pre_filter", raises, 'running PreFilter plugin "Faulty": boom'),
    ("pre_filter", answers(None), 'running PreFilter plugin "Faulty": must return '),
    ("pre_filter", answers(PreFilterResult(["n1"])), 'running PreFilter plugin "Faulty": must return '),  # type: ignore[arg-type]
    ("pre_filter", answers(Status.error("no list of disks")), 'running PreFilter plugin "Faulty": no list of disks'),
    ("pre_filter", answers(Status(Code.WAIT)), 'running PreFilter plugin "Faulty"'),
    ("filter", raises, 'running "Faulty" filter plugin: boom'),
    ("filter", answers(None), 'running "Faulty" filter plugin: '),
    ("filter", answers(True), 'running "Faulty" filter plugin: '),
    ("filter", answers(Status.SKIP), 'running "Faulty" filter plugin: '),
    ("filter", answers(Status.error("no list of disks")), 'running "Faulty" filter plugin: no list of disks'),
    ("filter_nodes", raises, 'running "Faulty" filter plugin: boom'),
    ("filter_nodes", answers(None), 'running "Faulty" filter plugin: '),
    ("filter_nodes", answers(np.zeros(7, dtype=np.int8)), 'running "Faulty" filter plugin: '),
    ("filter_nodes", answers(np.zeros(2)), 'running "Faulty" filter plugin: '),
    ("filter_nodes", answers(np.array([0, 9])), 'running "Faulty" filter plugin: '),
]


@pytest.mark.parametrize("body", [with_nodes(node("n1"), node("n2")), with_names("n1", "n2")], ids=["nodes", "names"])
@pytest.mark.parametrize(("hook", "fault", "message"), FILTER_FAULTS)
def test_a_fault_while_filtering_is_an_error_that_names_the_plugin(
    hook: str, fault: Callable[..., Any], message: str, body: bytes
):
    server = Server(Content(), faulty(hook, fault), watched=[make_node("n1"), make_node("n2")])
    answer = server.verbs.filter(body, in_time)
    assert filter_result(answer).Error.startswith(message)
    assert (answer.status, answer.plugin, answer.is_late, answer.n_kept) == (200, "Faulty", False, 0)
    assert (answer.pod, answer.n_offered) == ("d/p", 2)


@pytest.mark.parametrize("fault", [raises, answers(Status.error(BOOM)), answers(None)])
def test_an_error_on_one_node_ends_the_attempt(fault: Callable[..., Any]):
    class Faulty(Plugin):
        def filter(self, state, pod, node):
            return fault() if node.name == "n2" else Status.unresolvable("no")

    answer = Server(Faulty()).verbs.filter(with_nodes(node("n1"), node("n2"), node("n3")), in_time)
    assert filter_result(answer).Error.startswith('running "Faulty" filter plugin: ')
    assert answer.plugin == "Faulty"


def test_a_node_that_was_rejected_before_is_not_asked_about_again():
    class Rejecting(Plugin):
        def filter(self, state, pod, node):
            return Status.unresolvable("no") if node.name == "n1" else Status.SUCCESS

    class Faulty(Plugin):
        def filter(self, state, pod, node):
            return raises() if node.name == "n1" else Status.SUCCESS

    result = Server(Rejecting(), Faulty()).filter(with_nodes(node("n1"), node("n2")))
    assert (result.Error, result.survivors) == ("", ["n2"])


SCORE_FAULTS = [
    ("pre_filter", raises, 'running PreFilter plugin "Faulty": boom'),
    ("pre_score", raises, 'running PreScore plugin "Faulty": boom'),
    ("pre_score", answers(None), 'running PreScore plugin "Faulty": must return '),
    ("pre_score", answers(Status.unschedulable(BOOM)), 'running PreScore plugin "Faulty": boom'),
    ("score", raises, 'running Score plugins: plugin "Faulty" failed with: boom'),
    ("score", answers(0.5), 'running Score plugins: plugin "Faulty" failed with: '),
    ("score", answers(None), 'running Score plugins: plugin "Faulty" failed with: '),
    ("score", answers(101), 'applying score defaultWeights on Score plugins: plugin "Faulty" returns an invalid score'),
    ("score", answers(-1), 'applying score defaultWeights on Score plugins: plugin "Faulty" returns an invalid score'),
    ("score_nodes", raises, 'running Score plugins: plugin "Faulty" failed with: boom'),
    ("score_nodes", answers([1, 2]), 'running Score plugins: plugin "Faulty" failed with: '),
    ("normalize_score", raises, 'running Normalize on Score plugins: plugin "Faulty" failed with: boom'),
    ("normalize_score", answers(np.array([0.5])), 'running Normalize on Score plugins: plugin "Faulty" failed with: '),
]


@pytest.mark.parametrize(("hook", "fault", "message"), SCORE_FAULTS)
def test_a_fault_while_scoring_is_a_500_that_names_the_plugin(hook: str, fault: Callable[..., Any], message: str):
    hooks = {} if hook.startswith("score") else {"score": lambda self, *given: 1}
    answer = Server(faulty(hook, fault, **hooks)).verbs.prioritize(with_nodes(node("n1")), in_time)
    assert failure(answer).startswith(message)
    assert (answer.plugin, answer.pod) == ("Faulty", "d/p")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (raises, 'running preempt of plugin "Faulty": boom'),
        (answers(None), 'running preempt of plugin "Faulty": must return a mapping by node name'),
        (answers(["n1"]), 'running preempt of plugin "Faulty": must return a mapping by node name'),
        (answers({"n1": np.zeros(2)}), 'running preempt of plugin "Faulty": ValueError: The truth value of an array'),
    ],
)
def test_a_fault_while_striking_is_a_500_that_names_the_plugin(fault: Callable[..., Any], message: str):
    answer = Server(faulty("preempt", fault)).verbs.preempt(captured("preempt-victims"), in_time)
    assert failure(answer).startswith(message)
    assert answer.plugin == "Faulty"


def test_an_exception_that_utf8_cannot_carry_is_escaped():
    plugin = faulty("filter", lambda *given: open("caf\udce9"), score=raises)  # noqa: PTH123, SIM115
    server = Server(plugin)
    assert "caf\\udce9" in server.filter(with_nodes(node("n1"))).Error
    assert failure(server.verbs.prioritize(with_nodes(node("n1")), in_time))


def test_after_a_fault_the_next_pod_is_served():
    class Faulty(Plugin):
        def filter(self, state, pod, node):
            return raises() if pod.name == "bad" else Status.SUCCESS

    server = Server(Faulty())
    for name, survivors in (("good", ["n1"]), ("bad", []), ("good", ["n1"])):
        assert server.filter(with_nodes(node("n1"), pod=pod(name))).survivors == survivors


@pytest.mark.parametrize("verb", ["filter", "prioritize", "preempt"])
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"{}", b'{"Pod":null}', b"\xff", b"NaN", b"[" * 10_000])
def test_bodies_that_are_none_are_answered(verb: str, body: bytes):
    answer: Answer = getattr(Server(Content()).verbs, verb)(body, in_time)
    text = filter_result(answer).Error if verb == "filter" else failure(answer)
    assert text
    assert (answer.plugin, answer.n_offered, answer.is_late) == ("", 0, False)


# --- preempt ---


def victims(**by_node: Any) -> bytes:
    return encode({"Pod": pod(), "NodeNameToVictims": by_node, "NodeNameToMetaVictims": None})


def meta_victims(**by_node: Any) -> bytes:
    return encode({"Pod": pod(), "NodeNameToVictims": None, "NodeNameToMetaVictims": by_node})


def whole(*names: str, n: int = 0) -> dict[str, Any]:
    return {"Pods": [pod(name) for name in names], "NumPDBViolations": n}


def by_uid(*names: str, n: int = 0) -> dict[str, Any]:
    return {"Pods": [{"UID": f"uid-{name}"} for name in names], "NumPDBViolations": n}


class Sparing(Plugin):
    """Strikes nodes where the pod `dear` would have to go."""

    def preempt(self, state, pod, victims_by_node):
        return {name: some for name, some in victims_by_node.items() if all(one.pod.name != "dear" for one in some)}


def running(*names: str) -> Server:
    pods = [make_pod(name, namespace="d", node="n1", metadata={"uid": f"uid-{name}"}) for name in names]
    return Server(Sparing(), watched=[make_node("n1"), make_node("n2"), *pods])


def test_plugins_strike_nodes_in_both_forms_alike():
    plan = {"n1": ("a", "dear"), "n2": ("b", "c")}
    server = running("a", "b", "c", "dear")
    for body in (
        victims(**{name: whole(*some, n=3) for name, some in plan.items()}),
        meta_victims(**{name: by_uid(*some, n=3) for name, some in plan.items()}),
    ):
        result = server.preempt(body)
        assert {name: (one.uids, one.NumPDBViolations) for name, one in result.items()} == {
            "n2": (["uid-b", "uid-c"], 3)
        }


@pytest.mark.parametrize("empty", [None, {}, {"Pods": None}, {"Pods": [], "NumPDBViolations": 1}])
def test_entries_without_victims_are_never_in_the_answer(empty: Any):
    assert running("a").preempt(victims(n1=empty, n2=whole("a"))).keys() == {"n2"}
    assert running("a").preempt(meta_victims(n1=empty, n2=by_uid("a"))).keys() == {"n2"}
    assert running("a").preempt(victims(n1=empty)) == {}


def test_victims_that_are_gone_do_not_spare_their_neighbours():
    """kube-scheduler's own snapshot may still have them, so those that it named stay in the answer."""
    server = running("a", "dear")
    result = server.preempt(meta_victims(n1=by_uid("a", "gone"), n2=by_uid("gone", "dear")))
    assert {name: one.uids for name, one in result.items()} == {"n1": ["uid-a", "uid-gone"]}


def test_a_node_whose_victims_are_all_unknown_is_no_candidate():
    assert running("a").preempt(meta_victims(n1=by_uid("gone"), n2=by_uid("a"))).keys() == {"n2"}
    nobody_asked = Server(watched=[make_node("n1"), make_pod("a", node="n1", metadata={"uid": "uid-a"})])
    assert nobody_asked.preempt(meta_victims(n1=by_uid("gone"), n2=by_uid("a"))).keys() == {"n2"}


def test_victims_by_uid_without_a_watch_say_what_to_do():
    answer = Server(Sparing()).verbs.preempt(captured("preempt-meta"), in_time)
    assert "victims only by uid" in failure(answer)
    assert "nodeCacheCapable: false" in answer.error


def test_a_preemption_without_victims_at_all_says_so():
    answer = Server(Sparing()).verbs.preempt(encode({"Pod": pod()}), in_time)
    assert failure(answer).startswith("the request has neither NodeNameToVictims nor NodeNameToMetaVictims")
    assert Server(Sparing()).preempt(victims()) == {}


def test_a_plugin_cannot_add_nodes_or_victims():
    class Greedy(Plugin):
        def preempt(self, state, pod, victims_by_node):
            (some,) = victims_by_node.values()
            return {"n1": (*some, *some), "n9": some}

    result = Server(Greedy()).preempt(victims(n1=whole("a")))
    assert {name: one.uids for name, one in result.items()} == {"n1": ["uid-a"]}


def test_the_second_plugin_is_asked_about_what_the_first_left():
    asked = []

    class Second(Plugin):
        def preempt(self, state, pod, victims_by_node):
            asked.append(list(victims_by_node))
            return victims_by_node

    Server(Sparing(), Second()).preempt(victims(n1=whole("dear"), n2=whole("a")))
    assert asked == [["n2"]]


def test_without_plugins_that_have_a_say_every_candidate_stays():
    assert Server(Content()).preempt(victims(n1=whole("a"), n2=whole("b"))).keys() == {"n1", "n2"}


plans = st.dictionaries(
    st.sampled_from(["n1", "n2", "n3"]),
    st.none() | st.tuples(st.lists(st.sampled_from("abcdef"), unique=True, max_size=3), st.integers(0, 5)),
)


@given(plan=plans, there=st.sets(st.sampled_from("abcdef")))
def test_what_stays_in_a_plan_is_what_was_offered(plan: dict[str, tuple[list[str], int] | None], there: set[str]):
    whole_plan = {name: None if entry is None else whole(*entry[0], n=entry[1]) for name, entry in plan.items()}
    meta_plan = {name: None if entry is None else by_uid(*entry[0], n=entry[1]) for name, entry in plan.items()}
    server = running(*there)
    for body, known in ((victims(**whole_plan), set("abcdef")), (meta_victims(**meta_plan), there)):
        result = preemption_result(server.verbs.preempt(body, in_time))
        assert {name: (one.uids, one.NumPDBViolations) for name, one in result.items()} == {
            name: ([f"uid-{pod}" for pod in entry[0]], entry[1])
            for name, entry in plan.items()
            if entry is not None and known & set(entry[0])
        }


# --- deadlines ---


MANY = [node(f"n{i}") for i in range(600)]


def test_names_that_are_not_known_do_not_even_pass_a_late_call():
    server = Server(Slow(), watched=[make_node("n1"), make_node("n2")], allow_on_timeout=True)
    result = server.filter(with_names("n1", "n9", "n2"), Looks(1))
    assert result.NodeNames == ["n1", "n2"]
    assert result.FailedAndUnresolvableNodes.keys() == {"n9"}


def test_only_lateness_lets_nodes_pass():
    server = Server(faulty("filter", raises), allow_on_timeout=True)
    assert server.filter(with_nodes(node("n1"))).Error.startswith(
        'running "Faulty" filter plugin: boom (test_verbs.py:'
    )
    assert server.filter(b"{", Looks(1)).Error
    assert server.filter(with_names("n1"), Looks(1)).Error


def test_a_call_that_was_late_leaves_nothing_behind_for_the_next():
    server = Server(Slow())
    assert server.filter(with_nodes(*MANY), Looks(3)).Error
    assert len(server.filter(with_nodes(*MANY)).survivors) == 540
    assert server.nodes.n_decoded == 600


# --- what is worth knowing of an answer ---


def test_an_answer_tells_what_was_asked_and_what_came_of_it():
    server = Server(Slow(), watched=[make_node("n1"), make_node("n2")])
    answer = server.verbs.filter(with_names("n1", "n2", "n9"), in_time)
    assert (answer.pod, answer.n_offered, answer.n_kept, answer.error) == ("d/p", 3, 1, "")
    answer = server.verbs.prioritize(with_names("n1", "n2", "n9"), in_time)
    assert (answer.pod, answer.n_offered, answer.n_kept, answer.error) == ("d/p", 3, 3, "")
    answer = server.verbs.preempt(victims(n1=whole("a"), n2=whole()), in_time)
    assert (answer.pod, answer.n_offered, answer.n_kept, answer.error) == ("d/p", 1, 1, "")
