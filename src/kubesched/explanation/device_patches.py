"""The steps that change what claims for devices ask for: claims, their templates and pods are re-created.

Rule: kube-apiserver v1.36: the specs of a ResourceClaim and of a ResourceClaimTemplate cannot be changed. A claim of a
template is made once, for a new pod.
"""

from collections.abc import Iterator
from typing import Any

from kubesched.api import KINDS, KubeObject, Patch, PatchTarget, Pod
from kubesched.documents import merge_patch
from kubesched.explanation.kubectl import patching, recreating
from kubesched.explanation.pod_patches import created_again


def claim_freed(text: str, claim: KubeObject) -> Patch:
    """The step that takes the devices of a claim back, of which nothing else changes."""
    known = KINDS["ResourceClaim"]
    target = PatchTarget(known.api_version, known.name, claim.namespace, claim.name)
    body = {"status": {"allocation": None, "devices": None}}
    return patching(text, target, body, "merge", subresource="status")


def claim_made_again(text: str, target: PatchTarget, body: dict[str, Any]) -> Patch:
    """The step for a claim that no template makes."""
    return recreating(text, target, body, "merge", "a claim cannot be changed: it is deleted and re-created")


def claims_made_again(text: str, old: KubeObject, new: KubeObject, pod: Pod, *, is_new: bool) -> Iterator[Patch]:
    """The steps for a template and for the pod, whose claims are made from it.

    Args:
        is_new: whether the pod is from a manifest, and not in the cluster.
    """
    known, body = KINDS["ResourceClaimTemplate"], merge_patch(old.document, new.document)
    target = PatchTarget(known.api_version, known.name, new.namespace, new.name)
    if is_new:
        yield Patch(text, target, "patch", body, "merge")
        return
    why = "a template cannot be changed: it is deleted and re-created; claims that were made from it stay"
    yield recreating(text, target, body, "merge", why)
    if pod.metadata.controller is not None:
        yield from created_again(text, pod, "with claims of the new template")
    else:
        why = "no controller creates it again, so this does; it is pending, so nothing is lost"
        yield recreating(text, PatchTarget("v1", "Pod", pod.namespace, pod.name), {}, "merge", why)
