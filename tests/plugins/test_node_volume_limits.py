import numpy as np
import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.framework import QueueingHint, Status
from kubesched.plugins import NodeVolumeLimits
from kubesched.release import Release
from kubesched.state import PodBatch
from tests.plugins.hinting import POD_DELETE, hint
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod
from tests.plugins.storage_objects import (
    STORAGE,
    attachment,
    claim,
    csi_node,
    csi_volume,
    obj,
    storage_class,
    uses,
    volume,
)

DRIVER = "csi.example.com"
EXCEEDED = Status.unschedulable("node(s) exceed max volume count")
NODES = [node("a"), node("b"), csi_node("a", {DRIVER: 1}), csi_node("b", {DRIVER: 2})]


def have(*names: str) -> list[dict]:
    """Claims with these names, each bound to a volume of its own."""
    return [item for name in names for item in (claim(name, volume=f"pv-{name}"), csi_volume(f"pv-{name}"))]


def ask(items: list[dict], volumes: list[dict]) -> Asked:
    asked = Asked(NodeVolumeLimits(), [*NODES, *items], pod(volumes=volumes))
    assert asked.pre_filter() == Status.SUCCESS
    return asked


def test_a_node_takes_as_many_volumes_as_its_limit():
    placed = pod("other", nodeName="a", volumes=uses("x"))
    assert ask([*have("x", "y"), placed], uses("y")).filter() == {"a": EXCEEDED}
    assert ask(have("x", "y"), uses("x", "y")).filter() == {"a": EXCEEDED}


def test_a_volume_that_is_there_already_counts_once():
    placed = pod("other", nodeName="a", volumes=uses("x"))
    assert ask([*have("x"), placed], uses("x")).filter() == {}


def test_a_claim_without_a_volume_counts_under_its_provisioner():
    items = [claim("late", "csi"), storage_class("csi"), *have("x"), pod("other", nodeName="a", volumes=uses("late"))]
    assert ask(items, uses("x")).filter() == {"a": EXCEEDED}


def test_an_attachment_without_a_pod_counts_even_against_its_own_volume():
    assert ask([*have("x"), attachment("va", "a", "pv-x")], uses("x")).filter() == {"a": EXCEEDED}


def test_inline_in_tree_and_csi_volumes_are_one_volume_when_they_are():
    nodes = [node("e"), csi_node("e", {"ebs.csi.aws.com": 1})]
    placed = pod("other", nodeName="e", volumes=[{"name": "v", "awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}}])
    same = [claim("c", volume="pv"), csi_volume("pv", "ebs.csi.aws.com", "vol-1")]
    assert "e" not in ask([*nodes, placed, *same], uses("c")).filter()
    other = [claim("c", volume="pv"), csi_volume("pv", "ebs.csi.aws.com", "vol-2")]
    assert ask([*nodes, placed, *other], uses("c")).filter() == {"e": EXCEEDED}


PORTWORX = {"name": "v", "portworxVolume": {"volumeID": "p"}}
PLUGIN = "kubernetes.io/portworx-volume"


@pytest.mark.parametrize(("minor", "full"), [(35, ["a"]), (36, ["a", "b"])])
@pytest.mark.parametrize(
    ("volumes", "items"),
    [
        ([PORTWORX], []),
        (uses("c"), [claim("c", volume="pv"), volume("pv", phase="Bound", portworxVolume={"volumeID": "p"})]),
        (uses("c"), [claim("c", "late"), storage_class("late", PLUGIN)]),
    ],
    ids=["inline", "of a claim", "of a class"],
)
def test_before_v1_36_portworx_volumes_count_where_their_plugin_is_migrated(
    minor: int, full: list[str], volumes: list[dict], items: list[dict]
) -> None:
    driver = "pxd.portworx.com"
    nodes = [node("a"), node("b"), csi_node("a", {driver: 0}, PLUGIN), csi_node("b", {driver: 0})]
    asked = Asked(NodeVolumeLimits(), [*nodes, *items], pod(volumes=volumes), release=Release(minor))
    assert asked.pre_filter() == Status.SUCCESS
    assert asked.filter() == dict.fromkeys(full, EXCEEDED)


def test_before_v1_36_a_node_holds_the_portworx_volumes_that_count_there() -> None:
    driver = "pxd.portworx.com"
    nodes = [node("a"), node("b"), csi_node("a", {driver: 1}, PLUGIN), csi_node("b", {driver: 1})]
    placed = [pod(f"on-{name}", nodeName=name, volumes=[PORTWORX]) for name in "ab"]
    items = [*nodes, *placed, claim("c", volume="pv"), csi_volume("pv", driver, "q")]
    asked = Asked(NodeVolumeLimits(), items, pod(volumes=uses("c")), release=Release(35))
    assert asked.pre_filter() == Status.SUCCESS
    assert asked.filter() == {"a": EXCEEDED}
    same = [*nodes, *placed, claim("c", volume="pv"), csi_volume("pv", driver, "p")]
    asked = Asked(NodeVolumeLimits(), same, pod(volumes=uses("c")), release=Release(35))
    assert asked.pre_filter() == Status.SUCCESS
    assert asked.filter() == {}


def needed(driver: str) -> dict:
    return obj("CSIDriver", driver, api=STORAGE, spec={"preventPodSchedulingIfMissing": True})


def test_since_v1_37_a_node_without_the_driver_of_several_claims_is_rejected() -> None:
    items = [*have("x", "y"), needed(DRIVER), node("c")]
    asked = Asked(NodeVolumeLimits(), [*NODES, *items], pod(volumes=uses("x", "y")), release=Release(37))
    assert asked.pre_filter() == Status.SUCCESS
    missing = Status.unschedulable(f"{DRIVER} CSI driver is not installed on the node")
    assert asked.filter() == {"a": EXCEEDED, "c": missing}


def test_since_v1_37_a_missing_driver_counts_before_a_fault_of_a_placed_pod() -> None:
    placed = pod("other", nodeName="a", volumes=[{"name": "v", "ephemeral": {}}])
    items = [*have("x"), placed, claim("other-v"), csi_node("a", {"else.example.com": 1}), needed(DRIVER)]
    asked = Asked(NodeVolumeLimits(), [node("a"), *items], pod(volumes=uses("x")), release=Release(37))
    assert asked.pre_filter() == Status.SUCCESS
    assert asked.filter() == {"a": Status.unschedulable(f"{DRIVER} CSI driver is not installed on the node")}


def test_a_missing_claim_rejects_every_node():
    rejected = Status.unresolvable('looking up PVC default/x: persistentvolumeclaim "x" not found')
    assert ask([], uses("x")).filter() == {"a": rejected, "b": rejected}


def test_an_ephemeral_claim_of_another_pod_is_a_fault():
    volumes = [{"name": "v", "ephemeral": {}}]
    fault = Status.error("PVC default/p-v was not created for pod default/p (pod is not owner)")
    assert ask([claim("p-v")], volumes).filter() == {"a": fault, "b": fault}


def test_of_two_claims_that_stand_in_the_way_the_first_is_told():
    volumes = [{"name": "v", "ephemeral": {}}, *uses("x")]
    fault = Status.error("PVC default/p-v was not created for pod default/p (pod is not owner)")
    assert ask([claim("p-v")], volumes).filter() == {"a": fault, "b": fault}


def test_a_fault_of_a_placed_pod_fails_its_node_only_where_there_are_limits():
    free = node("free")
    placed = [pod(f"other-{name}", nodeName=name, volumes=[{"name": "v", "ephemeral": {}}]) for name in ("b", "free")]
    items = [free, *placed, claim("other-b-v"), claim("other-free-v"), *have("x")]
    fault = Status.error("PVC default/other-b-v was not created for pod default/other-b (pod is not owner)")
    assert ask(items, uses("x")).filter() == {"b": fault}


def test_a_what_if_table_counts_the_pods_that_it_shows():
    placed = pod("other", nodeName="a", volumes=uses("x"))
    asked = ask([*have("x", "y", "z"), placed], uses("y"))
    table = asked.nodes.copy()
    infos = list(table.pods(0))
    table.remove(np.array([0]), PodBatch(infos))
    come = asked.cluster.pod_info(read_pod(pod("come", volumes=uses("x", "z"))))
    table.add(np.array([1]), PodBatch([come]))
    assert asked.filter(table) == {"b": EXCEEDED}


def test_only_claims_and_migrated_volumes_count():
    asked = Asked(NodeVolumeLimits(), NODES, pod(volumes=[{"name": "v", "iscsi": {"iqn": "i"}}]))
    assert asked.pre_filter() == Status.SKIP


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (1, 2, QueueingHint.QUEUE),
        (2, 1, QueueingHint.SKIP),
        (None, 1, QueueingHint.QUEUE),
        (1, None, QueueingHint.SKIP),
    ],
)
def test_a_limit_that_grows_helps(before: int | None, after: int | None, expected: QueueingHint):
    event = ClusterEvent(EventResource.CSI_NODE, ActionType.UPDATE)
    old, new = (read(csi_node("a", {DRIVER: count})) for count in (before, after))
    assert hint(NodeVolumeLimits(), event, read_pod(pod(volumes=uses("x"))), old, new) is expected


def test_a_pod_that_leaves_helps_when_its_volumes_counted_on_a_node():
    waiting = read_pod(pod(volumes=uses("x")))
    for gone, expected in (
        (pod("gone", nodeName="a", volumes=uses("y")), QueueingHint.QUEUE),
        (pod("gone", volumes=uses("y")), QueueingHint.SKIP),
        (pod("gone", nodeName="a", volumes=[{"name": "v", "emptyDir": {}}]), QueueingHint.SKIP),
    ):
        assert hint(NodeVolumeLimits(), POD_DELETE, waiting, read_pod(gone), None) is expected


def test_an_attachment_that_goes_helps_claims_and_volumes_of_its_driver():
    event = ClusterEvent(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE)
    gone = read(attachment("va", "a", "pv", "pd.csi.storage.gke.io"))
    for volumes, expected in (
        (uses("x"), QueueingHint.QUEUE),
        ([{"name": "v", "gcePersistentDisk": {"pdName": "d"}}], QueueingHint.QUEUE),
        ([{"name": "v", "cinder": {"volumeID": "d"}}], QueueingHint.SKIP),
    ):
        assert hint(NodeVolumeLimits(), event, read_pod(pod(volumes=volumes)), gone, None) is expected
