"""Objects are decoded with what a scheduler reads, and remember where they came from."""

import re

import msgspec
import pytest

from kubesched.api import KINDS, Pod, decode_object, kind_key
from kubesched.errors import ObjectError


def test_an_object_remembers_its_source_and_gives_it_back_parsed() -> None:
    raw = b'{"metadata": {"name": "p"}, "spec": {"unknown": [1]}}'
    pod = decode_object("Pod", raw)
    assert (pod.raw, pod.document["spec"]) == (raw, {"unknown": [1]})
    pod.document["spec"].clear()
    assert pod.document["spec"] == {"unknown": [1]}


def test_an_object_may_let_go_of_its_source() -> None:
    raw = b'{"metadata": {"name": "p"}, "spec": {"nodeName": "n", "unknown": 1}}'
    pod = decode_object("Pod", raw, keep_source=False)
    assert pod.document["spec"] == {"nodeName": "n"}


def test_an_object_that_was_made_up_is_encoded() -> None:
    assert msgspec.json.decode(Pod().raw) == {}


def test_a_namespaced_object_without_a_namespace_is_in_default() -> None:
    assert decode_object("Pod", b'{"metadata": {"name": "p"}}').key == "default/p"
    assert decode_object("Node", b'{"metadata": {"name": "n"}}').key == "n"


def test_null_is_the_same_as_absent() -> None:
    given = b'{"metadata": {"name": "p", "labels": null}, "spec": {"containers": null, "tolerations": null}}'
    pod = decode_object("Pod", given)
    assert isinstance(pod, Pod)
    assert (pod.labels, pod.containers, pod.tolerations) == ({}, (), ())


@pytest.mark.parametrize(
    ("kind", "raw", "message"),
    [
        ("Pod", b"{", "Input data was truncated"),
        ("Pod", b"[]", "expected an object, found []"),
        ("Pod", b"{}", "metadata.name is missing"),
        ("Node", b'{"metadata": {"name": "n"}, "spec": {"taints": 7}}', "spec.taints: expected a list, found 7"),
    ],
)
def test_what_does_not_decode_is_refused_with_the_field(kind: str, raw: bytes, message: str) -> None:
    with pytest.raises(ObjectError, match=re.escape(message)):
        decode_object(kind, raw)


@pytest.mark.parametrize("key", KINDS)
def test_every_kind_decodes_and_encodes_to_the_same(key: str) -> None:
    kind = KINDS[key]
    metadata = {"name": "x", **({"namespace": "ns"} if kind.namespaced else {}), "labels": {"a": "b"}}
    found = decode_object(key, msgspec.json.encode({"metadata": metadata}))
    assert type(found) is kind.type
    again = decode_object(key, msgspec.json.encode(found))
    assert again == found
    assert kind.api_version == (f"{kind.group}/{kind.version}" if kind.group else "v1")


def test_kinds_of_one_name_are_told_apart_by_their_group() -> None:
    groups = ("scheduling.k8s.io", "scheduling.x-k8s.io", "scheduling.volcano.sh", "example.com")
    assert [kind_key("PodGroup", group) for group in groups] == [
        "PodGroup",
        "CoschedulingPodGroup",
        "VolcanoPodGroup",
        "",
    ]


def test_a_pod_without_a_uid_gets_its_name_for_one() -> None:
    pod = decode_object("Pod", b'{"metadata": {"name": "web"}}')
    assert (pod.namespace, pod.uid) == ("default", "Pod/default/web")
