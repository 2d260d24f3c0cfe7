"""Every figure, against a calculation pod by pod."""

import pytest

from kubesched.api import KubeObject, completed
from kubesched.comparison.measure import Ruler
from kubesched.scheduler import TieBreak
from kubesched.session import Simulator
from kubesched.testing import make_node, make_object, make_pod
from tests.comparison.small_clusters import PRICES, empty_nodes, owned, random_cluster, replicas, worked_out
from tests.session.test_device_use import DRIVER, device, slice_of
from tests.trials import seeds

NO_DEVICES = dict.fromkeys(("devicesTaken", "devicesFree", "devicesMismatched"))


def measured(objects, seed: int = 0, prices=None) -> dict:
    objects = [completed(one) for one in objects]
    ruler = Ruler(objects, ["default-scheduler"], prices)
    simulator = Simulator(objects, tie_break=TieBreak.RANDOM, seed=seed)
    return ruler.measure(simulator.cluster_state, simulator.run())


@pytest.mark.parametrize("seed", seeds(8))
def test_every_figure_equals_the_one_worked_out_pod_by_pod(seed: int):
    objects = [completed(one) for one in random_cluster(seed)]
    ruler = Ruler(objects, ["default-scheduler"], PRICES)
    simulator = Simulator(objects, tie_break=TieBreak.RANDOM, seed=seed)
    report = simulator.run()
    assert ruler.measure(simulator.cluster_state, report) == worked_out(objects, report) | NO_DEVICES


def test_preempted_pods_are_gone_from_nodes_and_workloads():
    objects = [
        make_node("n", zone="a"),
        *replicas("low", 2, "2", node="n"),
        make_pod("high", requests={"cpu": "2"}, priority=9),
    ]
    said = measured([*objects, make_pod("low-2", requests={"cpu": "4"}, metadata=owned("StatefulSet", "low"))])
    assert (said["victims"], said["placed"], said["pending"], said["cpuMedian"]) == (1, 1, 1, 1.0)
    assert said["onOneNode"] == 0


def test_a_node_with_daemons_and_mirror_pods_alone_is_free():
    pods = [make_pod(kind, node="n0", metadata=owned(kind, kind)) for kind in ("DaemonSet", "Node")]
    said = measured([*empty_nodes(2), *pods, make_pod("bare", node="n1")])
    assert (said["nodesInUse"], said["nodesFree"]) == (1, 1)


def test_a_cluster_without_zones_prices_and_pods_to_place_lacks_their_figures():
    said = measured([make_node("n"), make_pod("bare", node="n")])
    assert {name for name, value in said.items() if value is None} == {
        "pricePerHour",
        "fragmentation",
        "devicesTaken",
        "devicesFree",
        "devicesMismatched",
        "skew",
        "onOneNode",
    }


def test_nodes_without_a_price_are_counted_by_type():
    nodes = [
        make_node(f"n{i}", labels={"node.kubernetes.io/instance-type": kind}) for i, kind in enumerate(["x", "x", "y"])
    ]
    ruler = Ruler([*nodes, make_node("bare")], [], {"y": 1.0})
    assert ruler.unpriced == {"": 1, "x": 2}


def test_pods_behind_a_gate_are_neither_placed_nor_pending():
    said = measured([*empty_nodes(), make_pod("gated", spec={"schedulingGates": [{"name": "wait"}]})])
    assert (said["placed"], said["pending"]) == (0, 0)


def test_a_pod_whose_profile_only_the_other_side_has_is_pending():
    objects = [completed(one) for one in [*empty_nodes(), make_pod("batch", spec={"schedulerName": "batch"})]]
    simulator = Simulator(objects)
    ruler = Ruler(objects, ["default-scheduler", "batch"])
    assert ruler.pending(simulator.run()) == ["default/batch"]


def waits_for(name: str, **request: object) -> list[KubeObject]:
    """A pending pod and its claim."""
    exactly = {"deviceClassName": "gpu", **request}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    entries = [{"name": "d", "resourceClaimName": name}]
    return [make_object("ResourceClaim", name, spec=spec), make_pod(name, spec={"resourceClaims": entries})]


def of_model(model: str) -> dict:
    expression = f'device.attributes["{DRIVER}"].model == "{model}"'
    return {"selectors": [{"cel": {"expression": expression}}]}


@pytest.mark.parametrize(
    ("pods", "figures"),
    [
        ((), (0, 4, 0)),
        ((waits_for("one"),), (1, 3, 0)),
        ((waits_for("both", count=2, **of_model("H100")),), (0, 4, 3)),
        ((waits_for("three", count=3),), (3, 1, 0)),
        ((waits_for("three", count=3), waits_for("both", count=2, **of_model("H100"))), (3, 1, 0)),
        ((waits_for("none", **of_model("L4")),), (0, 4, 4)),
        (([make_pod("gpu", requests={"example.com/gpu": 1})],), (1, 3, 0)),
        (([make_pod("gpu", requests={"example.com/gpu": 4})],), (0, 4, 0)),
    ],
)
def test_devices_are_counted_with_those_that_no_pending_claim_can_take(pods, figures):
    cluster = [
        make_node("n1"),
        make_node("n2"),
        make_object("DeviceClass", "gpu", spec={"extendedResourceName": "example.com/gpu"}),
        slice_of("n1", device("a"), device("b"), device("c")),
        slice_of("n2", device("a", model="H100")),
    ]
    said = measured([*cluster, *(one for each in pods for one in each)])
    assert tuple(said[name] for name in NO_DEVICES) == figures
