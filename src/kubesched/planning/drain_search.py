"""Searches for a large set of nodes that can be drained together, from several orders, within a fixed effort."""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Final

from kubesched.api import Node
from kubesched.planning.drain_cluster import SettledCluster
from kubesched.planning.drain_result import Drain
from kubesched.planning.draining import Draining, Explained
from kubesched.session import Progress

_EFFORT: Final = 9_000
_PATIENCE: Final = 30  # passes in a row that find no larger set
_NODES_PER_EFFORT: Final = 100


class DrainSearch:
    """Searches one cluster, and takes every trial back.

    The first pass tries every candidate in the given order, each in the cluster that the nodes before it have left. The
    other nodes are then tried together with those that were found. Further passes keep a random part of the largest
    set, perhaps nothing, and try all others together with it, in a random order. All passes together have a fixed
    effort: one for each trial, for each pod that it evicts, and for each hundred nodes of the cluster. The first one is
    made in any case, so the answer for a large cluster is little more than that. The search also ends when many passes
    in a row have found no larger set.

    Args:
        seed: of the random orders.
        collect: called after each trial.
    """

    def __init__(self, cluster: SettledCluster, seed: int, collect: Callable[[], None] = lambda: None) -> None:
        self._cluster = cluster
        self._random = Random(seed)
        self._collect = collect
        self._spent = 0
        self._last = 0  # what the last trial cost

    def largest(self, candidates: Sequence[Node], progress: Progress | None = None) -> Drain:
        """The drain of the largest set that was found, in full; perhaps of no node.

        Args:
            candidates: in the order in which they are tried first.
            progress: called after each of them.
        """
        first = self._together(self._one_by_one(candidates, progress))
        best = self._named(candidates, first)
        best = self._grown(best, candidates)
        order, n_vain = list(candidates), 0
        while self._affords(self._last) and len(best) < len(candidates) and n_vain < _PATIENCE:
            self._random.shuffle(order)
            kept = self._random.sample(best, self._random.randrange(len(best) + 1))
            grown = self._grown(kept, order)
            n_vain, best = (0, grown) if len(grown) > len(best) else (n_vain + 1, best)
        return self._together(best, in_full=True)

    def _one_by_one(self, candidates: Sequence[Node], progress: Progress | None = None) -> list[Node]:
        """The nodes that can go one after another."""
        session, going = self._cluster.session, list[Node]()
        with session.fork():
            for i, node in enumerate(candidates):
                with session.fork() as fork:
                    if self._run([node]).can_go:
                        going.append(node)
                        fork.commit()
                if progress is not None:
                    progress(i + 1, len(candidates))
        return going

    def _together(self, nodes: list[Node], *, in_full: bool = False) -> Drain:
        """The drain of those of some nodes that can go together: without the ones whose pods find no place."""
        while not (result := self._tried(nodes, in_full=in_full)).can_go:
            bad = {pod.node for pod in result.pods if pod.fate.is_bad}.intersection(node.name for node in nodes)
            nodes = [node for node in nodes if node.name not in bad] if bad else nodes[:-1]
        return result

    @staticmethod
    def _named(candidates: Iterable[Node], result: Drain) -> list[Node]:
        by_name = {node.name: node for node in candidates}
        return [by_name[name] for name in result.nodes]

    def _grown(self, nodes: list[Node], candidates: Sequence[Node]) -> list[Node]:
        """The nodes, and the candidates that can go together with them."""
        names = {node.name for node in nodes}
        for node in candidates:
            if not self._affords(self._last):
                break
            if node.name not in names and self._tried([*nodes, node]).can_go:
                nodes = [*nodes, node]
        return nodes

    def _tried(self, nodes: Sequence[Node], *, in_full: bool = False) -> Drain:
        with self._cluster.session.fork():
            return self._run(nodes, in_full=in_full)

    def _run(self, nodes: Sequence[Node], *, in_full: bool = False) -> Drain:
        explained = set[Explained]() if in_full else None
        result = Draining(self._cluster, nodes, keeps_objects=in_full, explained=explained).run()
        self._last = 1 + result.n_evicted + len(self._cluster.nodes) // _NODES_PER_EFFORT
        self._spent += self._last
        self._collect()
        return result

    def _affords(self, cost: int) -> bool:
        return self._spent + cost <= _EFFORT
