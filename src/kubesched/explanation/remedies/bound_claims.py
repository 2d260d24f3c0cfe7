"""The remedy that binds a claim to a volume, as the controllers do it before kube-scheduler takes its pod."""

import msgspec

from kubesched.api import BIND_COMPLETED, ObjectMeta, OwnerReference, PersistentVolume, PersistentVolumeClaim, edited
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.effort import FixKind
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.state import ClaimUse


def bound_claim(case: Case, text: str, kind: FixKind, key: str, use: ClaimUse, volume: str = "") -> Remedy:
    """The claim as it is once it has a volume, without the name of one a volume that every node reaches."""
    namespace, _, name = key.partition("/")
    pod = case.pod
    owner = OwnerReference("v1", "Pod", pod.name, pod.uid, controller=True)
    old = case.object_of("PersistentVolumeClaim", key)
    named = old.spec.volume_name if isinstance(old, PersistentVolumeClaim) else ""
    volume_name = volume or named or f"volume-of-{name}"

    def claim(old: PersistentVolumeClaim | None) -> PersistentVolumeClaim:
        made = old or PersistentVolumeClaim(ObjectMeta(name=name, namespace=namespace, uid=f"claim/{key}"))
        owners = (owner,) if use.is_ephemeral else made.metadata.owner_references
        metadata = msgspec.structs.replace(
            made.metadata,
            annotations={**made.annotations, BIND_COMPLETED: "yes"},
            deletion_timestamp=None,
            owner_references=owners,
        )
        spec = msgspec.structs.replace(made.spec, volume_name=made.spec.volume_name or volume_name)
        return edited(made, metadata=metadata, spec=spec, status=msgspec.structs.replace(made.status, phase="Bound"))

    edits = [Edit("PersistentVolumeClaim", key, claim)]
    if case.object_of("PersistentVolume", volume_name) is None:
        new = PersistentVolume(ObjectMeta(name=volume_name))
        edits.append(Edit("PersistentVolume", volume_name, lambda _: new))
    return Remedy(text, kind, True, Change(edits=tuple(edits)))
