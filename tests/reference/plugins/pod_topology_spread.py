"""kube-scheduler v1.36 PodTopologySpread."""

import math
from dataclasses import dataclass

from tests.reference import objects
from tests.reference.framework import SKIP, Plugin, PreFilter, Status, divide, round_half_away

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SYSTEM_DEFAULTS = [
    {"maxSkew": 3, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway"},
    {"maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"},
]
MISMATCH = "node(s) didn't match pod topology spread constraints"


@dataclass
class Constraint:
    """One topologySpreadConstraint with its defaults filled in."""

    max_skew: int
    key: str
    selector: dict | None
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False

    def counts_node(self, pod: dict, node) -> bool:
        """Node inclusion policies: does the node take part at all?"""
        return (not self.honor_affinity or objects.required_node_affinity_matches(pod, node.name, node.labels)) and (
            not self.honor_taints or not objects.has_untolerated_taint(pod, node.taints)
        )

    def pods_on(self, node, namespace: str) -> int:
        """Matching pods that are not terminating; an empty selector counts none."""
        if objects.is_empty_selector(self.selector):
            return 0
        return sum(
            objects.namespace_of(p) == namespace and not objects.is_terminating(p) and self.selects(p)
            for p in node.pods
        )

    def selects(self, pod: dict) -> bool:
        return objects.selector_matches(self.selector, objects.labels_of(pod))


@dataclass
class Hard:
    """PreFilter's result: per constraint the number of matching pods per domain."""

    constraints: list[Constraint]
    counts: list[dict[str, int]]


@dataclass
class Soft:
    """PreScore's result; `ignored` names feasible nodes that lack a key."""

    constraints: list[Constraint]
    counts: list[dict[str, int]]
    weights: list[float]
    ignored: set[str]


class PodTopologySpread(Plugin):
    """Keep the numbers of matching pods per topology domain within maxSkew of each other, or prefer nodes that do."""

    name = "PodTopologySpread"

    # --- which constraints apply ---

    def constraints(self, pod: dict, cluster, action: str) -> list[Constraint]:
        own = pod["spec"].get("topologySpreadConstraints")
        if own:
            return [make_constraint(c, own_selector(c, pod)) for c in own if c["whenUnsatisfiable"] == action]
        wanted = [c for c in self.default_constraints if c["whenUnsatisfiable"] == action]
        selector = deduced_selector(pod, cluster) if wanted else {}
        return [] if objects.is_empty_selector(selector) else [make_constraint(c, selector) for c in wanted]

    @property
    def default_constraints(self) -> list[dict]:
        return SYSTEM_DEFAULTS if self.args["defaultingType"] == "System" else self.args["defaultConstraints"]

    # --- filter ---

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        constraints = self.constraints(pod, cluster, "DoNotSchedule")
        if not constraints:
            return SKIP
        self.state = Hard(constraints, [{} for _ in constraints])
        for node in cluster.nodes:
            if has_keys(node, constraints):
                for constraint, count in zip(constraints, self.state.counts, strict=True):
                    if constraint.counts_node(pod, node):
                        value = node.labels[constraint.key]
                        count[value] = count.get(value, 0) + constraint.pods_on(node, objects.namespace_of(pod))
        return PreFilter()

    def add_pod(self, pod: dict, other: dict, node) -> None:
        self.move(pod, other, node, 1)

    def remove_pod(self, pod: dict, other: dict, node) -> None:
        self.move(pod, other, node, -1)

    def move(self, pod: dict, other: dict, node, delta: int) -> None:
        """Here terminating pods and empty selectors do count."""
        if objects.namespace_of(other) != objects.namespace_of(pod) or not has_keys(node, self.state.constraints):
            return
        for constraint, count in zip(self.state.constraints, self.state.counts, strict=True):
            if constraint.selects(other) and constraint.counts_node(pod, node):
                value = node.labels[constraint.key]
                count[value] = count.get(value, 0) + delta

    def filter(self, pod: dict, node) -> Status | None:
        for constraint, count in zip(self.state.constraints, self.state.counts, strict=True):
            if constraint.key not in node.labels:
                return self.unresolvable(f"{MISMATCH} (missing required label)")
            least = min(count.values()) if len(count) >= max(constraint.min_domains, 1) else 0
            mine = count.get(node.labels[constraint.key], 0)
            if mine + constraint.selects(pod) - least > constraint.max_skew:
                return self.unschedulable(MISMATCH)
        return None

    # --- score ---

    def pre_score(self, pod: dict, cluster, feasible: list) -> bool:
        constraints = self.constraints(pod, cluster, "ScheduleAnyway")
        if not constraints or not cluster.nodes:
            return True
        require_all = bool(pod["spec"].get("topologySpreadConstraints")) or self.args["defaultingType"] == "List"
        ignored = {node.name for node in feasible if require_all and not has_keys(node, constraints)}
        scored = [node for node in feasible if node.name not in ignored]
        sizes = [
            len(scored) if c.key == HOST else len({node.labels.get(c.key, "") for node in scored}) for c in constraints
        ]
        counts: list[dict[str, int]] = [{} for _ in constraints]
        for node in cluster.nodes:
            if require_all and not has_keys(node, constraints):
                continue
            for constraint, count in zip(constraints, counts, strict=True):
                if constraint.counts_node(pod, node):
                    value = node.labels.get(constraint.key, "")  # only with System defaults can it be missing
                    count[value] = count.get(value, 0) + constraint.pods_on(node, objects.namespace_of(pod))
        self.scoring = Soft(constraints, counts, [math.log(size + 2) for size in sizes], ignored)
        return False

    def score(self, pod: dict, node) -> int:
        soft, total = self.scoring, 0.0
        if node.name in soft.ignored:
            return 0
        for constraint, count, weight in zip(soft.constraints, soft.counts, soft.weights, strict=True):
            if constraint.key in node.labels:
                here = (
                    constraint.pods_on(node, objects.namespace_of(pod))
                    if constraint.key == HOST
                    else count.get(node.labels[constraint.key], 0)
                )
                total += here * weight + (constraint.max_skew - 1)
        return round_half_away(total)

    def normalize(self, scores: dict[str, int]) -> None:
        counted = [s for name, s in scores.items() if name not in self.scoring.ignored]
        low, high = min(counted, default=0), max([0, *counted])
        for name, score in scores.items():
            if name in self.scoring.ignored:
                scores[name] = 0
            else:
                scores[name] = divide(100 * (high + low - score), high) if high else 100


def make_constraint(c: dict, selector: dict | None) -> Constraint:
    return Constraint(
        c["maxSkew"],
        c["topologyKey"],
        selector,
        c.get("minDomains") or 1,
        (c.get("nodeAffinityPolicy") or "Honor") == "Honor",
        (c.get("nodeTaintsPolicy") or "Ignore") == "Honor",
    )


def own_selector(c: dict, pod: dict) -> dict | None:
    """A pod's own constraint: with the pod's values of matchLabelKeys (those of default constraints are ignored)."""
    labels, selector = objects.labels_of(pod), c.get("labelSelector")
    keys = [key for key in c.get("matchLabelKeys") or () if key in labels]
    if selector is None or not keys:
        return selector
    same = [{"key": key, "operator": "In", "values": [labels[key]]} for key in keys]
    return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *same]}


def deduced_selector(pod: dict, cluster) -> dict:
    """What the pod's services and its controller select, together."""
    namespace, labels = objects.namespace_of(pod), objects.labels_of(pod)
    pairs: dict[str, str] = {}
    for service in cluster.list("Service", namespace):
        selector = service["spec"].get("selector")
        if selector and selector.items() <= labels.items():
            pairs |= selector
    expressions: list[dict] = []
    for owner in pod["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            found = cluster.get(owner["kind"], owner["name"], namespace)
            if found and (owner["apiVersion"], owner["kind"]) == ("v1", "ReplicationController"):
                pairs |= found["spec"].get("selector") or {}
            elif found and owner["apiVersion"] == "apps/v1" and owner["kind"] in ("ReplicaSet", "StatefulSet"):
                selector = found["spec"]["selector"]
                expressions += [
                    {"key": k, "operator": "In", "values": [v]} for k, v in (selector.get("matchLabels") or {}).items()
                ]
                expressions += selector.get("matchExpressions") or ()
            break
    return {"matchLabels": pairs, "matchExpressions": expressions}


def has_keys(node, constraints: list[Constraint]) -> bool:
    return all(c.key in node.labels for c in constraints)
