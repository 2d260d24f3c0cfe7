"""Pools and zones of nodes, from the labels that cloud providers and people set."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

import msgspec

from kubesched.api import POOL_LABELS, POOL_WORDS, Node


class NodeGroup(msgspec.Struct, frozen=True):
    """Where a node belongs; empty where its labels do not say it."""

    pool: str = ""
    zone: str = ""


class GroupsByNode(Mapping[str, NodeGroup]):
    """The pool and zone of each node, by name; found when one is first asked for, which most runs never do."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes

    @cached_property
    def _groups(self) -> dict[str, NodeGroup]:
        return group_nodes(self._nodes)

    def __getitem__(self, name: str) -> NodeGroup:
        return self._groups[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)


def group_nodes(nodes: Iterable[Node]) -> dict[str, NodeGroup]:
    """The pool and zone of each node, by name.

    A pool is the value of the first label of a provider that the node has: managed groups are beside those of
    Karpenter. If these do not distinguish the nodes, it is the value of one label for pools that more than half of them
    have and that distinguishes them.
    """
    known = list(nodes)
    keys = Counter(chain.from_iterable(node.labels for node in known))
    named = sorted(key for key in keys if key.rpartition("/")[2] in POOL_WORDS)
    of_providers = tuple(key for key in POOL_LABELS if keys[key])
    choices = [of_providers, *((key,) for key in (*of_providers, *named) if 2 * keys[key] > len(known))]
    columns = [[_first_of(choice, node) for node in known] for choice in choices if choice]
    usual = [pools for pools in columns if 2 * sum(map(bool, pools)) > len(known)]
    dividing = [pools for pools in usual if len(set(pools)) > 1]
    pools = next(iter(dividing or usual), [""] * len(known))
    return {node.name: NodeGroup(pool, node.zone) for node, pool in zip(known, pools, strict=True)}


def _first_of(keys: Iterable[str], node: Node) -> str:
    """The value of the first of some labels that a node has."""
    return next((node.labels[key] for key in keys if node.labels.get(key)), "")
