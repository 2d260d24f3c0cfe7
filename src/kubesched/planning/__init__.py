"""Questions about what would happen: changes to a cluster, simulated."""

from kubesched.planning.changes import (
    cordoned,
    nodes_matching,
    nodes_named,
    scaled,
    with_nodes_like,
    without_nodes,
)
from kubesched.planning.replicas import fresh_pod
from kubesched.planning.workloads import Workload, find_workload, is_workload_kind, workload_of, workloads

__all__ = [
    "Workload",
    "cordoned",
    "find_workload",
    "fresh_pod",
    "is_workload_kind",
    "nodes_matching",
    "nodes_named",
    "scaled",
    "with_nodes_like",
    "without_nodes",
    "workload_of",
    "workloads",
]
