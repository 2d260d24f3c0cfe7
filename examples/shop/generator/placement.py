"""Puts the running pods on nodes: a plain scheduler that spreads, enough to make a believable cluster."""

from collections import Counter

from generator.identity import digest
from generator.nodes import NodeDraft
from generator.pods import HOST, requests_of
from generator.workload import Workload


def has_room(node: NodeDraft, requests: dict[str, int]) -> bool:
    return all(node.free[name] >= amount for name, amount in requests.items())


def take(node: NodeDraft, workload: Workload) -> None:
    """Count one more pod of the workload on the node."""
    for name, amount in requests_of(workload).items():
        node.free[name] -= amount
    node.apps[workload.app] = node.apps.get(workload.app, 0) + 1


def find_node(nodes: list[NodeDraft], workload: Workload) -> NodeDraft:
    """The node for the next pod: spread over zones first, then over nodes, then where most is free."""
    in_zone: Counter[str] = Counter()
    for node in nodes:
        in_zone[node.zone] += node.apps.get(workload.app, 0)
    requests = requests_of(workload)
    open_to = [n for n in nodes if n.takes_pods and _selected(n, workload) and has_room(n, requests)]
    if workload.apart or workload.host_port:
        open_to = [n for n in open_to if not (n.apps.get(workload.app) if _per_node(workload) else in_zone[n.zone])]
    if not open_to:
        raise SystemExit(f"make_cluster: no room for {workload.namespace}/{workload.name}")
    return min(
        open_to,
        key=lambda n: (in_zone[n.zone], n.apps.get(workload.app, 0), -_free_tenths(n), digest(n.name, *workload.app)),
    )


def _selected(node: NodeDraft, workload: Workload) -> bool:
    known = {
        "kubernetes.io/arch": node.machine.arch,
        "nvidia.com/gpu.count": str(node.machine.gpus),
        "shop.example.com/instance-family": node.pool.machine.split(".")[0],
    }
    return node.pool.name == workload.pool and all(known[key] == value for key, value in workload.selector)


def _per_node(workload: Workload) -> bool:
    return bool(workload.host_port) or workload.apart == HOST


def _free_tenths(node: NodeDraft) -> int:
    return 10 * node.free["cpu"] // (node.machine.cores * 1000)
