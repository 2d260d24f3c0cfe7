"""Two clusters with the mistakes that people make: a cloud with pools, and machines at home.

Each pending workload carries one mistake; the comment beside it names it.
"""

from typing import Any

from kubesched.api import KubeObject, Pod
from kubesched.testing import make_node, make_object, make_pod

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
ARCH = "kubernetes.io/arch"
SPOT = "cloud.example.com/spot"
POOL = "cloud.example.com/nodepool"
GPU = "gpu.example.com/device"
MODEL = "cloud.example.com/accelerator"
_ZONES = ("north1-a", "north1-b", "north1-c")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_CRITICAL = 1000


def owned(kind: str, name: str) -> dict[str, Any]:
    """The metadata of a pod that a workload owns."""
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}
    return {"ownerReferences": [owner]}


def replica(name: str, kind: str = "ReplicaSet", *, number: int = 0, **more: Any) -> Pod:
    """A pod of a workload, labelled with its name."""
    return make_pod(f"{name}-{number}", labels={"app": name}, metadata=owned(kind, name), **more)


def apart(app: str, key: str = HOST) -> dict[str, Any]:
    """The affinity of pods of which each domain has one."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAntiAffinity": {_REQUIRED: [term]}}}


def mounting(claim: str) -> dict[str, Any]:
    """A spec with one claim."""
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]}


def bound(claim: str, key: str, value: str) -> list[KubeObject]:
    """A claim, and its volume in one place."""
    one = {"key": key, "operator": "In", "values": [value]}
    modes = {"accessModes": ["ReadWriteOnce"], "storageClassName": "standard"}
    place = {"required": {"nodeSelectorTerms": [{"matchExpressions": [one]}]}}
    done = {"pv.kubernetes.io/bind-completed": "yes"}
    return [
        make_object(
            "PersistentVolumeClaim",
            claim,
            annotations=done,
            spec={**modes, "volumeName": f"pv-{claim}"},
            status={"phase": "Bound"},
        ),
        make_object(
            "PersistentVolume",
            f"pv-{claim}",
            spec={**modes, "capacity": {"storage": "9Gi"}, "nodeAffinity": place},
            status={"phase": "Bound"},
        ),
    ]


def unbound(claim: str, storage_class: str) -> KubeObject:
    """A claim that waits for its volume."""
    return make_object(
        "PersistentVolumeClaim",
        claim,
        spec={"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class},
        status={"phase": "Pending"},
    )


def storage_class(name: str, mode: str = "WaitForFirstConsumer") -> KubeObject:
    return make_object("StorageClass", name, provisioner="disk.example.com", volumeBindingMode=mode)


# --- a cloud ---


def cloud() -> list[KubeObject]:
    """Pools of 8 cores, of spot, of much memory for a team, and with two GPUs each, in three zones."""
    return [*_pools(), *_running(), *_classes(), *_pending()]


def _pools() -> list[KubeObject]:
    nodes: list[KubeObject] = []
    for zone in _ZONES:
        for i in range(2):
            name = f"prod-base-{zone}-{i}"
            cordon: dict[str, Any] = {"unschedulable": True} if (zone, i) == ("north1-a", 1) else {}
            lost = ["node.kubernetes.io/unreachable:NoSchedule"] if (zone, i) == ("north1-b", 1) else []
            room = {"cpu": "7910m", "memory": "28Gi"}
            nodes.append(make_node(name, zone=zone, labels={POOL: "base"}, allocatable=room, taints=lost, **cordon))
        for i in range(3):
            room = {"cpu": "15890m", "memory": "57Gi"}
            labels = {POOL: "spot", SPOT: "true"}
            taints = [f"{SPOT}=true:NoSchedule"]
            nodes.append(make_node(f"prod-spot-{zone}-{i}", zone=zone, labels=labels, allocatable=room, taints=taints))
        room = {"cpu": "15890m", "memory": "118Gi"}
        name, taints = f"prod-large-{zone}", ["dedicated=data:NoSchedule"]
        nodes.append(make_node(name, zone=zone, labels={POOL: "large"}, allocatable=room, taints=taints))
    for i, zone in enumerate(("north1-a", "north1-a", "north1-b")):
        room = {"cpu": "23", "memory": "87Gi", GPU: "2"}
        labels, taints = {POOL: "gpu", MODEL: "model-l4"}, [f"{GPU}=present:NoSchedule"]
        nodes.append(make_node(f"prod-gpu-{i}", zone=zone, labels=labels, allocatable=room, taints=taints))
    return nodes


def _running() -> list[KubeObject]:
    base = [f"prod-base-{zone}-{i}" for zone in _ZONES for i in range(2)]
    pods: list[KubeObject] = []
    for node in base:
        lost = node == "prod-base-north1-b-1"
        small = {"requests": {"cpu": "438m"}, "host_ports": [8126]}
        pods += [] if lost else [make_pod(f"agent-{node}", node=node, metadata=owned("DaemonSet", "agent"), **small)]
    for i, node in enumerate(("prod-base-north1-a-0", "prod-base-north1-b-0", *base[-2:])):
        pods.append(replica("api", number=i, node=node, requests={"cpu": "2", "memory": "4Gi"}))
    tolerant = {"tolerations": [{"key": GPU, "operator": "Exists"}], "node_selector": {MODEL: "model-l4"}}
    for i in range(2):
        pods.append(replica("embedder", number=i, node=f"prod-gpu-{i}", requests={GPU: 1}, **tolerant))
    pods.append(replica("serving", node="prod-gpu-2", requests={GPU: 2}, **tolerant))
    for i, node in enumerate(("prod-base-north1-a-0", "prod-base-north1-b-0")):
        spec = {**apart("login", ZONE), **mounting(f"login-{i}")}
        zone = node[10:18]
        pods += [replica("login", "StatefulSet", number=i, node=node, spec=spec), *bound(f"login-{i}", ZONE, zone)]
    return pods


def _classes() -> list[KubeObject]:
    classes = [make_object("PriorityClass", "critical", value=_CRITICAL)]
    return [*classes, storage_class("standard"), storage_class("premium"), storage_class("old", "Immediate")]


def _pending() -> list[KubeObject]:
    tolerant = {"tolerations": [{"key": GPU, "operator": "Exists"}]}
    two = {"requests": {GPU: 2}, "node_selector": {MODEL: "model-l4"}, **tolerant}
    login = {**apart("login", ZONE), **mounting("login-2")}
    return [
        replica("reindexer", requests={"cpu": "8", "memory": "24Gi"}),  # 8 cores on machines of 8 cores
        replica("serving", number=1, **two),  # two GPUs are free, on two nodes
        replica("finetune", requests={GPU: 1}, node_selector={MODEL: "model-t4"}, **tolerant),  # no such model
        replica("report", "Job", requests={"cpu": "2"}, node_selector={SPOT: "true"}),  # spot without its toleration
        replica("canary", node_selector={ZONE: "north1a"}),  # a zone that is misspelt
        replica("login", "StatefulSet", number=2, spec=login),  # one per zone, and its disk is where one runs
        *bound("login-2", ZONE, "north1-a"),
        replica("mailer", spec=mounting("spool")),  # a StorageClass that does not exist
        unbound("spool", "fast-ssd"),
        replica("importer", spec=mounting("imports")),  # a claim that does not exist
        replica("shell", node_selector={HOST: "prod-base-north1-a-1"}),  # on a node that is cordoned
        replica("gateway", host_ports=[8126]),  # a port that a DaemonSet has on every node without taints
        replica("fraud", requests={"cpu": "7"}, priority=_CRITICAL),  # fits by preemption, or on the cordoned node
        replica("gated", spec={"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}),  # Kueue admits it
    ]


# --- machines at home ---


def home() -> list[KubeObject]:
    """Four small machines, two of a kind, one without space on its disk."""
    return [*_machines(), *_at_home(), *_waiting_at_home()]


def _machines() -> list[KubeObject]:
    small = {"cpu": "4", "memory": "4Gi"}
    full = ["node.kubernetes.io/disk-pressure:NoSchedule"]
    return [
        make_node("nuc", labels={ARCH: "amd64"}, allocatable={"cpu": "4", "memory": "16Gi"}),
        make_node("pi-a", labels={ARCH: "arm64", "zigbee": "true"}, allocatable=small),
        make_node("pi-b", labels={ARCH: "arm64"}, allocatable=small, taints=full),
        make_node("pi-c", labels={ARCH: "arm64"}, allocatable=small),
    ]


def _balancer(service: str, host: str, **more: Any) -> Pod:
    """The pod that holds the port of a LoadBalancer Service on a node."""
    name = f"svclb-{service}-3f2a1b"
    field = {"key": "metadata.name", "operator": "In", "values": [host]}
    required = {_REQUIRED: {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    spec = {"affinity": {"nodeAffinity": required}}
    return make_pod(
        f"{name}-x7{host.replace('-', '')}", host_ports=[80], metadata=owned("DaemonSet", name), spec=spec, **more
    )


def _at_home() -> list[KubeObject]:
    pods: list[KubeObject] = [_balancer("traefik", node, node=node) for node in ("nuc", "pi-a", "pi-b", "pi-c")]
    for i, node in enumerate(("nuc", "pi-a", "pi-c")):
        pods.append(replica("postgres", "StatefulSet", number=i, node=node, spec=apart("postgres")))
    pods += [
        replica("jellyfin", node="nuc", requests={"cpu": "2800m"}, spec=mounting("films")),
        *bound("films", HOST, "nuc"),
    ]
    return [*pods, storage_class("local-path")]


def _waiting_at_home() -> list[KubeObject]:
    return [
        _balancer("nginx", "nuc"),  # a second Service on port 80
        replica("zigbee", node_selector={"zigbee": "true"}, spec=mounting("zigbee")),  # stick and data on two machines
        *bound("zigbee", HOST, "pi-b"),
        replica("esphome", node_selector={ARCH: "aarch64"}),  # Kubernetes says arm64
        replica("prometheus", spec=mounting("metrics")),  # its data is on the machine without space
        *bound("metrics", HOST, "pi-b"),
        replica("postgres", "StatefulSet", number=3, spec=apart("postgres")),  # four, one per machine, on three
        replica("nextcloud", requests={"cpu": "2500m"}, spec=mounting("files")),  # its data is where 1.2 cores are left
        *bound("files", HOST, "nuc"),
    ]
