"""New pods for a workload that runs: copies of its pods, as its controller would create them.

Rule: kube-controller-manager v1.36: a new pod has the template's spec and labels; pods of a StatefulSet have numbers,
and claims with the same number; a generic ephemeral volume has a claim that its pod owns.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubesched.api import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    KubeObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    rewritten,
)
from kubesched.controllers.claim_controller import fresh_device_claims, renewed_statuses
from kubesched.controllers.generated_names import is_from_manifest, uid_of_copy
from kubesched.controllers.kept_replicas import Find

Replacement = tuple[list[KubeObject], list[KubeObject]]
"""The objects that come in the place of a pod that goes, and those that go with it."""

_KEPT_METADATA: Final = ("namespace", "labels", "annotations", "ownerReferences")
_POD_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
_INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"
_OF_BOUND_CLAIMS: Final = (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    "volume.beta.kubernetes.io/storage-provisioner",
    SELECTED_NODE,
    "volume.kubernetes.io/storage-provisioner",
)


def fresh_pod(pod: Pod, name: str = "", *, node: str = "") -> Pod:
    """The pod as its controller would create it again: without its status, and pending.

    Args:
        name: of the new pod; empty for the same one. Claims that are named after the pod follow the name.
        node: where it runs already, as the pods of a DaemonSet on a new node do; empty for nowhere.
    """
    name = name or pod.name
    return rewritten(pod, lambda document: _renew_pod(document, pod, name, node))


def _renew_pod(document: dict[str, Any], pod: Pod, name: str, node: str) -> None:
    metadata = {key: value for key, value in document["metadata"].items() if key in _KEPT_METADATA}
    uid = pod.uid if name == pod.name else uid_of_copy(pod, name)
    document["metadata"] = metadata | {"name": name, "namespace": pod.namespace, "uid": uid}
    status: dict[str, Any] = {"resourceClaimStatuses": made} if (made := renewed_statuses(pod, name)) else {}
    spec = document["spec"]
    was_scheduled = pod.condition("PodScheduled") == "True"
    if spec.get("nodeName") and is_from_manifest(pod) and not was_scheduled:  # its template names the node
        status["phase"] = "Pending"
    else:
        spec.pop("nodeName", None)
    if node:
        spec["nodeName"] = node
        status["phase"] = "Running"
    document.pop("status", None)
    if status:
        document["status"] = status
    for volume in spec.get("volumes") or ():
        source = volume.get("persistentVolumeClaim")
        if source and source.get("claimName", "").endswith(f"-{pod.name}"):
            source["claimName"] = source["claimName"].removesuffix(pod.name) + name
    labels = metadata.get("labels") or {}
    if _POD_NAME_LABEL in labels:
        labels[_POD_NAME_LABEL] = name
    if _INDEX_LABEL in labels:
        labels[_INDEX_LABEL] = name.rpartition("-")[2]


def claims_of(pod: Pod, claims: Mapping[str, KubeObject]) -> list[PersistentVolumeClaim]:
    """The claims that are named after a pod: those of a StatefulSet's templates and of ephemeral volumes.

    Args:
        claims: the claims of the cluster by `namespace/name`; one that is not there is left out.
    """
    own = [name for name in pod.claim_names if name.endswith(f"-{pod.name}") or name.startswith(f"{pod.name}-")]
    there = (claims.get(f"{pod.namespace}/{name}") for name in own)
    return [claim for claim in there if isinstance(claim, PersistentVolumeClaim)]


def fresh_claim(claim: PersistentVolumeClaim, old: Pod, new: Pod) -> PersistentVolumeClaim:
    """The claim of one pod as the claim of another pod of the same workload: unbound, with the other name."""
    name = claim.name
    if name.endswith(f"-{old.name}"):
        name = name.removesuffix(old.name) + new.name
    elif name.startswith(f"{old.name}-"):
        name = new.name + name.removeprefix(old.name)
    return rewritten(claim, lambda document: _renew_claim(document, name, old, new))


def _renew_claim(document: dict[str, Any], name: str, old: Pod, new: Pod) -> None:
    metadata = {key: value for key, value in document["metadata"].items() if key in _KEPT_METADATA}
    annotations = metadata.get("annotations") or {}
    metadata["annotations"] = {key: value for key, value in annotations.items() if key not in _OF_BOUND_CLAIMS}
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("kind") == "Pod" and owner.get("uid") == old.uid:
            owner |= {"name": new.name, "uid": new.uid}
    document["metadata"] = metadata | {"name": name, "uid": f"PersistentVolumeClaim/{old.namespace}/{name}"}
    document["spec"].pop("volumeName", None)
    document["status"] = {"phase": "Pending"}


def replacement_of(pod: Pod, find: Find, *, is_expected: bool = True) -> Replacement:
    """What changes when a pod has gone: its controller makes a new one of the same template, or may make one.

    The new pod has the old one's name, so that reports can be followed; only those of a StatefulSet have it in fact. It
    keeps its claims, except those of generic ephemeral volumes and of ResourceClaimTemplates: these are deleted with
    the pod and re-created, unbound and without devices.

    Args:
        is_expected: whether a new pod comes, or may come: it needs its room; see `successor_of`.
    """
    made: list[KubeObject] = []
    gone: list[KubeObject] = [pod]
    new = fresh_pod(pod)
    for claim in _own_claims(pod, find):
        gone.append(claim)
        bound = find("PersistentVolume", claim.spec.volume_name)
        if isinstance(bound, PersistentVolume):
            gone.append(bound)
            made += [rewritten(bound, _free_volume)] if _is_offered_again(bound) else []
        made.append(fresh_claim(claim, pod, new))
    made += (claim for _, claim in fresh_device_claims(pod, new, find))
    return ([*made, new] if is_expected else []), gone


def further_copy(pod: Pod, name: str, find: Find) -> list[KubeObject]:
    """One more pod like a running one, after the claims that are made for it."""
    new = fresh_pod(pod, name)
    volumes = [fresh_claim(claim, pod, new) for claim in _own_claims(pod, find)]
    return [*volumes, *(claim for _, claim in fresh_device_claims(pod, new, find)), new]


def _own_claims(pod: Pod, find: Find) -> Iterator[PersistentVolumeClaim]:
    """The claims of generic ephemeral volumes, which live as long as the pod."""
    for volume in pod.volumes:
        if volume.ephemeral is not None:
            claim = find("PersistentVolumeClaim", f"{pod.namespace}/{pod.name}-{volume.name}")
            if isinstance(claim, PersistentVolumeClaim):
                yield claim


def _is_offered_again(volume: PersistentVolume) -> bool:
    """Whether a disk of a node is cleaned and offered again once its claim has gone.

    Rule: the provisioner of local volumes (sigs.k8s.io/sig-storage-local-static-provisioner), for the reclaim policy
    Delete.
    """
    spec = volume.document["spec"]
    return bool(spec.get("local")) and spec.get("persistentVolumeReclaimPolicy") == "Delete"


def _free_volume(document: dict[str, Any]) -> None:
    document["spec"].pop("claimRef", None)
    document["status"] = {"phase": "Available"}
