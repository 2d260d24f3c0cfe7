"""Objects are decoded with what a scheduler reads, and remember where they came from."""

import re

import msgspec
import pytest

from kubesched.api import KINDS, Pod, Unstructured, decode_object, kind_key, kind_named, kind_of, plural_of
from kubesched.errors import InputError, ObjectError


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


@pytest.mark.parametrize("kind", ["Pod", "PersistentVolumeClaim"])
def test_the_document_of_a_pod_or_claim_has_a_spec(kind: str) -> None:
    without = decode_object(kind, b'{"metadata": {"name": "p"}}')
    assert without.document == {"metadata": {"name": "p"}, "spec": {}}


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


# --- kinds that plugins name ---


@pytest.mark.parametrize("name", [key for key in KINDS if "PodGroup" not in key])
def test_a_known_kind_has_one_key_whichever_way_it_is_named(name: str) -> None:
    kind = KINDS[name]
    ways = (name, f"{kind.api_version}/{kind.name}", f"{kind.api_version}/{kind.plural}", f"{name}?")
    assert all(kind_named(way) is kind for way in ways)


@pytest.mark.parametrize("name", ["v1/POD", "/v1/PoD", "v1/pods"])
def test_a_known_kind_keeps_its_key_in_other_letter_case(name: str) -> None:
    assert kind_named(name) is KINDS["Pod"]


@pytest.mark.parametrize("name", ["v1/Secret", "v1/SECRET", "/v1/SecreT", "v1/sEcret?", "v1/secrets", "v2/SECRET"])
def test_secrets_are_refused_whichever_way_they_are_written(name: str) -> None:
    with pytest.raises(InputError, match="plugins do not read Secrets"):
        kind_named(name)


@pytest.mark.parametrize(
    ("kind", "group", "plural"),
    [
        ("Quota", "example.com", "quotas"),
        ("Policy", "example.com", "policies"),
        ("Ingress", "networking.k8s.io", "ingresses"),
        ("NodeMetrics", "metrics.k8s.io", "nodes"),
        ("NodeMetrics", "example.com", "nodemetricses"),
    ],
)
def test_the_plural_is_the_usual_one(kind: str, group: str, plural: str) -> None:
    assert plural_of(kind, group) == plural
    named = kind_named(f"{group}/v1/{kind}")
    assert (named.plural, named.resource, named.key) == (plural, f"{plural}.{group}", f"{group}/v1/{plural}")


def test_an_item_of_a_list_gets_its_api_version_and_kind() -> None:
    raw = b' {"metadata": {"name": "m"}, "data": {"a": "b"}}'
    found = decode_object(kind_named("v1/ConfigMap"), raw, keep_source=False)
    assert isinstance(found, Unstructured)
    expected = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "b"}}
    assert found.document == expected
    assert kind_of(found) == "v1/configmaps"
    assert decode_object(kind_of(found), found.raw) == found


def test_objects_of_further_kinds_are_equal_if_all_their_fields_are() -> None:
    one, other = (
        decode_object("v1/ConfigMap", b'{"metadata": {"name": "m"}, "data": {"a": "%d"}}' % n) for n in (1, 2)
    )
    assert one != other


@pytest.mark.parametrize(
    ("kind", "raw", "message"),
    [
        ("example.com/v1/Quota", b'{"metadata": {}}', "metadata.name is missing"),
        ("example.com/v1/quotas", b'{"metadata": {"name": "q"}}', "kind is missing"),
        (
            "example.com/v1/Quota",
            b'{"kind": "Gpu", "metadata": {"name": "q"}}',
            "found example.com/v1/Gpu; expected example.com/v1/Quota",
        ),
    ],
)
def test_an_object_of_another_kind_is_refused(kind: str, raw: bytes, message: str) -> None:
    with pytest.raises(ObjectError, match=re.escape(message)):
        decode_object(kind, raw)
