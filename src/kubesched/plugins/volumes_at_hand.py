"""What is wrong with the PersistentVolumes that a claim without a volume could have had, in words.

Rule: kube-scheduler v1.36 VolumeBinding, static matching; `volume_matching` decides by the same rules for all nodes.
"""

import enum
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from kubesched.api import (
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    in_words,
    parse_quantity,
    whole_units,
)
from kubesched.documents import joined
from kubesched.errors import ClaimError
from kubesched.plugins.volume_matching import wish_of
from kubesched.state import VolumeWish, storage_class_of

_MAX_NAMED: Final = 3


class Flaw(enum.Enum):
    """Why a claim does not get a volume, the flaws that are easiest to fix first."""

    OLD_CLAIM = "kept for a deleted claim of the same name"
    SIZE = "too small"
    ACCESS = "lacks an access mode"
    CLASS = "other storage class"
    MODE = "other volume mode"
    ATTRIBUTES = "other attributes class"
    LABELS = "not selected"
    PHASE = "not available"
    RELEASED = "kept for another deleted claim"
    TAKEN = "of another claim"
    LEAVES = "being deleted"


class VolumeAtHand(msgspec.Struct, frozen=True):
    """A volume that a claim does not get.

    Attributes:
        flaws: what is wrong, in words; empty where it suits the claim, and is reached from other nodes.
    """

    volume: PersistentVolume
    flaws: dict[Flaw, str]

    @property
    def text(self) -> str:
        """The volume with what is wrong with it."""
        return f"{self.volume.name} {joined(self.flaws.values()) or _place(self.volume)}"


def volumes_at_hand(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]) -> list[VolumeAtHand]:
    """The volumes of the claim's class, and those of others that are wrong in nothing else; the nearest first.

    Example:
        claim = make_object("PersistentVolumeClaim", "data", spec={"accessModes": ["ReadWriteOnce"]})
        spec = {"accessModes": ["ReadOnlyMany"]}
        volume = make_object("PersistentVolume", "v", spec=spec, status={"phase": "Available"})
        assert [one.text for one in volumes_at_hand(claim, [volume])] == ["v is ReadOnlyMany, not ReadWriteOnce"]
    """
    try:
        wish = wish_of(claim).wish
    except ClaimError:
        return []
    of_class = storage_class_of(claim)
    near_class = (one for one in volumes if one.spec.claim_ref is None or storage_class_of(one) == of_class)
    judged = [VolumeAtHand(volume, dict(_flaws(claim, wish, volume))) for volume in near_class]
    near = [one for one in judged if Flaw.CLASS not in one.flaws or len(one.flaws) == 1]
    ranks = list(Flaw)
    return sorted(near, key=lambda one: (max(map(ranks.index, one.flaws), default=0), len(one.flaws)))


def at_hand_words(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]) -> str:
    """Why a claim finds no volume: each of the nearest ones with what is wrong with it."""
    near = [one.text for one in volumes_at_hand(claim, volumes)]
    of_class = f" of class {name}" if (name := storage_class_of(claim)) else ""
    more = [f"{len(near) - _MAX_NAMED} more"] if len(near) > _MAX_NAMED else []
    listed = "; ".join([*near[:_MAX_NAMED], *more]) or "there is none"
    return f"claim {claim.name} finds no volume{of_class}: {listed}"


def _flaws(claim: PersistentVolumeClaim, wish: VolumeWish, volume: PersistentVolume) -> Iterator[tuple[Flaw, str]]:
    spec, phase = volume.spec, volume.status.phase
    if volume.is_terminating:
        yield Flaw.LEAVES, "is being deleted"
    if spec.claim_ref is not None:
        yield from _reserved(claim, spec.claim_ref, phase)
    elif phase != "Available":
        yield Flaw.PHASE, f"is {phase or 'not Available'}"
    size = parse_quantity((spec.capacity or {}).get("storage", 0))
    if size < wish.size:
        yield Flaw.SIZE, f"has {_bytes(size)} of {_bytes(wish.size)}"
    lacking = wish.access_modes.difference(spec.access_modes or ())
    is_own = spec.claim_ref is not None and _names(spec.claim_ref, claim)
    if lacking and not is_own:
        yield Flaw.ACCESS, f"is {_or(spec.access_modes or ('without access modes',))}, not {_or(sorted(lacking))}"
    if (of_class := storage_class_of(volume)) != storage_class_of(claim):
        yield Flaw.CLASS, f"has class {of_class}" if of_class else "has no class"
    if (spec.volume_mode or "Filesystem") != wish.mode:
        yield Flaw.MODE, f"has volumeMode {spec.volume_mode or 'Filesystem'}, not {wish.mode}"
    if (spec.volume_attributes_class_name or "") != wish.attributes_class:
        yield Flaw.ATTRIBUTES, f"has attributes class {spec.volume_attributes_class_name or 'none'}"
    if wish.selector is not None and not is_own and not wish.selector.matches(volume.labels):
        yield Flaw.LABELS, "does not have the labels that the claim selects"


def _reserved(claim: PersistentVolumeClaim, ref: ObjectReference, phase: str) -> Iterator[tuple[Flaw, str]]:
    other = f"{ref.namespace}/{ref.name}"
    if not _names(ref, claim):
        is_released = phase == "Released"
        how = f"is kept for the deleted claim {other} (Released)" if is_released else f"is taken by claim {other}"
        yield (Flaw.RELEASED if is_released else Flaw.TAKEN), how
    elif ref.uid not in ("", claim.uid):
        yield Flaw.OLD_CLAIM, f"is kept for the deleted claim {other} ({phase}, claimRef.uid {ref.uid})"


def _names(ref: ObjectReference, claim: PersistentVolumeClaim) -> bool:
    return (ref.namespace, ref.name) == (claim.namespace, claim.name)


def _bytes(nano: int) -> str:
    return in_words("memory", whole_units("storage", nano))


def _or(words: Iterable[str]) -> str:
    return " or ".join(words)


def _place(volume: PersistentVolume) -> str:
    """Where a volume is, by the first requirement of its node affinity."""
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    for term in (required.node_selector_terms if required else None) or ():
        for one in term.match_expressions or ():
            short = one.key.rpartition("/")[2]
            return f"is on {_or(one.values or ())}" if short == "hostname" else f"is in {short} {_or(one.values or ())}"
    return "suits it"
