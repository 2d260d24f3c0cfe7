"""A cluster with a device plugin on one node and DRA on three."""

from typing import Any

from kubesched.api import KubeObject, Pod
from kubesched.plugins.dynamic_resources.device_search import Shortage
from kubesched.testing import make_node, make_object, make_pod

GPU = "nvidia.com/gpu"
NOT_DECIDED = Shortage.TOO_LONG.value
"""Why a pod is not decided with the fixture `no_search`."""
WITHOUT_DRA = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {disabled: [{name: DynamicResources}]}}
"""
ROOM = {"cpu": "8", "memory": "16Gi", "pods": "110"}
STARTED = {"startTime": "2026-01-01T00:00:00Z"}


def device_class(name: str = "gpu.nvidia.com", resource: str = GPU, **metadata: Any) -> KubeObject:
    """A class that serves an extended resource; an empty one for none but the implicit name."""
    return make_object("DeviceClass", name, metadata=metadata, spec={"extendedResourceName": resource})


def nodes() -> list[KubeObject]:
    """A node with one device behind a device plugin, three whose devices are in ResourceSlices, and the slices."""
    dra = ["dra-1", "dra-2", "dra-3"]
    return [
        make_node("plugin-1", allocatable={**ROOM, GPU: "1"}),
        *(make_node(name, allocatable=ROOM) for name in dra),
        *(_slice(name) for name in dra),
    ]


def running(name: str, node: str, *, claim: str = "", **said: Any) -> Pod:
    """A pod of a ReplicaSet that runs with a device.

    Args:
        claim: the name of the one that was made for it; empty for a device of a plugin.
    """
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "train", "uid": "rs", "controller": True}
    mapping = {"containerName": "main", "resourceName": GPU, "requestName": "container-0-request-1"}
    served = {"extendedResourceClaimStatus": {"resourceClaimName": claim, "requestMappings": [mapping]}}
    status = STARTED | (served if claim else {})
    metadata = {"ownerReferences": [owner]}
    return make_pod(name, node=node, requests={"cpu": "1", GPU: 1}, status=status, metadata=metadata, **said)


def device_cluster() -> list[KubeObject]:
    """Those nodes and the class; the device of plugin-1 is taken, and one of each DRA node."""
    on_dra = [running(f"on-dra-{i}", f"dra-{i}", claim=f"on-dra-{i}-extended-resources-abcde") for i in (1, 2, 3)]
    held = [running("on-plugin", "plugin-1"), *on_dra, *map(_claim_of, on_dra)]
    return [*nodes(), device_class(), make_object("ReplicaSet", "train", spec={"replicas": 4}), *held]


def _claim_of(pod: Pod) -> KubeObject:
    """The claim that a scheduler made for the extended resource of a pod; it has the first device of the node."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid, "controller": True}
    annotations = {"resource.kubernetes.io/extended-resource-claim": "true"}
    exactly = {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": 1}
    request = "container-0-request-1"
    result = {"request": request, "driver": "gpu.nvidia.com", "pool": pod.node_name, "device": "gpu-0"}
    on_node = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pod.node_name]}]}]
    return make_object(
        "ResourceClaim",
        f"{pod.name}-extended-resources-abcde",
        namespace=pod.namespace,
        metadata={"annotations": annotations, "ownerReferences": [owner]},
        spec={"devices": {"requests": [{"name": request, "exactly": exactly}]}},
        status={
            "allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": on_node}},
            "reservedFor": [{"resource": "pods", "name": pod.name, "uid": pod.uid}],
        },
    )


def _slice(node: str) -> KubeObject:
    devices = [{"name": f"gpu-{i}", "attributes": {"model": {"string": "H100"}}} for i in range(3)]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": node, "pool": pool, "devices": devices}
    return make_object("ResourceSlice", f"{node}-gpu.nvidia.com", spec=spec)
