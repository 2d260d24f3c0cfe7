"""An extender as a process without a cluster: calls, metrics, memory."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from tests.extender.asking import node, pod, with_nodes
from tests.extender.in_loop import run, samples
from tests.integration.extender_process import ExtenderProcess
from tests.serving.running import Conversation

KIB, MIB = 2**10, 2**20
SOME = with_nodes(*(node(f"node-{i}") for i in range(100)))
Start = Callable[..., ExtenderProcess]


async def connect(extender: ExtenderProcess) -> Conversation:
    return Conversation(*await asyncio.open_connection("127.0.0.1", extender.port, limit=2**28))


def ask(extender: ExtenderProcess, body: bytes, *headers: str) -> Any:
    """One filter call; the answer's JSON."""

    async def story() -> Any:
        client = await connect(extender)
        status, _, text = await client.ask("POST", "/filter", body, headers=headers)
        client.writer.close()
        assert status == 200
        return json.loads(text)

    return run(story())


def metrics(extender: ExtenderProcess) -> dict[str, float]:
    return samples(extender.get("/metrics"))


def large(n_nodes: int, padding: int, **pod_annotations: str) -> bytes:
    """Filter arguments with nodes of some size, in Go's form."""
    nodes = [node(f"node-{i}") for i in range(n_nodes)]
    for one in nodes:
        one["metadata"]["annotations"] = {"padding": "x" * padding}
    asked = pod("p")
    asked["metadata"]["annotations"] = pod_annotations
    return with_nodes(*nodes, pod=asked)


def resident(extender: ExtenderProcess) -> float:
    return metrics(extender)["process_resident_memory_bytes"]
