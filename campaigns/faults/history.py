"""What really happened: every version of every pod, node and lease, in etcd's order, and what was wrong with it.

This reads etcd and not the API server, whose watches have gaps while it is down. The schedulers under test have no part
in it.
"""

import base64
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from http.client import HTTPConnection
from typing import Any, NamedTuple

from kubesched.api import NANO, parse_quantity

Document = dict[str, Any]
END = "/registry/zz-end-of-run"


class Change(NamedTuple):
    """One write. `document` is None for a deletion."""

    revision: int
    key: str
    document: Document | None


class Etcd:
    """Reads the history of an etcd over its JSON gateway.

    Args:
        url: `http://host:port`.
    """

    def __init__(self, url: str) -> None:
        self._address = url.removeprefix("http://")

    def revision(self) -> int:
        """The newest revision."""
        return int(self._post("/v3/kv/range", {"key": _encoded("/")})["header"]["revision"])

    def changes(self, after: int) -> list[Change]:
        """Everything that was written after a revision, in order."""
        written = self._post("/v3/kv/put", {"key": _encoded(END), "value": _encoded("{}")})
        end = int(written["header"]["revision"])
        request = {"key": _encoded("/registry/"), "range_end": _encoded("/registry0"), "start_revision": after + 1}
        connection = HTTPConnection(self._address, timeout=20)
        connection.request("POST", "/v3/watch", json.dumps({"create_request": request}))
        try:
            return list(self._read(connection, end))
        finally:
            connection.close()

    def _read(self, connection: HTTPConnection, end: int) -> Iterator[Change]:
        answer = connection.getresponse()
        while line := answer.readline():
            for event in json.loads(line)["result"].get("events", ()):
                pair = event["kv"]
                key = base64.b64decode(pair["key"]).decode()
                if int(pair["mod_revision"]) >= end:
                    return
                if key == END:
                    continue
                is_gone = event.get("type") == "DELETE"
                text = base64.b64decode(pair.get("value", ""))
                document = None if is_gone or not text.startswith(b"{") else json.loads(text)
                yield Change(int(pair["mod_revision"]), key, document)

    def _post(self, path: str, body: object) -> Document:
        connection = HTTPConnection(self._address, timeout=20)
        try:
            connection.request("POST", path, json.dumps(body))
            answer: Document = json.loads(connection.getresponse().read())
            return answer
        finally:
            connection.close()


class Bound(NamedTuple):
    """A pod came to a node.

    Attributes:
        holder: who had the Lease at that revision, "" for nobody.
        shortage: what the node had too little of then.
    """

    pod: str
    node: str
    holder: str
    shortage: str


@dataclass
class History:
    """What a run wrote.

    Attributes:
        pods: as they are at the end, by name.
        nodes: the same.
        claims: the same of resource claims.
        doubled: devices that two claims had at once, and claims whose devices changed while a pod used them.
        bound: every pod that came to a node, in order.
        rebound: pods whose node changed.
        renewals: of the Lease: (holder, renewTime in seconds since 1970).
    """

    pods: dict[str, Document] = field(default_factory=dict)
    nodes: dict[str, Document] = field(default_factory=dict)
    claims: dict[str, Document] = field(default_factory=dict)
    doubled: list[str] = field(default_factory=list)
    bound: list[Bound] = field(default_factory=list)
    rebound: list[str] = field(default_factory=list)
    holder: str = ""
    renewals: list[tuple[str, float]] = field(default_factory=list)

    def devices_of(self, claim: str) -> set[tuple[str, str, str]]:
        """Driver, pool and name of each device that a claim has."""
        return _devices(self.claims.get(claim))


def read(changes: list[Change]) -> History:
    """Replay the writes one after another."""
    history = History()
    nodes_of: dict[str, str] = {}  # by uid
    for change in changes:
        _, _, kind, *_, name = change.key.split("/")
        if kind == "minions":
            _put(history.nodes, name, change.document)
        elif kind == "leases" and name == "kubesched" and change.document:
            spec = change.document["spec"]
            history.holder = spec.get("holderIdentity", "")
            if history.holder and spec.get("renewTime"):
                history.renewals.append((spec["holderIdentity"], datetime.fromisoformat(spec["renewTime"]).timestamp()))
        elif kind == "resourceclaims":
            _note_claim(history, name, change.document)
        elif kind == "pods":
            _put(history.pods, name, change.document)
            if change.document:
                _note_pod(history, nodes_of, change.document)
    return history


def _note_claim(history: History, name: str, claim: Document | None) -> None:
    before = history.devices_of(name) if history.claims.get(name, {}).get("status", {}).get("reservedFor") else set()
    _put(history.claims, name, claim)
    after = history.devices_of(name)
    if before and after and before != after:
        history.doubled.append(f"{name}: {sorted(before)}, then {sorted(after)}")
    for other in history.claims.keys() - {name}:
        if common := after & history.devices_of(other):
            history.doubled.append(f"{name} and {other}: {sorted(common)}")


def _devices(claim: Document | None) -> set[tuple[str, str, str]]:
    allocation = (claim or {}).get("status", {}).get("allocation") or {}
    return {(one["driver"], one["pool"], one["device"]) for one in allocation.get("devices", {}).get("results", ())}


def _note_pod(history: History, nodes_of: dict[str, str], pod: Document) -> None:
    uid, name, node = pod["metadata"]["uid"], pod["metadata"]["name"], pod["spec"].get("nodeName", "")
    before = nodes_of.get(uid, "")
    if node == before:
        return
    nodes_of[uid] = node
    if before:
        history.rebound.append(f"{name}: {before}, then {node or 'no node'}")
        return
    history.bound.append(Bound(name, node, history.holder, shortage(history, node)))


def shortage(history: History, node: str, more: Document | None = None) -> str:
    """What a node has too little of for the pods on it, and for one more pod; empty for nothing."""
    if node not in history.nodes:
        return "the node does not exist"
    pods = [pod for pod in history.pods.values() if pod["spec"].get("nodeName") == node]
    pods += [more] if more else []
    offered = history.nodes[node]["status"]["allocatable"]
    held: dict[str, int] = defaultdict(int, pods=len(pods) * NANO)
    for pod in pods:
        for resource, text in pod["spec"]["containers"][0].get("resources", {}).get("requests", {}).items():
            held[resource] += parse_quantity(text)
    return ", ".join(
        f"{resource}: {amount / NANO:g} of {offered.get(resource, 0)}"
        for resource, amount in held.items()
        if amount > parse_quantity(offered.get(resource, "0"))
    )


def _put(objects: dict[str, Document], name: str, document: Document | None) -> None:
    if document is None:
        objects.pop(name, None)
    else:
        objects[name] = document


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
