"""Remedies for names of claims and of StorageClasses that nothing has: the ones that were meant, or that exist."""

from collections.abc import Iterator
from typing import Final

import msgspec

from kubesched.api import (
    CLASS_ANNOTATION,
    DEFAULT_CLASS,
    ObjectMeta,
    PersistentVolumeClaim,
    PodSpec,
    StorageClass,
    edited,
)
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.claim_problems import ClaimProblem
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.bound_claims import bound_claim
from kubesched.explanation.remedies.case import OTHERS, Case, Remedy, spec_edit
from kubesched.explanation.remedies.made_volumes import makes_on
from kubesched.plugins import makes_volumes
from kubesched.state import storage_class_of

_BINDS_LATE: Final = "WaitForFirstConsumer"
_MAX_TRIED: Final = 6
_FAST: Final = {"fast", "premium", "ssd", "nvme"}  # words for one thing


def near_claim(problem: ClaimProblem) -> Iterator[Remedy]:
    """The claim that was probably meant by one that does not exist."""
    old, new = problem.use.name, problem.near
    if new:
        text = f"correct the name of claim {old}, which does not exist, to {new}"
        change = spec_edit(lambda spec: _renamed(spec, old, new))
        yield Remedy(text, "claimMissing", True, change, effort=Effort.CORRECT)


def _renamed(spec: PodSpec, old: str, new: str) -> PodSpec:
    volumes = tuple(
        msgspec.structs.replace(
            one, persistent_volume_claim=msgspec.structs.replace(one.persistent_volume_claim, claim_name=new)
        )
        if one.persistent_volume_claim is not None and one.persistent_volume_claim.claim_name == old
        else one
        for one in spec.volumes or ()
    )
    return msgspec.structs.replace(spec, volumes=volumes)


def storage_classes(case: Case, problem: ClaimProblem, claim: PersistentVolumeClaim) -> Iterator[Remedy]:
    """A class that exists instead of one that does not, or of none; the one that the claim names."""
    name = storage_class_of(claim)
    classes = [one for one in case.objects("StorageClass") if isinstance(one, StorageClass)]
    usable = [one for one in classes if makes_volumes(one) and makes_on(case, one, claim).any()] or classes
    late = [one for one in usable if one.volume_binding_mode == _BINDS_LATE] or usable
    near = [one for one in classes if one.name == problem.near]
    ranked = near or sorted(late, key=lambda one: _likeness(name, one), reverse=True)
    new_class = f", or create StorageClass {name}" if name else ""
    of_class = [(one.name, _recreated(case, problem, claim, one)) for one in ranked[:_MAX_TRIED]]
    for i, (which, change) in enumerate(of_class):
        text = f"recreate claim {claim.key} with a StorageClass{' that exists' if name else ''} ("
        alone, others = f"{text}{which}){new_class}", f"{text}{which} or {OTHERS}){new_class}"
        effort = None
        if problem.near:
            alone = f"recreate claim {claim.key} with StorageClass {problem.near}; {name} does not exist"
            effort = Effort.CORRECT
        yield Remedy(
            alone,
            "storageClass",
            True,
            change,
            ladder=f"class of {claim.key}",
            effort=effort,
            instead=tuple(of_class[i + 1 :]),
            text_with_others=others,
        )
    if name:
        # a driver whose limits count, too
        driver = next((one.provisioner for one in ranked if makes_volumes(one)), "example.com/provisioner")
        made = StorageClass(ObjectMeta(name=name), driver, _BINDS_LATE)
        change = Change(edits=(Edit("StorageClass", name, lambda _: made),))
        yield Remedy(f"create StorageClass {name}, which claim {claim.key} names", "storageClass", True, change)
    elif not of_class:
        text = f"bind PersistentVolumeClaim {claim.key} to a volume (it has no StorageClass)"
        yield bound_claim(case, text, "claimUnbound", claim.key, problem.use)


def _likeness(name: str, one: StorageClass) -> tuple[int, bool]:
    """How many words of a name a class has in its own name or its parameters, such as the `ssd` of `fast-ssd`."""
    has = f"{one.name} {one.document.get('parameters') or ''}".lower()
    words = set(name.lower().split("-")) - {""}
    n_alike = sum(word in has for word in (words | _FAST if words & _FAST else words))
    return n_alike, one.annotations.get(DEFAULT_CLASS) == "true"


def _recreated(case: Case, problem: ClaimProblem, claim: PersistentVolumeClaim, storage_class: StorageClass) -> Change:
    """The claim with another class."""
    if storage_class.volume_binding_mode != _BINDS_LATE:
        return bound_claim(case, "", "storageClass", claim.key, problem.use).change
    spec = msgspec.structs.replace(claim.spec, storage_class_name=storage_class.name, volume_name="")
    annotations = {key: value for key, value in claim.annotations.items() if key != CLASS_ANNOTATION}
    metadata = msgspec.structs.replace(claim.metadata, annotations=annotations or None)
    new = edited(claim, metadata=metadata, spec=spec)
    return Change(edits=(Edit("PersistentVolumeClaim", claim.key, lambda _: new),))
