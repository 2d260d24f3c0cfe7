"""What exactly stands in the way on one node: the taint, the label, the missing amount behind a plugin's words.

Plugins judge whole columns and say little; here a single node that somebody looks at is looked at closely.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from kubesched.api import (
    Node,
    NodeSelectorTerm,
    PersistentVolume,
    PersistentVolumeClaim,
    Requirement,
    Selector,
    parse_node_term,
)
from kubesched.errors import SelectorError
from kubesched.explanation.amounts import in_words
from kubesched.explanation.explanation import Explanation
from kubesched.explanation.nearest import Shortage, shortages
from kubesched.framework import Status
from kubesched.plugins import is_tolerated, required_node_affinity
from kubesched.state import Term, host_ports

__all__ = ["Obstacle", "obstacles"]

_ANY_ADDRESS: Final = "0.0.0.0"
_KEEPS_AWAY: Final = ("NoSchedule", "NoExecute")


class Obstacle(msgspec.Struct, frozen=True):
    """One plugin's objection to one node.

    Attributes:
        plugin: who objects.
        status: in its own words.
        details: what is behind them, a phrase for each cause; empty where the words say it all.
    """

    plugin: str
    status: Status
    details: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The details, or the plugin's words where there are none."""
        return "; ".join(self.details or sorted(self.status.reasons))


def obstacles(explanation: Explanation, position: int) -> list[Obstacle]:
    """Everything that keeps the pod from a node, in the order in which filters run; empty for a node that fits."""
    found = []
    for name, said in explanation.by_plugin.items():
        status = said.status_of(position)
        if not status.is_success:
            look = _CLOSER_LOOKS.get(name)
            by_pre_filter = said.pre_filter is not None
            details = () if look is None or by_pre_filter else tuple(look(explanation, position))
            found.append(Obstacle(name, status, details))
    return found


# --- resources ---


def _resources(explanation: Explanation, position: int) -> Iterator[str]:
    asked = explanation.by_plugin["NodeResourcesFit"].status_of(position).reasons
    for shortage in shortages(explanation.info, explanation.nodes, position):
        if shortage.resource == "pods":
            yield f"all {shortage.allocatable} places for pods are taken"
        elif f"Insufficient {shortage.resource}" in asked:
            yield _shortage(shortage)


def _shortage(shortage: Shortage) -> str:
    name = shortage.resource
    wanted, short = in_words(name, shortage.wanted), in_words(name, shortage.short)
    if shortage.allocatable <= 0:
        return f"asks for {wanted} {name}, the node has none"
    room = in_words(name, shortage.allocatable)
    if shortage.wanted > shortage.allocatable:
        return f"asks for {wanted} {name}, the whole node has {room}"
    return f"{name} is short by {short}: asks for {wanted}, {in_words(name, max(shortage.free, 0))} of {room} free"


# --- the node ---


def _cordoned(explanation: Explanation, position: int) -> Iterator[str]:
    yield "the node is cordoned"


def _taints(explanation: Explanation, position: int) -> Iterator[str]:
    for taint in explanation.nodes.node(position).taints:
        if taint.effect in _KEEPS_AWAY and not is_tolerated(taint, explanation.pod.tolerations):
            value = f"={taint.value}" if taint.value else ""
            yield f"taint {taint.key}{value}:{taint.effect} is not tolerated"


def _affinity(explanation: Explanation, position: int) -> Iterator[str]:
    required = required_node_affinity(explanation.info.node_choice)
    if required is None:
        return
    node = explanation.nodes.node(position)
    for pair in required.pairs:
        if not pair.matches(node.labels):
            yield _unmet(pair, node)
    if required.terms is not None and not required.terms.matches_node(node):
        misses = [_misses(term.requirements, term.fields, node) for term in required.terms.terms]
        yield from min(misses, key=len, default=[])


def _misses(requirements: tuple[Requirement, ...], fields: tuple[Requirement, ...], node: Node) -> list[str]:
    found = [_unmet(requirement, node) for requirement in requirements if not requirement.matches(node.labels)]
    return found + [f"the name is not {_wish(field)}" for field in fields if not field.accepts(node.name)]


def _unmet(requirement: Requirement, node: Node) -> str:
    has = node.labels.get(requirement.key)
    return f"label {requirement.key} is {'absent' if has is None else repr(has)}, wanted: {_wish(requirement)}"


def _wish(requirement: Requirement) -> str:
    operator = requirement.operator
    if operator in ("Gt", "Lt"):
        return f"{'more' if operator == 'Gt' else 'less'} than {requirement.bound}"
    if operator in ("Exists", "DoesNotExist"):
        return "any value" if operator == "Exists" else "absent"
    values = " or ".join(repr(value) for value in sorted(requirement.values))
    return values if operator == "In" else f"not {values}"


# --- pods that are there ---


def _ports(explanation: Explanation, position: int) -> Iterator[str]:
    wanted = host_ports(explanation.pod)
    for other in explanation.nodes.pods(position):
        for address, protocol, number in other.ports.value:
            if any(
                (protocol, number) == (p, n) and (address == a or _ANY_ADDRESS in (address, a)) for a, p, n in wanted
            ):
                yield f"host port {number}/{protocol} is held by {other.pod.key}"


def _inter_pod(explanation: Explanation, position: int) -> Iterator[str]:
    terms = explanation.info.terms.value
    said = explanation.by_plugin["InterPodAffinity"].status_of(position).reasons
    labels = explanation.nodes.node(position).labels
    if any("pod affinity rules" in reason for reason in said):
        for term in terms.required_affinity:
            if term.topology_key not in labels:
                yield f"label {term.topology_key} is absent"
            elif not _count(explanation, term, labels[term.topology_key]):
                yield f"there is no pod with {_selector(term.selector)} {_domain(term.topology_key, labels)}"
    elif any("pod anti-affinity rules" in reason and "existing" not in reason for reason in said):
        for term in terms.required_anti_affinity:
            n = _count(explanation, term, labels[term.topology_key]) if term.topology_key in labels else 0
            if n:
                there = "there is a pod" if n == 1 else f"there are {n} pods"
                yield f"{there} with {_selector(term.selector)} {_domain(term.topology_key, labels)}"


def _count(explanation: Explanation, term: Term, value: str) -> int:
    """How many pods a term means in one domain."""
    nodes = explanation.nodes
    codes = nodes.codes(term.topology_key)
    here = (codes == nodes.label(term.topology_key).code(value)).nonzero()[0].tolist()
    namespace_labels = explanation.snapshot.namespace_labels
    return sum(
        term.matches(info.pod.namespace, info.pod.labels, namespace_labels(info.pod.namespace))
        for position in here
        for info in nodes.pods(position)
    )


def _domain(key: str, labels: Mapping[str, str]) -> str:
    short = key.rpartition("/")[2]
    return "on the node" if short == "hostname" else f"in {short} {labels[key]}"


def _selector(selector: Selector) -> str:
    if selector.nothing:
        return "a selector that selects nothing"
    return ", ".join(_condition(r) for r in selector.requirements) or "any labels"


def _condition(requirement: Requirement) -> str:
    values = ",".join(sorted(requirement.values))
    match requirement.operator:
        case "In":
            return f"{requirement.key}={values}" if len(requirement.values) == 1 else f"{requirement.key} in ({values})"
        case "NotIn":
            return f"{requirement.key} not in ({values})"
        case "Exists":
            return requirement.key
        case _:
            return f"no {requirement.key}"


def _spread(explanation: Explanation, position: int) -> Iterator[str]:
    labels = explanation.nodes.node(position).labels
    for constraint in explanation.pod.spec.topology_spread_constraints or ():
        if constraint.when_unsatisfiable != "DoNotSchedule":
            continue
        if constraint.topology_key not in labels:
            yield f"label {constraint.topology_key} is absent"
        else:
            where = _domain(constraint.topology_key, labels)
            yield f"one more such pod {where} would exceed maxSkew {constraint.max_skew}"


# --- volumes ---


def _volumes(explanation: Explanation, position: int) -> Iterator[str]:
    node = explanation.nodes.node(position)
    for claim, volume in _bound_volumes(explanation):
        affinity = volume.spec.node_affinity
        terms = (affinity.required.node_selector_terms if affinity and affinity.required else None) or ()
        misses = [missed for term in terms if (missed := _term_misses(term, node)) is not None]
        if misses and all(misses):
            fewest = min(misses, key=len)
            yield f"volume {volume.name} of claim {claim}: {', '.join(fewest)}"


def _term_misses(term: NodeSelectorTerm, node: Node) -> list[str] | None:
    try:
        parsed = parse_node_term(term)
    except SelectorError:
        return None
    return _misses(parsed.requirements, parsed.fields, node)


def _volume_zones(explanation: Explanation, position: int) -> Iterator[str]:
    node = explanation.nodes.node(position)
    for claim, volume in _bound_volumes(explanation):
        for key, value in volume.labels.items():
            if key.endswith(("/zone", "/region")) and node.labels.get(key) not in value.split("__"):
                has = node.labels.get(key, "absent")
                yield f"volume {volume.name} of claim {claim} is in {key.rpartition('/')[2]} {value}, the node in {has}"


def _bound_volumes(explanation: Explanation) -> Iterator[tuple[str, PersistentVolume]]:
    for volume in explanation.pod.volumes:
        name = f"{explanation.pod.name}-{volume.name}" if volume.ephemeral is not None else ""
        if volume.persistent_volume_claim is not None:
            name = volume.persistent_volume_claim.claim_name
        claim = explanation.snapshot.get("PersistentVolumeClaim", name, explanation.pod.namespace) if name else None
        if isinstance(claim, PersistentVolumeClaim) and claim.spec.volume_name:
            bound = explanation.snapshot.get("PersistentVolume", claim.spec.volume_name)
            if isinstance(bound, PersistentVolume):
                yield name, bound


_CLOSER_LOOKS: Final[dict[str, Callable[[Explanation, int], Iterator[str]]]] = {
    "InterPodAffinity": _inter_pod,
    "NodeAffinity": _affinity,
    "NodePorts": _ports,
    "NodeResourcesFit": _resources,
    "NodeUnschedulable": _cordoned,
    "PodTopologySpread": _spread,
    "TaintToleration": _taints,
    "VolumeBinding": _volumes,
    "VolumeZone": _volume_zones,
}
