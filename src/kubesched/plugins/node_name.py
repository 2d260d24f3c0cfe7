"""NodeName: a pod that names its node runs nowhere else.

A pending pod names none as a rule, so that the filter's usual answer is that every node will do. Rule: kube-scheduler
v1.36 NodeName.
"""

from collections.abc import Hashable

import numpy as np

from kubesched.api import ActionType, EventResource, Pod
from kubesched.framework import Codes, CycleState, DependsOn, EventRegistration, Plugin, Status
from kubesched.plugins.shared_hints import registration
from kubesched.state import Nodes


class NodeName(Plugin):
    """Hold spec.nodeName against the node's name."""

    depends_on = DependsOn.NODE
    equal_by = ("pod.spec.node_name",)
    reasons = (Status.unresolvable("node(s) didn't match the requested node name"),)

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """1 on every node but the named one."""
        name = pod.spec.node_name
        if not name:
            return np.zeros(len(nodes), dtype=np.int8)
        verdicts = np.ones(len(nodes), dtype=np.int8)
        position = nodes.position_of(name)
        if position is not None:
            verdicts[position] = 0
        return verdicts

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return pod.spec.node_name

    def events_to_register(self) -> list[EventRegistration]:
        """A node comes."""
        return [registration(EventResource.NODE, ActionType.ADD)]
