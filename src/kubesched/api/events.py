"""Changes in a cluster: watch events from the API server, and cluster events for queueing hints.

Rule: kube-scheduler v1.36 framework.ClusterEvent. Resources and actions carry upstream's names; an event's label is
resource and action together, such as `AssignedPodDelete`.
"""

import enum

import msgspec

from kubesched.api.meta import KubeObject


class EventType(enum.Enum):
    """The type of a watch event."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class WatchEvent(msgspec.Struct, frozen=True, gc=False):
    """One object that was added, modified or deleted; `kind` is a key of KINDS."""

    type: EventType
    kind: str
    object: KubeObject


class ActionType(enum.IntFlag):
    """What happened to an object; a bit each, in upstream's order, because matching compares the numbers too."""

    ADD = enum.auto()
    DELETE = enum.auto()
    UPDATE_NODE_ALLOCATABLE = enum.auto()
    UPDATE_NODE_LABEL = enum.auto()
    UPDATE_NODE_TAINT = enum.auto()
    UPDATE_NODE_CONDITION = enum.auto()
    UPDATE_NODE_ANNOTATION = enum.auto()
    UPDATE_NODE_DECLARED_FEATURE = enum.auto()
    UPDATE_POD_LABEL = enum.auto()
    UPDATE_POD_SCALE_DOWN = enum.auto()
    UPDATE_POD_TOLERATION = enum.auto()
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = enum.auto()
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = enum.auto()
    UPDATE_OTHER = enum.auto()
    UPDATE = (
        UPDATE_NODE_ALLOCATABLE
        | UPDATE_NODE_LABEL
        | UPDATE_NODE_TAINT
        | UPDATE_NODE_CONDITION
        | UPDATE_NODE_ANNOTATION
        | UPDATE_NODE_DECLARED_FEATURE
        | UPDATE_POD_LABEL
        | UPDATE_POD_SCALE_DOWN
        | UPDATE_POD_TOLERATION
        | UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | UPDATE_POD_GENERATED_RESOURCE_CLAIM
        | UPDATE_OTHER
    )
    ALL = ADD | DELETE | UPDATE

    @property
    def label(self) -> str:
        """The action's name as in metrics: `Add`, `UpdateNodeTaint`; `Update` for one without a separate name."""
        if self is ActionType.UPDATE_OTHER:
            return "Update"
        return "".join(part.capitalize() for part in (self.name or "").split("_"))


class EventResource(enum.Enum):
    """The kind of object that an event is about."""

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULABLE_POD = "UnschedulablePod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    WILDCARD = "*"

    def __str__(self) -> str:
        return self.value


def custom_resource(kind: str) -> str:
    """What events name a kind that kubesched does not decode: `plural.version.group`, as kube-scheduler does.

    Args:
        kind: as `kind_of` returns it, `group/version/plural`; anything else gives an empty text.

    Example:
        assert custom_resource("example.com/v1/quotas") == "quotas.v1.example.com"
    """
    return ".".join(reversed(kind.split("/"))) if "/" in kind else ""


class ClusterEvent(msgspec.Struct, frozen=True, cache_hash=True):
    """Something that may make a pending pod schedulable.

    Attributes:
        resource: the kind of object; `plural.version.group` for a kind that kubesched does not decode, such as
            `quotas.v1.example.com`, which the plugin has to declare in `reads`.
        action: what happened; a registration may name several actions at once.
        special: a separate label (`UnschedulableTimeout`, `ForceActivate`, ...), empty for ordinary events.

    Example:
        relabelled = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        assert relabelled.covers(ClusterEvent(EventResource.NODE, ActionType.ADD))
    """

    resource: EventResource | str
    action: ActionType
    special: str = ""

    @property
    def label(self) -> str:
        """As upstream's metrics name it: `NodeAdd`, `AssignedPodDelete`, `storage.k8s.io/CSINodeUpdate`."""
        return self.special or f"{self.resource}{self.action.label}"

    @property
    def is_wildcard(self) -> bool:
        """Whether the event covers every event."""
        return self.resource is EventResource.WILDCARD and self.action == ActionType.ALL

    def covers(self, incoming: "ClusterEvent") -> bool:
        """Whether a registration for this event includes `incoming`.

        Rule: kube-scheduler v1.36 ClusterEvent.Match: wildcard; or same resource (Pod covers its two special forms), a
        common action bit, and no incoming action above the registered ones.
        """
        if self.is_wildcard:
            return True
        same = (
            self.resource is EventResource.WILDCARD
            or self.resource == incoming.resource
            or (
                self.resource is EventResource.POD
                and incoming.resource in (EventResource.ASSIGNED_POD, EventResource.UNSCHEDULABLE_POD)
            )
        )
        return same and bool(self.action & incoming.action) and incoming.action <= self.action
