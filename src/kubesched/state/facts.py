"""The facts of a cluster: its columns, its objects, and the relations between them, updated together."""

from collections.abc import Mapping

from kubesched.api import Node
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state.columns import NodeColumns
from kubesched.state.devices import Devices
from kubesched.state.disruption_budgets import Budgets
from kubesched.state.groups import PodGroups
from kubesched.state.objects import ObjectStore
from kubesched.state.pod_info import Parts, PodInfo
from kubesched.state.service_selectors import ServiceSelectors
from kubesched.state.term_counts import TermCounts
from kubesched.state.volumes import Volumes


class ClusterFacts:
    """Everything that is known of a cluster. Its subclass ClusterState changes it; all others only read.

    Attributes:
        release: the version of Kubernetes that decides. Fields that it does not read are not known here.
        n_relations: grows when a pod with affinity terms comes or goes.
    """

    def __init__(self, release: Release = DEFAULT_RELEASE) -> None:
        self.release = release
        self.n_relations = 0
        self.columns = NodeColumns()
        self.parts = Parts(release)
        self.objects = ObjectStore()
        self.groups = PodGroups(self.columns)
        self.required_anti_affinity = TermCounts()
        self.required_affinity = TermCounts()
        self.preferred_affinity = TermCounts()
        self.preferred_anti_affinity = TermCounts()
        self.volumes = Volumes(self.columns, self.objects, release)
        self.services = ServiceSelectors(self.objects)
        self.disruption_budgets = Budgets(self.objects)
        self.devices = Devices(self.columns, self.objects, release)

    def sizes(self) -> dict[str, int]:
        """How much the registries of values hold that objects and pods have, by name.

        Entries follow the objects that there are; groups and parts also what is kept of past pods. A test measures the
        other tables of a scheduler.
        """
        counts = {
            "required anti-affinity": self.required_anti_affinity,
            "required affinity": self.required_affinity,
            "preferred affinity": self.preferred_affinity,
            "preferred anti-affinity": self.preferred_anti_affinity,
        }
        return {
            **self.columns.sizes(),
            **self.parts.sizes(),
            **{f"{name}, {kind}": n for name, terms in counts.items() for kind, n in terms.sizes().items()},
            **self.volumes.sizes(),
            "groups": len(self.groups),
            **self.devices.sizes(),
            "group bytes": self.groups.n_bytes,
        }

    def _change_node(self, row: int, node: Node) -> None:
        """A changed object for a row; pods are related to each other by labels of their nodes."""
        old = self.columns.nodes[row]
        moved = self.columns.pods[row] if old is None or old.labels != node.labels else []
        for info in moved:
            self._relate(row, info, -1)
        self.columns.update_node(row, node)
        for info in moved:
            self._relate(row, info, 1)

    def _undo_node_change(self, row: int, node: Node, image_sizes: Mapping[str, int]) -> None:
        self._change_node(row, node)
        self.columns.restore_image_sizes(image_sizes)

    def _relate(self, row: int, info: PodInfo, sign: int) -> None:
        self.groups.move(row, info, sign)
        if info.pod.spec.volumes:
            self.volumes.move(row, info, sign)
        if info.pod.spec.affinity is None:
            return
        terms = info.terms.value
        if terms:
            self.n_relations += 1
            columns = self.columns
            self.required_anti_affinity.move(terms.required_anti_affinity, row, sign, columns)
            self.required_affinity.move(terms.required_affinity, row, sign, columns)
            self.preferred_affinity.move(terms.preferred_affinity, row, sign, columns)
            self.preferred_anti_affinity.move(terms.preferred_anti_affinity, row, sign, columns)

    def _namespaces_changed(self) -> None:
        for counts in (
            self.required_anti_affinity,
            self.required_affinity,
            self.preferred_affinity,
            self.preferred_anti_affinity,
        ):
            counts.namespaces_changed()
