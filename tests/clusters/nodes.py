"""The nodes of a shape, with what the placement of pods needs to know of each."""

import random
from collections.abc import Iterator

from tests.clusters.objects import Document, make
from tests.clusters.shapes import Pool, Shape

CORDONED_EVERY = 40  # of the nodes that run workloads


class NodeState:
    """A node and what is left of it: CPU in milli, memory in MiB, GPUs, pods.

    Attributes:
        until: no more workloads when less CPU than this is free.
    """

    def __init__(self, name: str, pool: Pool, domain: str, shape: Shape) -> None:
        self.name = name
        self.pool = pool
        self.domain = domain
        self.cpu = pool.machine.cpu * 1000 - shape.reserved[0]
        self.memory = pool.machine.memory * 1024 - shape.reserved[1]
        self.gpus = pool.machine.gpus
        self.pods = shape.max_pods
        self.allocatable = {
            "cpu": f"{self.cpu}m",
            "memory": f"{self.memory * 1024}Ki",
            "pods": str(shape.max_pods),
            "ephemeral-storage": "95551679283",
            **({"nvidia.com/gpu": str(self.gpus)} if self.gpus else {}),
        }
        self.until = 0
        self.is_cordoned = False

    def take(self, cpu: int, memory: int, gpus: int = 0) -> bool:
        """Give room to a pod, if there is enough."""
        if cpu > self.cpu or memory > self.memory or gpus > self.gpus or not self.pods:
            return False
        self.cpu -= cpu
        self.memory -= memory
        self.gpus -= gpus
        self.pods -= 1
        return True


def make_states(shape: Shape, n_nodes: int, chance: random.Random) -> list[NodeState]:
    """The nodes, pool by pool, each pool spread over the zones or racks."""
    counts = [max(pool.least, round(pool.share * n_nodes)) for pool in shape.pools]
    counts[0] = n_nodes - sum(counts[1:])
    states = []
    for pool, count in zip(shape.pools, counts, strict=True):
        pool_hash = f"{chance.getrandbits(32):08x}"
        for i in range(count):
            domain = shape.domains[i % len(shape.domains)]
            state = NodeState(_name(shape, pool, pool_hash, domain, len(states), chance), pool, domain, shape)
            state.until = int(state.cpu * chance.uniform(0.03, 0.2))
            is_last_ingress = pool.fills == "ingress" and i == count - 1
            state.is_cordoned = is_last_ingress or (pool.fills in ("default", "large") and i % CORDONED_EVERY == 3)
            states.append(state)
    return states


def _name(shape: Shape, pool: Pool, pool_hash: str, domain: str, number: int, chance: random.Random) -> str:
    if shape.name == "gke":
        letters = "".join(chance.choices("bcdfghjklmnpqrstvwxz2456789", k=4))
        return f"gke-prod-{pool.name}-{pool_hash}-{letters}{number:x}"
    if shape.name == "eks":
        return f"ip-10-{number // 16384}-{number // 64 % 256}-{number % 64 * 4 + 3}.{shape.region}.compute.internal"
    return f"{domain}-{pool.name}-{number:04}"


def node_objects(shape: Shape, state: NodeState) -> Iterator[Document]:
    """The Node and its CSINode."""
    taints = list(state.pool.taints)
    if state.is_cordoned:
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    spec: Document = {"unschedulable": True} if state.is_cordoned else {}
    if shape.region:
        spec["providerID"] = f"{'gce' if shape.name == 'gke' else 'aws'}:///{state.domain}/{state.name}"
    node = make(
        "Node",
        state.name,
        metadata={"labels": _labels(shape, state)},
        spec={**spec, **({"taints": taints} if taints else {})},
        status={
            "capacity": {**state.allocatable, "cpu": str(state.pool.machine.cpu)},
            "allocatable": state.allocatable,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "addresses": [{"type": "Hostname", "address": state.name}],
            "nodeInfo": {"kubeletVersion": "v1.36.2", "operatingSystem": "linux", "architecture": "amd64"},
        },
    )
    yield node
    storage = shape.storage
    drivers: list[Document] = []
    if storage.driver:
        driver = {"name": storage.driver, "nodeID": state.name, "topologyKeys": [storage.topology_key]}
        drivers.append({**driver, "allocatable": {"count": storage.attach_limit}})
    yield make("CSINode", state.name, spec={"drivers": drivers})


def _labels(shape: Shape, state: NodeState) -> dict[str, str]:
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": state.name,
        "kubernetes.io/os": "linux",
        shape.domain_key: state.domain,
        shape.pool_key: state.pool.name,
        **state.pool.labels,
    }
    if state.pool.machine.type:
        labels["node.kubernetes.io/instance-type"] = state.pool.machine.type
    if shape.region:
        labels["topology.kubernetes.io/region"] = shape.region
        labels[shape.storage.topology_key] = state.domain
    return dict(sorted(labels.items()))
