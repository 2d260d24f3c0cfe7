"""Pods that wait for devices: what their nodes have, what is broken, and no other kind of machine for the numbers."""

import pytest

from kubesched.explanation import Explainer
from kubesched.explanation.effort import Effort
from kubesched.explanation.outcome import outcome
from kubesched.testing import make_node, make_object
from tests.explanation.asking import filling, fixes_of, texts
from tests.explanation.asking import replica as pending

GPU, SLICE, POOL = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "eks.amazonaws.com/nodegroup"
TYPE, PRODUCT = "node.kubernetes.io/instance-type", "nvidia.com/gpu.product"
ROOM = {"cpu": "64", "memory": "256Gi", "pods": "110"}


def machine(name: str, pool: str, *, labels: dict[str, str] | None = None, **devices: str):
    """A machine of a pool, with devices such as `gpu`, whose names are written out by `GPU` and the like."""
    return make_node(
        name, labels={"pool": pool, POOL: pool, TYPE: pool, **(labels or {})}, allocatable={**ROOM, **devices}
    )


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        (GPU, SLICE),
        (GPU, "nvidia.com/gpu.shared"),
        (GPU, "amd.com/gpu"),
        ("nvidia.com/mig-1g.5gb", SLICE),
        ("intel.com/sriov_netdevice", "intel.com/intel_sriov_netdevice"),
        ("hugepages-1Gi", "hugepages-2Mi"),
    ],
)
def test_the_device_that_the_chosen_nodes_have_is_asked_for_before_another_kind_of_node(asked: str, there: str):
    nodes = [machine("n1", "mine", **{there: "4Gi"}), machine("n2", "other", **{asked: "4Gi"})]
    first, *others = texts(pending("p", requests={asked: "2"}, node_selector={"pool": "mine"}), *nodes)
    assert (
        first
        == f"ask for {there}, which n1 offers, in place of {asked}, which none of the nodes that it chooses offers"
    )
    assert not [text for text in others if text.startswith(("add", "change"))]


def test_the_smallest_slice_that_is_large_enough_is_asked_for():
    offered = {f"nvidia.com/mig-{name}": "4" for name in ("1g.10gb", "3g.40gb", "7g.80gb")}
    pod = pending("p", requests={"nvidia.com/mig-2g.20gb": "1"})
    first = texts(pod, machine("n1", "mine", **offered))[0]
    assert first.startswith("ask for nvidia.com/mig-3g.40gb, which n1 offers, in place of nvidia.com/mig-2g.20gb")
    only = fixes_of(pod, machine("n1", "mine", **{SLICE: "4"}))
    (text, fix), *_ = only.items()
    assert text.startswith(f"ask for {SLICE}, which n1 offers")
    assert text.endswith(", if the smaller slice will do")
    assert (fix.effort, fix.keeps_intent) == (Effort.LESS, False)


def test_a_gpu_of_another_vendor_is_for_pods_that_choose_its_nodes():
    said = texts(pending("p", requests={GPU: "1"}), machine("n1", "amd", **{"amd.com/gpu": "4"}))
    assert said == [f"add a node with at least 1 {GPU} (no node has such a device)"]


def test_more_devices_than_a_machine_has_are_for_several_pods():
    """Four cards that are sliced into 16 are no machine with 16."""
    nodes = [machine("h1", "h100", **{GPU: "8"}), machine("l1", "l4", **{GPU: "16"})]
    pod = pending("p", requests={GPU: "16"}, node_selector={"pool": "h100"})
    words = f"no node that it chooses has more than 8 {GPU}: use 2 pods of 8"
    first, *others = texts(pod, *nodes)
    assert first == words
    assert not [text for text in others if text.startswith("change")]
    assert texts(pod, *nodes, filling("h1", **{GPU: "8"}))[0] == f"{words}, and add a node like h1"


def test_a_machine_without_the_devices_of_its_twin_has_lost_its_driver():
    marks = {PRODUCT: "A100"}
    nodes = [machine("a1", "a100", labels=marks, **{GPU: "8"}), machine("a2", "a100", labels=marks)]
    other = machine("h1", "h100", **{GPU: "8"})
    pod = pending("p", requests={GPU: "8"}, node_selector={"pool": "a100"})
    said = texts(pod, *nodes, other, filling("a1", **{GPU: "8"}))
    assert said[0] == f"repair the driver or device plugin of {GPU} on a2: a1, a machine of the same type, offers 8"


def test_nodes_of_one_name_of_a_type_are_not_all_machines_with_devices():
    """All nodes of k3s have the type k3s; a machine that is sliced has no whole device."""
    nodes = [make_node(name, labels={TYPE: "k3s"}, allocatable=ROOM) for name in ("n1", "n2")]
    gpu = make_node("gpu", labels={TYPE: "k3s", PRODUCT: "T4"}, allocatable={**ROOM, GPU: "1"})
    full = filling("gpu", **{GPU: "1"})
    assert not [text for text in texts(pending("p", requests={GPU: "1"}), *nodes, gpu, full) if "repair" in text]
    sliced = [machine("a1", "a100", **{GPU: "8"}), machine("a2", "a100", **{GPU: "0", SLICE: "56"})]
    pod = pending("p", requests={GPU: "8"}, node_selector={"pool": "a100"})
    assert not [text for text in texts(pod, *sliced, filling("a1", **{GPU: "8"})) if "repair" in text]


def test_one_of_several_devices_that_is_not_offered_is_unhealthy():
    status = {"allocatable": {"cpu": "4", "pods": "9", GPU: "7"}, "capacity": {"cpu": "4", GPU: "8"}}
    said = texts(pending("p", requests={GPU: "8"}), make_object("Node", "n1", status=status))
    assert said[0] == f"repair the unhealthy device of {GPU}, on n1: it has 8 (capacity), offers 7 (allocatable)"


def product(*products: str) -> list:
    """Machines with devices of some products, one each."""
    return [machine(f"n{i}", "gpu", labels={PRODUCT: name}, **{GPU: "8"}) for i, name in enumerate(products)]


@pytest.mark.parametrize(
    ("wanted", "there", "others"),
    [
        ("NVIDIA-L4", "NVIDIA-L4-SHARED", ["NVIDIA-L40S", "NVIDIA-H100"]),
        ("NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-SXM4-80GB", ["NVIDIA-A10G", "NVIDIA-H100-SXM4-40GB"]),
        ("MI300X", "AMD-Instinct-MI300X-OAM", ["AMD-Instinct-MI210"]),
    ],
)
def test_a_product_of_the_same_family_is_meant_and_not_one_whose_name_looks_alike(wanted, there, others):
    said = texts(pending("p", requests={GPU: "1"}, node_selector={PRODUCT: wanted}), *product(*others, there))
    missing = f"{PRODUCT}={wanted}, which no node has"
    assert said[0] == f"change the node selector {missing}, to {PRODUCT}={there}, if that will do"
    assert said[1] == f"add a node with {missing}"
    assert not [text for text in said for other in others if other in text]


def test_the_product_of_a_node_affinity_is_changed_there():
    one = {"key": PRODUCT, "operator": "In", "values": ["NVIDIA-L4"]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [one]}]}}
    pod = pending("p", requests={GPU: "1"}, spec={"affinity": {"nodeAffinity": required}})
    changed = f"change the node affinity {PRODUCT}=NVIDIA-L4, which no node has, to {PRODUCT}=NVIDIA-L4-SHARED"
    assert texts(pod, *product("NVIDIA-L4-SHARED", "NVIDIA-T4"))[0] == f"{changed}, if that will do"


def test_other_products_are_named_only_where_the_pod_fits_with_them():
    nodes = product("NVIDIA-L4", "NVIDIA-H100", "NVIDIA-H100", "NVIDIA-A100")
    pod = pending("p", requests={GPU: "8"}, node_selector={PRODUCT: "NVIDIA-T4"})
    full = [filling("n0", **{GPU: "8"}), filling("n1", **{GPU: "8"})]
    there = "NVIDIA-H100 or NVIDIA-A100, if that will do"
    added = f"add a node with {PRODUCT}=NVIDIA-T4"
    assert texts(pod, *nodes, *full)[0] == f"no node has {PRODUCT}=NVIDIA-T4: select {there}, or {added}"
    both = product("NVIDIA-H100", "NVIDIA-H100")
    there = "NVIDIA-H100 (2 nodes), if that will do"
    added = f"add a node with {PRODUCT}=NVIDIA-T4"
    assert texts(pod, *both)[0] == f"no node has {PRODUCT}=NVIDIA-T4: select {there}, or {added}"
    full = [filling(node.name, **{GPU: "8"}) for node in both]
    assert texts(pod, *both, *full)[0] == f"{added}, which no node has"


def test_no_machine_with_devices_is_selected_for_a_pod_that_uses_none():
    nodes = [machine("p5", "p5.48xlarge", **{GPU: "8"}), machine("m6", "m6i.large")]
    said = texts(pending("p", node_selector={TYPE: "m7i.large"}), *nodes)
    assert said[0].startswith(f"no node has {TYPE}=m7i.large: select m6i.large, if that will do, or add a node with ")


def test_a_selector_is_dropped_within_the_architecture_of_its_nodes():
    arch = "kubernetes.io/arch"
    own, amd = machine("own", "gb200", labels={arch: "arm64"}), machine("amd", "cpu", labels={arch: "amd64"})
    pod, full = pending("p", requests={"cpu": "64"}, node_selector={"pool": "gb200"}), filling("own", cpu="1")
    assert not [text for text in texts(pod, own, amd, full) if text.startswith("drop")]
    arm = machine("arm", "spare", labels={arch: "arm64"})
    kept = f"drop the node selector pool=gb200 (and select {arch}=arm64, which its nodes have)"
    assert kept in texts(pod, own, amd, arm, full)


def test_the_cause_is_the_empty_node_that_is_out_of_order_and_not_the_full_ones():
    status = {"allocatable": {"cpu": "4", "pods": "9", GPU: "7"}, "capacity": {"cpu": "4", GPU: "8"}}
    sick = make_object("Node", "sick", status=status)
    nodes = [machine(f"n{i}", "gpu", **{GPU: "8"}) for i in range(2)]
    full = [filling(node.name, **{GPU: "8"}) for node in nodes]
    with Explainer([*nodes, *full, sick]) as explainer:
        evaluation = explainer.evaluate(pending("p", requests={GPU: "8"}))
        why = outcome(evaluation, explainer.fixes(evaluation)[0]).why
    assert why == f"1 node: requests 8 {GPU}; the whole node has 7"
