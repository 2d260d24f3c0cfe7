"""Plays the kubelets of all nodes, in a thread: nodes are ready, bound pods run, deleted pods go.

No container is started. A test that looks into a pod, connects to it or reads its log fails.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from tests.integration.api_client import LONGEST_LINE, trusting

Document = dict[str, Any]

BEAT_SECONDS = 10
SECONDS_TO_END = 1  # of a container that gets SIGTERM
MERGE = "application/merge-patch+json"
MERGE_BY_KEY = "application/strategic-merge-patch+json"
HEALTHY = {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}
STARTED = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")


class FakeKubelets:
    """The kubelets of all nodes of one cluster, until `stop`."""

    def __init__(self, url: str, token: str, ca_file: Path) -> None:
        """Start to play them."""
        self._loop = asyncio.new_event_loop()
        self._work = self._loop.create_task(_play(url, token, ca_file))
        self._thread = threading.Thread(target=self._run, name="fake kubelets", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End them."""
        self._loop.call_soon_threadsafe(self._work.cancel)
        self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._work)
        self._loop.run_until_complete(asyncio.sleep(0.1))  # connections over TLS end after their session


async def _play(url: str, token: str, ca_file: Path) -> None:
    connector = aiohttp.TCPConnector(ssl=trusting(ca_file))
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession(url, connector=connector, headers=headers, read_bufsize=LONGEST_LINE) as http,
        asyncio.TaskGroup() as tasks,
    ):
        kubelets = _Kubelets(http, tasks)
        tasks.create_task(kubelets.follow("nodes", kubelets.note_node))
        tasks.create_task(kubelets.follow("pods", kubelets.note_pod))
        tasks.create_task(kubelets.beat())


class _Kubelets:
    def __init__(self, http: aiohttp.ClientSession, tasks: asyncio.TaskGroup) -> None:
        self._http = http
        self._tasks = tasks
        self._numbers = count(1)
        self._addresses: dict[str, str] = {}

    async def follow(self, plural: str, note: Callable[[str, Document], Awaitable[None]]) -> None:
        """Call `note` for each object and each event of a kind, each time in a task."""
        while True:
            with contextlib.suppress(aiohttp.ClientError, TimeoutError, ValueError):
                listed = await self._call("GET", f"/api/v1/{plural}")
                for item in listed["items"]:
                    self._tasks.create_task(note("ADDED", item))
                await self._watch(plural, listed["metadata"]["resourceVersion"], note)
            await asyncio.sleep(0.5)

    async def _watch(self, plural: str, version: str, note: Callable[[str, Document], Awaitable[None]]) -> None:
        params = {"watch": "1", "resourceVersion": version}
        forever = aiohttp.ClientTimeout(total=None)
        async with self._http.get(f"/api/v1/{plural}", params=params, timeout=forever) as answer:
            async for line in answer.content:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return
                self._tasks.create_task(note(event["type"], event["object"]))

    # --- nodes ---

    async def note_node(self, change: str, node: Document) -> None:
        name = node["metadata"]["name"]
        if change == "DELETED":
            self._addresses.pop(name, None)
            return
        if name not in self._addresses:
            self._addresses[name] = f"10.2.0.{next(self._numbers)}"
            await self._report(name, self._addresses[name])
        await self._offer_all(node)

    async def beat(self) -> None:
        """Report every node as healthy, as long as it exists."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            for name, address in list(self._addresses.items()):
                await self._report(name, address)

    async def _offer_all(self, node: Document) -> None:
        """Make a resource that was added to the capacity, or taken from it, so in what pods may request."""
        capacity, offered = (node["status"].get(part, {}) for part in ("capacity", "allocatable"))
        if capacity != offered:
            changes = {name: capacity.get(name) for name in capacity.keys() | offered.keys()}
            path = f"/api/v1/nodes/{node['metadata']['name']}/status"
            await self._try("PATCH", path, {"status": {"allocatable": changes}}, MERGE)

    async def _report(self, name: str, address: str) -> None:
        conditions = [
            {"type": kind, "status": status, "reason": "FakeKubelet", "message": "", "lastHeartbeatTime": _now()}
            for kind, status in HEALTHY.items()
        ]
        by_type = {"InternalIP": address, "Hostname": name}
        addresses = [{"type": kind, "address": address} for kind, address in by_type.items()]
        status = {"status": {"conditions": conditions, "addresses": addresses}}
        await self._try("PATCH", f"/api/v1/nodes/{name}/status", status, MERGE_BY_KEY)
        leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": _now()}
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec}
        if not await self._try("PATCH", f"{leases}/{name}", lease, MERGE):
            await self._try("POST", leases, lease)

    # --- pods ---

    async def note_pod(self, change: str, pod: Document) -> None:
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        if change == "DELETED" or not pod["spec"].get("nodeName"):
            return
        if meta.get("deletionTimestamp"):
            await asyncio.sleep(_seconds_to_end(pod))
            now = {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
            await self._try("DELETE", path, now)
        elif pod["status"].get("phase") == "Pending":
            await self._try("PATCH", f"{path}/status", {"status": _running(pod)}, MERGE_BY_KEY)

    # --- requests ---

    async def _try(self, method: str, path: str, body: Document, content_type: str = "application/json") -> bool:
        """Whether it worked; the object may be gone."""
        try:
            await self._call(method, path, body, content_type)
        except (aiohttp.ClientError, TimeoutError):
            return False
        return True

    async def _call(
        self, method: str, path: str, body: Document | None = None, content_type: str = "application/json"
    ) -> Document:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": content_type}
        async with self._http.request(method, path, data=data, headers=headers, raise_for_status=True) as answer:
            document: Document = json.loads(await answer.read())
            return document


def _seconds_to_end(pod: Document) -> float:
    """How long its containers need, within the grace period; the hook before the signal may be a sleep."""
    hooks = [container.get("lifecycle", {}).get("preStop", {}) for container in pod["spec"]["containers"]]
    slept: float = max(hook.get("sleep", {}).get("seconds", 0) for hook in hooks)
    grace: float = pod["metadata"].get("deletionGracePeriodSeconds", 0)
    return min(slept + SECONDS_TO_END, grace)


def _running(pod: Document) -> Document:
    """The status of a pod whose containers all run."""
    containers = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "containerID": "fake://1",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": _now()}},
        }
        for container in pod["spec"]["containers"]
    ]
    return {
        "phase": "Running",
        "startTime": _now(),
        "hostIP": "127.0.0.1",
        "podIP": "10.1.0.1",
        "podIPs": [{"ip": "10.1.0.1"}],
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": _now()} for kind in STARTED],
        "containerStatuses": containers,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
