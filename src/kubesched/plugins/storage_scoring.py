"""VolumeBinding's score: how much of a node's storage would be used once the pod has its volumes.

Rule: kube-scheduler v1.37 VolumeBinding, and before it with the feature gate StorageCapacityScoring. The requests of
claims of one storage class are added up. Where some claim takes a volume that is there, only such claims count, with
the capacities of their volumes; else those for which a volume is made, with the published capacity that the largest of
them finds. Each class is scored by the whole percentage that is used, and the mean is rounded. Claims that are bound or
do not say how much they want, and drivers that publish no capacity, do not count.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from kubesched.api import PersistentVolumeClaim, StorageClass, whole_units
from kubesched.engine import IntVector, round_half_away
from kubesched.plugins.volume_matching import NO_VOLUME, ClaimWish
from kubesched.plugins.volume_provisioning import publishes_capacity
from kubesched.state import NO_CAPACITY, Nodes, Snapshot, storage_class_of, storage_request

_Share = tuple[IntVector, IntVector]
"""(n,) bytes that are requested, and of how many; 0 where nothing counts."""


def storage_scores(
    made: Iterable[PersistentVolumeClaim],
    matches: Sequence[tuple[ClaimWish, IntVector]],
    snapshot: Snapshot,
    nodes: Nodes,
    shape: IntVector,
) -> IntVector:
    """(n,) 0 to 100; 0 where nothing counts.

    Args:
        made: claims for which a volume is made in any case.
        matches: the others, and the number of the volume that each gets on each node.
        shape: (101,) the score for each percentage.
    """
    has_volume = np.zeros(len(nodes), dtype=np.bool_)
    for _, numbers in matches:
        has_volume |= numbers != NO_VOLUME
    of_volumes = _taken(matches, snapshot, nodes)
    of_classes = _made([*made, *(wanted.claim for wanted, _ in matches)], snapshot, nodes)
    total, n_counted = np.zeros(len(nodes), dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
    for shares, counts in ((of_volumes, has_volume), (of_classes, ~has_volume)):
        for requested, capacity in shares.values():
            is_counted = counts & (capacity > 0)
            used = np.minimum(requested * 100 // np.maximum(capacity, 1), 100)
            total += shape[used] * is_counted
            n_counted += is_counted
    return round_half_away(total / np.maximum(n_counted, 1))


def _taken(matches: Sequence[tuple[ClaimWish, IntVector]], snapshot: Snapshot, nodes: Nodes) -> dict[str, _Share]:
    """By class, what the claims request that take a volume, and the capacities of these volumes."""
    volumes = snapshot.cluster_state.volumes.persistent
    shares: dict[str, _Share] = {}
    for wanted, numbers in matches:
        places, which = np.unique(numbers, return_inverse=True)
        sizes = [0 if one == NO_VOLUME else whole_units("storage", volumes.by_number(one).capacity) for one in places]
        requested, capacity = shares.setdefault(storage_class_of(wanted.claim), _nothing(nodes))
        requested += _size(wanted.claim) * (numbers != NO_VOLUME)
        capacity += np.array(sizes, dtype=np.int64)[which.reshape(-1)]
    return shares


def _made(claims: Sequence[PersistentVolumeClaim], snapshot: Snapshot, nodes: Nodes) -> dict[str, _Share]:
    """By class, what the claims request for which a volume is made, and the capacity that the largest of them finds."""
    shares: dict[str, _Share] = {}
    for claim in sorted((one for one in claims if storage_request(one) is not None), key=_size):
        name = storage_class_of(claim)
        storage_class = snapshot.get("StorageClass", "", name)
        if isinstance(storage_class, StorageClass) and publishes_capacity(storage_class, snapshot):
            requested, capacity = shares.setdefault(name, _nothing(nodes))
            requested += _size(claim)
            published = snapshot.cluster_state.volumes.capacities.published(name, nodes)
            capacity[:] = np.where(published == NO_CAPACITY, 0, published)
    return shares


def _size(claim: PersistentVolumeClaim) -> int:
    return whole_units("storage", storage_request(claim) or 0)


def _nothing(nodes: Nodes) -> _Share:
    return np.zeros(len(nodes), dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
