"""Counts again what the columns keep of a node: what its object offers, and what the pods on it hold."""

from collections import Counter

from kubesched.api import BASIC_RESOURCES, is_scalar_resource, parse_quantity, whole_units
from kubesched.state.columns import NodeColumns


def row_differences(columns: NodeColumns, row: int) -> dict[str, tuple[int, int]]:
    """Where the columns of a node are not what its object and the pods on it add up to. Units as in the columns.

    Returns: by what is wrong, such as `requested cpu`: the value in the columns, and the one that was counted again.
        Empty for a row that is free.
    """
    node = columns.nodes[row]
    if node is None:
        return {}
    kept, counted = Counter(_kept(columns, row)), _counted(columns, row)
    return {what: (kept[what], counted[what]) for what in {**kept, **counted} if kept[what] != counted[what]}


def _kept(columns: NodeColumns, row: int) -> dict[str, int]:
    kept = {
        "allowed pods": int(columns.allowed_pods[row]),
        "pods": int(columns.n_pods[row]),
        "unschedulable": int(columns.unschedulable[row]),
        "scored cpu": int(columns.non_zero_requested[0, row]),
        "scored memory": int(columns.non_zero_requested[1, row]),
    }
    for name, offered, held in zip(
        columns.resources.values, columns.allocatable[:, row].tolist(), columns.requested[:, row].tolist(), strict=False
    ):
        if name:
            kept[f"allocatable {name}"] = offered
            kept[f"requested {name}"] = held
    return kept


def _counted(columns: NodeColumns, row: int) -> Counter[str]:
    node, pods = columns.nodes[row], columns.pods[row]
    assert node is not None
    counted = Counter({"pods": len(pods), "unschedulable": int(node.unschedulable)})
    for name, text in (node.status.allocatable or {}).items():
        if name == "pods":
            counted["allowed pods"] = whole_units(name, parse_quantity(text))
        elif name in BASIC_RESOURCES or is_scalar_resource(name):
            counted[f"allocatable {name}"] = whole_units(name, parse_quantity(text))
    for info in pods:
        requests = info.requests.value
        for name, amount in requests.held.items():
            counted[f"requested {name}"] += amount
        counted["scored cpu"] += requests.held_non_zero.get("cpu", 0)
        counted["scored memory"] += requests.held_non_zero.get("memory", 0)
    return Counter({what: _wrapped(amount) for what, amount in counted.items()})


def _wrapped(amount: int) -> int:
    """What an int64 keeps of a sum."""
    return (amount + 2**63) % 2**64 - 2**63
