"""Names in an anonymous snapshot can be read: what is a node or a team. What identifies no one stays."""

import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched import Simulator, explain
from kubesched.api import KubeObject, Node, Pod
from kubesched.capture import anonymize
from kubesched.snapshot import ClusterObjects, only_read_fields, write_snapshot
from kubesched.testing import make_node, make_object, make_pod
from tests.trials import examples

REPLACEMENT = re.compile(r"(?<![0-9a-z])(?:[a-z]+-[0-9]+|x[0-9]+)(?![0-9a-z])")


def owned(name: str, kind: str, owner: str, **fields: Any) -> Pod:
    by = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": f"u-{owner}", "controller": True}
    return make_pod(name, namespace="payments", metadata={"ownerReferences": [by]}, **fields)


def renamed(*objects: KubeObject) -> tuple[list[KubeObject], dict[str, str]]:
    cluster, table, _ = anonymize(only_read_fields(ClusterObjects(objects)))
    return list(cluster), table


def text_of(objects: list[KubeObject]) -> str:
    stream = io.BytesIO()
    write_snapshot(ClusterObjects(tuple(objects)), stream)
    return stream.getvalue().decode()


def test_a_name_says_what_it_names() -> None:
    (node, db, web, alone), table = renamed(
        make_node("gke-acme-7f9c"),
        owned("ledger-2", "StatefulSet", "ledger", node="gke-acme-7f9c"),
        owned("pay-api-7f9c-abcde", "ReplicaSet", "pay-api-7f9c", labels={"pod-template-hash": "7f9c"}),
        make_pod("debug-bob", namespace="payments"),
    )
    assert (node.name, db.key, alone.key) == ("node-1", "team-1/app-1-2", "team-1/pod-1")
    assert re.fullmatch(r"team-1/app-2-x\d+-x\d+", web.key)
    assert web.metadata.controller is not None
    assert web.metadata.controller.name == f"app-2-{web.labels['pod-template-hash']}"
    assert {table[name] for name in ("node-1", "team-1", "app-2")} == {"gke-acme-7f9c", "payments", "pay-api"}


def test_numbers_have_the_order_of_the_names() -> None:
    objects, table = renamed(*(make_node(f"acme-{i}") for i in (7, 12, 3, *range(20, 30))))
    assert sorted(one.name for one in objects) == [f"node-{i:02}" for i in range(1, 14)]
    assert [table[f"node-{i:02}"] for i in (1, 2, 13)] == ["acme-12", "acme-20", "acme-7"]


PUBLIC = {
    "topology.kubernetes.io/zone": "eu-west-1a",
    "topology.kubernetes.io/region": "eu-west-1",
    "kubernetes.io/arch": "arm64",
    "node.kubernetes.io/instance-type": "m5.large",
    "karpenter.sh/capacity-type": "on-demand",
    "karpenter.sh/nodepool": "spot-2",
    "cloud.google.com/gke-accelerator": "nvidia-l4",
    "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
    "tier": "frontend",
    "workload-type": "batch",
}


def test_labels_of_providers_zones_machines_and_plain_words_stay() -> None:
    resources = {"cpu": "4", "nvidia.com/gpu": "2", "nvidia.com/mig-1g.5gb": "1"}
    (node,), _ = renamed(make_node("n", labels=PUBLIC, allocatable=resources))
    assert isinstance(node, Node)
    assert node.labels.items() >= PUBLIC.items()
    assert node.status.allocatable.keys() >= resources.keys()


@pytest.mark.parametrize(
    ("key", "value", "replaced"),
    [
        ("karpenter.sh/nodepool", "payments-spot", "karpenter.sh/nodepool=pool-1"),
        ("topology.kubernetes.io/zone", "basement-3", "topology.kubernetes.io/zone=zone-1"),
        ("ledger.acme.com/owner", "bob", "domain-1/owner=value-1"),
        ("acme.com/ledger", "gold", "domain-1/key-1=gold"),
        ("tier", "acme", "tier=value-1"),
    ],
)
def test_what_somebody_chose_is_numbered_by_what_it_is(key: str, value: str, replaced: str) -> None:
    (node,), _ = renamed(make_node("n", labels={key: value}))
    assert replaced in [f"{name}={text}" for name, text in node.labels.items()]


def test_pods_of_the_system_keep_plain_names_and_nobody_else() -> None:
    by = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "kube-proxy", "uid": "u", "controller": True}
    objects, _ = renamed(
        make_pod("kube-proxy-x7k2p", namespace="kube-system", metadata={"ownerReferences": [by]}),
        make_pod("web", namespace="payments"),
        make_pod("bob", namespace="kube-system"),
    )
    assert objects[0].key.startswith("kube-system/kube-proxy-x")
    assert {one.key for one in objects[1:]} == {"team-1/pod-2", "kube-system/pod-1"}


def test_pods_that_hold_the_ports_of_a_service_of_k3s_keep_the_sign() -> None:
    by = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "svclb-ledger-77aa", "uid": "u", "controller": True}
    labels = {"app": "svclb-ledger-77aa"}
    (pod,), _ = renamed(make_pod("svclb-ledger-77aa-qmg4t", labels=labels, metadata={"ownerReferences": [by]}))
    assert re.fullmatch(r"svclb-x\d+-x\d+-x\d+", pod.name)
    assert re.fullmatch(r"svclb-x\d+-x\d+", pod.labels["app"])


@pytest.mark.parametrize("others", [(), ("data-ledger",), ("ledger-0",), ("data", "ledger-0-scratch")])
def test_claims_still_follow_from_pods_whatever_else_has_their_names(others: tuple[str, ...]) -> None:
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-ledger-0"}},
        {"name": "scratch", "ephemeral": {}},
    ]
    pod = owned("ledger-0", "StatefulSet", "ledger", spec={"volumes": volumes})
    claims = [
        make_object("PersistentVolumeClaim", f"{a}-{b}") for a, b in (("ledger-0", "scratch"), ("data", "ledger-0"))
    ]
    objects, _ = renamed(pod, *claims, *(owned(f"{name}-x", "DaemonSet", name) for name in others))
    (new, scratch, data), owner = objects[:3], objects[0].metadata.controller
    assert isinstance(new, Pod)
    assert owner is not None
    assert new.name.startswith(f"{owner.name}-")
    assert data.name.endswith(f"-{new.name}")
    assert set(new.claim_names) == {data.name, scratch.name}


WORDS = ("ledger", "acme", "bob", "tulip", "quokka", "zephyr", "karst", "umbra")
"""Words of somebody; none is part of a word that stays."""
names = st.lists(
    st.sampled_from((*WORDS, *(f"{word}-{other}" for word in WORDS for other in WORDS))), min_size=1, max_size=5
)
cpus = st.integers(1, 9)


@st.composite
def clusters(draw: st.DrawFn) -> list[KubeObject]:
    """Nodes, workloads and pods whose names, labels and resources have parts in common."""
    node_names, of_pods = draw(names.map(lambda some: [*dict.fromkeys(some)])), draw(names)
    words = st.sampled_from(WORDS)
    objects: list[KubeObject] = [
        make_node(
            name,
            labels={draw(words): draw(words), f"{draw(words)}.com/{draw(words)}": draw(words)},
            taints=[f"{draw(words)}={draw(words)}:NoSchedule"] if draw(st.booleans()) else [],
            allocatable={"cpu": str(draw(cpus)), "pods": "9", f"{draw(words)}.com/{draw(words)}": "2"},
        )
        for name in node_names
    ]
    for i, owner in enumerate(of_pods):
        selector = {draw(words): draw(words)} if draw(st.booleans()) else {}
        pod = owned(
            f"{owner}-{i}",
            draw(st.sampled_from(("StatefulSet", "DaemonSet", "ReplicaSet"))),
            owner,
            labels={draw(words): draw(words)},
            node=draw(st.sampled_from((*node_names, ""))),
            requests={"cpu": str(draw(cpus))},
            node_selector=selector,
        )
        objects.append(pod)
    return objects


@examples(40)
@given(clusters())
def test_no_word_of_somebody_is_left_and_every_pod_gets_the_same_answer(objects: list[KubeObject]) -> None:
    before = list(only_read_fields(ClusterObjects(tuple(objects))))
    after, table = renamed(*objects)
    assert not [word for word in WORDS if word in text_of(after)]

    def words_of(text: str) -> str:
        return REPLACEMENT.sub(lambda word: table.get(word[0], word[0]), text)

    def placed(objects: list[KubeObject]) -> list[tuple[str, str, str]]:
        return [(one.pod, one.state.value, one.node) for one in Simulator(objects).run().placements]

    assert [tuple(map(words_of, one)) for one in placed(after)] == placed(before)
    for old, new in zip(before, after, strict=True):
        if isinstance(old, Pod) and isinstance(new, Pod) and not old.node_name:
            was, became = explain(before, old.key), explain(after, new.key)
            assert [words_of(name) for name in became.feasible] == was.feasible
            if not says_what_machines_are(after):
                assert [(fix.kind, fix.n_nodes) for fix in became.fixes] == [
                    (fix.kind, fix.n_nodes) for fix in was.fixes
                ]


def says_what_machines_are(objects: list[KubeObject]) -> bool:
    """Whether the key of a label is also the name of a node, as which it is replaced: `node-1` tells of a machine."""
    keys = {key for one in objects if isinstance(one, Node) for key in one.labels}
    return any(key.startswith("node-") for key in keys)


@examples(20)
@given(clusters())
def test_the_same_cluster_has_the_same_names_again(objects: list[KubeObject]) -> None:
    assert text_of(renamed(*objects)[0]) == text_of(renamed(*objects)[0])
    assert json.loads(json.dumps(renamed(*objects)[1])) == renamed(*objects)[1]


def test_a_name_whose_end_is_nowhere_else_still_begins_with_that_of_its_owner() -> None:
    owners = [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "web", "uid": "u", "controller": True}]
    labels = {"app": "web", "job-name": "web-5d"}
    job = make_object("Job", "web-5d", namespace="default", labels=labels, metadata={"ownerReferences": owners})
    (found,) = anonymize(ClusterObjects((job,))).cluster
    assert found.name.startswith(f"{found.metadata.owner_references[0].name}-")
    assert not {"web", "5d"} & set(found.name.split("-"))
