"""Queueing hints of kube-scheduler v1.36: is an event worth another try of a pod that a plugin rejected?

`hints(event, pod)` answers for every plugin that registered the event's resource and action: "Queue" or "QueueSkip".
The event is a dict with `resource`, `action` and the whole objects `old` and `new` as far as there are any, as in
tests/golden/hints.json.gz.
"""

from collections.abc import Callable

from tests.reference import objects, storage
from tests.reference.plugins.inter_pod_affinity import REQUIRED, Term, terms
from tests.reference.plugins.node_declared_features import needed_features
from tests.reference.plugins.node_ports import conflict
from tests.reference.plugins.node_unschedulable import TAINT
from tests.reference.plugins.pod_topology_spread import Constraint, make_constraint, own_selector
from tests.reference.plugins.volume_restrictions import disks_conflict
from tests.reference.plugins.volume_zone import TOPOLOGY

STORAGE = "storage.k8s.io/"
BASIC = ("cpu", "memory", "ephemeral-storage")


def hints(event: dict, pod: dict) -> dict[str, str]:
    """What every plugin that registered the event says, plugin -> hint."""
    found = {}
    for (plugin, resource), (actions, rule) in RULES.items():
        is_registered = event["action"] in actions or ("Update" in actions and event["action"].startswith("Update"))
        if resource == event["resource"] and is_registered:
            wanted = rule is None or rule(pod, event.get("old"), event.get("new"))
            found[plugin] = "Queue" if wanted else "QueueSkip"
    return found


# --- what several rules ask ---


def is_target(pod: dict, other: dict | None) -> bool:
    return other is not None and other["metadata"]["uid"] == pod["metadata"]["uid"]


def own_update(pod: dict, old: dict | None, new: dict | None) -> bool:
    return is_target(pod, new)


def is_placed(pod: dict) -> bool:
    """Assigned, or nominated to a node."""
    return bool(pod["spec"].get("nodeName") or (pod.get("status") or {}).get("nominatedNodeName"))


def claims_of(pod: dict) -> set[str]:
    return {name for v in storage.volumes_of(pod) if (name := storage.claim_of(pod, v)) is not None}


def same_namespace(a: dict, b: dict) -> bool:
    return objects.namespace_of(a) == objects.namespace_of(b)


def allocatable(node: dict) -> dict[str, int]:
    return {name: objects.units(name, objects.quantity(q)) for name, q in node["status"]["allocatable"].items()}


def requests(pod: dict, status: bool = False) -> dict[str, int]:
    return {name: objects.units(name, q) for name, q in objects.pod_requests(pod, status=status).items()}


# --- nodes ---


def unschedulable_node(pod: dict, old: dict | None, new: dict) -> bool:
    now = bool(new["spec"].get("unschedulable"))
    return not now and (old is None or bool(old["spec"].get("unschedulable")))


def unschedulable_pod(pod: dict, old: dict | None, new: dict) -> bool:
    return is_target(pod, new) and objects.is_tolerated(objects.tolerations_of(new), TAINT)


def taint_node(pod: dict, old: dict | None, new: dict) -> bool:
    def is_open(node: dict) -> bool:
        return not objects.has_untolerated_taint(pod, node["spec"].get("taints") or [])

    return is_open(new) and (old is None or not is_open(old))


def affinity_node(pod: dict, old: dict | None, new: dict) -> bool:
    def is_match(node: dict) -> bool:
        return objects.required_node_affinity_matches(pod, node["metadata"]["name"], objects.labels_of(node))

    return is_match(new) and (old is None or not is_match(old))


def features_node(pod: dict, old: dict | None, new: dict) -> bool:
    return old is None or old["status"].get("declaredFeatures") != new["status"].get("declaredFeatures")


def features_pod(pod: dict, old: dict, new: dict) -> bool:
    return is_target(pod, new) and needed_features(old) != needed_features(new)


# --- resources and ports ---


def fit_pod(pod: dict, old: dict, new: dict | None) -> bool:
    """Another pod went, or it or the pod itself shrank."""
    if new is None:
        return is_placed(old)
    if is_target(pod, new):
        return True
    before, after = requests(old, status=True), requests(new, status=True)
    wanted = [name for name, amount in requests(pod).items() if amount > 0]
    return bool(new["spec"].get("nodeName")) and any(after.get(n, 0) < before.get(n, 0) for n in wanted)


def fit_node(pod: dict, old: dict | None, new: dict) -> bool:
    wanted, room = requests(pod), allocatable(new)
    if room.get("pods", 0) < 1 or any(amount > room.get(name, 0) for name, amount in wanted.items()):
        return False
    if old is None:
        return True
    before = allocatable(old)
    return any(room.get(n, 0) > before.get(n, 0) for n in ["pods", *(n for n, amount in wanted.items() if amount > 0)])


def ports_deleted(pod: dict, old: dict, new: None) -> bool:
    used = objects.host_ports(old)
    return is_placed(old) and any(conflict(a, b) for a in objects.host_ports(pod) for b in used)


# --- volumes ---


def restrictions_deleted(pod: dict, old: dict, new: None) -> bool:
    if not same_namespace(pod, old):
        return False
    disks = any(disks_conflict(a, b) for a in storage.volumes_of(pod) for b in storage.volumes_of(old))
    return disks or bool(set(storage.direct_claims(pod)) & set(storage.direct_claims(old)))


def own_claim(pod: dict, old: dict | None, new: dict) -> bool:
    return same_namespace(pod, new) and new["metadata"]["name"] in set(storage.direct_claims(pod))


def any_claim(pod: dict, old: dict | None, new: dict) -> bool:
    return same_namespace(pod, new) and new["metadata"]["name"] in claims_of(pod)


def limits_deleted(pod: dict, old: dict, new: None) -> bool:
    attached = any(storage.claim_of(old, v) is not None or storage.in_tree_source(v) for v in storage.volumes_of(old))
    return is_placed(old) and attached


def limits_grew(pod: dict, old: dict | None, new: dict) -> bool:
    def limits(csi_node: dict) -> dict[str, int]:
        drivers = csi_node["spec"].get("drivers") or ()
        return {d["name"]: (d.get("allocatable") or {}).get("count") or 0 for d in drivers}

    if old is None:
        return True
    before = limits(old)
    return any(count > before.get(driver, 0) for driver, count in limits(new).items())


def detached(pod: dict, old: dict, new: None) -> bool:
    drivers = {storage.IN_TREE[f][1] for v in storage.volumes_of(pod) if (f := storage.in_tree_source(v))}
    return any(True for _ in storage.direct_claims(pod)) or old["spec"]["attacher"] in drivers


def topologies_changed(pod: dict, old: dict | None, new: dict) -> bool:
    return old is None or old.get("allowedTopologies") != new.get("allowedTopologies")


def migration_changed(pod: dict, old: dict | None, new: dict) -> bool:
    key = storage.MIGRATED_ANNOTATION
    return old is None or storage.annotations_of(old).get(key) != storage.annotations_of(new).get(key)


def capacity_off(pod: dict, old: dict, new: dict) -> bool:
    used = {(v.get("csi") or {}).get("driver") for v in storage.volumes_of(pod)}
    return new["metadata"]["name"] in used and bool(
        old["spec"].get("storageCapacity") and not new["spec"].get("storageCapacity")
    )


def capacity_grew(pod: dict, old: dict | None, new: dict) -> bool:
    def limit(published: dict | None) -> object:
        text = (published or {}).get("maximumVolumeSize", (published or {}).get("capacity"))
        return None if text is None else objects.quantity(text)

    before, after = limit(old), limit(new)
    return old is None or (after is not None and (before is None or after > before))


def waits(pod: dict, old: dict | None, new: dict) -> bool:
    return new.get("volumeBindingMode") == "WaitForFirstConsumer"


def zones_changed(pod: dict, old: dict | None, new: dict) -> bool:
    def zones(volume: dict) -> dict:
        return {key: value for key, value in objects.labels_of(volume).items() if key in TOPOLOGY}

    return old is None or zones(old) != zones(new)


# --- other pods ---


def hard(pod: dict) -> list[Constraint]:
    own = pod["spec"].get("topologySpreadConstraints") or ()
    return [make_constraint(c, own_selector(c, pod)) for c in own if c["whenUnsatisfiable"] == "DoNotSchedule"]


def spread_pod(pod: dict, old: dict | None, new: dict | None) -> bool:
    other = new or old
    constraints = hard(pod)
    if not is_target(pod, other) and not (is_placed(other) and same_namespace(pod, other)):
        return False
    if old is None or new is None:
        return any(c.selects(other) for c in constraints)
    if is_target(pod, new) and objects.tolerations_of(old) != objects.tolerations_of(new):
        if any(c.honor_taints for c in constraints):
            return True
    return any(c.selects(old) != c.selects(new) for c in constraints)


def spread_node(pod: dict, old: dict | None, new: dict | None) -> bool:
    constraints = hard(pod)

    def is_match(node: dict) -> bool:
        return all(c.key in objects.labels_of(node) for c in constraints)

    if old is None or new is None:
        return is_match(new or old)
    if is_match(old) != is_match(new):
        return True
    changed = any(objects.labels_of(old).get(c.key) != objects.labels_of(new).get(c.key) for c in constraints)
    return is_match(new) and (changed or old["spec"].get("taints") != new["spec"].get("taints"))


def matches_all(wanted: list[Term], pod: dict) -> bool:
    """Of no terms at all it is false. Namespace selectors see no namespace labels here."""
    return bool(wanted) and all(term.matches(pod, {}) for term in wanted)


def affinity_pod(pod: dict, old: dict | None, new: dict | None) -> bool:
    if is_target(pod, new) and old is not None:
        return True
    if not is_placed(new or old):
        return False
    liked, disliked = terms(pod, "podAffinity", REQUIRED), terms(pod, "podAntiAffinity", REQUIRED)
    if old is not None and new is not None:
        return (matches_all(liked, new) and not matches_all(liked, old)) or (
            matches_all(disliked, old) and not matches_all(disliked, new)
        )
    if new is not None:
        return matches_all(liked, new)
    return matches_all(disliked, old) or matches_all(terms(old, "podAntiAffinity", REQUIRED), pod)


def affinity_topology(pod: dict, old: dict | None, new: dict) -> bool:
    before, after = objects.labels_of(old) if old else {}, objects.labels_of(new)
    liked = [t.key for t in terms(pod, "podAffinity", REQUIRED)]
    disliked = [t.key for t in terms(pod, "podAntiAffinity", REQUIRED)]
    if any(key in after and after[key] != before.get(key) for key in liked):
        return True
    return bool(disliked) and (old is None or any(key in before and after.get(key) != before[key] for key in disliked))


Rule = Callable[[dict, dict | None, dict | None], bool]

# (plugin, resource) -> the actions that it registered and its hint; None always queues.
RULES: dict[tuple[str, str], tuple[tuple[str, ...], Rule | None]] = {
    ("SchedulingGates", "Pod"): (("UpdatePodSchedulingGatesEliminated",), own_update),
    ("NodeUnschedulable", "Node"): (("Add", "UpdateNodeTaint"), unschedulable_node),
    ("NodeUnschedulable", "Pod"): (("UpdatePodToleration",), unschedulable_pod),
    ("NodeName", "Node"): (("Add",), None),
    ("TaintToleration", "Node"): (("Add", "UpdateNodeTaint"), taint_node),
    ("TaintToleration", "Pod"): (("UpdatePodToleration",), own_update),
    ("NodeAffinity", "Node"): (("Add", "UpdateNodeLabel"), affinity_node),
    ("NodePorts", "Pod"): (("Delete",), ports_deleted),
    ("NodePorts", "Node"): (("Add",), None),
    ("NodeResourcesFit", "Pod"): (("Delete", "UpdatePodScaleDown"), fit_pod),
    ("NodeResourcesFit", "Node"): (("Add", "UpdateNodeAllocatable"), fit_node),
    ("VolumeRestrictions", "Pod"): (("Delete",), restrictions_deleted),
    ("VolumeRestrictions", "Node"): (("Add",), None),
    ("VolumeRestrictions", "PersistentVolumeClaim"): (("Add",), own_claim),
    ("NodeVolumeLimits", STORAGE + "CSINode"): (("Add", "Update"), limits_grew),
    ("NodeVolumeLimits", "Pod"): (("Delete",), limits_deleted),
    ("NodeVolumeLimits", "PersistentVolumeClaim"): (("Add",), any_claim),
    ("NodeVolumeLimits", STORAGE + "VolumeAttachment"): (("Delete",), detached),
    ("VolumeBinding", STORAGE + "StorageClass"): (("Add", "Update"), topologies_changed),
    ("VolumeBinding", "PersistentVolumeClaim"): (("Add", "Update"), any_claim),
    ("VolumeBinding", "PersistentVolume"): (("Add", "Update"), None),
    ("VolumeBinding", "Node"): (("Add", "UpdateNodeLabel"), None),
    ("VolumeBinding", STORAGE + "CSINode"): (("Add", "Update"), migration_changed),
    ("VolumeBinding", STORAGE + "CSIDriver"): (("Update",), capacity_off),
    ("VolumeBinding", STORAGE + "CSIStorageCapacity"): (("Add", "Update"), capacity_grew),
    ("VolumeZone", STORAGE + "StorageClass"): (("Add",), waits),
    ("VolumeZone", "Node"): (("Add", "UpdateNodeLabel"), None),
    ("VolumeZone", "PersistentVolumeClaim"): (("Add", "Update"), own_claim),
    ("VolumeZone", "PersistentVolume"): (("Add", "Update"), zones_changed),
    ("PodTopologySpread", "Pod"): (("Add", "UpdatePodLabel", "UpdatePodToleration", "Delete"), spread_pod),
    ("PodTopologySpread", "Node"): (("Add", "Delete", "UpdateNodeLabel", "UpdateNodeTaint"), spread_node),
    ("InterPodAffinity", "Pod"): (("Add", "UpdatePodLabel", "Delete"), affinity_pod),
    ("InterPodAffinity", "Node"): (("Add", "UpdateNodeLabel"), affinity_topology),
    ("DefaultPreemption", "Pod"): (("Delete",), lambda pod, old, new: False),
    ("DynamicResources", "Node"): (("Add", "UpdateNodeLabel", "UpdateNodeAllocatable"), None),
    ("DynamicResources", "Pod"): (("UpdatePodGeneratedResourceClaim",), None),
    ("NodeDeclaredFeatures", "Node"): (("Add", "UpdateNodeDeclaredFeature"), features_node),
    ("NodeDeclaredFeatures", "Pod"): (("Update",), features_pod),
}
