"""A cluster with the word acme wherever a snapshot can have a text."""

from typing import Any

ZONE = {"key": "topology.kubernetes.io/zone", "values": ["acme-zone"]}
AVOIDED = (
    '{"preferAvoidPods": [{"podSignature": {"podController": {"kind": "AcmeKind", "uid": "acme-uid"}},'
    ' "reason": "acme-reason"}]}'
)


def _object(kind: str, name: str, annotations: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    groups = {
        "StorageClass": "storage.k8s.io/v1",
        "CSINode": "storage.k8s.io/v1",
        "PriorityClass": "scheduling.k8s.io/v1",
    }
    metadata = {"name": name, "annotations": annotations or {}, "resourceVersion": "acme-version"}
    return {"apiVersion": groups.get(kind, "v1"), "kind": kind, "metadata": metadata, **fields}


NODE = _object(
    "Node",
    "acme-worker.corp",
    {"acme-note": "acme", "scheduler.alpha.kubernetes.io/preferAvoidPods": AVOIDED},
    spec={"taints": [{"key": "acme-taint", "value": "acme", "effect": "PreferNoSchedule"}], "providerID": "acme:///1"},
    status={
        "allocatable": {
            "cpu": "4",
            "memory": "8Gi",
            "pods": "10",
            "acme.com/fpga": "1",
            "attachable-volumes-csi-csi.acme.com": "5",
            "attachable-volumes-acme": "5",
            "hugepages-acme": "0",
        },
        "conditions": [
            {"type": "Ready", "status": "True", "reason": "AcmeReason", "message": "acme"},
            {"type": "AcmeReady", "status": "AcmeStatus"},
        ],
        "images": [{"names": ["registry.acme.com/team/pay:v1-acme"], "sizeBytes": 1}],
        "declaredFeatures": ["AcmeFeature"],
    },
)
NODE["metadata"]["labels"] = {
    "acme.com/rack": "acme-rack",
    "acme-number": "AcmeProject",
    "acme-cores": "7",
    "kubernetes.io/os": "acme-os",
    "kubernetes.io/acme": "x",
    "node-role.kubernetes.io/acme": "",
    "acme.kubernetes.io/master": "",
    "topology.kubernetes.io/zone": "acme-zone",
    "topology.kubernetes.io/acme": "z",
}
POD = _object(
    "Pod",
    "acme-0",
    {"acme-note": "acme", "kubernetes.io/config.mirror": "acme-hash"},
    spec={
        "priorityClassName": "acme-priority",
        "nodeSelector": {"acme-number": "AcmeProject", "kubernetes.io/os": "acme-os"},
        "restartPolicy": "AcmeRestart",
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "acme-cores", "operator": "Gt", "values": ["3"]}]}
                    ]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 1,
                        "preference": {"matchExpressions": [{"key": "acme-number", "operator": "Lt", "values": ["9"]}]},
                    }
                ],
            }
        },
        "containers": [
            {
                "name": "acme",
                "image": "registry.acme.com/pay:acme",
                "resources": {"requests": {"cpu": "1", "acme.com/fpga": "1"}},
                "ports": [{"hostPort": 8080, "hostIP": "10.55.44.33", "protocol": "TCP", "name": "acme"}],
            }
        ],
        "volumes": [
            {"name": "acme", "awsElasticBlockStore": {"volumeID": "vol-0acme"}},
            {"name": "rbd", "rbd": {"monitors": ["acme:6789"], "image": "acme", "pool": "acme"}},
        ],
    },
    status={
        "phase": "Pending",
        "nominatedNodeName": "acme-worker.corp",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "AcmeReason", "message": "acme"}],
    },
)
POD["metadata"] |= {
    "namespace": "acme-team",
    "labels": {"app.kubernetes.io/instance": "acme", "app.kubernetes.io/acme": "acme", "acme": "acme"},
    "ownerReferences": [
        {"apiVersion": "acme.io/v1", "kind": "Job", "name": "acme", "uid": "acme-uid", "controller": True}
    ],
}
VOLUME = _object(
    "PersistentVolume",
    "acme-pv",
    spec={
        "capacity": {"storage": "1Gi"},
        "accessModes": ["AcmeMode"],
        "storageClassName": "acme-class",
        "csi": {"driver": "csi.acme.com", "volumeHandle": "acme/10.9.8.7/share"},
    },
    status={"phase": "AcmePhase"},
)
CLASS = _object(
    "StorageClass",
    "acme-class",
    {"storageclass.kubernetes.io/is-default-class": "acme"},
    provisioner="kubernetes.io/acme",
    volumeBindingMode="AcmeBinding",
    allowedTopologies=[{"matchLabelExpressions": [ZONE]}],
)
CSI_NODE = _object(
    "CSINode",
    "acme-worker.corp",
    {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,acme"},
    spec={"drivers": [{"name": "csi.acme.com", "nodeID": "acme", "topologyKeys": ["acme.com/zone"]}]},
)
PRIORITY = _object("PriorityClass", "acme-priority", value=7, description="acme")

HOSTILE = {"apiVersion": "v1", "kind": "List", "items": [NODE, POD, VOLUME, CLASS, CSI_NODE, PRIORITY]}
