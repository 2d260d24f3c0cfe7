"""PostFilter: what preemption would do for a pod that fits nowhere (kube-scheduler v1.36).

kube-scheduler starts its search at a random node and takes any of equally good nodes; the reference lists every
outcome that can come of it. Extenders, pods nominated to a node and pods that wait in Permit are left out.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from tests.reference import cycle, objects
from tests.reference.cluster import Cluster, Node
from tests.reference.framework import Code, Plugin, PluginError, Status
from tests.reference.profile import Profile

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = Status(Code.UNRESOLVABLE, ("Preemption is not helpful for scheduling",))
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
NOW = datetime.max.replace(tzinfo=UTC)  # the start of a pod that has none: after all others


@dataclass
class Candidate:
    """A node that would do, with the pods that would have to go, the most important one first."""

    node: str
    victims: list[dict]
    violations: int  # how many of them a disruption budget protects


# --- PostFilter: DynamicResources, then DefaultPreemption ---


def post_filter(profile: Profile, filtered: cycle.Filtered, pod: dict, cluster: Cluster) -> dict:
    """{"preemption": every possible outcome} or {"postFilterMessage": text}."""
    reasons = []
    for plugin in profile.points["postFilter"]:
        if plugin == "DynamicResources":
            if not has_claim_state(profile, filtered):
                return {"postFilterMessage": "not found"}
            reasons.append("no new claims to deallocate")
        elif plugin == "DefaultPreemption":
            try:
                found = preempt(profile.args[plugin], filtered, pod, cluster)
            except PluginError as error:
                return {"postFilterMessage": f"preemption: {error}"}
            if not isinstance(found, str):
                return {"preemption": found}
            reasons.append("preemption: " + found)
    return {"postFilterMessage": ", ".join(reasons)}


def has_claim_state(profile: Profile, filtered: cycle.Filtered) -> bool:
    """Whether DynamicResources' PreFilter ran. Its PostFilter fails on the missing state if another plugin rejected
    the pod before.
    """
    order = profile.points["preFilter"]
    if filtered.rejected is None:
        return "DynamicResources" in order
    before = order[: order.index(filtered.rejected.plugin)] if filtered.rejected.plugin else []
    return "DynamicResources" in before


def preempt(args: dict, filtered: cycle.Filtered, pod: dict, cluster: Cluster) -> list[dict] | str:
    """Every outcome that kube-scheduler may take, or why there is none."""
    reason = why_not_eligible(filtered, pod, cluster)
    if reason:
        return reason
    nodes = [node for node in cluster.nodes if status_of(filtered, node.name).code == Code.UNSCHEDULABLE]
    wanted = min(
        max(len(nodes) * args["minCandidateNodesPercentage"] // 100, args["minCandidateNodesAbsolute"]), len(nodes)
    )
    budgets = cluster.list("PodDisruptionBudget")
    results = {node.name: select_victims(filtered.plugins, pod, node, budgets) for node in nodes}
    candidates = [result for result in results.values() if isinstance(result, Candidate)]
    if candidates:
        return [
            {"node": c.node, "victims": evicted(c)}
            for c in sorted(possible_choices(candidates, wanted), key=lambda c: c.node)
        ]
    errors = list(dict.fromkeys(status.message for status in results.values() if status.code == Code.ERROR))
    if errors:  # in any order
        raise PluginError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return cycle.fit_error(len(cluster.nodes), results, NOT_HELPFUL)


def status_of(filtered: cycle.Filtered, node: str) -> Status:
    return filtered.statuses.get(node) or filtered.absent or NOT_HELPFUL


def why_not_eligible(filtered: cycle.Filtered, pod: dict, cluster: Cluster) -> str | None:
    if pod["spec"].get("preemptionPolicy") == "Never":
        return NEVER
    nominated = (pod.get("status") or {}).get("nominatedNodeName")
    if not nominated or status_of(filtered, nominated).code == Code.UNRESOLVABLE:
        return None
    on_node = [other for node in cluster.nodes if node.name == nominated for other in node.pods]
    if any(objects.priority_of(other) < objects.priority_of(pod) and is_being_preempted(other) for other in on_node):
        return TERMINATING
    return None


def is_being_preempted(pod: dict) -> bool:
    conditions = [c for c in (pod.get("status") or {}).get("conditions") or () if c["type"] == "DisruptionTarget"]
    return (
        objects.is_terminating(pod)
        and bool(conditions)
        and conditions[0]["status"] == "True"
        and conditions[0].get("reason") == "PreemptionByScheduler"
    )


def evicted(candidate: Candidate) -> list[str]:
    """A victim that is already on its way out is not deleted again."""
    return sorted(objects.full_name(v) for v in candidate.victims if not objects.is_terminating(v))


# --- victims on one node ---


class DryRunNode(Node):
    """A copy whose pods come and go. As upstream keeps host ports in a set, a port is free once any of its holders
    is gone.
    """

    def __init__(self, node: Node):
        self.__dict__.update(vars(node))
        self.ports = node.used_ports

    @property
    def used_ports(self) -> set[tuple[str, str, int]]:
        return self.ports

    def add_pod(self, pod: dict) -> None:
        super().add_pod(pod)
        self.ports = self.ports | set(objects.host_ports(pod))

    def remove_pod(self, pod: dict) -> None:
        super().remove_pod(pod)
        self.ports = self.ports - set(objects.host_ports(pod))


def select_victims(filters: list[Plugin], pod: dict, node: Node, budgets: list[dict]) -> Candidate | Status:
    """Take all pods of lower priority away, then put back as many as fit, the most important first."""
    filters, node = [plugin.clone() for plugin in filters], DryRunNode(node)

    def remove(other: dict) -> None:
        node.remove_pod(other)
        for plugin in filters:
            if hasattr(plugin, "remove_pod") and plugin.state is not None:
                plugin.remove_pod(pod, other, node)

    def add(other: dict) -> None:
        node.add_pod(other)
        for plugin in filters:
            if hasattr(plugin, "add_pod") and plugin.state is not None:
                plugin.add_pod(pod, other, node)

    lower = [other for other in node.pods if objects.priority_of(other) < objects.priority_of(pod)]
    if not lower:
        return Status(Code.UNRESOLVABLE, (NO_VICTIMS,))
    for other in lower:
        remove(other)
    status = cycle.first_rejection(filters, pod, node)
    if status:
        return status
    violating, other_victims = split_by_budgets(sort_by_importance(lower), budgets)
    victims, violations = [], 0
    for other in violating + other_victims:
        add(other)
        if cycle.first_rejection(filters, pod, node):
            remove(other)
            victims.append(other)
            violations += any(other is v for v in violating)
    if not victims:
        return Status(Code.ERROR, (f'expected at least one victim pod on node "{node.name}"',))
    return Candidate(node.name, sort_by_importance(victims) if violating and other_victims else victims, violations)


def split_by_budgets(pods: list[dict], budgets: list[dict]) -> tuple[list[dict], list[dict]]:
    """(pods whose eviction some disruption budget does not allow, the others), each in the given order."""
    allowed = [(budget.get("status") or {}).get("disruptionsAllowed") or 0 for budget in budgets]
    violating, rest = [], []
    for pod in pods:
        violated = False
        for i, budget in enumerate(budgets):
            if protects(budget, pod):
                allowed[i] -= 1
                violated |= allowed[i] < 0
        (violating if violated else rest).append(pod)
    return violating, rest


def protects(budget: dict, pod: dict) -> bool:
    """An empty selector, one that does not parse, and a pod without labels do not match; a pod already counted out
    is left alone.
    """
    selector, labels = budget["spec"].get("selector"), objects.labels_of(pod)
    if (
        objects.namespace_of(budget) != objects.namespace_of(pod)
        or not labels
        or objects.is_empty_selector(selector)
        or pod["metadata"]["name"] in ((budget.get("status") or {}).get("disruptedPods") or {})
    ):
        return False
    try:
        return objects.selector_matches(selector, labels)
    except objects.ParseError:
        return False


def sort_by_importance(pods: list[dict]) -> list[dict]:
    """Insertion sort, because the comparison is no order (see below): exact up to 12 pods; above, kube-scheduler's
    order of ties is its sort's own.
    """
    ordered: list[dict] = []
    for pod in pods:
        place = len(ordered)
        while place and is_more_important(pod, ordered[place - 1]):
            place -= 1
        ordered.insert(place, pod)
    return ordered


def is_more_important(a: dict, b: dict) -> bool:
    """Higher priority, then the earlier start. A pod without start has "now", asked for `a` first: of two such pods
    `a` always wins.
    """
    if objects.priority_of(a) != objects.priority_of(b):
        return objects.priority_of(a) > objects.priority_of(b)
    return start_of(a) < start_of(b) or start_of(a) == start_of(b) == NOW


def start_of(pod: dict) -> datetime:
    text = (pod.get("status") or {}).get("startTime")
    return datetime.fromisoformat(text) if text else NOW


# --- the node ---


def possible_choices(candidates: list[Candidate], wanted: int) -> list[Candidate]:
    """The candidates that may be taken. The search begins anywhere, runs in parallel and ends once it has met
    `wanted` candidates, one
    without violations among them if there is any; so a candidate may be taken if that many, itself included, are
    not better.
    """
    enough = min(wanted, len(candidates))
    clean = [c for c in candidates if c.violations == 0]
    return [c for c in clean or candidates if sum(cost(other) >= cost(c) for other in candidates) >= enough]


def cost(candidate: Candidate) -> tuple:
    """Smaller is better; each number counts only among candidates that the numbers before it do not tell apart."""
    priorities = [objects.priority_of(v) for v in candidate.victims]
    first_start = min(start_of(v) for v in candidate.victims if objects.priority_of(v) == max(priorities))
    return (
        candidate.violations,
        priorities[0],
        sum(p + 2**31 for p in priorities),
        len(priorities),
        -first_start.timestamp(),
    )
