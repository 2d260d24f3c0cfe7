"""Remedies for devices: nodes that have one and do not offer it, and names that are written wrongly."""

from collections.abc import Iterator
from functools import partial

import msgspec

from kubesched.api import Container, Node, edited, parse_quantity, whole_units
from kubesched.documents import plural
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, containers_edit, node_edit, node_words
from kubesched.explanation.remedies.short_amounts import DIVISIBLE, at_most
from kubesched.naming import respelt


def stopped_devices(case: Case) -> dict[tuple[str, int, int], list[int]]:
    """(Resource, capacity, allocatable) -> the nodes that have enough of it for the pod and offer too little.

    Rule: Kubernetes: the kubelet keeps the capacity of an extended resource whose device plugin is gone, and makes its
    allocatable 0; of cpu and memory, allocatable is always less.
    """
    wanted, known = case.info.requests.value.wanted, case.findings.get("stopped")
    if known is not None:
        return known
    names = [name for name in case.missing[0] if name not in ("pods", *DIVISIBLE)]
    stopped = case.findings.setdefault("stopped", {})
    for position in range(len(case.nodes)) if names else ():
        node = case.nodes[position]
        for name in names:
            if wanted[name] <= node.allocatable.get(name, 0) or name.encode() not in node.node.raw:
                continue  # to look for the name is quicker than to read the whole node
            capacity = (node.node.document.get("status") or {}).get("capacity") or {}
            has = whole_units(name, parse_quantity(str(capacity.get(name, "0"))))
            if has >= wanted[name]:
                stopped.setdefault((name, has, node.allocatable.get(name, 0)), []).append(position)
    return stopped


def devices(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Repair what offers a device: a node has it and does not offer it."""
    for (name, has, offers), positions in stopped_devices(case).items():
        names = [case.nodes.name(position) for position in positions if where[position]]
        if not names:
            continue
        amounts = f"{at_most(name, has)[0]} (capacity), offers {at_most(name, offers)[0]} (allocatable)"
        verb = "repair the unhealthy device of" if offers else "repair the device plugin of"
        verb = "restart the kubelet, which offers" if name.startswith("hugepages-") else verb
        text = f"{verb} {name}, on {node_words(names)}: {plural(len(names), 'it has', 'they have')} {amounts}"
        offer = partial(offering, name=name, amount=has)
        change = Change(edits=tuple(node_edit(one, offer) for one in names))
        yield Remedy(text, "devicePlugin", True, change, effort=Effort.REPAIR)


def offering(node: Node, name: str, amount: int) -> Node:
    """The node with a device that it does not offer."""
    allocatable = {**(node.status.allocatable or {}), name: str(amount)}
    return edited(node, status=msgspec.structs.replace(node.status, allocatable=allocatable))


def respelt_names(case: Case) -> dict[str, str]:
    """The resources that no node has -> one that some node has. Devices of two vendors have names alike."""
    have = [name for name in case.nodes.columns.resources.values if name is not None and case.largest(name)]
    absent = (name for name in case.missing[0] if name != "pods" and not case.largest(name))
    return {name: near for name in absent if (near := respelt(name, have))}


def misspelt_resources(case: Case) -> Iterator[Remedy]:
    """A resource that no node has, by the name of one that some node has."""
    for name, near in respelt_names(case).items():
        text = f"correct the name of the resource {name} (no node has it) to {near}"
        yield Remedy(
            text, "requests", True, containers_edit(partial(renamed, old=name, new=near)), effort=Effort.CORRECT
        )


def renamed(one: Container, old: str, new: str) -> Container:
    """A container that asks for another resource."""
    if one.resources is None:
        return one
    both = {
        field: {new if name == old else name: amount for name, amount in amounts.items()}
        for field in ("requests", "limits")
        if (amounts := getattr(one.resources, field))
    }
    return msgspec.structs.replace(one, resources=msgspec.structs.replace(one.resources, **both))
