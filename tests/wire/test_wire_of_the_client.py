"""The other side of the protocol: requests as kube-scheduler v1.36.3 sends them, and how it reads odd answers."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.errors import ExtenderError
from kubesched.wire import (
    BindingArgs,
    FilterAnswer,
    MetaPod,
    MetaVictims,
    as_kube_scheduler_sends,
    binding_error,
    binding_request,
    filter_answer_names,
    filter_answer_nodes,
    meta_preemption_request,
    name_of,
    names_request,
    nodes_request,
    parse_binding_args,
    parse_extender_args,
    parse_filter_answer,
    parse_preemption_answer,
    parse_preemption_args,
    parse_priorities,
    preemption_answer,
    preemption_request,
)

POD_STORED = (
    b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","uid":"u1",'
    b'"annotations":{"a":"\\u003cx\\u003e \\u0026 y"},"managedFields":[{"manager":"kubectl"}]},'
    b'"spec":{"containers":null},"status":{}}'
)
POD = (
    b'{"metadata":{"name":"p","namespace":"d","uid":"u1","annotations":{"a":"\\u003cx\\u003e \\u0026 y"}},'
    b'"spec":{"containers":null},"status":{}}'
)
VICTIM = b'{"metadata":{"name":"v","namespace":"d","uid":"v1"},"spec":{"containers":null},"status":{}}'
NODE = (
    b'{"metadata":{"name":"%b"},"spec":{},"status":{"allocatable":{"cpu":"4"},"daemonEndpoints":{"kubeletEndpoint":'
    b'{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"",'
    b'"containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}}'
)
NODES = [NODE % b"n1", NODE % b"n2"]
TWO_VICTIMS = MetaVictims((MetaPod("v1"),), 2)

PARSERS: dict[str, Callable[[bytes], object]] = {
    "filter": parse_filter_answer,
    "prioritize": parse_priorities,
    "preempt": parse_preemption_answer,
    "bind": binding_error,
}
UNMARSHAL = "json: cannot unmarshal {} into Go struct field {} of type {}"
BODIES = Path(__file__).parents[1] / "extender/bodies"
RECORDED = [json.loads(line) for line in (BODIES / "go-decoder-errors.jsonl").read_text().splitlines()]


def refusal(parse: Callable[[bytes], object], body: bytes) -> str:
    """Why an answer is an error; empty where it is none."""
    try:
        answer = parse(body)
        if isinstance(answer, FilterAnswer):
            for node in answer.nodes or []:
                name_of(node)
    except ExtenderError as error:
        return str(error)
    return ""


# --- requests: the bytes that a v1.36.3 sent ---


def test_objects_are_sent_as_kube_scheduler_sends_them() -> None:
    assert as_kube_scheduler_sends(POD_STORED, is_pod=True) == POD
    node = NODES[0].replace(b'"name":"n1"', b'"name":"n1","managedFields":[{"manager":"kubelet"}]')
    assert as_kube_scheduler_sends(b'{"kind":"Node","apiVersion":"v1",' + node[1:]) == node


def test_a_pod_is_sent_with_the_node_that_it_is_assumed_on() -> None:
    """In the place of Go's struct, in which the API server writes the fields, too."""
    stored = b'{"metadata":{"name":"v"},"spec":{"containers":null,"serviceAccount":"a","securityContext":{}}}'
    sent = stored.replace(b'"securityContext"', b'"nodeName":"n<1","securityContext"').replace(b"<", rb"\u003c")
    assert as_kube_scheduler_sends(stored, is_pod=True, node_name="n<1") == sent
    assert as_kube_scheduler_sends(sent, is_pod=True, node_name="n<1") == sent


def test_a_pod_without_a_field_behind_its_node_gets_the_node_at_the_end() -> None:
    sent = VICTIM.replace(b'{"containers":null}', b'{"containers":null,"nodeName":"n1"}')
    assert as_kube_scheduler_sends(VICTIM, is_pod=True, node_name="n1") == sent


def test_what_html_could_read_is_escaped() -> None:
    sent = as_kube_scheduler_sends('{"metadata":{"annotations":{"a":"<x> & \u2028"}}}'.encode())
    assert sent == b'{"metadata":{"annotations":{"a":"\\u003cx\\u003e \\u0026 \\u2028"}}}'


def test_requests_with_names_and_with_whole_nodes() -> None:
    assert names_request(POD, ["n1", "n2"]) == b'{"Pod":' + POD + b',"Nodes":null,"NodeNames":["n1","n2"]}'
    items = b",".join(NODES)
    assert nodes_request(POD, NODES) == (
        b'{"Pod":' + POD + b',"Nodes":{"metadata":{},"items":[' + items + b']},"NodeNames":null}'
    )


def test_requests_of_preempt() -> None:
    assert preemption_request(POD, {"n1": ([VICTIM], 2)}) == (
        b'{"Pod":' + POD + b',"NodeNameToVictims":{"n1":{"Pods":[' + VICTIM + b'],"NumPDBViolations":2}},'
        b'"NodeNameToMetaVictims":null}'
    )
    assert meta_preemption_request(POD, {"n1": TWO_VICTIMS}) == (
        b'{"Pod":' + POD + b',"NodeNameToVictims":null,'
        b'"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"v1"}],"NumPDBViolations":2}}}'
    )


def test_maps_are_sent_in_the_order_of_their_keys_as_go_does() -> None:
    request = meta_preemption_request(POD, {"b": TWO_VICTIMS, "a": TWO_VICTIMS})
    assert list(json.loads(request)["NodeNameToMetaVictims"]) == ["a", "b"]


def test_the_request_of_bind() -> None:
    request = binding_request(BindingArgs("p", "d", "u1", "n1"))
    assert request == b'{"PodName":"p","PodNamespace":"d","PodUID":"u1","Node":"n1"}'


def test_the_server_reads_what_the_client_sends() -> None:
    names = parse_extender_args(names_request(POD, ["n1"]))
    assert (bytes(names.pod), names.nodes, names.names) == (POD, None, b'["n1"]')
    nodes = parse_extender_args(nodes_request(POD, NODES))
    assert ([bytes(node) for node in nodes.nodes or []], nodes.names) == (NODES, None)
    preemption = parse_preemption_args(meta_preemption_request(POD, {"n1": TWO_VICTIMS}))
    assert preemption.meta_victims == {"n1": TWO_VICTIMS}
    args = BindingArgs("p", "d", "u1", "n1")
    assert parse_binding_args(binding_request(args)) == args


# --- answers to filter ---


@pytest.mark.parametrize("body", [b"{}", b"null", b'{"node_names":["n1"]}', b'{"NodeNames":null}', b'  {} \n{"x'])
def test_an_answer_without_nodes_has_neither_form(body: bytes) -> None:
    answer = parse_filter_answer(body)
    assert (answer.names, answer.nodes, answer.failed, answer.unresolvable, answer.error) == (None, None, {}, {}, "")


@pytest.mark.parametrize("body", [b'{"Nodes":{"items":[]}}', b'{"Nodes":{"items":null}}', b'{"Nodes":{}}'])
def test_a_list_of_no_nodes_is_a_list(body: bytes) -> None:
    assert parse_filter_answer(body).nodes == []


def test_names_nodes_messages_and_error_are_read() -> None:
    answer = parse_filter_answer(
        b'{"Nodes":{"items":[{"metadata":{"name":"n2"}}]},"NodeNames":["n1"],"FailedNodes":{"a":"full"},'
        b'"FailedAndUnresolvableNodes":{"b":"old","c":null},"Error":"no"}'
    )
    assert [bytes(node) for node in answer.nodes or []] == [b'{"metadata":{"name":"n2"}}']
    assert (answer.names, answer.failed, answer.unresolvable) == (["n1"], {"a": "full"}, {"b": "old", "c": ""})
    assert answer.error == "no"


@pytest.mark.parametrize("key", ["NodeNames", "nodeNames", "nodenames", "NODENAMES"])
def test_keys_are_read_without_regard_to_case(key: str) -> None:
    assert parse_filter_answer(json.dumps({key: ["n1"]}).encode()).names == ["n1"]


def test_the_later_of_two_equal_keys_counts() -> None:
    assert parse_filter_answer(b'{"nodenames":["a"],"NodeNames":["b"]}').names == ["b"]


def scores_in(body: bytes) -> list[tuple[str, int]]:
    return [(entry.host, entry.score) for entry in parse_priorities(body)]


def test_only_the_first_value_counts() -> None:
    assert parse_filter_answer(b'{"NodeNames":["n1"]} and more').names == ["n1"]
    assert scores_in(b'[{"Host":"n1","Score":1}][') == [("n1", 1)]


@pytest.mark.parametrize(
    ("escaped", "read"),
    [
        (r"\ud83d!", "\ufffd!"),
        (r"\udc00\ud83d", "\ufffd\ufffd"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\\ud83d\ud83d", "\\ud83d\ufffd"),
    ],
)
def test_half_a_pair_of_surrogates_is_replaced_as_go_does(escaped: str, read: str) -> None:
    answer = parse_filter_answer(f'{{"NodeNames":[],"FailedNodes":{{"n1":"{escaped}"}}}}'.encode())
    assert answer.failed == {"n1": read}


def test_invalid_utf8_is_replaced_as_go_does() -> None:
    assert parse_filter_answer(b'{"Error":"\xff"}').error == "\ufffd"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "EOF"),
        (b" \n", "EOF"),
        (b"<html>", "invalid character '<' looking for beginning of value"),
        (b"[]", "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"),
        (b'{"Nodes":[]}', UNMARSHAL.format("array", "ExtenderFilterResult.Nodes", "v1.NodeList")),
        (b'{"FailedNodes":{"a":1}}', UNMARSHAL.format("number", "ExtenderFilterResult.FailedNodes", "string")),
        (b'{"NodeNames":[1]}', UNMARSHAL.format("number", "ExtenderFilterResult.NodeNames", "string")),
        (b'{"nodenames":{}}', UNMARSHAL.format("object", "ExtenderFilterResult.NodeNames", "[]string")),
        (b'{"Error":1}', UNMARSHAL.format("number", "ExtenderFilterResult.Error", "string")),
        (b'{"NodeNames":["a"', "unexpected EOF"),
        (b"[" * 5000, "unexpected EOF"),
        (b"[" * 10_001, "invalid character '[' exceeded max depth"),
    ],
)
def test_what_is_no_answer_to_filter_is_an_error_in_the_words_of_kube_scheduler(body: bytes, words: str) -> None:
    assert refusal(parse_filter_answer, body) == words


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (b"1", UNMARSHAL.format("number", "NodeList.Nodes.items", "v1.Node")),
        (b'{"metadata":"n1"}', UNMARSHAL.format("string", "Node.Nodes.items.metadata", "v1.ObjectMeta")),
        (b'{"metadata":{"name":1}}', UNMARSHAL.format("number", "ObjectMeta.Nodes.items.metadata.name", "string")),
        (b"null", "Nodes.items: found a node without a name"),
    ],
)
def test_a_node_that_is_none_is_an_error_in_the_words_of_kube_scheduler(item: bytes, words: str) -> None:
    def names_in(body: bytes) -> list[str]:
        return [name_of(node) for node in parse_filter_answer(body).nodes or []]

    assert refusal(names_in, b'{"Nodes":{"items":[%b]}}' % item) == words


def test_an_error_in_a_huge_answer_is_found_without_reading_all_of_it_slowly() -> None:
    names = b'{"NodeNames":["n1"' + b',"a-long-name-of-a-node"' * 400_000
    assert refusal(parse_filter_answer, names) == "unexpected EOF"
    assert "byte 9600018" in refusal(parse_filter_answer, names + b"x")
    words = UNMARSHAL.format("number", "ExtenderFilterResult.Error", "string")
    assert refusal(parse_filter_answer, names + b'],"Error":1}') == words


@pytest.mark.parametrize(("verb", "body", "words"), RECORDED)
def test_every_recorded_answer_is_read_or_refused_as_gos_decoder_does(verb: str, body: str, words: str) -> None:
    assert refusal(PARSERS[verb], body.encode("latin-1")) == words


def test_the_client_reads_what_the_server_answers() -> None:
    answer = parse_filter_answer(filter_answer_names(["n1"], {"n2": "full"}, {"n3": "old"}))
    assert (answer.names, answer.nodes, answer.failed, answer.unresolvable) == (
        ["n1"],
        None,
        {"n2": "full"},
        {"n3": "old"},
    )
    nodes = parse_filter_answer(b"".join(map(bytes, filter_answer_nodes(NODES, {}, {}))))
    assert ([bytes(node) for node in nodes.nodes or []], nodes.names) == (NODES, None)
    assert parse_preemption_answer(preemption_answer({"n1": TWO_VICTIMS})) == {"n1": TWO_VICTIMS}


# --- answers to prioritize ---


@pytest.mark.parametrize("body", [b"[]", b"null"])
def test_no_priorities_are_fine(body: bytes) -> None:
    assert parse_priorities(body) == []


def test_scores_are_taken_as_they_are() -> None:
    body = b'[{"Host":"a","Score":-3},{"host":"b","score":100},{"Host":"a","Score":4},{"Host":"c"},{"Score":9},null]'
    assert scores_in(body) == [("a", -3), ("b", 100), ("a", 4), ("c", 0), ("", 9), ("", 0)]


@given(st.lists(st.tuples(st.text(), st.integers(-(2**64), 2**64))))
def test_scores_are_the_same_whatever_the_case_of_their_keys(scores: list[tuple[str, int]]) -> None:
    def read(host: str, score: str) -> object:
        try:
            return scores_in(json.dumps([{host: name, score: value} for name, value in scores]).encode())
        except ExtenderError as error:
            return str(error)

    assert read("Host", "Score") == read("host", "score")


@pytest.mark.parametrize("score", ["7.0", "7.5", "1e3", '"7"', "99999999999999999999", "true"])
def test_one_score_that_is_not_an_integer_spoils_the_whole_answer(score: str) -> None:
    body = f'[{{"Host":"a","Score":1}},{{"Host":"b","Score":{score}}}]'.encode()
    kind = {'"7"': "string", "true": "bool"}.get(score, f"number {score}")
    assert refusal(parse_priorities, body) == UNMARSHAL.format(kind, "HostPriority.Score", "int64")


@pytest.mark.parametrize("body", [b"{}", b'"n1"', b"[1]", b""])
def test_what_is_not_a_list_of_priorities_is_an_error(body: bytes) -> None:
    assert refusal(parse_priorities, body).startswith(("json: cannot unmarshal ", "EOF"))


# --- answers to preempt and bind ---


@pytest.mark.parametrize("body", [b"{}", b"null", b'{"NodeNameToVictims":{"n1":{"Pods":[]}}}'])
def test_whole_pods_in_an_answer_are_no_candidates(body: bytes) -> None:
    assert parse_preemption_answer(body) == {}


def test_victims_are_read_by_uid() -> None:
    body = b'{"nodeNameToMetaVictims":{"n1":{"pods":[{"uid":"v1"}],"numPDBViolations":2},"n2":{"Pods":[]}}}'
    assert parse_preemption_answer(body) == {"n1": TWO_VICTIMS, "n2": MetaVictims()}


def test_victims_that_are_null_are_an_error_that_names_the_node() -> None:
    with pytest.raises(ExtenderError, match=r"NodeNameToMetaVictims\['n1'\]: found null"):
        parse_preemption_answer(b'{"NodeNameToMetaVictims":{"n1":null}}')


@pytest.mark.parametrize("body", [b"{}", b"null", b'{"Error":""}', b'{"error":null}'])
def test_a_binding_without_an_error_is_one(body: bytes) -> None:
    assert binding_error(body) == ""


def test_the_error_of_a_binding() -> None:
    assert binding_error(b'{"error":"the device is gone"}') == "the device is gone"
    with pytest.raises(ExtenderError, match="EOF"):
        binding_error(b"")


KEYS = st.sampled_from(["NodeNames", "Nodes", "items", "FailedNodes", "Error", "Host", "Score", "Pods", "UID"])
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda of: st.lists(of) | st.dictionaries(KEYS | st.just("NodeNameToMetaVictims"), of),
    max_leaves=8,
)


@pytest.mark.parametrize("parse", PARSERS.values(), ids=PARSERS)
@given(body=st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_answer_is_read_or_refused_in_one_sentence(parse: Callable[[bytes], object], body: bytes) -> None:
    assert "\n" not in refusal(parse, body)


@given(
    recorded=st.sampled_from(RECORDED), place=st.integers(0, 300), length=st.integers(0, 5), put=st.binary(max_size=5)
)
def test_an_answer_that_was_damaged_is_read_or_refused_in_one_sentence(
    recorded: tuple[str, str, str], place: int, length: int, put: bytes
) -> None:
    verb, text, _ = recorded
    body = text.encode("latin-1")
    assert "\n" not in refusal(PARSERS[verb], body[:place] + put + body[place + length :])
