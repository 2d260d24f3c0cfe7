"""One run of the paper's experiment: pods arrive one after another, nothing departs, and the cluster is measured.

Pods of a list arrive in random order. When the list is over, further ones are drawn from it, until the GPUs that all of
them want are 130 percent of the cluster's. Each goes to the node with the highest score of one policy, or is given up.
Nodes with the same score are taken in an order that is drawn once for each run. That this is the authors' order is
inferred: their nodes have random numbers, and the published figures are reached with it, and not with random ties.
"""

import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import count
from random import Random

import msgspec
import numpy as np
import policies
from fragmentation import Workload, class_of, most_popular
from gpu_share import GpuRows, GpuShare
from msgspec.structs import replace

from kubesched import (
    CycleState,
    Diagnosis,
    EventRegistration,
    Nodes,
    Plugin,
    PluginArgs,
    Pod,
    Simulator,
    Status,
    TieBreak,
    Trace,
)
from kubesched.framework import Decision
from kubesched.traces import GPU_SHARE

POLICIES = ("Random", "DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD")
LOAD = 1.3
LOADS = (90, 100, 130)

PROFILE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - plugins:
      multiPoint:
        disabled: [{name: "*"}]
        enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: NothingDeparts}, {name: %s}]
      preFilter: {enabled: [{name: NodeAffinity}, {name: NodeResourcesFit}]}
      filter: {enabled: [{name: NodeAffinity}, {name: NodeResourcesFit}]}
"""


class Figures(msgspec.Struct, frozen=True):
    """The cluster when this load has arrived: the mean over the arrivals that round to it, in percent.

    Attributes:
        gpu_allocation: GPUs that pods hold.
        fragmented_gpus: GPUs that the workload cannot use.
        fragmentation_ratio: the same, of the free GPUs.
    """

    gpu_allocation: float
    fragmented_gpus: float
    fragmentation_ratio: float


def arrivals(pods: Sequence[Pod], total: int, rng: Random, load: float = LOAD) -> Iterator[Pod]:
    """The pods in the order of their arrival, each with a distinct name.

    Args:
        pods: the list.
        total: thousandths of the cluster's GPUs.
    """
    listed, asked = rng.sample(pods, len(pods)), 0
    for number in count():
        pod = listed[number] if number < len(listed) else rng.choice(pods)
        asked += pod.requests.get(GPU_SHARE, 0)
        if asked > load * total:
            return
        name = f"{pod.name}-{number}"
        yield replace(pod, metadata=replace(pod.metadata, name=name, uid=name))


class NothingDeparts(Plugin):
    """Give a pod up at once if one like it fitted nowhere. There is never more room than there was."""

    def __init__(self, args: PluginArgs | None = None) -> None:
        super().__init__(args)
        self.given_up: set[Hashable] = set()

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        return (
            Status.unresolvable("a pod like it fitted nowhere") if kind_of(state) in self.given_up else Status.SUCCESS
        )

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[None, Status]:
        self.given_up.add(kind_of(state))
        return None, Status.unschedulable("nothing departs")

    def events_to_register(self) -> list[EventRegistration]:
        return []


def kind_of(state: CycleState) -> Hashable:
    return state.pod.requests, state.pod.node_choice


class Meter:
    """Follows a run and measures the cluster when one of the loads has arrived."""

    def __init__(self, nodes: Nodes, workload: Workload, total: int, loads: Iterable[int] = LOADS) -> None:
        self.nodes = nodes
        self.workload = workload
        self.total = total
        self.rows = GpuRows()
        self.arrived = 0
        self.fragmented = np.zeros(nodes.n)
        self.changed = set(range(nodes.n))
        self.measured: dict[int, list[tuple[float, float, float]]] = {load: [] for load in loads}

    def arrive(self, decision: Decision) -> None:
        """A pod has been decided."""
        self.arrived += decision.pod.requests.get(GPU_SHARE, 0)
        if decision.chosen is not None:
            self.changed.add(self.nodes.position_of(decision.chosen.node_name))
        load = round(100 * self.arrived / self.total)
        if load in self.measured:
            self.measured[load].append(self.measure())

    def measure(self) -> tuple[float, float, float]:
        """What Figures has, as fractions."""
        changed = np.array(sorted(self.changed), dtype=np.intp)
        self.changed.clear()
        table = self.nodes.select(changed)
        self.fragmented[changed] = self.workload.of_nodes(table, self.rows.room(table))
        free, fragmented = int(self.rows.room(self.nodes).sum()), float(self.fragmented.sum())
        return (self.total - free) / self.total, fragmented / self.total, fragmented / max(free, 1)

    def figures(self) -> dict[int, Figures]:
        return {
            load: Figures(*(100 * np.mean(measured, axis=0)).round(3).tolist())
            for load, measured in self.measured.items()
            if measured
        }


class Run(msgspec.Struct, frozen=True):
    """A run and its result.

    Attributes:
        figures: by arrived load in percent.
        cpu_seconds: for all of it.
    """

    policy: str
    seed: int
    n_pods: int
    n_placed: int
    figures: dict[int, Figures]
    cpu_seconds: float
    tie_break: TieBreak = TieBreak.FIRST


def run(
    trace: Trace,
    policy: str | type[GpuShare],
    seed: int,
    *,
    loads: Iterable[int] = LOADS,
    tie_break: TieBreak = TieBreak.FIRST,
) -> Run:
    """Run a policy once.

    Args:
        trace: nodes and pods, with shares.
        policy: one of POLICIES, or a class like them.
        loads: arrived loads at which the cluster is measured, in percent.
    """
    began, rng = time.process_time(), Random(seed)
    plugin = getattr(policies, policy) if isinstance(policy, str) else policy
    listed = [arrival.pod for arrival in trace.arrivals]
    classes = most_popular(map(class_of, listed))
    total = sum(int(node.status.allocatable[GPU_SHARE]) for node in trace.nodes)
    pods = list(arrivals(listed, total, rng))
    simulator = Simulator(
        [*rng.sample(trace.nodes, len(trace.nodes)), *pods],
        (PROFILE % plugin.name).encode(),
        [plugin, NothingDeparts],
        {plugin.name: {"classes": msgspec.to_builtins(classes)}} if issubclass(plugin, policies.FGD) else {},
        tie_break=tie_break,
        seed=seed,
    )
    meter = Meter(simulator.cluster_state.snapshot().nodes, Workload(classes), total, loads)
    simulator.decisions = meter.arrive
    report = simulator.run()
    n_placed = sum(bool(placement.node) for placement in report.placements)
    return Run(
        plugin.name, seed, len(pods), n_placed, meter.figures(), round(time.process_time() - began, 1), tie_break
    )
