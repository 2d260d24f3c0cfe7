"""Remedies for claims that are not in order, which keeps their pod from every node."""

from collections.abc import Iterator
from itertools import islice, product
from typing import Final

import msgspec

from kubesched.api import (
    CLASS_ANNOTATION,
    ObjectMeta,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PodSpec,
    StorageClass,
    edited,
)
from kubesched.documents import listed
from kubesched.engine import BoolVector
from kubesched.explanation.claim_problems import VOLUME_PLUGINS, ClaimProblem, Problem, claim_problems
from kubesched.explanation.effort import Effort, FixKind
from kubesched.explanation.fix import Change, Edit
from kubesched.explanation.remedies.case import Case, Remedy, spec_edit
from kubesched.explanation.remedies.waiting_claims import new_volume, volumes_made_to_suit
from kubesched.state import ClaimUse, storage_class_of

_BOUND: Final = "pv.kubernetes.io/bind-completed"
_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"
_BINDS_LATE: Final = "WaitForFirstConsumer"
_FAST: Final = frozenset(("fast", "ssd", "premium", "performance", "nvme"))  # in names of classes, they mean the same
_MAX_REMEDIES: Final = 4
_MAX_CLASSES: Final = 3


def has_claim_problem(case: Case) -> bool:
    """Whether some claim of the pod is not in order, which keeps it from every node."""
    said = [case.evaluation.by_plugin.get(name) for name in VOLUME_PLUGINS]
    if any(one is not None and one.pre_filter is not None for one in said):
        return True
    return next(claim_problems(case.evaluation), None) is not None


def claims(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Put every claim that has a problem in order, together in one remedy."""
    each = [list(_remedies(case, problem)) for problem in claim_problems(case.evaluation)]
    for remedies in islice(product(*filter(None, each)), _MAX_REMEDIES):
        if remedies:
            change = sum((remedy.change for remedy in remedies), Change())
            keeps = all(remedy.keeps_intent for remedy in remedies)
            effort = max(remedy.cost for remedy in remedies)
            yield Remedy(
                " and ".join(remedy.text for remedy in remedies), remedies[0].kind, keeps, change, effort=effort
            )


def _remedies(case: Case, problem: ClaimProblem) -> Iterator[Remedy]:
    """What may put one claim in order, best first."""
    key, use, claim = problem.key, problem.use, problem.claim
    match problem.problem:
        case Problem.MISSING:
            if problem.near:
                text = f"correct the name of claim {use.name}, which does not exist, to {problem.near}"
                change = spec_edit(lambda spec: _renamed(spec, use.name, problem.near))
                yield Remedy(text, "claimName", True, change, effort=Effort.CORRECT)
            who = "let the ephemeral volume controller create" if use.is_ephemeral else "create"
            yield _bound_claim(case, f"{who} PersistentVolumeClaim {key}", "claimMissing", key, use)
        case Problem.NOT_OWNED:
            text = f"delete PersistentVolumeClaim {key}, which was not created for the pod, so that it is created again"
            yield _bound_claim(case, text, "claimMissing", key, use)
        case Problem.LEAVES:
            text = f"create PersistentVolumeClaim {key} again: it is being deleted"
            yield _bound_claim(case, text, "claimMissing", key, use)
        case Problem.VOLUME_GONE if claim is not None:
            text = f"restore PersistentVolume {claim.spec.volume_name}, to which claim {key} is bound"
            yield _bound_claim(case, text, "volumeMissing", key, use)
        case Problem.NO_CLASS if claim is not None:
            yield from _with_class(case, problem, claim)
        case Problem.NOT_MADE if claim is not None:
            class_name = storage_class_of(claim)
            how = f"its StorageClass {class_name} does not wait for the pod"
            text = f"bind PersistentVolumeClaim {key} to a volume ({how})"
            yield _bound_claim(case, text, "claimUnbound", key, use)
        case Problem.NOT_BOUND if claim is not None:
            yield from _from_hand(case, problem, claim)


def _renamed(spec: PodSpec, old: str, new: str) -> PodSpec:
    volumes = tuple(
        msgspec.structs.replace(
            volume,
            persistent_volume_claim=msgspec.structs.replace(volume.persistent_volume_claim, claim_name=new),
        )
        if volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name == old
        else volume
        for volume in spec.volumes or ()
    )
    return msgspec.structs.replace(spec, volumes=volumes)


# --- storage classes ---


def _with_class(case: Case, problem: ClaimProblem, claim: PersistentVolumeClaim) -> Iterator[Remedy]:
    """A class that exists, or the one that the claim names."""
    missing = storage_class_of(claim)
    classes = [one for one in case.objects("StorageClass") if isinstance(one, StorageClass)]
    ranked = sorted(classes, key=lambda one: _likeness(one, missing, problem.near))
    names = [problem.near] if problem.near else [one.name for one in ranked]
    if names:
        others = f" (or {listed(names[1:], _MAX_CLASSES)})" if names[1:] else ""
        why = f": {missing} does not exist" if missing else ""
        text = f"recreate claim {claim.key} with StorageClass {names[0]}{others}{why}"
        yield _recreated(case, text, problem.use, claim, ranked[0])
    if missing:
        made = StorageClass(ObjectMeta(name=missing), "example.com/provisioner", _BINDS_LATE)
        change = Change(edits=(Edit("StorageClass", missing, lambda _: made),))
        yield Remedy(f"create StorageClass {missing}, which claim {claim.key} names", "storageClass", True, change)
    elif not names:
        text = f"bind PersistentVolumeClaim {claim.key} to a volume (it has no StorageClass)"
        yield _bound_claim(case, text, "claimUnbound", claim.key, problem.use)


def _likeness(storage_class: StorageClass, missing: str, near: str) -> tuple[bool, bool, bool]:
    """Smaller for a class that is more probably meant: by its spelling, by its words, as the default."""
    words, wanted = _words(storage_class.name), _words(missing)
    is_alike = bool(words & wanted) or bool(words & _FAST and wanted & _FAST)
    return storage_class.name != near, not is_alike, storage_class.annotations.get(_DEFAULT) != "true"


def _words(name: str) -> set[str]:
    return set(name.lower().replace("_", "-").replace(".", "-").split("-"))


def _recreated(
    case: Case, text: str, use: ClaimUse, claim: PersistentVolumeClaim, storage_class: StorageClass
) -> Remedy:
    """The claim with another class."""
    if storage_class.volume_binding_mode != _BINDS_LATE:
        return _bound_claim(case, text, "claimClass", claim.key, use)
    spec = msgspec.structs.replace(claim.spec, storage_class_name=storage_class.name, volume_name="")
    annotations = {key: value for key, value in claim.annotations.items() if key != CLASS_ANNOTATION}
    metadata = msgspec.structs.replace(claim.metadata, annotations=annotations or None)
    new = edited(claim, metadata=metadata, spec=spec)
    edit = Edit("PersistentVolumeClaim", claim.key, lambda _: new)
    return Remedy(text, "claimClass", True, Change(edits=(edit,)))


# --- volumes ---


def _from_hand(case: Case, problem: ClaimProblem, claim: PersistentVolumeClaim) -> Iterator[Remedy]:
    """Volumes at hand once they suit the claim, to which it is bound before the pod is scheduled; a new one."""
    new = new_volume(claim)
    for remedy, volume in (*volumes_made_to_suit(case, claim), (new, "")):
        bound = _bound_claim(case, remedy.text, remedy.kind, claim.key, problem.use, volume)
        yield msgspec.structs.replace(remedy, change=remedy.change + bound.change)


def _bound_claim(case: Case, text: str, kind: FixKind, key: str, use: ClaimUse, volume: str = "") -> Remedy:
    """The claim as it is once it has a volume, without the name of one a volume that every node reaches."""
    namespace, _, name = key.partition("/")
    pod = case.pod
    owner = OwnerReference("v1", "Pod", pod.name, pod.uid, controller=True)
    old = case.object_of("PersistentVolumeClaim", key)
    named = old.spec.volume_name if isinstance(old, PersistentVolumeClaim) else ""
    volume_name = named or volume or f"volume-of-{name}"

    def claim(old: PersistentVolumeClaim | None) -> PersistentVolumeClaim:
        made = old or PersistentVolumeClaim(ObjectMeta(name=name, namespace=namespace, uid=f"claim/{key}"))
        owners = (owner,) if use.is_ephemeral else made.metadata.owner_references
        metadata = msgspec.structs.replace(
            made.metadata,
            annotations={**made.annotations, _BOUND: "yes"},
            deletion_timestamp=None,
            owner_references=owners,
        )
        spec = msgspec.structs.replace(made.spec, volume_name=made.spec.volume_name or volume_name)
        return edited(made, metadata=metadata, spec=spec, status=msgspec.structs.replace(made.status, phase="Bound"))

    edits = [Edit("PersistentVolumeClaim", key, claim)]
    if case.object_of("PersistentVolume", volume_name) is None:
        new = PersistentVolume(ObjectMeta(name=volume_name))
        edits.append(Edit("PersistentVolume", volume_name, lambda _: new))
    return Remedy(text, kind, True, Change(edits=tuple(edits)))
