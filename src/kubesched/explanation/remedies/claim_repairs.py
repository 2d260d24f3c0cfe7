"""Remedies for claims that are not in order, which keeps their pod from every node."""

from collections.abc import Iterator

import msgspec

from kubesched.api import KubeObject, PersistentVolume, PersistentVolumeClaim, edited
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.claim_problems import VOLUME_PLUGINS, ClaimProblem, Problem, claim_problems
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.bound_claims import bound_claim
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.explanation.remedies.claim_names import near_claim, storage_classes
from kubesched.explanation.remedies.together import together
from kubesched.explanation.remedies.waiting_claims import new_volume, volumes_made_to_suit
from kubesched.state import ClaimUse, storage_class_of


def has_claim_problem(case: Case) -> bool:
    """Whether some claim of the pod is not in order, which keeps it from every node."""
    said = [case.evaluation.by_plugin.get(name) for name in VOLUME_PLUGINS]
    if any(one is not None and one.pre_filter is not None for one in said):
        return True
    return next(claim_problems(case.evaluation), None) is not None


def claims(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Put every claim that has a problem in order, together in one remedy."""
    each = [list(_remedies(case, problem)) for problem in claim_problems(case.evaluation)]
    yield from together(list(filter(None, each)))


def _remedies(case: Case, problem: ClaimProblem) -> Iterator[Remedy]:
    """What may put one claim in order, best first."""
    key, use, claim = problem.key, problem.use, problem.claim
    match problem.problem:
        case Problem.MISSING:
            yield from near_claim(problem)
            who = "let the ephemeral volume controller create" if use.is_ephemeral else "create"
            yield bound_claim(case, f"{who} PersistentVolumeClaim {key}", "claimMissing", key, use)
        case Problem.NOT_OWNED:
            text = (
                f"rename the volume, because PersistentVolumeClaim {key} was not created for the pod; "
                "or delete the claim, if its data is not needed, so that it is re-created"
            )
            yield _losing_data(bound_claim(case, text, "claimMissing", key, use))
        case Problem.LEAVES:
            text = f"wait until claim {key} is gone, then {_made_again(case, use)}"
            yield _losing_data(bound_claim(case, text, "claimMissing", key, use))
        case Problem.VOLUME_GONE if claim is not None:
            text = f"restore PersistentVolume {claim.spec.volume_name}, to which claim {key} is bound"
            yield _losing_data(bound_claim(case, text, "volumeMissing", key, use))
        case Problem.NO_CLASS if claim is not None:
            yield from storage_classes(case, problem, claim)
        case Problem.NOT_MADE if claim is not None:
            class_name = storage_class_of(claim)
            how = f"its StorageClass {class_name} does not wait for the pod"
            text = f"bind PersistentVolumeClaim {key} to a volume ({how})"
            yield bound_claim(case, text, "claimUnbound", key, use)
        case Problem.NOT_BOUND if claim is not None:
            yield from _from_hand(case, problem, claim)
        case Problem.BEING_BOUND if claim is not None:
            text = f"wait: the volume controller binds claim {key} to volume {claim.spec.volume_name}"
            yield bound_claim(case, text, "claimUnbound", key, use)


def _losing_data(remedy: Remedy) -> Remedy:
    """A remedy after which data has to come from a copy."""
    return msgspec.structs.replace(remedy, keeps_intent=False, effort=Effort.DATA)


def _made_again(case: Case, use: ClaimUse) -> str:
    """Who makes a claim again that is being deleted. A StatefulSet makes the claims of its templates with a pod."""
    owner = case.pod.metadata.controller
    if owner is not None and owner.kind == "StatefulSet" and use.name.endswith(f"-{case.pod.name}"):
        return f"delete pod {case.pod.key}: StatefulSet {owner.name} makes both again, and the new claim is empty"
    return "create it again: the new one is empty"


def _from_hand(case: Case, problem: ClaimProblem, claim: PersistentVolumeClaim) -> Iterator[Remedy]:
    """Volumes at hand once they suit the claim, to which it is bound before the pod is scheduled; a new one."""
    name = claim.spec.volume_name
    made = [(remedy, volume) for remedy, volume in volumes_made_to_suit(case, claim) if name in ("", volume)]
    if name:
        text = f"recreate claim {claim.key} without spec.volumeName {name}"
        unnamed = Edit("PersistentVolumeClaim", claim.key, lambda _: _unnamed(claim))
        remedy = Remedy(text, "claimSpec", True, Change(edits=(unnamed,)))
        if _has_data_of(claim, case.object_of("PersistentVolume", name)):
            remedy = _losing_data(
                msgspec.structs.replace(remedy, text=f"{text} (an empty volume; the data in {name} stays there)")
            )
        made.append((remedy, ""))
    else:
        made.append((new_volume(claim), ""))
    for remedy, volume in made:
        bound = bound_claim(case, remedy.text, remedy.kind, claim.key, problem.use, volume or f"volume-of-{claim.name}")
        yield msgspec.structs.replace(remedy, change=remedy.change + bound.change)


def _has_data_of(claim: PersistentVolumeClaim, volume: KubeObject | None) -> bool:
    """Whether a volume is kept for a claim, or for an older one of its name."""
    ref = volume.spec.claim_ref if isinstance(volume, PersistentVolume) else None
    return ref is not None and (ref.namespace, ref.name) == (claim.namespace, claim.name)


def _unnamed(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    return edited(claim, spec=msgspec.structs.replace(claim.spec, volume_name=""))
