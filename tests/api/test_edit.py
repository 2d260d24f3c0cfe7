"""An edit changes the fields of an object and its JSON together."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import KubeObject, Node, Pod, Taint, Toleration, decode_object, edited, kind_of, on_node, rewritten

LABELS = st.dictionaries(st.sampled_from(["app", "team", "zone"]), st.sampled_from(["a", "b"]), max_size=2)
TOLERATIONS = st.lists(
    st.fixed_dictionaries({"key": st.sampled_from(["a", "b", "c"]), "operator": st.just("Exists")}), max_size=3
)


def from_json(known: KubeObject) -> KubeObject:
    return decode_object(kind_of(known), known.raw)


def pod_of(document: dict[str, Any]) -> Pod:
    pod = decode_object("Pod", msgspec.json.encode(document))
    assert isinstance(pod, Pod)
    return pod


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    metadata: dict[str, Any] = {"name": "web", "managedFields": [{"manager": "kubectl"}], "labels": draw(LABELS)}
    if draw(st.booleans()):
        metadata |= {"namespace": "shop", "uid": "u1"}
    spec: dict[str, Any] = {"containers": [{"name": "c", "image": "i", "command": ["run"]}], "dnsPolicy": "Default"}
    if draw(st.booleans()):
        spec |= {"nodeName": "n1", "tolerations": draw(TOLERATIONS)}
    return pod_of(
        {"metadata": metadata, "spec": spec, **({"status": {"phase": "Running"}} if draw(st.booleans()) else {})}
    )


@given(pod=pods(), labels=LABELS, node=st.sampled_from(["", "n1", "n2"]), tolerations=TOLERATIONS, phase=st.booleans())
def test_an_edited_pod_is_what_its_edited_json_decodes_to(pod: Pod, labels, node, tolerations, phase):
    after = edited(
        pod,
        metadata=msgspec.structs.replace(pod.metadata, labels=labels),
        spec=msgspec.structs.replace(
            pod.spec, node_name=node, tolerations=tuple(msgspec.convert(one, Toleration) for one in tolerations)
        ),
        status=msgspec.structs.replace(pod.status, phase="Pending" if phase else ""),
    )
    assert from_json(after) == after
    assert after.document["metadata"]["managedFields"] == pod.document["metadata"]["managedFields"]
    assert after.document["spec"]["dnsPolicy"] == "Default"
    assert after.document["spec"]["containers"] == pod.document["spec"]["containers"]


def test_a_pod_may_be_edited_any_number_of_times_before_its_json_is_asked_for():
    pod = pod_of({"metadata": {"name": "web"}, "spec": {"dnsPolicy": "Default"}})
    for i in range(2000):
        pod = edited(pod, metadata=msgspec.structs.replace(pod.metadata, labels={"i": str(i)}))
    assert pod.document["metadata"]["labels"] == {"i": "1999"}
    assert pod.document["spec"] == {"dnsPolicy": "Default"}


@given(pod=pods(), node=st.sampled_from(["", "n1"]))
def test_a_rewritten_pod_is_what_its_json_decodes_to(pod: Pod, node: str):
    after = rewritten(pod, lambda document: document["spec"].update(nodeName=node))
    assert (after.node_name, from_json(after)) == (node, after)


@given(pod=pods(), node=st.sampled_from(["", "n1", "n2"]))
def test_a_pod_on_another_node_is_what_its_json_decodes_to(pod: Pod, node: str):
    nominated = edited(pod, status=msgspec.structs.replace(pod.status, nominated_node_name="n3"))
    after = on_node(nominated, node)
    assert (after.node_name, after.status.nominated_node_name, from_json(after)) == (node, "", after)


def test_an_edit_without_a_difference_leaves_the_json():
    pod = pod_of({"metadata": {"name": "web"}, "spec": {"restartPolicy": "Never"}})
    after = edited(pod, metadata=msgspec.structs.replace(pod.metadata), spec=msgspec.structs.replace(pod.spec))
    assert after.document == pod.document


def test_what_is_not_decoded_of_the_items_that_stay_is_kept():
    taints = [
        {"key": "a", "effect": "NoExecute", "timeAdded": "2024-01-01T00:00:00Z"},
        {"key": "b", "effect": "NoExecute"},
    ]
    node = decode_object("Node", msgspec.json.encode({"metadata": {"name": "n1"}, "spec": {"taints": taints}}))
    assert isinstance(node, Node)
    more = edited(node, spec=msgspec.structs.replace(node.spec, taints=(*node.taints, Taint("c", effect="NoSchedule"))))
    assert more.document["spec"]["taints"] == [*taints, {"key": "c", "effect": "NoSchedule"}]
    fewer = edited(node, spec=msgspec.structs.replace(node.spec, taints=node.taints[:1]))
    assert fewer.document["spec"]["taints"] == taints[:1]


@pytest.mark.parametrize("made", [Node, Pod])
def test_an_object_that_was_not_decoded_has_the_json_of_its_fields(made: type[KubeObject]):
    known = made(metadata=msgspec.structs.replace(made().metadata, name="x"))
    after = edited(known, metadata=msgspec.structs.replace(known.metadata, labels={"a": "b"}))
    assert after.document["metadata"] == {"name": "x", "labels": {"a": "b"}}
