"""Drains nodes of one cluster one at a time, each on the cluster as it is; other processes can share the work."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from kubesched.api import ResourceSlice
from kubesched.parallel import Sent
from kubesched.planning.drain_cluster import SettledCluster
from kubesched.planning.drain_result import Drain, Fate
from kubesched.planning.draining import Draining, Explained
from kubesched.scheduler import TieBreak
from kubesched.session import Fill, FillChange, Session
from kubesched.setup import Setup
from kubesched.snapshot import ClusterObjects

_EXPLAINED_NODES: Final = 400_000  # how many nodes are explained for all workloads with pending pods together
_REASONED: Final = (Fate.PENDING, Fate.STILL_PENDING)
_IN_COMMON: Final = ("before", "after", "groups")


class SingleDrain(NamedTuple):
    """The drain of one node, without what all drains of the cluster have in common: it is sent, a thousand times.

    Attributes:
        own: field of Drain -> value; with the causes that no earlier node of the same process has.
        after: how full the nodes are then, or what that changes.
        left: the pods that stay pending: `namespace/name` -> what they are explained by.
    """

    own: dict[str, Any]
    after: Fill | FillChange
    left: Mapping[str, Explained]

    @classmethod
    def of(cls, drain: Drain, left: Mapping[str, Explained]) -> "SingleDrain":
        """A drain, with the pods that it leaves pending."""
        own = {name: getattr(drain, name) for name in drain.__struct_fields__ if name not in _IN_COMMON}
        change = drain.before.change_to(drain.after)
        return cls(own, drain.after if change is None else change, left)

    def whole(self, cluster: SettledCluster, before: Fill, known: set[Explained]) -> Drain:
        """The drain without the causes that drains before it have.

        Args:
            before: how full the nodes of the cluster are.
            known: what drains before it explain; what this one explains joins it.
        """
        is_cheap = is_explained(known, cluster)
        repeated = {pod for pod, group in self.left.items() if group in known or not is_cheap}
        if is_cheap:
            known |= set(self.left.values())
        pods = tuple(
            msgspec.structs.replace(pod, cause="", fix="") if pod.pod in repeated and pod.fate in _REASONED else pod
            for pod in self.own["pods"]
        )
        after = self.after if isinstance(self.after, Fill) else before.changed_by(self.after)
        own = {**self.own, "pods": pods, "is_explained": is_cheap}
        return Drain(**own, before=before, after=after, groups=cluster.groups)


class SingleDrains:
    """Carries out drains; a task is the position of a node. It can be sent to other processes.

    Args:
        cluster: in this process; others load the objects and settle them again.
        read, setup, tie_break, seed: as for the session of the cluster.
        names: of the nodes in question.

    Attributes:
        kept_because: why no other process can do the same; empty if they can.
    """

    def __init__(
        self,
        cluster: SettledCluster,
        read: ClusterObjects,
        setup: Setup,
        tie_break: TieBreak,
        seed: int,
        names: Sequence[str],
    ) -> None:
        self.kept_because = _kept_because(read, setup)
        self._given: SettledCluster | None = cluster
        self._loaded: SettledCluster | None = None
        self._about = msgspec.structs.replace(read, objects=())
        self._sent = Sent(read.objects, {"Node", *setup.raw_kinds})  # what is found out about nodes reads their JSON
        self._in_version, self._release = setup.in_version, setup.release
        self._ties = tie_break, seed
        self._names = names
        self._first: dict[Explained, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_given": None, "_loaded": None, "_first": {}}

    def __call__(self, i: int) -> SingleDrain:
        """Drain a node. What an earlier node of this process explains is not explained again."""
        cluster = self._settled()
        cluster.session.rng.seed(self._ties[1])  # whatever was drained before
        known = {group for group, first in self._first.items() if first < i}
        is_cheap = is_explained(known, cluster)
        with cluster.session.fork():
            draining = Draining(cluster, cluster.named([self._names[i]]), explained=known if is_cheap else None)
            drain = draining.run()
        if is_cheap:
            self._first |= {group: i for group in draining.left.values() if self._first.get(group, i) >= i}
        return SingleDrain.of(drain, draining.left)

    def _settled(self) -> SettledCluster:
        if self._given is not None:
            return self._given
        if self._loaded is None:
            assert self._in_version is not None
            read = msgspec.structs.replace(self._about, objects=tuple(self._sent.objects))
            tie_break, seed = self._ties
            session = Session(read, self._in_version(self._release), tie_break=tie_break, seed=seed)
            self._loaded = SettledCluster(session, None, read.taken_at, read.listed_kinds)
        return self._loaded

    def close(self) -> None:
        """Stop the plugins of the cluster that was loaded here; the given one belongs to the caller."""
        if self._loaded is not None:
            self._loaded.session.close()
            self._loaded = None


def _kept_because(read: ClusterObjects, setup: Setup) -> str:
    if setup.in_version is None:
        return "its profiles were built here"
    if setup.probe is not None:
        return "its plugins are timed here"
    if setup.extenders:
        return "its extenders are called from here"
    if any(isinstance(one, ResourceSlice) for one in read.objects):
        return "the devices of a drain are counted when they are read"
    return ""


def is_explained(known: set[Explained], cluster: SettledCluster) -> bool:
    """Whether a further drain is explained, after some workloads with pending pods."""
    return len(known) * len(cluster.nodes) < _EXPLAINED_NODES
