"""Calls as a kube-scheduler sends them with nodeCacheCapable: false, and the right answer to each."""

import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import NamedTuple

import msgspec

from campaigns.weather.connections import Reply
from tests.extender.asking import FilterResult, HostPriority, encode, node, pod

KIB = 2**10
N_NODES = 1000
N_GENERATIONS = 3
"""How many versions there are of each node; most calls have another one than the call before."""

PLUGIN = '''"""The plugin of the weather campaign."""

import time

from kubesched import Plugin, Status


class Weather(Plugin):
    """Rejects every third node and scores by number; fails where a label of the pod asks for it."""

    def pre_filter(self, state, pod, nodes):
        mood = pod.labels.get("mood")
        if mood == "thunder":
            raise RuntimeError("thunder")
        if mood == "sleep":
            time.sleep(4.1)  # a call has 4 seconds
        return Status.SUCCESS

    def filter(self, state, pod, node):
        return Status.SUCCESS if int(node.labels["number"]) % 3 else Status.unschedulable("a multiple of three")

    def score(self, state, pod, node):
        return int(node.labels["number"]) % 11 * 10
'''


class Wrong(Exception):
    """The answer is not the right one."""


class Late(Exception):
    """The answer is that the call timed out. That is right only while the plugin sleeps."""


class Call(NamedTuple):
    """A request and the check of its answer, which raises Wrong, Late or a DecodeError of msgspec."""

    name: str
    data: bytes
    check: Callable[[Reply], None]


def head(path: str, size: int, *headers: str) -> bytes:
    """The head of a call as Go's client writes it."""
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers)
    return "\r\n".join((*lines, f"Content-Length: {size}", "", "")).encode()


def post(path: str, body: bytes, *headers: str) -> bytes:
    return head(path, len(body), *headers) + body


def small(rng: Random) -> Call:
    """A call about a few nodes."""
    return rng.choice((filter_call, prioritize_call))(_some_rows(rng, 1, 20), rng.randrange(N_GENERATIONS), "small")


def large(rng: Random) -> Call:
    """A call about 100 to 1,000 nodes: 0.5 to 5 MB."""
    return rng.choice((filter_call, prioritize_call))(_some_rows(rng, 100, 1000), rng.randrange(N_GENERATIONS), "large")


def livez() -> Call:
    def check(reply: Reply) -> None:
        if reply != (200, b"ok"):
            raise Wrong(f"/livez: {reply.status} {reply.body[:200]!r}")

    return Call("/livez", b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", check)


def filter_call(rows: range, generation: int = 0, size: str = "") -> Call:
    kept = [raw_nodes(generation)[i] for i in rows if i % 3]
    rejected = {f"node-{i}": "a multiple of three" for i in rows if not i % 3}

    def check(reply: Reply) -> None:
        result = filter_result(reply)
        if result.Error or result.raws != kept:
            raise Wrong(f"filter: {len(result.raws)} nodes instead of {len(kept)}, Error {result.Error!r}")
        if {**result.FailedNodes, **result.FailedAndUnresolvableNodes} != rejected:
            raise Wrong(f"filter: rejected are {len(result.FailedAndUnresolvableNodes)} instead of {len(rejected)}")

    return Call(f"filter, {size}", post("/filter", _body(rows, generation)), check)


def prioritize_call(rows: range, generation: int = 0, size: str = "") -> Call:
    expected = [HostPriority(f"node-{i}", i % 11) for i in rows]

    def check(reply: Reply) -> None:
        _refuse_late(reply)
        if reply.status != 200 or msgspec.json.decode(reply.body, type=list[HostPriority]) != expected:
            raise Wrong(f"prioritize: {reply.status} {reply.body[:200]!r}")

    return Call(f"prioritize, {size}", post("/prioritize", _body(rows, generation)), check)


def moody_call(mood: str, expected: str) -> Call:
    """A filter call whose pod makes the plugin fail; its Error has to contain `expected`."""

    def check(reply: Reply) -> None:
        if expected not in filter_result(reply, may_be_late=True).Error:
            raise Wrong(f"{mood}: {reply.body[:200]!r}")

    return Call(mood, post("/filter", _body(range(3), 0, mood=mood)), check)


def filter_result(reply: Reply, *, may_be_late: bool = False) -> FilterResult:
    if not may_be_late:
        _refuse_late(reply)
    if reply.status != 200:
        raise Wrong(f"filter: {reply.status} {reply.body[:200]!r}")
    return msgspec.json.decode(reply.body, type=FilterResult)


def _refuse_late(reply: Reply) -> None:
    if b"kubesched extender: no answer within" in reply.body[-200:]:
        raise Late


@cache
def raw_nodes(generation: int) -> list[bytes]:
    """The JSON of every node, about 5 KB each; those of another generation differ in one annotation."""
    nodes = [node(f"node-{i}", number=str(i)) for i in range(N_NODES)]
    for one in nodes:
        one["metadata"]["annotations"] = {"generation": str(generation), "padding": "x" * 5 * KIB}
    return [encode(one) for one in nodes]


def _some_rows(rng: Random, least: int, most: int) -> range:
    n = rng.randint(least, most)
    start = rng.randint(0, N_NODES - n)
    return range(start, start + n)


def _body(rows: range, generation: int, **labels: str) -> bytes:
    asked = pod()
    asked["metadata"]["labels"] = labels
    nodes = b",".join(raw_nodes(generation)[rows.start : rows.stop])
    start = json.dumps({"Pod": asked, "NodeNames": None}).encode()[:-1]
    return b'%b, "Nodes": {"metadata": {}, "items": [%b]}}' % (start, nodes)
