"""Sets the API server's defaults of a new PersistentVolumeClaim, and creates the claims of generic ephemeral volumes.

Rule: kube-apiserver v1.36 core/v1 defaults and admission DefaultStorageClass (the newest of several default classes);
kube-controller-manager v1.36 ephemeral volume controller: a claim named `<pod>-<volume>` that the pod owns.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from kubesched.api import BETA_DEFAULT_CLASS, CLASS_ANNOTATION, DEFAULT_CLASS, KubeObject, StorageClass

Document = dict[str, Any]

_IS_DEFAULT: Final = (DEFAULT_CLASS, BETA_DEFAULT_CLASS)


def default_storage_class(objects: Iterable[KubeObject]) -> str:
    """The name of the class that claims without one get; empty when there is none."""
    classes = [known for known in objects if isinstance(known, StorageClass)]
    marked = [c for c in classes if any(c.annotations.get(key) == "true" for key in _IS_DEFAULT)]
    marked.sort(key=lambda c: c.name)
    newest = max(marked, key=lambda c: c.metadata.creation_timestamp or "", default=None)
    return newest.name if newest else ""


def default_claim(claim: Document, storage_class: str) -> None:
    """Fill in a new claim, in place."""
    spec, annotations = claim["spec"], claim["metadata"].get("annotations") or {}
    spec["volumeMode"] = spec.get("volumeMode") or "Filesystem"
    if spec.get("storageClassName") is None and CLASS_ANNOTATION not in annotations and storage_class:
        spec["storageClassName"] = storage_class
    claim["status"] = {"phase": "Pending"}


def ephemeral_claims(pod: Document) -> Iterator[Document]:
    """The claims of a pod's generic ephemeral volumes; the pod has its name and uid."""
    owner = pod["metadata"]
    for volume in pod["spec"].get("volumes") or ():
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is None:
            continue
        written = template.get("metadata") or {}
        metadata = {
            "name": f"{owner['name']}-{volume['name']}",
            "namespace": owner["namespace"],
            "labels": written.get("labels") or {},
            "annotations": written.get("annotations") or {},
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": owner["name"],
                    "uid": owner["uid"],
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        }
        spec = dict(template.get("spec") or {})
        yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
