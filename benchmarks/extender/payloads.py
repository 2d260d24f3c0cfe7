"""Requests as kube-scheduler sends them, with nodes of about 14 KB as a cloud's cluster has them.

The bytes follow what Go's encoding/json makes of the extender/v1 types, which have no JSON tags: Go's field names at
the top, compact, `&<>` escaped, nil as null. The seed is fixed: the same arguments always give the same bytes.
"""

import hashlib
import json
import random
import uuid
from typing import Any

SEED = 20261121
IMAGES_PER_NODE = 50
ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
TYPES = (("m6i.4xlarge", 16, 64), ("c6i.8xlarge", 32, 64), ("r6i.12xlarge", 48, 384), ("p4d.24xlarge", 96, 1152))
REPOSITORIES = (
    "registry.example.internal/platform/ingress-nginx/controller",
    "registry.example.internal/platform/metrics/node-exporter",
    "registry.example.internal/team-search/query-frontend",
    "registry.example.internal/team-payments/ledger-writer",
    "registry.example.internal/ml/training/pytorch-cuda12",
    "quay.example.com/cilium/cilium",
    "quay.example.com/prometheus/prometheus",
    "docker.example.com/library/redis",
    "docker.example.com/grafana/promtail",
    "gcr.example.com/cadvisor/cadvisor",
)
CONDITIONS = (
    ("NetworkUnavailable", "False", "CiliumIsUp", "Cilium is running on this node"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("KernelDeadlock", "False", "KernelHasNoDeadlock", "kernel has no deadlock"),
    ("ReadonlyFilesystem", "False", "FilesystemIsNotReadOnly", "Filesystem is not read-only"),
    ("FrequentKubeletRestart", "False", "NoFrequentKubeletRestart", "kubelet is functioning properly"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
TAINTS = (
    ("dedicated", "batch", "NoSchedule"),
    ("example.com/pool", "general", "PreferNoSchedule"),
    ("example.com/maintenance-window", "weekly", "PreferNoSchedule"),
    ("nvidia.com/gpu", "present", "NoSchedule"),
    ("example.com/spot", "true", "PreferNoSchedule"),
    ("example.com/arch", "amd64", "PreferNoSchedule"),
    ("example.com/storage", "local", "PreferNoSchedule"),
    ("example.com/canary", "ring-2", "PreferNoSchedule"),
)
"""The pod tolerates those that are NoSchedule."""
DRAINED = ("example.com/draining", "true", "NoSchedule")
"""One node in DRAINED_EACH has it, and the pod does not tolerate it."""
DRAINED_EACH = 50
PLACEHOLDER = "ranker-7c9d8b6f5d-00000"
"""The name of the pod, which a client replaces by others of the same length."""

Object = dict[str, Any]


class Payloads:
    """The nodes of a cluster and a pod, as requests of any size up to all nodes.

    Attributes:
        pod, nodes: the objects as Go writes them in a request.
        names: of the nodes.
    """

    def __init__(self, n_nodes: int) -> None:
        rng = random.Random(SEED)
        pool = [_image(rng, i) for i in range(400)]
        self.pod = encoded(make_pod(rng))
        nodes = [make_node(i, rng, pool) for i in range(n_nodes)]
        self.names: list[str] = [node["metadata"]["name"] for node in nodes]
        self.nodes = [encoded(node) for node in nodes]

    def with_nodes(self, n: int) -> bytes:
        """The request with the first n nodes as whole objects."""
        items = b",".join(self.nodes[:n])
        return b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % (self.pod, items)

    def with_names(self, n: int) -> bytes:
        """The request with the names of the first n nodes."""
        return b'{"Pod":%b,"Nodes":null,"NodeNames":%b}' % (self.pod, encoded(self.names[:n]))

    def node_list(self) -> bytes:
        """All nodes as an API server lists them."""
        head = b'{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
        return head + b",".join(self.nodes) + b"]}"


def encoded(value: object) -> bytes:
    """JSON as Go writes it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e").encode()


def make_node(i: int, rng: random.Random, images: list[Object]) -> Object:
    """One node of the fleet."""
    name = f"ip-10-{i // 65025 % 255}-{i // 255 % 255}-{i % 255}.eu-west-1.compute.internal"
    instance_type, cpu, mem = TYPES[i % len(TYPES)]
    zone = ZONES[i % len(ZONES)]
    ip = f"10.{i // 65025 % 255}.{i // 255 % 255}.{i % 255}"
    pod_cidr = f"10.{128 + i // 255 % 100}.{i % 255}.0/24"
    stamp = f"2026-11-{1 + i % 20:02d}T{i % 24:02d}:{i % 60:02d}:17Z"
    taints = (*TAINTS, DRAINED) if i % DRAINED_EACH == DRAINED_EACH - 1 else TAINTS
    return {
        "metadata": {
            "name": name,
            "uid": _uid(rng),
            "resourceVersion": str(rng.randint(10**8, 10**9)),
            "creationTimestamp": stamp,
            "labels": _labels(i, rng, name, instance_type, zone),
            "annotations": _annotations(rng, ip, pod_cidr),
        },
        "spec": {
            "podCIDR": pod_cidr,
            "podCIDRs": [pod_cidr],
            "providerID": f"aws:///{zone}/{_instance(rng)}",
            "taints": [{"key": key, "value": value, "effect": effect} for key, value, effect in taints],
        },
        "status": {
            **_amounts(cpu, mem, 8 if instance_type.startswith("p4d") else 0),
            "conditions": [_condition(condition, stamp) for condition in CONDITIONS],
            "addresses": [
                {"type": "InternalIP", "address": ip},
                {"type": "Hostname", "address": name},
                {"type": "InternalDNS", "address": name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": _node_info(rng),
            "images": rng.sample(images, IMAGES_PER_NODE),
            "volumesInUse": [_volume(rng) for _ in range(3)],
            "volumesAttached": [{"name": _volume(rng), "devicePath": ""} for _ in range(3)],
            "runtimeHandlers": [{"name": "", "features": {"recursiveReadOnlyMounts": True, "userNamespaces": True}}],
        },
    }


def make_pod(rng: random.Random) -> Object:
    """The incoming pod: an ordinary Deployment's, with one init container, volumes and tolerations."""
    common = {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    fetch = {
        "name": "fetch-model",
        "image": f"registry.example.internal/ml/fetch@sha256:{_digest(rng)}",
        "args": ["--model", "ranker-large", "--out", "/cache"],
        "resources": {"limits": {"memory": "2Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}},
        "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
        **common,
    }
    probe = {
        "httpGet": {"path": "/healthz", "port": 9102, "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    ranker = {
        "name": "ranker",
        "image": f"registry.example.internal/team-search/ranker@sha256:{_digest(rng)}",
        "ports": [
            {"name": "grpc", "containerPort": 8443, "protocol": "TCP"},
            {"name": "metrics", "containerPort": 9102, "protocol": "TCP"},
        ],
        "env": [
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "SHARDS", "value": "64"},
        ],
        "resources": {
            "limits": {"memory": "8Gi", "nvidia.com/gpu": "1"},
            "requests": {"cpu": "1500m", "memory": "8Gi", "nvidia.com/gpu": "1"},
        },
        "volumeMounts": [{"name": "config", "mountPath": "/etc/ranker"}, {"name": "cache", "mountPath": "/cache"}],
        "livenessProbe": probe,
        **common,
    }
    return {
        "metadata": _pod_metadata(rng),
        "spec": {
            "volumes": _pod_volumes(),
            "initContainers": [fetch],
            "containers": [ranker],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "ranker",
            "serviceAccount": "ranker",
            "securityContext": {},
            "affinity": _pod_affinity(),
            "schedulerName": "default-scheduler",
            "tolerations": [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"},
                {
                    "key": "node.kubernetes.io/not-ready",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                },
            ],
            "priorityClassName": "search-prod",
            "priority": 100000,
            "enableServiceLinks": True,
            "preemptionPolicy": "PreemptLowerPriority",
        },
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    }


# --- parts of a node ---


def _labels(i: int, rng: random.Random, name: str, instance_type: str, zone: str) -> Object:
    return {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/instance-type": instance_type,
        "beta.kubernetes.io/os": "linux",
        "example.com/cost-centre": f"cc-{rng.randint(1000, 9999)}",
        "example.com/node-pool": f"pool-{i % 12}",
        "example.com/rack": f"rack-{i % 64:03d}",
        "failure-domain.beta.kubernetes.io/region": "eu-west-1",
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": instance_type,
        "topology.ebs.csi.aws.com/zone": zone,
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": zone,
    }


def _annotations(rng: random.Random, ip: str, pod_cidr: str) -> Object:
    return {
        "alpha.kubernetes.io/provided-node-ip": ip,
        "csi.volume.kubernetes.io/nodeid": json.dumps({"ebs.csi.aws.com": _instance(rng)}),
        "example.com/owner": "platform <platform@example.com> & on-call",
        "io.cilium.network.ipv4-cilium-host": ip,
        "io.cilium.network.ipv4-pod-cidr": pod_cidr,
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    }


def _amounts(cpu: int, mem: int, gpu: int) -> Object:
    capacity = {
        "cpu": str(cpu),
        "ephemeral-storage": "209702892Ki",
        "example.com/fpga": "2",
        "example.com/sriov-vf": "16",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{mem * 1024 * 1024 - 9216}Ki",
        "nvidia.com/gpu": str(gpu),
        "pods": "110",
    }
    allocatable = {
        **capacity,
        "cpu": f"{cpu * 1000 - 310}m",
        "ephemeral-storage": "193262185058",
        "memory": f"{mem * 1024 * 1024 - 1_009_216}Ki",
    }
    return {"capacity": capacity, "allocatable": allocatable}


def _condition(condition: tuple[str, str, str, str], stamp: str) -> Object:
    kind, status, reason, message = condition
    return {
        "type": kind,
        "status": status,
        "lastHeartbeatTime": "2026-11-21T06:30:11Z",
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


def _node_info(rng: random.Random) -> Object:
    return {
        "machineID": _digest(rng)[:32],
        "systemUUID": _uid(rng),
        "bootID": _uid(rng),
        "kernelVersion": "6.8.0-1031-aws",
        "osImage": "Ubuntu 24.04.3 LTS",
        "containerRuntimeVersion": "containerd://2.1.4",
        "kubeletVersion": "v1.36.3",
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }


def _image(rng: random.Random, i: int) -> Object:
    """An image; a third of them carry a tag beside the digest."""
    repository = rng.choice(REPOSITORIES)
    names = [f"{repository}@sha256:{_digest(rng)}"]
    if i % 3 == 0:
        names.append(f"{repository}:v{rng.randint(0, 3)}.{rng.randint(0, 40)}.{rng.randint(0, 20)}")
    return {"names": names, "sizeBytes": rng.randint(3_000_000, 4_000_000_000)}


# --- parts of the pod ---


def _pod_metadata(rng: random.Random) -> Object:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "ranker-7c9d8b6f5d",
        "uid": _uid(rng),
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "name": PLACEHOLDER,
        "generateName": "ranker-7c9d8b6f5d-",
        "namespace": "team-search",
        "uid": _uid(rng),
        "resourceVersion": str(rng.randint(10**8, 10**9)),
        "creationTimestamp": "2026-11-21T06:30:12Z",
        "labels": {
            "app.kubernetes.io/component": "ranker",
            "app.kubernetes.io/instance": "search-prod",
            "app.kubernetes.io/name": "ranker",
            "app.kubernetes.io/version": "2026.11.3",
            "pod-template-hash": "7c9d8b6f5d",
            "user": "search",
        },
        "annotations": {
            "checksum/config": _digest(rng),
            "prometheus.io/port": "9102",
            "prometheus.io/scrape": "true",
            "sidecar.example.com/inject": "true",
        },
        "ownerReferences": [owner],
    }


def _pod_volumes() -> list[Object]:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return [
        {"name": "config", "configMap": {"name": "ranker-config", "defaultMode": 420}},
        {"name": "cache", "emptyDir": {"sizeLimit": "20Gi"}},
        {"name": "kube-api-access-8xk2f", "projected": {"sources": sources, "defaultMode": 420}},
    ]


def _pod_affinity() -> Object:
    term = {
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "ranker"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


# --- numbers that look real ---


def _uid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _digest(rng: random.Random) -> str:
    return hashlib.sha256(rng.getrandbits(256).to_bytes(32, "big")).hexdigest()


def _instance(rng: random.Random) -> str:
    return f"i-{rng.getrandbits(68):017x}"


def _volume(rng: random.Random) -> str:
    return f"kubernetes.io/csi/ebs.csi.aws.com^vol-{rng.getrandbits(68):017x}"
