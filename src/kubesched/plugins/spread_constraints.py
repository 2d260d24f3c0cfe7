"""Which topology spread constraints apply to a pod: its own, or the defaults with a selector deduced from its owners.

Rule: kube-scheduler v1.36 PodTopologySpread. A pod that has constraints never gets defaults. The deduced
selector merges the selectors of the services that select the pod with that of its controller; objects that are not
found are left out.
"""

from collections.abc import Hashable, Iterable
from typing import Final
from weakref import WeakKeyDictionary

import msgspec

from kubesched.api import (
    HOSTNAME,
    ZONE,
    LabelSelector,
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicationController,
    Requirement,
    Selector,
    SelectorRequirement,
    StatefulSet,
    TopologySpreadConstraint,
    parse_selector,
)
from kubesched.engine import BoolVector
from kubesched.plugins.args import PodTopologySpreadArgs
from kubesched.plugins.node_selection import required_node_affinity
from kubesched.plugins.tolerations import without_untolerated_taint
from kubesched.state import CountedGroup, Identity, Nodes, Part, PodInfo, Selection, Snapshot

Policies = tuple[bool, bool]
"""Which nodes count: whether the node affinity of the pod is honoured, and whether taints are."""

Written = tuple[TopologySpreadConstraint, ...]
"""The constraints as a pod defines them."""

DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"

_SYSTEM_DEFAULTS: Final = (
    TopologySpreadConstraint(3, HOSTNAME, SCHEDULE_ANYWAY),
    TopologySpreadConstraint(5, ZONE, SCHEDULE_ANYWAY),
)


class DefaultConstraints:
    """The constraints for pods that have none, sorted by action once.

    Args:
        args: those of the plugin.
    """

    __slots__ = ("by_action",)

    def __init__(self, args: PodTopologySpreadArgs) -> None:
        written = args.default_constraints if args.defaulting_type == "List" else _SYSTEM_DEFAULTS
        self.by_action = {
            action: tuple(c for c in written if c.when_unsatisfiable == action)
            for action in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
        }


class Constraint:
    """One constraint, parsed, with its defaults filled in.

    Attributes:
        max_skew, topology_key, min_domains: as written.
        honors_affinity, honors_taints: which nodes count; `policies` are both.
        selector: which pods count.
        key: names the selector and the namespace, hashable.
        selects: the pods that count: those of the namespace that the selector matches.
        selects_pod: whether it selects the incoming pod itself.
    """

    __slots__ = (
        "honors_affinity",
        "honors_taints",
        "key",
        "max_skew",
        "min_domains",
        "policies",
        "selector",
        "selects",
        "selects_pod",
        "topology_key",
    )

    def __init__(self, written: TopologySpreadConstraint, selector: Selector, key: Hashable, pod: Identity) -> None:
        self.max_skew = written.max_skew
        self.topology_key = written.topology_key
        self.min_domains = 1 if written.min_domains is None else written.min_domains
        self.honors_affinity = (written.node_affinity_policy or "Honor") == "Honor"
        self.honors_taints = (written.node_taints_policy or "Ignore") == "Honor"
        self.policies: Policies = (self.honors_affinity, self.honors_taints)
        self.selector = selector
        self.key = ("spread", pod.namespace, key)
        self.selects = Selection(((frozenset((pod.namespace,)), selector),))
        self.selects_pod = selector.matches(pod.labels)

    def group(self, snapshot: Snapshot) -> CountedGroup:
        """The placed pods that count, without terminating ones."""
        return snapshot.groups.group(self.key, self.selects, includes_terminating=False)

    def counting(self, nodes: Nodes, pod: PodInfo) -> BoolVector | None:
        """(nodes,) whether the node inclusion policies let a node count; None when all do."""
        affinity = required_node_affinity(pod.node_choice) if self.honors_affinity else None
        chosen = affinity.matches(nodes) if affinity is not None else None
        return both(chosen, without_untolerated_taint(nodes, pod.tolerations) if self.honors_taints else None)


def has_all_keys(nodes: Nodes, constraints: Iterable[Constraint]) -> BoolVector | None:
    """(nodes,) whether a node has the topology keys of all constraints; None when all have."""
    has_keys: BoolVector | None = None
    for key in {constraint.topology_key for constraint in constraints}:
        if nodes.label(key).n_labelled < nodes.columns.n_nodes:
            has_key = nodes.codes(key) > 0
            if not has_key.all():
                has_keys = both(has_keys, has_key)
    return has_keys


def both(a: BoolVector | None, b: BoolVector | None) -> BoolVector | None:
    """Where both masks hold; None for everywhere."""
    if a is None or b is None:
        return a if b is None else b
    return a & b


def constraints_of(
    info: PodInfo, action: str, defaults: DefaultConstraints, snapshot: Snapshot
) -> tuple[Constraint, ...]:
    """The constraints with this action that apply to a pod.

    An identity keeps its own ones for as long as there are pods that define them, and the last default ones. These
    serve pods while the services of the namespace and the pods' controllers select the same.

    Raises:
        SelectorError: a selector that does not parse.
    """
    if info.spread.value:
        return _own_constraints(info.identity, info.spread, action)
    if not defaults.by_action[action]:
        return ()
    namespace, compiled = info.pod.metadata.namespace, info.identity.compiled
    controlled = _selector_of(info.pod.metadata.controller, namespace, snapshot)
    source = (snapshot.cluster_state.services.generation(namespace), controlled)
    known = compiled.get((defaults, action))
    if known is None or known[0] != source:
        selector = _deduced_selector(info.pod, controlled, snapshot)
        made = _deduced(defaults.by_action[action], selector, info.identity.value)
        known = compiled[defaults, action] = (source, made)
    applying: tuple[Constraint, ...] = known[1]
    return applying


def _own_constraints(identity: Part[Identity], own: Part[Written], action: str) -> tuple[Constraint, ...]:
    """The constraints with this action that a pod defines."""
    kept: WeakKeyDictionary[Part[Written], tuple[Constraint, ...]] | None = identity.compiled.get(action)
    if kept is None:
        kept = identity.compiled[action] = WeakKeyDictionary()
    made = kept.get(own)
    if made is None:
        wanted = (written for written in own.value if written.when_unsatisfiable == action)
        made = kept[own] = tuple(own_constraint(written, identity.value) for written in wanted)
    return made


def own_constraint(written: TopologySpreadConstraint, pod: Identity) -> Constraint:
    """A constraint of the pod's own, with the pod's values of matchLabelKeys."""
    selector = parse_selector(written.label_selector)
    pairs = tuple((key, pod.labels[key]) for key in written.match_label_keys or () if key in pod.labels)
    if pairs and not selector.nothing:
        same = tuple(Requirement(key, "In", (value,)) for key, value in pairs)
        selector = Selector((*selector.requirements, *same))
    return Constraint(written, selector, (msgspec.json.encode(written.label_selector), pairs), pod)


def _deduced(
    written: Iterable[TopologySpreadConstraint], selector: LabelSelector, pod: Identity
) -> tuple[Constraint, ...]:
    """Default constraints with a deduced selector; none apply where it is empty."""
    parsed, key = parse_selector(selector), msgspec.json.encode(selector)
    return () if parsed.is_empty else tuple(Constraint(default, parsed, key, pod) for default in written)


def _selector_of(
    owner: OwnerReference | None, namespace: str, snapshot: Snapshot
) -> LabelSelector | dict[str, str] | None:
    """What a pod's controller selects; None without one that is known."""
    if owner is None:
        return None
    controller = snapshot.get(owner.kind, namespace, owner.name)
    if isinstance(controller, ReplicaSet | StatefulSet) and owner.api_version == "apps/v1":
        return controller.spec.selector
    if isinstance(controller, ReplicationController) and owner.api_version == "v1":
        return controller.spec.selector
    return None


def _deduced_selector(pod: Pod, controlled: LabelSelector | dict[str, str] | None, snapshot: Snapshot) -> LabelSelector:
    """What the pod's services and its controller select, together."""
    pairs: dict[str, str] = {}
    for selector in snapshot.cluster_state.services.selecting(pod.namespace, pod.labels):
        pairs |= selector
    if isinstance(controlled, dict):
        pairs |= controlled
    if isinstance(controlled, LabelSelector):
        return _with_pairs(controlled, pairs)
    return LabelSelector(match_labels=pairs)


def _with_pairs(selector: LabelSelector, pairs: dict[str, str]) -> LabelSelector:
    """A controller's requirements added to the services' pairs; both hold, also where they contradict each other."""
    expressions = [*(selector.match_expressions or ())]
    for key, value in (selector.match_labels or {}).items():
        if pairs.setdefault(key, value) != value:
            expressions.append(SelectorRequirement(key, "In", (value,)))
    return LabelSelector(match_labels=pairs, match_expressions=tuple(expressions))
