"""kube-scheduler v1.36 VolumeBinding. The score belongs to an alpha gate that is off: PreScore always skips."""

from fractions import Fraction

from tests.reference import objects, storage
from tests.reference.framework import SKIP, Plugin, PluginError, PreFilter, Status

SELECTED_NODE = "volume.kubernetes.io/selected-node"
AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
NONE_TO_BIND = "node(s) didn't find available persistent volumes to bind"
NO_STORAGE = "node(s) did not have enough free storage"
VOLUME_GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
ORDER = (AFFINITY, NONE_TO_BIND, NO_STORAGE, VOLUME_GONE)


class VolumeBinding(Plugin):
    """Every claim of the pod must be bound to a volume that the node reaches, or become so once the pod is there."""

    name = "VolumeBinding"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        claims = []
        for volume in storage.volumes_of(pod):
            name = storage.claim_of(pod, volume)
            if name is None:
                continue
            claim = cluster.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
            problem = claim_problem(pod, volume, name, claim)
            if problem:
                return PreFilter(status=self.unresolvable(problem))
            claims.append(claim)
        if not claims:
            return SKIP
        unbound = [claim for claim in claims if not storage.is_bound(claim)]
        try:
            delayed = [claim for claim in unbound if waits_for_pod(claim, cluster)]
        except PluginError as error:
            return PreFilter(status=storage.failed(self, "pre_filter", error))
        if len(delayed) < len(unbound):
            return PreFilter(status=self.unresolvable("pod has unbound immediate PersistentVolumeClaims"))
        self.state = {"bound": [claim for claim in claims if storage.is_bound(claim)], "delayed": delayed}
        return PreFilter()

    def filter(self, pod: dict, node) -> Status | None:
        try:
            reasons = {bound_problem(self.state["bound"], node), delayed_problem(self.state["delayed"], node)}
        except PluginError as error:
            return storage.failed(self, "filter", error)
        found = [reason for reason in ORDER if reason in reasons]
        return self.unresolvable(*found) if found else None

    def pre_score(self, pod: dict, cluster, feasible: list) -> bool:
        return True

    def score(self, pod: dict, node) -> int:
        return 0


def claim_problem(pod: dict, volume: dict, name: str, claim: dict | None) -> str | None:
    ephemeral = volume.get("ephemeral") is not None
    if claim is None and ephemeral:
        return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if (claim.get("status") or {}).get("phase") == "Lost":
        volume_name = claim["spec"].get("volumeName") or ""
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume_name}"'
    if objects.is_terminating(claim):
        return f'persistentvolumeclaim "{name}" is being deleted'
    if ephemeral and not storage.is_controlled_by(claim, pod):
        return storage.not_owned(claim, pod)
    return None


def waits_for_pod(claim: dict, cluster) -> bool:
    """Whether an unbound claim is bound only once its pod has a node."""
    found = cluster.get("StorageClass", storage.class_of(claim))
    if found is None:
        return False
    if found.get("volumeBindingMode") is None:
        raise PluginError(f'VolumeBindingMode not set for StorageClass "{found["metadata"]["name"]}"')
    return found["volumeBindingMode"] == "WaitForFirstConsumer" and not claim["spec"].get("volumeName")


# --- claims that have a volume ---


def bound_problem(claims: list[dict], node) -> str | None:
    for claim in claims:
        volume = node.cluster.get("PersistentVolume", claim["spec"]["volumeName"])
        if volume is None:
            return VOLUME_GONE
        if not storage.reaches(storage.translated(volume, node), node):
            return AFFINITY
    return None


# --- claims that get one when the pod is placed ---


def delayed_problem(claims: list[dict], node) -> str | None:
    to_provision, to_match = [], []
    for claim in claims:
        selected = storage.annotations_of(claim).get(SELECTED_NODE)
        if selected is None:
            to_match.append(claim)
        elif selected == node.name:
            to_provision.append(claim)
        else:
            return NONE_TO_BIND
    taken: set[str] = set()
    for claim in sorted(to_match, key=lambda c: storage.storage_request(c) or 0):
        volume = matching_volume(claim, node, taken)
        if volume is None:
            to_provision.append(claim)
        else:
            taken.add(volume["metadata"]["name"])
    return next(filter(None, (provision_problem(claim, node) for claim in to_provision)), None)


def matching_volume(claim: dict, node, taken: set[str]) -> dict | None:
    """The smallest free volume that suits (among equals kube-scheduler takes any); one reserved for this claim wins
    at once.
    """
    best, best_size = None, Fraction(0)
    for volume in node.cluster.list("PersistentVolume"):
        spec = volume["spec"]
        reserved = is_reserved_for(volume, claim)
        if (
            storage.class_of(volume) != storage.class_of(claim)
            or volume["metadata"]["name"] in taken
            or (spec.get("claimRef") is not None and not reserved)
            or capacity(volume) < (storage.storage_request(claim) or 0)
            or (spec.get("volumeMode") or "Filesystem") != (claim["spec"].get("volumeMode") or "Filesystem")
            or (spec.get("volumeAttributesClassName") or "") != (claim["spec"].get("volumeAttributesClassName") or "")
            or objects.is_terminating(volume)
        ):
            continue
        if reserved:
            return volume if storage.reaches(volume, node) else None
        if (
            (volume.get("status") or {}).get("phase") == "Available"
            and is_selected(volume, claim)
            and storage.reaches(volume, node)
            and set(claim["spec"].get("accessModes") or ()) <= set(spec.get("accessModes") or ())
            and (best is None or capacity(volume) < best_size)
        ):
            best, best_size = volume, capacity(volume)
    return best


def is_reserved_for(volume: dict, claim: dict) -> bool:
    ref = volume["spec"].get("claimRef")
    return (
        ref is not None
        and (ref.get("namespace"), ref.get("name")) == (objects.namespace_of(claim), claim["metadata"]["name"])
        and ref.get("uid") in (None, "", claim["metadata"].get("uid"))
    )


def is_selected(volume: dict, claim: dict) -> bool:
    selector = claim["spec"].get("selector")
    return selector is None or objects.selector_matches(selector, objects.labels_of(volume))


def capacity(volume: dict) -> Fraction:
    return objects.quantity((volume["spec"].get("capacity") or {}).get("storage", 0))


def provision_problem(claim: dict, node) -> str | None:
    """Why the claim's class cannot make a volume for this node."""
    found = node.cluster.get("StorageClass", storage.class_of(claim))
    if found.get("provisioner") in (None, "", "kubernetes.io/no-provisioner") or not topology_allowed(found, node):
        return NONE_TO_BIND
    return None if has_room(claim, found, node) else NO_STORAGE


def topology_allowed(storage_class: dict, node) -> bool:
    terms = storage_class.get("allowedTopologies") or []
    expressions = [term.get("matchLabelExpressions") or [] for term in terms]
    return not terms or any(
        wanted and all(node.labels.get(e["key"]) in (e.get("values") or ()) for e in wanted) for wanted in expressions
    )


def has_room(claim: dict, storage_class: dict, node) -> bool:
    """Looked at only where the driver publishes its capacity. Each claim is taken for itself."""
    wanted = storage.storage_request(claim)
    driver = node.cluster.get("CSIDriver", storage_class["provisioner"])
    if wanted is None or driver is None or not driver["spec"].get("storageCapacity"):
        return True
    for published in node.cluster.list("CSIStorageCapacity"):
        limit = published.get("maximumVolumeSize", published.get("capacity"))
        if (
            published["storageClassName"] == storage_class["metadata"]["name"]
            and limit is not None
            and objects.units("storage", objects.quantity(limit)) >= objects.units("storage", wanted)
            and objects.selector_matches(published.get("nodeTopology"), node.labels)
        ):
            return True
    return False
