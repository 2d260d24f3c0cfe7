"""The resource axis of the columns: the index of each resource, and the amounts of a pod along the axis."""

from collections.abc import Collection
from typing import Final

import numpy as np

from kubesched.api import BASIC_RESOURCES, PodRequests
from kubesched.engine import Interner, IntMatrix, IntVector
from kubesched.state.pod_info import Part

CPU: Final = 0
MEMORY: Final = 1
EPHEMERAL_STORAGE: Final = 2


class ResourceAxis(Interner[str]):
    """Resource names by row: cpu, memory, ephemeral-storage, then what some node offers or some placed pod holds."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(BASIC_RESOURCES)

    def held_matrix(self, parts: Collection[Part[PodRequests]]) -> IntMatrix:
        """(parts, 3 + resources) int64: `held_vector` of each."""
        vectors = [self.held_vector(part) for part in parts]
        return np.array(vectors) if vectors else np.zeros((0, 3 + len(self)), dtype=np.int64)

    def held_vector(self, part: Part[PodRequests]) -> IntVector:
        """What a pod with these requests adds to a node.

        Returns: (3 + resources,) int64: one pod, cpu and memory with the scoring defaults, then all resources as is.
            What is not on the axis, which no node offers and no placed pod holds, is left out.
        """
        generation = self.log.generation
        known: tuple[int, IntVector] | None = part.compiled.get(ResourceAxis)
        if known is None or known[0] != generation:
            known = part.compiled[ResourceAxis] = (generation, self._vector(part.value))
        return known[1]

    def _vector(self, requests: PodRequests) -> IntVector:
        vector = np.zeros(3 + len(self), dtype=np.int64)
        vector[0] = 1
        vector[1] = requests.held_non_zero.get("cpu", 0)
        vector[2] = requests.held_non_zero.get("memory", 0)
        for name, amount in requests.held.items():
            row = self.find(name)
            if row is not None:
                vector[3 + row] = amount
        return vector
