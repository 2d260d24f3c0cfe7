"""VolumeZone: a bound volume that carries zone or region labels is reachable only from nodes in one of them.

Rule: kube-scheduler v1.36 VolumeZone. Ephemeral volumes are not looked at; in-tree volumes are not translated.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np

from kubesched.api import (
    BETA_REGION,
    BETA_ZONE,
    REGION,
    ZONE,
    ActionType,
    EventResource,
    KubeObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Requirement,
    StorageClass,
)
from kubesched.engine import BoolVector
from kubesched.framework import CycleState, DependsOn, EventRegistration, Plugin, QueueingHint, Status, Verdicts
from kubesched.plugins.shared_hints import by_claim, nothing, queue_if, registration
from kubesched.state import NO_VOLUMES, NodeInfo, Nodes, storage_class_of

_STABLE_FORM: Final = {
    BETA_ZONE: ZONE,
    BETA_REGION: REGION,
}
_TOPOLOGY: Final = (*_STABLE_FORM, *_STABLE_FORM.values())


class VolumeTopology(msgspec.Struct):
    """What the labels of the pod's volumes demand: a node's label must be one of these values; all demands hold."""

    demands: list[Requirement]


class VolumeZone(Plugin):
    """Nodes outside the zones and regions of the pod's volumes are of no use to it."""

    depends_on = DependsOn.CLUSTER
    equal_by = ("own_claims",)
    reads = ("PersistentVolume", "PersistentVolumeClaim", "StorageClass")
    reasons = (Status.unresolvable("node(s) had no available volume zone"),)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Collect the demands of the bound claims' volumes."""
        if state.pod.volumes is NO_VOLUMES:
            return Status.SKIP
        demands = self._demands(state, pod)
        if isinstance(demands, Status):
            return demands
        if not demands:
            return Status.SKIP
        state.write(VolumeTopology(demands))
        return Status.SUCCESS

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """1 for nodes that have a zone or region, but not a right one."""
        topology = state.find(VolumeTopology)
        demands = self._demands(state, pod) if topology is None else topology.demands
        if isinstance(demands, Status):
            return Verdicts(np.ones(len(nodes), dtype=np.int16), (demands,))
        verdicts = np.zeros(len(nodes), dtype=np.int16)
        if demands:
            has_place = np.zeros(len(nodes), dtype=np.bool_)
            for key in _TOPOLOGY:
                has_place |= nodes.codes(key) > 0
            for demand in demands:
                verdicts |= ~meets_demand(demand, nodes)
            verdicts &= has_place
        return Verdicts(verdicts, self.reasons)

    def _demands(self, state: CycleState, pod: Pod) -> list[Requirement] | Status:
        """What volumes demand, or why that cannot be told."""
        demands: list[Requirement] = []
        for name in state.pod.volumes.direct_claims:
            if not name:
                return Status.unresolvable("PersistentVolumeClaim had no name")
            claim = self.handle.get("PersistentVolumeClaim", pod.namespace, name)
            if not isinstance(claim, PersistentVolumeClaim):
                return Status.unresolvable(f'persistentvolumeclaim "{name}" not found')
            if not claim.spec.volume_name:
                reason = self._why_unbound(claim)
                if reason:
                    return Status.unresolvable(reason)
                continue
            volume = self.handle.get("PersistentVolume", "", claim.spec.volume_name)
            if not isinstance(volume, PersistentVolume):
                return Status.unresolvable(f'persistentvolume "{claim.spec.volume_name}" not found')
            demands += volume_demands(volume)
        return demands

    def _why_unbound(self, claim: PersistentVolumeClaim) -> str:
        """Empty where the claim waits for its first consumer: then it demands nothing yet."""
        class_name = storage_class_of(claim)
        if not class_name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        storage_class = self.handle.get("StorageClass", "", class_name)
        if not isinstance(storage_class, StorageClass):
            return f'storageclass.storage.k8s.io "{class_name}" not found'
        if storage_class.volume_binding_mode is None:
            return f'VolumeBindingMode not set for StorageClass "{class_name}"'
        return "" if storage_class.volume_binding_mode == "WaitForFirstConsumer" else "PersistentVolume had no name"

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each bound volume of another zone or region."""
        for name in state.pod.volumes.direct_claims:
            claim = self.handle.get("PersistentVolumeClaim", pod.namespace, name)
            bound = claim.spec.volume_name if isinstance(claim, PersistentVolumeClaim) else ""
            volume = self.handle.get("PersistentVolume", "", bound) if bound else None
            for demand in volume_demands(volume) if isinstance(volume, PersistentVolume) else ():
                has = node.labels.get(demand.key) or node.labels.get(_STABLE_FORM.get(demand.key, ""), "absent")
                if has not in demand.values:
                    place = f"{demand.key.rpartition('/')[2]} {' or '.join(sorted(demand.values))}"
                    yield f"volume {bound} of claim {name} is in {place}, the node in {has}"

    def events_to_register(self) -> list[EventRegistration]:
        """What the demands are read from comes or changes; nodes come or change their labels."""
        add_or_update = ActionType.ADD | ActionType.UPDATE
        return [
            registration(EventResource.STORAGE_CLASS, ActionType.ADD, _class_added, nothing),
            registration(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
            by_claim(add_or_update, ephemeral=False),
            registration(EventResource.PERSISTENT_VOLUME, add_or_update, _volume_changed, nothing),
        ]


def volume_demands(volume: PersistentVolume) -> list[Requirement]:
    """A demand per zone or region label; one with an empty part, such as `z1__`, is ignored."""
    demands = []
    for key in _TOPOLOGY:
        values = tuple(value.strip() for value in volume.labels.get(key, "").split("__"))
        if all(values):
            demands.append(Requirement(key, "In", values))
    return demands


def meets_demand(demand: Requirement, nodes: Nodes) -> BoolVector:
    """(n,) bool; a node without a deprecated label is judged by the stable form of it."""
    satisfied = nodes.satisfying(demand)
    stable = _STABLE_FORM.get(demand.key)
    if stable is not None:
        lacks = nodes.codes(demand.key) == 0
        satisfied = satisfied | (lacks & nodes.satisfying(Requirement(stable, "In", tuple(demand.values))))
    return satisfied


# --- hints ---


def _class_added(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Worth a try when claims of the class wait for their pod."""
    return queue_if(isinstance(new, StorageClass) and new.volume_binding_mode == "WaitForFirstConsumer")


def _volume_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Worth a try when a volume comes, or demands something else than before."""
    if not isinstance(old, PersistentVolume) or not isinstance(new, PersistentVolume):
        return QueueingHint.QUEUE
    before = {demand.key: demand.values for demand in volume_demands(old)}
    after = {demand.key: demand.values for demand in volume_demands(new)}
    return queue_if(before != after)
