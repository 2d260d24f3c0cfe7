"""Where a StorageClass makes a new volume: it is allowed there, its driver runs there and has room for it."""

import numpy as np

from kubesched.api import PersistentVolumeClaim, StorageClass, whole_units
from kubesched.engine import BoolVector
from kubesched.explanation.absent_drivers import nodes_without_driver
from kubesched.explanation.remedies.case import Case
from kubesched.plugins import allowed_nodes, publishes_capacity
from kubesched.state import storage_request


def makes_on(case: Case, storage_class: StorageClass, claim: PersistentVolumeClaim) -> BoolVector:
    """(nodes,) bool: nodes for which a class makes the volume of a claim."""
    snapshot = case.evaluation.snapshot
    there = allowed_nodes(storage_class, case.nodes)
    names = [case.nodes.name(position) for position in np.flatnonzero(there).tolist()]
    for name in nodes_without_driver(case.object_of, storage_class.provisioner, names):
        there[case.nodes.position_of(name)] = False
    size = storage_request(claim)
    if size is not None and publishes_capacity(storage_class, snapshot):
        largest = snapshot.cluster_state.volumes.capacities.largest(storage_class.name, case.nodes)
        there &= largest >= whole_units("storage", size)
    return there
