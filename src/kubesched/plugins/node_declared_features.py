"""NodeDeclaredFeatures: some pod fields need a kubelet that declares to support them.

Rule: kube-scheduler v1.36 NodeDeclaredFeatures (on by default), component-helpers nodedeclaredfeatures: the features
that concern scheduling are RestartAllContainersOnContainerExits and UserNamespacesHostNetworkSupport.
"""

from collections.abc import Hashable, Iterator

import msgspec
import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, Node, Pod
from kubesched.documents import joined
from kubesched.framework import Codes, CycleState, DependsOn, EventRegistration, Plugin, QueueingHint, Status
from kubesched.plugins.shared_hints import by_own, nothing, queue_if, registration
from kubesched.state import NodeInfo, Nodes


class NeededFeatures(msgspec.Struct):
    """The features that the pod needs, at least one."""

    names: tuple[str, ...]


class NodeDeclaredFeatures(Plugin):
    """Hold the features that a pod needs against those that nodes declare."""

    depends_on = DependsOn.NODE
    equal_by = ("kubelet_needs",)
    reasons = (Status.unresolvable("node(s) didn't match Pod's required features"),)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Skips where the pod needs no feature."""
        names = needed_features(pod)
        if not names:
            return Status.SKIP
        state.write(NeededFeatures(names))
        return Status.SUCCESS

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """1 where a feature is missing; each distinct list of features is judged once."""
        needed = frozenset(_needed(state))
        lists = [declared or () for declared in nodes.columns.feature_lists.values]
        lacking = [not needed.issubset(declared) for declared in lists]
        return np.array(lacking, dtype=np.int8)[nodes.feature_ids]

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return _needed(state)

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """What the node does not declare, with the version of its kubelet as far as the node has it."""
        declared, version = node.node.status.declared_features or (), node.node.status.node_info.kubelet_version
        lacking = joined(name for name in _needed(state) if name not in declared)
        kubelet = f"; its kubelet is {version}" if version else ""
        yield f"needs {lacking}, which the node does not declare{kubelet}"

    def events_to_register(self) -> list[EventRegistration]:
        """A node comes or declares other features; the pod comes to need others."""
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE
        return [registration(EventResource.NODE, nodes, _node_hint, nothing), by_own(ActionType.UPDATE, _pod_hint)]


def _needed(state: CycleState) -> tuple[str, ...]:
    missing = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'
    return state.read(NeededFeatures, missing).names


def needed_features(pod: Pod) -> tuple[str, ...]:
    """The features that a pod needs of the kubelet."""
    names: tuple[str, ...] = ("RestartAllContainersOnContainerExits",) if _restarts_all_containers(pod) else ()
    if pod.spec.host_network and pod.spec.host_users is False:
        names += ("UserNamespacesHostNetworkSupport",)
    return names


def _restarts_all_containers(pod: Pod) -> bool:
    for container in (*pod.containers, *pod.init_containers):
        for rule in container.restart_policy_rules or ():
            if rule.action == "RestartAllContainers":
                return True
    return False


def _node_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, Node)
    return queue_if(not isinstance(old, Node) or old.status.declared_features != new.status.declared_features)


def _pod_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(old, Pod)
    assert isinstance(new, Pod)
    return queue_if(new.uid == pod.uid and needed_features(old) != needed_features(new))
