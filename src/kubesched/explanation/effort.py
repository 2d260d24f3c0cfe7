"""What a fix costs the person who applies it: the kinds of fixes, and the order in which they are offered."""

from enum import IntEnum
from typing import Final, Literal, get_args


class Effort(IntEnum):
    """What a fix costs the person who applies it, and whether it can be what was meant; the least comes first.

    From OTHER_POOL on, the pod or the nodes are no longer for what they were for.
    """

    CORRECT = 0
    """A name or a number that was written wrongly."""
    ADAPT = 1
    """A small change that keeps what the pod asks for, or an object that it names."""
    OPEN = 2
    """A change of the cluster that one command makes, such as uncordon."""
    LOOSEN = 3
    """A rule that keeps replicas of one workload apart becomes weaker: no other workload relies on it."""
    REPAIR = 4
    """A node or a device is out of order."""
    MOVE = 5
    """Pods go to other nodes."""
    ADD = 6
    """A node or a volume more."""
    OUTAGE = 7
    """A whole zone is out, which no command repairs."""
    OTHER_POOL = 8
    """Nodes that anybody may use, which are of another kind, such as spot."""
    LESS = 9
    """Smaller requests."""
    RESERVED = 10
    """Nodes that are reserved for others."""
    SWITCH = 11
    """Other nodes than those that the pod asks for."""
    DATA = 12
    """Data has to be copied."""
    DROP = 13
    """A rule of the pod goes."""
    OPEN_TO_ALL = 14
    """A rule of the nodes goes, for every pod."""
    OUTRANK = 15
    """Pods of a higher priority make way, or the pod gets one: it goes before what the cluster puts first."""
    LAST_RESORT = 16
    """Only where nothing else helps: it wastes what nodes are made for, or no cloud has such a node."""
    UPGRADE = 17
    """Another version of Kubernetes: it concerns the whole cluster, and other people do it."""


SmallKind = Literal[
    "toleration",
    "nodeSelector",
    "nodeAffinity",
    "requests",
    "priorityClass",
    "podAffinity",
    "podAntiAffinity",
    "maxSkew",
    "minDomains",
    "scheduleAnyway",
    "spreadPolicy",
    "topologyKey",
    "claimMissing",
    "claimUnbound",
    "claimInUse",
    "storageClass",
    "volumeMissing",
    "selectedNode",
    "claimSpec",
    "claimRef",
    "schedulingGate",
    "rolloutStrategy",
    "rollout",
    "admission",
    "deviceRequest",
    "resourceClaim",
    "deviceClass",
]
OpeningKind = Literal["taint", "uncordon", "label", "startPod", "terminating", "nomination", "unusedClaim"]
RepairKind = Literal["nodeCondition", "devicePlugin", "deviceTaint", "devicePool", "csiDriver", "kubelet", "maxPods"]
MoveKind = Literal["movePod", "hostPort", "diskInUse", "volumeLimit"]
AddingKind = Literal["addNode", "addVolume", "storageCapacity"]
DataKind = Literal["recreateClaim"]
UpgradeKind = Literal["upgrade"]
FixKind = SmallKind | OpeningKind | RepairKind | MoveKind | AddingKind | DataKind | UpgradeKind
"""The kinds of single fixes, by what they usually cost."""

_USUAL: Final[dict[str, Effort]] = {
    kind: effort
    for effort, kinds in (
        (Effort.ADAPT, SmallKind),
        (Effort.OPEN, OpeningKind),
        (Effort.REPAIR, RepairKind),
        (Effort.MOVE, MoveKind),
        (Effort.ADD, AddingKind),
        (Effort.DATA, DataKind),
        (Effort.UPGRADE, UpgradeKind),
    )
    for kind in get_args(kinds)
}


def usual_effort(kind: FixKind, *, keeps_intent: bool) -> Effort:
    """What fixes of a kind cost where nothing else is known of them; a small one that drops the intent drops a rule."""
    effort = _USUAL[kind]
    return Effort.DROP if effort is Effort.ADAPT and not keeps_intent else effort
