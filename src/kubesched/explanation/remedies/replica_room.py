"""How many replicas of a workload have room at once, when their requests are smaller: a new template replaces all."""

from collections.abc import Mapping

import numpy as np

from kubesched.api import Job, ReplicaSet, ReplicationController, StatefulSet
from kubesched.engine import BoolVector, IntVector
from kubesched.explanation.remedies.case import Case, is_equal

_PLACES = "pods"


class ReplicaRoom:
    """The room for all replicas of the pod's controller on some nodes, without those that run now.

    Resources and places alone are counted; what keeps replicas apart is not.

    Attributes:
        n_wanted: how many pods the controller wants; 1 where that is not known.
    """

    def __init__(self, case: Case, where: BoolVector) -> None:
        self.n_wanted = _wanted(case)
        self._wanted = {**case.info.requests.value.wanted, _PLACES: 1}
        positions = np.flatnonzero(where)
        self._free = {name: _free(case, name)[positions] for name in self._wanted}
        for info, at in case.placed.in_namespace(case.pod.namespace):
            if is_equal(info.pod, case.pod):
                held = {**info.requests.value.held, _PLACES: 1}
                for name, free in self._free.items():
                    free[positions == at] += held.get(name, 0)

    def count(self, targets: Mapping[str, int]) -> int:
        """For how many replicas there is room if they request these amounts, and what they do now of the rest."""
        wanted = {name: amount for name, amount in {**self._wanted, **targets}.items() if amount > 0}
        copies = np.min([np.maximum(self._free[name], 0) // amount for name, amount in wanted.items()], axis=0)
        return int(np.minimum(copies, self.n_wanted).sum())

    def most_for_all(self, name: str, most: int) -> int:
        """How much of a resource, and no more than `most`, all replicas can request; 0 where not all have room."""
        least = 0
        while least < most:
            middle = (least + most + 1) // 2
            least, most = (middle, most) if self.count({name: middle}) >= self.n_wanted else (least, middle - 1)
        return least


def _free(case: Case, name: str) -> IntVector:
    if name == _PLACES:
        places: IntVector = (case.nodes.allowed_pods - case.nodes.n_pods).astype(np.int64)
        return places
    row = case.nodes.columns.resources.find(name)
    if row is None:
        return np.zeros(len(case.nodes), dtype=np.int64)
    free: IntVector = case.nodes.allocatable[row] - case.nodes.requested[row]
    return free


def _wanted(case: Case) -> int:
    owner = case.pod.metadata.controller
    known = None if owner is None else case.object_of(owner.kind, f"{case.pod.namespace}/{owner.name}")
    if isinstance(known, Job):
        return known.spec.parallelism
    return known.replicas if isinstance(known, ReplicaSet | ReplicationController | StatefulSet) else 1
