"""What an API server makes of an object: of one that it has, with `kubectl apply`, and of one that it has not met.

A snapshot can have the latter: a manifest that is given as a snapshot file, or the export of a simulator.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from kubesched.admission.cluster_outline import Key, key_of
from kubesched.admission.device_claims import with_claim_defaults
from kubesched.api import KubeObject, ResourceClaim, ResourceClaimTemplate, StorageClass

Document = dict[str, Any]
CHANGED: Final = frozenset(
    (
        "DeviceClass",
        "HorizontalPodAutoscaler",
        "LimitRange",
        "Namespace",
        "PodDisruptionBudget",
        "ResourceQuota",
        "RuntimeClass",
        "Service",
    )
)
"""Kinds that `kubectl apply` changes, and of which nothing in a cluster fills in the spec."""

_STORED_METADATA: Final = ("uid", "creationTimestamp", "deletionTimestamp", "resourceVersion")


def changed_in(cluster: Iterable[KubeObject], changed: Mapping[Key, KubeObject]) -> list[KubeObject]:
    """The objects of a cluster, those that are changed as they are then."""
    return [changed.get(key_of(one), one) for one in cluster] if changed else list(cluster)


def applied(stored: Document, manifest: Document) -> Document:
    """What `kubectl apply` makes of an object: the manifest, with the status, identity and labels that there are.

    Rule: kube-controller-manager v1.36: the hard limits in the status of a ResourceQuota follow those of its spec.
    """
    metadata, written = stored.get("metadata") or {}, manifest["metadata"]
    kept = {name: metadata[name] for name in _STORED_METADATA if name in metadata}
    labels = {**(metadata.get("labels") or {}), **(written.get("labels") or {})}
    result = {**manifest, "metadata": {**written, **kept, **({"labels": labels} if labels else {})}}
    status = stored.get("status")
    if manifest["kind"] == "ResourceQuota" and status and "hard" in status:
        status = {**status, "hard": (manifest.get("spec") or {}).get("hard") or {}}
    return result if status is None else result | {"status": status}


def as_stored(known: KubeObject) -> KubeObject:
    """The object as an API server stores it; the same object if it is complete.

    Rule: kube-apiserver v1.36 storage/v1 defaults: the binding mode of a StorageClass is Immediate; those of
        resource claims.
    """
    complete = _COMPLETED.get(type(known))
    stored = known if complete is None else complete(known)
    if stored is not known:
        stored.__dict__.update(known.__dict__)
    return stored


def _with_binding_mode(known: StorageClass) -> StorageClass:
    return known if known.volume_binding_mode is not None else replace(known, volume_binding_mode="Immediate")


_COMPLETED: Final[dict[type, Callable[[Any], KubeObject]]] = {
    StorageClass: _with_binding_mode,
    ResourceClaim: with_claim_defaults,
    ResourceClaimTemplate: with_claim_defaults,
}
