"""Prefer nodes that are really idle, by the measurements of metrics-server instead of the pods' requests.

The figures come from a file with a NodeMetricsList, as `kubectl get nodes.metrics.k8s.io -o json` writes it. `start`
reads it and, if an event loop is running, creates a task that reads it again every `refresh_seconds`. Without an event
loop the file is read once. This file has the score twice, node by node and over columns.
"""

import asyncio
from collections.abc import Hashable
from pathlib import Path

import msgspec
import numpy as np

from kubesched import (
    CPU,
    MEMORY,
    CycleState,
    DependsOn,
    FieldError,
    Handle,
    IntVector,
    NodeInfo,
    Nodes,
    Plugin,
    PluginArgs,
    Pod,
    bytes_of,
    child,
    cpu_millis,
)


class Metadata(msgspec.Struct):
    name: str


class Usage(msgspec.Struct):
    cpu: str
    memory: str


class NodeMetrics(msgspec.Struct):
    metadata: Metadata
    usage: Usage


class NodeMetricsList(msgspec.Struct):
    items: list[NodeMetrics]


class Figures:
    """One reading of the file: node -> (milli-CPU, bytes) in use."""

    def __init__(self, path: str, number: int) -> None:
        found = msgspec.json.decode(Path(path).read_bytes(), type=NodeMetricsList)
        self.number = number
        self.used = {item.metadata.name: amounts_of(item.usage) for item in found.items}


def amounts_of(usage: Usage) -> tuple[int, int]:
    return cpu_millis(usage.cpu), bytes_of(usage.memory)


class FromFile(Plugin):
    """The common parts of both forms of the plugin: the arguments, the file, and when it is read."""

    class Args(PluginArgs):
        path: str = ""
        refresh_seconds: float = 30.0

        def validate(self, path: str) -> list[FieldError]:
            found = []
            if not self.path:
                found.append(FieldError.required(child(path, "path"), "the file with a NodeMetricsList"))
            if self.refresh_seconds <= 0:
                where = child(path, "refreshSeconds")
                found.append(FieldError.invalid(where, self.refresh_seconds, "must be positive"))
            return found

    def start(self, handle: Handle) -> None:
        self.figures = Figures(self.args.path, 1)
        self.refreshing: asyncio.Task[None] | None = None
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # offline
            return
        self.refreshing = loop.create_task(self.refresh())

    async def refresh(self) -> None:
        while True:
            await asyncio.sleep(self.args.refresh_seconds)
            await self.read_again()

    async def read_again(self) -> None:
        """Read the file; if that fails, the last figures stay in use."""
        try:
            self.figures = await asyncio.to_thread(Figures, self.args.path, self.figures.number + 1)
        except (OSError, ValueError) as error:
            self.handle.logger.warning("%s: %s: %s", self.name, self.args.path, error)

    def stop(self) -> None:
        if self.refreshing is not None:
            self.refreshing.cancel()


class FileUsage(FromFile):
    """Score a node with the percentage of its scarcer resource, CPU or memory, that nothing uses; 0 without figures."""

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        used = self.figures.used.get(node.name)
        if used is None:
            return 0
        room = node.allocatable
        return min(free_percentage(used[0], room.get("cpu", 0)), free_percentage(used[1], room.get("memory", 0)))


def free_percentage(used: int, allocatable: int) -> int:
    return max(allocatable - used, 0) * 100 // allocatable if allocatable else 0


class FileUsageByColumn(FromFile):
    """The same score for all nodes at once.

    It depends only on the node object and the figures. So the column is kept under the number of the reading, and
    only nodes that change are scored again until the next reading.
    """

    depends_on = DependsOn.NODE

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return self.figures.number

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        unknown = (-1, -1)
        used = np.array([self.figures.used.get(name, unknown) for name in nodes.names], dtype=np.int64).reshape(-1, 2).T
        room = nodes.allocatable[[CPU, MEMORY]]
        free = np.maximum(room - used, 0) * 100 // np.maximum(room, 1)
        return np.where(used[0] < 0, 0, free.min(axis=0))
