"""Bodies broken at random, with fixed seeds, and what every answer to one has to hold.

A body begins as one that kube-scheduler sends. Then its document is changed (types swapped, keys in another case, keys
twice, odd numbers, deep nesting, very long texts), it is written with whatever space and escapes JSON allows, and
sometimes its bytes are damaged. The reading of requests that answers are compared with is written here once more, in
the plainest way.
"""

import json
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from kubesched.errors import ExtenderError
from kubesched.framework import Plugin, Status
from kubesched.plugins import NodeAffinity, NodeResourcesFit, TaintToleration
from kubesched.testing import make_node, make_pod
from kubesched.wire import BindingArgs, parse_binding_args
from tests.extender.asking import (
    Server,
    as_go,
    captured,
    encode,
    failure,
    filter_result,
    host_priorities,
    in_time,
    preemption_result,
)

VERBS = ("filter", "prioritize", "preempt", "bind")
KNOWN = ("n1", "n2", "node01")
"""Nodes that the watch of the watching servers has shown."""


class Token(str):
    """A piece of JSON that is written as it stands."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """An object whose keys may come twice."""


class Case(NamedTuple):
    """One body and who gets it."""

    verb: str
    body: bytes
    server: int


# --- bodies ---

NUMBERS = ("0", "-1", "1", "1.0", "1e3", "-0", "0.5", "1e400", "1" * 5000, str(2**63), str(-(2**63) - 1), "NaN", "01")
TEXTS = ("", "n1", "n2", "n9", "N1", "\x00", "\u2028", "é" * 300, '"\\', "💥", "4", "-4", "1e99", "x" * 20_000, "Pods")
ODD = (
    *(Token(number) for number in NUMBERS),
    *(Token(text) for text in (r'"\ud800"', r'"\u006e1"', "nul", "Infinity", "'n1'", "", '"\x01"', "[" * 2000, "[],")),
    *TEXTS,
    *(None, True, False, [], [None], [[]], ["n1"], ["n1", "n1"], Pairs(), Pairs([("", None)])),
    Token("[" * 3000 + "]" * 3000),
    Token('{"a":' * 900 + "1" + "}" * 900),
)
SPACES = ("", "", "", " ", "\n\t", "\r\n  ")
SPACINGS: tuple[Callable[[Random], Callable[[], str]], ...] = (
    *(lambda rng: str,) * 4,
    lambda rng: lambda: rng.choice(SPACES),
)
PUNCTUATION = (b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\n", b"\x00", b"\xff", b"\xed\xa0\x80", b"null", b"9")


def tree(value: Any) -> Any:
    """A document whose objects are lists of pairs."""
    if isinstance(value, dict):
        return Pairs((key, tree(one)) for key, one in value.items())
    return [tree(one) for one in value] if isinstance(value, list) else value


def _real() -> dict[str, Any]:
    nodes = json.loads(captured("filter-answer-two-nodes-v1.17"))["Nodes"]
    return {"Pod": json.loads(captured("filter-names"))["Pod"], "Nodes": nodes, "NodeNames": None}


def _many_victims() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(captured("preempt-victims"))
    (pod,) = document["NodeNameToVictims"]["n1"]["Pods"]
    document["NodeNameToVictims"] = {name: {"Pods": [pod, pod], "NumPDBViolations": 0} for name in KNOWN}
    return document


_NODES, _NAMES = captured("filter-nodes"), captured("filter-names")
SENT: dict[str, tuple[bytes, ...]] = {
    "filter": (_NODES, _NODES, _NAMES, _NAMES, encode(_real())),
    "preempt": (captured("preempt-victims"), captured("preempt-meta"), encode(_many_victims())),
    "bind": (captured("bind"),),
}
SENT["prioritize"] = SENT["filter"]
TREES = {verb: [tree(json.loads(body)) for body in bodies] for verb, bodies in SENT.items()}


def copied(value: Any) -> Any:
    if isinstance(value, Pairs):
        return Pairs((key, copied(one)) for key, one in value)
    return [copied(one) for one in value] if isinstance(value, list) else value


def holders(value: Any, depth: int = 0) -> Iterator[Any]:
    """Every list and object that has something in it; those near the root more often."""
    if isinstance(value, list) and value:
        yield from [value] * max(1, 6 - 2 * depth)
        for one in value:
            yield from holders(one[1] if isinstance(value, Pairs) else one, depth + 1)


def changed(document: Any, rng: Random) -> Any:
    """The document with one to three changes."""
    document = copied(document)
    for _ in range(rng.choice((1, 1, 2, 3))):
        every = list(holders(document))
        if not every:
            return document
        rng.choice(CHANGES)(rng.choice(every), rng, every)
    return document


def _swap_value(holder: Any, rng: Random, every: list[Any]) -> None:
    _put(holder, rng.randrange(len(holder)), copied(rng.choice(ODD)))


def _drop(holder: Any, rng: Random, every: list[Any]) -> None:
    del holder[rng.randrange(len(holder))]


def _repeat(holder: Any, rng: Random, every: list[Any]) -> None:
    holder.insert(rng.randrange(len(holder) + 1), copied(rng.choice(holder)))


def _repeat_otherwise(holder: Any, rng: Random, every: list[Any]) -> None:
    """The same key once more, spelled in another way, with another value."""
    _repeat(holder, rng, every)
    _change_case(holder, rng, every)
    _swap_value(holder, rng, every)


def _change_case(holder: Any, rng: Random, every: list[Any]) -> None:
    for i, one in enumerate(holder):
        if isinstance(holder, Pairs) and rng.random() < 0.7:
            other = "".join(rng.choice((c.lower(), c.upper())) for c in one[0])
            holder[i] = (rng.choice((one[0].lower(), one[0].upper(), other, "nodeToVictims")), one[1])


def _move(holder: Any, rng: Random, every: list[Any]) -> None:
    _put(holder, rng.randrange(len(holder)), copied(rng.choice(every)))


def _rename(holder: Any, rng: Random, every: list[Any]) -> None:
    i = rng.randrange(len(holder))
    if isinstance(holder, Pairs):
        holder[i] = (rng.choice(TEXTS), holder[i][1])


def _shuffle(holder: Any, rng: Random, every: list[Any]) -> None:
    rng.shuffle(holder)


CHANGES: tuple[Callable[[Any, Random, list[Any]], None], ...] = (
    *(_swap_value, _swap_value, _drop, _repeat, _repeat_otherwise, _change_case, _move, _rename, _shuffle),
)


def _put(holder: Any, i: int, value: Any) -> None:
    holder[i] = (holder[i][0], value) if isinstance(holder, Pairs) else value


def written(value: Any, space: Callable[[], str], *, ascii_only: bool) -> str:
    """JSON with space where it is allowed."""
    if isinstance(value, Token):
        return str(value)
    if isinstance(value, list):
        texts = [written(one[1] if isinstance(value, Pairs) else one, space, ascii_only=ascii_only) for one in value]
        if isinstance(value, Pairs):
            keys = [json.dumps(key, ensure_ascii=ascii_only) for key, _ in value]
            texts = [f"{key}{space()}:{space()}{text}" for key, text in zip(keys, texts, strict=True)]
        opening, closing = "{}" if isinstance(value, Pairs) else "[]"
        return f"{opening}{space()}{f'{space()},{space()}'.join(texts)}{space()}{closing}"
    return json.dumps(value, ensure_ascii=ascii_only)


def damaged(data: bytes, rng: Random) -> bytes:
    """The bytes with a bit flipped, cut, or with a stretch removed, repeated or overwritten."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        start = rng.randrange(len(data))
        end = min(len(data), start + rng.choice((1, 2, 10, 200)))
        change = rng.randrange(5)
        if change == 0:
            data = data[:start] + bytes([data[start] ^ 1 << rng.randrange(8)]) + data[start + 1 :]
        elif change == 1 and rng.random() < 0.3:
            data = data[: start + 1]
        elif change == 2:
            data = (data[:start] + data[end:]) or b" "
        elif change == 3:
            data = data[:end] + data[start:]
        else:
            data = data[:start] + rng.choice(PUNCTUATION) + data[start + 1 :]
    return data


def cases(seed: int, portion: int, n: int) -> Iterator[Case]:
    """The bodies of a portion of a run, the same each time."""
    rng = Random(f"{seed} {portion}")
    for _ in range(n):
        verb = rng.choice(VERBS)
        number = rng.randrange(len(SENT[verb]))
        body = SENT[verb][number]
        how = rng.random()
        if how < 0.75:
            document = changed(TREES[verb][number], rng)
            body = written(document, rng.choice(SPACINGS)(rng), ascii_only=rng.random() < 0.5).encode()
        if how > 0.65 and body:
            body = damaged(body, rng)
        yield Case(verb, body, rng.randrange(3))


# --- servers ---


class Labelled(Plugin):
    """Reads what a node says of itself, per node."""

    def filter(self, state, pod, node):
        if node.labels.get("scheduler-node") or node.name.endswith("2"):
            return Status.unschedulable("taken")
        return Status.SUCCESS

    def score(self, state, pod, node):
        return len(node.name) % 101


class Striking(Plugin):
    """Reads names, over columns, and strikes nodes whose victims are many."""

    reasons = (Status.unschedulable("a long name"), Status.unresolvable("no name to speak of"))

    def filter_nodes(self, state, pod, nodes):
        lengths = np.array([len(name) for name in nodes.names], dtype=np.int64)
        return np.where(lengths > 100, 1, np.where(lengths < 2, 2, 0))

    def preempt(self, state, pod, victims_by_node):
        return {name: victims for name, victims in victims_by_node.items() if len(victims) < 3}


def servers() -> list[Server]:
    """One that sees whole nodes only, one with a watch, and one with a watch and rules of kube-scheduler."""
    nodes = [make_node(name) for name in KNOWN]
    victims = [make_pod("v", node="n1", metadata={"uid": "v1"})]
    in_tree = [NodeAffinity(), NodeResourcesFit(), TaintToleration()]
    return [
        Server(*in_tree, Labelled(), Striking()),
        Server(Labelled(), Striking(), watched=[*nodes, *victims]),
        Server(*in_tree, Striking(), watched=[*nodes, *victims], preemption_helps=True),
    ]


# --- what holds ---


def check(servers: list[Server], case: Case) -> bool:
    """Ask, and hold the answer against the protocol. Returns: whether the request was answered, not refused."""
    if case.verb == "bind":
        return _check_binding(case.body)
    verb = getattr(servers[case.server].verbs, case.verb)
    answer = verb(case.body, in_time)
    if case.verb != "preempt" and case.server and answer.status == 200 and not answer.error and is_odd(case.body):
        return True
    if case.verb == "filter":
        return _check_filter(case.body, filter_result(answer))
    if answer.status != 200:
        assert failure(answer)
        return False
    if case.verb == "prioritize":
        assert set(host_priorities(answer)) == set(offered(case.body))
    else:
        fields = read(case.body)
        offers = fields.get("nodenametometavictims") or fields.get("nodenametovictims") or {}
        assert preemption_result(answer).keys() <= dict(offers).keys()
    return True


def _check_filter(body: bytes, result: Any) -> bool:
    if result.Error:
        return False
    assert (result.Nodes is None) == (read(body).get("nodes") is None)
    names = {*result.survivors, *result.FailedNodes, *result.FailedAndUnresolvableNodes}
    assert names == set(offered(body))
    assert all(raw in body for raw in result.raws)
    return True


def _check_binding(body: bytes) -> bool:
    try:
        args = parse_binding_args(body)
    except ExtenderError:
        return False
    fields = read(body)
    said = (fields.get(key) or "" for key in ("podname", "podnamespace", "poduid", "node"))
    assert args == BindingArgs(*said)
    assert args.pod_name
    assert args.pod_namespace
    assert args.pod_uid
    assert args.node
    return True


def read(body: bytes) -> dict[str, Any]:
    """The fields of a request by lower-case key, the last of each; what kube-scheduler's decoder would see."""
    document = as_go(body, object_pairs_hook=Pairs)
    fields = folded(document)
    nodes = fields.get("nodes")
    if nodes is not None:
        fields["nodes"] = folded(nodes)
    return fields


def folded(pairs: Pairs) -> dict[str, Any]:
    fields = {key.casefold(): value for key, value in pairs}
    for key, value in pairs:
        if key.casefold() in ("nodetovictims", "nodenametovictims"):
            fields["nodenametovictims"] = value
    return fields


def is_odd(body: bytes) -> bool:
    """Whether a node has its name twice. With a watch, which of them is looked up is left open: Go writes one."""
    nodes = read(body).get("nodes") or {}
    return any(
        len([key for key, _ in node if key == "metadata"]) > 1
        or len([key for key, _ in dict(node)["metadata"] if key == "name"]) > 1
        for node in nodes.get("items") or ()
    )


def offered(body: bytes) -> list[str]:
    """The names of the nodes that a request asks about."""
    fields = read(body)
    if fields.get("nodes") is None:
        return list(fields["nodenames"])
    return [_name(node) for node in fields["nodes"]["items"]]


def _name(node: Pairs) -> str:
    metadata: Mapping[str, Any] = dict(dict(node)["metadata"])
    return str(metadata["name"])


# --- a run ---


class Failure(NamedTuple):
    """A body that did harm."""

    portion: int
    number: int
    case: Case
    error: str


def run(seed: int, portion: int, n: int) -> tuple[int, list[Failure]]:
    """Send the bodies of a portion to fresh servers. Returns: how many were answered, and what went wrong."""
    asked = servers()
    n_answered, failures = 0, []
    for number, case in enumerate(cases(seed, portion, n)):
        try:
            n_answered += check(asked, case)
        except Exception as error:  # noqa: BLE001  # whatever comes is what is looked for
            place = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
            failures.append(Failure(portion, number, case, text))
    return n_answered, failures
