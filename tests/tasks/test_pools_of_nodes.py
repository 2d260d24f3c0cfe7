"""The pool of a node is the first label of a provider that it has."""

from kubesched.session.node_groups import group_nodes
from kubesched.testing import make_node

EKS, KARPENTER, GKE = "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool", "cloud.google.com/gke-nodepool"


def pools(*labels: dict[str, str]) -> list[str]:
    groups = group_nodes([make_node(f"n{i}", labels=one) for i, one in enumerate(labels)])
    return [group.pool for group in groups.values()]


def test_managed_groups_are_beside_those_of_karpenter():
    assert pools({EKS: "system"}, {KARPENTER: "spot"}, {KARPENTER: "spot"}) == ["system", "spot", "spot"]
    assert pools({EKS: "system"}, {EKS: "system"}, {KARPENTER: "spot"}) == ["system", "system", "spot"]


def test_a_label_of_a_provider_that_divides_nothing_gives_way():
    assert pools({GKE: "all", "pool": "a"}, {GKE: "all", "pool": "b"}) == ["a", "b"]
    assert pools({GKE: "all"}, {GKE: "all"}) == ["all", "all"]


def test_a_label_that_few_nodes_have_is_not_a_pool():
    assert pools({EKS: "system"}, {}, {}) == ["", "", ""]
