"""Finds where the volumes of bound claims can be reached, and the free volume for an unbound claim on each node.

Rule: kube-scheduler v1.36 VolumeBinding, static matching. Among volumes of equal size kube-scheduler takes any; we
take the first in order of appearance, also among volumes reserved for the same claim.
"""

from collections.abc import Hashable
from typing import Final

import msgspec
import numpy as np

from kubesched.api import PersistentVolumeClaim, Selector, parse_selector
from kubesched.engine import BoolVector, IntVector
from kubesched.errors import ClaimError, SelectorError
from kubesched.plugins.taken_volumes import TakenVolumes
from kubesched.state import (
    KnownVolume,
    Nodes,
    PersistentVolumes,
    Volumes,
    VolumeWish,
    storage_class_of,
    storage_request,
)

NO_VOLUME: Final = -1


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
    """An unbound claim and the volume that it asks for; `kind` is equal for claims that differ in size alone."""

    claim: PersistentVolumeClaim
    wish: VolumeWish
    kind: Hashable


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
    kind = (storage_class_of(claim), *wish[1:4], msgspec.json.encode(claim.spec.selector))
    return ClaimWish(claim, wish, kind)


def matching_volumes(wanted: ClaimWish, volumes: PersistentVolumes, nodes: Nodes, taken: TakenVolumes) -> IntVector:
    """The volume that a claim would get on each node.

    Args:
        taken: what other claims of the pod get, all of them smaller or as large; takes what this one gets.
    Returns: (n,) numbers of volumes, NO_VOLUME where there is none.
    """
    matching = np.full(len(nodes), NO_VOLUME, dtype=np.int64)
    is_open = np.ones(len(nodes), dtype=np.bool_)  # nodes on which no reserved volume has decided yet
    for known in volumes.reserved_for(wanted.claim):
        if _suits(known, wanted.wish):
            decides = is_open & ~taken.have(np.full(len(nodes), known.number))
            matching[decides & known.reach.rows(nodes)] = known.number
            is_open &= ~decides
    if is_open.any():
        smallest = taken.smallest(wanted.kind, volumes.free(storage_class_of(wanted.claim)), wanted.wish, nodes)
        matching = np.where(is_open, smallest, matching)
    taken.add(wanted.kind, matching)
    return matching


def _suits(known: KnownVolume, wish: VolumeWish) -> bool:
    """Whether a volume reserved for the claim is large enough and of the right kind; access modes do not matter."""
    spec = known.volume.spec
    return (
        known.capacity >= wish.size
        and (spec.volume_mode or "Filesystem") == wish.mode
        and (spec.volume_attributes_class_name or "") == wish.attributes_class
        and not known.volume.is_terminating
    )
