"""Bodies of the extender protocol: what kube-scheduler sent, what others send, what we answer."""

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.errors import ExtenderError
from kubesched.wire import (
    BindingArgs,
    ExtenderArgs,
    MetaPod,
    MetaVictims,
    PreemptionArgs,
    binding_answer,
    filter_answer_error,
    filter_answer_names,
    filter_answer_nodes,
    host_priority,
    parse_binding_args,
    parse_extender_args,
    parse_names,
    parse_preemption_args,
    preemption_answer,
    prioritize_answer,
    protocol_requests,
    utf8_text,
)
from tests.extender.asking import FilterResult, HostPriority, PreemptionResult, captured

KEY = re.compile(rb'"(Pod|Nodes|NodeNames|NodeNameToVictims|NodeNameToMetaVictims|Pods|NumPDBViolations|UID)":')
POD = b'{"metadata":{"name":"p"}}'


@pytest.fixture
def quick_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are not read key by key."""

    def refuse(body: object) -> ExtenderArgs:
        raise AssertionError(f"read key by key: {bytes(body)[:200]!r}")

    monkeypatch.setattr(protocol_requests, "_parse_args_by_key", refuse)


@pytest.mark.usefixtures("quick_only")
@pytest.mark.parametrize(
    "body",
    [
        captured("filter-names"),
        captured("filter-nodes"),
        protocol_requests.names_request(POD, ["n1"]),
        protocol_requests.nodes_request(POD, [b"{}"]),
    ],
    ids=["recorded names", "recorded nodes", "our names", "our nodes"],
)
def test_what_kube_scheduler_sends_is_read_the_quick_way(body: bytes) -> None:
    args = parse_extender_args(body)
    assert args.pod
    assert args.names or args.nodes


def test_the_quick_way_reads_every_field_of_a_request() -> None:
    quick = {name.lower().removeprefix("node") for name in protocol_requests._GoArgs.__struct_fields__}
    assert quick == {name.removeprefix("node") for name in ExtenderArgs.__struct_fields__}


def spelled(how: Callable[[bytes], bytes], body: bytes) -> bytes:
    """The body with the protocol's own keys spelled in another way; those of pods and nodes stay."""
    return KEY.sub(lambda key: how(key[0]), body)


def shouted_and_whispered(key: bytes) -> bytes:
    return bytes(c - 32 if i % 2 and 97 <= c <= 122 else c for i, c in enumerate(key.lower()))


def as_tagged(key: bytes) -> bytes:
    """The keys of the tagged types of v1.11 to v1.16."""
    return {
        b'"Pods":': b'"pods":',
        b'"NodeNameToVictims":': b'"nodeToVictims":',
        b'"NodeNameToMetaVictims":': b'"nodeNameToMetaVictims":',
        b'"NumPDBViolations":': b'"numPDBViolations":',
    }.get(key, key.lower())


SPELLINGS = [bytes, bytes.lower, bytes.upper, shouted_and_whispered, as_tagged]


def in_every_spelling(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.parametrize("how", SPELLINGS, ids=["Go", "lower", "UPPER", "mIxEd", "tagged"])(test)


# --- filter and prioritize ---


def pod_of(args: ExtenderArgs | PreemptionArgs) -> dict[str, Any]:
    pod: dict[str, Any] = json.loads(bytes(args.pod))
    return pod


def node_names(args: ExtenderArgs) -> list[str]:
    assert args.nodes is not None
    return [json.loads(bytes(raw))["metadata"]["name"] for raw in args.nodes]


@in_every_spelling
def test_nodes_as_kube_scheduler_sends_them(how: Callable[[bytes], bytes]):
    body = captured("filter-nodes")
    args = parse_extender_args(spelled(how, body))
    assert pod_of(args)["metadata"]["annotations"] == {"a": "<x> & y"}
    assert (node_names(args), args.names) == (["n1", "n2"], None)
    assert all(bytes(raw) in body for raw in args.nodes or [])


@in_every_spelling
def test_names_as_kube_scheduler_sends_them(how: Callable[[bytes], bytes]):
    args = parse_extender_args(spelled(how, captured("filter-names")))
    assert pod_of(args)["metadata"]["name"] == "p"
    assert args.nodes is None
    assert args.names is not None
    assert parse_names(args.names) == ["n1", "n2"]


@pytest.mark.parametrize("given", [bytes, bytearray, memoryview])
def test_a_body_may_be_any_kind_of_bytes(given: Callable[[bytes], Any]):
    assert node_names(parse_extender_args(given(captured("filter-nodes")))) == ["n1", "n2"]
    assert node_names(parse_extender_args(given(spelled(bytes.lower, captured("filter-nodes"))))) == ["n1", "n2"]
    assert parse_preemption_args(given(captured("preempt-meta"))).meta_victims
    assert parse_binding_args(given(captured("bind"))).node == "n1"


def test_the_nodes_of_a_real_cluster_come_back_byte_for_byte():
    """The file is indented; what counts is that nothing is decoded and encoded again on the way."""
    recorded = captured("filter-answer-two-nodes-v1.17")
    args = parse_extender_args(recorded.replace(b"{", b'{"Pod":' + POD + b",", 1))
    assert node_names(args) == ["k8s-master", "node01"]
    assert args.nodes is not None
    answer = b"".join(filter_answer_nodes(args.nodes, {}, {}))
    for raw in args.nodes:
        assert bytes(raw) in recorded
        assert answer.count(bytes(raw)) == 1
    assert json.loads(answer)["Nodes"] == json.loads(recorded)["Nodes"]


NODES = [
    b'{"metadata":{"name":"n1"}}',
    b'{ "metadata" : {\n\t"name" : "n1" } , "x":[ ] }',
    '{"metadata":{"name":"größe-日本-😀"}}'.encode(),
    rb'{"metadata":{"name":"\u006e1","labels":{"a":"\u003c\ud83d\ude00\/\\\""}}}',
    b'{"metadata":{"name":"a","name":"b"},"n":1.0e+5,"m":-0}',
    b'{"metadata":{"name":"[{\\"}]"},"items":null,"Nodes":{"items":[]}}',
]


@given(
    nodes=st.lists(st.sampled_from(NODES), min_size=1, max_size=4),
    space=st.text(" \t\r\n", max_size=3).map(str.encode),
    key=st.sampled_from([b"Nodes", b"nodes"]),
)
def test_nodes_are_slices_of_the_body_without_the_space_around_them(nodes: list[bytes], space: bytes, key: bytes):
    listed = (space + b"," + space).join(nodes)
    body = b'{"Pod":%b,"%b":{"items":[%b]},"NodeNames":null}' % (POD, key, space + listed + space)
    args = parse_extender_args(body)
    assert [bytes(raw) for raw in args.nodes or []] == nodes
    answer = b"".join(filter_answer_nodes(args.nodes or [], {}, {}))
    assert [bytes(raw) for raw in msgspec.json.decode(answer, type=FilterResult).Nodes.items] == nodes  # type: ignore[union-attr]


PAIR = re.compile(r"[01]")


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ('"NodeNames":0,"NodeNames":1', ["n1"]),
        ('"NodeNames":0,"nodenames":1', ["n1"]),
        ('"nodenames":0,"NodeNames":1', ["n1"]),
        ('"NODENAMES":0,"nodeNames":1', ["n1"]),
        ('"NodeNames":0,"nodenames":1,"NodeNames":0', ["n0"]),
        ('"NodeNames":0,"nodenames":null', None),
        ('"nodenames":null,"NodeNames":1', ["n1"]),
        ('"NodeNames":0,"x":{"NodeNames":1},"node_names":1', ["n0"]),
    ],
)
def test_of_keys_that_come_twice_the_last_one_counts(keys: str, names: list[str] | None):
    text = PAIR.sub(lambda number: f'["n{number[0]}"]', keys)
    args = parse_extender_args(f'{{"Pod":{{}},"Nodes":null,{text}}}'.encode())
    assert (None if args.names is None else parse_names(args.names)) == names


@pytest.mark.parametrize(
    "pods", ['"Pod":{"n":0},"Pod":{"n":1}', '"Pod":{"n":0},"pod":{"n":1}', '"pod":{"n":0},"Pod":{"n":1}']
)
def test_the_last_pod_counts(pods: str):
    args = parse_extender_args(f'{{{pods},"Nodes":null,"NodeNames":["n1"]}}'.encode())
    assert pod_of(args) == {"n": 1}


@pytest.mark.parametrize("items", ['"items":0,"items":1', '"items":0,"Items":1', '"ITEMS":0,"items":1'])
def test_the_last_items_count(items: str):
    text = PAIR.sub(lambda number: f'[{{"metadata":{{"name":"n{number[0]}"}}}}]', items)
    assert node_names(parse_extender_args(f'{{"Pod":{{}},"Nodes":{{{text}}},"NodeNames":null}}'.encode())) == ["n1"]


def test_the_keys_of_the_other_form_may_be_missing_and_unknown_ones_are_ignored():
    assert parse_extender_args(b'{"Pod":{},"NodeNames":["n1"],"More":[{}]}').nodes is None
    assert parse_extender_args(b'{"Nodes":{"items":[{}]},"Pod":{}}').names is None
    assert parse_extender_args(b'{"Nodes":{"kind":"NodeList","items":[{}]},"Pod":{},"NodeNames":null}').nodes


@pytest.mark.parametrize("nodes", ["{}", '{"items":null}', '{"items":[]}', '{"metadata":{},"items":null}'])
@pytest.mark.parametrize("key", ["Nodes", "nodes"])
def test_a_list_without_nodes_is_an_empty_list(key: str, nodes: str):
    assert parse_extender_args(f'{{"Pod":{{}},"{key}":{nodes},"NodeNames":null}}'.encode()).nodes == []


def test_a_request_may_show_no_nodes_at_all():
    for rest in (b"", b',"Nodes":null', b',"nodes":null,"nodenames":null', b',"Nodes":null,"NodeNames":null'):
        args = parse_extender_args(b'{"Pod":{}' + rest + b"}")
        assert (args.nodes, args.names) == (None, None)


BAD_ARGS = [
    (b"", "ExtenderArgs: "),
    (b"null", "ExtenderArgs: .*expected a JSON object"),
    (b"[]", "ExtenderArgs: .*expected a JSON object"),
    (b'{"Pod":{},"Nodes":null', "ExtenderArgs: "),
    (b'{"Pod":{}} {"Pod":{}}', "ExtenderArgs: "),
    (b"\xff\xfe", "ExtenderArgs: "),
    (b'\xef\xbb\xbf{"Pod":{}}', "ExtenderArgs: "),
    (b'{"Pod":{},"Nodes":NaN}', "ExtenderArgs: "),
    (b"[" * 100_000, "ExtenderArgs: "),
    (b'{"Pod":{},"Nodes":null,"x":' + b"[" * 100_000, "ExtenderArgs: "),
    (b'{"Nodes":null,"NodeNames":["n1"]}', "^Pod is missing; every request of a kube-scheduler has it$"),
    (b'{"Pod":null,"Nodes":null,"NodeNames":["n1"]}', "^Pod is missing"),
    (b'{"pod" : null }', "^Pod is missing"),
    (b'{"Pod":{},"pod":null,"Nodes":null,"NodeNames":["n1"]}', "^Pod is missing"),
    (b'{"Pod":{},"Nodes":[],"NodeNames":null}', "^Nodes: .*expected a JSON object"),
    (b'{"Pod":{},"Nodes":{"items":{}},"NodeNames":null}', r"^Nodes\.items: .*expected a list of nodes"),
    (b'{"Pod":{},"Nodes":{"items":"n1"},"NodeNames":null}', r"^Nodes\.items: .*expected a list of nodes"),
    (b'{"Pod":{"a":"\xff"},"pod":{"a":"\xff"},"Nodes":null,"NodeNames":[]}', "ExtenderArgs: .*utf-8"),
]


@pytest.mark.parametrize(("body", "message"), BAD_ARGS, ids=range(len(BAD_ARGS)))
def test_what_is_no_request_is_said_in_a_sentence(body: bytes, message: str):
    with pytest.raises(ExtenderError, match=message) as raised:
        parse_extender_args(body)
    assert len(str(raised.value)) < 300
    assert "\n" not in str(raised.value)


def test_a_huge_number_beside_keys_that_come_twice_does_no_harm():
    body = b'{"Pod":{},"pod":{"n":1},"Nodes":null,"x":%b,"NodeNames":["n1"]}' % (b"1" * 5000)
    assert pod_of(parse_extender_args(body)) == {"n": 1}


@pytest.mark.parametrize("names", [b'"n1"', b"{}", b"[1]", b"[null]", b'["n1",["n2"]]', b'["\xff"]', rb'["\ud800"]'])
def test_names_that_are_none_are_refused(names: bytes):
    with pytest.raises(ExtenderError, match=r"^NodeNames: .*; expected a list of strings$"):
        parse_names(names)


# --- preempt ---


@in_every_spelling
def test_victims_as_kube_scheduler_sends_them(how: Callable[[bytes], bytes]):
    args = parse_preemption_args(spelled(how, captured("preempt-victims")))
    assert pod_of(args)["metadata"]["name"] == "p"
    assert args.meta_victims is None
    assert args.victims is not None
    assert args.victims.keys() == {"n1"}
    (victim,) = args.victims["n1"].pods
    assert json.loads(bytes(victim))["metadata"] == {"name": "v", "namespace": "d", "uid": "v1"}
    assert args.victims["n1"].n_pdb_violations == 2


@in_every_spelling
def test_victims_by_uid_as_kube_scheduler_sends_them(how: Callable[[bytes], bytes]):
    args = parse_preemption_args(spelled(how, captured("preempt-meta")))
    assert args.victims is None
    assert args.meta_victims == {"n1": MetaVictims((MetaPod("v1"),), 2)}


def test_names_of_nodes_are_no_keys_of_the_protocol():
    """Case folding is for fields; node names stay as they are, and two that differ in case are two."""
    entry = b'{"Pods":[{"UID":"v"}]}'
    body = b'{"Pod":{},"NodeNameToMetaVictims":{"Pods":%b,"pods":%b,"nodeToVictims":%b}}' % (entry, entry, entry)
    meta = parse_preemption_args(body).meta_victims
    assert meta is not None
    assert list(meta) == ["Pods", "pods", "nodeToVictims"]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("null", MetaVictims()),
        ("{}", MetaVictims()),
        ('{"Pods":null,"NumPDBViolations":null}', MetaVictims()),
        ('{"Pods":[],"NumPDBViolations":-1}', MetaVictims((), -1)),
        ('{"Pods":[{}]}', MetaVictims((MetaPod(""),))),
        ('{"Pods":[{"UID":null}]}', MetaVictims((MetaPod(""),))),
        ('{"Pods":[{"UID":"a","uid":"b"}]}', MetaVictims((MetaPod("b"),))),
        ('{"Pods":[{"UID":"a"}],"pods":[{"uid":"b"},{"Uid":"c"}]}', MetaVictims((MetaPod("b"), MetaPod("c")))),
        ('{"NumPDBViolations":1,"numPDBViolations":2,"NumPDBViolations":3}', MetaVictims((), 3)),
        (f'{{"NumPDBViolations":{2**63 - 1}}}', MetaVictims((), 2**63 - 1)),
    ],
)
def test_entries_of_victims(entry: str, expected: MetaVictims):
    args = parse_preemption_args(f'{{"Pod":{{}},"NodeNameToMetaVictims":{{"n1":{entry}}}}}'.encode())
    assert args.meta_victims == {"n1": expected}


@pytest.mark.parametrize(
    "keys",
    [
        '"NodeNameToVictims":0,"nodeToVictims":1',
        '"nodeToVictims":0,"NodeNameToVictims":1',
        '"NodeToVictims":0,"NODETOVICTIMS":1',
        '"NodeNameToVictims":null,"nodetovictims":1',
    ],
)
def test_the_last_spelling_of_the_victims_counts(keys: str):
    text = PAIR.sub(lambda number: f'{{"n{number[0]}":{{}}}}', keys)
    victims = parse_preemption_args(f'{{"Pod":{{}},{text}}}'.encode()).victims
    assert victims is not None
    assert victims.keys() == {"n1"}


BAD_PREEMPTION = [
    ("[]", "^ExtenderPreemptionArgs: "),
    ('{"NodeNameToVictims":{}}', "^Pod is missing"),
    ('{"Pod":{},"NodeNameToVictims":[]}', "^NodeNameToVictims: .*expected an object by node name"),
    ('{"Pod":{},"NodeNameToVictims":{"n1":[]}}', r"^NodeNameToVictims\['n1'\]: "),
    ('{"Pod":{},"NodeNameToVictims":{"n1":{"Pods":{}}}}', r"^NodeNameToVictims\['n1'\]\.Pods: "),
    ('{"Pod":{},"NodeNameToMetaVictims":{"n1":{"Pods":["v"]}}}', r"^NodeNameToMetaVictims\['n1'\]\.Pods\[0\]: "),
    ('{"Pod":{},"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":1}]}}}', r"\.Pods\[0\]\.UID: .*expected a string"),
    *(
        (
            f'{{"Pod":{{}},"NodeNameToMetaVictims":{{"n1":{{"NumPDBViolations":{number}}}}}}}',
            "NumPDBViolations: .*int64",
        )
        for number in ("1.0", "1e3", '"1"', "true", str(2**63), str(-(2**63) - 1), "1" * 5000)
    ),
]


@pytest.mark.parametrize(("body", "message"), BAD_PREEMPTION, ids=range(len(BAD_PREEMPTION)))
def test_what_is_no_preemption_is_said_in_a_sentence(body: str, message: str):
    with pytest.raises(ExtenderError, match=message) as raised:
        parse_preemption_args(body.encode())
    assert len(str(raised.value)) < 300


# --- bind ---


@pytest.mark.parametrize("how", [bytes, bytes.lower, bytes.upper])
def test_a_binding_as_kube_scheduler_sends_it(how: Callable[[bytes], bytes]):
    body = re.sub(rb'"Pod[A-Z]\w*":|"Node":', lambda key: how(key[0]), captured("bind"))
    assert parse_binding_args(body) == BindingArgs("p", "d", "u1", "n1")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"null", "^ExtenderBindingArgs: "),
        (b"{}", "^ExtenderBindingArgs: PodName, PodNamespace, PodUID, Node are missing or empty$"),
        (b'{"PodName":"p","PodNamespace":"d","Node":"n1"}', "^ExtenderBindingArgs: PodUID is missing or empty$"),
        (b'{"PodName":"p","PodNamespace":"d","PodUID":"","Node":"n1"}', "PodUID is missing or empty$"),
        (b'{"PodName":"p","PodNamespace":"d","PodUID":null,"Node":"n1"}', "PodUID is missing or empty$"),
        (
            b'{"PodName":"p","PodNamespace":"d","PodUID":"u","Node":""}',
            "^ExtenderBindingArgs: Node is missing or empty$",
        ),
        (b'{"PodName":"p","podname":null,"PodNamespace":"d","PodUID":"u","Node":"n"}', "PodName is missing or empty$"),
        (b'{"PodName":1}', "^PodName: .*expected a string$"),
        (b'{"PodName":"\xff"}', "^PodName: .*expected a string$"),
    ],
)
def test_what_is_no_binding_is_said_in_a_sentence(body: bytes, message: str):
    with pytest.raises(ExtenderError, match=message):
        parse_binding_args(body)


# --- answers ---

GO_ORDER = ["Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error"]
texts = st.text().map(utf8_text)
reasons = st.dictionaries(texts, texts, max_size=3)


@given(names=st.lists(texts, max_size=4), failed=reasons, unresolvable=reasons)
def test_a_filter_answer_with_names(names: list[str], failed: dict[str, str], unresolvable: dict[str, str]):
    answer = filter_answer_names(names, failed, unresolvable)
    assert msgspec.json.decode(answer, type=FilterResult) == FilterResult(None, names, failed, unresolvable, "")
    assert list(json.loads(answer)) == GO_ORDER


@given(n_nodes=st.integers(0, 3), failed=reasons, unresolvable=reasons)
def test_a_filter_answer_with_nodes(n_nodes: int, failed: dict[str, str], unresolvable: dict[str, str]):
    nodes = NODES[:n_nodes]
    answer = b"".join(filter_answer_nodes(nodes, failed, unresolvable))
    result = msgspec.json.decode(answer, type=FilterResult)
    assert result.raws == nodes
    assert (result.NodeNames, result.FailedNodes, result.Error) == (None, failed, "")
    assert result.FailedAndUnresolvableNodes == unresolvable
    assert list(json.loads(answer)) == GO_ORDER


@given(error=texts)
def test_a_filter_answer_with_an_error(error: str):
    result = msgspec.json.decode(filter_answer_error(error), type=FilterResult)
    assert result == FilterResult(None, None, {}, {}, error)


@given(scores=st.lists(st.tuples(texts, st.integers(0, 10)), max_size=4))
def test_a_prioritize_answer_is_a_bare_list(scores: list[tuple[str, int]]):
    answer = prioritize_answer([host_priority(name, score) for name, score in scores])
    assert msgspec.json.decode(answer, type=list[HostPriority]) == [HostPriority(*score) for score in scores]


@given(
    uids=st.dictionaries(texts, st.lists(texts, min_size=1, max_size=3), max_size=3), n=st.integers(-(2**63), 2**63 - 1)
)
def test_a_preemption_answer_is_always_by_uid(uids: dict[str, list[str]], n: int):
    victims = {name: MetaVictims(tuple(map(MetaPod, some)), n) for name, some in uids.items()}
    result = msgspec.json.decode(preemption_answer(victims), type=PreemptionResult).NodeNameToMetaVictims
    assert {name: one.uids for name, one in result.items()} == uids
    assert {one.NumPDBViolations for one in result.values()} <= {n}


def test_our_preemption_answer_reads_as_a_request():
    victims = {"n1": MetaVictims((MetaPod("v1"),), 2)}
    args = parse_preemption_args(b'{"Pod":{},' + preemption_answer(victims)[1:])
    assert args.meta_victims == victims


def test_a_binding_answer():
    class Result(msgspec.Struct, forbid_unknown_fields=True):
        Error: str

    assert msgspec.json.decode(binding_answer(), type=Result).Error == ""
    assert msgspec.json.decode(binding_answer("no <such> node"), type=Result).Error == "no <such> node"


def test_half_a_surrogate_pair_becomes_an_escape():
    assert utf8_text("no file caf\udce9") == "no file caf\\udce9"
    assert utf8_text("größe 😀") == "größe 😀"
