"""Reads and writes the Lease with which the replicas of a scheduler elect their leader.

Rule: client-go v1.36 leader election on a Lease (coordination.k8s.io/v1), and its event (core/v1) on that Lease; fields
and texts as recorded from kube-scheduler v1.36.3.
"""

import logging
import platform
import re
import uuid
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import msgspec

from kubesched.cluster import ApiClient
from kubesched.errors import ClusterError, NotFoundError

_API_VERSION: Final = "coordination.k8s.io/v1"
_REPLICA: Final = re.compile(r"_kubesched_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_LOG: Final = logging.getLogger("kubesched.leaderelection")


def new_identity() -> str:
    """Return `<hostname>_kubesched_<uuid>`, the name of this process in a Lease.

    Rule: kube-scheduler v1.36 writes `<hostname>_<uuid>`. So a Lease shows which of the two holds it.
    """
    return f"{platform.node()}_kubesched_{uuid.uuid4()}"


def is_replica(identity: str) -> bool:
    """Whether a `new_identity` has this form: a kubesched holds the Lease, not a kube-scheduler."""
    return _REPLICA.search(identity) is not None


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel"):
    """Who leads, and since when.

    Attributes:
        holder_identity: the leader; empty if the last one gave the lease back.
        lease_duration_seconds: how long others wait after a change that they have observed.
        acquire_time, renew_time: by the holder's clock, with microseconds. Other candidates do not compute with them.
        lease_transitions: how many times another holder took over.
    """

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class Lease(msgspec.Struct, frozen=True, rename="camel"):
    """A Lease object.

    Attributes:
        metadata: as the API server has it; an update sends all of it back, with labels and resourceVersion.
    """

    metadata: dict[str, Any]
    spec: LeaseSpec = LeaseSpec()
    api_version: str = _API_VERSION
    kind: str = "Lease"


class LeaseLock:
    """One Lease, as one candidate sees it. Every method sends one request, once.

    Args:
        identity: of the candidate.
        component: the source of events.
    Attributes:
        label: `namespace/name` of the Lease.
    """

    def __init__(self, client: ApiClient, namespace: str, name: str, *, identity: str, component: str) -> None:
        self.identity = identity
        self.namespace = namespace
        self.name = name
        self.label = f"{namespace}/{name}"
        self._client = client
        self._component = component
        self._collection = f"/apis/{_API_VERSION}/namespaces/{quote(namespace, safe='')}/leases"
        self._path = f"{self._collection}/{quote(name, safe='')}"

    async def get(self, seconds: float | None = None) -> Lease | None:
        """The Lease as it is now; None if there is none.

        Args:
            seconds: to wait for the answer, the client's by default.
        Raises:
            ClusterError: the API server refused, or did not answer.
        """
        try:
            return await self._client.request("GET", self._path, type=Lease, retry=False, timeout=seconds)
        except NotFoundError:
            return None

    async def create(self, spec: LeaseSpec) -> Lease:
        """Create the Lease.

        Raises:
            ConflictError: somebody else was faster.
            ClusterError: as from `get`.
        """
        lease = Lease({"namespace": self.namespace, "name": self.name}, spec)
        return await self._client.request("POST", self._collection, body=lease, type=Lease)

    async def update(self, lease: Lease, spec: LeaseSpec) -> Lease:
        """Write a new spec if the Lease is still the one that was read.

        Raises:
            ConflictError: it has changed.
            NotFoundError: it is gone.
            ClusterError: as from `get`.
        """
        return await self._client.request("PUT", self._path, body=Lease(lease.metadata, spec), type=Lease)

    async def record(self, lease: Lease, what: str) -> None:
        """Record what happened to this candidate as an event on the Lease; a failure is logged."""
        now = self._client.timing.now()
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        regarding = {"kind": "Lease", "apiVersion": _API_VERSION, "namespace": self.namespace, "name": self.name}
        regarding |= {field: lease.metadata.get(field, "") for field in ("uid", "resourceVersion")}
        event = {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {"name": f"{self.name}.{int(now * 1e9):x}", "namespace": self.namespace},
            "involvedObject": regarding,
            "reason": "LeaderElection",
            "message": f"{self.identity} {what}",
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
            "type": "Normal",
        }
        try:
            await self._client.request(
                "POST", f"/api/v1/namespaces/{quote(self.namespace, safe='')}/events", body=event
            )
        except ClusterError as error:
            _LOG.warning("the event %r is lost: %s", what, error)
