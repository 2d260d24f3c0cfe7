"""Plugins that kube-scheduler no longer has, by the rules of v1.20; slow, one node at a time."""

from tests.reference import objects
from tests.reference.framework import Plugin, Status
from tests.reference.plugins.pod_topology_spread import deduced_selector

REGION = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
ZONE = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


class SelectorSpread(Plugin):
    """Few pods of the same services and controller on the node, and in its zone."""

    name = "SelectorSpread"

    def pre_score(self, pod: dict, cluster, feasible: list) -> bool:
        self.scoring = {"selector": deduced_selector(pod, cluster), "nodes": {node.name: node for node in feasible}}
        return bool(pod["spec"].get("topologySpreadConstraints"))

    def score(self, pod: dict, node) -> int:
        selector = self.scoring["selector"]
        if objects.is_empty_selector(selector):
            return 0
        return sum(
            objects.namespace_of(other) == objects.namespace_of(pod)
            and not objects.is_terminating(other)
            and objects.selector_matches(selector, objects.labels_of(other))
            for other in node.pods
        )

    def normalize(self, scores: dict[str, int]) -> None:
        zones = {name: zone_of(self.scoring["nodes"][name]) for name in scores}
        by_zone: dict[tuple[str, str], int] = {}
        for name, zone in zones.items():
            if zone != ("", ""):
                by_zone[zone] = by_zone.get(zone, 0) + scores[name]
        most, most_in_zone = max(scores.values()), max(by_zone.values(), default=0)
        for name, count in list(scores.items()):
            points = 100.0 * ((most - count) / most) if most else 100.0
            if zones[name] in by_zone:
                inside = 100.0
                if most_in_zone:
                    inside = 100.0 * ((most_in_zone - by_zone[zones[name]]) / most_in_zone)
                points = points * (1.0 - 2.0 / 3.0) + 2.0 / 3.0 * inside
            scores[name] = int(points)


def zone_of(node) -> tuple[str, str]:
    """Region and zone; the deprecated label counts where it exists, even if empty."""
    region, zone = (next((node.labels[key] for key in keys if key in node.labels), "") for keys in (REGION, ZONE))
    return region, zone


class NodeLabel(Plugin):
    """Label keys that a node must have or lack; the share of the preferences that it satisfies."""

    name = "NodeLabel"

    def filter(self, pod: dict, node) -> Status | None:
        present, absent = self.args.get("presentLabels", ()), self.args.get("absentLabels", ())
        if all(key in node.labels for key in present) and not any(key in node.labels for key in absent):
            return None
        return self.unresolvable("node(s) didn't have the requested labels")

    def score(self, pod: dict, node) -> int:
        present = self.args.get("presentLabelsPreference", ())
        absent = self.args.get("absentLabelsPreference", ())
        earned = 100 * sum(key in node.labels for key in present) + 100 * sum(key not in node.labels for key in absent)
        return earned // (len(present) + len(absent)) if present or absent else 0


LEGACY = {cls.name: cls for cls in (SelectorSpread, NodeLabel)}
