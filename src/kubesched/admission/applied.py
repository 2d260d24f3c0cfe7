"""Applies a manifest to an object that the cluster has, as `kubectl apply` does."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from kubesched.admission.cluster_outline import Key, key_of
from kubesched.api import KubeObject

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
    """What `kubectl apply` makes of an object: the manifest, with the status, identity and labels that there are."""
    metadata, written = stored.get("metadata") or {}, manifest["metadata"]
    kept = {name: metadata[name] for name in _STORED_METADATA if name in metadata}
    labels = {**(metadata.get("labels") or {}), **(written.get("labels") or {})}
    result = {**manifest, "metadata": {**written, **kept, **({"labels": labels} if labels else {})}}
    return result | ({"status": stored["status"]} if "status" in stored else {})
