"""A plugin with every hook, a name of Go's kind, metrics, events and writes, for the tests of the three ways to run.

Its decision is plain: a pod runs on nodes of its team, on the one with the highest rank. Each hook counts its call.
"""

from collections.abc import Sequence
from typing import Any

from kubesched import (
    Bind,
    CycleState,
    Diagnosis,
    EventRegistration,
    Handle,
    IntVector,
    NodeInfo,
    Nodes,
    Plugin,
    Pod,
    PodInfo,
    QueuedPodInfo,
    Status,
)


class EveryHook(Plugin):
    """Takes part at every extension point."""

    name = "every-hook"
    rbac = ({"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]},)

    def _count(self, hook: str) -> None:
        self.handle.metrics.counter("calls", "Calls of hooks.", labels=("hook",)).add(hook)

    async def start(self, handle: Handle) -> None:
        self._count("start")

    def events_to_register(self) -> list[EventRegistration]:
        return []

    def pre_enqueue(self, pod: Pod) -> Status:
        self._count("pre_enqueue")
        return Status.SUCCESS

    def less(self, a: QueuedPodInfo, b: QueuedPodInfo) -> bool:
        self._count("less")
        return a.pod.name < b.pod.name

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        self._count("pre_filter")
        return Status.SUCCESS

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        self._count("filter")
        if node.labels.get("team") == pod.labels.get("team"):
            return Status.SUCCESS
        self.handle.event(pod, "Normal", "OtherTeam", "Some nodes belong to other teams.")
        return Status.unresolvable("node(s) belonged to another team")

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[None, Status]:
        self._count("post_filter")
        return None, Status.unschedulable("no room is made")

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        self._count("pre_score")
        return Status.SUCCESS

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        self._count("score")
        return int(node.labels["rank"])

    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        self._count("normalize_score")
        return scores * 10

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        self._count("reserve")
        self.handle.event(pod, "Normal", "Reserved", f"{node_name} is reserved.")
        return Status.SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._count("unreserve")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        self._count("permit")
        return Status.unschedulable("permit said no") if pod.labels.get("permit") == "no" else Status.SUCCESS

    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        self._count("pre_bind")
        if self.handle.client:
            path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
            await self.handle.client.patch(path, {"metadata": {"annotations": {"example.com/by": self.name}}})
        return Status.SUCCESS

    async def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        self._count("bind")
        done = await self.handle.perform(Bind(pod, node_name))
        return Status.error(done.error) if done.error else Status.SUCCESS

    async def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._count("post_bind")

    def preempt(
        self, state: CycleState, pod: Pod, victims_by_node: dict[str, Sequence[PodInfo]]
    ) -> dict[str, Sequence[Any]]:
        self._count("preempt")
        return victims_by_node
