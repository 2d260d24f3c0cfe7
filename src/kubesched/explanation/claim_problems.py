"""Finds what is wrong with the claims of a pod, which keeps it from every node, and says it in words."""

import enum
from collections.abc import Iterator
from typing import Final

import msgspec

from kubesched.api import KubeObject, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubesched.explanation.evaluation import Evaluation
from kubesched.naming import near_letters
from kubesched.plugins import at_hand_words, makes_volumes, volumes_at_hand
from kubesched.state import ClaimUse, is_bound, storage_class_of

VOLUME_PLUGINS: Final = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")
"""The plugins that look at claims."""


class Problem(enum.Enum):
    """What a claim needs."""

    MISSING = "the claim"
    NOT_OWNED = "another claim in its place"
    LEAVES = "a claim that is not being deleted"
    VOLUME_GONE = "its volume"
    NO_CLASS = "a storage class"
    NOT_MADE = "a volume that its class makes"
    NOT_BOUND = "a volume that is at hand"
    BEING_BOUND = "the volume controller"


class ClaimProblem(msgspec.Struct, frozen=True):
    """One claim that is not in order.

    Attributes:
        key: `namespace/name`.
        claim: None where there is none.
        words: what is wrong.
        near: the name that was probably meant, of a claim or a class; empty for none.
    """

    use: ClaimUse
    key: str
    problem: Problem
    words: str
    claim: PersistentVolumeClaim | None = None
    near: str = ""


def claim_words(evaluation: Evaluation) -> tuple[str, ...]:
    """What is wrong with the claims of the pod; empty where they are in order."""
    if evaluation.claim_words is None:
        evaluation.claim_words = tuple(dict.fromkeys(one.words for one in claim_problems(evaluation)))
    return evaluation.claim_words


def claim_problems(evaluation: Evaluation) -> Iterator[ClaimProblem]:
    """Every claim of the pod that is not in order."""
    for use in evaluation.info.volumes.claims:
        key = f"{evaluation.pod.namespace}/{use.name}"
        claim = evaluation.snapshot.objects.get("PersistentVolumeClaim", key)
        if isinstance(claim, PersistentVolumeClaim):
            yield from _with_claim(evaluation, use, claim)
        elif use.is_ephemeral:
            words = f"claim {use.name} does not exist yet: the ephemeral volume controller makes it"
            yield ClaimProblem(use, key, Problem.MISSING, words)
        else:
            yield _missing(evaluation, use, key)


def _missing(evaluation: Evaluation, use: ClaimUse, key: str) -> ClaimProblem:
    every = list(evaluation.snapshot.objects.list("PersistentVolumeClaim"))
    namespace = evaluation.pod.namespace
    near = near_letters(use.name, [claim.name for claim in every if claim.namespace == namespace])
    others = [claim.namespace for claim in every if claim.name == use.name]
    more = f" (claim {near} does)" if near else f" (namespace {others[0]} has one of that name)" if others else ""
    return ClaimProblem(use, key, Problem.MISSING, f"claim {key} does not exist{more}", near=near)


def _with_claim(evaluation: Evaluation, use: ClaimUse, claim: PersistentVolumeClaim) -> Iterator[ClaimProblem]:
    if use.is_ephemeral and not claim.is_made_for(evaluation.pod):
        yield ClaimProblem(use, claim.key, Problem.NOT_OWNED, f"claim {claim.key} was not created for the pod", claim)
    elif claim.is_terminating:
        yield ClaimProblem(use, claim.key, Problem.LEAVES, f"claim {claim.key} is being deleted", claim)
    elif _lost(evaluation, claim):
        gone = f"claim {claim.key} is bound to volume {claim.spec.volume_name}, which does not exist"
        yield ClaimProblem(use, claim.key, Problem.VOLUME_GONE, gone, claim)
    elif not is_bound(claim):
        yield from _unbound(evaluation, use, claim)


def _lost(evaluation: Evaluation, claim: PersistentVolumeClaim) -> bool:
    name = claim.spec.volume_name
    is_gone = is_bound(claim) and evaluation.snapshot.objects.get("PersistentVolume", name) is None
    return claim.status.phase == "Lost" or is_gone


def _unbound(evaluation: Evaluation, use: ClaimUse, claim: PersistentVolumeClaim) -> Iterator[ClaimProblem]:
    """A claim without volume that does not wait for the pod."""
    objects, name = evaluation.snapshot.objects, storage_class_of(claim)
    storage_class = objects.get("StorageClass", name) if name else None
    volumes = [one for one in objects.list("PersistentVolume") if isinstance(one, PersistentVolume)]
    of_class = any(storage_class_of(volume) == name for volume in volumes)
    if isinstance(storage_class, StorageClass):
        if storage_class.volume_binding_mode == "WaitForFirstConsumer" and not claim.spec.volume_name:
            return
        if makes_volumes(storage_class) and not claim.spec.volume_name:
            words = f"claim {claim.key} has no volume yet: provisioner {storage_class.provisioner} has made none"
            yield ClaimProblem(use, claim.key, Problem.NOT_MADE, words, claim)
            return
    elif name and not of_class:
        near = near_letters(name, [one.name for one in objects.list("StorageClass")])
        words = f"claim {claim.key} names StorageClass {name}, which does not exist"
        yield ClaimProblem(use, claim.key, Problem.NO_CLASS, words, claim, near)
        return
    elif not of_class and claim.spec.storage_class_name is None and not claim.spec.volume_name:
        words = f"claim {claim.key} names no StorageClass, and none is the default"
        yield ClaimProblem(use, claim.key, Problem.NO_CLASS, words, claim)
        return
    if claim.spec.volume_name:
        yield _named_volume(use, claim, objects.get("PersistentVolume", claim.spec.volume_name))
    else:
        yield ClaimProblem(use, claim.key, Problem.NOT_BOUND, at_hand_words(claim, volumes), claim)


def _named_volume(use: ClaimUse, claim: PersistentVolumeClaim, volume: KubeObject | None) -> ClaimProblem:
    """What is wrong with the volume that a claim names."""
    name = claim.spec.volume_name
    if not isinstance(volume, PersistentVolume):
        words = f"claim {claim.key} names volume {name}, which does not exist"
        return ClaimProblem(use, claim.key, Problem.NOT_BOUND, words, claim)
    flaws = [one.text for one in volumes_at_hand(claim, [volume]) if one.flaws]
    words = f"claim {claim.key} is not bound to volume {name} yet{': ' if flaws else ''}{''.join(flaws)}"
    return ClaimProblem(use, claim.key, Problem.NOT_BOUND if flaws else Problem.BEING_BOUND, words, claim)
