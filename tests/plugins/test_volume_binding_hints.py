import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.framework import QueueingHint
from kubesched.plugins import VolumeBinding
from tests.plugins.hinting import hint
from tests.plugins.one_plugin import pod, read, read_pod
from tests.plugins.storage_objects import capacity, claim, csi_driver, csi_node, storage_class, uses

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
ZONE_TERM = [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]
WITHOUT_CAPACITY = {**csi_driver("csi.example.com"), "spec": {"storageCapacity": False}}
WAITING = pod(volumes=[*uses("c"), {"name": "i", "csi": {"driver": "csi.example.com"}}])


@pytest.mark.parametrize(
    ("resource", "old", "new", "expected"),
    [
        (EventResource.STORAGE_CLASS, None, storage_class("x"), QUEUE),
        (EventResource.STORAGE_CLASS, storage_class("x"), storage_class("x", allowedTopologies=ZONE_TERM), QUEUE),
        (EventResource.STORAGE_CLASS, storage_class("x"), storage_class("x", mode="Immediate"), SKIP),
        (EventResource.PERSISTENT_VOLUME_CLAIM, None, claim("c"), QUEUE),
        (EventResource.PERSISTENT_VOLUME_CLAIM, None, claim("d"), SKIP),
        (EventResource.PERSISTENT_VOLUME_CLAIM, claim("c", namespace="x"), claim("c", namespace="x"), SKIP),
        (EventResource.CSI_NODE, csi_node("a"), csi_node("a", migrated="kubernetes.io/gce-pd"), QUEUE),
        (EventResource.CSI_NODE, csi_node("a"), csi_node("a", {"d": 1}), SKIP),
        (EventResource.CSI_DRIVER, csi_driver("csi.example.com"), WITHOUT_CAPACITY, QUEUE),
        (EventResource.CSI_DRIVER, WITHOUT_CAPACITY, csi_driver("csi.example.com"), SKIP),
        (EventResource.CSI_STORAGE_CAPACITY, None, capacity("k", "x", "1Gi", {}), QUEUE),
        (EventResource.CSI_STORAGE_CAPACITY, capacity("k", "x", "1Gi", {}), capacity("k", "x", "2Gi", {}), QUEUE),
        (EventResource.CSI_STORAGE_CAPACITY, capacity("k", "x", "2Gi", {}), capacity("k", "x", "1Gi", {}), SKIP),
    ],
)
def test_what_may_help_is_worth_a_try(resource: EventResource, old: dict | None, new: dict, expected: QueueingHint):
    event = ClusterEvent(resource, ActionType.ADD if old is None else ActionType.UPDATE)
    before = None if old is None else read(old)
    assert hint(VolumeBinding(), event, read_pod(WAITING), before, read(new)) is expected
