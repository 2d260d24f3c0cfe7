"""Remedies for names of claims and of StorageClasses that nothing has: the ones that were meant, or that exist."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec

from kubesched.api import KubeObject, PersistentVolumeClaim, Pod, StorageClass, edited
from kubesched.engine import BoolVector
from kubesched.explanation.effort import Effort
from kubesched.explanation.fix import Change, Edit
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.naming import near_letters
from kubesched.state import is_bound, storage_class_of

_BINDS_LATE: Final = "WaitForFirstConsumer"
_MAX_CLASSES: Final = 3
_FAST: Final = {"fast", "premium", "ssd", "nvme"}  # words for one thing


def claim_names(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """A claim with the name that was meant; a claim of a StorageClass that exists."""
    namespace = case.pod.namespace
    for use in case.info.volumes.claims:
        claim = case.object_of("PersistentVolumeClaim", f"{namespace}/{use.name}")
        if claim is None and not use.is_ephemeral:
            yield from _of_near_name(case, use.name)
        elif isinstance(claim, PersistentVolumeClaim) and not is_bound(claim):
            yield from _of_existing_class(case, claim)


def _of_near_name(case: Case, name: str) -> Iterator[Remedy]:
    here = [one.name for one in case.objects("PersistentVolumeClaim") if one.namespace == case.pod.namespace]
    if near := near_letters(name, here):
        text = f"correct the name of claim {name}, which does not exist, to {near}"
        change = Change(of_pod=(partial(_with_claim, old=name, new=near),))
        yield Remedy(text, "claimMissing", True, change, effort=Effort.CORRECT)


def _of_existing_class(case: Case, claim: PersistentVolumeClaim) -> Iterator[Remedy]:
    name = storage_class_of(claim)
    if not name or case.object_of("StorageClass", name) is not None:
        return
    classes = [one for one in case.objects("StorageClass") if isinstance(one, StorageClass)]
    if near := near_letters(name, [one.name for one in classes]):
        text = f"recreate claim {claim.key} with StorageClass {near}; {name} does not exist"
        yield Remedy(text, "storageClass", True, _with_class(claim, near), effort=Effort.CORRECT)
        return
    late = sorted(
        (one for one in classes if one.volume_binding_mode == _BINDS_LATE), key=lambda one: -_likeness(name, one)
    )
    if late:
        names = " or ".join(one.name for one in late[:_MAX_CLASSES])
        text = f"recreate claim {claim.key} with a StorageClass that exists ({names}), or create StorageClass {name}"
        yield Remedy(text, "storageClass", True, _with_class(claim, late[0].name))


def _likeness(name: str, one: StorageClass) -> int:
    """How many words of a name a class has in its own name or its parameters, such as the `ssd` of `fast-ssd`."""
    has = f"{one.name} {one.document.get('parameters') or ''}".lower()
    words = set(name.lower().split("-"))
    return sum(word in has for word in (words | _FAST if words & _FAST else words))


def _with_class(claim: PersistentVolumeClaim, name: str) -> Change:
    def recreated(old: KubeObject | None) -> KubeObject:
        now = old if isinstance(old, PersistentVolumeClaim) else claim
        return edited(now, spec=msgspec.structs.replace(now.spec, storage_class_name=name))

    return Change(edits=(Edit("PersistentVolumeClaim", claim.key, recreated),))


def _with_claim(pod: Pod, old: str, new: str) -> Pod:
    volumes = tuple(
        msgspec.structs.replace(
            one, persistent_volume_claim=msgspec.structs.replace(one.persistent_volume_claim, claim_name=new)
        )
        if one.persistent_volume_claim is not None and one.persistent_volume_claim.claim_name == old
        else one
        for one in pod.spec.volumes or ()
    )
    return edited(pod, spec=msgspec.structs.replace(pod.spec, volumes=volumes))
