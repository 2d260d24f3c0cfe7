"""Remedies for claims that are missing, not bound, or that find no volume on the nodes."""

from collections.abc import Iterator
from typing import Final

import msgspec

from kubesched.api import (
    ObjectMeta,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    edited,
)
from kubesched.engine import BoolVector
from kubesched.explanation.effort import FixKind
from kubesched.explanation.fix import Change, Edit
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.state import ClaimUse, is_bound, is_controlled_by, storage_class_of

_BOUND: Final = "pv.kubernetes.io/bind-completed"
_BINDS_LATE: Final = "WaitForFirstConsumer"


def has_claim_problem(case: Case) -> bool:
    """Whether some claim of the pod is not in order, which keeps it from every node."""
    names = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")
    said = [case.evaluation.by_plugin.get(name) for name in names]
    if any(one is not None and one.pre_filter is not None for one in said):
        return True
    return any(_problem(case, use) for use in case.info.volumes.claims)


def claims(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Put every claim that has a problem in order, in one remedy."""
    remedies = [remedy for use in case.info.volumes.claims if (remedy := _problem(case, use)) is not None]
    if remedies:
        change = sum((remedy.change for remedy in remedies), Change())
        yield Remedy(" and ".join(remedy.text for remedy in remedies), remedies[0].kind, True, change)


def _problem(case: Case, use: ClaimUse) -> Remedy | None:
    """What puts one claim in order; None where it is."""
    key = f"{case.pod.namespace}/{use.name}"
    claim = case.object_of("PersistentVolumeClaim", key)
    if not isinstance(claim, PersistentVolumeClaim):
        who = "let the ephemeral volume controller create" if use.is_ephemeral else "create"
        return _bound_claim(case, f"{who} PersistentVolumeClaim {key}", "claimMissing", key, use)
    if use.is_ephemeral and not is_controlled_by(claim, case.pod):
        text = f"delete PersistentVolumeClaim {key}, which was not created for the pod, so that it is created again"
        return _bound_claim(case, text, "claimMissing", key, use)
    if claim.is_terminating:
        return _bound_claim(
            case, f"create PersistentVolumeClaim {key} again: it is being deleted", "claimMissing", key, use
        )
    volume = case.object_of("PersistentVolume", claim.spec.volume_name) if claim.spec.volume_name else None
    if claim.status.phase == "Lost" or (is_bound(claim) and volume is None):
        text = f"restore PersistentVolume {claim.spec.volume_name}, to which claim {key} is bound"
        return _bound_claim(case, text, "volumeMissing", key, use)
    if is_bound(claim):
        return None
    class_name = storage_class_of(claim)
    storage_class = case.object_of("StorageClass", class_name) if class_name else None
    if class_name and storage_class is None:
        made = StorageClass(ObjectMeta(name=class_name), "example.com/provisioner", _BINDS_LATE)
        change = Change(edits=(Edit("StorageClass", class_name, lambda _: made),))
        return Remedy(f"create StorageClass {class_name}, which claim {key} names", "storageClass", True, change)
    mode = storage_class.volume_binding_mode if isinstance(storage_class, StorageClass) else "Immediate"
    if mode == _BINDS_LATE and not claim.spec.volume_name:
        return None
    how = f"its StorageClass {class_name} does not wait for the pod" if class_name else "it has no StorageClass"
    return _bound_claim(case, f"bind PersistentVolumeClaim {key} to a volume ({how})", "claimUnbound", key, use)


def _bound_claim(case: Case, text: str, kind: FixKind, key: str, use: ClaimUse) -> Remedy:
    """The claim as it is once it has a volume that every node reaches."""
    namespace, _, name = key.partition("/")
    pod = case.pod
    owner = OwnerReference("v1", "Pod", pod.name, pod.uid, controller=True)

    def claim(old: PersistentVolumeClaim | None) -> PersistentVolumeClaim:
        made = old or PersistentVolumeClaim(ObjectMeta(name=name, namespace=namespace, uid=f"claim/{key}"))
        owners = (owner,) if use.is_ephemeral else made.metadata.owner_references
        metadata = msgspec.structs.replace(
            made.metadata,
            annotations={**made.annotations, _BOUND: "yes"},
            deletion_timestamp=None,
            owner_references=owners,
        )
        spec = msgspec.structs.replace(made.spec, volume_name=made.spec.volume_name or f"volume-of-{name}")
        return edited(made, metadata=metadata, spec=spec, status=msgspec.structs.replace(made.status, phase="Bound"))

    old = case.object_of("PersistentVolumeClaim", key)
    volume_name = (old.spec.volume_name if isinstance(old, PersistentVolumeClaim) else "") or f"volume-of-{name}"
    edits = [Edit("PersistentVolumeClaim", key, claim)]
    if case.object_of("PersistentVolume", volume_name) is None:
        volume = PersistentVolume(ObjectMeta(name=volume_name))
        edits.append(Edit("PersistentVolume", volume_name, lambda _: volume))
    return Remedy(text, kind, True, Change(edits=tuple(edits)))
