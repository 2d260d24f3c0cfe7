"""The steps that change what claims for devices ask for: claims, their templates and pods are re-created.

Rule: kube-apiserver v1.36: the specs of a ResourceClaim and of a ResourceClaimTemplate cannot be changed. A claim of a
template is made once, for a new pod.
"""

from collections.abc import Iterator
from typing import Any

from kubesched.api import KubeObject, Patch, Pod, kind_of
from kubesched.controllers import is_from_manifest, stable_uid
from kubesched.documents import merge_patch
from kubesched.explanation.kubectl import patching, recreating, target_of
from kubesched.explanation.pod_patches import created_again


def claim_freed(text: str, claim: KubeObject) -> Patch:
    """The step that takes the devices of a claim back, of which nothing else changes."""
    body = {"status": {"allocation": None, "devices": None}}
    return patching(text, target_of(claim), body, "merge", subresource="status")


def claim_made_again(text: str, old: KubeObject, body: dict[str, Any], pod: Pod) -> Patch:
    """The step for a claim of a pod that no template makes."""
    target = target_of(old)
    if is_of_manifest(old, pod):
        return Patch(text, target, "patch", body, "merge")
    return recreating(text, target, body, "merge", "a claim cannot be changed: it is deleted and re-created")


def claims_made_again(text: str, old: KubeObject, new: KubeObject, pod: Pod) -> Iterator[Patch]:
    """The steps for a template and for the pod, whose claims are made from it."""
    target, body = target_of(old), merge_patch(old.document, new.document)
    if is_of_manifest(old, pod):
        yield Patch(text, target, "patch", body, "merge")
        return
    why = "a template cannot be changed: it is deleted and re-created; claims that were made from it stay"
    if body:
        yield recreating(text, target, body, "merge", why)
    if is_from_manifest(pod):
        return
    if pod.metadata.controller is not None:
        yield from created_again(text, pod, "with claims of the template as it is then")
    else:
        why = "no controller creates it again, so this does; it is pending, so nothing is lost"
        yield recreating(text, target_of(pod), {}, "merge", why)


def is_of_manifest(known: KubeObject, pod: Pod) -> bool:
    """Whether a claim or a template is from the manifest of a pod that no API server has seen, as the pod is."""
    uids = ("", stable_uid(kind_of(known), known.namespace, known.name))
    return is_from_manifest(pod) and known.uid in uids
