"""Objects of resource.k8s.io/v1 with every field that decides about allocations, and with parameters of drivers."""

from typing import Any

SECRET = "hunter2"
DRIVER = "gpu.acme.com"
OPAQUE = {"opaque": {"driver": DRIVER, "parameters": {"token": SECRET}}}
TOLERATION = {"key": "acme.com/broken", "operator": "Exists", "effect": "NoExecute"}
MODEL = {"cel": {"expression": f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].model == "AX100-80GB"'}}
MEMORY = {"cel": {"expression": f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'}}
TERM = {"matchExpressions": [{"key": "acme.com/rack", "operator": "In", "values": ["r1"]}]}
ON_RACK = {"nodeSelectorTerms": [TERM]}


def _object(kind: str, name: str, metadata: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    about = {"name": name, "uid": f"uid-{name}", **(metadata or {})}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": about, **fields}


CLASS = _object(
    "DeviceClass",
    DRIVER,
    spec={"selectors": [MODEL], "config": [OPAQUE], "extendedResourceName": "acme.com/gpu"},
)
DEVICE = {
    "name": "gpu-0",
    "attributes": {
        "model": {"string": "AX100-80GB"},
        "acme.com/numa": {"int": 0},
        "ecc": {"bool": False},
        "driverVersion": {"version": "1.2.3"},
        "resource.kubernetes.io/pcieRoot": {"string": "pci0000:0f"},
    },
    "capacity": {
        "memory": {"value": "80Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}},
        "bandwidth": {"value": "8", "requestPolicy": {"default": "2", "validValues": ["2", "4"]}},
    },
    "consumesCounters": [{"counterSet": "slots", "counters": {"slice": {"value": "2"}}}],
    "taints": [{"key": "acme.com/broken", "value": "yes", "effect": "NoExecute"}],
    "bindsToNode": True,
    "bindingConditions": ["acme.com/attached"],
    "bindingFailureConditions": ["acme.com/failed"],
    "allowMultipleAllocations": True,
}
SLICE = _object(
    "ResourceSlice",
    "n1-gpu",
    spec={
        "driver": DRIVER,
        "pool": {"name": "n1-pool", "generation": 3, "resourceSliceCount": 2},
        "nodeName": "n1",
        "devices": [DEVICE, {"name": "gpu-1", "nodeSelector": ON_RACK}],
        "sharedCounters": [{"name": "slots", "counters": {"slice": {"value": "7"}}}],
    },
)
REQUEST = {
    "deviceClassName": DRIVER,
    "selectors": [MODEL, MEMORY],
    "allocationMode": "ExactCount",
    "count": 2,
    "adminAccess": True,
    "tolerations": [TOLERATION],
    "capacity": {"requests": {"memory": "10Gi"}},
}
CLAIM_SPEC = {
    "devices": {
        "requests": [
            {"name": "one", "exactly": REQUEST},
            {"name": "any", "firstAvailable": [{"name": "big", "deviceClassName": DRIVER, "allocationMode": "All"}]},
        ],
        "constraints": [
            {"requests": ["one"], "matchAttribute": f"{DRIVER}/numa"},
            {"distinctAttribute": f"{DRIVER}/x"},
        ],
        "config": [{"requests": ["one"], **OPAQUE}],
    }
}
RESULT = {
    "request": "any/big",
    "driver": DRIVER,
    "pool": "n1-pool",
    "device": "gpu-0",
    "adminAccess": True,
    "tolerations": [TOLERATION],
    "bindingConditions": ["acme.com/attached"],
    "bindingFailureConditions": ["acme.com/failed"],
    "shareID": "0b5c8f0e-8a0d-4f8a-9d1c-000000000001",
    "consumedCapacity": {"memory": "10Gi"},
}
ABOUT_CLAIM = {"resource.kubernetes.io/pod-claim-name": "gpu", "note": SECRET}
CLAIM = _object(
    "ResourceClaim",
    "train-0-gpu-abcde",
    {"namespace": "acme", "annotations": ABOUT_CLAIM},
    spec=CLAIM_SPEC,
    status={
        "allocation": {
            "devices": {"results": [RESULT], "config": [{"source": "FromClass", **OPAQUE}]},
            "nodeSelector": ON_RACK,
            "allocationTimestamp": "2026-01-01T00:00:00Z",
        },
        "reservedFor": [{"resource": "pods", "name": "train-0", "uid": "uid-train-0"}],
        "devices": [
            {
                "driver": DRIVER,
                "pool": "n1-pool",
                "device": "gpu-0",
                "conditions": [{"type": "acme.com/attached", "status": "True"}],
                "data": {"token": SECRET},
                "networkData": {"hardwareAddress": SECRET},
            }
        ],
    },
)
TEMPLATE = _object(
    "ResourceClaimTemplate",
    "gpu",
    {"namespace": "acme"},
    spec={"metadata": {"labels": {"team": "acme"}, "annotations": ABOUT_CLAIM}, "spec": CLAIM_SPEC},
)
MAPPING = {"containerName": "c", "resourceName": "acme.com/gpu", "requestName": "container-0-request-0"}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "train-0", "namespace": "acme", "uid": "uid-train-0"},
    "spec": {
        "containers": [{"name": "c", "resources": {"requests": {"acme.com/gpu": "1"}}}],
        "resourceClaims": [
            {"name": "gpu", "resourceClaimTemplateName": "gpu"},
            {"name": "own", "resourceClaimName": "own"},
        ],
    },
    "status": {
        "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "train-0-gpu-abcde"}],
        "extendedResourceClaimStatus": {
            "resourceClaimName": "train-0-extended-resources-x",
            "requestMappings": [MAPPING],
        },
    },
}
DRA_OBJECTS = [CLASS, SLICE, CLAIM, TEMPLATE, POD]
