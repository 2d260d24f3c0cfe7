"""Finds the nodes on which a claim's storage class can create a volume.

Rule: kube-scheduler v1.36 VolumeBinding, dynamic provisioning. Claims are judged one by one: their sizes are not
summed.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.api import CSIDriver, PersistentVolumeClaim, Requirement, StorageClass, whole_units
from kubesched.engine import BoolVector
from kubesched.state import NO_CAPACITY, Nodes, Snapshot, storage_class_of, storage_request

NONE_TO_BIND: Final = 1
"""The class makes no volumes, or none for this node."""
NO_STORAGE: Final = 2
"""The driver publishes its capacity, and has too little for this node."""

_NO_PROVISIONER: Final = ("", "kubernetes.io/no-provisioner")


def provisioning_problems(claim: PersistentVolumeClaim, snapshot: Snapshot, nodes: Nodes) -> npt.NDArray[np.int16]:
    """What keeps a volume from being made for each node.

    Args:
        claim: of a class that exists.
    Returns: (n,) 0 where nothing does, else NONE_TO_BIND or NO_STORAGE.
    """
    storage_class = snapshot.get("StorageClass", "", storage_class_of(claim))
    assert isinstance(storage_class, StorageClass), "PreFilter lets only claims of known classes wait for their pod"
    if not makes_volumes(storage_class):
        return np.full(len(nodes), NONE_TO_BIND, dtype=np.int16)
    problems = np.zeros(len(nodes), dtype=np.int16)
    size = storage_request(claim)
    if size is not None and publishes_capacity(storage_class, snapshot):
        largest = snapshot.cluster_state.volumes.capacities.largest(storage_class.name, nodes)
        problems[(largest < whole_units("storage", size)) | (largest == NO_CAPACITY)] = NO_STORAGE
    if storage_class.allowed_topologies:
        problems[~allowed_nodes(storage_class, nodes)] = NONE_TO_BIND
    return problems


def makes_volumes(storage_class: StorageClass) -> bool:
    """Whether volumes are made when a claim asks for one; otherwise they have to be there."""
    return storage_class.provisioner not in _NO_PROVISIONER


def allowed_nodes(storage_class: StorageClass, nodes: Nodes) -> BoolVector:
    """(n,) bool: nodes that satisfy some term of allowedTopologies, all without any; an empty term holds nowhere."""
    allowed = np.full(len(nodes), not storage_class.allowed_topologies)
    for term in storage_class.allowed_topologies or ():
        wanted = term.match_label_expressions or ()
        satisfied = np.full(len(nodes), bool(wanted))
        for expression in wanted:
            satisfied &= nodes.satisfying(Requirement(expression.key, "In", expression.values or ()))
        allowed |= satisfied
    return allowed


def publishes_capacity(storage_class: StorageClass, snapshot: Snapshot) -> bool:
    """Whether the driver of a class says how much storage there is."""
    driver = snapshot.get("CSIDriver", "", storage_class.provisioner)
    return isinstance(driver, CSIDriver) and bool(driver.spec.storage_capacity)
