"""Several pods share a GPU. Each pod gets a part of the memory of one device.

A node offers `example.com/gpu-mem`, the memory of all its devices, and `example.com/gpu-count`, the number of devices,
which are all of the same size. kube-scheduler itself checks that the sum fits. This plugin checks that one device has
enough free memory. The annotation `example.com/gpu-device` of the pod names its device; the device plugin on the node
reads it.

The bind of one pod is in flight while the next pods are filtered. So `reserve` takes the device at once. From then on
the pod has the annotation, until it ends or its binding fails.
"""

from kubesched import CycleState, NodeInfo, Plugin, Pod, PodInfo, Reservations, Status

MEMORY = "example.com/gpu-mem"
COUNT = "example.com/gpu-count"
DEVICE = "example.com/gpu-device"


class GpuShare(Plugin):
    """Fill one device before the next: binpacking."""

    devices = Reservations(DEVICE, int)

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
        node = self.handle.snapshot().node_info(node_name)
        device = self.fullest_device(node, wanted, but=pod)
        if device is None:
            return Status.unschedulable(f"the GPU on node {node_name} was taken in the meantime")
        self.devices.take(state, device)
        return Status.SUCCESS

    def fullest_device(self, node: NodeInfo, wanted: int, but: Pod | None = None) -> int | None:
        """The device with the least free memory that is still enough; None if no device has enough."""
        used = self.used(node, but)
        size = device_size(node)
        fitting = [device for device, amount in enumerate(used) if amount + wanted <= size]
        return max(fitting, key=lambda device: (used[device], -device), default=None)

    def used(self, node: NodeInfo, but: Pod | None = None) -> list[int]:
        """The memory that pods use on each device, without the pod `but`."""
        used = [0] * node.allocatable.get(COUNT, 0)
        for info, device in self.devices.held_on(node, but=but).items():
            if 0 <= device < len(used):
                used[device] += memory_of(info)
        return used


def memory_of(info: PodInfo) -> int:
    """The request of a pod, in the unit of the resource."""
    return info.wanted.get(MEMORY, 0)


def device_size(node: NodeInfo) -> int:
    """The memory of one device."""
    return node.allocatable.get(MEMORY, 0) // max(node.allocatable.get(COUNT, 0), 1)
