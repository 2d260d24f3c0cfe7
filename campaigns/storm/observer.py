"""Watches nodes and pods by itself, straight at the API server, and keeps what a judge needs.

It shares no code with the scheduler: plain HTTP, plain JSON.
"""

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.integration.control_plane import ControlPlane

Document = dict[str, Any]
Amounts = dict[str, int]
Take = Callable[[str, Document], None]  # the type of an event, and the object
FACTORS = {"m": 1, "Ki": 2**10 * 1000, "Mi": 2**20 * 1000, "Gi": 2**30 * 1000}


class NodeSeen(NamedTuple):
    """A node as it was after one event.

    Attributes:
        version: of the object; later events have higher ones, across kinds.
        at: when the event came, in seconds since 1970.
    """

    version: int
    at: float
    name: str
    is_gone: bool
    allocatable: Amounts
    labels: dict[str, str]


class PodSeen(NamedTuple):
    """A pod that came, got a node, or left.

    Attributes:
        version, at: as of a node.
        node: empty while it has none.
    """

    version: int
    at: float
    name: str
    is_gone: bool
    uid: str
    node: str
    requests: Amounts
    selector: dict[str, str]


class Observer:
    """Watches until `close`.

    Attributes:
        nodes, pods: what happened, in order. Of pods: only what changes where they are.
        conditions: the last PodScheduled condition of each pod that there is, by name; empty without one.
        came, bound: when each pod was there first, and when it got its node, by name, in seconds since 1970.
        lost: why a watch cannot go on; empty while all is well.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self.nodes: list[NodeSeen] = []
        self.pods: list[PodSeen] = []
        self.conditions: dict[str, Document] = {}
        self.came: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.lost = ""
        self._where: dict[str, str] = {}  # uid -> node
        self._is_closed = False
        self._url, self._token = urlsplit(plane.url), plane.token
        self._tls = ssl.create_default_context(cafile=plane.ca_file)
        self._tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
        self._sockets: dict[str, socket.socket] = {}
        self._threads = [
            threading.Thread(target=self._follow, args=(path, take, self._list(path, take)), daemon=True)
            for path, take in (("/api/v1/nodes", self._take_node), ("/api/v1/pods", self._take_pod))
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End; may be called twice."""
        self._is_closed = True
        while any(thread.is_alive() for thread in self._threads):
            for one in list(self._sockets.values()):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)  # wakes the thread; close would wait for it
            self._threads[0].join(0.1)

    def numbers_of_nodes(self) -> set[int]:
        """How many nodes there were, at one time or another."""
        names: set[str] = set()
        found: set[int] = set()
        for node in list(self.nodes):
            (names.discard if node.is_gone else names.add)(node.name)
            found.add(len(names))
        return found

    @contextmanager
    def _asked(self, path: str) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPSConnection(self._url.hostname or "", self._url.port, context=self._tls)
        with closing(connection):
            connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}"})
            if connection.sock is not None:
                self._sockets[path.partition("?")[0]] = connection.sock
            with connection.getresponse() as answer:
                yield answer

    def _list(self, path: str, take: Take) -> str:
        with self._asked(path) as answer:
            found = json.loads(answer.read())
        for document in found["items"]:
            take("ADDED", document)
        return str(found["metadata"]["resourceVersion"])

    def _follow(self, path: str, take: Take, version: str) -> None:
        """Watch, and again from there when the API server ends a watch."""
        while not self._is_closed and not self.lost:
            with (
                suppress(OSError, ValueError, AttributeError, http.client.HTTPException),  # it ended, or was closed
                self._asked(f"{path}?watch=1&resourceVersion={version}") as answer,
            ):
                if answer.status != 200:
                    self.lost = f"{path} is answered {answer.status}"
                    return
                for line in answer:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        self.lost = f"the watch of {path} ended: {event['object'].get('message')}"
                        return
                    take(event["type"], event["object"])
                    version = event["object"]["metadata"]["resourceVersion"]

    def _take_node(self, kind: str, node: Document) -> None:
        metadata = node["metadata"]
        allocatable = amounts(node["status"].get("allocatable", {}))
        version, labels = int(metadata["resourceVersion"]), metadata.get("labels", {})
        self.nodes.append(NodeSeen(version, time.time(), metadata["name"], kind == "DELETED", allocatable, labels))

    def _take_pod(self, kind: str, pod: Document) -> None:
        now, metadata, spec = time.time(), pod["metadata"], pod["spec"]
        name, uid, node = metadata["name"], metadata["uid"], spec.get("nodeName", "")
        is_gone = kind == "DELETED"
        self.came.setdefault(name, now)
        if node and not self._where.get(uid):
            self.bound.setdefault(name, now)
        if is_gone or self._where.get(uid) != node:
            version, selector = int(metadata["resourceVersion"]), spec.get("nodeSelector", {})
            self.pods.append(PodSeen(version, now, name, is_gone, uid, node, requested(spec), selector))
        if is_gone:
            self._where.pop(uid, None)
            self.conditions.pop(name, None)
        else:
            self._where[uid] = node
            conditions = pod["status"].get("conditions", ())
            self.conditions[name] = next((one for one in conditions if one["type"] == "PodScheduled"), {})


def requested(spec: Document) -> Amounts:
    """What the containers of a pod request, and the pod itself as one of `pods`."""
    total: Amounts = {"pods": 1000}
    for container in spec["containers"]:
        for resource, amount in amounts(container.get("resources", {}).get("requests", {})).items():
            total[resource] = total.get(resource, 0) + amount
    return total


def amounts(quantities: dict[str, str]) -> Amounts:
    """Quantities in thousandths."""
    found: Amounts = {}
    for resource, text in quantities.items():
        unit = next((unit for unit in FACTORS if text.endswith(unit)), "")
        found[resource] = int(text.removesuffix(unit)) * FACTORS.get(unit, 1000)
    return found
