"""The nodes that Karpenter may add: of each NodePool one shape for each type of machine that it allows.

Rule: Karpenter v1: requirements and labels of a NodePool become labels of its nodes; startup taints go before pods
come; no node is added with which the nodes of the pool would exceed its limits.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubesched.api import (
    INSTANCE_TYPES,
    ZONE,
    Node,
    NodeClaim,
    NodePool,
    Quantities,
    Requirement,
    SelectorRequirement,
    as_int64,
    parse_quantity,
)
from kubesched.controllers.node_shape import (
    MachineType,
    NodeShape,
    ZonesOfNodes,
    as_written,
    fewest,
    limit_of,
    machine_labels,
    machine_name,
    model_of,
)
from kubesched.documents import count, listed

_POOL: Final = "karpenter.sh/nodepool"
_ARCH: Final = "kubernetes.io/arch"
_CAPACITY: Final = "karpenter.sh/capacity-type"
_COUNTED: Final = "nodes"
_BOUNDS: Final = ("Gt", "Lt")
_CHECKED: Final = ("In", "NotIn", "Exists", "DoesNotExist", *_BOUNDS)


def machine_types(
    nodes: Iterable[Node], claims: Iterable[NodeClaim], rows: Iterable[MachineType]
) -> dict[str, MachineType]:
    """The types of machines that are known, by name: a row first, then nodes, which show best what pods have of one."""
    types: dict[str, MachineType] = {}
    for node in nodes:
        name = machine_name(node.labels)
        if name and name not in types and node.status.allocatable:
            types[name] = MachineType(name, node.status.allocatable, machine_labels(node.labels))
    for one in map(_type_of_claim, claims):
        if one is not None:
            types.setdefault(one.name, one)
    for row in rows:
        shown = types.get(row.name, row)
        allocatable, labels = {**shown.allocatable, **row.allocatable}, {**shown.labels, **row.labels}
        types[row.name] = msgspec.structs.replace(row, allocatable=allocatable, labels=labels)
    return types


def _type_of_claim(claim: NodeClaim) -> MachineType | None:
    name = machine_name(claim.metadata.labels or {})
    if not name or not claim.status.allocatable:
        return None
    return MachineType(name, claim.status.allocatable, machine_labels(claim.metadata.labels or {}))


class KarpenterPools:
    """The shapes of NodePools.

    Args:
        nodes: of the cluster.
        types: all that are known.
        rows: those of them that are of a file, by name.
    Attributes:
        notes: what is not known, one sentence each.
        used: the names of the types that some pool allows.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        types: Sequence[MachineType],
        rows: Mapping[str, MachineType],
        places: ZonesOfNodes,
    ) -> None:
        self._nodes: dict[str, list[Node]] = defaultdict(list)
        for node in nodes:
            self._nodes[node.labels.get(_POOL, "")].append(node)
        self._types = types
        self._rows = rows
        self._places = places
        self._unchecked: set[str] = set()
        self.notes: list[str] = []
        self.used: set[str] = set()

    def shapes(self, pools: Iterable[NodePool]) -> Iterator[NodeShape]:
        """The shapes of some pools, those of a higher weight first."""
        for pool in sorted(pools, key=lambda pool: -pool.spec.weight):
            allowed = [machine for machine in self._types if self._allows(pool, machine)]
            self.used |= {machine.name for machine in allowed}
            of_pool = self._nodes[pool.name]
            used = pool.status.resources or _sum(node.status.allocatable or {} for node in of_pool)
            yield from (self._shape(pool, machine, used) for machine in allowed)
            if self._types and not allowed:
                known = count(len(self._types), "type of machine that is known", "types of machines that are known")
                self.notes.append(f"NodePool {pool.name} allows none of the {known}: a file with its types shows more")
        if self._unchecked:
            keys = listed(sorted(self._unchecked))
            self.notes.append(f"requirements of NodePools on {keys} are not checked where no label of a type has them")

    def _allows(self, pool: NodePool, machine: MachineType) -> bool:
        labels = model_of("", machine, {}, ()).labels
        for one in _requirements(pool):
            if one.key in labels and not Requirement(one.key, one.operator, one.values or ()).matches(labels):
                return False
            if not machine.is_open and one.key not in labels and _is_of_machine(one.key):
                self._unchecked.add(one.key)
        return not machine.zones or bool(self._zones(pool, machine))

    def _zones(self, pool: NodePool, machine: MachineType) -> tuple[str, ...]:
        """Where a pool may have a type of machine."""
        rules = [one for one in _requirements(pool) if one.key == ZONE]
        named = [value for one in rules if one.operator == "In" for value in one.values or ()]
        zones = machine.zones or tuple(dict.fromkeys(named)) or self._places.zones
        return tuple(
            zone
            for zone in zones
            if all(Requirement(ZONE, one.operator, one.values or ()).accepts(zone) for one in rules)
        )

    def _shape(self, pool: NodePool, machine: MachineType, used: Quantities) -> NodeShape:
        of_pool = self._nodes[pool.name]
        like = next((node for node in of_pool if machine_name(node.labels) == machine.name), None)
        name, template = f"{pool.name}/{machine.name}".removesuffix("/"), pool.spec.template
        labels = {_POOL: pool.name, **(template.metadata.labels or {})}
        model = model_of(name, machine, labels, template.spec.taints or ()) if like is None else like
        model = as_written(model, self._rows.get(machine.name))
        of_limits = _room(pool.spec.limits or {}, used, len(of_pool), model.status.allocatable or {})
        n_more, limit = fewest(*of_limits, limit_of(machine))
        return NodeShape(
            name,
            f"NodePool {pool.name}",
            model,
            self._zones(pool, machine),
            dict(self._choices(pool, machine)),
            len(of_pool),
            n_more,
            limit,
            machine.price,
            machine=machine.name,
            is_open=machine.is_open,
            note=self._only(pool) if machine.is_open else "",
        )

    def _only(self, pool: NodePool) -> str:
        """The types of machines that a pool lists, where all of them are known; then it has no other one."""
        known = {machine.name for machine in self._types}
        lists = (one.values or () for one in _requirements(pool) if one.key in INSTANCE_TYPES and one.operator == "In")
        return next((f"it allows {listed(names)} alone" for names in lists if known.issuperset(names)), "")

    def _choices(self, pool: NodePool, machine: MachineType) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The labels that requirements leave open; without one, nodes are on demand."""
        rules = [
            one for one in _requirements(pool) if one.key != ZONE and (machine.is_open or not _is_of_machine(one.key))
        ]
        known = model_of("", machine, {}, ()).labels
        for one in rules:
            if one.key not in known and one.operator in ("In", "Exists"):
                values = one.values or ()
                yield one.key, tuple(sorted(values)) if one.key == _CAPACITY else values
        if not any(one.key == _CAPACITY for one in rules):
            yield _CAPACITY, ("on-demand",)
        if machine.is_open and not any(one.key == _ARCH for one in rules):
            yield _ARCH, ("amd64", "arm64")


def claimed_nodes(
    claims: Iterable[NodeClaim], nodes: Iterable[Node], types: Mapping[str, MachineType]
) -> Iterator[NodeShape]:
    """The nodes that Karpenter makes now: NodeClaims without a node."""
    there = {node.name for node in nodes}
    for claim in claims:
        labels = claim.metadata.labels or {}
        machine = _type_of_claim(claim) or types.get(machine_name(labels))
        if claim.status.node_name in there or machine is None:
            continue
        single = {
            one.key: one.values[0] for one in claim.spec.requirements or () if one.values and len(one.values) == 1
        }
        model = model_of(claim.name, machine, single | labels, claim.spec.taints or ())
        yield NodeShape(claim.name, f"NodeClaim {claim.name}", model, n_more=1, limit="it is one node", is_coming=True)


def _requirements(pool: NodePool) -> list[SelectorRequirement]:
    every = pool.spec.template.spec.requirements or ()
    return [
        one for one in every if one.operator in _CHECKED and (one.operator not in _BOUNDS or _bound(one) is not None)
    ]


def _bound(one: SelectorRequirement) -> int | None:
    """The operand of Gt and Lt; None where it is not an integer."""
    return as_int64(one.values[0]) if one.values else None


def _is_of_machine(key: str) -> bool:
    """Whether a label follows from the type of a machine, whatever the pool."""
    return bool(machine_labels({key: ""}))


def _sum(amounts: Iterable[Quantities]) -> Quantities:
    total: dict[str, int] = {}
    for one in amounts:
        for name, amount in one.items():
            total[name] = total.get(name, 0) + parse_quantity(amount)
    return {name: -(-amount // 10**9) for name, amount in total.items()}


def _room(limits: Quantities, used: Quantities, n_now: int, machine: Quantities) -> Iterator[tuple[int, str]]:
    """How many more nodes each limit of a pool allows, and the limit in words."""
    for name, limit in limits.items():
        offered = machine.get(name, 0)
        if name == _COUNTED:
            yield max(int(parse_quantity(limit) // 10**9) - n_now, 0), f"limit {limit} nodes, now {n_now}"
        elif size := parse_quantity(offered):
            left = parse_quantity(limit) - parse_quantity(used.get(name, 0))
            yield max(left // size, 0), f"limit {limit} {name}, now {used.get(name, 0)}"
