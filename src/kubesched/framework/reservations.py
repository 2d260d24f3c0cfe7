"""Records what pods hold on their nodes, such as devices, in an annotation that the binding writes.

The pod itself records what it holds, so there is nothing to give back and nothing to rebuild. The assumed pod has the
annotation from Reserve on, a binding that fails takes the pod off the node again, a pod that has ended is not on its
node any more, and after a restart the watch shows the pods with what they hold.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from kubesched.api import Pod
from kubesched.framework.cycle_state import CycleState
from kubesched.state import NodeInfo, PodInfo

ValueT = TypeVar("ValueT")


class Reservations(Generic[ValueT]):
    """Things that a pod holds on its node for as long as it lives, kept in an annotation of the pod.

    A plugin that defines `bind` has to write `state.binding.annotations` into the Binding.

    Args:
        annotation: the key.
        parse: reads the annotation's value; where it raises ValueError, the pod holds nothing.

    Example:
        devices = Reservations("example.com/device", int)

        def reserve(self, state, pod, node_name):
            node = self.handle.snapshot().node_info(node_name)
            taken = self.devices.held_on(node, but=pod).values()
            free = [device for device in range(4) if device not in taken]
            if not free:
                return Status.unschedulable(f"the devices on node {node_name} are taken")
            self.devices.take(state, free[0])
            return Status.SUCCESS
    """

    __slots__ = ("_parse", "annotation")

    def __init__(self, annotation: str, parse: Callable[[str], ValueT]) -> None:
        self.annotation = annotation
        self._parse = parse

    def held_on(self, node: NodeInfo, *, but: Pod | None = None) -> dict[PodInfo, ValueT]:
        """What each pod on a node holds, pods without the annotation left out.

        Args:
            but: a pod to leave out: in Reserve the incoming one, which is on the node already.
        """
        held: dict[PodInfo, ValueT] = {}
        for info in node.pods:
            written = info.pod.annotations.get(self.annotation)
            if written is None or (but is not None and info.pod.uid == but.uid):
                continue
            try:
                held[info] = self._parse(written)
            except ValueError:
                continue
        return held

    def take(self, state: CycleState, value: ValueT) -> None:
        """Let the incoming pod hold something from now on; `parse` has to read what `str` makes of it."""
        state.binding.annotations[self.annotation] = str(value)
