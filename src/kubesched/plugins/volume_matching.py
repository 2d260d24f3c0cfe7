"""Finds where the volumes of bound claims can be reached, and the free volume for an unbound claim on each node.

Rule: kube-scheduler v1.36 VolumeBinding, static matching. Among volumes of equal size kube-scheduler takes any; we
take the first in order of appearance, also among volumes reserved for the same claim.
"""

from typing import Final

import msgspec
import numpy as np

from kubesched.api import PersistentVolumeClaim, Selector, parse_selector
from kubesched.engine import BoolVector, IntVector
from kubesched.errors import SelectorError
from kubesched.state import (
    FreeVolumes,
    KnownVolume,
    Nodes,
    PersistentVolumes,
    Volumes,
    VolumeWish,
    storage_class_of,
    storage_request,
)

__all__ = ["NO_VOLUME", "ClaimError", "matching_volumes", "reach_of_bound", "wish_of"]

NO_VOLUME: Final = -1


class ClaimError(Exception):
    """A claim that VolumeBinding cannot judge; the text is upstream's."""


def reach_of_bound(known: KnownVolume, volumes: Volumes, nodes: Nodes) -> tuple[BoolVector, BoolVector | None]:
    """Which nodes reach a bound volume.

    Returns: (n,) bool; and (n,) bool for nodes on which that is unknown (`known.translation_error`), None for
    nowhere.
    Rule: the CSI driver's view of an in-tree volume holds on nodes whose CSINode lists the plugin as migrated.
    """
    reached = known.reach.rows(nodes)
    migrated = volumes.csi_nodes.migrated.get(known.zoned_plugin) if known.zoned_plugin else None
    if migrated is None:
        return reached, None
    is_migrated = nodes.take(migrated)
    if known.translation_error:
        return reached, is_migrated
    return np.where(is_migrated, known.translated_reach.rows(nodes), reached), None


class ClaimWish(msgspec.Struct, frozen=True):
    """An unbound claim and the volume that it asks for."""

    claim: PersistentVolumeClaim
    wish: VolumeWish


def wish_of(claim: PersistentVolumeClaim) -> ClaimWish:
    """Read what a claim wants.

    Raises:
        ClaimError: its selector does not parse.
    """
    selector: Selector | None = None
    if claim.spec.selector is not None:
        try:
            selector = parse_selector(claim.spec.selector)
        except SelectorError as error:
            raise ClaimError(f"error creating internal label selector for claim: {claim.key}: {error}") from error
    wish = VolumeWish(
        storage_request(claim) or 0,
        claim.spec.volume_mode or "Filesystem",
        claim.spec.volume_attributes_class_name or "",
        frozenset(claim.spec.access_modes or ()),
        selector,
    )
    return ClaimWish(claim, wish)


def matching_volumes(wanted: ClaimWish, volumes: PersistentVolumes, nodes: Nodes, taken: list[IntVector]) -> IntVector:
    """The volume that a claim would get on each node.

    Args:
        taken: (n,) volumes that other claims of the pod get, one array per claim.
    Returns: (n,) numbers of volumes, NO_VOLUME where there is none.
    """
    matching = np.full(len(nodes), NO_VOLUME, dtype=np.int64)
    is_open = np.ones(len(nodes), dtype=np.bool_)  # nodes on which no reserved volume has decided yet
    for known in volumes.reserved_for(wanted.claim):
        if _suits(known, wanted.wish):
            decides = is_open & ~_are_taken(np.full(len(nodes), known.number), taken)
            matching[decides & known.reach.rows(nodes)] = known.number
            is_open &= ~decides
    if not is_open.any():
        return matching
    smallest = _smallest(volumes.free(storage_class_of(wanted.claim)), wanted.wish, nodes, taken)
    return np.where(is_open, smallest, matching)


def _suits(known: KnownVolume, wish: VolumeWish) -> bool:
    """Whether a volume reserved for the claim is large enough and of the right kind; access modes do not matter."""
    spec = known.volume.spec
    return (
        known.capacity >= wish.size
        and (spec.volume_mode or "Filesystem") == wish.mode
        and (spec.volume_attributes_class_name or "") == wish.attributes_class
        and not known.volume.is_terminating
    )


def _smallest(free: FreeVolumes, wish: VolumeWish, nodes: Nodes, taken: list[IntVector]) -> IntVector:
    """The smallest volume that each node reaches and that is not taken there."""
    none = len(free)
    best = np.full(len(nodes), none, dtype=np.intp)
    for bundle in free.reachable(free.eligible(wish), nodes):
        has_some = bundle.group >= 0
        at = np.where(has_some, bundle.starts[bundle.group], 0)
        end = np.where(has_some, bundle.ends[bundle.group], 0)
        places = np.append(bundle.places, none)
        for _ in range(len(taken)):  # each earlier claim can have taken one of them
            candidates = free.numbers[places[np.minimum(at, len(bundle.places))]]
            at += (at < end) & _are_taken(candidates, taken)
        place = np.where(at < end, places[np.minimum(at, len(bundle.places))], none)
        best = np.minimum(best, place)
    return free.numbers[best]


def _are_taken(numbers: IntVector, taken: list[IntVector]) -> BoolVector:
    """(n,) whether another claim of the pod gets the volume of that number on the node."""
    are_taken = np.zeros(len(numbers), dtype=np.bool_)
    for others in taken:
        are_taken |= numbers == others
    return are_taken
