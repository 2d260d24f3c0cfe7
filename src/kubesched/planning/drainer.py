"""drain and Drainer: what happens to the pods of nodes that are drained, asked of one cluster once or many times."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Final, Self

import msgspec

from kubesched.api import ZONE, KubeObject, Node
from kubesched.engine import collect_young, paused_gc
from kubesched.errors import InputError
from kubesched.parallel import TaskGroup, carry_out
from kubesched.planning.drain_cluster import SettledCluster
from kubesched.planning.drain_result import Drain
from kubesched.planning.drain_search import DrainSearch
from kubesched.planning.draining import Draining, Explained
from kubesched.planning.single_drains import SingleDrain, SingleDrains
from kubesched.scheduler import TieBreak
from kubesched.session import Progress, Session
from kubesched.setup import ArgsLike, ConfigurationLike, ExtenderCalls, PluginLike, Profiles, Setup, set_up
from kubesched.snapshot import as_read, version_of

_NO_ARGS: Mapping[str, ArgsLike] = {}
_COLLECT_EVERY: Final = 16


class Drainer:
    """Loads a cluster once, and tries drains on it; each begins with the same cluster. Close it, or use it in a `with`.

    Args:
        snapshot: the objects of the cluster. Its pending pods are placed first.
        configuration, plugins, plugin_args, tie_break, seed, extender_calls: as for Simulator.
        progress: called while the pending pods are placed.

    Raises:
        InputError: the configuration cannot be read or is not valid.
        PluginError: a plugin cannot be loaded or started.

    Example:
        with Drainer(load_snapshot("cluster.json")) as drainer:
            for result in drainer.each():
                print(result.nodes[0], result.can_go)
    """

    def __init__(
        self,
        snapshot: Iterable[KubeObject],
        configuration: ConfigurationLike | Setup | Profiles = None,
        plugins: Iterable[PluginLike] = (),
        plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
        *,
        tie_break: TieBreak = TieBreak.FIRST,
        seed: int = 0,
        extender_calls: ExtenderCalls | None = None,
        progress: Progress | None = None,
    ) -> None:
        read = as_read(snapshot)
        setup = set_up(configuration, plugins, plugin_args, release=version_of(read).release)
        session = Session(read, setup, tie_break=tie_break, seed=seed, extender_calls=extender_calls)
        self._read, self._setup, self._tie_break = read, setup, tie_break
        self._cluster = SettledCluster(session, progress, read.taken_at, read.listed_kinds)
        self._seed = seed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the plugins; no drain can be tried afterwards."""
        self._cluster.session.close()

    def drain(self, nodes: Iterable[str], progress: Progress | None = None) -> Drain:
        """Drain some nodes together.

        Args:
            nodes: names, which may be cut at their first dot.
            progress: called while the pods of a step are placed.
        Raises:
            InputError: there is no such node, or a short name belongs to several.
        """
        return self._try(self._cluster.named(nodes), set(), keeps_objects=True, progress=progress)

    def each(self, nodes: Iterable[str] | None = None, progress: Progress | None = None) -> Iterator[Drain]:
        """Drain every node alone.

        Of the pods of a workload that stay pending with one message, those on the first node are explained; in a large
        cluster with thousands of such workloads, not those of all.

        Args:
            nodes: names; None for all nodes.
            progress: called after each node.
        Raises:
            InputError: as from `drain`.
        """
        names, explained = [node.name for node in self._chosen(nodes)], set[Explained]()
        drains = SingleDrains(self._cluster, self._read, self._setup, self._tie_break, self._seed, names)
        parts, before = [TaskGroup(lambda: drains, range(len(names)))], self._cluster.session.fill()
        done: dict[int, SingleDrain] = {}
        n_given = 0
        with paused_gc():
            for n_done, (_, i, result) in enumerate(carry_out(parts, kept_because=drains.kept_because), 1):
                done[i] = result
                while n_given in done:  # in the order of the nodes
                    yield done.pop(n_given).whole(self._cluster, before, explained)
                    n_given += 1
                _collect(n_done)
                if progress is not None:
                    progress(n_done, len(names))

    def each_zone(self, nodes: Iterable[str] | None = None, progress: Progress | None = None) -> Iterator[Drain]:
        """Drain the nodes of every zone together, one zone after another, each alone.

        Args:
            nodes: names; None for all nodes. Those without a zone stay.
            progress: called after each zone.
        Raises:
            InputError: no node has a zone, or as from `drain`.
        """
        zones: dict[str, list[Node]] = {}
        for node in self._chosen(nodes):
            if node.zone:
                zones.setdefault(node.zone, []).append(node)
        if not zones:
            raise InputError(f"no node has a zone; expected the label {ZONE}")
        for i, zone in enumerate(sorted(zones)):
            yield self._try(zones[zone], set())
            if progress is not None:
                progress(i + 1, len(zones))

    def most(self, nodes: Iterable[str] | None = None, progress: Progress | None = None) -> Drain:
        """Find a large set of nodes that can go together. A larger one may exist.

        The nodes are tried one after another, the least full first, each in the cluster that the nodes before it have
        left. What remains is drained together; nodes whose pods then find no place are left out. In a small cluster,
        random orders are tried too, which follow the seed.

        Args:
            nodes: the names of the candidates; None for all nodes.
            progress: called after each candidate.
        Returns: the drain of this set, whose `nodes` may be empty.
        Raises:
            InputError: as from `drain`.
        """
        candidates = self._by_fill(self._chosen(nodes))
        self._cluster.undecided_nodes.clear()
        with paused_gc():
            collected = map(_collect, count())
            search = DrainSearch(self._cluster, self._seed, lambda: next(collected))
            result = search.largest(candidates, progress)
        return msgspec.structs.replace(result, undecided_nodes=tuple(self._cluster.undecided_nodes))

    def _chosen(self, nodes: Iterable[str] | None) -> list[Node]:
        return list(self._cluster.nodes.values()) if nodes is None else self._cluster.named(nodes)

    def _by_fill(self, nodes: Sequence[Node]) -> list[Node]:
        """The nodes whose pods request the smallest share of them first."""
        fill = self._cluster.session.fill()

        def share(node: Node) -> float:
            held, offered = fill.held(node.name), fill.allocatable(node.name)
            return max(
                (held.get(name, 0) / offered[name] for name in ("cpu", "memory") if offered.get(name)), default=0
            )

        return sorted(nodes, key=share)

    def _try(
        self,
        nodes: Sequence[Node],
        explained: set[Explained] | None,
        *,
        keeps_objects: bool = False,
        progress: Progress | None = None,
    ) -> Drain:
        with self._cluster.session.fork():
            draining = Draining(
                self._cluster, nodes, keeps_objects=keeps_objects, explained=explained, progress=progress
            )
            return draining.run()


def drain(
    snapshot: Iterable[KubeObject],
    nodes: Iterable[str],
    configuration: ConfigurationLike | Setup | Profiles = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    tie_break: TieBreak = TieBreak.FIRST,
    seed: int = 0,
    extender_calls: ExtenderCalls | None = None,
) -> Drain:
    """Say what happens to the pods of some nodes that are drained together, as `kubectl drain` does it.

    Args:
        snapshot: the cluster, as load_snapshot gives it. Its pending pods are placed first.
        nodes: names, or one name, which may be cut at their first dot.
        configuration, plugins, plugin_args, tie_break, seed, extender_calls: as for Simulator.
    Raises:
        InputError: there is no such node, or the configuration cannot be read or is not valid.
        PluginError: a plugin cannot be loaded or started.

    Example:
        result = drain(load_snapshot("cluster.json"), ["n1"])
        print(result.can_go, result.steps)
    """
    decides = configuration, plugins, plugin_args
    with Drainer(snapshot, *decides, tie_break=tie_break, seed=seed, extender_calls=extender_calls) as drainer:
        return drainer.drain(nodes)


def _collect(i: int) -> None:
    """Remove young cycles now and then: the collector is paused, because it would scan the whole cluster."""
    if i % _COLLECT_EVERY == 0:
        collect_young()
