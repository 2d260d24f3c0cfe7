"""Generates the names and uids of controllers and the API server, the same ones for the same input."""

import hashlib
from typing import Final, TypeGuard

from kubesched.api import KubeObject, Pod

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"  # Kubernetes' own: no vowels, no look-alikes
_SUFFIX_LENGTH: Final = 5
_MAX_BASE: Final = 58  # a longer base is cut, so that the whole is a DNS label
_N_SUFFIXES: Final = len(_ALPHABET) ** _SUFFIX_LENGTH
_STEP: Final = 8_967_257  # has no factor in common with the number of suffixes: no suffix comes twice
_COPY: Final = "copy of a Pod"
_NAMESPACE: Final = bytes.fromhex("6d1c3c9e5f0b5c399f863f8f7f1d0f5a")


def generated_name(base: str, index: int) -> str:
    """`base` (which ends in `-`) and five letters that look random; distinct for every index below 14 million."""
    start = int.from_bytes(hashlib.sha256(base.encode()).digest()[:8])
    return base[:_MAX_BASE] + _letters((start + index * _STEP) % _N_SUFFIXES, _SUFFIX_LENGTH)


def template_hash(template: bytes) -> str:
    """Ten letters for a pod template, as in the name of a Deployment's ReplicaSet, but not Kubernetes' own."""
    return _letters(int.from_bytes(hashlib.sha256(template).digest()), 10)


def stable_uid(kind: str, namespace: str, name: str) -> str:
    """A uid that depends on kind, namespace and name alone.

    Rule: RFC 9562, UUID version 5.
    """
    text = f"{kind}/{namespace}/{name}".encode()
    digest = bytearray(hashlib.sha1(_NAMESPACE + text, usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    written = digest.hex()
    return "-".join((written[:8], written[8:12], written[12:16], written[16:20], written[20:]))


def is_from_manifest(pod: Pod) -> bool:
    """Whether a pod was made here, from a manifest, and no API server has seen it."""
    return _may_be_stable(pod.uid) and pod.uid == stable_uid("Pod", pod.namespace, pod.name)


def uid_of_copy(pod: Pod, name: str) -> str:
    """The uid of a pod of another name that a controller would create after this one.

    It shows whether this one is from a manifest, from an API server, or from neither, as a pod that has only requests.
    """
    if is_from_manifest(pod):
        return stable_uid("Pod", pod.namespace, name)
    is_unseen = pod.uid == f"Pod/{pod.namespace}/{pod.name}"
    return f"Pod/{pod.namespace}/{name}" if is_unseen else stable_uid(_COPY, pod.namespace, name)


def is_copy(pod: Pod) -> bool:
    """Whether a pod was made here after one of an API server, which has not seen it."""
    return _may_be_stable(pod.uid) and pod.uid == stable_uid(_COPY, pod.namespace, pod.name)


def is_made_here(pod: Pod) -> bool:
    """Whether no API server has the pod; one that is re-created takes the place of a pod that it has."""
    return _may_be_stable(pod.metadata.uid) and (is_from_manifest(pod) or is_copy(pod))


def is_new_and_bound(pod: KubeObject) -> TypeGuard[Pod]:
    """Whether an object is a pod of a manifest that names its node, and that no kubelet has started."""
    if not isinstance(pod, Pod) or not pod.node_name or pod.status.phase != "Pending":
        return False
    return is_from_manifest(pod)


def _may_be_stable(uid: str) -> bool:
    """Whether a uid has the version of `stable_uid`; an API server gives others. To look costs no hash."""
    return uid[14:15] == "5"


def _letters(number: int, length: int) -> str:
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)
