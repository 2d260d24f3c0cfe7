"""One scheduling cycle for one pod: PreFilter, Filter, the FitError text, PreScore, Score (kube-scheduler v1.36).

Every node is filtered and every feasible node is scored; sampling, extenders and nominated pods are left out.
"""

from collections import Counter
from dataclasses import dataclass, field

from tests.reference.cluster import Cluster, Node
from tests.reference.framework import Code, Plugin, Status
from tests.reference.profile import Profile


@dataclass
class Filtered:
    """What PreFilter and Filter left. `absent` stands for every node that is neither feasible nor in `statuses`."""

    feasible: list[Node] = field(default_factory=list)
    statuses: dict[str, Status] = field(default_factory=dict)
    absent: Status | None = None
    rejected: Status | None = None  # PreFilter's verdict on the pod
    plugins: list[Plugin] = field(default_factory=list)  # the filters that were not skipped, with their state


@dataclass
class Scored:
    """Weighted scores, plugin -> node -> int. A plugin that asked to be skipped has none."""

    by_plugin: dict[str, dict[str, int]]
    total: dict[str, int]


def filter_nodes(profile: Profile, plugins: dict[str, Plugin], pod: dict, cluster: Cluster) -> Filtered:
    skipped, names, narrowing = set(), None, []
    rejected: Status | None = None
    for name in profile.points["preFilter"]:
        answer = plugins[name].pre_filter(pod, cluster)
        if answer.status:
            rejected = answer.status
            if rejected.code != Code.UNSCHEDULABLE:
                break
        if answer.skip:
            skipped.add(name)
        if answer.nodes is not None:
            narrowing.append(name)
            names = answer.nodes if names is None else names & answer.nodes
            if not names:
                rejected = Status(Code.UNRESOLVABLE, (narrowed_away(narrowing),))
                break
    if rejected:
        return Filtered(absent=rejected, rejected=rejected)
    result = Filtered(plugins=[as_filter(profile, plugins[n]) for n in profile.points["filter"] if n not in skipped])
    if names is not None:
        result.absent = Status(
            Code.UNRESOLVABLE, (f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowing))}]",)
        )
    for node in cluster.nodes:
        if names is None or node.name in names:
            status = first_rejection(result.plugins, pod, node)
            if status:
                result.statuses[node.name] = status
            else:
                result.feasible.append(node)
    return result


# What Filter says of the state that PreFilter would have left, where a configuration switches PreFilter alone off.
NO_STATE = {
    "NodePorts": 'reading "PreFilterNodePorts" from cycleState: not found',
    "NodeResourcesFit": 'error reading "PreFilterNodeResourcesFit" from cycleState: not found',
    "VolumeBinding": "not found",
    "PodTopologySpread": 'reading "PreFilterPodTopologySpread" from cycleState: not found',
    "InterPodAffinity": 'error reading "PreFilterInterPodAffinity" from cycleState: not found',
    "DynamicResources": "not found",
    "NodeDeclaredFeatures": 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found',
}


class WithoutState(Plugin):
    """Stands for a plugin whose PreFilter is switched off and whose Filter needs it."""

    def __init__(self, name: str):
        super().__init__()
        self.name = name

    def filter(self, pod: dict, node: Node) -> Status:
        return Status(Code.ERROR, (f'running "{self.name}" filter plugin: {NO_STATE[self.name]}',), self.name)


def as_filter(profile: Profile, plugin: Plugin) -> Plugin:
    is_missing = plugin.name in NO_STATE and plugin.name not in profile.points["preFilter"]
    return WithoutState(plugin.name) if is_missing else plugin


def narrowed_away(plugins: list[str]) -> str:
    if len(plugins) == 1:
        return f"node(s) didn't satisfy plugin {plugins[0]}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}] simultaneously"


def first_rejection(plugins: list[Plugin], pod: dict, node: Node) -> Status | None:
    """Filters run in order and stop at the first rejection."""
    for plugin in plugins:
        status = plugin.filter(pod, node)
        if status:
            return status
    return None


def fit_error(n_nodes: int, statuses: dict[str, Status], absent: Status | None, rejected: Status | None = None) -> str:
    """Why no node fits; reasons are counted and the counted texts sorted."""
    text = f"0/{n_nodes} nodes are available:"
    if rejected and rejected.message:
        return f"{text} {rejected.message}."
    counts: Counter[str] = Counter()
    for status in statuses.values():
        counts.update(status.reasons)
    missing = n_nodes - len(statuses)
    if absent and missing:
        counts.update(dict.fromkeys(absent.reasons, missing))
    items = ", ".join(sorted(f"{n} {reason}" for reason, n in counts.items()))
    return f"{text} {items}." if items else text


def score_nodes(
    profile: Profile, plugins: dict[str, Plugin], pod: dict, cluster: Cluster, feasible: list[Node]
) -> Scored:
    skipped = {name for name in profile.points["preScore"] if plugins[name].pre_score(pod, cluster, feasible)}
    by_plugin: dict[str, dict[str, int]] = {}
    for name in profile.points["score"]:
        if name not in skipped:
            scores = {node.name: plugins[name].score(pod, node) for node in feasible}
            if hasattr(plugins[name], "normalize"):
                plugins[name].normalize(scores)
            by_plugin[name] = {node: score * profile.weights[name] for node, score in scores.items()}
    total = {node.name: sum(scores[node.name] for scores in by_plugin.values()) for node in feasible}
    return Scored(by_plugin, total)
