"""kube-scheduler v1.36 VolumeRestrictions."""

from tests.reference import objects, storage
from tests.reference.framework import SKIP, Plugin, PluginError, PreFilter, Status

DISKS = ("gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi")
TAKEN = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
NO_STATE = 'cannot read "PreFilterVolumeRestrictions" from cycleState'


class VolumeRestrictions(Plugin):
    """A disk written into the pod itself cannot be shared on a node; a ReadWriteOncePod claim cannot be shared at
    all.
    """

    name = "VolumeRestrictions"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        namespace = objects.namespace_of(pod)
        exclusive = set()  # the pod's ReadWriteOncePod claims
        for name in storage.direct_claims(pod):
            claim = cluster.get("PersistentVolumeClaim", name, namespace)
            if claim is None:
                return PreFilter(status=self.unresolvable(f'persistentvolumeclaim "{name}" not found'))
            if "ReadWriteOncePod" in (claim["spec"].get("accessModes") or ()):
                exclusive.add(name)
        used = {
            name
            for node in cluster.nodes
            for other in node.pods
            if objects.namespace_of(other) == namespace
            for name in storage.direct_claims(other)
        }
        self.state = {"exclusive": exclusive, "conflicts": len(exclusive & used)}
        has_disks = any(volume.get(disk) is not None for volume in storage.volumes_of(pod) for disk in DISKS)
        return PreFilter() if has_disks or self.state["conflicts"] else SKIP

    def filter(self, pod: dict, node) -> Status | None:
        if any(
            disks_conflict(mine, theirs)
            for mine in storage.volumes_of(pod)
            for other in node.pods
            for theirs in storage.volumes_of(other)
        ):
            return self.unschedulable("node(s) had no available disk")
        if self.state is None:  # PreFilter is switched off
            return storage.failed(self, "filter", PluginError(NO_STATE))
        if self.state["conflicts"] > 0:
            return self.unschedulable(TAKEN)
        return None

    def add_pod(self, pod: dict, other: dict, node) -> None:
        self.state["conflicts"] += self.shared_claims(other)

    def remove_pod(self, pod: dict, other: dict, node) -> None:
        self.state["conflicts"] -= self.shared_claims(other)

    def shared_claims(self, other: dict) -> int:
        """Counted by name: as upstream does, the namespace is not compared."""
        return sum(name in self.state["exclusive"] for name in storage.direct_claims(other))


def disks_conflict(a: dict, b: dict) -> bool:
    """Whether two volumes of two pods are the same disk and cannot be on one node together."""
    for disk in DISKS:
        x, y = a.get(disk), b.get(disk)
        if x is None or y is None:
            continue
        if disk == "awsElasticBlockStore":  # read-only does not help
            same = x["volumeID"] == y["volumeID"]
        elif x.get("readOnly") and y.get("readOnly"):
            same = False
        elif disk == "gcePersistentDisk":
            same = x["pdName"] == y["pdName"]
        elif disk == "iscsi":
            same = x["iqn"] == y["iqn"]
        else:
            same = (
                bool(set(x["monitors"]) & set(y["monitors"]))
                and (x.get("pool") or "") == (y.get("pool") or "")
                and x["image"] == y["image"]
            )
        if same:
            return True
    return False
