"""What reports say of a cluster in memory as it is now."""

from collections.abc import Iterable, Iterator

from kubesched.api import ObjectMeta, Pod, PodOwners
from kubesched.controllers import Allowance
from kubesched.framework import DeletePod
from kubesched.session.device_use import DeviceCatalog, DeviceUse
from kubesched.session.fill import Fill
from kubesched.session.node_groups import GroupsByNode
from kubesched.session.report import Victim
from kubesched.state import ClusterState


class ClusterNow:
    """Facts of a cluster state, computed when they are first read.

    Attributes:
        cluster_state: the cluster.
    """

    def __init__(self, cluster_state: ClusterState) -> None:
        self.cluster_state = cluster_state
        self._owners = -1, PodOwners(())  # of a generation
        self._catalog = DeviceCatalog(cluster_state)
        self._grouped: tuple[list[ObjectMeta], GroupsByNode] = (
            [],
            GroupsByNode(()),
        )  # the groups of nodes with these labels

    def fill(self) -> Fill:
        """How full the nodes are."""
        return Fill(self.cluster_state.columns, self._catalog.now())

    def device_uses(self) -> list[DeviceUse]:
        """Every device of ResourceSlices that a node can use, with who has it."""
        return self._catalog.uses()

    def allowance(self) -> Allowance:
        """What the disruption budgets of the cluster allow."""
        return Allowance(self.cluster_state.disruption_budgets)

    def owner_of(self, pod: Pod) -> str:
        """`Kind/name` of the workload that a pod belongs to; empty for none."""
        objects = self.cluster_state.objects
        generation = objects.generation("ReplicaSet")
        if generation != self._owners[0]:
            self._owners = generation, PodOwners(objects.list("ReplicaSet"))
        return self._owners[1].owner_of(pod)

    def node_groups(self) -> GroupsByNode:
        """The pool and zone of each node of the cluster."""
        columns = self.cluster_state.columns
        nodes = [node for row in columns.row_of.values() if (node := columns.nodes[row]) is not None]
        labelled = [node.metadata for node in nodes]
        if labelled != self._grouped[0]:
            self._grouped = labelled, GroupsByNode(nodes)
        return self._grouped[1]

    def victims(self, evicted: Iterable[DeletePod]) -> Iterator[Victim]:
        """The evicted pods, with the budgets that this breaks."""
        allowance: Allowance | None = None
        for action in evicted:
            allowance, pod = allowance or self.allowance(), action.pod
            broken = allowance.lose(pod)
            yield Victim(pod.key, self.owner_of(pod), action.node_name, action.preemptor.key, broken)
