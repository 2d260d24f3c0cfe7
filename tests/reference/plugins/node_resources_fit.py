"""kube-scheduler v1.36 NodeResourcesFit."""

from tests.reference import objects
from tests.reference.framework import Plugin, PreFilter, Status, divide, round_half_away

BASIC = ("cpu", "memory", "ephemeral-storage")


class NodeResourcesFit(Plugin):
    """The pod's requests must fit what the pods on the node leave free; the score likes nodes fuller or emptier."""

    name = "NodeResourcesFit"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        self.state = {name: objects.units(name, q) for name, q in objects.pod_requests(pod).items()}
        return PreFilter()

    def filter(self, pod: dict, node) -> Status | None:
        reasons, unresolvable = [], False
        if len(node.pods) + 1 > node.allocatable.get("pods", 0):
            reasons.append("Too many pods")
        for name in [*BASIC, *sorted(set(self.state) - set(BASIC))]:
            wanted, room = self.state.get(name, 0), node.allocatable.get(name, 0)
            if room <= 0 and name in served_by_classes(node.cluster):
                continue  # DynamicResources finds a device, or says that there is none
            if wanted > room - node.requested.get(name, 0) and wanted > 0 and self.is_checked(name):
                reasons.append(f"Insufficient {name}")
                unresolvable |= wanted > room
        if not reasons:
            return None
        return self.unresolvable(*reasons) if unresolvable else self.unschedulable(*reasons)

    def is_checked(self, name: str) -> bool:
        """Only scalars are known to the scheduler, and only extended resources can be ignored."""
        if name in BASIC:
            return True
        ignored = name in (self.args.get("ignoredResources") or ()) or name.split("/")[0] in (
            self.args.get("ignoredResourceGroups") or ()
        )
        return objects.is_scalar(name) and not (objects.is_extended(name) and ignored)

    def score(self, pod: dict, node) -> int:
        strategy = self.args["scoringStrategy"]
        request = objects.pod_requests(pod, pod_level=False, defaults=objects.DEFAULT_REQUESTS)
        scores = []  # (score, weight) of each resource that counts
        for resource in strategy["resources"]:
            name = resource["name"]
            room = node.allocatable.get(name, 0)
            wanted = objects.units(name, request.get(name, 0))
            if room == 0 or (name not in BASIC and wanted == 0):
                continue
            on_node = node.non_zero_requested if name in ("cpu", "memory") else node.requested
            scores.append((self.resource_score(on_node.get(name, 0) + wanted, room), resource["weight"]))
        if strategy["type"] == "RequestedToCapacityRatio":
            scores = [(s, w) for s, w in scores if s > 0]
            weights = sum(w for _, w in scores)
            return round_half_away(sum(s * w for s, w in scores) / weights) if weights else 0
        weights = sum(w for _, w in scores)
        return sum(s * w for s, w in scores) // weights if weights else 0

    def resource_score(self, used: int, room: int) -> int:
        strategy = self.args["scoringStrategy"]
        if strategy["type"] == "LeastAllocated":
            return 0 if used > room else (room - used) * 100 // room
        if strategy["type"] == "MostAllocated":
            return min(used, room) * 100 // room
        shape = [(p["utilization"], p["score"] * 10) for p in strategy["requestedToCapacityRatio"]["shape"]]
        return broken_linear(shape, 100 if used > room else used * 100 // room)


def broken_linear(points: list[tuple[int, int]], x: int) -> int:
    """Straight lines between points, level outside; divisions toward zero."""
    for i, (right, top) in enumerate(points):
        if x <= right:
            if i == 0:
                return top
            left, bottom = points[i - 1]
            return bottom + divide((top - bottom) * (x - left), right - left)
    return points[-1][1]


def served_by_classes(cluster) -> set[str]:
    """Extended resources that a DeviceClass serves, by the name that it gives or by its own."""
    names = set()
    for device_class in cluster.list("DeviceClass"):
        names.add(f"deviceclass.resource.kubernetes.io/{device_class['metadata']['name']}")
        names.add((device_class.get("spec") or {}).get("extendedResourceName") or "")
    return names - {""}
