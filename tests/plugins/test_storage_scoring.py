"""VolumeBinding's score, and nodes without a CSI driver, as kube-scheduler v1.37.2 gives them."""

import json

import pytest

from kubesched.explanation import Explainer
from kubesched.pages.explanations import as_line
from kubesched.release import Release
from kubesched.setup import set_up
from kubesched.testing import make_node, make_object, make_pod


def storage_class(name, driver="d.example"):
    return make_object("StorageClass", name, provisioner=driver, volumeBindingMode="WaitForFirstConsumer")


def claim(name, class_name, size):
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": class_name,
        "resources": {"requests": {"storage": size}} if size else {},
    }
    return make_object("PersistentVolumeClaim", name, namespace="default", spec=spec)


def volume(name, class_name, size, node):
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": class_name,
        "capacity": {"storage": size},
        "csi": {"driver": "d.example", "volumeHandle": name},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
    }
    return make_object("PersistentVolume", name, spec=spec, status={"phase": "Available"})


def capacity(name, class_name, size, node):
    topology = {"matchLabels": {"kubernetes.io/hostname": node}}
    return make_object(
        "CSIStorageCapacity",
        name,
        namespace="default",
        storageClassName=class_name,
        capacity=size,
        nodeTopology=topology,
    )


def csi_node(name, *drivers):
    return make_object("CSINode", name, spec={"drivers": [{"name": driver, "nodeID": name} for driver in drivers]})


def driver(name, **spec):
    return make_object("CSIDriver", name, spec=spec)


def pod_with(*claims):
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return make_pod("p", requests={"cpu": "100m"}, spec={"volumes": volumes})


NODES = [make_node(name, labels={"kubernetes.io/hostname": name}) for name in "abc"]
DRIVERS = [driver("d.example", storageCapacity=True), driver("e.example", storageCapacity=True)]
CLASSES = [storage_class("sc"), storage_class("s2", "e.example"), storage_class("open", "f.example")]
X, Y = claim("x", "sc", "1Gi"), claim("y", "s2", "1Gi")


def evaluated(*objects, minor=37, configuration=None):
    cluster = [*NODES, *DRIVERS, *CLASSES, *objects]
    with Explainer(cluster, set_up(configuration, release=Release(minor))) as explainer:
        return explainer.evaluate(explainer.pending[0])


def scores(*objects, **how):
    """The points of each node."""
    given = evaluated(*objects, **how).scores
    names = given.nodes.names
    return dict(zip(names, given.by_plugin["VolumeBinding"].tolist(), strict=True))


# Each row is what the plugins of v1.37.2 said.
@pytest.mark.parametrize(
    ("objects", "recorded"),
    [
        ([X, capacity("ca", "sc", "3Gi", "a"), capacity("cb", "sc", "100Gi", "b"), pod_with("x")], {"a": 67, "b": 99}),
        (
            [X, claim("z", "sc", "1Gi"), capacity("ca", "sc", "3Gi", "a"), pod_with("x", "z")],
            {"a": 34},
        ),
        (
            [X, Y, capacity("c1", "sc", "3Gi", "a"), capacity("c2", "s2", "7Gi", "a"), pod_with("x", "y")],
            {"a": 77},
        ),
        ([claim("x", "open", "1Gi"), pod_with("x")], {"a": 0, "b": 0, "c": 0}),
        (
            [X, claim("y", "open", "1Gi"), capacity("ca", "sc", "2Gi", "a"), pod_with("x", "y")],
            {"a": 50},
        ),
        ([X, volume("va", "sc", "4Gi", "a"), volume("vb", "sc", "2Gi", "b"), pod_with("x")], {"a": 75, "b": 50}),
        (
            [X, Y, volume("va", "sc", "4Gi", "a"), capacity("c2", "s2", "10Gi", "a"), pod_with("x", "y")],
            {"a": 75},
        ),
        (
            [
                X,
                claim("z", "sc", "8Gi"),
                volume("v1", "sc", "1Gi", "a"),
                volume("v2", "sc", "90Gi", "a"),
                pod_with("x", "z"),
            ],
            {"a": 91},
        ),
        ([pod_with()], {"a": 0, "b": 0, "c": 0}),
        (
            [
                claim("x", "sc", None),
                Y,
                capacity("ca", "sc", "2Gi", "a"),
                capacity("c2", "s2", "10Gi", "a"),
                pod_with("x", "y"),
            ],
            {"a": 90},
        ),
    ],
)
def test_the_share_of_storage_that_would_be_used_scores(objects, recorded):
    assert scores(*objects) == recorded


def test_a_shape_of_the_configuration_counts():
    points = [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 3}, {"utilization": 100, "score": 10}]
    configuration = make_configuration({"name": "VolumeBinding", "args": {"shape": points}})
    published = [
        capacity("ca", "sc", "3Gi", "a"),
        capacity("cb", "sc", "100Gi", "b"),
        capacity("cc", "sc", "1300Mi", "c"),
    ]
    assert scores(X, *published, pod_with("x"), configuration=configuration) == {"a": 19, "b": 0, "c": 69}


def make_configuration(plugin_config):
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return json.dumps({**head, "profiles": [{"pluginConfig": [plugin_config]}]}).encode()


def test_before_the_gate_is_on_volumes_do_not_score():
    given = evaluated(
        X, capacity("ca", "sc", "3Gi", "a"), capacity("cb", "sc", "9Gi", "b"), pod_with("x"), minor=36
    ).scores
    assert "VolumeBinding" not in given.by_plugin


MISSING = "{} CSI driver is not installed on the node"
NEEDED = [
    driver("d.example", storageCapacity=False, preventPodSchedulingIfMissing=True),
    driver("e.example", storageCapacity=False, preventPodSchedulingIfMissing=True),
]


@pytest.mark.parametrize(
    ("claims", "on_b"), [(("x", "y"), "d.example"), (("y", "x"), "e.example")], ids=["x first", "y first"]
)
def test_a_node_must_have_the_drivers_that_prevent(claims, on_b):
    nodes = [csi_node("a", "d.example"), csi_node("b"), csi_node("c", "d.example", "e.example")]
    cluster = [*NODES, *NEEDED, *CLASSES, *nodes, X, Y, pod_with(*claims)]
    with Explainer(cluster, set_up(release=Release(37))) as explainer:
        line = as_line(explainer.evaluate(explainer.pending[0]))
    reasons = {node: status["reasons"] for node, status in line["filter"].items()}
    assert reasons == {"a": [MISSING.format("e.example")], "b": [MISSING.format(on_b)]}


def test_a_driver_that_does_not_prevent_may_be_missing():
    assert evaluated(X, csi_node("a", "d.example"), capacity("cb", "sc", "9Gi", "b"), pod_with("x")).feasible == ["b"]
