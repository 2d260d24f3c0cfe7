"""The steps to bind a pod's claims: the objects as they should become, and the check that it is done.

Rule: kube-scheduler v1.36 VolumeBinding, AssumePodVolumes and BindPodVolumes.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from kubesched.api import (
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    KubeObject,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    as_int64,
    edited,
)
from kubesched.framework import ObjectName
from kubesched.plugins.volume_matching import reach_of_bound
from kubesched.state import ClusterState, is_bound

_VOLUME: Final = "PersistentVolume"
_CLAIM: Final = "PersistentVolumeClaim"


class BindingOutcome(msgspec.Struct, frozen=True):
    """All is bound, or it never will be.

    Attributes:
        error: why not, in upstream's words; empty for success.
    """

    error: str = ""


class BindingPlan:
    """Volumes that claims take, and claims for which the provisioner gets a node.

    Attributes:
        node_name: where the pod goes.
        volumes: (volume as it should become, its claim).
        claims: claims to be provisioned, as they should become.
    """

    def __init__(
        self,
        node_name: str,
        bindings: Sequence[tuple[PersistentVolume, PersistentVolumeClaim]],
        provisioned: Sequence[PersistentVolumeClaim],
    ) -> None:
        self.node_name = node_name
        self.volumes = [(_taken_by(claim, volume), claim) for volume, claim in bindings]
        once = {claim.key: claim for claim in provisioned}  # two volumes of a pod may be one claim
        self.claims = [_for_node(node_name, claim) for claim in once.values()]
        node: list[ObjectName] = [("Node", node_name), ("CSINode", node_name)]
        taken: list[ObjectName] = [(_VOLUME, volume.name) for volume, _ in bindings]
        wanted = [(_CLAIM, claim.key) for _, claim in bindings] + [(_CLAIM, key) for key in once]
        self._always_read = (*node, *taken, *wanted)
        self._written: dict[tuple[str, str], int] = {}  # kind, key -> the version that the API server gave our write

    def assumed(self) -> list[tuple[str, KubeObject]]:
        """Everything that changes, by kind, volumes first."""
        volumes: list[tuple[str, KubeObject]] = [(_VOLUME, volume) for volume, _ in self.volumes]
        return volumes + [(_CLAIM, claim) for claim in self.claims]

    def note_written(self, answer: object) -> None:
        """Remember what the API server made of a write: an older version of the object does not have it."""
        if isinstance(answer, KubeObject):
            kind = _VOLUME if isinstance(answer, PersistentVolume) else _CLAIM
            self._written[kind, answer.key] = _version(answer)

    def objects_read(self, cluster_state: ClusterState, pod: Pod) -> tuple[ObjectName, ...]:
        """What `outcome` depends on now. A volume that is provisioned is known by name once its claim names it."""
        provisioned = ((_VOLUME, name) for name in self._provisioned(cluster_state))
        return ("Pod", pod.key), *self._always_read, *provisioned

    def outcome(self, cluster_state: ClusterState, pod: Pod) -> BindingOutcome | None:
        """How binding ended; None while it has not."""
        if cluster_state.objects.get("Pod", pod.key) is None:
            return BindingOutcome(f'pod does not exist any more: pod "{pod.name}" not found')
        row = cluster_state.columns.row_of.get(self.node_name)
        if row is None:
            return BindingOutcome(f'failed to get node "{self.node_name}": node "{self.node_name}" not found')
        checks = [self._volume_outcome(cluster_state, volume, claim) for volume, claim in self.volumes]
        checks += [self._claim_outcome(cluster_state, claim) for claim in self.claims]
        failed = next((check for check in checks if check is not None and check.error), None)
        return failed or (None if None in checks else BindingOutcome())

    def _volume_outcome(
        self, cluster_state: ClusterState, volume: PersistentVolume, claim: PersistentVolumeClaim
    ) -> BindingOutcome | None:
        current = cluster_state.objects.get(_VOLUME, volume.name)
        if not isinstance(current, PersistentVolume):
            return BindingOutcome(f'failed to check binding: persistentvolumes "{volume.name}" not found')
        if self._is_older(_VOLUME, current):
            return None
        if not self._is_reached(cluster_state, volume.name):
            return self._unreachable(volume.name)
        ref = current.spec.claim_ref
        if ref is None or not ref.uid:
            return BindingOutcome(f'ClaimRef got reset for pv "{volume.name}"')
        current_claim = cluster_state.objects.get(_CLAIM, claim.key)
        if not isinstance(current_claim, PersistentVolumeClaim):
            return BindingOutcome(f'failed to check binding: persistentvolumeclaims "{claim.key}" not found')
        return _bound_outcome(current_claim)

    def _claim_outcome(self, cluster_state: ClusterState, claim: PersistentVolumeClaim) -> BindingOutcome | None:
        current = cluster_state.objects.get(_CLAIM, claim.key)
        if not isinstance(current, PersistentVolumeClaim):
            return BindingOutcome(f'failed to check provisioning pvc: persistentvolumeclaims "{claim.key}" not found')
        if self._is_older(_CLAIM, current):
            return None
        if not current.annotations:
            return BindingOutcome(f'selectedNode annotation reset for PVC "{claim.name}"')
        if current.annotations.get(SELECTED_NODE) != self.node_name:  # how a provisioner reports that it failed
            return BindingOutcome(f'provisioning failed for PVC "{claim.name}"')
        name = current.spec.volume_name
        if name:
            if (
                cluster_state.volumes.persistent.find(name) is None
            ):  # on its way to us, or deleted; then the claim will tell
                return None
            if not self._is_reached(cluster_state, name):
                return self._unreachable(name)
        return _bound_outcome(current)

    def _provisioned(self, cluster_state: ClusterState) -> list[str]:
        """The names of the volumes that claims to be provisioned have by now."""
        found = [cluster_state.objects.get(_CLAIM, claim.key) for claim in self.claims]
        claims = [claim for claim in found if isinstance(claim, PersistentVolumeClaim)]
        return [claim.spec.volume_name for claim in claims if claim.spec.volume_name]

    def _is_reached(self, cluster_state: ClusterState, volume_name: str) -> bool:
        known = cluster_state.volumes.persistent.find(volume_name)
        nodes = cluster_state.snapshot().nodes
        position = nodes.position_of(self.node_name)
        if known is None or position is None:
            return False
        reached, _ = reach_of_bound(known, cluster_state.volumes, nodes.select(np.array([position])))
        return bool(reached[0])

    def _unreachable(self, volume_name: str) -> BindingOutcome:
        return BindingOutcome(
            f'pv "{volume_name}" node affinity doesn\'t match node "{self.node_name}": no matching NodeSelectorTerms'
        )

    def _is_older(self, kind: str, current: KubeObject) -> bool:
        return _version(current) < self._written.get((kind, current.key), 0)


def _bound_outcome(claim: PersistentVolumeClaim) -> BindingOutcome | None:
    return BindingOutcome() if is_bound(claim) else None


def _taken_by(claim: PersistentVolumeClaim, volume: PersistentVolume) -> PersistentVolume:
    """The volume with its claimRef set; the annotation marks that the user did not set it."""
    ref = volume.spec.claim_ref
    is_reserved = ref is not None and (ref.namespace, ref.name) == (claim.namespace, claim.name)
    claim_ref = ObjectReference(claim.namespace, claim.name, claim.uid, claim.metadata.resource_version)
    spec = msgspec.structs.replace(volume.spec, claim_ref=claim_ref)
    annotations = volume.annotations if is_reserved else {**volume.annotations, BOUND_BY_CONTROLLER: "yes"}
    metadata = msgspec.structs.replace(volume.metadata, annotations=annotations or None)
    return edited(volume, metadata=metadata, spec=spec)


def _for_node(node_name: str, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    """The claim with the node that its volume is to be made for."""
    annotations = {**claim.annotations, SELECTED_NODE: node_name}
    return edited(claim, metadata=msgspec.structs.replace(claim.metadata, annotations=annotations))


def _version(obj: KubeObject) -> int:
    return as_int64(obj.metadata.resource_version) or 0
