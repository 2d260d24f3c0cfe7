"""Finds the nodes on which a claim's storage class can create a volume.

Rule: kube-scheduler v1.36 VolumeBinding, dynamic provisioning. Claims are judged one by one: their sizes are not
summed.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.api import CSIDriver, PersistentVolumeClaim, Requirement, StorageClass, whole_units
from kubesched.engine import BoolVector
from kubesched.state import Nodes, Snapshot, storage_class_of, storage_request

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
    if storage_class.provisioner in _NO_PROVISIONER:
        return np.full(len(nodes), NONE_TO_BIND, dtype=np.int16)
    problems = np.zeros(len(nodes), dtype=np.int16)
    if not _has_room_everywhere(claim, storage_class, snapshot):
        size = whole_units("storage", storage_request(claim) or 0)
        problems[~snapshot.cluster_state.volumes.capacities.has_room(storage_class.name, size, nodes)] = NO_STORAGE
    if storage_class.allowed_topologies:
        problems[~_is_allowed(storage_class, nodes)] = NONE_TO_BIND
    return problems


def _is_allowed(storage_class: StorageClass, nodes: Nodes) -> BoolVector:
    """(n,) bool: nodes that satisfy some term of allowedTopologies; an empty term holds nowhere."""
    allowed = np.zeros(len(nodes), dtype=np.bool_)
    for term in storage_class.allowed_topologies or ():
        wanted = term.match_label_expressions or ()
        satisfied = np.full(len(nodes), bool(wanted))
        for expression in wanted:
            satisfied &= nodes.satisfying(Requirement(expression.key, "In", expression.values or ()))
        allowed |= satisfied
    return allowed


def _has_room_everywhere(claim: PersistentVolumeClaim, storage_class: StorageClass, snapshot: Snapshot) -> bool:
    """Whether capacity does not matter: nothing is asked for, or the driver does not publish any."""
    driver = snapshot.get("CSIDriver", "", storage_class.provisioner)
    publishes = isinstance(driver, CSIDriver) and bool(driver.spec.storage_capacity)
    return not publishes or storage_request(claim) is None
