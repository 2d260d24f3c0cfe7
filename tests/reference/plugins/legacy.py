"""Plugins that kube-scheduler no longer has, by the rules of v1.20; slow, one node at a time."""

import json

from tests.reference import objects, storage
from tests.reference.framework import SKIP, Plugin, PreFilter, Status, round_half_away
from tests.reference.plugins.node_resources_fit import broken_linear
from tests.reference.plugins.pod_topology_spread import deduced_selector
from tests.reference.plugins.volume_restrictions import DISKS, disks_conflict

CPU_AND_MEMORY = [{"name": "cpu"}, {"name": "memory"}]
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


class ServiceAffinity(Plugin):
    """Pods of a service on nodes with equal labels; spread over the values of other labels by score."""

    name = "ServiceAffinity"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        if not self.args.get("affinityLabels"):
            return SKIP
        mine = objects.labels_of(pod).items()
        self.state = {
            "services": services_of(pod, cluster),
            "matching": [
                (node.name, other)
                for node in in_tree_order(cluster)
                for other in node.pods
                if objects.namespace_of(other) == objects.namespace_of(pod) and mine <= objects.labels_of(other).items()
            ],
        }
        return PreFilter()

    def filter(self, pod: dict, node) -> Status | None:
        keys, selector = self.args["affinityLabels"], pod["spec"].get("nodeSelector") or {}
        wanted = {key: selector[key] for key in keys if key in selector}
        followed = [name for name, other in self.state["matching"] if name != node.name or other in node.pods]
        if len(wanted) < len(keys) and self.state["services"] and followed:
            labels = node.cluster.node(followed[0]).labels
            wanted |= {key: labels[key] for key in keys if key in labels and key not in wanted}
        if wanted.items() <= node.labels.items():
            return None
        return self.unschedulable("node(s) didn't match service affinity")

    def score(self, pod: dict, node) -> int:
        self.scoring = node.cluster
        services = services_of(pod, node.cluster)
        if not services:
            return 0
        return sum(
            objects.namespace_of(other) == objects.namespace_of(pod)
            and not objects.is_terminating(other)
            and services[0].items() <= objects.labels_of(other).items()
            for other in node.pods
        )

    def normalize(self, scores: dict[str, int]) -> None:
        keys, total = self.args.get("antiAffinityLabelsPreference", ()), sum(scores.values())
        points = dict.fromkeys(scores, 0.0)
        for key in keys:
            value_of = {name: self.scoring.node(name).labels.get(key) for name in scores}
            for name, value in value_of.items():
                if value is not None:
                    same = sum(scores[other] for other in scores if value_of[other] == value)
                    points[name] += (100.0 * ((total - same) / total) if total else 100.0) / len(keys)
        scores |= {name: int(earned) for name, earned in points.items()}


def services_of(pod: dict, cluster) -> list[dict]:
    """The selectors of the services that select a pod."""
    selectors = [service["spec"].get("selector") for service in cluster.list("Service", objects.namespace_of(pod))]
    return [one for one in selectors if one and one.items() <= objects.labels_of(pod).items()]


def in_tree_order(cluster) -> list:
    """One node of each zone in turn, zones and their nodes as they came; a zone keeps its place while it has nodes."""
    zones: dict[tuple[str, str], list] = {zone_of(node): [] for node in cluster.left}
    for node in cluster.nodes:
        zones.setdefault(zone_of(node), []).append(node)
    longest = max(map(len, zones.values()), default=0)
    return [members[i] for i in range(longest) for members in zones.values() if i < len(members)]


class NodePreferAvoidPods(Plugin):
    """Nodes whose annotation names the pod's controller score 0."""

    name = "NodePreferAvoidPods"

    def score(self, pod: dict, node) -> int:
        owner = next((o for o in pod["metadata"].get("ownerReferences") or () if o.get("controller")), None)
        if owner is None or owner["kind"] not in ("ReplicationController", "ReplicaSet"):
            return 100
        annotations = node.object["metadata"].get("annotations") or {}
        try:
            avoided = json.loads(annotations.get("scheduler.alpha.kubernetes.io/preferAvoidPods") or "{}")
            named = [one["podSignature"]["podController"] for one in avoided.get("preferAvoidPods") or ()]
        except (ValueError, TypeError):
            return 100
        return 0 if any((one["kind"], one["uid"]) == (owner["kind"], owner["uid"]) for one in named) else 100


class Allocated(Plugin):
    """Base of the plugins that score by resources."""

    def used_and_room(self, pod: dict, node) -> list[tuple[int, int, int]]:
        """Used with the pod, room and weight of each configured resource."""
        request = objects.pod_requests(pod, pod_level=False, defaults=objects.DEFAULT_REQUESTS)
        weights = {r["name"]: r.get("weight") or 1 for r in self.args.get("resources") or CPU_AND_MEMORY}
        found = []
        for name, weight in weights.items():
            on_node = node.non_zero_requested if name in ("cpu", "memory") else node.requested
            wanted = objects.units(name, request.get(name, 0))
            found.append((on_node.get(name, 0) + wanted, node.allocatable.get(name, 0), weight))
        return found


class NodeResourcesLeastAllocated(Allocated):
    name = "NodeResourcesLeastAllocated"

    def score(self, pod: dict, node) -> int:
        found = self.used_and_room(pod, node)
        earned = [(0 if room == 0 or used > room else (room - used) * 100 // room) * w for used, room, w in found]
        return sum(earned) // sum(w for _, _, w in found)


class NodeResourcesMostAllocated(Allocated):
    name = "NodeResourcesMostAllocated"

    def score(self, pod: dict, node) -> int:
        found = self.used_and_room(pod, node)
        earned = [(0 if room == 0 or used > room else used * 100 // room) * w for used, room, w in found]
        return sum(earned) // sum(w for _, _, w in found)


class RequestedToCapacityRatio(Allocated):
    name = "RequestedToCapacityRatio"

    def score(self, pod: dict, node) -> int:
        shape = [(p["utilization"], 10 * p["score"]) for p in self.args["shape"]]
        scored = []
        for used, room, weight in self.used_and_room(pod, node):
            at = 100 if room == 0 or used > room else 100 - (room - used) * 100 // room
            scored.append((broken_linear(shape, at), weight))
        weights = sum(w for s, w in scored if s > 0)
        return round_half_away(sum(s * w for s, w in scored) / weights) if weights else 0


class NodeResourceLimits(Plugin):
    """1 where the node has as much cpu or memory as the pod may use."""

    name = "NodeResourceLimits"

    def score(self, pod: dict, node) -> int:
        return int(any(0 < limit_of(pod, name) <= node.allocatable.get(name, 0) for name in ("cpu", "memory")))


def limit_of(pod: dict, name: str) -> int:
    def of(container: dict) -> int:
        return objects.units(
            name, objects.quantity(((container.get("resources") or {}).get("limits") or {}).get(name, 0))
        )

    spec = pod["spec"]
    return max([sum(map(of, spec["containers"])), *map(of, spec.get("initContainers") or ())])


class NoDiskConflict(Plugin):
    """A disk written into the pod itself cannot be shared on a node."""

    name = "NoDiskConflict"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        has_disks = any(volume.get(disk) is not None for volume in storage.volumes_of(pod) for disk in DISKS)
        return PreFilter() if has_disks else SKIP

    def filter(self, pod: dict, node) -> Status | None:
        if any(
            disks_conflict(mine, theirs)
            for other in node.pods
            for mine in storage.volumes_of(pod)
            for theirs in storage.volumes_of(other)
        ):
            return self.unschedulable("node(s) had no available disk")
        return None


class VolumeLimits(Plugin):
    """Base of the plugins that count in-tree volumes of one kind."""

    field, default = "", 0

    def filter(self, pod: dict, node) -> Status | None:
        wanted = self.volumes(pod, node.cluster)
        csi_node = node.cluster.get("CSINode", node.name)
        migrated = ((csi_node or {}).get("metadata", {}).get("annotations") or {}).get(storage.MIGRATED_ANNOTATION, "")
        if not wanted or storage.IN_TREE[self.field][0] in migrated.split(","):
            return None
        present = {volume for other in node.pods for volume in self.volumes(other, node.cluster)}
        if len(present | wanted) > (self.args.get("maxVolumes") or self.default):
            return self.unschedulable("node(s) exceed max volume count")
        return None

    def volumes(self, pod: dict, cluster) -> set[str]:
        found = set()
        for volume in storage.volumes_of(pod):
            name = storage.claim_of(pod, volume)
            claim = cluster.get("PersistentVolumeClaim", name, objects.namespace_of(pod)) if name else None
            spec = volume
            if claim is not None:
                persistent = cluster.get("PersistentVolume", claim["spec"].get("volumeName") or "")
                if persistent is None:
                    storage_class = cluster.get("StorageClass", storage.class_of(claim)) or {}
                    if storage_class.get("provisioner") == storage.IN_TREE[self.field][0]:
                        found.add(f"claim {objects.full_name(claim)}")
                    continue
                spec = persistent["spec"]
            if storage.in_tree_source(spec) == self.field:
                source = spec[self.field]
                found.add(source.get("volumeID") or source.get("pdName") or source.get("diskURI"))
        return found


class EBSLimits(VolumeLimits):
    name, field, default = "EBSLimits", "awsElasticBlockStore", 39


class GCEPDLimits(VolumeLimits):
    name, field, default = "GCEPDLimits", "gcePersistentDisk", 16


class AzureDiskLimits(VolumeLimits):
    name, field, default = "AzureDiskLimits", "azureDisk", 16


class CinderLimits(VolumeLimits):
    name, field, default = "CinderLimits", "cinder", 256


class EqualPriority(Plugin):
    name = "EqualPriority"

    def score(self, pod: dict, node) -> int:
        return 1


LEGACY = {
    cls.name: cls
    for cls in (
        SelectorSpread,
        NodeLabel,
        ServiceAffinity,
        NodePreferAvoidPods,
        RequestedToCapacityRatio,
        NodeResourcesLeastAllocated,
        NodeResourcesMostAllocated,
        NodeResourceLimits,
        NoDiskConflict,
        EBSLimits,
        GCEPDLimits,
        AzureDiskLimits,
        CinderLimits,
        EqualPriority,
    )
}
