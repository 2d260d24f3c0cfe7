"""The volumes of a pod for scheduling: claims, disks that cannot be shared, in-tree volumes that became CSI."""

from typing import Final, NamedTuple

from msgspec.structs import astuple, fields

from kubesched.api import DiskSource, Pod, Volume
from kubesched.state.csi_migration import InTree, in_tree_source


class ClaimUse(NamedTuple):
    """A volume that uses a claim in the pod's namespace; an ephemeral one's claim is named after pod and volume."""

    name: str
    is_ephemeral: bool


class Disk(NamedTuple):
    """A disk written into the pod itself: two pods with the same key cannot share a node unless both only read.

    Rule: kube-scheduler v1.36 VolumeRestrictions: same GCE pdName, EBS volumeID (reading only does not help), iSCSI
    iqn, or RBD pool, image and one monitor. An RBD volume is a Disk per monitor.
    """

    key: tuple[str, ...]
    read_only: bool


class PodVolumes(NamedTuple):
    """The volumes that rules look at, each list in the pod's order; an emptyDir or a configMap is in none of them.

    Attributes:
        claims: persistentVolumeClaim and ephemeral volumes.
        disks: inline disks that conflict.
        in_tree: (kind, source) of inline volumes whose in-tree plugin a CSI driver replaced.
    """

    claims: tuple[ClaimUse, ...]
    disks: tuple[Disk, ...]
    in_tree: tuple[tuple[InTree, DiskSource], ...]

    @property
    def n_attachable(self) -> int:
        """How many volumes a CSI driver may attach; two of them may be the same one."""
        return len(self.claims) + len(self.in_tree)

    @property
    def direct_claims(self) -> list[str]:
        """The names of the claims that the pod names itself."""
        return [claim.name for claim in self.claims if not claim.is_ephemeral]


NO_VOLUMES: Final = PodVolumes((), (), ())
_N_SOURCES: Final = len(fields(Volume)) - 1  # all but the name; most volumes have none of those that are decoded


def pod_volumes(pod: Pod) -> PodVolumes:
    """Sort a pod's volumes; NO_VOLUMES itself where none counts.

    Example:
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
        assert pod_volumes(make_pod("db", spec={"volumes": volumes})).direct_claims == ["data"]
    """
    volumes = pod.spec.volumes
    counting = volumes and [volume for volume in volumes if astuple(volume).count(None) < _N_SOURCES]
    if not counting:
        return NO_VOLUMES
    claims: list[ClaimUse] = []
    disks: list[Disk] = []
    in_tree: list[tuple[InTree, DiskSource]] = []
    for volume in counting:
        if volume.persistent_volume_claim is not None:
            claims.append(ClaimUse(volume.persistent_volume_claim.claim_name, False))
        elif volume.ephemeral is not None:
            claims.append(ClaimUse(f"{pod.name}-{volume.name}", True))
        else:
            source = in_tree_source(volume)
            in_tree += [source] if source else []
        disks += _disks(volume)
    return PodVolumes(tuple(claims), tuple(disks), tuple(in_tree)) if claims or disks or in_tree else NO_VOLUMES


def _disks(volume: Volume) -> list[Disk]:
    if (gce := volume.gce_persistent_disk) is not None:
        return [Disk(("gce", gce.pd_name), gce.read_only)]
    if (ebs := volume.aws_elastic_block_store) is not None:
        return [Disk(("ebs", ebs.volume_id), False)]
    if (iscsi := volume.iscsi) is not None:
        return [Disk(("iscsi", iscsi.iqn), iscsi.read_only)]
    if (rbd := volume.rbd) is not None:
        monitors = sorted(set(rbd.monitors or ()))
        return [Disk(("rbd", monitor, rbd.pool, rbd.image), rbd.read_only) for monitor in monitors]
    return []
