"""Claims, volumes and what belongs to them, as plain dicts."""

from typing import Any

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
SELECTED_NODE = "volume.kubernetes.io/selected-node"
STORAGE = "storage.k8s.io/v1"


def obj(
    kind: str, name: str, *, api: str = "v1", namespace: str = "", metadata: dict | None = None, **fields: Any
) -> dict:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **place, **(metadata or {})}, **fields}


def claim(
    name: str,
    storage_class: str | None = None,
    *,
    size: str | None = "1Gi",
    volume: str = "",
    phase: str = "",
    modes: tuple[str, ...] = ("ReadWriteOnce",),
    annotations: dict | None = None,
    namespace: str = "default",
    metadata: dict | None = None,
    **spec: Any,
) -> dict:
    """A claim; with a volume, one that is bound to it."""
    annotations = BOUND if volume and annotations is None else annotations or {}
    spec = {"accessModes": list(modes), **spec}
    spec |= {"storageClassName": storage_class} if storage_class is not None else {}
    spec |= {"volumeName": volume} if volume else {}
    spec |= {"resources": {"requests": {"storage": size}}} if size else {}
    about = {"uid": f"uid-{name}", "annotations": annotations, **(metadata or {})}
    status = {"phase": phase or ("Bound" if volume else "Pending")}
    return obj("PersistentVolumeClaim", name, namespace=namespace, metadata=about, spec=spec, status=status)


def volume(
    name: str,
    storage_class: str = "",
    *,
    size: str = "1Gi",
    on: tuple[str, ...] | None = None,
    terms: list | None = None,
    taker: str = "",
    phase: str = "Available",
    labels: dict | None = None,
    modes: tuple[str, ...] = ("ReadWriteOnce",),
    **spec: Any,
) -> dict:
    """A PersistentVolume, reached from everywhere or `on` some hosts; `taker` is the claim in its claimRef."""
    terms = [one_of(HOST, *on)] if on is not None else terms
    spec = {"capacity": {"storage": size}, "accessModes": list(modes), "storageClassName": storage_class, **spec}
    spec |= {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if terms is not None else {}
    spec |= {"claimRef": {"namespace": "default", "name": taker, "uid": f"uid-{taker}"}} if taker else {}
    return obj("PersistentVolume", name, metadata={"labels": labels or {}}, spec=spec, status={"phase": phase})


def csi_volume(name: str, driver: str = "csi.example.com", handle: str = "", **fields: Any) -> dict:
    return volume(name, phase="Bound", csi={"driver": driver, "volumeHandle": handle or name}, **fields)


def storage_class(
    name: str, provisioner: str = "csi.example.com", mode: str | None = "WaitForFirstConsumer", **fields: Any
) -> dict:
    fields |= {"volumeBindingMode": mode} if mode else {}
    return obj("StorageClass", name, api=STORAGE, provisioner=provisioner, **fields)


def csi_node(name: str, limits: dict[str, int | None] | None = None, migrated: str = "") -> dict:
    drivers = [
        {"name": driver, "nodeID": name, **({} if count is None else {"allocatable": {"count": count}})}
        for driver, count in (limits or {}).items()
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    return obj("CSINode", name, api=STORAGE, metadata={"annotations": annotations}, spec={"drivers": drivers})


def attachment(name: str, node: str, volume: str, attacher: str = "csi.example.com") -> dict:
    spec = {"attacher": attacher, "nodeName": node, "source": {"persistentVolumeName": volume}}
    return obj("VolumeAttachment", name, api=STORAGE, spec=spec)


def capacity(name: str, storage_class: str, amount: str, topology: dict | None, **fields: Any) -> dict:
    fields |= {} if topology is None else {"nodeTopology": topology}
    return obj(
        "CSIStorageCapacity",
        name,
        api=STORAGE,
        namespace="x",
        storageClassName=storage_class,
        capacity=amount,
        **fields,
    )


def csi_driver(name: str) -> dict:
    return obj("CSIDriver", name, api=STORAGE, spec={"storageCapacity": True})


def uses(*claims: str) -> list[dict]:
    """spec.volumes of a pod with these claims."""
    return [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": name}} for i, name in enumerate(claims)]


def one_of(key: str, *values: str) -> dict:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
