"""The content of a snapshot: the objects in file order, and what was left out."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import TypeVar

import msgspec

from kubesched.api import KINDS, EventType, KubeObject, WatchEvent, kind_of

T = TypeVar("T", bound=KubeObject)


class ClusterObjects(msgspec.Struct, frozen=True):
    """The objects of a cluster as files or an API server gave them.

    Attributes:
        objects: each object once, in the order of the files; what manifests add comes last.
        skipped: how many objects were left out by kind, because kubesched does not read it; a kind that shares its
            name with one that is read carries its API group: `Service.serving.knative.dev`.
        bad: one sentence for each bad object that was left out; empty unless bad objects were to be left out.
        notes: what the user should know about the input, one sentence each.
        taken_at: when the objects were read from the API server, in UTC: the earliest time, if there are several; None
            if no file has it.
        scheduler_config: the KubeSchedulerConfiguration in an export of kube-scheduler-simulator, or in a snapshot that
            was written from one, in JSON; else empty.
        listed_kinds: kinds that are there completely, even if there is no object of them. Kinds are those of `kind_of`.
    """

    objects: tuple[KubeObject, ...]
    skipped: dict[str, int] = {}
    bad: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    taken_at: datetime | None = None
    scheduler_config: bytes = b""
    listed_kinds: frozenset[str] = frozenset()

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

    def events(self) -> Iterator[WatchEvent]:
        """The objects as a watch would bring them: each ADDED."""
        return (WatchEvent(EventType.ADDED, kind_of(known), known) for known in self.objects)
