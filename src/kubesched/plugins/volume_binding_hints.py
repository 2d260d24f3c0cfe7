"""Decides which cluster events trigger a retry of a pod that VolumeBinding rejected.

Rule: kube-scheduler v1.36 VolumeBinding, EventsToRegister.
"""

from typing import Final

from kubesched.api import (
    ActionType,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    EventResource,
    KubeObject,
    Pod,
    StorageClass,
)
from kubesched.framework import QueueingHint
from kubesched.plugins.shared_hints import by_claim, nothing, queue_if, registration, volumes_part
from kubesched.state import capacity_limit, migrated_plugins


def _class_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """A class comes, or allows other topologies."""
    if not isinstance(old, StorageClass) or not isinstance(new, StorageClass):
        return QueueingHint.QUEUE
    return queue_if(old.allowed_topologies != new.allowed_topologies)


def _csi_node_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """A CSINode comes, or its migrated plugins change."""
    if not isinstance(old, CSINode) or not isinstance(new, CSINode):
        return QueueingHint.QUEUE
    return queue_if(migrated_plugins(old) != migrated_plugins(new))


def _driver_updated(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """The driver of an inline volume no longer publishes its capacity, so capacity rejects no pod any more."""
    if not isinstance(old, CSIDriver) or not isinstance(new, CSIDriver):
        return QueueingHint.QUEUE
    uses_it = any(volume.csi is not None and volume.csi.driver == new.name for volume in pod.volumes)
    return queue_if(uses_it and bool(old.spec.storage_capacity) and not new.spec.storage_capacity)


def _capacity_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """A capacity comes, or grows."""
    if not isinstance(old, CSIStorageCapacity) or not isinstance(new, CSIStorageCapacity):
        return QueueingHint.QUEUE
    before, after = capacity_limit(old), capacity_limit(new)
    return queue_if(after is not None and (before is None or after > before))


_ADD_OR_UPDATE: Final = ActionType.ADD | ActionType.UPDATE


EVENTS: Final = (
    registration(EventResource.STORAGE_CLASS, _ADD_OR_UPDATE, _class_changed, nothing),
    by_claim(_ADD_OR_UPDATE, ephemeral=True),
    registration(EventResource.PERSISTENT_VOLUME, _ADD_OR_UPDATE),
    registration(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
    registration(EventResource.CSI_NODE, _ADD_OR_UPDATE, _csi_node_changed, nothing),
    registration(EventResource.CSI_DRIVER, ActionType.UPDATE, _driver_updated, volumes_part),
    registration(EventResource.CSI_STORAGE_CAPACITY, _ADD_OR_UPDATE, _capacity_changed, nothing),
)
