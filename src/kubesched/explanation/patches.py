"""How to apply a fix: the objects before and after its change, compared as documents, and as commands of kubectl.

Patches of objects are JSON merge patches, because those of maps and of null are the shortest, and `--type merge` works
for every kind. A change of the pod is one of the template that its workload has. That is a strategic merge patch: it
names a container and what changes of it, so it needs neither the template, which snapshots may lack, nor what the API
server and webhooks added to the pod.

What only a machine, a controller or a person can do has no patch: a new node, a repaired device, the status of an
object, and a volume that a provisioner makes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from kubesched.admission import AddedParts
from kubesched.api import (
    BIND_COMPLETED,
    KINDS,
    KubeObject,
    Patch,
    PatchTarget,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
)
from kubesched.documents import merge_patch
from kubesched.explanation.change import Change
from kubesched.explanation.departures import Departure, moved_pod
from kubesched.explanation.device_patches import claim_freed, claim_made_again, claims_made_again
from kubesched.explanation.effort import FixKind
from kubesched.explanation.kubectl import creating, on_object, recreating
from kubesched.explanation.pod_patches import Owners, created_again, of_strategy, pod_patches
from kubesched.state import is_bound

_UPGRADE: Final[FixKind] = "upgrade"  # changes no object
_BY_HAND: Final[frozenset[FixKind]] = frozenset(
    (
        "addNode",
        "addVolume",
        "claimInUse",
        "claimUnbound",
        "csiDriver",
        "devicePlugin",
        "devicePool",
        "deviceTaint",
        "kubelet",
        "maxPods",
        "nodeCondition",
        "nomination",
        "recreateClaim",
        "resourceClaim",
        "rollout",
        "startPod",
        "storageCapacity",
        "terminating",
        _UPGRADE,
        "volumeMissing",
    )
)
"""Kinds of fixes whose changes of objects only show what the cluster is like after the work is done by hand."""
_EVICTING: Final[FixKind] = "priorityClass"  # kube-scheduler evicts the pods that make way
_STRATEGY: Final[FixKind] = "rolloutStrategy"  # the pods that go are those that its controller removes
_AT_ADMISSION: Final[FixKind] = "admission"  # a new pod gets it, whatever its template says
_MADE_BY_OTHERS: Final = ("PersistentVolume", "ResourceClaim")
"""Kinds of which a provisioner, a scheduler or a controller makes what a fix shows."""
_CLAIM: Final = "PersistentVolumeClaim"

_CREATED_AGAIN: Final = {
    True: "the claim is deleted and re-created, without its data",
    False: "the claim is deleted and re-created; it has no volume yet",
}

Key = tuple[str, str]
"""Kind and key of an object."""


class FixPart(msgspec.Struct, frozen=True):
    """One of the fixes of which all are needed: its text, kind and change."""

    text: str
    kind: str
    change: Change


class Before(msgspec.Struct, frozen=True):
    """What a fix changes, as it is before.

    Attributes:
        pod: the pending pod.
        owners: of that pod.
        is_new: whether it is from a manifest, and not in the cluster.
        objects: those that the change names and that there are.
        departures: by `namespace/name`, how the pods that make way leave their nodes.
        added: what admission added to the pod.
    """

    pod: Pod
    owners: Owners = ()
    is_new: bool = False
    objects: Mapping[Key, KubeObject] = {}
    departures: Mapping[str, Departure] = {}
    added: AddedParts = AddedParts()


def patches_of(parts: Sequence[FixPart], change: Change, before: Before) -> tuple[Patch, ...]:
    """The steps that apply a fix, in order.

    Args:
        change: of all parts together; it has the new nodes of the pods that make way, too.
    """
    objects = dict(before.objects)
    last = _applied(change, objects)
    steps: list[Patch] = []
    for part in parts:
        steps += _of_objects(part, objects, last, before)
    of_pod = [part for part in parts if part.change.of_pod and part.kind != _AT_ADMISSION]
    if of_pod:
        text, pod = " and ".join(part.text for part in of_pod), before.pod
        for part in of_pod:
            pod = part.change.pod(pod)
        steps += pod_patches(text, before.pod, pod, before.owners, before.added, is_new=before.is_new)
    elif steps and steps[-1].commands and parts[-1].kind == _AT_ADMISSION and not before.is_new:
        steps += created_again(parts[-1].text, before.pod, "with what admission gives it now")
    return tuple(steps)


def _applied(change: Change, objects: Mapping[Key, KubeObject]) -> dict[Key, KubeObject | None]:
    """The objects that a change names, after it."""
    after: dict[Key, KubeObject | None] = {}
    for edit in change.edits:
        name = (edit.kind, edit.key)
        after[name] = edit.change(after.get(name, objects.get(name)))
    return after


def _of_objects(
    part: FixPart, objects: dict[Key, KubeObject], last: Mapping[Key, KubeObject | None], before: Before
) -> list[Patch]:
    """The steps of one part that change objects of the cluster."""
    after = _applied(part.change, objects)
    if part.kind == _EVICTING or (not after and part.kind not in (_AT_ADMISSION, _UPGRADE)):
        return []
    is_made = any(name not in objects and name[0] not in _MADE_BY_OTHERS for name in after)
    steps: list[Patch] = []
    if part.kind == "unusedClaim":
        return [claim_freed(part.text, old) for name in after if isinstance(old := objects.get(name), ResourceClaim)]
    if part.kind == "deviceClass" and is_made:
        return [creating(part.text, new) for new in after.values() if new is not None]
    for name, new in after.items() if not is_made and part.kind not in _BY_HAND else ():
        old, gone = objects.get(name), before.departures.get(name[1]) if name[0] == "Pod" else None
        if gone is not None:
            steps += moved_pod(part.text, gone, last.get(name))
        elif part.kind == _STRATEGY:
            owner = before.owners[-1]
            target = PatchTarget(owner.api_version, owner.kind, before.pod.namespace, owner.name)
            return [of_strategy(part.text, target, is_new=before.is_new)]
        elif isinstance(old, ResourceClaimTemplate) and new is not None:
            steps += claims_made_again(part.text, old, new, before.pod)
            objects[name] = new
        elif isinstance(old, ResourceClaim) and old.metadata.controller is not None:
            continue  # it changes with its template
        elif old is not None and new is not None and name[0] != "Pod":  # equal pods change with their template
            steps += _of_object(part.text, name[0], old, new, before.pod)
            objects[name] = new
    is_of_pod = part.change.pod(before.pod).spec != before.pod.spec and part.kind != _AT_ADMISSION
    return steps if steps or is_of_pod else [Patch(part.text)]


def _of_object(text: str, kind: str, old: KubeObject, new: KubeObject, pod: Pod) -> Iterator[Patch]:
    """The step that changes one object, without what controllers write.

    Args:
        pod: the pending pod.
    """
    body = merge_patch(old.document, new.document)
    body.pop("status", None)
    if kind == _CLAIM:
        body = _without_binding(body)
    if not body:
        return
    known = KINDS[kind]
    target = PatchTarget(known.api_version, known.name, new.namespace, new.name)
    if isinstance(old, PersistentVolumeClaim) and "spec" in body:  # Kubernetes: the spec of a claim cannot be changed
        yield recreating(text, target, body, "merge", _CREATED_AGAIN[is_bound(old)])
    elif isinstance(old, ResourceClaim):
        yield claim_made_again(text, old, body, pod)
    elif kind == "StorageClass":  # Kubernetes: what is below its metadata cannot be changed
        yield recreating(text, target, body, "merge", "a class cannot be changed: it is deleted and re-created")
    else:
        yield on_object(text, target, old, body)


def _without_binding(body: dict[str, Any]) -> dict[str, Any]:
    """The patch of a claim without what binds it to a volume."""
    spec, metadata = dict(body.get("spec") or {}), dict(body.get("metadata") or {})
    if spec.get("volumeName") is not None:
        del spec["volumeName"]
    metadata.pop("ownerReferences", None)
    metadata.pop("deletionTimestamp", None)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        metadata["annotations"] = {key: value for key, value in annotations.items() if key != BIND_COMPLETED}
    metadata = {key: value for key, value in metadata.items() if value != {}}
    return ({"metadata": metadata} if metadata else {}) | ({"spec": spec} if spec else {})
