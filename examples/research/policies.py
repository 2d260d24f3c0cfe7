"""The six policies of the paper as plugins: each scores nodes over columns and chooses the GPUs inside a node.

Rule: "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023),
and what its authors published of their experiments: the amounts that scores are relative to, which policy chooses which
GPU_SHARE, and that scores are whole numbers. So nodes are often equal, and the tie-break counts.
"""

from collections.abc import Hashable
from zlib import crc32

import numpy as np
import numpy.typing as npt
from fragmentation import TaskClass, Workload
from gpu_share import MOST, WHOLE, Devices, GpuShare, Room, Wanted

from kubesched import CPU, CycleState, FieldError, IntVector, NodeInfo, Nodes, PluginArgs, Pod, PodInfo, Status, child
from kubesched.traces import GPU_SHARE


class Chosen:
    """The node that a pod was dealt."""

    def __init__(self, node_name: str) -> None:
        self.node_name = node_name


class Random(GpuShare):
    """Any node that fits, and any GPU of it that fits: the paper's Random-fit.

    The node follows from the uid of the pod, so that two calls about a pod have one answer.
    """

    equal_by = None

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        names = sorted(nodes.names)
        state.write(Chosen(names[crc32(pod.uid.encode()) % len(names)]))
        return Status.SUCCESS

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.read(Chosen).node_name

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        scores = np.zeros(nodes.n, dtype=np.int64)
        position = nodes.position_of(state.read(Chosen).node_name)
        if position is not None:
            scores[position] = 100
        return scores

    def choose(self, state: CycleState, node: NodeInfo, room: IntVector) -> Devices:
        wanted = Wanted.by(state.pod)
        fitting = np.flatnonzero(room >= wanted.share).tolist()
        return Devices(self.handle.rng.sample(fitting, min(wanted.n_gpus, len(fitting))))


class LargestNode(PluginArgs):
    """What free amounts are relative to: the largest node of the trace.

    Attributes:
        cpu: its milli-CPU.
        gpu: thousandths of its GPUs.
    """

    cpu: int = 128_000
    gpu: int = 8_000


class BestFit(GpuShare):
    """The node that has the least left: the paper's Best-fit.

    Rule: the weighted sum of what is left after the pod, relative to the largest node, CPU and GPU with weight 1/2.
    """

    Args = LargestNode
    args: LargestNode

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        cpu, gpu = free(self, nodes)
        wanted = state.pod.wanted
        cpu_left, gpu_left = cpu - wanted.get("cpu", 0), gpu - wanted.get(GPU_SHARE, 0)
        return scores_of(1 - (cpu_left / self.args.cpu + gpu_left / self.args.gpu) / 2)


class DotProd(GpuShare):
    """The node whose free amounts are least like what the pod wants: the paper's Dot-product.

    Rule: the smallest dot product of (CPU, GPU) that are free and that the pod wants, both relative to the largest
    node. The GPUs of a node count as one amount.
    """

    Args = LargestNode
    args: LargestNode

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        cpu, gpu = free(self, nodes)
        wanted = state.pod.wanted
        by_cpu = cpu / self.args.cpu * (wanted.get("cpu", 0) / self.args.cpu)
        by_gpu = gpu / self.args.gpu * (wanted.get(GPU_SHARE, 0) / self.args.gpu)
        return scores_of(1 - (by_cpu + by_gpu) / 2)


class GpuPacking(GpuShare):
    """GPUs in use before free GPUs, and nodes in use before free nodes: the paper's GPU-packing.

    Rule: 100 to 90 on a GPU in use, the less room it has the more; 50 less the number of free GPUs that the pod takes
    on a node in use; 33 less the number of GPUs on a node that is free. Pods without GPUs go anywhere.
    """

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        wanted, room = Wanted.by(state.pod), self.rows.room(nodes)
        if not wanted.n_gpus:
            return np.zeros(nodes.n, dtype=np.int64)
        least = np.where(room >= wanted.share, room, WHOLE).min(axis=0)
        on_used_node = np.where(least < WHOLE, 100 - least // 100, max(50 - wanted.n_gpus, 33))
        n_free = (room == WHOLE).sum(axis=0)
        return np.where(n_free == n_gpus_of(nodes), np.maximum(33 - n_free, n_free), on_used_node)


class GpuClustering(GpuShare):
    """Pods together that want GPUs alike: the paper's GPU-clustering, from Gandiva.

    Rule: pods are alike that want a share, or equally many GPUs. 75 on nodes whose pods are all like this one, 50 on
    those that also have others, 25 on those without pods with GPUs, 0 on the others; and up to 25 more, the fuller the
    GPUs of the node are. Pods without GPUs go anywhere.
    """

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        kind = self.kind(state.pod)
        if not kind:
            return np.zeros(nodes.n, dtype=np.int64)
        used = MOST * WHOLE - self.rows.room(nodes).sum(axis=0)
        kinds = [{self.kind(one) for one in nodes.pods(position)} - {0} for position in range(nodes.n)]
        points = [25 if not there else 0 if kind not in there else 75 if len(there) == 1 else 50 for there in kinds]
        return np.array(points, dtype=np.int64) + 25 * used // (MOST * WHOLE)

    @staticmethod
    def kind(pod: PodInfo) -> int:
        """How many GPUs a pod wants; -1 for a share of one."""
        wanted = Wanted.by(pod)
        return wanted.n_gpus if wanted.share == WHOLE else -1


class FGD(GpuShare):
    """The node and the GPU where the fragmentation grows least: the paper's fragmentation gradient descent.

    Rule: 100 * sigmoid(before - after), where a whole GPU is 1, rounded down. A share takes the GPU with the highest
    score, and the first of equals.
    """

    class Args(PluginArgs):
        classes: tuple[TaskClass, ...] = ()

        def validate(self, path: str) -> list[FieldError]:
            if self.classes:
                return []
            return [FieldError.invalid(child(path, "classes"), [], "must have the classes of tasks of the workload")]

    args: Args

    def __init__(self, args: PluginArgs | None = None) -> None:
        super().__init__(args)
        self.workload = Workload(self.args.classes)

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        return self.by_gpu(state, nodes, nodes.allocatable[CPU] - nodes.requested[CPU], self.rows.room(nodes)).max(
            axis=0
        )

    def choose(self, state: CycleState, node: NodeInfo, room: IntVector) -> Devices:
        if Wanted.by(state.pod).share == WHOLE:
            return super().choose(state, node, room)
        nodes = self.handle.snapshot().nodes
        table = nodes.select(np.array([nodes.position_of(node.name)], dtype=np.intp))
        cpu = table.allocatable[CPU] - table.requested[CPU] + state.pod.wanted.get("cpu", 0)
        scores = self.by_gpu(state, table, cpu, room[:, np.newaxis])
        return Devices([int(scores.argmax())]) if scores.any() else Devices()

    def by_gpu(
        self, state: CycleState, nodes: Nodes, cpu: IntVector, room: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """(GPUs, nodes) the score of each GPU that a share fits on, else 0; one row for other pods."""
        wanted, allowed = Wanted.by(state.pod), self.workload.allowed(nodes)
        rooms, cpu_after = rooms_after(room, wanted), cpu - state.pod.wanted.get("cpu", 0)
        before, *after = self.workload.fragmented(
            np.concatenate((cpu, *[cpu_after] * len(rooms))),
            np.concatenate((room, *rooms), axis=1),
            np.tile(allowed, 1 + len(rooms)),
        ).reshape(1 + len(rooms), nodes.n)
        scores = scores_of(1 / (1 + np.exp((np.array(after) - before) / WHOLE)))
        return np.where(room >= wanted.share, scores, 0) if len(rooms) == MOST else scores


def rooms_after(room: Room, wanted: Wanted) -> list[Room]:
    """What is left when a pod has come to each node: on each of the GPUs in turn if it wants a share."""
    if wanted.share < WHOLE:
        return [room - wanted.share * (np.arange(MOST) == device)[:, np.newaxis] for device in range(MOST)]
    is_free = room == WHOLE
    return [np.where(is_free & (is_free.cumsum(axis=0) <= wanted.n_gpus), 0, room)]


def free(plugin: GpuShare, nodes: Nodes) -> tuple[IntVector, IntVector]:
    """(nodes,) free milli-CPU, and free thousandths of GPUs."""
    return nodes.allocatable[CPU] - nodes.requested[CPU], plugin.rows.room(nodes).sum(axis=0)


def n_gpus_of(nodes: Nodes) -> IntVector:
    row = nodes.columns.resources.find(GPU_SHARE)
    return np.zeros(nodes.n, dtype=np.int64) if row is None else nodes.allocatable[row] // WHOLE


def scores_of(values: npt.NDArray[np.float64]) -> IntVector:
    """Whole scores from 0 to 100 of values from 0 to 1, rounded down. What floats lose may not cost a point."""
    return np.clip(np.floor(100 * values + 1e-9), 0, 100).astype(np.int64)
