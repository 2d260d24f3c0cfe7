"""Remedies for what nodes lack: a feature of the kubelet, or a CSI driver."""

from typing import Any

import pytest

from kubesched import Explanation
from kubesched.explanation import explain
from kubesched.snapshot import ClusterObjects
from kubesched.testing import make_node, make_object, make_pod

POOL = "eks.amazonaws.com/nodegroup"
FEATURE = "UserNamespacesHostNetworkSupport"
NETMON = make_pod("netmon", spec={"hostNetwork": True, "hostUsers": False})


def in_pool(name: str, pool: str, kubelet: str = "v1.35.4", *features: str) -> Any:
    status = {"nodeInfo": {"kubeletVersion": kubelet}, "declaredFeatures": list(features)}
    return make_node(name, labels={POOL: pool}, status=status)


def explained(version: str, *objects: Any) -> Explanation:
    return explain(ClusterObjects(objects, server_version=version), objects[-1].key)


def test_an_old_kubelet_is_named_and_upgraded_by_hand() -> None:
    explanation = explained("v1.36.3", in_pool("a", "general"), in_pool("b", "general"), in_pool("c", "other"), NETMON)
    (text,) = explanation.rows[0].texts
    assert text == f"needs {FEATURE}, which the node does not declare; its kubelet is v1.35.4"
    assert [str(fix) for fix in explanation.fixes] == [
        "upgrade the kubelets of general -> 2 nodes",
        "upgrade the kubelets of other -> 1 node",
    ]
    fix = explanation.fixes[0]
    assert (fix.kind, fix.keeps_intent) == ("kubelet", True)
    assert [(patch.text, patch.target) for patch in fix.patches] == [("upgrade the kubelets of general", None)]


@pytest.mark.parametrize("kubelet", ["v1.36.1-eks-1a2b3c", "", "unknown"])
def test_a_kubelet_that_is_not_old_is_not_upgraded(kubelet: str) -> None:
    explanation = explained("v1.36.3", in_pool("a", "general", kubelet), NETMON)
    assert FEATURE in explanation.rows[0].texts[0]
    assert not explanation.fixes


def test_nodes_of_a_pool_are_named_where_others_declare_the_feature() -> None:
    full = make_node("b", labels={POOL: "general"}, unschedulable=True, status={"declaredFeatures": [FEATURE]})
    explanation = explained("v1.36.3", in_pool("a", "general"), full, NETMON)
    assert "upgrade the kubelets of a -> 1 node" in map(str, explanation.fixes)


def test_a_driver_that_nodes_lack_is_run_on_them_by_hand() -> None:
    """A driver that need not be there is not named; a node without a CSINode gets it, too."""
    objects: list[Any] = [
        in_pool("a", "general"),
        in_pool("b", "general"),
        make_object("CSINode", "a", spec={"drivers": []}),
    ]
    for name in ("fsx", "nfs", "opt"):
        objects += [
            make_object("CSIDriver", name, spec={"preventPodSchedulingIfMissing": name != "opt"}),
            make_object(
                "PersistentVolume",
                f"v-{name}",
                spec={
                    "csi": {"driver": name, "volumeHandle": name},
                    "claimRef": {"name": name, "namespace": "default"},
                },
            ),
            make_object(
                "PersistentVolumeClaim",
                name,
                metadata={"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
                spec={"volumeName": f"v-{name}", "storageClassName": ""},
            ),
        ]
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in ("fsx", "nfs", "opt")]
    pod = make_pod("reader", spec={"volumes": volumes})
    explanation = explained("v1.37.2", *objects, pod)
    text = "run the CSI drivers fsx and nfs on general"
    (fix,) = [one for one in explanation.fixes if one.kind == "csiDriver"]
    assert (str(fix), fix.keeps_intent) == (f"{text} -> 2 nodes", True)
    assert [(patch.text, patch.target) for patch in fix.patches] == [(text, None)]
    assert explained("v1.36.3", *objects, pod).fits
