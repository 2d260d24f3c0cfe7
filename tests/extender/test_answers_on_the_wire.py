"""What the extender tells a kube-scheduler over the wire: errors that say why, answers that are safe to act on.

What the verbs do with their bodies is in test_verbs.py.
"""

import asyncio
import json
import re
import time
from typing import Any

import pytest

from kubesched.framework import Plugin, PreFilterResult, Status
from kubesched.testing import make_node
from tests.extender.asking import FilterResult, captured, encode, node, pod, with_names, with_nodes
from tests.extender.wired import Client, First, Reply, Wired, ask, cluster, filtered, get, posted, tell, wired

# --- requests that cannot be answered ---


EMPTY = [b"", b"null", b"{}", b"[]", b'""', b"{", b'{"Pod":null,"Nodes":null,"NodeNames":null}', b"\xff\xfe"]


@pytest.mark.parametrize("body", EMPTY)
def test_a_body_that_asks_nothing_is_an_error_and_never_a_silent_rejection(body: bytes):
    """kube-scheduler would take `{}` for "no node passes", and `null` too."""

    async def story(_: Wired, client: Client) -> list[Reply]:
        return [await client.post(path, body) for path in ("/filter", "/prioritize", "/preempt")]

    answer, *others = tell(story)
    assert filtered(answer).Error
    for other in others:
        assert other.status == 500
        assert other.text.strip()


def test_both_forms_are_answered_in_their_own_whatever_the_author_had_in_mind():
    async def story(_: Wired, client: Client) -> list[FilterResult]:
        return [filtered(await client.post("/filter", captured(form))) for form in ("filter-names", "filter-nodes")]

    names, nodes = tell(story)
    assert (names.NodeNames, names.Nodes) == (["n1"], None)
    assert (nodes.survivors, nodes.NodeNames) == (["n1"], None)


def test_names_without_a_watch_and_no_nodes_at_all_say_what_to_do():
    unwatched = filtered(posted("/filter", captured("filter-names"), watched=None))
    assert "start it with --kubeconfig, or set nodeCacheCapable: false" in unwatched.Error
    nothing = encode({"Pod": pod(), "Nodes": None, "NodeNames": None})
    assert "neither Nodes nor NodeNames" in filtered(posted("/filter", nothing)).Error


def test_names_that_the_watch_has_not_shown_are_rejected_with_the_reason_until_it_does():
    async def story(running: Wired, client: Client) -> list[Any]:
        body = with_names("n1", "n9")
        before = await client.post("/filter", body)
        scores = await client.post("/prioritize", body)
        running.show(make_node("n9"))
        after = await client.post("/filter", body)
        return [filtered(before), scores.json, filtered(after), (await client.get("/metrics")).text]

    before, scores, after, metrics = tell(story)
    assert before.NodeNames == after.NodeNames == ["n1"]
    assert before.FailedAndUnresolvableNodes == {"n9": "kubesched: the node is not in the extender's cache yet"}
    assert after.FailedAndUnresolvableNodes == {"n9": "not the first"}
    assert {"Host": "n9", "Score": 0} in scores
    assert "kubesched_extender_nodes_unknown_total 2.0" in metrics


def test_until_it_is_ready_calls_fail_with_the_reason_and_only_readyz_is_not_ok():
    async def story(running: Wired, client: Client) -> dict[str, Reply]:
        replies = {path: await get(running, path) for path in ("/healthz", "/livez", "/readyz")}
        for path in ("/filter", "/prioritize"):
            replies[path] = await client.post(path, captured("filter-names"))
        running.service.unready = ""
        replies["later"] = await get(running, "/readyz")
        return replies

    found = tell(story, is_ready=False)
    assert {path: reply.status for path, reply in found.items()} == {
        "/healthz": 200,
        "/livez": 200,
        "/readyz": 500,
        "/filter": 200,
        "/prioritize": 500,
        "later": 200,
    }
    assert filtered(found["/filter"]).Error == "kubesched extender: not ready: starting"
    assert "[-]cache failed: starting" in found["/readyz"].text


def test_the_pages_of_a_component_are_there():
    async def story(_: Wired, client: Client) -> list[Reply]:
        await client.post("/filter", captured("filter-names"))
        return [
            await client.get(path) for path in ("/version", "/healthz", "/livez", "/readyz", "/metrics", "/inspect")
        ]

    version, *health, metrics, inspect = tell(story)
    assert version.json["gitVersion"].startswith("v")
    assert [(reply.status, reply.text) for reply in health] == [(200, "ok")] * 3
    assert 'kubesched_extender_requests_total{outcome="success",verb="filter"} 1.0' in metrics.text
    assert inspect.json["calls"][0]["pod"] == "d/p"


class Slow(Plugin):
    """Takes all the time there is before the first filter."""

    def pre_filter(self, state, pod, nodes):
        end = time.monotonic() + 0.04
        while time.monotonic() <= end:
            pass
        return Status.SUCCESS

    def filter(self, state, pod, node):
        return Status.SUCCESS


def test_a_call_without_time_left_says_so():
    async def story(_: Wired, client: Client) -> tuple[Reply, str]:
        return await client.post("/filter", captured("filter-names")), (await client.get("/metrics")).text

    reply, metrics = tell(story, Slow, http_timeout=0.05)
    assert filtered(reply).Error == "kubesched extender: no answer within 0.04s"
    assert 'kubesched_extender_requests_total{outcome="timeout",verb="filter"} 1.0' in metrics
    assert 'kubesched_extender_near_deadline_total{verb="filter"} 1.0' in metrics


# --- what never leaves the server ---


ODD_NODES = [
    b'{"metadata":{"name":"n1","managedFields":[{"manager":"kubelet","fieldsV1":{"f:status":{}}}]},"x":1e2}',
    b'{ "metadata" : {\n\t"name" : "n2" } , "status" : {"runtimeHandlers":[{"name":""}]} }',
    '{"metadata":{"name":"größe-日本-😀","labels":{"a":"\\u003c\\ud83d\\ude00\\/"}}}'.encode(),
    b'{"metadata":{"name":"n4"},"status":{"images":[{"names":["a@sha256:0"],"sizeBytes":12345678901}]},"spec":{}}',
]


class Numbered(Plugin):
    """Takes nodes whose name ends in an even number, and all without one."""

    def filter(self, state, pod, node):
        return Status.unschedulable("odd") if node.name[-1] in "13579" else Status.SUCCESS


@pytest.mark.parametrize("is_watched", [False, True])
def test_nodes_go_back_byte_for_byte(is_watched: bool):
    body = b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % (encode(pod()), b",".join(ODD_NODES))
    names = [json.loads(raw)["metadata"]["name"] for raw in ODD_NODES]
    result = filtered(
        posted("/filter", body, Numbered, watched=[make_node(name) for name in names] if is_watched else None)
    )
    assert result.raws == ODD_NODES[1:]
    assert result.FailedAndUnresolvableNodes == {"n1": "odd"}


class Everywhere(Plugin):
    """Names nodes that nobody asked about, and scores at both ends."""

    def pre_filter(self, state, pod, nodes):
        return PreFilterResult(frozenset({"n1", "n2", "elsewhere"}))

    def score(self, state, pod, node):
        return 100 if node.name == "n1" else 0

    def preempt(self, state, pod, victims_by_node):
        some = next(iter(victims_by_node.values()))
        return {**victims_by_node, "elsewhere": some, "n2": some}


@pytest.mark.parametrize("offered", [("n1",), ("n1", "n2"), ("n2", "n1", "n2", "n3")])
def test_no_node_comes_back_that_was_not_offered_or_twice(offered: tuple[str, ...]):
    watched = [*cluster(), make_node("n3"), make_node("elsewhere")]

    async def story(_: Wired, client: Client) -> list[Reply]:
        bodies = (with_names(*offered), with_nodes(*map(node, offered)))
        return [await client.post(path, body) for path in ("/filter", "/prioritize") for body in bodies]

    *results, scores, more_scores = tell(story, Everywhere, watched=watched)
    for result in map(filtered, results):
        assert result.survivors == [name for name in dict.fromkeys(offered) if name != "n3"]
        assert result.FailedAndUnresolvableNodes.keys() == set(offered) & {"n3"}
    assert scores.json == more_scores.json
    assert {one["Host"]: one["Score"] for one in scores.json} == {name: 10 * (name == "n1") for name in offered}
    assert posted("/preempt", captured("preempt-meta"), Everywhere, watched=watched).json[
        "NodeNameToMetaVictims"
    ].keys() == {"n1"}


# --- plugins that fail ---


class Nameless(Exception):
    def __str__(self):
        raise ValueError("no text")


FAULTS: dict[str, BaseException] = {
    "value": ValueError("boom"),
    "recursion": RecursionError("too deep"),
    "memory": MemoryError(),
    "stop": StopIteration(1),
    "nameless": Nameless(),
    "late": TimeoutError("late"),
    "lines": RuntimeError("two\nlines \x1b[31m and half a \udce9"),
    "exit": SystemExit(3),
    "cancel": asyncio.CancelledError(),
    "generator": GeneratorExit(),
    "group": BaseExceptionGroup("several", [SystemExit(1)]),
}


class Faulty(Plugin):
    """Raises what the pod is called after."""

    def filter(self, state, pod, node):
        raise FAULTS[pod.name]

    def score(self, state, pod, node):
        raise FAULTS[pod.name]

    def preempt(self, state, pod, victims_by_node):
        raise FAULTS[pod.name]


@pytest.mark.parametrize("name", FAULTS)
def test_whatever_a_plugin_raises_is_told_and_the_next_call_is_served(name: str):
    async def story(_: Wired, client: Client) -> list[Reply]:
        body = with_names("n1", "n2", pod=pod(name))
        plan = encode({"Pod": pod(name), "NodeNameToVictims": {"n1": {"Pods": [pod("v")]}}})
        calls = [("/filter", body), ("/prioritize", body), ("/preempt", plan), ("/predicates/First", body)]
        return [await client.post(*call) for call in calls]

    answer, scores, plan, other = tell(story, Faulty, First)
    assert filtered(answer).Error
    assert (scores.status, plan.status) == (500, 500)
    assert filtered(other).NodeNames == ["n1"]


def test_a_plugins_fault_is_told_with_its_name():
    body = with_names("n1", pod=pod("value"))
    place = r" \(test_answers_on_the_wire\.py:\d+ in filter\)"  # the exception is one object, raised there first
    error = filtered(posted("/filter", body, Faulty)).Error
    assert re.fullmatch(r'running "Faulty" filter plugin: ValueError: boom' + place, error)
    text = posted("/prioritize", body, Faulty).text
    assert re.search(r'plugin "Faulty" failed with: ValueError: boom' + place, text)


# --- size ---


def a_large_node(i: int) -> bytes:
    images = [{"names": [f"registry.example/team/app@sha256:{i:064x}"], "sizeBytes": 10**8 + i}]
    conditions = [
        {"type": kind, "status": "False", "reason": "KubeletHas"} for kind in ("MemoryPressure", "PIDPressure")
    ]
    amounts = {"cpu": "8", "memory": "32768000Ki", "pods": "110"}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": conditions, "images": images}
    labels = {"kubernetes.io/hostname": f"node-{i}", "topology.kubernetes.io/zone": "abc"[i % 3]}
    return encode({"metadata": {"name": f"node-{i}", "uid": f"u{i}", "labels": labels}, "spec": {}, "status": status})


@pytest.mark.parametrize("form", ["names", "nodes"])
def test_five_thousand_nodes_on_four_connections_are_answered_in_time(form: str):
    """In time for kube-scheduler, whose default is 5 s. Counted is the time of this process, with the client's part."""
    raws = [a_large_node(i) for i in range(5000)]
    names = [f"node-{i}" for i in range(5000)]
    if form == "names":
        body, watched = with_names(*names), [make_node(name) for name in names]
    else:
        body = b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % (encode(pod()), b",".join(raws))
        watched = None

    async def calls() -> list[Reply]:
        async with wired(Numbered, watched=watched, http_timeout=60) as running:
            return await asyncio.gather(*(ask(running, "/filter", body) for _ in range(4)))

    start = time.process_time()
    replies = asyncio.run(calls())
    assert time.process_time() - start < 5
    for result in map(filtered, replies):
        assert result.Error == ""
        if form == "names":
            assert result.NodeNames == names[::2]
        else:
            assert result.raws == raws[::2]
