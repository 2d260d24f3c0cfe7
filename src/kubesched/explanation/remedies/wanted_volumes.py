"""Which other pending pods a free volume would help, too: only one of them can have it."""

from collections.abc import Collection, Iterator

import msgspec

from kubesched.api import PersistentVolume, PersistentVolumeClaim, edited
from kubesched.controllers import is_cordoned, is_unreachable
from kubesched.documents import count, listed, plural
from kubesched.explanation.remedies.case import Case
from kubesched.plugins import Flaw, volumes_at_hand
from kubesched.state import NodeTerms, is_bound


def shared_words(
    case: Case, volume: PersistentVolume, claim: PersistentVolumeClaim, flaws: Collection[Flaw] = ()
) -> str:
    """That a volume is offered to claims of other pending pods, too; empty where none lacks such a volume.

    Args:
        flaws: what is wrong with the volume for the claim; it may be wrong for another one, too.
    """
    others = list(
        dict.fromkeys(one.key for one in _lacking(case) if one.key != claim.key and _suits(one, volume, flaws))
    )
    if not others:
        return ""
    need = plural(len(others), "claim {} lacks", f"{count(len(others), 'claim')} ({{}}) lack")
    return f" ({need.format(listed(others))} a volume, too: only one can have it)"


def _suits(claim: PersistentVolumeClaim, volume: PersistentVolume, flaws: Collection[Flaw]) -> bool:
    unbound = edited(claim, spec=msgspec.structs.replace(claim.spec, volume_name=""))
    return any(one.flaws.keys() <= set(flaws) for one in volumes_at_hand(unbound, [volume]))


def _lacking(case: Case) -> Iterator[PersistentVolumeClaim]:
    """The claims of other pending pods that have no volume, or one that no usable node reaches."""
    for pod in case.waiting:
        for name in pod.claim_names:
            claim = case.object_of("PersistentVolumeClaim", f"{pod.namespace}/{name}")
            if isinstance(claim, PersistentVolumeClaim) and not (is_bound(claim) and _is_reached(case, claim)):
                yield claim


def _is_reached(case: Case, claim: PersistentVolumeClaim) -> bool:
    volume = case.object_of("PersistentVolume", claim.spec.volume_name)
    if not isinstance(volume, PersistentVolume):
        return False
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    terms = NodeTerms(required).terms if required is not None else []
    usable = [info.node for info in case.nodes if not (is_cordoned(info.node) or is_unreachable(info.node))]
    return not terms or any(
        all(one.matches(node.labels) for one in term.requirements) for node in usable for term in terms
    )
