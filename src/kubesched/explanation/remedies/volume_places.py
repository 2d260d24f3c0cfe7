"""Remedies for bound volumes that the nodes do not reach. A disk stays where it is: the pod goes there, or gets another
disk with a copy of the data.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

import msgspec
import numpy as np

from kubesched.api import (
    HOSTNAME,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    PersistentVolume,
    PersistentVolumeClaim,
    Requirement,
    StorageClass,
    edited,
)
from kubesched.controllers import is_unreachable, zones_out
from kubesched.documents import plural
from kubesched.engine import BoolVector, equal_rows
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.remedies.case import Case, Remedy, node_edit, node_words
from kubesched.explanation.remedies.made_volumes import makes_on
from kubesched.explanation.remedies.new_node import added_node
from kubesched.explanation.remedies.regions import is_of_other_region, labels_there
from kubesched.explanation.remedies.wanted_volumes import shared_words
from kubesched.plugins import (
    makes_volumes,
    meets_demand,
    taint_words,
    untolerated_taints,
    volume_demands,
    volumes_at_hand,
)
from kubesched.state import NodeInfo, NodeTerms, in_tree_source, is_bound, storage_class_of, translated_affinity

_WELL_KNOWN: Final = ("kubernetes.io", "k8s.io")  # domains of labels that no driver sets
_MAX_PLACES: Final = 5  # kinds of places that are tried for a new disk


class _Disk(msgspec.Struct, frozen=True):
    """A bound claim of the pod and its volume.

    Attributes:
        claim: `namespace/name`.
        terms: what nodes have to be like to reach the volume; one of them is enough.
        of_class: the StorageClass; None where there is none.
    """

    claim: str
    volume: PersistentVolume
    terms: tuple[tuple[Requirement, ...], ...]
    of_class: StorageClass | None = None

    @property
    def is_static(self) -> bool:
        """Whether its class makes no volumes, so that another one has to be at hand."""
        return self.of_class is not None and not makes_volumes(self.of_class)

    @property
    def driver(self) -> str:
        """Of whose node plugin the labels are."""
        source = in_tree_source(self.volume)
        return self.volume.spec.csi.driver if self.volume.spec.csi else source[0].driver if source else ""

    def unmet(self, node: Node) -> list[Requirement]:
        """What a node lacks of the term that it is nearest to; empty where it reaches the volume."""
        return min(([one for one in term if not _meets(node, one)] for term in self.terms), key=len, default=[])


def volume_places(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Start the driver that labels nodes; add a node where the volumes are; have other disks where nodes are."""
    disks = list(_disks(case))
    keys = dict.fromkeys(one.key for disk in disks for term in disk.terms for one in term)
    if not keys:
        return
    for disk in disks:
        yield from _driver_started(case, where, disk)
    yield from _node_there(case, where, disks)
    for disk in disks:
        if disk.is_static:
            yield from _another_at_hand(case, where, disk)
    for node in _places(case, where, keys):
        far = [disk for disk in disks if disk.unmet(node.node)]
        if far and not any(disk.is_static for disk in far):
            yield from _recreated(case, node, far, is_split=len(far) < len(disks))


def _disks(case: Case) -> Iterator[_Disk]:
    for use in case.info.volumes.claims:
        key = f"{case.pod.namespace}/{use.name}"
        claim = case.object_of("PersistentVolumeClaim", key)
        if isinstance(claim, PersistentVolumeClaim) and is_bound(claim):
            volume = case.object_of("PersistentVolume", claim.spec.volume_name)
            if isinstance(volume, PersistentVolume):
                of_class = case.object_of("StorageClass", storage_class_of(volume))
                terms = tuple(_terms(case, volume))
                yield _Disk(key, volume, terms, of_class if isinstance(of_class, StorageClass) else None)


def _terms(case: Case, volume: PersistentVolume) -> Iterator[tuple[Requirement, ...]]:
    """The terms of the node affinity, as CSI drivers that took over have it, each with what the labels demand."""
    demands = tuple(volume_demands(volume))
    source = in_tree_source(volume)
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    migrated = case.evaluation.snapshot.cluster_state.volumes.csi_nodes.migrated
    if source is not None and source[0].zone_key and source[0].plugin in migrated:
        required = translated_affinity(volume, source[0].zone_key)
    terms = NodeTerms(required).terms if required is not None else []
    if not terms and demands:
        yield demands
    for term in terms:
        yield (*demands, *term.requirements)


def _meets(node: Node, requirement: Requirement) -> bool:
    return requirement.matches(node.labels) or (
        requirement.operator == "In" and _label(node, requirement.key) in requirement.values
    )


def _label(node: Node, key: str) -> str | None:
    """The value of a label; of a deprecated one that the node lacks, that of its stable form."""
    return node.labels.get(key, node.labels.get(key.replace("failure-domain.beta.", "topology.")))


def _short(key: str) -> str:
    return key.rpartition("/")[2]


def _places(case: Case, where: BoolVector, keys: Iterable[str]) -> Iterator[NodeInfo]:
    """A node of each kind of place, the kinds with most nodes first."""
    positions = np.flatnonzero(where)
    numbers = equal_rows(len(positions), (case.nodes.codes(key)[positions] for key in keys))
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    for kind in np.lexsort((first, -counts))[:_MAX_PLACES].tolist():
        yield case.nodes[int(positions[first[kind]])]


# --- another disk ---


def _another_at_hand(case: Case, where: BoolVector, disk: _Disk) -> Iterator[Remedy]:
    """Another volume of a class that makes none: one that is free, and that a node reaches."""
    claim = case.object_of("PersistentVolumeClaim", disk.claim)
    if not isinstance(claim, PersistentVolumeClaim):
        return
    unbound = edited(claim, spec=msgspec.structs.replace(claim.spec, volume_name=""))
    volumes = [one for one in case.objects("PersistentVolume") if isinstance(one, PersistentVolume)]
    free = (near.volume for near in volumes_at_hand(unbound, volumes) if not near.flaws)
    host = next((one for term in disk.terms for one in term if one.key == HOSTNAME), None)
    for volume in islice(free, _MAX_PLACES):
        there = _Disk(disk.claim, volume, tuple(_terms(case, volume)))
        node = next((node for node in case.at(where) if not there.unmet(node.node)), None)
        if node is None:
            continue
        shared = shared_words(case, volume, claim)
        text = f"delete claim {disk.claim}: volume {volume.name} is free on {node.name}"
        text = (
            f"if {_old(host)} is gone for good, {text}, and the data comes from replicas"
            if host is not None and _is_cut_off(case, host)
            else f"copy the data first, then {text}"
        )
        change = Change(edits=(Edit("PersistentVolumeClaim", disk.claim, partial(_on_volume, name=volume.name)),))
        yield Remedy(f"{text}{shared}", "recreateClaim", False, change, ladder=f"recreateClaim {disk.claim}")


def _on_volume(claim: PersistentVolumeClaim, name: str) -> PersistentVolumeClaim:
    return edited(claim, spec=msgspec.structs.replace(claim.spec, volume_name=name))


def _recreated(case: Case, node: NodeInfo, far: Sequence[_Disk], *, is_split: bool) -> Iterator[Remedy]:
    """Other disks where a node is.

    Args:
        is_split: whether the node reaches some other volume of the pod.
    """
    if not all(_is_made_again(case, node, disk) for disk in far):
        return
    words: dict[tuple[str, str], list[str]] = {}  # what is done, and what becomes of the data -> the claims
    for disk in far:
        unmet = next((one for one in disk.unmet(node.node) if _label(node.node, one.key)), None)
        if unmet is None:
            return  # the node lacks the labels of the driver, so that it would not reach a new volume either
        words.setdefault(_afresh(case, node, disk, unmet, is_split=is_split), []).append(disk.claim)
    edits = tuple(Edit("PersistentVolume", disk.volume.name, partial(_brought, node=node.node)) for disk in far)
    ladder = " ".join(("recreateClaim", *(disk.claim for disk in far)))
    text = " and ".join(how.format(_claims(claims)) + f" ({data})" for (how, data), claims in words.items())
    yield Remedy(text, "recreateClaim", False, Change(edits=edits), ladder=ladder)


def _claims(keys: Sequence[str]) -> str:
    return f"its {len(keys)} claims" if len(keys) > 1 else f"claim {keys[0]}"


def _afresh(case: Case, node: NodeInfo, disk: _Disk, unmet: Requirement, *, is_split: bool) -> tuple[str, str]:
    """How to have a disk where a node is, with a place for the claim, and what becomes of the data."""
    key, old = unmet.key, _old(unmet)
    here, there = _place(node, key, _label(node.node, key) or ""), _place(node, key, old)
    if is_of_other_region(case.nodes, key, old):
        return f"restore {{}} from a snapshot {here}", f"{there.removeprefix('in ')} is in a region without nodes"
    is_local, is_cut_off = here.startswith("on "), _is_cut_off(case, unmet)
    if is_cut_off and not is_local:
        return (
            f"restore {{}} from a snapshot or backup {here}",
            f"{there.removeprefix('in ')} is out: no copy can be made",
        )
    how = f"recreate {{}} {here}{_with_class(case, node, disk)}"
    if is_cut_off:
        return how, f"if {old} is gone for good; the data is lost"
    if is_local:
        return how, "a local volume stays on its node; copy the data first"
    if is_split:
        away = f"Kubernetes cannot move volume {disk.volume.name} out of {there.removeprefix('in ')} itself"
        return how, f"{away}; copy the data first"
    return how, f"a disk stays in its {_short(key)}; copy the data first"


def _is_cut_off(case: Case, where: Requirement) -> bool:
    """Whether the data of a disk cannot be read now: its node is gone or out of order, or its whole zone is out."""
    nodes = [info.node for info in case.nodes]
    holders = [node for node in nodes if _meets(node, where)]
    if where.key == HOSTNAME or any(_label(node, where.key) == node.name for node in holders):
        return all(is_unreachable(node) or node.condition("Ready") == "False" for node in holders)
    return bool(holders) and {node.zone for node in holders} <= zones_out(nodes).keys()


def _waits(storage_class: StorageClass) -> bool:
    return storage_class.volume_binding_mode == "WaitForFirstConsumer"


def _is_made_again(case: Case, node: NodeInfo, disk: _Disk) -> bool:
    """Whether the class of a disk may make another one for a node; one that does not wait is replaced."""
    of_class, claim = disk.of_class, case.object_of("PersistentVolumeClaim", disk.claim)
    if of_class is None or not _waits(of_class) or not isinstance(claim, PersistentVolumeClaim):
        return True
    return bool(makes_on(case, of_class, claim)[case.nodes.position_of(node.name)])


def _with_class(case: Case, node: NodeInfo, disk: _Disk) -> str:
    """The class to have the new disk of, where that of the old one does not wait for the pod."""
    of_class, claim = disk.of_class, case.object_of("PersistentVolumeClaim", disk.claim)
    if of_class is None or _waits(of_class) or not isinstance(claim, PersistentVolumeClaim):
        return ""
    classes = (one for one in case.objects("StorageClass") if isinstance(one, StorageClass))
    waiting = [one for one in classes if _waits(one) and one.provisioner == disk.driver]
    at = case.nodes.position_of(node.name)
    usable = next((one.name for one in waiting if makes_on(case, one, claim)[at]), "")
    return f" with a class that waits for the pod{f', such as {usable}' if usable else ''}"


def _old(unmet: Requirement) -> str:
    return " or ".join(sorted(unmet.values))


def _place(node: NodeInfo, key: str, value: str) -> str:
    is_host = key == HOSTNAME or node.labels.get(key) == node.name
    return f"on {value}" if is_host else f"in {_short(key)} {value}"


def _brought(volume: PersistentVolume, node: Node) -> PersistentVolume:
    """A volume like another one, where a node is."""
    places = {one.key: _label(node, one.key) for one in volume_demands(volume)}
    labels = {key: value for key, value in volume.labels.items() if key not in places}
    labels |= {key: value for key, value in places.items() if value is not None}
    metadata = msgspec.structs.replace(volume.metadata, labels=labels or None)
    affinity = volume.spec.node_affinity
    if affinity is not None and affinity.required is not None:
        terms = tuple(_term_at(term, node) for term in affinity.required.node_selector_terms or ())
        affinity = msgspec.structs.replace(affinity, required=NodeSelector(terms))
    return edited(volume, metadata=metadata, spec=msgspec.structs.replace(volume.spec, node_affinity=affinity))


def _term_at(term: NodeSelectorTerm, node: Node) -> NodeSelectorTerm:
    expressions = tuple(
        msgspec.structs.replace(one, values=(node.labels[one.key],)) if one.operator == "In" else one
        for one in term.match_expressions or ()
        if one.key in node.labels
    )
    return msgspec.structs.replace(term, match_expressions=expressions or None)


# --- the nodes ---


def _driver_started(case: Case, where: BoolVector, disk: _Disk) -> Iterator[Remedy]:
    """The driver's node plugin on nodes that lack its label, and that are where the volume is as far as is known."""
    if not disk.driver:
        return
    for one in {one.key: one for term in disk.terms for one in term if one.operator == "In"}.values():
        absent = where & (case.nodes.codes(one.key) == 0)
        if not _is_of_driver(one.key) or not absent.any():
            continue
        names = [node.name for node in case.at(absent) if _may_be_there(node, one)]
        if names:
            plugin, labels = f"the node plugin of CSI driver {disk.driver}", {one.key: min(one.values)}
            text = f"start {plugin} on {node_words(names)}: label {one.key} is absent"
            if kept_away := _kept_away(case, disk.driver, names[0]):
                text = f"let {kept_away}: {node_words(names)} {plural(len(names), 'lacks', 'lack')} {one.key}"
            edits = tuple(node_edit(name, partial(_labelled, labels=labels)) for name in names)
            yield Remedy(text, "csiDriver", True, Change(edits=edits))


def _kept_away(case: Case, driver: str, name: str) -> str:
    """The DaemonSet of a driver's node plugin, and the taint that keeps it from a node; empty where none is seen."""
    node, vendor = case.evaluation.snapshot.node_info(name), driver.partition(".")[0]
    for info in case.placed.daemon_sets.values():
        owner = info.pod.metadata.controller
        if owner is None or "csi" not in owner.name or vendor not in owner.name:
            continue
        taints = untolerated_taints(node.node.taints, info.pod.tolerations)
        if taints and all(one.pod.metadata.controller != owner for one in node.pods):
            return f"DaemonSet {info.pod.namespace}/{owner.name} tolerate {taint_words(taints[0])}"
    return ""


def _is_of_driver(key: str) -> bool:
    return not key.partition("/")[0].endswith(_WELL_KNOWN)


def _may_be_there(node: NodeInfo, one: Requirement) -> bool:
    """Whether no other label of the same kind says that the node is elsewhere."""
    known = [value for key, value in node.labels.items() if _short(key) == _short(one.key)]
    return all(value in one.values for value in known)


def _labelled(node: Node, labels: dict[str, str]) -> Node:
    return edited(node, metadata=msgspec.structs.replace(node.metadata, labels={**node.labels, **labels}))


def _node_there(case: Case, where: BoolVector, disks: Sequence[_Disk]) -> Iterator[Remedy]:
    """A node where all volumes are, in a place without any."""
    template = next(case.at(where & ~case.nodes.unschedulable), None)
    wanted: dict[str, str] = {}
    for disk in disks:
        for one in disk.terms[0] if disk.terms else ():
            if one.operator != "In" or wanted.get(one.key, min(one.values)) not in one.values:
                return
            wanted.setdefault(one.key, min(one.values))
    if template is None or _near(case, disks).any():
        return
    if any(is_of_other_region(case.nodes, key, value) for key, value in wanted.items()):
        return
    new = {key: value for key, value in wanted.items() if template.labels.get(key) != value}
    if not new or any(_is_of_driver(key) and key not in template.labels for key in new):
        return
    key, value = next(iter(new.items()))
    labels = labels_there(template, new)
    volumes = [disk.volume.name for disk in disks if disk.unmet(template.node)]
    if (place := _place(template, key, value)).startswith("on "):
        text = f"bring node {value} back, if its machine still exists: the data of volume {volumes[0]} is there"
        change = added_node(case, template, {}, labels, name=value)
        yield Remedy(text, "nodeCondition", True, change, like=template.name)
    else:
        text = f"add a node like {template.name} {place}: volume {volumes[0]} is there and no node is"
        change = added_node(case, template, {}, labels)
        yield Remedy(text, "addNode", True, change, ladder="addNode", like=template.name)


def _near(case: Case, disks: Sequence[_Disk]) -> BoolVector:
    """(nodes,) bool: nodes that are where all volumes are."""
    there = np.ones(len(case.nodes), dtype=np.bool_)
    for disk in disks:
        near = np.full(len(case.nodes), not disk.terms)
        for term in disk.terms:
            near |= np.logical_and.reduce([meets_demand(one, case.nodes) for one in term], axis=0)
        there &= near
    return there
