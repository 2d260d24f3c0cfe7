"""Remedies for claims that are missing or not bound, and for volumes that the nodes do not reach."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubesched.api import (
    KubeObject,
    ObjectMeta,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Resources,
    StorageClass,
    edited,
)
from kubesched.engine import BoolVector
from kubesched.explanation.fix import Change, Edit
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.state import ClaimUse, NodeInfo, is_bound, is_controlled_by, storage_class_of

_BOUND: Final = "pv.kubernetes.io/bind-completed"
_ZONE_KEYS: Final = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
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
    claim = _get(case, "PersistentVolumeClaim", key)
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
    volume = _get(case, "PersistentVolume", claim.spec.volume_name) if claim.spec.volume_name else None
    if claim.status.phase == "Lost" or (is_bound(claim) and volume is None):
        text = f"restore PersistentVolume {claim.spec.volume_name}, to which claim {key} is bound"
        return _bound_claim(case, text, "volumeMissing", key, use)
    if is_bound(claim):
        return None
    class_name = storage_class_of(claim)
    storage_class = _get(case, "StorageClass", class_name) if class_name else None
    if class_name and storage_class is None:
        made = StorageClass(ObjectMeta(name=class_name), "example.com/provisioner", _BINDS_LATE)
        change = Change(edits=(Edit("StorageClass", class_name, lambda _: made),))
        return Remedy(f"create StorageClass {class_name}, which claim {key} names", "storageClass", True, change)
    mode = storage_class.volume_binding_mode if isinstance(storage_class, StorageClass) else "Immediate"
    if mode == _BINDS_LATE and not claim.spec.volume_name:
        return None
    how = f"its StorageClass {class_name} does not wait for the pod" if class_name else "it has no StorageClass"
    return _bound_claim(case, f"bind PersistentVolumeClaim {key} to a volume ({how})", "claimUnbound", key, use)


def _bound_claim(case: Case, text: str, kind: str, key: str, use: ClaimUse) -> Remedy:
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

    old = _get(case, "PersistentVolumeClaim", key)
    volume_name = (old.spec.volume_name if isinstance(old, PersistentVolumeClaim) else "") or f"volume-of-{name}"
    edits = [Edit("PersistentVolumeClaim", key, claim)]
    if _get(case, "PersistentVolume", volume_name) is None:
        volume = PersistentVolume(ObjectMeta(name=volume_name))
        edits.append(Edit("PersistentVolume", volume_name, lambda _: volume))
    return Remedy(text, kind, True, Change(edits=tuple(edits)))


# --- where volumes are ---


def volume_places(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Move the data of bound volumes that the nodes do not reach; add a volume for claims that wait for the pod."""
    node = next(case.at(where), None)
    if node is None:
        return
    moved, words = [], []
    for use in case.info.volumes.claims:
        key = f"{case.pod.namespace}/{use.name}"
        claim = _get(case, "PersistentVolumeClaim", key)
        if not isinstance(claim, PersistentVolumeClaim):
            continue
        if is_bound(claim):
            volume = _get(case, "PersistentVolume", claim.spec.volume_name)
            place = _place(volume, node) if isinstance(volume, PersistentVolume) else ""
            if isinstance(volume, PersistentVolume) and place:
                moved.append(Edit("PersistentVolume", volume.name, _freed))
                words.append(f"move volume {volume.name} (claim {key}) out of {place}")
        else:
            yield _new_volume(claim, key, node)
    if moved:
        yield Remedy(" and ".join(words), "moveVolume", False, Change(edits=tuple(moved)))


def _place(volume: PersistentVolume, node: NodeInfo) -> str:
    """Where a volume is, in the words of its labels or its node affinity; empty where it does not say."""
    for key in _ZONE_KEYS:
        if key in volume.labels and node.labels.get(key) != volume.labels[key]:
            return f"{key.rpartition('/')[2]} {volume.labels[key]}"
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    for term in (required.node_selector_terms if required else None) or ():
        for one in term.match_expressions or ():
            if one.operator == "In" and node.labels.get(one.key) not in (one.values or ()):
                return f"{one.key.rpartition('/')[2]} {' or '.join(one.values or ())}"
    return "its place" if required is not None else ""


def _freed(volume: PersistentVolume) -> PersistentVolume:
    """The volume without anything that ties it to a place."""
    labels = {key: value for key, value in volume.labels.items() if key not in _ZONE_KEYS}
    metadata = msgspec.structs.replace(volume.metadata, labels=labels or None)
    return edited(volume, metadata=metadata, spec=msgspec.structs.replace(volume.spec, node_affinity=None))


def _new_volume(claim: PersistentVolumeClaim, key: str, node: NodeInfo) -> Remedy:
    """A free volume that a claim without one can have."""
    size = ((claim.spec.resources or Resources()).requests or {}).get("storage", "1Gi")
    class_name = storage_class_of(claim)
    labels = dict((claim.spec.selector.match_labels if claim.spec.selector else None) or {})
    name = f"volume-of-{claim.name}"
    spec: Any = msgspec.structs.replace(
        PersistentVolume().spec,
        capacity={"storage": size},
        access_modes=claim.spec.access_modes,
        storage_class_name=class_name,
        volume_mode=claim.spec.volume_mode,
        volume_attributes_class_name=claim.spec.volume_attributes_class_name,
    )
    status = msgspec.structs.replace(PersistentVolume().status, phase="Available")
    volume = PersistentVolume(ObjectMeta(name=name, labels=labels or None), spec, status)
    of_class = f" of class {class_name}" if class_name else ""
    text = f"add a PersistentVolume of {size}{of_class} for claim {key}"
    return Remedy(text, "addVolume", True, Change(edits=(Edit("PersistentVolume", name, lambda _: volume),)))


def _get(case: Case, kind: str, key: str) -> KubeObject | None:
    return case.evaluation.snapshot.objects.get(kind, key)
