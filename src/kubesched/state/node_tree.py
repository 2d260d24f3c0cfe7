"""The order of nodes in kube-scheduler: round-robin over zones.

Rule: kube-scheduler v1.36 node tree: zones in order of first appearance, nodes of a zone in order of addition; the list
takes the first node of every zone, then the second of every zone, and so on. It is rebuilt for a snapshot whose names
are not those of the last one: a changed zone waits for that, and a node that left and came back does not cause it.
"""

from typing import Final

from kubesched.api import BETA_REGION, BETA_ZONE, REGION, ZONE, Node
from kubesched.state.journal import Fork

_REGION = (BETA_REGION, REGION)
_ZONE = (BETA_ZONE, ZONE)
ZONE_LABELS: Final = (*_REGION, *_ZONE)
"""The label keys that `zone_key` reads."""


def zone_key(node: Node) -> str:
    """The zone that a node is listed under: region and zone, deprecated labels first; empty without both."""
    labels = node.labels
    region = next((labels[key] for key in _REGION if key in labels), "")
    zone = next((labels[key] for key in _ZONE if key in labels), "")
    return f"{region}:\x00:{zone}" if region or zone else ""


class NodeTree:
    """Nodes by zone, and their listing.

    Attributes:
        listing: the names of all nodes, in the order in which kube-scheduler looks at them; as of the last `refresh`.
    """

    __slots__ = ("_is_stale", "_zone_of", "_zones", "listing")

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}
        self._is_stale = False
        self.listing: list[str] = []

    def add(self, node: Node, fork: Fork | None = None) -> None:
        """A node appeared."""
        if fork is not None:
            fork.record(self._take, node.name)
        self._put(node)
        self._is_stale = True

    def update(self, node: Node, fork: Fork | None = None) -> None:
        """A node changed; another zone takes effect when the listing is rebuilt."""
        if self._zone_of[node.name] != zone_key(node):
            if fork is not None:
                self._record_place(node.name, fork)
            self._take(node.name)
            if fork is not None:
                fork.record(self._take, node.name)
            self._put(node)

    def remove(self, name: str, fork: Fork | None = None) -> None:
        """A node is gone."""
        if fork is not None:
            self._record_place(name, fork)
        self._take(name)
        self._is_stale = True

    def refresh(self) -> None:
        """Rebuild the listing if its nodes are not those of the cluster; called for every snapshot."""
        if self._is_stale and self._zone_of.keys() != set(self.listing):
            zones = [list(nodes) for nodes in self._zones.values()]
            longest = max(map(len, zones), default=0)
            self.listing = [nodes[i] for i in range(longest) for nodes in zones if i < len(nodes)]
        self._is_stale = False

    def _put(self, node: Node) -> None:
        zone = zone_key(node)
        self._zones.setdefault(zone, {})[node.name] = None
        self._zone_of[node.name] = zone

    def _take(self, name: str) -> None:
        zone = self._zone_of.pop(name)
        del self._zones[zone][name]
        if not self._zones[zone]:
            del self._zones[zone]

    # --- forks ---

    def listed(self) -> tuple[list[str], bool]:
        """The listing, and whether nodes have come or gone since it was made."""
        return self.listing, self._is_stale

    def restore_listing(self, listing: list[str], is_stale: bool) -> bool:
        """Take back what `refresh` did. Returns: whether it did anything."""
        is_same = self.listing is listing and self._is_stale == is_stale
        self.listing, self._is_stale = listing, is_stale
        return not is_same

    def _record_place(self, name: str, fork: Fork) -> None:
        zone = self._zone_of[name]
        fork.record(self._put_back, name, zone, (*self._zones[zone],), (*self._zones,))

    def _put_back(self, name: str, zone: str, names: tuple[str, ...], zones: tuple[str, ...]) -> None:
        """A node that was taken out is in its place again, among the nodes of its zone and its zone among the zones."""
        self._zone_of[name] = zone
        known = self._zones
        self._zones = {key: dict.fromkeys(names) if key == zone else known[key] for key in zones}
