"""Several pods share a GPU, each with a part of its memory, and a pod's part lies on one device.

A node offers `example.com/gpu-mem`, the memory of all its devices, and `example.com/gpu-count`, how many there are, all
alike. kube-scheduler itself sees to it that the sum fits; that one device has the room is for this plugin to say. Which
device a pod got stands in its annotation `example.com/gpu-device`, where the device plugin on the node reads it.

The bind of one pod is under way while the next ones are filtered. So `reserve` takes the device at once and remembers
it until the watch shows the annotation, and `unreserve` gives it back.
"""

from kubesched import CycleState, NodeInfo, Plugin, PluginArgs, Pod, PodInfo, Status

MEMORY = "example.com/gpu-mem"
COUNT = "example.com/gpu-count"
DEVICE = "example.com/gpu-device"


class GpuShare(Plugin):
    """Fill one device before the next: binpacking."""

    def __init__(self, args: PluginArgs | None = None) -> None:
        super().__init__(args)
        self.reserved: dict[str, dict[str, int]] = {}  # node -> uid -> device

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        wanted = memory_of(state.pod)
        if not wanted or self.fullest_device(node, wanted) is not None:
            return Status.SUCCESS
        return Status.unschedulable("node(s) had no GPU with enough free memory")

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        """How full the device would be, in percent."""
        wanted = memory_of(state.pod)
        device = self.fullest_device(node, wanted) if wanted else None
        if device is None:
            return 0
        return (self.used(node)[device] + wanted) * 100 // device_size(node)

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        wanted = memory_of(state.pod)
        if not wanted:
            return Status.SUCCESS
        nodes = self.handle.snapshot().nodes
        position = nodes.position_of(node_name)
        device = None if position is None else self.fullest_device(nodes[position], wanted, but=pod.uid)
        if position is None or device is None:
            return Status.unschedulable(f"the GPU on node {node_name} has been taken meanwhile")
        there = {info.pod.uid for info in nodes[position].pods if DEVICE not in info.pod.annotations}
        kept = {uid: taken for uid, taken in self.reserved.get(node_name, {}).items() if uid in there}
        self.reserved[node_name] = {**kept, pod.uid: device}
        state.binding.annotations[DEVICE] = str(device)
        return Status.SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.reserved.get(node_name, {}).pop(pod.uid, None)
        state.binding.annotations.pop(DEVICE, None)

    def fullest_device(self, node: NodeInfo, wanted: int, but: str = "") -> int | None:
        """The device with the least free memory that is enough; None without one."""
        used = self.used(node, but)
        size = device_size(node)
        fitting = [device for device, amount in enumerate(used) if amount + wanted <= size]
        return max(fitting, key=lambda device: (used[device], -device), default=None)

    def used(self, node: NodeInfo, but: str = "") -> list[int]:
        """Memory that pods have on each device; one pod may be left out, by its uid."""
        used = [0] * node.allocatable.get(COUNT, 0)
        reserved = self.reserved.get(node.name, {})
        for info in node.pods:
            said = info.pod.annotations.get(DEVICE, "")
            device = int(said) if said.isdecimal() else reserved.get(info.pod.uid)
            if device is not None and device < len(used) and info.pod.uid != but:
                used[device] += memory_of(info)
        return used


def memory_of(info: PodInfo) -> int:
    """What a pod asks for, in the unit of the resource."""
    return info.requests.value.wanted.get(MEMORY, 0)


def device_size(node: NodeInfo) -> int:
    """The memory of one device."""
    return node.allocatable.get(MEMORY, 0) // max(node.allocatable.get(COUNT, 0), 1)
