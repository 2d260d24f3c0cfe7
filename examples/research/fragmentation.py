"""How much of the free GPUs a workload cannot use: the measure of the paper, over columns.

A workload is some classes of tasks, each with its popularity: the part of all tasks that are of this class. For one
class, the free room of a node that cannot run such a task is fragmented. If the node can run one, the room on the GPUs
that have less than the task's share is fragmented. The fragmentation of a node is the expectation over all classes.
A class that wants no GPU can use none of the room.

Rule: "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023),
section 3. As its authors published it: CPU and GPUs count, memory does not, and the workload is the most popular
classes that have 95 percent of the tasks.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from gpu_share import Wanted

from kubesched import CPU, Nodes, Pod
from kubesched.traces import GPU_MODEL, GPU_SHARE, models_asked

Figures = npt.NDArray[np.float64]


class TaskClass(msgspec.Struct, frozen=True, rename="camel"):
    """Tasks that are equal in what they request.

    Attributes:
        cpu: milli-CPU.
        share: thousandths of each GPU.
        n_gpus: how many GPUs.
        models: of GPUs that would do; none for any.
        popularity: the part of all tasks that are of this class.
    """

    cpu: int
    share: int
    n_gpus: int
    models: tuple[str, ...] = ()
    popularity: float = 1.0


def class_of(pod: Pod) -> TaskClass:
    """The class of a pod."""
    requests = pod.requests
    wanted = Wanted.of(requests.get(GPU_SHARE, 0))
    return TaskClass(requests.get("cpu", 0), wanted.share, wanted.n_gpus, models_asked(pod))


def most_popular(tasks: Iterable[TaskClass], part: float = 0.95) -> tuple[TaskClass, ...]:
    """The fewest classes that have this part of the tasks, with popularities that sum up to 1."""
    counts = Counter(tasks)
    chosen: dict[TaskClass, int] = {}
    for one in sorted(counts, key=lambda one: (-counts[one], one.cpu, one.share, one.n_gpus, one.models)):
        if sum(chosen.values()) < part * counts.total():
            chosen[one] = counts[one]
    return tuple(msgspec.structs.replace(one, popularity=n / sum(chosen.values())) for one, n in chosen.items())


class Workload:
    """Measures the fragmentation of nodes for the classes of a workload."""

    def __init__(self, classes: Sequence[TaskClass]) -> None:
        wanting = [one for one in classes if one.n_gpus]
        shares = sorted({one.share for one in wanting})
        self._models = sorted({one.models for one in wanting})
        self._shares = np.array(shares, dtype=np.int64).reshape(-1, 1, 1)
        self._share_of = np.array([shares.index(one.share) for one in wanting], dtype=np.intp)
        self._models_of = np.array([self._models.index(one.models) for one in wanting], dtype=np.intp)
        self._cpu = np.array([[one.cpu] for one in wanting]).reshape(-1, 1)
        self._n_gpus = np.array([[one.n_gpus] for one in wanting]).reshape(-1, 1)
        self._popularity = np.array([[one.popularity] for one in wanting]).reshape(-1, 1)

    def allowed(self, nodes: Nodes) -> npt.NDArray[np.bool_]:
        """(classes, nodes) whether the GPUs of a node are of a model that a task would take."""
        label, codes = nodes.label(GPU_MODEL), nodes.codes(GPU_MODEL)
        allowed = [
            np.isin(codes, [label.code(model) for model in models]) if models else np.ones(nodes.n, dtype=np.bool_)
            for models in self._models
        ]
        return np.array(allowed, dtype=np.bool_).reshape(len(self._models), nodes.n)[self._models_of]

    def of_nodes(self, nodes: Nodes, room: npt.NDArray[np.int64]) -> Figures:
        """(nodes,) the fragmentation of each node, in thousandths of a GPU."""
        return self.fragmented(nodes.allocatable[CPU] - nodes.requested[CPU], room, self.allowed(nodes))

    def fragmented(
        self, cpu: npt.NDArray[np.int64], room: npt.NDArray[np.int64], allowed: npt.NDArray[np.bool_]
    ) -> Figures:
        """The same for any state of nodes.

        Args:
            cpu: (nodes,) free milli-CPU.
            room: (GPUs, nodes) free thousandths of each GPU.
            allowed: (classes, nodes) as `allowed` has it.
        """
        enough = room >= self._shares  # (shares, GPUs, nodes)
        n_fitting, usable = enough.sum(axis=1), (room * enough).sum(axis=1)
        runs = (cpu >= self._cpu) & (n_fitting[self._share_of] >= self._n_gpus) & allowed
        expected = (self._popularity * runs * usable[self._share_of]).sum(axis=0)
        return room.sum(axis=0) - expected
