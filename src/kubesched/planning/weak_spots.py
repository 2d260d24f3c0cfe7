"""Finds what a node that goes, or a drain, would interrupt: by where pods run, who replaces them, and their budgets."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from kubesched.admission import idle_constraints
from kubesched.api import (
    Node,
    ObjectMeta,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
    StatefulSet,
    Workload,
)
from kubesched.config import Finding
from kubesched.controllers import (
    Controllers,
    capacity_type_of,
    hangs_because,
    is_cordoned,
    is_of_daemons,
    is_unreachable,
    successor_of,
    way_to_end,
    zones_out,
)
from kubesched.documents import count, joined
from kubesched.engine import BoolVector
from kubesched.planning.blocking_budgets import why_it_blocks, why_several_block
from kubesched.plugins import required_node_affinity, taint_words, untolerated_taints
from kubesched.session import Session
from kubesched.state import Budget, PodInfo

_SERVING: Final = frozenset(("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Rollout"))
"""Kinds whose replicas replace each other."""
_WITH_SELECTOR: Final = ("ReplicaSet", "StatefulSet")
_OF_CLUSTER: Final = "kube-"
"""Of the namespaces whose workloads the makers of a cluster choose."""
_MOST: Final = 2  # of a machine: two such pods are more than it has


def without_successor(session: Session, pods: Iterable[Pod], controllers: Controllers) -> dict[str, str]:
    """`namespace/name` of the pods that no controller would create again -> the reason."""
    successors = ((pod.key, successor_of(pod, session.get, controllers=controllers)) for pod in pods)
    return {key: successor.why for key, successor in successors if successor.is_made is False}


def successorless(workload: Workload, whys: Sequence[str]) -> Iterator[Finding]:
    """What is to be said of such pods; those of Jobs end sooner or later anyway.

    Args:
        whys: the reason for each.
    """
    for why in dict.fromkeys(whys) if workload.kind != "Job" else ():
        does = "own it with a Deployment or a StatefulSet" if workload.kind == "Pod" else "look at its controller"
        yield Finding("not-created-again", "", why, does, about=(str(workload),), n_pods=whys.count(why))


def idle(workload: Workload, pods: Sequence[Pod], every: Sequence[Pod]) -> Iterator[Finding]:
    """The constraints and terms of a workload that have no effect, so that its pods only seem to be spread.

    Args:
        every: all pods of the cluster.
    """
    if workload.kind in _SERVING and not workload.namespace.startswith(_OF_CLUSTER):
        for sentence in idle_constraints(pods[0], (*pods, *every)):
            about = (str(workload),)
            yield Finding("idle-constraint", "", sentence, "correct its labelSelector", about=about, n_pods=len(pods))


def unwanted_daemons(session: Session, of_nodes: Mapping[Workload, Sequence[Pod]]) -> Iterator[Finding]:
    """The pods of DaemonSets on nodes that were tainted after they came.

    Rule: kube-controller-manager v1.36 DaemonSet controller: a NoSchedule taint that a pod does not tolerate leaves it
    running, and no pod is created there again.

    Args:
        of_nodes: the pods that belong to their nodes, static ones among them.
    """
    for workload, pods in sorted(of_nodes.items()):
        if workload.kind != "DaemonSet":
            continue  # the kubelet of a node creates static pods, whatever taints it has
        taints: Counter[str] = Counter()
        for pod in pods:
            node = session.get("Node", pod.node_name)
            kept_away = untolerated_taints(node.taints, pod.tolerations) if isinstance(node, Node) else []
            taints.update(taint_words(taint) for taint in kept_away[:1] if not is_of_daemons(taint))
        for words, n in sorted(taints.items()):
            message = f"re-created, it would have no place: its node got the taint {words}"
            advice, about = f"tolerate {words}", (str(workload),)
            yield Finding("cannot-come-back", "", message, advice, about=about, n_pods=n)


def blocking_budgets(session: Session, pods: Iterable[Pod], every: Sequence[Pod]) -> Iterator[Finding]:
    """The budgets that select some running pods and allow no eviction.

    Args:
        every: all pods of the cluster that have not ended, those that wait for a node among them.
    """
    allowance = session.allowance()
    n_selected = Counter(key for pod in pods for key in allowance.selecting(pod))
    for key, n in n_selected.items():
        budget = session.get("PodDisruptionBudget", key)
        if allowance.left[key] <= 0 and isinstance(budget, PodDisruptionBudget):
            why, fix = why_it_blocks(budget, (pod for pod in every if pod.namespace == budget.namespace))
            message, about = why or "its status allows no disruption", (f"PodDisruptionBudget {key}",)
            yield Finding("budget-allows-nothing", "", message, fix, about=about, n_pods=n)


def jobs_on_spot(session: Session, workload: Workload, pods: Iterable[Pod], known: Controllers) -> Iterator[Finding]:
    """The pods of a Job on spot nodes, where the Job fails once the provider takes such a node back."""
    whys: list[str] = []
    for pod in pods if workload.kind == "Job" else ():
        node, successor = session.get("Node", pod.node_name), successor_of(pod, session.get, controllers=known)
        if successor.ends_job and isinstance(node, Node) and capacity_type_of(node.labels) == "spot":
            whys.append(successor.why)
    if whys:
        message = f"it runs on spot nodes, and may not start over: {whys[0]}"
        advice = "give it retries (backoffLimit), or keep it off spot nodes"
        yield Finding("job-on-spot", "", message, advice, about=(str(workload),), n_pods=len(whys))


def idle_budgets(session: Session, looked_at: Container[str] | None, every: Iterable[Pod]) -> Iterator[Finding]:
    """The budgets that select no pod, so that they protect nothing; those of workloads without replicas may wait.

    Args:
        looked_at: `namespace/name` of the pods that are looked at; None for all. A budget of their namespace counts
            where it has no other pod.
        every: as for `blocking_budgets`.
    """
    pods: dict[str, list[Pod]] = {}
    for pod in every:
        pods.setdefault(pod.namespace, []).append(pod)
    sets = [one for kind in _WITH_SELECTOR for one in session.of(kind) if isinstance(one, ReplicaSet | StatefulSet)]
    for one in sets:
        labels = one.spec.selector.match_labels if one.spec.selector is not None else None
        meant = Pod(metadata=ObjectMeta(name=one.name, namespace=one.namespace, labels=labels))
        if not one.replicas:
            pods.setdefault(one.namespace, []).append(meant)
    for budget in session.of("PodDisruptionBudget"):
        if not isinstance(budget, PodDisruptionBudget):
            continue
        there = pods.get(budget.namespace, [])
        is_asked = looked_at is None or (there and all(pod.key in looked_at for pod in there))
        if is_asked and not any(map(Budget(budget).selects, there)):
            message = f"it selects no pod of namespace {budget.namespace}, so it protects nothing"
            about, advice = (f"PodDisruptionBudget {budget.key}",), "correct its selector, or delete it"
            yield Finding("idle-budget", "", message, advice, about=about)


def shared_budgets(session: Session, workload: Workload, pods: Iterable[Pod]) -> Iterator[Finding]:
    """The budgets that select running pods of a workload together."""
    allowance = session.allowance()
    shared = Counter(keys for pod in pods if len(keys := tuple(allowance.selecting(pod))) > 1)
    for keys, n in shared.items():
        why, fix = why_several_block(keys)
        yield Finding("several-budgets", "", f"budgets {joined(keys)}: {why}", fix, about=(str(workload),), n_pods=n)


def lost_zones(session: Session, pods: Iterable[Pod]) -> Iterator[Finding]:
    """The zones that are out, with the running pods that are there."""
    nodes = [node for node in session.of("Node") if isinstance(node, Node)]
    zones = {node.name: node.zone for node in nodes}
    n_pods = Counter(zones.get(pod.node_name) for pod in pods)
    for zone, n in zones_out(nodes).items():
        message = f"zone {zone} is out ({n} of {count(n, 'node')})"
        yield Finding("zone-out", "", message, "wait until it is back", about=(f"Zone {zone}",), n_pods=n_pods[zone])


def never_ending(session: Session, leaving: Iterable[tuple[Workload, Pod]]) -> Iterator[Finding]:
    """The pods that are being deleted on unreachable nodes, and for which no new ones come."""
    for workload, pod in leaving:
        node = session.get("Node", pod.node_name)
        is_silent = isinstance(node, Node) and is_unreachable(node)
        if is_silent and (why := hangs_because(pod, session.get)):
            yield Finding(
                "never-ends", "", f"{pod.name}: {why}", way_to_end(pod.node_name), about=(str(workload),), n_pods=1
            )


class Places:
    """Where the pods of workloads run, and could run.

    Args:
        session: the cluster.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        every = [node for node in session.of("Node") if isinstance(node, Node)]
        nodes = [node for node in every if not is_cordoned(node) and not is_unreachable(node)]
        self._n_nodes, self._n_usable = len(every), len(nodes)
        self._zones = {node.zone for node in nodes if node.zone and not node.taints}

    def of(self, workload: Workload, pods: Sequence[Pod], n_replicas: int) -> Iterator[Finding]:
        """What is to be said about where the pods of one workload run.

        Args:
            n_replicas: how many pods it has, with those that wait for a node.
        """
        if workload.kind not in _SERVING:
            return
        about, n = (str(workload),), len(pods)
        is_minor = workload.namespace.startswith(_OF_CLUSTER)
        if n == 1:
            if n_replicas == 1 and not is_minor:
                advice = "run a second replica, if the workload can share its work"
                yield Finding("single-replica", "", "it has one replica", advice, about=about, n_pods=1)
            return
        if len({pod.node_name for pod in pods}) == 1:
            if self._n_usable > 1:
                advice = "spread them over hostnames with topologySpreadConstraints"
                yield Finding("one-node", "", "all replicas run on one node", advice, about=about, n_pods=n)
        elif len(self._zones) > 1 and not is_minor and len({self._zone_of(pod) for pod in pods} - {""}) == 1:
            advice = "spread them over zones with topologySpreadConstraints"
            yield Finding("one-zone", "", "all replicas run in one zone", advice, about=about, n_pods=n)

    def _zone_of(self, pod: Pod) -> str:
        node = self._session.get("Node", pod.node_name)
        return node.zone if isinstance(node, Node) else ""

    def confined(self, workload: Workload, pods: Sequence[Pod]) -> Iterator[Finding]:
        """Why pods have a place only on the node that they are on; nothing without another node, or of a Job."""
        if not pods or self._n_nodes == 1 or workload.kind == "Job":
            return
        rule, message, advice = self._confinement(self._session.cluster_state.pod_info(pods[0]))
        yield Finding(rule, "", message, advice, about=(str(workload),), n_pods=len(pods))

    def _confinement(self, info: PodInfo) -> tuple[str, str, str]:
        nodes = self._session.cluster_state.snapshot().nodes
        chosen = required_node_affinity(info.node_choice)
        matching = None if chosen is None else chosen.matches(nodes)
        if matching is not None and matching.sum() == 1:
            message = "no other node has what its node selector or affinity asks for"
            return "selector-pins", message, "select what a second node has, too, or add such a node"
        if any(reach.sum() == 1 for reach in self._reaches(info.pod)):
            message = "no other node reaches its volume"
            return "claim-pins", message, "keep a copy of the data on another node, or use storage that moves"
        if self._is_large(info, matching):
            among = "" if matching is None else " that it selects"
            message = f"it requests more than half of the largest machine{among}, and no other one has the room"
            return "whole-machine", message, "keep a machine free for it, or lower its requests"
        return "no-other-node", "no other node takes it now", "keep room for it on a second node"

    def _reaches(self, pod: Pod) -> Iterator[BoolVector]:
        volumes, nodes = self._session.cluster_state.volumes, self._session.cluster_state.snapshot().nodes
        for name in pod.claim_names:
            claim = self._session.get("PersistentVolumeClaim", f"{pod.namespace}/{name}")
            if isinstance(claim, PersistentVolumeClaim):
                volume = volumes.persistent.find(claim.spec.volume_name)
                if volume is not None:
                    yield volume.reach.rows(nodes)

    def _is_large(self, info: PodInfo, matching: BoolVector | None) -> bool:
        """Whether no node that the pod selects could hold two such pods."""
        nodes = self._session.cluster_state.snapshot().nodes
        offered = nodes.allocatable if matching is None else nodes.allocatable[:, matching]
        rows = ((nodes.columns.resources.find(name), amount) for name, amount in info.wanted.items() if amount)
        return any(_MOST * amount > offered[row].max(initial=0) for row, amount in rows if row is not None)
