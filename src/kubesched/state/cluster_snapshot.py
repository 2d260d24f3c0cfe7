"""The view of a scheduling cycle on the cluster: read-only, valid for one generation of ClusterState."""

from typing import Any, cast

import numpy as np

from kubesched.api import KubeObject, Namespace
from kubesched.errors import StateError
from kubesched.state.facts import ClusterFacts
from kubesched.state.node_tree import NodeTree
from kubesched.state.nodes import NodeInfo, Nodes, Rows


class Snapshot:
    """The cluster at one moment.

    Attributes:
        nodes: the table of all nodes.
        n_nodes: how many there are.
        cluster_state: what it is a view of, with the relations between placed pods.
        columns, objects, groups: those of the cluster state.

    Example:
        def pre_filter(self, state, pod, nodes):
            claim = self.handle.snapshot().get("PersistentVolumeClaim", "data", pod.namespace)
            return Status.SUCCESS if claim else Status.unresolvable("the claim does not exist")
    """

    __slots__ = (
        "_order",
        "_places",
        "_start",
        "_tree",
        "cluster_state",
        "columns",
        "groups",
        "n_nodes",
        "nodes",
        "objects",
    )

    def __init__(self, cluster_state: ClusterFacts, tree: NodeTree) -> None:
        columns = cluster_state.columns
        self.columns = columns
        self.objects = cluster_state.objects
        self.groups = cluster_state.groups
        self.cluster_state = cluster_state
        tree.refresh()
        self._tree = tree
        self._order: Rows | None = None
        self._places: Rows | None = None  # for a search that begins at _start
        self._start = 0
        rows = np.flatnonzero(columns.alive[: columns.n_rows]) if columns.rows.free else None
        self.nodes = Nodes(columns, rows)
        self.n_nodes = columns.n_nodes

    def order(self) -> Rows:
        """(n_nodes,) rows in node-tree order, the order in which kube-scheduler looks at nodes. Read only."""
        if self._order is None:
            row_of = self.columns.row_of
            self._order = np.array([row_of[name] for name in self._tree.listing], dtype=np.intp)
        return self._order

    def places(self, start: int) -> Rows:
        """(n_rows,) the place of each node's row in a search of all nodes that begins at order()[start]. Read only."""
        if self._places is None or self._start != start:
            self._places = np.zeros(self.columns.n_rows, dtype=np.intp)
            self._places[np.roll(self.order(), -start)] = np.arange(self.n_nodes)
            self._start = start
        return self._places

    def node_info(self, name: str) -> NodeInfo:
        """One node with the pods on it, assumed ones included.

        Raises:
            StateError: there is no such node; the node of a Reserve call exists.
        """
        position = self.nodes.position_of(name)
        if position is None:
            raise StateError(f"node {name} is not in the snapshot")
        return self.nodes[position]

    def get(self, kind: str, namespace: str, name: str) -> KubeObject | None:
        """An object by kind and name; None when there is none. The namespace is empty for kinds outside namespaces."""
        return self.objects.get(kind, f"{namespace}/{name}" if namespace else name)

    def list(self, kind: str, namespace: str = "") -> list[Any]:
        """All objects of a kind, of one namespace if given, in order of appearance."""
        return [obj for obj in self.objects.list(kind) if namespace in ("", obj.namespace)]

    def namespace_labels(self, name: str) -> dict[str, str]:
        """A namespace's labels; empty when there is no such object."""
        namespace = cast("Namespace | None", self.objects.get("Namespace", name))
        return namespace.labels if namespace is not None else {}
