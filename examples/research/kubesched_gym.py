"""Placement as an environment of Gymnasium: an agent chooses the node of each pod, and kubesched does the rest.

A pod arrives with each step. The agent sees columns: what is free on each node, what the pod wants, and where it fits.
Its action is the number of a node. The pod goes there, with the filters and the choice of GPUs of a real cycle; it is
given up if it does not fit there. An episode ends after the last pod. The reward is a function of the user.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gpu_share import MOST, WHOLE, GpuShare, Room, Wanted

from kubesched import CPU, MEMORY, CycleState, IntVector, Node, Nodes, Pod, PreFilterResult
from kubesched.session import Session

PROFILE = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - plugins:
      multiPoint:
        disabled: [{name: "*"}]
        enabled:
          - {name: PrioritySort}
          - {name: NodeAffinity}
          - {name: NodeResourcesFit}
          - {name: Agent}
          - {name: DefaultBinder}
"""

Observation = dict[str, np.ndarray]


class Agent(GpuShare):
    """Leaves a pod the node that the agent chose, and no other."""

    node_name: str | None = None

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> PreFilterResult:
        return PreFilterResult(frozenset(nodes.names if self.node_name is None else [self.node_name]))


class Columns(NamedTuple):
    """What is free: (nodes,) milli-CPU and bytes, and (GPUs, nodes) thousandths of each GPU."""

    cpu: IntVector
    memory: IntVector
    room: Room


class Step(NamedTuple):
    """What a step did, for the reward.

    Attributes:
        pod: the pod.
        node_name: where it went; empty if it did not fit there.
        before, after: the cluster.
    """

    pod: Pod
    node_name: str
    before: Columns
    after: Columns


def allocated(step: Step) -> float:
    """The GPUs that the pod got: a reward for what the paper calls the allocation."""
    return float((step.before.room - step.after.room).sum() / WHOLE)


class PlacementEnv(gymnasium.Env[Observation, np.int64]):
    """Pods arrive in random order, and the agent chooses the node of each.

    Args:
        nodes, pods: the cluster, and the pods of an episode.
        reward: of a step.
    """

    metadata = {"render_modes": []}

    def __init__(self, nodes: Sequence[Node], pods: Sequence[Pod], reward: Callable[[Step], float] = allocated) -> None:
        self.nodes, self.pods, self.reward = nodes, pods, reward
        box = gymnasium.spaces.Box
        self.action_space = gymnasium.spaces.Discrete(len(nodes))
        self.observation_space = gymnasium.spaces.Dict(
            {
                "nodes": box(0, 1, (len(nodes), 2 + MOST), np.float32),  # the free part of cpu, memory, each GPU
                "pod": box(0, 1, (4,), np.float32),  # cpu and memory of the largest node, share, GPUs of the most
                "fits": gymnasium.spaces.MultiBinary(len(nodes)),
            }
        )
        self.session: Session | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.close()
        self.session = Session(self.nodes, PROFILE, [Agent])
        (framework,) = self.session.frameworks.values()
        (self.agent,) = (plugin for plugin in framework.profile.plugins if isinstance(plugin, Agent))
        self.coming = [self.pods[number] for number in self.np_random.permutation(len(self.pods))]
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        assert self.session is not None, "reset comes first"
        pod, before = self.coming.pop(0), self._columns()
        self.agent.node_name = self.nodes[int(action)].name
        self.session.change([pod])
        (placement,) = self.session.schedule().placements
        if not placement.node:
            self.session.change(gone=[pod])
        reward = self.reward(Step(pod, placement.node, before, self._columns()))
        return self._observation(), float(reward), not self.coming, False, {"node": placement.node}

    def close(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None

    def _table(self) -> Nodes:
        assert self.session is not None
        return self.session.cluster_state.snapshot().nodes

    def _columns(self) -> Columns:
        nodes = self._table()
        cpu, memory = nodes.allocatable[[CPU, MEMORY]] - nodes.requested[[CPU, MEMORY]]
        return Columns(cpu, memory, self.agent.rows.room(nodes).copy())

    def _observation(self) -> Observation:
        nodes, columns = self._table(), self._columns()
        of_node = nodes.allocatable[[CPU, MEMORY]]
        free = np.vstack((columns.cpu / of_node[0], columns.memory / of_node[1], columns.room / WHOLE))
        wants, fits = np.zeros(4), np.zeros(nodes.n)
        if self.coming:
            pod = self.coming[0]
            wants, fits = self._wants(pod), self._fits(pod)
        return {"nodes": free.T.astype(np.float32), "pod": wants.astype(np.float32), "fits": fits.astype(np.int8)}

    def _wants(self, pod: Pod) -> np.ndarray:
        assert self.session is not None
        info = self.session.cluster_state.pod_info(pod)
        wanted, largest = Wanted.by(info), self._table().allocatable[[CPU, MEMORY]].max(axis=1)
        cpu, memory = (info.wanted.get(name, 0) / most for name, most in zip(("cpu", "memory"), largest, strict=True))
        return np.minimum([cpu, memory, wanted.share * bool(wanted.n_gpus) / WHOLE, wanted.n_gpus / MOST], 1)

    def _fits(self, pod: Pod) -> np.ndarray:
        """(nodes,) whether the pod fits, by the filters of the cycle."""
        assert self.session is not None
        self.agent.node_name = None
        diagnosis = self.session.attempt(pod).diagnosis
        return np.array([diagnosis.status_of(node.name).is_success for node in self.nodes])
