"""The nodes that autoscalers may add: from NodePools, NodeClaims, the status of cluster-autoscaler, and a file."""

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.controllers import MachineType, NodeShape, node_shapes
from kubesched.testing import make_node, make_object, make_pod

TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
POOL = "karpenter.sh/nodepool"
LARGE = MachineType("large", {"cpu": "8", "memory": "32Gi", "pods": "110"}, zones=("a", "b"), price=0.5)


def pool(
    name: str, *requirements: dict, limits: dict | None = None, status: dict | None = None, **template
) -> KubeObject:
    spec = {"requirements": list(requirements), "taints": template.pop("taints", [])}
    made = {"template": {"metadata": template, "spec": spec}, "limits": limits or {}}
    return make_object("NodePool", name, spec=made, status=status or {})


def rule(key: str, operator: str, *values: str) -> dict:
    return {"key": key, "operator": operator, "values": list(values)}


def status_of(text: str) -> KubeObject:
    return make_object("v1/ConfigMap", "cluster-autoscaler-status", namespace="kube-system", data={"status": text})


def shapes(*objects: KubeObject, rows: tuple[MachineType, ...] = ()) -> dict[str, NodeShape]:
    return {one.name: one for one in node_shapes(objects, rows, "types.csv").shapes}


def labels_for(shape: NodeShape, pod: Pod, *objects: KubeObject) -> list[dict[str, str]]:
    return [dict(node.labels) for node in shape.models_for(pod, node_shapes(objects).places)]


# --- Karpenter ---


def test_a_pool_has_a_shape_for_each_type_that_its_requirements_allow():
    arm = make_node("n1", labels={TYPE: "arm-1", "kubernetes.io/arch": "arm64"})
    only_arm = pool("p", rule("kubernetes.io/arch", "In", "arm64"))
    assert list(shapes(arm, only_arm, rows=(LARGE,))) == ["p/arm-1", "large"]
    no_arm = pool("p", rule("kubernetes.io/arch", "NotIn", "arm64"))
    assert list(shapes(arm, no_arm, rows=(LARGE,))) == ["p/large"]


def test_a_shape_has_the_labels_and_taints_of_its_pool_and_its_price():
    gpu = pool("gpu", labels={"team": "ml"}, taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}])
    (shape,) = shapes(gpu, rows=(LARGE,)).values()
    assert (shape.source, shape.price, shape.zones) == ("NodePool gpu", 0.5, ("a", "b"))
    (first, second) = labels_for(shape, make_pod("p"))
    assert (first[ZONE], second[ZONE]) == ("a", "b")
    wanted = {"team": "ml", POOL: "gpu", TYPE: "large", "karpenter.sh/capacity-type": "on-demand"}
    assert first | wanted == first
    assert [taint.key for taint in shape.model.taints] == ["gpu"]


def test_a_label_that_a_pool_leaves_open_is_the_one_that_the_pod_asks_for():
    open_pool = pool(
        "p", rule("karpenter.sh/capacity-type", "In", "spot", "on-demand"), rule("example.com/team", "Exists")
    )
    (shape,) = shapes(open_pool, rows=(LARGE,)).values()
    asking = make_pod("p", spec={"nodeSelector": {"karpenter.sh/capacity-type": "spot", "example.com/team": "ml"}})
    chosen = labels_for(shape, asking)[0]
    assert (chosen["karpenter.sh/capacity-type"], chosen["example.com/team"]) == ("spot", "ml")
    plain = labels_for(shape, make_pod("p"))[0]
    assert plain["karpenter.sh/capacity-type"] == "on-demand"
    assert "example.com/team" not in plain


@pytest.mark.parametrize(
    ("limits", "used", "n_more", "limit"),
    [
        ({"cpu": "20"}, {"cpu": "4"}, 2, "limit 20 cpu, now 4"),
        ({"cpu": "20", "memory": "40Gi"}, {"cpu": "4", "memory": "16Gi"}, 0, "limit 40Gi memory, now 16Gi"),
        ({"nodes": "3"}, {}, 3, "limit 3 nodes, now 0"),
        ({"nvidia.com/gpu": "0"}, {}, None, ""),
        ({}, {}, None, ""),
    ],
)
def test_the_limits_of_a_pool_count_what_its_nodes_have(limits, used, n_more, limit):
    (shape,) = shapes(pool("p", limits=limits, status={"resources": used}), rows=(LARGE,)).values()
    assert (shape.n_more, shape.limit) == (n_more, limit)


def test_without_a_status_the_nodes_of_the_pool_are_counted():
    node = make_node("n1", labels={TYPE: "large", POOL: "p"}, allocatable={"cpu": "8"})
    (shape,) = shapes(node, pool("p", limits={"cpu": "20"})).values()
    assert (shape.n_now, shape.n_more, shape.model.name) == (1, 1, "n1")


def test_the_types_of_karpenter_are_not_in_the_cluster_and_one_sentence_says_so():
    found = node_shapes([pool("p")])
    assert found.shapes == ()
    assert any("types of machines" in note for note in found.notes)


def test_a_claim_without_a_node_is_one_node_that_comes():
    def claim(name: str, node: str) -> KubeObject:
        status = {"nodeName": node, "allocatable": {"cpu": "3", "memory": "8Gi", "pods": "29"}}
        return make_object("NodeClaim", name, labels={TYPE: "small", POOL: "p", ZONE: "a"}, spec={}, status=status)

    found = shapes(make_node("n1"), claim("p-1", "n1"), claim("p-2", ""))
    assert list(found) == ["p-2"]
    assert (found["p-2"].n_more, found["p-2"].source) == (1, "NodeClaim p-2")
    assert found["p-2"].model.labels[POOL] == "p"
    assert list(shapes(make_node("n1"), claim("p-1", "n1"), pool("q"))) == ["q/small"]


ROW = MachineType(
    "small",
    {"cpu": "3500m", "memory": "6Gi"},
    labels={"team": "ml"},
    taints=make_node("x", taints=["ml=yes:NoSchedule"]).taints,
    price=0.2,
    most=2,
)


def is_as_the_row_has_it(shape: NodeShape) -> None:
    offered = shape.model.status.allocatable
    assert {**offered, "cpu": "3500m", "memory": "6Gi", "pods": "29"} == offered
    assert shape.model.labels["team"] == "ml"
    assert [taint.key for taint in shape.model.taints] == ["ml"]
    assert (shape.n_more, shape.limit, shape.price) == (2, "at most 2", 0.2)


def test_a_row_wins_for_what_it_says_of_a_type_that_a_node_or_a_claim_shows():
    """What it does not say is as the node has it."""
    shown = {"cpu": "3", "memory": "8Gi", "pods": "29"}
    own, other = (make_node("n1", labels={TYPE: "small", **of}, allocatable=shown) for of in ({POOL: "p"}, {}))
    claim = make_object("NodeClaim", "c", labels={TYPE: "small"}, spec={}, status={"allocatable": shown})
    for shows in (own, other, claim):
        is_as_the_row_has_it(shapes(shows, pool("p"), rows=(ROW,))["p/small"])
    group = "nodeGroups:\n- name: workers\n  health: {cloudProviderTarget: 1, maxSize: 9}"
    of_group = make_node("workers-1", labels={TYPE: "small"}, allocatable=shown)
    is_as_the_row_has_it(shapes(of_group, status_of(group), rows=(ROW,))["workers"])


def test_the_label_of_zones_before_1_17_counts():
    old = "failure-domain.beta.kubernetes.io/zone"
    node = make_node("workers-1", labels={old: "a"})
    group = "nodeGroups:\n- name: workers\n  health: {cloudProviderTarget: 1, maxSize: 9}"
    assert shapes(node, status_of(group))["workers"].zones == ("a",)
    assert shapes(node, rows=(MachineType("m", {"cpu": "1"}),))["m"].zones == ("a",)


def test_a_shape_names_its_type_of_machine_and_whether_that_is_open():
    found = node_shapes([pool("p")], (LARGE,), any_type={"cpu": "1"}).shapes
    assert [(one.name, one.machine, one.is_open) for one in found] == [("p/large", "large", False), ("p", "", True)]


@pytest.mark.parametrize("values", [(), ("many",)])
def test_a_bound_that_is_no_number_is_not_checked(values):
    assert list(shapes(pool("p", rule("example.com/cores", "Gt", *values)), rows=(LARGE,))) == ["p/large"]


# --- cluster-autoscaler ---

OLD = """Cluster-autoscaler status at 2023-11-27 10:00:00.0 +0000 UTC:
Cluster-wide:
  Health:      Healthy (ready=3 unready=0 notStarted=0 longNotStarted=0 registered=3 longUnregistered=0)
  ScaleUp:     NoActivity (ready=3 registered=3)

NodeGroups:
  Name:        https://www.googleapis.com/compute/v1/projects/p/zones/eu-c/instanceGroups/gke-prod-spot-1f0a-grp
  Health:      Healthy (ready=0 unready=0 registered=0 longUnregistered=0 cloudProviderTarget=0 (minSize=0, maxSize=5))
               LastProbeTime:      2023-11-27 10:00:00
  ScaleUp:     Backoff (ready=0 cloudProviderTarget=0)
  ScaleDown:   NoCandidates (candidates=0)

  Name:        https://www.googleapis.com/compute/v1/projects/p/zones/eu-b/instanceGroups/gke-prod-spot-77aa-grp
  Health:      Healthy (ready=2 unready=0 registered=2 longUnregistered=0 cloudProviderTarget=2 (minSize=0, maxSize=3))
  ScaleUp:     NoActivity (ready=2 cloudProviderTarget=2)
"""
NEW = """
time: 2024-05-01 10:00:00
autoscalerStatus: Running
nodeGroups:
- name: eks-workers-0ac3
  health: {status: Healthy, cloudProviderTarget: 1, minSize: 1, maxSize: 4}
  scaleUp: {status: NoActivity}
- name: eks-gpu-99bb
  health: {status: Healthy, cloudProviderTarget: 0, minSize: 0, maxSize: 2}
  scaleUp: {status: Backoff, backoffInfo: {errorCode: QuotaExceeded, errorMessage: no more GPUs}}
"""


def test_a_group_at_zero_of_the_old_form_is_like_the_nodes_of_its_pool_in_another_zone():
    gke = {"cloud.google.com/gke-nodepool": "spot"}
    node = make_node("gke-prod-spot-77aa-x1", zone="eu-b", labels=gke)
    found = shapes(node, status_of(OLD))
    zero, two = found["gke-prod-spot-1f0a-grp"], found["gke-prod-spot-77aa-grp"]
    assert (zero.n_now, zero.n_more, zero.limit) == (0, 5, "maxSize 5")
    assert (zero.zones, zero.note) == (("eu-c",), "cluster-autoscaler backs off")
    assert labels_for(zero, make_pod("p"), node)[0][ZONE] == "eu-c"
    assert (two.n_now, two.n_more, two.model.name, two.note) == (2, 1, node.name, "")


def test_a_group_at_zero_of_the_new_form_needs_a_row_of_its_name():
    node = make_node("ip-1", labels={"eks.amazonaws.com/nodegroup": "workers"})
    found = node_shapes([node, status_of(NEW)])
    assert [one.name for one in found.shapes] == ["eks-workers-0ac3"]
    assert "node group eks-gpu-99bb has no node" in found.notes[0]
    row = MachineType("eks-gpu-99bb", {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "1"})
    shape = shapes(node, status_of(NEW), rows=(row,))["eks-gpu-99bb"]
    assert (shape.n_more, shape.note) == (2, "cluster-autoscaler backs off: QuotaExceeded: no more GPUs")
    assert shape.source == "node group eks-gpu-99bb"


@pytest.mark.parametrize(
    "text", ["", "nodeGroups: 3", "nodeGroups: [3]", "a: [", "nodeGroups:\n- health: {maxSize: x}"]
)
def test_a_status_without_groups_is_a_note(text):
    found = node_shapes([status_of(text)])
    assert (found.shapes, len(found.notes)) == ((), 1)


# --- places ---


def test_a_node_in_another_zone_has_all_labels_of_that_zone():
    nodes = [
        make_node("n1", zone="a", labels={"topology.ebs.csi.aws.com/zone": "a", "topology.kubernetes.io/region": "r"}),
        make_node("n2", zone="b", labels={"topology.ebs.csi.aws.com/zone": "b", "topology.kubernetes.io/region": "r"}),
    ]
    (shape,) = (one for one in node_shapes(nodes, [LARGE], "t.csv").shapes)
    moved = {labels[ZONE]: labels for labels in labels_for(shape, make_pod("p"), *nodes)}
    assert moved["b"]["topology.ebs.csi.aws.com/zone"] == "b"
    assert moved["b"]["topology.kubernetes.io/region"] == "r"
