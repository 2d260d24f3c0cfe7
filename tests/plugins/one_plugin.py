"""One plugin asked about one pod, hook by hook as the framework would, with no other plugin around.

Objects are written as plain dicts, so that the same ones can be shown to the slow reference.
"""

import json
from typing import Any

import numpy as np

from kubesched.api import EventType, KubeObject, Pod, WatchEvent, decode_object
from kubesched.framework import CycleState, Handle, Plugin, PreFilterResult, Status
from kubesched.framework.hook_answers import as_scores, as_verdicts
from kubesched.framework.reads import readable
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state import ClusterState, Nodes


def node(
    name: str, *, labels: dict | None = None, allocatable: dict | None = None, images: dict | None = None, **spec: Any
) -> dict:
    """A node; `images` is name -> size in bytes."""
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"} if allocatable is None else allocatable}
    if images:
        status["images"] = [{"names": [image], "sizeBytes": size} for image, size in images.items()]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": status,
    }


def pod(name: str = "p", *, requests: dict | None = None, ports: list[dict] | None = None, **spec: Any) -> dict:
    """A pod with one container, unless `containers` says otherwise."""
    container: dict[str, Any] = {"name": "c", "image": "app"}
    if requests:
        container["resources"] = {"requests": requests}
    if ports:
        container["ports"] = ports
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], **spec},
        "status": {},
    }


def read(document: dict) -> KubeObject:
    return decode_object(document["kind"], json.dumps(document).encode())


def read_pod(document: dict) -> Pod:
    found = read(document)
    assert isinstance(found, Pod)
    return found


GONE = node("gone")


def load(items: list[dict], *, hole: bool = False, release: Release = DEFAULT_RELEASE) -> ClusterState:
    """The state after the events of these objects; pending pods are left out. `hole`: row 0 was given back."""
    cluster_state = ClusterState(release)
    if hole:
        cluster_state.apply(WatchEvent(EventType.ADDED, "Node", read(GONE)))
    placed = [item for item in items if item["kind"] != "Pod" or item["spec"].get("nodeName")]
    cluster_state.load([(item["kind"], read(item)) for item in placed])
    if hole:
        cluster_state.apply(WatchEvent(EventType.DELETED, "Node", read(GONE)))
    return cluster_state


class Asked:
    """A plugin in the middle of a cycle.

    Attributes:
        cluster: what it sees.
        state, pod: what its hooks get.
        nodes: the whole table.
    """

    def __init__(
        self,
        plugin: Plugin,
        items: list[dict],
        incoming: dict,
        *,
        hole: bool = False,
        release: Release = DEFAULT_RELEASE,
    ) -> None:
        self.plugin = plugin
        self.plugin.release = release
        self.cluster = load(items, hole=hole, release=release)
        self.plugin.handle = Handle(self.cluster, reads=readable(self.plugin.name, self.plugin.reads))
        self.pod = read_pod(incoming)
        self.state = CycleState(self.cluster.pod_info(self.pod))
        self.nodes = self.cluster.snapshot().nodes

    def pre_filter(self) -> Status | PreFilterResult:
        return self.plugin.pre_filter(self.state, self.pod, self.nodes)

    def pre_score(self) -> Status:
        return self.plugin.pre_score(self.state, self.pod, self.nodes)

    def filter(self, nodes: Nodes | None = None) -> dict[str, Status]:
        """The rejected nodes of a table, the whole one by default."""
        table = self.nodes if nodes is None else nodes
        found = as_verdicts(self.plugin, self.plugin.filter_nodes(self.state, self.pod, table), len(table))
        return {
            name: found.status(value) for name, value in zip(table.names, found.values.tolist(), strict=True) if value
        }

    def score(self, nodes: Nodes | None = None) -> dict[str, int]:
        """The scores of a table before they are normalised."""
        table = self.nodes if nodes is None else nodes
        scores = as_scores(self.plugin, self.plugin.score_nodes(self.state, self.pod, table), len(table))
        return dict(zip(table.names, scores.tolist(), strict=True))

    def normalized(self) -> dict[str, int]:
        """The scores of all nodes after they are normalised."""
        scores = np.array(list(self.score().values()), dtype=np.int64)
        return dict(
            zip(self.nodes.names, self.plugin.normalize_score(self.state, self.pod, scores).tolist(), strict=True)
        )

    def rows(self) -> list[Nodes]:
        """Each node as a table of its own."""
        return [self.nodes.select(np.array([position])) for position in range(len(self.nodes))]
