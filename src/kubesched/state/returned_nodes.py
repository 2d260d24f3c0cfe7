"""Nodes as kube-scheduler knows them after an extender has returned them as objects: without pods and images."""

from collections.abc import Sequence

from kubesched.state.nodes import Nodes, WhatIfNodes
from kubesched.state.pod_info import PodInfo


class ReturnedNodes(WhatIfNodes):
    """A copy of a table without the pods on its nodes; the cluster does not change.

    Rule: kube-scheduler v1.33 to v1.36 scores the objects of an extender's answer: no pods are known on them,
        and no images. A v1.32 looks the nodes up by name.

    Example:
        with FakeCluster(nodes=[make_node("n1")], pods=[make_pod("web", node="n1")]) as cluster:
            assert ReturnedNodes(cluster.nodes).n_pods.tolist() == [0]
    """

    is_known = False

    def __init__(self, source: Nodes) -> None:
        super().__init__(source)
        self._sums[:] = 0

    def pods(self, position: int) -> Sequence[PodInfo]:
        """None."""
        return ()
