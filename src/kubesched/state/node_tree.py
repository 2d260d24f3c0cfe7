"""The order in which kube-scheduler lists nodes: round-robin over zones.

Rule: kube-scheduler v1.36 node tree: zones in order of first appearance, nodes of a zone in order of addition; the list takes the
first node of every zone, then the second of every zone, and so on. It is rebuilt only when nodes come or go.
"""

from kubesched.api import Node

__all__ = ["NodeTree", "zone_key"]

_REGION = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
_ZONE = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


def zone_key(node: Node) -> str:
    """The zone that a node is listed under: region and zone together, the deprecated labels first; empty without both."""
    labels = node.labels
    region = next((labels[key] for key in _REGION if key in labels), "")
    zone = next((labels[key] for key in _ZONE if key in labels), "")
    return f"{region}:\x00:{zone}" if region or zone else ""


class NodeTree:
    """Nodes by zone, and their listing."""

    __slots__ = ("_listing", "_zone_of", "_zones")

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}
        self._listing: list[str] | None = None

    def add(self, node: Node) -> None:
        """A node appeared."""
        self._put(node)
        self._listing = None

    def update(self, node: Node) -> None:
        """A node changed; another zone takes effect in the listing at the next rebuild."""
        if self._zone_of[node.name] != zone_key(node):
            self._take(node.name)
            self._put(node)

    def remove(self, name: str) -> None:
        """A node is gone."""
        self._take(name)
        self._listing = None

    def listing(self) -> list[str]:
        """The names of all nodes, in the order in which kube-scheduler looks at them."""
        if self._listing is None:
            zones = [list(nodes) for nodes in self._zones.values()]
            longest = max(map(len, zones), default=0)
            self._listing = [nodes[i] for i in range(longest) for nodes in zones if i < len(nodes)]
        return self._listing

    def _put(self, node: Node) -> None:
        zone = zone_key(node)
        self._zones.setdefault(zone, {})[node.name] = None
        self._zone_of[node.name] = zone

    def _take(self, name: str) -> None:
        zone = self._zone_of.pop(name)
        del self._zones[zone][name]
        if not self._zones[zone]:
            del self._zones[zone]
