"""Remedies for claims that wait for the pod and find no volume: the one that nearly suits, a smaller one, a new one."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import msgspec
import numpy as np

from kubesched.api import (
    SELECTED_NODE,
    CSIStorageCapacity,
    KubeObject,
    LabelSelector,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Resources,
    StorageClass,
    TopologySelectorTerm,
    edited,
    in_words,
    parse_quantity,
    whole_units,
)
from kubesched.documents import joined
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.explanation.remedies.new_node import added_node
from kubesched.explanation.remedies.regions import is_of_other_region, labels_there, values_of
from kubesched.explanation.remedies.wanted_volumes import shared_words
from kubesched.plugins import Flaw, allowed_nodes, makes_volumes, publishes_capacity, volumes_at_hand
from kubesched.state import NO_CAPACITY, capacity_limit, is_bound, storage_class_of, storage_request

_MAX_VOLUMES: Final = 3
_NEARLY: Final = 0.75  # of the size that a claim asks for
_CLAIM: Final = "PersistentVolumeClaim"
_VOLUME: Final = "PersistentVolume"


def waiting_claims(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Let claims that wait for the pod have a volume: of another node, of those at hand, a smaller or a new one."""
    waiting = [claim for claim in _claims(case) if not is_bound(claim)]
    yield from _unpinned(waiting)
    for claim in waiting:
        storage_class = case.object_of("StorageClass", storage_class_of(claim))
        if isinstance(storage_class, StorageClass) and makes_volumes(storage_class):
            yield from _in_allowed_place(case, where, storage_class)
            if publishes_capacity(storage_class, case.evaluation.snapshot):
                yield from _with_capacity(case, where, claim, storage_class)
        else:
            yield from (remedy for remedy, _ in volumes_made_to_suit(case, claim))
            yield new_volume(claim)


def _claims(case: Case) -> Iterator[PersistentVolumeClaim]:
    for use in case.info.volumes.claims:
        claim = case.object_of(_CLAIM, f"{case.pod.namespace}/{use.name}")
        if isinstance(claim, PersistentVolumeClaim):
            yield claim


def _unpinned(waiting: list[PersistentVolumeClaim]) -> Iterator[Remedy]:
    """The claims without the node that their provisioner got before."""
    pinned = [claim for claim in waiting if SELECTED_NODE in claim.annotations]
    if pinned:
        which = joined(f"{claim.key} (it pins the claim to {claim.annotations[SELECTED_NODE]})" for claim in pinned)
        text = f"remove annotation {SELECTED_NODE} from claim {which}"
        edits = tuple(Edit(_CLAIM, claim.key, _without_node) for claim in pinned)
        yield Remedy(text, "selectedNode", True, Change(edits=edits))


def _without_node(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    annotations = {key: value for key, value in claim.annotations.items() if key != SELECTED_NODE}
    return edited(claim, metadata=msgspec.structs.replace(claim.metadata, annotations=annotations or None))


# --- the volumes at hand ---


def volumes_made_to_suit(case: Case, claim: PersistentVolumeClaim) -> Iterator[tuple[Remedy, str]]:
    """Free volumes that are kept for deleted claims; ask for what a volume has. With the name of each volume."""
    volumes = (one for one in case.objects(_VOLUME) if isinstance(one, PersistentVolume))
    for near in volumes_at_hand(claim, volumes)[:_MAX_VOLUMES]:
        volume, flaws = near.volume, set(near.flaws)
        shared = shared_words(case, volume, claim, flaws) if flaws != {Flaw.OLD_CLAIM} else ""
        if flaws == {Flaw.OLD_CLAIM}:
            whose = f"the data of the deleted claim {claim.key}"
            text = f"clear spec.claimRef.uid of volume {volume.name}, which is {volume.status.phase} and has {whose}"
            yield Remedy(text, "claimRef", True, _change(_VOLUME, volume.name, _for_new_claim)), volume.name
        elif flaws == {Flaw.RELEASED} and volume.spec.claim_ref is not None:
            whose = f"the data of the deleted claim {volume.spec.claim_ref.namespace}/{volume.spec.claim_ref.name}"
            text = f"clear spec.claimRef of volume {volume.name}, which is Released and has {whose}"
            change = _change(_VOLUME, volume.name, _freed)
            yield Remedy(f"{text}{shared}", "claimRef", False, change, effort=Effort.DATA), volume.name
        elif flaws and flaws <= _ASKED.keys():
            words = joined(_ASKED[flaw](volume) for flaw in near.flaws)
            text = f"recreate claim {claim.key} with {words}, as volume {volume.name} has{_template(case, claim)}"
            change = _change(_CLAIM, claim.key, partial(_asking, like=volume, flaws=frozenset(flaws)))
            effort = Effort.LESS if Flaw.SIZE in flaws and not _is_nearly(claim, volume) else Effort.ADAPT
            yield Remedy(f"{text}{shared}", "claimSpec", False, change, effort=effort), volume.name


def _is_nearly(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether a volume is nearly as large as a claim asks for."""
    size = parse_quantity((volume.spec.capacity or {}).get("storage", 0))
    return size >= _NEARLY * (storage_request(claim) or 0)


def _change(kind: str, key: str, edit: Callable[..., KubeObject]) -> Change:
    return Change(edits=(Edit(kind, key, edit),))


def _for_new_claim(volume: PersistentVolume) -> PersistentVolume:
    ref = volume.spec.claim_ref
    return _freed(volume, None if ref is None else msgspec.structs.replace(ref, uid="", resource_version=""))


def _freed(volume: PersistentVolume, ref: ObjectReference | None = None) -> PersistentVolume:
    status = msgspec.structs.replace(volume.status, phase="Available")
    return edited(volume, spec=msgspec.structs.replace(volume.spec, claim_ref=ref), status=status)


_ASKED: Final[dict[Flaw, Callable[[PersistentVolume], str]]] = {
    Flaw.SIZE: lambda volume: str((volume.spec.capacity or {}).get("storage", 0)),
    Flaw.ACCESS: lambda volume: f"access mode {joined(volume.spec.access_modes or ())}",
    Flaw.CLASS: lambda volume: f"class {storage_class_of(volume) or repr('')}",
    Flaw.MODE: lambda volume: f"volumeMode {volume.spec.volume_mode or 'Filesystem'}",
}
"""What a claim would ask for to get a volume, in words."""


def _asking(claim: PersistentVolumeClaim, like: PersistentVolume, flaws: frozenset[Flaw]) -> PersistentVolumeClaim:
    """The claim as it would get a volume."""
    spec: dict[str, Any] = {}
    if Flaw.ACCESS in flaws:
        spec["access_modes"] = like.spec.access_modes
    if Flaw.CLASS in flaws:
        spec["storage_class_name"] = storage_class_of(like)
    if Flaw.MODE in flaws:
        spec["volume_mode"] = like.spec.volume_mode
    claim = edited(claim, spec=msgspec.structs.replace(claim.spec, **spec))
    return _resized(claim, (like.spec.capacity or {}).get("storage", 0)) if Flaw.SIZE in flaws else claim


def _resized(claim: PersistentVolumeClaim, size: str | float) -> PersistentVolumeClaim:
    resources = claim.spec.resources or Resources()
    resources = msgspec.structs.replace(resources, requests={**(resources.requests or {}), "storage": size})
    return edited(claim, spec=msgspec.structs.replace(claim.spec, resources=resources))


def new_volume(claim: PersistentVolumeClaim) -> Remedy:
    """A free volume that a claim without one can have."""
    size = ((claim.spec.resources or Resources()).requests or {}).get("storage", "1Gi")
    class_name = storage_class_of(claim)
    labels = dict((claim.spec.selector.match_labels if claim.spec.selector else None) or {})
    name = f"volume-of-{claim.name}"
    spec: Any = msgspec.structs.replace(
        PersistentVolume().spec,
        capacity={"storage": size},
        access_modes=claim.spec.access_modes,
        storage_class_name=class_name,
        volume_mode=claim.spec.volume_mode,
        volume_attributes_class_name=claim.spec.volume_attributes_class_name,
    )
    status = msgspec.structs.replace(PersistentVolume().status, phase="Available")
    volume = PersistentVolume(ObjectMeta(name=name, labels=labels or None), spec, status)
    of_class = f" of class {class_name}" if class_name else ""
    text = f"add a PersistentVolume of {size}{of_class} for claim {claim.key}"
    return Remedy(text, "addVolume", True, Change(edits=(Edit(_VOLUME, name, lambda _: volume),)))


# --- where a class makes volumes ---


def _in_allowed_place(case: Case, where: BoolVector, storage_class: StorageClass) -> Iterator[Remedy]:
    """A node where the class makes volumes, where no node is; the class again where that is another region."""
    template = next(case.at(where & ~case.nodes.unschedulable), None)
    if template is None or allowed_nodes(storage_class, case.nodes).any():
        return
    here = [_here(case, term) for term in storage_class.allowed_topologies or ()]
    if tuple(here) != storage_class.allowed_topologies:
        zones = sorted(
            {value for term in here for one in term.match_label_expressions or () for value in one.values or ()}
        )
        text = f"create StorageClass {storage_class.name} again for the zones of the nodes ({joined(zones)})"
        again = edited(storage_class, allowed_topologies=tuple(dict.fromkeys(here)))
        edit = Edit("StorageClass", storage_class.name, lambda _: again)
        yield Remedy(text, "storageClass", True, Change(edits=(edit,)))
        return
    for term in storage_class.allowed_topologies or ():
        new = {one.key: one.values[0] for one in term.match_label_expressions or () if one.values}
        place = joined(f"{key.rpartition('/')[2]} {value}" for key, value in new.items())
        text = f"add a node like {template.name} in {place}: class {storage_class.name} makes no volumes elsewhere"
        change = added_node(case, template, {}, labels_there(template, new))
        yield Remedy(text, "addNode", True, change, ladder="addNode", like=template.name)


def _here(case: Case, term: TopologySelectorTerm) -> TopologySelectorTerm:
    """A term with the zones of the nodes instead of those of regions that no node is in."""
    kept = tuple(
        msgspec.structs.replace(one, values=tuple(sorted(values_of(case.nodes, one.key))))
        if all(is_of_other_region(case.nodes, one.key, value) for value in one.values or ())
        else one
        for one in term.match_label_expressions or ()
    )
    return msgspec.structs.replace(term, match_label_expressions=kept or None)


# --- storage capacity ---


def _with_capacity(
    case: Case, where: BoolVector, claim: PersistentVolumeClaim, storage_class: StorageClass
) -> Iterator[Remedy]:
    """A claim as small as the largest volume that can be had, or more storage there."""
    class_name, size = storage_class.name, storage_request(claim)
    positions = np.flatnonzero(where)
    if size is None or not len(positions):
        return
    largest = case.evaluation.snapshot.cluster_state.volumes.capacities.largest(class_name, case.nodes)[positions]
    node, most, wanted = case.nodes[int(positions[largest.argmax()])], int(largest.max()), whole_units("storage", size)
    if most >= wanted:
        return
    asked = in_words("memory", wanted)
    if most == NO_CAPACITY:
        driver = f"CSI driver {storage_class.provisioner}"
        text = f"let {driver} publish its storage: no CSIStorageCapacity of class {class_name} is there for {node.name}"
        new = CSIStorageCapacity(ObjectMeta(name="new", namespace="default"), class_name, LabelSelector(), str(wanted))
        edit = Edit("CSIStorageCapacity", new.key, lambda _: new)
        yield Remedy(text, "storageCapacity", True, Change(edits=(edit,)))
    if most > 0:
        less = _at_most(most)
        text = f"recreate claim {claim.key} with {less} instead of {asked}"
        edit = Edit(_CLAIM, claim.key, partial(_resized, size=less))
        why = f"the most that class {class_name} has, on {node.name}"
        yield Remedy(
            f"{text}, {why}{_template(case, claim)}", "claimSpec", False, Change(edits=(edit,)), effort=Effort.LESS
        )
    for published in case.objects("CSIStorageCapacity"):
        if not isinstance(published, CSIStorageCapacity) or published.storage_class_name != class_name:
            continue
        if capacity_limit(published) == most and not _is_enough(published, wanted):
            text = f"free or add storage of class {class_name} on {node.name}: the claim asks for {asked}"
            edit = Edit("CSIStorageCapacity", published.key, partial(_grown, size=wanted))
            change = Change(edits=(edit,))
            yield Remedy(text, "storageCapacity", True, change, ladder="storageCapacity", effort=Effort.DATA)


def _template(case: Case, claim: PersistentVolumeClaim) -> str:
    """What is left to do where a template of a StatefulSet asks for the same; empty where none made the claim.

    Rule: kube-apiserver v1.36: volumeClaimTemplates cannot be changed.
    """
    owner = case.pod.metadata.controller
    if owner is None or owner.kind != "StatefulSet" or not claim.name.endswith(f"-{case.pod.name}"):
        return ""
    return f"; change volumeClaimTemplates, too: recreate StatefulSet {owner.name} with --cascade=orphan"


def _at_most(size: int) -> str:
    """A short quantity that is not larger."""
    if size >= 2**30:
        return f"{size * 10 // 2**30 / 10:g}Gi"
    return f"{size // 2**20}Mi" if size >= 2**20 else str(size)


def _is_enough(published: CSIStorageCapacity, wanted: int) -> bool:
    """Whether there is enough storage, and only no volume is as large."""
    return whole_units("storage", parse_quantity(published.capacity or "0")) >= wanted


def _grown(published: CSIStorageCapacity, size: int) -> CSIStorageCapacity:
    return edited(published, capacity=str(size), maximum_volume_size=None)
