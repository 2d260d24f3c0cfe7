"""Puts a cluster together: its nodes, what the cluster has once, what runs, and what is pending."""

import random
from collections.abc import Iterator

import msgspec

from tests.clusters.nodes import make_states, node_objects
from tests.clusters.objects import PRIORITIES, Document, make
from tests.clusters.pending import CAUSES, Pending
from tests.clusters.shapes import Shape
from tests.clusters.workloads import TEAMS, Workloads

__all__ = ["CAUSES", "Cluster"]


class Cluster:
    """A cluster of a shape.

    Args:
        seed: of all that is random.
    """

    def __init__(self, shape: Shape, n_nodes: int, seed: int) -> None:
        self._shape = shape
        self._chance = random.Random(f"{shape.name}/{n_nodes}/{seed}")
        self._states = make_states(shape, n_nodes, self._chance)

    def build(self) -> bytes:
        """The v1 List, one object to a line."""
        items = b",\n".join(map(msgspec.json.encode, self._objects()))
        return b'{"apiVersion":"v1","kind":"List","items":[\n' + items + b"\n]}\n"

    def _objects(self) -> Iterator[Document]:
        for state in self._states:
            yield from node_objects(self._shape, state)
        yield from self._once()
        yield from Workloads(self._shape, self._states, self._chance).build()
        yield from Pending(self._shape, self._states).build()

    def _once(self) -> Iterator[Document]:
        for name in ("default", "kube-system", *TEAMS):
            labels = {"kubernetes.io/metadata.name": name}
            yield make("Namespace", name, metadata={"labels": labels}, status={"phase": "Active"})
        built_in = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
        for name, value in {**built_in, **PRIORITIES}.items():
            yield make("PriorityClass", name, value=value, preemptionPolicy="PreemptLowerPriority")
        for name, provisioner, mode in self._shape.storage.classes:
            yield make("StorageClass", name, provisioner=provisioner, reclaimPolicy="Delete", volumeBindingMode=mode)
        if driver := self._shape.storage.driver:
            yield make("CSIDriver", driver, spec={"attachRequired": True, "storageCapacity": False})
