"""kube-scheduler v1.36 VolumeZone."""

from tests.reference import objects, storage
from tests.reference.framework import SKIP, Plugin, PreFilter, Status

STABLE_FORM = {storage.ZONE_BETA: storage.ZONE, storage.REGION_BETA: storage.REGION}
TOPOLOGY = (*STABLE_FORM, *STABLE_FORM.values())


class VolumeZone(Plugin):
    """A bound volume that carries zone or region labels is reachable only from nodes in one of them."""

    name = "VolumeZone"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        found = []  # (label, the values that are allowed)
        for name in storage.direct_claims(pod):
            if not name:
                return self.rejected("PersistentVolumeClaim had no name")
            claim = cluster.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
            if claim is None:
                return self.rejected(f'persistentvolumeclaim "{name}" not found')
            volume_name = claim["spec"].get("volumeName")
            if not volume_name:
                reason = why_unbound(claim, cluster)
                if reason:
                    return self.rejected(reason)
                continue
            volume = cluster.get("PersistentVolume", volume_name)
            if volume is None:
                return self.rejected(f'persistentvolume "{volume_name}" not found')
            labels = objects.labels_of(volume)
            for key in TOPOLOGY:
                values = [value.strip() for value in labels.get(key, "").split("__")]
                if all(values):
                    found.append((key, values))
        self.state = found
        return PreFilter() if self.state else SKIP

    def filter(self, pod: dict, node) -> Status | None:
        if self.state is None:  # PreFilter is switched off
            status = self.pre_filter(pod, node.cluster).status
            if status:
                return status
        if not any(key in node.labels for key in TOPOLOGY):
            return None
        for key, values in self.state:
            actual = node.labels.get(key, node.labels.get(STABLE_FORM.get(key, key)))
            if actual not in values:
                return self.unresolvable("node(s) had no available volume zone")
        return None

    def rejected(self, reason: str) -> PreFilter:
        return PreFilter(status=self.unresolvable(reason))


def why_unbound(claim: dict, cluster) -> str | None:
    """None where the claim waits for its first consumer: then it restricts nothing yet."""
    class_name = storage.class_of(claim)
    if not class_name:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    found = cluster.get("StorageClass", class_name)
    if found is None:
        return f'storageclass.storage.k8s.io "{class_name}" not found'
    mode = found.get("volumeBindingMode")
    if mode is None:
        return f'VolumeBindingMode not set for StorageClass "{class_name}"'
    return None if mode == "WaitForFirstConsumer" else "PersistentVolume had no name"
