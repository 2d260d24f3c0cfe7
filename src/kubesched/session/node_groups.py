"""Pools and zones of nodes, from the labels that cloud providers and people set."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from kubesched.api import Node

_POOLS: Final = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
)
_POOL_NAMES: Final = ("pool", "nodepool", "node-pool", "nodegroup", "node-group")
_ZONE: Final = "topology.kubernetes.io/zone"


class NodeGroup(msgspec.Struct, frozen=True):
    """Where a node belongs; empty where its labels do not say it."""

    pool: str = ""
    zone: str = ""


def group_nodes(nodes: Iterable[Node]) -> dict[str, NodeGroup]:
    """The pool and zone of each node, by name.

    A pool is the value of the first label for pools that more than half of the nodes have, and that distinguishes them.
    """
    known = list(nodes)
    keys = Counter(key for node in known for key in node.labels)
    named = sorted(key for key in keys if key.rpartition("/")[2] in _POOL_NAMES)
    usual = [key for key in (*_POOLS, *named) if 2 * keys[key] > len(known)]
    dividing = [key for key in usual if len({node.labels.get(key) for node in known}) > 1]
    pool = next(iter(dividing or usual), "")
    return {node.name: NodeGroup(node.labels.get(pool, ""), node.labels.get(_ZONE, "")) for node in known}
