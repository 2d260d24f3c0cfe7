"""Why a node is rejected for the claims of a pod, in words: what VolumeBinding looked at and what it found."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kubesched.api import (
    SELECTED_NODE,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    in_words,
    whole_units,
)
from kubesched.engine import BoolVector, IntVector, equal_rows
from kubesched.plugins.rejection_words import missed_terms
from kubesched.plugins.volume_provisioning import allowed_nodes, makes_volumes, publishes_capacity
from kubesched.plugins.volumes_at_hand import at_hand_words
from kubesched.state import (
    Nodes,
    NodeTerms,
    Snapshot,
    in_tree_source,
    storage_class_of,
    storage_request,
    translated_affinity,
)

_NO_CLASS: Final = StorageClass()


def unreached(snapshot: Snapshot, bound: Iterable[PersistentVolumeClaim], node: Node) -> Iterator[str]:
    """Each bound volume that the node does not reach: where it is, or what its node affinity misses there."""
    for claim in bound:
        terms = _terms(snapshot, claim, node.name)
        if terms is not None and not terms.matches_node(node):
            place = _place(terms, node) or f": {', '.join(missed_terms(terms.terms, node, snapshot.nodes))}"
            yield f"volume {claim.spec.volume_name} of claim {claim.name}{place}"


def _place(terms: NodeTerms, node: Node) -> str:
    """Where a volume is, if it is in one place, and the node is in another of this kind; empty otherwise."""
    unmet = [one for term in terms.terms for one in term.requirements if not one.matches(node.labels)]
    if len(terms.terms) != 1 or len(unmet) != 1 or unmet[0].operator != "In" or unmet[0].key not in node.labels:
        return ""
    key, values = unmet[0].key, _or(sorted(unmet[0].values))
    is_host = node.labels[key] == node.name
    return f" is on {values}" if is_host else f" is in {key.rpartition('/')[2]} {values}"


def not_provided(
    snapshot: Snapshot, delayed: Iterable[PersistentVolumeClaim], node: Nodes, at_hand: dict[str, str]
) -> Iterator[str]:
    """Why each claim that waits for the pod gets no volume on a node.

    Args:
        node: the node alone.
        at_hand: by claim, what is wrong with the volumes at hand, as far as it is known; takes what is found.
    """
    for claim in delayed:
        selected = claim.annotations.get(SELECTED_NODE)
        storage_class = _class_of(snapshot, claim)
        size = storage_request(claim)
        if selected is not None and selected != node.name(0):
            yield f"claim {claim.name} is pinned to {selected} by its annotation {SELECTED_NODE}"
        elif not makes_volumes(storage_class):
            if claim.key not in at_hand:
                at_hand[claim.key] = at_hand_words(claim, _volumes(snapshot))
            yield at_hand[claim.key]
        elif not allowed_nodes(storage_class, node)[0]:
            yield f"claim {claim.name}: class {storage_class.name} makes volumes only in {_places(storage_class)}"
        elif size is not None and publishes_capacity(storage_class, snapshot):
            wanted = whole_units("storage", size)
            largest = int(snapshot.cluster_state.volumes.capacities.largest(storage_class.name, node)[0])
            if largest < wanted:
                has = f"at most {in_words('memory', largest)}" if largest > 0 else "nothing"
                asks = f"asks for {in_words('memory', wanted)} of class {storage_class.name}"
                yield f"claim {claim.name} {asks}, which has {has} for the node"


def alike_for_claims(
    snapshot: Snapshot, bound: Sequence[PersistentVolumeClaim], delayed: Sequence[PersistentVolumeClaim], nodes: Nodes
) -> IntVector:
    """(n,) numbers: nodes with the same one are rejected in the same words for the same reasons."""
    reached = [_terms(snapshot, claim, name) for claim in bound for name in _one_of_each(snapshot, claim, nodes)]
    terms = [term for known in reached if known is not None for term in known.terms]
    if any(term.fields for term in terms):  # names are all different
        return np.arange(len(nodes))
    keys = dict.fromkeys(one.key for term in terms for one in term.requirements)
    pinned = {claim.annotations.get(SELECTED_NODE, "") for claim in delayed}
    columns: list[npt.NDArray[Any]] = [nodes.codes(key) for key in keys]
    columns += [nodes.take(flags) for claim in bound if (flags := _migrated(snapshot, claim)) is not None]
    columns += [np.arange(len(nodes)) == nodes.position_of(name) for name in pinned]
    classes = {storage_class_of(claim): _class_of(snapshot, claim) for claim in delayed}
    columns += [allowed_nodes(one, nodes) for one in classes.values()]
    columns += [snapshot.cluster_state.volumes.capacities.largest(name, nodes) for name in classes]
    return equal_rows(len(nodes), columns)


def _terms(snapshot: Snapshot, claim: PersistentVolumeClaim, node_name: str) -> NodeTerms | None:
    """What a node has to be like to reach the volume of a claim: where a CSI driver took over, as the driver has it."""
    volume, migrated = snapshot.get("PersistentVolume", "", claim.spec.volume_name), _migrated(snapshot, claim)
    if not isinstance(volume, PersistentVolume):
        return None
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    source, position = in_tree_source(volume), snapshot.nodes.position_of(node_name)
    if source is not None and migrated is not None and position is not None and migrated[snapshot.nodes.row(position)]:
        required = translated_affinity(volume, source[0].zone_key)
    return NodeTerms(required) if required is not None else None


def _migrated(snapshot: Snapshot, claim: PersistentVolumeClaim) -> BoolVector | None:
    """(slots,) bool: nodes on which a CSI driver took over the volume of a claim; None for no such volume."""
    volume = snapshot.get("PersistentVolume", "", claim.spec.volume_name)
    source = in_tree_source(volume) if isinstance(volume, PersistentVolume) else None
    is_zoned = source is not None and source[0].zone_key
    return snapshot.cluster_state.volumes.csi_nodes.migrated.get(source[0].plugin) if source and is_zoned else None


def _one_of_each(snapshot: Snapshot, claim: PersistentVolumeClaim, nodes: Nodes) -> list[str]:
    """A node where a CSI driver took over the volume of a claim, and one where none did."""
    flags = _migrated(snapshot, claim)
    taken = np.zeros(len(nodes), dtype=np.bool_) if flags is None else nodes.take(flags)
    return [nodes.name(int(np.flatnonzero(some)[0])) for some in (taken, ~taken) if some.any()]


def _class_of(snapshot: Snapshot, claim: PersistentVolumeClaim) -> StorageClass:
    found = snapshot.get("StorageClass", "", storage_class_of(claim))
    return found if isinstance(found, StorageClass) else _NO_CLASS


def _volumes(snapshot: Snapshot) -> list[PersistentVolume]:
    return [one for one in snapshot.objects.list("PersistentVolume") if isinstance(one, PersistentVolume)]


def _places(storage_class: StorageClass) -> str:
    terms = ((term.match_label_expressions or ()) for term in storage_class.allowed_topologies or ())
    return _or(" and ".join(f"{one.key.rpartition('/')[2]} {_or(one.values or ())}" for one in term) for term in terms)


def _or(words: Iterable[str]) -> str:
    return " or ".join(words)
