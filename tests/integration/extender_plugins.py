"""Plugins for the extender's integration tests, small enough to say what must happen by looking."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from kubesched import CycleState, NodeInfo, Nodes, Plugin, Pod, PodInfo, PreFilterResult, Reservations, Status


class OddNodes(Plugin):
    """Keeps nodes whose name ends in an odd number."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        if int(node.name.rpartition("-")[2]) % 2:
            return Status.SUCCESS
        return Status.unschedulable("node number is even")


class ZoneB(Plugin):
    """Prefers one zone."""

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return 100 if node.labels.get("topology.kubernetes.io/zone") == "b" else 0


class KeepPrecious(Plugin):
    """Strikes nodes from preemption where a precious pod would have to go."""

    def preempt(
        self, state: CycleState, pod: Pod, victims_by_node: Mapping[str, tuple[PodInfo, ...]]
    ) -> Mapping[str, Any]:
        return {
            name: victims
            for name, victims in victims_by_node.items()
            if not any("precious" in victim.pod.labels for victim in victims)
        }


class OneDevice(Plugin):
    """Each node has one device; the binding says that a pod got it."""

    devices = Reservations("example.com/device", str)

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return Status.unschedulable("the device is taken") if self.devices.held_on(node) else Status.SUCCESS

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        if self.devices.held_on(self.handle.snapshot().node_info(node_name), but=pod):
            return Status.unschedulable("the device is taken")
        self.devices.take(state, f"{node_name}/0")
        return Status.SUCCESS


class PodsByRack(Counter[str]):
    """How many pods each rack has."""


class FourInARack(Plugin):
    """At most four pods on all nodes of a rack together."""

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status | PreFilterResult:
        state.write(PodsByRack(node.labels["rack"] for node in self.handle.snapshot().nodes for _ in node.pods))
        return Status.SUCCESS

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        if state.read(PodsByRack)[node.labels["rack"]] < 4:
            return Status.SUCCESS
        return Status.unschedulable("node(s) were in a full rack")


def script_of(pod: Pod) -> dict[str, Any]:
    """What the pod's annotation asks for."""
    script: dict[str, Any] = json.loads(pod.annotations.get("example.com/script", "{}"))
    return script


class Scripted(Plugin):
    """Says of each node what the pod's script has for it, so that one extender gives every answer there is.

    filter: node name -> fits, unschedulable, unresolvable, error, raises or narrowed. score: node name -> 0..100, or
    null to raise. strike: node names to take out of a preemption, or null to raise.
    """

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status | PreFilterResult:
        verdicts = script_of(pod).get("filter", {})
        if "narrowed" not in verdicts.values():
            return Status.SUCCESS
        return PreFilterResult(frozenset(name for name, verdict in verdicts.items() if verdict != "narrowed"))

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        match script_of(pod).get("filter", {}).get(node.name, "fits"):
            case "unschedulable":
                return Status.unschedulable("not now")
            case "unresolvable":
                return Status.unresolvable("never")
            case "error":
                return Status.error("no list of devices")
            case "raises":
                raise ValueError("no device")
        return Status.SUCCESS

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        score: int = script_of(pod)["score"][node.name]
        return score

    def preempt(
        self, state: CycleState, pod: Pod, victims_by_node: Mapping[str, tuple[PodInfo, ...]]
    ) -> Mapping[str, Any]:
        struck = script_of(pod)["strike"]
        return {name: victims for name, victims in victims_by_node.items() if name not in struck}


class ScriptedBinding(Plugin):
    """Takes part in binding as the pod's script says: `bind` is ok, taken, raises or late."""

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        match script_of(pod).get("bind"):
            case "taken":
                return Status.unschedulable("the device is taken")
            case "raises":
                raise ValueError("no device")
        state.binding.annotations["example.com/device"] = node_name
        return Status.SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        pass

    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        return Status.error("no driver") if script_of(pod).get("bind") == "late" else Status.SUCCESS


class Lonely(Plugin):
    """Keeps nodes without pods."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        if node.pods:
            return Status.unschedulable("somebody is there")
        return Status.SUCCESS


class Sleepy(Plugin):
    """Sleeps for each node as long as the node's label says, and writes down when it begins with a pod."""

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status | PreFilterResult:
        self.handle.logger.info("begins with %s", pod.name)
        return Status.SUCCESS

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        time.sleep(float(node.labels.get("sleep", "0")))
        return Status.SUCCESS
