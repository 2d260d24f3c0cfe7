"""Finds claims of a pod whose disk is on one node: on any other node the pod would be placed, and would not start.

Rule: kube-scheduler v1.36 does not look at where ReadWriteOnce volumes are attached. The attach-detach controller does,
and the pod waits in ContainerCreating (Multi-Attach error).
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from kubesched.api import CSIDriver, PersistentVolume, PersistentVolumeClaim, VolumeAttachment
from kubesched.documents import joined
from kubesched.state import PodInfo, Snapshot, in_tree_source, is_bound

_MAX_PODS: Final = 3


class ClaimInUse(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A ReadWriteOnce claim whose disk is attached to a node.

    Attributes:
        claim: `namespace/name`.
        pods: `namespace/name` of the pods there that use it; none where the disk is attached all the same.
    """

    claim: str
    node: str
    pods: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What it means for the pod, in one sentence."""
        used = f"in use on {self.node} by {joined(self.pods, _MAX_PODS)}" if self.pods else f"attached to {self.node}"
        ends = "until it is detached" if not self.pods else "until that pod has ended"
        ends = "until these pods have ended" if len(self.pods) > 1 else ends
        return f"Claim {self.claim} is ReadWriteOnce and {used}: on another node the pod would not start {ends}."


def claims_in_use(info: PodInfo, snapshot: Snapshot) -> tuple[ClaimInUse, ...]:
    """The claims of a pod whose disks are attached to some node."""
    return tuple(_in_use(info, snapshot)) if info.volumes.claims else ()


def _in_use(info: PodInfo, snapshot: Snapshot) -> Iterator[ClaimInUse]:
    for name in dict.fromkeys(info.volumes.direct_claims):
        claim = snapshot.get("PersistentVolumeClaim", info.pod.namespace, name)
        if not isinstance(claim, PersistentVolumeClaim) or not is_bound(claim):
            continue
        volume = snapshot.get("PersistentVolume", "", claim.spec.volume_name)
        is_single = set(claim.spec.access_modes or ()) == {"ReadWriteOnce"}
        if is_single and isinstance(volume, PersistentVolume) and _is_attached(volume, snapshot):
            yield from _places(claim, snapshot)


def _is_attached(volume: PersistentVolume, snapshot: Snapshot) -> bool:
    """Whether the volume is attached to a node before it is mounted."""
    if volume.spec.csi is None:
        return in_tree_source(volume) is not None
    driver = snapshot.get("CSIDriver", "", volume.spec.csi.driver)
    return not isinstance(driver, CSIDriver) or driver.spec.attach_required is not False


def _places(claim: PersistentVolumeClaim, snapshot: Snapshot) -> Iterator[ClaimInUse]:
    columns = snapshot.cluster_state.columns
    rows = snapshot.cluster_state.volumes.use.claim_rows.get(claim.key, ())
    for row in rows:
        users = (info for info in columns.pods[row] if claim.name in info.volumes.direct_claims)
        pods = tuple(info.pod.key for info in users if info.pod.namespace == claim.namespace)
        yield ClaimInUse(claim.key, columns.names[row], pods)
    for one in () if rows else snapshot.objects.list("VolumeAttachment"):
        if isinstance(one, VolumeAttachment) and one.spec.source.persistent_volume_name == claim.spec.volume_name:
            yield ClaimInUse(claim.key, one.spec.node_name)
