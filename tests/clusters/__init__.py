"""Realistic snapshots of clusters that people have: seeded, so that the same arguments give the same bytes.

    python -m tests.clusters gke --nodes 5000 > cluster.json

The shapes are `gke`, `eks` and `bare-metal`. Nodes have their provider's labels and taints; a few are cordoned. The
requested CPU is 60 to 80 percent of what the nodes offer. Every pending pod has a label `cause`, a key of CAUSES.
"""

from tests.clusters.cluster import CAUSES, Cluster
from tests.clusters.shapes import SHAPES

__all__ = ["CAUSES", "MIN_NODES", "SHAPES", "realistic"]

MIN_NODES = 40


def realistic(shape: str, n_nodes: int, seed: int = 0) -> bytes:
    """The snapshot of a cluster: a v1 List in JSON, one object to a line.

    Args:
        shape: a key of SHAPES.
        n_nodes: at least MIN_NODES.
    """
    if n_nodes < MIN_NODES:
        raise ValueError(f"n_nodes: found {n_nodes}; expected at least {MIN_NODES}")
    return Cluster(SHAPES[shape], n_nodes, seed).build()
