"""The least that a client costs that does what a scheduler writes: each waiting pod is bound, and gets its event.

    python benchmarks/scheduling/bare.py KUBECONFIG PODS NODES

It decides nothing: pods go to the nodes in turn. It lists the pods, watches those that get a node, as a scheduler must,
and keeps 64 connections busy with plain aiohttp. So no scheduler on aiohttp is faster on the same machine.
"""

import asyncio
import json
import ssl
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import yaml

CONNECTIONS = 64
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
LONGEST_LINE = 1 << 24


class Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class Pod(msgspec.Struct):
    metadata: Metadata


class Event(msgspec.Struct):
    type: str
    object: Pod


class Pods(msgspec.Struct):
    metadata: Metadata
    items: list[Pod]


async def main(kubeconfig: str) -> None:
    document, n_pods, n_nodes = yaml.safe_load(kubeconfig), int(sys.argv[2]), int(sys.argv[3])
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    trusted = ssl.create_default_context(cafile=cluster["certificate-authority"])
    trusted.verify_flags &= ~ssl.VERIFY_X509_STRICT
    async with aiohttp.ClientSession(
        cluster["server"],
        connector=aiohttp.TCPConnector(ssl=trusted, limit=0),
        headers={"Authorization": f"Bearer {user['token']}", "Content-Type": "application/json"},
        read_bufsize=LONGEST_LINE,
    ) as session:
        print("schedules pods", flush=True)
        query = {"fieldSelector": "spec.nodeName=", "resourceVersion": "0"}
        async with session.get("/api/v1/pods", params=query) as answer:
            pods = msgspec.json.decode(await answer.read(), type=Pods)
        waiting = iter(enumerate(pods.items))
        async with asyncio.TaskGroup() as group:
            group.create_task(watch(session, pods.metadata.resource_version, n_pods))
            for _ in range(CONNECTIONS):
                group.create_task(write(session, waiting, n_nodes))


async def watch(session: aiohttp.ClientSession, version: str, n_pods: int) -> None:
    """Read every pod once more when it is placed, as a scheduler does."""
    decode = msgspec.json.Decoder(Event).decode
    query = {"watch": "1", "fieldSelector": "spec.nodeName!=", "resourceVersion": version}
    async with session.get("/api/v1/pods", params=query, timeout=aiohttp.ClientTimeout(total=None)) as answer:
        n = 0
        while n < n_pods:
            n += decode(await answer.content.readline()).type == "ADDED"
    await asyncio.sleep(1)  # somebody looks at what this process cost


async def write(session: aiohttp.ClientSession, waiting: Iterator[tuple[int, Pod]], n_nodes: int) -> None:
    for i, document in waiting:
        pod = document.metadata
        target = {"kind": "Node", "name": f"node-{i % n_nodes:05}"}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod.name}, "target": target}
        await post(session, f"/api/v1/namespaces/default/pods/{pod.name}/binding", binding)
        await post(session, EVENTS, event_of(pod, target["name"]))


async def post(session: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> None:
    async with session.post(path, data=json.dumps(body)) as answer:
        if answer.status >= 300:
            sys.exit(f"POST {path}: {answer.status} {await answer.text()}")
        await answer.read()


def event_of(pod: Metadata, node: str) -> dict[str, Any]:
    now = time.time()
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{pod.name}.{int(now * 1e9):x}", "namespace": "default"},
        "eventTime": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(now)),
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-bare",
        "action": "Binding",
        "reason": "Scheduled",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": pod.name, "uid": pod.uid},
        "note": f"Successfully assigned default/{pod.name} to {node}",
        "type": "Normal",
    }


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).read_text()))
