"""The content of a snapshot: the objects in file order, and what was left out."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from kubesched.api import (
    KINDS,
    EventType,
    KubeObject,
    Pod,
    PodOwners,
    PodRequests,
    ReplicaSet,
    WatchEvent,
    kind_of,
    objects_of,
)
from kubesched.shown import data_frame
from kubesched.snapshot.missing import MissingKinds

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T", bound=KubeObject)


class ClusterObjects(msgspec.Struct, frozen=True):
    """The objects of a cluster as files or an API server gave them.

    Attributes:
        objects: each object once, in the order of the files; what manifests add comes last.
        skipped: how many objects were left out by kind, because kubesched does not read it; a kind that shares its
            name with one that is read carries its API group: `Service.serving.knative.dev`.
        bad: one sentence for each bad object that was left out; empty unless bad objects were to be left out.
        notes: what the user should know about the input, one sentence each.
        missing: kinds that are wholly absent though pods refer to them.
        taken_at: when the objects were read from the API server, in UTC: the earliest time, if there are several; None
            if no file has it.
        scheduler_config: the KubeSchedulerConfiguration in an export of kube-scheduler-simulator, or in a snapshot that
            was written from one, in JSON; else empty.
        server_version: what the API server says of itself, such as `v1.36.3`; the newest, if there are several; empty
            if no file has it.
        listed_kinds: kinds that are there completely, even if there is no object of them. Kinds are those of `kind_of`.
    """

    objects: tuple[KubeObject, ...]
    skipped: dict[str, int] = {}
    bad: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[MissingKinds, ...] = ()
    taken_at: datetime | None = None
    scheduler_config: bytes = b""
    listed_kinds: frozenset[str] = frozenset()
    server_version: str = ""

    def __repr__(self) -> str:
        counts = self.kinds
        counted = [
            f"{counts[kind]} {known.name.lower() if counts[kind] == 1 else known.plural}"
            for kind, known in KINDS.items()
            if kind in counts
        ]
        counted += [f"{n} {kind}" for kind, n in counts.items() if kind not in KINDS]
        return f"<ClusterObjects: {', '.join(counted) or 'no objects'}>"

    def __iter__(self) -> Iterator[KubeObject]:
        return iter(self.objects)

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def kinds(self) -> dict[str, int]:
        """How many objects there are of each kind."""
        return dict(Counter(kind_of(known) for known in self.objects))

    def of(self, type: type[T]) -> list[T]:
        """The objects of one kind, such as `of(Pod)`."""
        return [known for known in self.objects if isinstance(known, type)]

    def pods_frame(self) -> "pd.DataFrame":
        """The pods as a DataFrame, a row for each in the snapshot's order.

        Columns: `pod`, `namespace`, `name`, `owner`, which is the controller as `Kind/name`, `node`, which is empty for
        a pending pod, `phase`, `priority`, and what the pod holds of each resource, in milli-CPU, bytes and counts.

        Raises:
            InputError: pandas is not installed.

        Example:
            frame = load_snapshot("cluster.json").pods_frame()
            print(frame[frame["node"] != ""].groupby("namespace")["cpu"].sum())
        """
        pods = self.of(Pod)
        held = [PodRequests(pod).held for pod in pods]
        owners = PodOwners(self.of(ReplicaSet))
        columns: dict[str, list[Any]] = {
            "pod": [pod.key for pod in pods],
            "namespace": [pod.namespace for pod in pods],
            "name": [pod.name for pod in pods],
            "owner": list(map(owners.owner_of, pods)),
            "node": [pod.node_name for pod in pods],
            "phase": [pod.status.phase for pod in pods],
            "priority": [pod.priority for pod in pods],
        }
        for resource in dict.fromkeys(("cpu", "memory", *(name for of in held for name in of))):
            columns[resource] = [of.get(resource, 0) for of in held]
        return data_frame(columns)

    def events(self) -> Iterator[WatchEvent]:
        """The objects as a watch would bring them: each ADDED."""
        return (WatchEvent(EventType.ADDED, kind_of(known), known) for known in self.objects)


def as_read(snapshot: Iterable[KubeObject]) -> ClusterObjects:
    """The cluster that a program passes; of objects alone it is not known when they were read, or which are missing.

    Raises:
        InputError: as from `objects_of`.

    Example:
        assert as_read([make_node("n1")]).taken_at is None
    """
    return snapshot if isinstance(snapshot, ClusterObjects) else ClusterObjects(tuple(objects_of(snapshot)))
