"""The words of a command line and the pods that they mean."""

import pytest

from kubesched.api import KubeObject
from kubesched.errors import InputError
from kubesched.naming import choose_pods
from kubesched.testing import make_object, make_pod


def owned(name: str, kind: str, owner: str, *, namespace: str = "shop", **more) -> KubeObject:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": True}
    labels = {"app": owner, "pod-template-hash": "6f9"} if kind == "ReplicaSet" else {"app": owner}
    return make_pod(name, namespace=namespace, labels=labels, metadata={"ownerReferences": [reference]}, **more)


OBJECTS = [
    owned("web-6f9-a", "ReplicaSet", "web-6f9"),
    owned("web-6f9-b", "ReplicaSet", "web-6f9", node="n1"),
    owned("db-0", "StatefulSet", "db", node="n1"),
    owned("db-1", "StatefulSet", "db", node="n2"),
    owned("db-0", "StatefulSet", "db", namespace="dev"),
    make_pod("single", namespace="shop", labels={"app": "single"}, node="n1"),
    make_pod("old", namespace="shop", node="n1", status={"phase": "Succeeded"}),
]


def chosen(*names: str, **options: object) -> list[str]:
    return [pod.key for pod in choose_pods(OBJECTS, names, **options).pods]


def test_without_a_word_all_pending_pods_are_meant():
    assert chosen() == ["shop/web-6f9-a", "dev/db-0"]
    assert chosen(namespace="dev") == ["dev/db-0"]


@pytest.mark.parametrize("name", ["shop/db-1", "db-1", "pod/db-1", "pods/shop/db-1"])
def test_one_pod_is_meant_by_its_name(name: str):
    found = choose_pods(OBJECTS, [name])
    assert ([pod.key for pod in found.pods], found.is_one) == (["shop/db-1"], True)


def test_a_namespace_makes_a_name_unique():
    assert chosen("db-0", namespace="dev") == ["dev/db-0"]
    with pytest.raises(InputError, match='several pods have the name "db-0": shop/db-0, dev/db-0'):
        chosen("db-0")


@pytest.mark.parametrize("name", ["deploy/web", "deployments.apps/web", "shop/deployment/web", "web", "shop/web"])
def test_the_pending_pods_of_a_workload_are_meant(name: str):
    found = choose_pods(OBJECTS, [name])
    assert ([pod.key for pod in found.pods], found.is_one) == (["shop/web-6f9-a"], True)


def test_without_pending_pods_the_running_ones_of_a_workload_are_meant():
    assert chosen("shop/sts/db") == ["shop/db-0", "shop/db-1"]
    assert chosen("sts/db", namespace="shop") == ["shop/db-0", "shop/db-1"]


def test_a_replica_set_of_a_deployment_has_its_pods():
    assert chosen("rs/web-6f9") == ["shop/web-6f9-a"]
    assert chosen("shop/replicaset/web-6f9") == ["shop/web-6f9-a"]


def test_a_workload_of_two_namespaces_needs_one():
    with pytest.raises(InputError, match="write NAMESPACE/sts/db"):
        chosen("sts/db")
    with pytest.raises(InputError, match='several workloads have the name "db"'):
        chosen("db")


def test_a_selector_means_pending_pods_or_those_that_run():
    assert chosen(selector="app in (web-6f9,single)") == ["shop/web-6f9-a"]
    assert chosen(selector="app=single") == ["shop/single"]


def test_a_selector_narrows_the_pods_that_are_named():
    assert chosen("sts/db", "single", namespace="shop", selector="app=single") == ["shop/single"]


@pytest.mark.parametrize(
    ("name", "namespace", "words"),
    [
        ("depoy/web", "", '"depoy" is not a kind of workload; did you mean "deploy"?'),
        ("shop/statefullset/db", "", '"statefullset" is not a kind of workload; did you mean "statefulset"?'),
        ("job/x", "", "the cluster has no Job x; --manifest FILE adds pods that are not in the cluster yet"),
        ("rs/web-6f8", "", 'the cluster has no ReplicaSet web-6f8; did you mean "web-6f9"?'),
        ("dev/web", "", 'no pod or workload has the name "dev/web"; did you mean "shop/web"?'),
        ("web", "dev", 'no pod or workload has the name "dev/web"; did you mean "shop/web"?'),
        ("deploy/web", "dev", 'the cluster has no Deployment dev/web; did you mean "shop/deployment/web"?'),
        ("dev/deploy/web", "", 'the cluster has no Deployment dev/web; did you mean "shop/deployment/web"?'),
        ("db-1", "dev", 'no pod has the name "dev/db-1"; did you mean "shop/db-1"?'),
        ("shop/web", "dev", "shop/web is not in namespace dev; leave out -n or the namespace before the name"),
        ("shop/deploy/web", "dev", "shop/deploy/web is not in namespace dev; leave out -n"),
    ],
)
def test_a_wrong_kind_or_namespace_is_answered_with_the_right_one(name: str, namespace: str, words: str):
    with pytest.raises(InputError) as raised:
        chosen(name, namespace=namespace)
    assert words in str(raised.value)


def test_a_namespace_that_does_not_exist_is_not_an_empty_one():
    spaces = [make_object("Namespace", name) for name in ("shop", "empty")]
    assert choose_pods([*OBJECTS, *spaces], [], "empty").pods == ()
    for objects in ([*OBJECTS, *spaces], OBJECTS):  # a snapshot without namespaces has those of its objects
        with pytest.raises(InputError, match='nothing in this cluster is in namespace "shpo"; did you mean "shop"'):
            choose_pods(objects, [], "shpo")


def test_a_namespace_without_pods_is_known_by_its_other_objects():
    service = make_object("Service", "web", metadata={"namespace": "front"}, spec={})
    assert choose_pods([*OBJECTS, service], [], "front").pods == ()


def test_a_selector_of_nothing_is_one_message():
    with pytest.raises(InputError, match="-l app=nothing: none of 7 pods has these labels"):
        chosen(selector="app=nothing")


def test_each_pod_is_meant_once():
    assert chosen("shop/db-0", "sts/db", namespace="shop") == ["shop/db-0", "shop/db-1"]
