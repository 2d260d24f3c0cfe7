"""Node selectors and node affinity: what is corrected, changed or dropped."""

import pytest

from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ZONE, filling, fixes_of, texts, why

ARCH = "kubernetes.io/arch"


def node_affinity(*expressions: dict) -> dict:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def test_a_value_that_no_node_has_is_corrected():
    nodes = [make_node(f"n{i}", labels={"pool": "general"}) for i in range(2)]
    fixes = fixes_of(make_pod("p", node_selector={"pool": "genral"}), *nodes)
    assert list(fixes) == [
        "correct the node selector pool=genral (no node has it) to general",
        "drop the node selector pool=genral",
    ]
    assert [fix.keeps_intent for fix in fixes.values()] == [True, False]


@pytest.mark.parametrize(
    ("key", "wrong", "right"),
    [
        (ZONE, "europe-west1b", "europe-west1-b"),
        (ZONE, "Europe-West1-B", "europe-west1-b"),
        (ARCH, "aarch64", "arm64"),
        (ARCH, "x86_64", "amd64"),
        ("eks.amazonaws.com/nodegroup", "default-poo", "default-pool"),
        ("pool", "databsae", "database"),
    ],
)
def test_another_spelling_of_a_zone_a_pool_or_an_architecture_is_corrected(key: str, wrong: str, right: str):
    fixes = fixes_of(make_pod("p", node_selector={key: wrong}), make_node("n1", labels={key: right}))
    text, first = next(iter(fixes.items()))
    assert text == f"correct the node selector {key}={wrong} (no node has it) to {right}"
    assert first.keeps_intent


@pytest.mark.parametrize(
    ("key", "wanted", "other"),
    [
        ("pool", "gen7", "gen6"),
        ("pool", "gpu", "cpu"),
        (ARCH, "arm64", "amd64"),
        (ZONE, "eu-west-1b", "eu-west-1c"),
        ("node.kubernetes.io/instance-type", "m5.large", "m5.xlarge"),
        ("cloud.google.com/gke-accelerator", "nvidia-tesla-t4", "nvidia-l4"),
    ],
)
def test_another_machine_is_added_and_not_called_a_typing_error(key: str, wanted: str, other: str):
    fixes = fixes_of(make_pod("p", node_selector={key: wanted}), make_node("n1", labels={key: other}))
    first, *rest = fixes
    changed = f"change the node selector {key}={wanted}, which no node has, to {key}={other}, if that will do"
    is_product = key.endswith(("type", "accelerator"))
    added = f"add a node{'' if is_product else ' like n1'} with {key}={wanted}"
    product = f"no node has {key}={wanted}: select {other}, if that will do, or {added}"
    if key.endswith("type"):
        assert (first, *rest[:1]) == (changed, f"{added}, which no node has")
        return
    assert first == (product if key.endswith("accelerator") else f"{added}, which no node has")
    assert not [text for text in fixes if text.startswith(("correct", "label"))]
    assert rest == [*([] if key == ARCH else [changed]), f"drop the node selector {key}={wanted}"]


def test_a_host_that_does_not_exist_is_neither_bought_nor_replaced():
    host = "kubernetes.io/hostname"
    node = make_node("n1", labels={host: "n1"})
    assert texts(make_pod("p", node_selector={host: "n7"}), node) == [f"drop the node selector {host}=n7"]


def test_a_value_under_another_key_is_found():
    nodes = [make_node("n1", labels={"storage": "nvme"}), make_node("n2", labels={"storage": "hdd"})]
    said = texts(make_pod("p", node_selector={"disk": "nvme"}), *nodes)
    assert said[0] == "correct the node selector disk=nvme (no node has it) to storage=nvme"


def test_a_key_that_no_node_has_is_corrected():
    node = make_node("n1", labels={"disktype": "ssd"})
    said = texts(make_pod("p", node_selector={"disk-type": "ssd"}), node)
    assert said[0] == "correct the node selector disk-type=ssd (no node has it) to disktype=ssd"


def test_a_key_without_its_domain_is_corrected():
    nodes = [make_node("n1", labels={"shop.example.com/pool": "db"})]
    said = texts(make_pod("p", node_selector={"pool": "db"}), *nodes)
    assert said[0] == "correct the node selector pool=db (no node has it) to shop.example.com/pool=db"


def test_a_label_that_nothing_resembles_can_be_put_on_a_node():
    fixes = fixes_of(make_pod("p", node_selector={"disk": "ssd"}), make_node("n1"), make_node("n2"))
    assert list(fixes) == ["label n1 with disk=ssd, which no node has", "drop the node selector disk=ssd"]


def test_a_selector_can_be_changed_to_what_the_nodes_have():
    nodes = [make_node("full", zone="a", allocatable=SMALL), make_node("free", zone="b")]
    pod = make_pod("p", requests={"cpu": "2"}, node_selector={ZONE: "a"})
    said = texts(pod, *nodes, filling("full", cpu="2"))
    assert f"change the node selector {ZONE}=a to {ZONE}=b" in said


def test_one_requirement_of_node_affinity_can_be_dropped():
    pod = make_pod(
        "p",
        spec=node_affinity(
            {"key": "pool", "operator": "In", "values": ["a", "b"]},
            {"key": "disk", "operator": "Exists"},
        ),
    )
    said = texts(pod, make_node("n1", labels={"pool": "a"}))
    assert said == ["drop disk Exists from the node affinity", "drop the node affinity"]


def test_a_quantity_is_no_number_of_gt():
    spec = node_affinity({"key": "cores", "operator": "Gt", "values": ["4Gi"]})
    said = texts(make_pod("p", spec=spec), make_node("n1", labels={"cores": "8"}))
    assert said == [
        "write a whole number in the node affinity cores Gt (4Gi), such as 4",
        "drop the node affinity, which no node can match: cores Gt (4Gi) takes a whole number",
    ]


def test_an_empty_term_is_said_to_match_no_node():
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}
    said = texts(make_pod("p", spec={"affinity": {"nodeAffinity": required}}), make_node("n1"))
    assert said == ["drop the node affinity, which no node can match: an empty term matches no node"]


def test_a_wrong_value_in_node_affinity_is_corrected():
    pod = make_pod("p", spec=node_affinity({"key": "pool", "operator": "In", "values": ["genral"]}))
    said = texts(pod, make_node("n1", labels={"pool": "general"}))
    assert said == [
        "correct the node affinity pool=genral (no node has it) to general",
        "drop the node affinity",
    ]


def test_a_new_node_with_the_label_is_enough_where_the_others_are_full():
    nodes = [make_node("n0", labels={"pool": "cpu"}, taints=["spot:NoSchedule"])]
    nodes += [make_node(f"n{i}", labels={"pool": "cpu"}, allocatable=SMALL) for i in (1, 2)]
    full = [filling(f"n{i}", cpu="2") for i in (1, 2)]
    said = texts(make_pod("p", requests={"cpu": "1"}, node_selector={"pool": "gpu"}), *nodes, *full)
    assert said[0] == "add a node like n1 with pool=gpu, which no node has"
    assert not [text for text in said if text.startswith(f"{said[0]} and ")]


@pytest.mark.parametrize("key", ["gpu", "accelerator", "spot"])
def test_no_node_is_labelled_as_a_machine_that_it_is_not(key: str):
    said = texts(make_pod("p", node_selector={key: "true"}), make_node("n1"))
    assert not [text for text in said if text.startswith("label ")]


def test_terms_that_no_node_can_match_are_the_obstacle_in_words_of_their_own():
    terms = [{}, {"matchExpressions": [{"key": "disk", "operator": "Gt", "values": ["4Gi"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    said = why(make_pod("p", spec={"affinity": {"nodeAffinity": required}}), make_node("n1"))["NodeAffinity"]
    assert said.startswith("no node can match the node affinity: nodeSelectorTerms[1]")
    required["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{}]}
    said = why(make_pod("p", spec={"affinity": {"nodeAffinity": required}}), make_node("n1"))["NodeAffinity"]
    assert said == "no node can match the node affinity: an empty term matches no node"


@pytest.mark.parametrize(
    ("key", "value", "other"),
    [
        ("karpenter.sh/capacity-type", "spot", "on-demand"),
        ("eks.amazonaws.com/capacityType", "SPOT", "ON_DEMAND"),
        ("kubernetes.azure.com/scalesetpriority", "spot", None),
        ("cloud.google.com/gke-spot", "true", None),
        ("cloud.google.com/gke-provisioning", "spot", "standard"),
        ("alpha.eksctl.io/nodegroup-name", "jobs", "web"),
        ("karpenter.k8s.aws/instance-local-nvme", "900", None),
        ("capacityType", "SPOT", None),
        ("shop.example.com/lifecycle", "spot", "on-demand"),
        ("kind-of-node", "preemptible", None),
    ],
)
def test_no_label_says_that_a_machine_is_another_one(key: str, value: str, other: str | None):
    labels = {} if other is None else {key: other}
    said = texts(make_pod("p", node_selector={key: value}), make_node("n1", labels=labels))
    like = "" if "instance" in key else " like n1"
    assert said[0] == f"add a node{like} with {key}={value}, which no node has"
    assert not [text for text in said if text.startswith("label ")]


def test_a_spot_node_is_found_under_the_key_of_another_provider_and_its_taint_is_tolerated():
    spot = {"karpenter.sh/nodepool": "spot", "karpenter.sh/capacity-type": "spot"}
    gpu = make_node("n0", labels={"eks.amazonaws.com/capacityType": "ON_DEMAND"}, taints=["gpu:NoSchedule"])
    nodes = [gpu, make_node("n2", labels=spot, taints=["spot=true:NoSchedule"])]
    pod = make_pod("p", node_selector={"eks.amazonaws.com/capacityType": "SPOT"})
    corrected = "correct the node selector eks.amazonaws.com/capacityType=SPOT (no node has it) to "
    said = texts(pod, *nodes)
    assert said[0] == f"{corrected}karpenter.sh/capacity-type=spot and tolerate spot=true:NoSchedule"
    open_to_all = make_node("n2", labels=spot)
    assert texts(pod, nodes[0], open_to_all)[0] == f"{corrected}karpenter.sh/capacity-type=spot"


EKS, GKE, AKS = "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool"
KARPENTER = "karpenter.sh/nodepool"


@pytest.mark.parametrize(
    ("wanted", "here", "whose"),
    [(GKE, EKS, "GKE"), (EKS, GKE, "EKS"), (KARPENTER, EKS, "Karpenter"), (GKE, AKS, "GKE"), (AKS, KARPENTER, "AKS")],
)
def test_the_pool_of_another_provider_is_selected_by_the_label_that_pools_have_here(wanted: str, here: str, whose: str):
    nodes = [make_node("n1", labels={here: "web", "pool": "web"}), make_node("n2", labels={here: "db", "pool": "db"})]
    pod = make_pod("p", node_selector={wanted: "web"})
    pools = f"pools here are named by {here} (db, web)"
    assert why(pod, *nodes) == {"NodeAffinity": f"no node has {whose}'s label {wanted}, wanted: 'web'; {pools}"}
    correction = f"correct the node selector {wanted}=web (no node has it) to {here}=web"
    assert texts(pod, *nodes) == [correction, f"drop the node selector {wanted}=web"]


def test_no_pool_of_another_provider_is_invented():
    nodes = [make_node(f"n-{pool}", labels={EKS: pool}) for pool in ("web", "db")]
    pod = make_pod("p", node_selector={GKE: "batch"})
    assert texts(pod, *nodes) == [f"drop the node selector {GKE}=batch"]
    spec = node_affinity({"key": GKE, "operator": "In", "values": ["batch"]})
    assert texts(make_pod("p", spec=spec), *nodes) == ["drop the node affinity"]
    change = f"change the node selector {GKE}=batch, which no node has, to {EKS}=web, if that will do"
    assert texts(pod, *nodes[:1]) == [change, f"drop the node selector {GKE}=batch"]


def test_a_capacity_type_of_another_provider_names_the_label_that_is_used_here():
    key, here = "cloud.google.com/gke-spot", "karpenter.sh/capacity-type"
    node = make_node("n1", labels={here: "on-demand"})
    said = why(make_pod("p", node_selector={key: "true"}), node)["NodeAffinity"]
    assert said == f"no node has GKE's label {key}, wanted: 'true'; capacity types here are named by {here} (on-demand)"


def test_labels_of_the_provider_of_the_nodes_are_not_foreign():
    node = make_node("n1", labels={GKE: "web"})
    said = why(make_pod("p", node_selector={"cloud.google.com/gke-spot": "true"}), node)["NodeAffinity"]
    assert said == "label cloud.google.com/gke-spot is absent, wanted: 'true'"


@pytest.mark.parametrize("is_affinity", [False, True])
def test_an_empty_value_is_named_and_put_on_no_node(is_affinity: bool):
    nodes = [make_node(f"n-{pool}", labels={"pool": pool}) for pool in ("web", "db")]
    spec = node_affinity({"key": "pool", "operator": "In", "values": [""]})
    pod = make_pod("p", spec=spec) if is_affinity else make_pod("p", node_selector={"pool": ""})
    assert why(pod, *nodes) == {"NodeAffinity": "label pool is wanted with an empty value, nodes have db, web"}
    what = "node affinity" if is_affinity else "node selector pool="
    assert texts(pod, *nodes) == [f"drop the {what}"]


def test_an_empty_value_becomes_the_only_one_that_the_open_nodes_have():
    nodes = [make_node(f"n{i}", labels={"pool": "web"}) for i in (1, 2)]
    nodes.append(make_node("n3", labels={"pool": "db"}, taints=["db:NoSchedule"]))
    first, *_ = texts(make_pod("p", node_selector={"pool": ""}), *nodes)
    assert first == "set the node selector pool, which is empty, to web, if that will do"


def test_an_empty_value_is_a_role_where_no_node_has_another_value():
    role = "node-role.example.com/worker"
    said = texts(make_pod("p", node_selector={role: ""}), make_node("n1"))
    assert said[0] == f"label n1 with {role}=, which no node has"
