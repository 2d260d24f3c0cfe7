"""NodePorts: a host port can be held once per node, protocol and address; 0.0.0.0 is every address.

Rule: kube-scheduler v1.36 NodePorts. `::` is an address like any other. Containers of one pod do not conflict with
each other.
"""

from collections.abc import Hashable, Iterator
from typing import Final

import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, Pod
from kubesched.framework import Codes, CycleState, DependsOn, EventRegistration, Plugin, QueueingHint, Status
from kubesched.plugins.shared_hints import is_placed, queue_if, registration
from kubesched.state import NodeInfo, Nodes, Port, host_ports

_ANY: Final = "0.0.0.0"


class WantedPorts:
    """The host ports that a pod wants.

    Attributes:
        ports: as written in the pod.
        addresses: by protocol and number.
    """

    __slots__ = ("addresses", "ports")

    def __init__(self, ports: tuple[Port, ...]) -> None:
        self.ports = ports
        self.addresses: dict[tuple[str, int], set[str]] = {}
        for address, protocol, number in ports:
            self.addresses.setdefault((protocol, number), set()).add(address)

    def clash_with(self, used: Port) -> bool:
        """Whether a port in use conflicts with the wanted ones."""
        wanted = self.addresses.get(used[1:])
        return wanted is not None and (used[0] == _ANY or _ANY in wanted or used[0] in wanted)


class NodePorts(Plugin):
    """Keep pods off nodes where their host ports are taken."""

    depends_on = DependsOn.ROW
    equal_by = ("ports",)
    reasons = (Status.unschedulable("node(s) didn't have free ports for the requested pod ports"),)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Skips where the pod has no host port."""
        ports = state.pod.ports.value
        if not ports:
            return Status.SKIP
        state.write(WantedPorts(ports))
        return Status.SUCCESS

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """1 where a wanted port is taken."""
        wanted = _wanted(state)
        taken = np.zeros(len(nodes), dtype=np.bool_)
        for used in filter(wanted.clash_with, nodes.ports):
            here = nodes.port_used(used)
            if here is not None:
                taken |= here
        return taken.view(np.int8)

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return _wanted(state).ports

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each pod that holds a wanted port."""
        wanted = _wanted(state)
        for other in node.pods:
            for used in filter(wanted.clash_with, other.ports.value):
                yield f"host port {used[2]}/{used[1]} is held by {other.pod.key}"

    def events_to_register(self) -> list[EventRegistration]:
        """A pod with a wanted port goes, or a node comes."""
        return [
            registration(EventResource.POD, ActionType.DELETE, _pod_hint, host_ports),
            registration(EventResource.NODE, ActionType.ADD),
        ]


def _wanted(state: CycleState) -> WantedPorts:
    return state.read(WantedPorts, 'reading "PreFilterNodePorts" from cycleState: not found')


def _pod_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(old, Pod)
    return queue_if(is_placed(old) and any(map(WantedPorts(host_ports(pod)).clash_with, host_ports(old))))
