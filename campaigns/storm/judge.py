"""What must have become of each pod at the end, by its role."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from campaigns.storm.observer import Observer
from campaigns.storm.pods import HELPED

FIT: Final = frozenset({"fitting", "tight", *(f"late-{kind}" for kind in HELPED)})
PLACED: Final = frozenset({"running", "victim", "friend"})  # by others

# What the condition says of the nodes, in the words of kube-scheduler, by role.
NO_CPU, NOT_SELECTED = "Insufficient cpu", "node(s) didn't match Pod's node affinity/selector"
REASONS: Final[Mapping[str, frozenset[str]]] = {
    "cpu": frozenset({NO_CPU}),
    "selector": frozenset({NOT_SELECTED}),
    "affinity": frozenset({"node(s) didn't match pod affinity rules"}),
    "spread": frozenset({"node(s) didn't match pod topology spread constraints (missing required label)"}),
    "preemptor": frozenset({NO_CPU, NOT_SELECTED}),
}
# A full node is rejected for that before its affinity and spreading are looked at.
OF_FULL_NODES: Final = frozenset({NO_CPU, "Too many pods"})
ONE_REASON = re.compile(r"(\d+) (.+)")
HEAD = re.compile(r"0/(\d+) nodes are available: (.*?)\.(?: .*)?")  # before what PostFilter says


def role_of(name: str) -> str:
    """The name of a pod without its number."""
    return name.rpartition("-")[0]


def must_fit(name: str) -> bool:
    """Whether a pod has to be bound in the end."""
    return role_of(name) in FIT


def must_wait(name: str) -> bool:
    """Whether a pod has to be pending in the end."""
    return role_of(name) not in FIT | PLACED


def faults_at_the_end(observer: Observer, created: Iterable[str]) -> list[str]:
    """One line for each pod that is not as it must be at the end.

    Args:
        created: names of the pods that were created to be bound, or helped.
    """
    lines = [f"pod {name} fits and is not bound" for name in created if name not in observer.bound]
    n_nodes = observer.numbers_of_nodes()
    for name, condition in list(observer.conditions.items()):
        fault = _fault(name, condition, observer, n_nodes) if must_wait(name) else ""
        if fault:
            lines.append(f"pod {name} {fault}")
    return lines


def _fault(name: str, condition: Mapping[str, Any], observer: Observer, n_nodes: set[int]) -> str:
    role, reason, message = role_of(name), condition.get("reason"), condition.get("message", "")
    if name in observer.bound:
        return "must wait and is bound"
    if not condition:
        return "has no PodScheduled condition"
    expected = "SchedulingGated" if role == "gated" else "Unschedulable"
    if (condition["status"], reason) != ("False", expected):
        return f"is PodScheduled={condition['status']}, {reason}; expected False, {expected}"
    if role == "gated" or (role == "claim" and _is_of_claim(name, message)):
        return ""
    if role in REASONS and _is_of_nodes(message, REASONS[role], n_nodes):
        return ""
    return f"waits for another reason: {message}"


def _is_of_claim(name: str, message: str) -> bool:
    said = HEAD.fullmatch(message)
    return said is not None and said[2] == f'persistentvolumeclaim "data-{int(name.rpartition("-")[2])}" not found'


def _is_of_nodes(message: str, reasons: frozenset[str], n_nodes: set[int]) -> bool:
    """Whether a message gives these reasons, for as many nodes as there were."""
    said = HEAD.fullmatch(message)
    if said is None or int(said[1]) not in n_nodes:
        return False
    parts = [ONE_REASON.fullmatch(part) for part in said[2].split(", ")]
    counts = {part[2]: int(part[1]) for part in parts if part is not None}
    return reasons <= counts.keys() <= reasons | OF_FULL_NODES and sum(counts.values()) == int(said[1])
