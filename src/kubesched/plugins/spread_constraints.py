"""Which topology spread constraints apply to a pod: its own, or the defaults with a selector deduced from its owners.

Rule: kube-scheduler v1.36 PodTopologySpread. A pod with constraints of its own never gets defaults. The deduced
selector merges the selectors of the services that select the pod with that of its controller; objects that are not
found are left out.
"""

from collections.abc import Hashable
from typing import Final

import msgspec

from kubesched.api import (
    LabelSelector,
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicationController,
    Requirement,
    Selector,
    SelectorRequirement,
    Service,
    StatefulSet,
    TopologySpreadConstraint,
    parse_selector,
)
from kubesched.plugins.args import PodTopologySpreadArgs
from kubesched.state import Identity, PodInfo, Snapshot

__all__ = ["DO_NOT_SCHEDULE", "HOSTNAME", "SCHEDULE_ANYWAY", "Constraint", "DefaultConstraints", "constraints_of"]

HOSTNAME: Final = "kubernetes.io/hostname"
DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"

_SYSTEM_DEFAULTS: Final = (
    TopologySpreadConstraint(3, HOSTNAME, SCHEDULE_ANYWAY),
    TopologySpreadConstraint(5, "topology.kubernetes.io/zone", SCHEDULE_ANYWAY),
)


class DefaultConstraints:
    """The constraints for pods that have none of their own, sorted by action once.

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
        honors_affinity, honors_taints: which nodes count.
        selector: which pods count.
        key: names the selector and the namespace, hashable.
        selects_pod: whether it selects the incoming pod itself.
        namespace: only pods of this namespace count.
    """

    __slots__ = (
        "honors_affinity",
        "honors_taints",
        "key",
        "max_skew",
        "min_domains",
        "namespace",
        "selector",
        "selects_pod",
        "topology_key",
    )

    def __init__(self, written: TopologySpreadConstraint, selector: Selector, key: Hashable, pod: Identity) -> None:
        self.max_skew = written.max_skew
        self.topology_key = written.topology_key
        self.min_domains = 1 if written.min_domains is None else written.min_domains
        self.honors_affinity = (written.node_affinity_policy or "Honor") == "Honor"
        self.honors_taints = (written.node_taints_policy or "Ignore") == "Honor"
        self.selector = selector
        self.key = ("spread", pod.namespace, key)
        self.selects_pod = selector.matches(pod.labels)
        self.namespace = pod.namespace

    def selects(self, pod: Identity) -> bool:
        """Whether a pod counts."""
        return pod.namespace == self.namespace and self.selector.matches(pod.labels)


def constraints_of(
    info: PodInfo, action: str, defaults: DefaultConstraints, snapshot: Snapshot
) -> tuple[Constraint, ...]:
    """The constraints with this action that apply to a pod.

    Raises:
        SelectorError: a selector that does not parse.
    """
    own = info.spread
    if not own.value:
        return _defaults(info, action, defaults, snapshot) if defaults.by_action[action] else ()
    key = (info.identity, action)
    known: tuple[Constraint, ...] | None = own.compiled.get(key)
    if known is None:
        identity = info.identity.value
        known = own.compiled[key] = tuple(_own(c, identity) for c in own.value if c.when_unsatisfiable == action)
    return known


def _own(written: TopologySpreadConstraint, pod: Identity) -> Constraint:
    """A constraint of the pod's own, with the pod's values of matchLabelKeys."""
    selector = parse_selector(written.label_selector)
    pairs = tuple((key, pod.labels[key]) for key in written.match_label_keys or () if key in pod.labels)
    if pairs and not selector.nothing:
        same = tuple(Requirement(key, "In", (value,)) for key, value in pairs)
        selector = Selector((*selector.requirements, *same))
    return Constraint(written, selector, (msgspec.json.encode(written.label_selector), pairs), pod)


def _defaults(info: PodInfo, action: str, defaults: DefaultConstraints, snapshot: Snapshot) -> tuple[Constraint, ...]:
    owner = info.pod.metadata.controller
    generation = snapshot.objects.generation_of_others
    compiled = info.identity.compiled
    key = (defaults, action, owner)
    known = compiled.get(key)
    if known is None or known[0] != generation:
        selector = _deduced_selector(info.pod, owner, snapshot)
        parsed = parse_selector(selector)
        constraints: tuple[Constraint, ...] = ()
        if not parsed.is_empty:
            name = msgspec.json.encode(selector)
            wanted = defaults.by_action[action]
            constraints = tuple(Constraint(c, parsed, name, info.identity.value) for c in wanted)
        known = compiled[key] = (generation, constraints)
    found: tuple[Constraint, ...] = known[1]
    return found


def _deduced_selector(pod: Pod, owner: OwnerReference | None, snapshot: Snapshot) -> LabelSelector:
    """What the pod's services and its controller select, together."""
    pairs: dict[str, str] = {}
    for service in snapshot.list("Service", pod.namespace):
        assert isinstance(service, Service)
        selector = service.spec.selector
        if selector and selector.items() <= pod.labels.items():
            pairs |= selector
    found = snapshot.get(owner.kind, owner.name, pod.namespace) if owner is not None else None
    if isinstance(found, ReplicationController) and owner is not None and owner.api_version == "v1":
        pairs |= found.spec.selector or {}
    if isinstance(found, ReplicaSet | StatefulSet) and owner is not None and owner.api_version == "apps/v1":
        return _with_pairs(found.spec.selector, pairs)
    return LabelSelector(match_labels=pairs)


def _with_pairs(selector: LabelSelector | None, pairs: dict[str, str]) -> LabelSelector:
    """A controller's requirements added to the services' pairs; both hold, also where they contradict each other."""
    if selector is None:
        return LabelSelector(match_labels=pairs)
    expressions = [*(selector.match_expressions or ())]
    for key, value in (selector.match_labels or {}).items():
        if pairs.setdefault(key, value) != value:
            expressions.append(_equals(key, value))
    return LabelSelector(match_labels=pairs, match_expressions=tuple(expressions))


def _equals(key: str, value: str) -> SelectorRequirement:
    return SelectorRequirement(key, "In", (value,))
