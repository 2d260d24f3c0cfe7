"""Labels that say at which site a machine is."""

import pytest

from kubesched.controllers import is_site, node_shapes, note_on_model, off_site
from kubesched.testing import make_node, make_object

STATUS = """
nodeGroups:
- name: gb
  health: {cloudProviderTarget: 1, maxSize: 4}
"""


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("nvidia.com/gpu.clique", True),
        ("rack", True),
        ("topology.kubernetes.io/rack", True),
        ("topology.topolvm.io/node", True),
        ("cloud.google.com/gce-topology-block", True),
        ("topology.kubernetes.io/zone", False),
        ("topology.ebs.csi.aws.com/zone", False),
        ("topology.csi.vmware.com/k8s-region", False),
        ("nvidia.com/gpu.product", False),
        ("kubernetes.io/hostname", False),
        ("pool", False),
    ],
)
def test_a_site_is_what_nobody_chooses_for_a_new_machine(key: str, expected: bool):
    assert is_site(key) is expected


def test_a_node_off_its_site_has_neither_its_place_nor_its_name_in_labels():
    labels = {"kubernetes.io/hostname": "n1", "disk.example.com/node-id": "n1", "rack": "r1", "pool": "gb"}
    assert off_site(make_node("n1", labels=labels)).labels == {"kubernetes.io/hostname": "n1", "pool": "gb"}
    plain = make_node("n2", labels={"pool": "gb"})
    assert off_site(plain) is plain


def test_the_shape_of_a_node_group_is_at_no_site():
    labels = {"eks.amazonaws.com/nodegroup": "gb", "nvidia.com/gpu.clique": "c.1"}
    status = make_object("v1/ConfigMap", "cluster-autoscaler-status", namespace="kube-system", data={"status": STATUS})
    (shape,) = node_shapes([make_node("n1", labels=labels), status]).shapes
    assert shape.model.labels.get("eks.amazonaws.com/nodegroup") == "gb"
    assert "nvidia.com/gpu.clique" not in shape.model.labels


def test_new_nodes_that_somebody_asks_for_have_the_site_of_their_model_and_a_note_says_so():
    note = note_on_model(make_node("n1", labels={"rack": "r1"}))
    assert note == "new nodes like n1 are taken to have its label rack=r1"
