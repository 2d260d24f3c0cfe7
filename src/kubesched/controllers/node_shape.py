"""A node that does not exist yet: what it would be like, who may add it, and how many of it there may be."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kubesched.api import (
    INSTANCE_TYPES,
    ZONE,
    KubeObject,
    Node,
    NodeSpec,
    ObjectMeta,
    Pod,
    Quantities,
    Taint,
    edited,
    zone_of,
)

_NO_LABELS: Final[Mapping[str, str]] = {}
_NOT_IN_NAMES: Final = re.compile("[^a-z0-9-]+")
OF_PLACES: Final = ("topology.", "failure-domain.")
"""How the keys of labels begin that say where a node is."""
_OF_MACHINES: Final = ("kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os")
_MOST_PODS: Final = "110"  # of a node, where nothing else says it
_OF_KARPENTER: Final = "karpenter."  # karpenter.k8s.aws/instance-family, karpenter.azure.com/sku-name


class MachineType(msgspec.Struct, frozen=True):
    """A type of machine, such as `m6i.2xlarge`, as a node, a NodeClaim or a row of a file shows it.

    Attributes:
        name: empty for a type that is not known.
        allocatable: what its nodes have for pods.
        labels: those that follow from the type.
        zones: where it can be had; empty where that is not known.
        taints: that nodes of the type have, from any source.
        price: of an hour; None where that is not known.
        most: how many nodes may be added; None where that is not known.
        is_open: whether it stands for any type that a NodePool may have.
    """

    name: str
    allocatable: Quantities
    labels: Mapping[str, str] = _NO_LABELS
    zones: tuple[str, ...] = ()
    taints: tuple[Taint, ...] = ()
    price: float | None = None
    most: int | None = None
    is_open: bool = False


class NodeShape(msgspec.Struct, frozen=True):
    """A node that does not exist yet.

    Attributes:
        name: such as `gpu/g5.2xlarge`; each shape has another one.
        source: what describes it, such as `NodePool gpu` or `node group eks-spot`.
        model: the node. If its name is that of a node of the cluster, new ones have the like of what is on that one.
        zones: where it may be; empty where only the model says it.
        choices: labels that its pool leaves open: the values that they may have; none stands for any value.
        n_now: how many nodes the pool has.
        n_more: how many more there may be; None where no limit is known.
        limit: the limit in words, such as `maxSize 5`; empty for none.
        price: of an hour; None where that is not known.
        note: what else its autoscaler says, such as that it backs off; empty for nothing.
        is_coming: whether the node is being made already.
        machine: its type of machine; empty where that is not known, or where it follows from the source.
        is_open: whether it stands for any type of machine that its NodePool or group may have.
    """

    name: str
    source: str
    model: Node
    zones: tuple[str, ...] = ()
    choices: Mapping[str, tuple[str, ...]] = {}
    n_now: int = 0
    n_more: int | None = None
    limit: str = ""
    price: float | None = None
    note: str = ""
    is_coming: bool = False
    machine: str = ""
    is_open: bool = False

    def models_for(self, pod: Pod | None, places: "ZonesOfNodes") -> Iterator[Node]:
        """The node that the pool would have for a pod, or for any, in each zone.

        Rule: Karpenter v1: a label that a NodePool leaves open has the value that the pod asks for.
        """
        chosen = dict(_chosen(self.choices, pod))
        for zone in self.zones or (self.model.zone,):
            labels = places.moved(self.model.labels, zone) | chosen
            yield edited(self.model, metadata=msgspec.structs.replace(self.model.metadata, labels=labels))


def _chosen(choices: Mapping[str, tuple[str, ...]], pod: Pod | None) -> Iterator[tuple[str, str]]:
    wanted: dict[str, list[str]] = defaultdict(list)
    for key, value in pod.node_selector.items() if pod else ():
        wanted[key].append(value)
    affinity = pod.spec.affinity.node_affinity if pod and pod.spec.affinity else None
    for term in (affinity.required.node_selector_terms or ()) if affinity and affinity.required else ():
        for one in term.match_expressions or ():
            if one.operator == "In":
                wanted[one.key] += one.values or ()
    for key, allowed in choices.items():
        value = next((value for value in wanted[key] if value in allowed or not allowed), "")
        if value or allowed:
            yield key, value or allowed[0]


class ZonesOfNodes:
    """What the labels of nodes say about zones.

    Attributes:
        zones: those that have nodes, sorted.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._labels: dict[str, dict[str, str]] = {}
        for node in nodes:
            if zone := node.zone:
                of_node = {key: value for key, value in node.labels.items() if key.startswith(OF_PLACES)}
                known = self._labels.setdefault(zone, of_node)
                self._labels[zone] = {key: value for key, value in known.items() if of_node.get(key) == value}
        self.zones = tuple(sorted(self._labels))
        self._keys = {key for zone, labels in self._labels.items() for key, value in labels.items() if value == zone}

    def moved(self, labels: Mapping[str, str], zone: str) -> dict[str, str]:
        """The labels of a node in another zone; the same ones for the same zone, and for none."""
        if not zone or zone_of(labels) == zone:
            return dict(labels)
        kept = {key: value for key, value in labels.items() if not key.startswith(OF_PLACES)}
        return kept | (self._labels.get(zone) or {ZONE: zone, **dict.fromkeys(self._keys, zone)})


def machine_name(labels: Mapping[str, str]) -> str:
    """The name of a machine's type; empty where no label has it."""
    return next((labels[key] for key in INSTANCE_TYPES if labels.get(key)), "")


def machine_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels of a node that follow from the type of its machine."""
    return {
        key: value
        for key, value in labels.items()
        if key in (*_OF_MACHINES, *INSTANCE_TYPES)
        or (key.startswith(_OF_KARPENTER) and not key.startswith("karpenter.sh/"))
    }


def model_of(name: str, machine: MachineType, labels: Mapping[str, str], taints: Iterable[Taint]) -> Node:
    """The node of a machine's type, which is not in the cluster."""
    of_type = {"kubernetes.io/arch": "amd64", INSTANCE_TYPES[0]: machine.name} if machine.name else {}
    every = {"kubernetes.io/os": "linux", **of_type}
    metadata = ObjectMeta(name=_NOT_IN_NAMES.sub("-", name.lower()), labels={**every, **machine.labels, **labels})
    status = msgspec.structs.replace(Node().status, allocatable={"pods": _MOST_PODS, **machine.allocatable})
    return Node(metadata, NodeSpec(taints=_beside(taints, machine.taints) or None), status)


def as_written(node: Node, row: MachineType | None) -> Node:
    """A node with what a row of a file says of its type of machine; the same one without a row."""
    if row is None:
        return node
    taints, allocatable = _beside(node.taints, row.taints), {**(node.status.allocatable or {}), **row.allocatable}
    return edited(
        node,
        metadata=msgspec.structs.replace(node.metadata, labels={**node.labels, **row.labels}),
        spec=msgspec.structs.replace(node.spec, taints=taints or None),
        status=msgspec.structs.replace(node.status, allocatable=allocatable),
    )


def fewest(*limits: tuple[int | None, str]) -> tuple[int | None, str]:
    """How many more nodes some limits allow together, and the limit in words that allows the fewest."""
    return min(limits, default=(None, ""), key=lambda limit: math.inf if limit[0] is None else limit[0])


def limit_of(row: MachineType | None) -> tuple[int | None, str]:
    """How many nodes the `max` of a row allows."""
    return (None, "") if row is None or row.most is None else (row.most, f"at most {row.most}")


def _beside(taints: Iterable[Taint], further: Iterable[Taint]) -> tuple[Taint, ...]:
    """Taints of nodes; of two with the same key and effect, the further one."""
    return tuple({(taint.key, taint.effect): taint for taint in (*taints, *further)}.values())


class NodeShapes(msgspec.Struct, frozen=True):
    """What a cluster may have more of.

    Attributes:
        shapes: in the order of their sources: NodePools, NodeClaims, node groups, rows.
        notes: what is not known, one sentence each.
        places: the zones of the cluster.
    """

    shapes: tuple[NodeShape, ...]
    notes: tuple[str, ...]
    places: ZonesOfNodes


def nodes_of(objects: Iterable[KubeObject]) -> list[Node]:
    """The nodes among some objects."""
    return [one for one in objects if isinstance(one, Node)]
