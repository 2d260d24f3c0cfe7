"""Questions about what would happen: changes to a cluster, simulated."""

from kubesched.planning.changes import (
    cordoned,
    nodes_matching,
    nodes_named,
    scaled,
    with_nodes_like,
    without_nodes,
)
from kubesched.planning.drain_page import drain_page
from kubesched.planning.drain_result import BudgetUse, Drain, DrainedPod, Fate, PushedOut
from kubesched.planning.drain_tables import each_page, most_page
from kubesched.planning.drainer import Drainer, drain
from kubesched.planning.replicas import fresh_pod
from kubesched.planning.workloads import Workload, find_workload, workload_of, workloads

__all__ = [
    "BudgetUse",
    "Drain",
    "DrainedPod",
    "Drainer",
    "Fate",
    "PushedOut",
    "Workload",
    "cordoned",
    "drain",
    "drain_page",
    "each_page",
    "find_workload",
    "fresh_pod",
    "most_page",
    "nodes_matching",
    "nodes_named",
    "scaled",
    "with_nodes_like",
    "without_nodes",
    "workload_of",
    "workloads",
]
