"""ServiceAffinity: keep the pods of a service on nodes with equal labels; spread them over other labels by score.

Rule: kube-scheduler v1.20 ServiceAffinity, the predicate CheckServiceAffinity and priorities with
`serviceAntiAffinity`. The labels that a pod's nodeSelector leaves open are taken from the node of the first pod that
has all labels of the incoming pod, in the order of the snapshot, if a service selects the incoming pod. A nominated pod
counts as on its node; v1.20 failed there, because such a pod names no node.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping

import msgspec
import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, Node, Pod
from kubesched.engine import BoolVector, FloatVector, IntVector
from kubesched.framework import (
    Codes,
    CycleState,
    DependsOn,
    EventRegistration,
    Plugin,
    PodChanges,
    QueueingHint,
    Status,
)
from kubesched.legacy.plugins.legacy_args import ServiceAffinityArgs
from kubesched.plugins import nothing, queue_if, registration
from kubesched.state import Identity, NodeInfo, Nodes

Labels = dict[str, str]


class ServiceAffinityState(msgspec.Struct, eq=False):
    """What PreFilter found.

    Attributes:
        rows: the rows of the first node with a matching pod and of the second one, as far as they exist.
        wanted: the labels that a node must have: where the first of `rows` decides, where the second does, and where
            none does, which are those that the pod's nodeSelector fixes.
        n_first: matching pods on the first node.
        left: uids of those that left a what-if table.
    """

    rows: list[int]
    wanted: list[Labels]
    n_first: int = 0
    left: frozenset[str] = frozenset()


class ServiceAffinityScoreState(msgspec.Struct, eq=False):
    """The nodes that were scored last, for normalize_score: the plugin has no PreScore."""

    nodes: Nodes


class ServiceAffinity(Plugin):
    """Follow the pods of the service by some labels, avoid them by others."""

    Args = ServiceAffinityArgs
    args: ServiceAffinityArgs
    depends_on = DependsOn.CLUSTER
    reads = ("Service",)
    reasons = (Status.unschedulable("node(s) didn't match service affinity"),)

    # --- filter ---

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Find the nodes whose labels the pod follows."""
        keys = self.args.affinity_labels
        if not keys:
            return Status.SKIP
        selector = pod.spec.node_selector or {}
        selected = {key: selector[key] for key in keys if key in selector}
        rows: list[int] = []
        n_first = 0
        if len(selected) < len(keys) and self._service_selector(pod) is not None:
            snapshot = self.handle.snapshot()
            counts = snapshot.groups.group(*_with_all_labels(state.pod.identity.value)).counts
            order = snapshot.order()
            rows = order[np.flatnonzero(counts[order])[:2]].tolist()
            n_first = int(counts[rows[0]]) if rows else 0
        followed = [_labels(nodes, row) for row in rows]
        wanted = [{key: one[key] for key in keys if key in one} | selected for one in followed]
        state.write(ServiceAffinityState(rows, [*wanted, selected], n_first))
        return Status.SUCCESS

    def add_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        """Changes nothing: pods that come are the last in the list, and a node keeps the labels of the pods on it."""

    def remove_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        """Note which matching pods left the first node. One that returns is the last in the list."""
        affinity = state.find(ServiceAffinityState)
        if affinity is None or not affinity.rows:
            return
        matches = _with_all_labels(state.pod.identity.value)[1]
        here = np.flatnonzero(changes.nodes.all_rows[changes.positions] == affinity.rows[0])
        left = {
            info.pod.uid
            for info in changes.batch.chosen(here).infos
            if info.node_row == affinity.rows[0] and matches(info.identity.value)
        }
        state.write(msgspec.structs.replace(affinity, left=affinity.left | left))

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """1 where a wanted label is missing or has another value."""
        affinity = state.read(ServiceAffinityState, 'reading "PreFilterServiceAffinity" from cycleState: not found')
        rejected = ~_have(nodes, affinity.wanted[0])
        if affinity.rows and len(affinity.left) >= affinity.n_first:  # on this node, the second one decides now
            first = nodes.all_rows == affinity.rows[0]
            rejected[first] = ~_have(nodes, affinity.wanted[1])[first]
        return rejected.view(np.int8)

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each label that differs, and the pods that want it."""
        affinity = state.read(ServiceAffinityState)
        for key, value in affinity.wanted[0].items():
            if node.labels.get(key) != value:
                asks = "the nodeSelector" if key in affinity.wanted[-1] else "the service's first pod"
                has = f"is {node.labels[key]}" if key in node.labels else "is absent"
                yield f"label {key} {has}; {asks} wants {value}"

    # --- score ---

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The number of pods of the pod's first service on each node, terminating ones left out."""
        state.write(ServiceAffinityScoreState(nodes))
        selector = self._service_selector(pod)
        if selector is None:
            return np.zeros(len(nodes), dtype=np.int64)
        service = Identity(pod.namespace, selector)
        group = self.handle.snapshot().groups.group(*_with_all_labels(service), includes_terminating=False)
        return nodes.take(group.counts).copy()

    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        """The mean over the labels: 100 for a value without such pods, 0 for a missing label."""
        nodes = state.read(ServiceAffinityScoreState).nodes
        keys = self.args.anti_affinity_labels_preference
        total = int(scores.sum())
        points: FloatVector = np.zeros(len(nodes))
        for key in keys:
            codes = nodes.codes(key)
            by_value = np.bincount(codes, weights=scores, minlength=len(nodes.label(key).values))
            share = 100.0 * ((total - by_value) / total) if total else np.full(len(by_value), 100.0)
            points += np.where(codes > 0, share[codes] / len(keys), 0.0)
        return points.astype(np.int64)

    def _service_selector(self, pod: Pod) -> Labels | None:
        """The selector of the first service that selects the pod; None without one."""
        return next(iter(self.handle.cluster_state.services.selecting(pod.namespace, pod.labels)), None)

    # --- what may help ---

    def events_to_register(self) -> list[EventRegistration]:
        """Pods with the same labels come, go or change; services change; nodes come or change labels."""
        pods = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
        nodes = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL
        return [
            registration(EventResource.POD, pods, _pod_hint, self._identity),
            registration(EventResource.NODE, nodes, self._node_hint, nothing),
        ]

    def _identity(self, pod: Pod) -> Hashable:
        return self.handle.cluster_state.pod_info(pod).identity

    def _node_hint(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Any node may be the one that is followed, so each change of an affinity label counts."""
        keys = self.args.affinity_labels
        before, after = ([one.labels.get(key) for key in keys] if isinstance(one, Node) else None for one in (old, new))
        return queue_if(before != after)


def _pod_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """The pod is one that is followed, or was, and it is on a node or was."""
    matches = _with_all_labels(Identity(pod.namespace, pod.labels))[1]
    return queue_if(
        any(
            isinstance(one, Pod) and bool(one.node_name) and matches(Identity(one.namespace, one.labels))
            for one in (old, new)
        )
    )


def _with_all_labels(wanted: Identity) -> tuple[Hashable, Callable[[Identity], bool]]:
    """The pods of a namespace that have all of some labels: their group's key, and whether a pod is one."""
    pairs = wanted.labels.items()
    key = ("labels", wanted.namespace, tuple(sorted(pairs)))
    return key, lambda pod: pod.namespace == wanted.namespace and pairs <= pod.labels.items()


def _labels(nodes: Nodes, row: int) -> Mapping[str, str]:
    node = nodes.columns.nodes[row]
    return {} if node is None else node.labels


def _have(nodes: Nodes, wanted: Labels) -> BoolVector:
    """(nodes,) bool: nodes that have all of these labels."""
    have = np.ones(len(nodes), dtype=np.bool_)
    for key, value in wanted.items():
        have &= nodes.codes(key) == nodes.label(key).code(value)
    return have
