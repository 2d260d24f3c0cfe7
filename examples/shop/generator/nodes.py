"""The 300 nodes: seven pools in three zones, a few of them in the states that nodes get into."""

from dataclasses import dataclass, field

from generator.identity import NOW, digest, hex_id, metadata, moment, number, stamp, uid

REGION = "eu-west-1"
ZONES = {"eu-west-1a": "euw1-az2", "eu-west-1b": "euw1-az3", "eu-west-1c": "euw1-az1"}
POOL = "shop.example.com/pool"
KUBELET = "v1.36.3"


@dataclass(frozen=True)
class Machine:
    """An instance type: cores, memory in GiB, architecture, GPUs, and how many EBS volumes it takes."""

    cores: int
    memory: int
    arch: str = "amd64"
    gpus: int = 0
    volumes: int = 26


MACHINES = {
    "m6i.xlarge": Machine(4, 16),
    "m6i.2xlarge": Machine(8, 32),
    "m7g.2xlarge": Machine(8, 32, arch="arm64"),
    "m6a.2xlarge": Machine(8, 32),
    "c6i.4xlarge": Machine(16, 32),
    "r6i.2xlarge": Machine(8, 64),
    "g5.2xlarge": Machine(8, 32, gpus=1, volumes=25),
    "g5.12xlarge": Machine(48, 192, gpus=4, volumes=23),
}


@dataclass(frozen=True)
class Pool:
    """Nodes of one kind; its taint is (key, value) and always keeps pods away (NoSchedule)."""

    name: str
    machine: str
    count: int
    taint: tuple[str, str] | None = None


POOLS = (
    Pool("control-plane", "m6i.xlarge", 3, ("node-role.kubernetes.io/control-plane", "")),
    Pool("system", "m6i.2xlarge", 9, ("CriticalAddonsOnly", "true")),
    Pool("edge", "m6i.2xlarge", 6, (POOL, "edge")),
    Pool("general", "m6i.2xlarge", 140),
    Pool("general", "m7g.2xlarge", 28),
    Pool("compute", "c6i.4xlarge", 48, (POOL, "compute")),
    Pool("database", "r6i.2xlarge", 18, (POOL, "database")),
    Pool("gpu", "g5.2xlarge", 10, ("nvidia.com/gpu", "present")),
    Pool("gpu", "g5.12xlarge", 4, ("nvidia.com/gpu", "present")),
    Pool("spot", "m6a.2xlarge", 34, ("shop.example.com/spot", "true")),
)


@dataclass
class NodeDraft:
    """A node while pods are being put on it: what is left, and what runs there."""

    name: str
    number: int
    pool: Pool
    machine: Machine
    zone: str
    trouble: str = ""  # cordoned, not-ready, disk-pressure, fresh
    free: dict[str, int] = field(default_factory=dict)  # cpu in milli-CPU, memory in MiB, gpu, pods
    pods: list[dict] = field(default_factory=list)
    apps: dict[tuple[str, str], int] = field(default_factory=dict)
    volumes: list[str] = field(default_factory=list)

    @property
    def takes_pods(self) -> bool:
        """Whether anything but a DaemonSet was put there lately."""
        return not self.trouble

    @property
    def address(self) -> str:
        return self.name.split(".")[0].removeprefix("ip-").replace("-", ".")

    def pod_address(self) -> str:
        return f"10.{64 + self.number // 256}.{self.number % 256}.{len(self.pods) + 4}"


def build_drafts() -> list[NodeDraft]:
    """All nodes, empty, zones in turn within each pool."""
    nodes: list[NodeDraft] = []
    for pool in POOLS:
        for i in range(pool.count):
            place = len(nodes)
            zone = list(ZONES)[i % 3]
            third = 32 * (i % 3) + number(30, "subnet", pool.name, pool.machine, i)
            name = f"ip-10-0-{third}-{4 + place % 250}.{REGION}.compute.internal"
            machine = MACHINES[pool.machine]
            node = NodeDraft(name, place, pool, machine, zone, trouble=_trouble(pool, i))
            node.free = {
                "cpu": _cpu(machine),
                "memory": _memory_kib(node) // 1024,
                "gpu": machine.gpus,
                "pods": 110,
            }
            nodes.append(node)
    return nodes


def node_object(node: NodeDraft, images: list[dict]) -> dict:
    """The Node as the API server returns it."""
    spec: dict = {
        "podCIDR": f"10.{64 + node.number // 256}.{node.number % 256}.0/24",
        "podCIDRs": [f"10.{64 + node.number // 256}.{node.number % 256}.0/24"],
        "providerID": f"aws:///{node.zone}/i-0{hex_id('instance', node.name)[:16]}",
    }
    if taints := _taints(node):
        spec["taints"] = taints
    if node.trouble == "cordoned":
        spec["unschedulable"] = True
    created = NOW if node.trouble == "fresh" else moment(40, "Node", "", node.name)
    meta = metadata("Node", node.name, created=created, labels=_labels(node), annotations=_annotations(node))
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": _status(node, images)}


def _trouble(pool: Pool, i: int) -> str:
    return {
        ("general", "m6i.2xlarge", 17): "cordoned",
        ("general", "m6i.2xlarge", 62): "fresh",
        ("general", "m6i.2xlarge", 98): "not-ready",
        ("edge", "m6i.2xlarge", 5): "not-ready",
        ("spot", "m6a.2xlarge", 11): "disk-pressure",
    }.get((pool.name, pool.machine, i), "")


def _cpu(machine: Machine) -> int:
    return machine.cores * 1000 - (90 if machine.cores < 16 else 110)


def _memory_kib(node: NodeDraft) -> int:
    capacity = _memory_capacity_kib(node)
    reserved = {16: 1_433_600, 32: 2_091_008, 64: 2_863_104, 192: 5_529_600}[node.machine.memory]
    return capacity - reserved


def _memory_capacity_kib(node: NodeDraft) -> int:
    """Machines of one type differ by a few pages."""
    return int(node.machine.memory * 1024 * 1024 * 0.968) - number(64, "memory", node.name) * 4


def _labels(node: NodeDraft) -> dict[str, str]:
    family, size = node.pool.machine.split(".")
    labels = {
        "beta.kubernetes.io/arch": node.machine.arch,
        "beta.kubernetes.io/instance-type": node.pool.machine,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": node.machine.arch,
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": node.pool.machine,
        "shop.example.com/instance-family": family,
        "shop.example.com/instance-size": size,
        POOL: node.pool.name,
        "topology.ebs.csi.aws.com/zone": node.zone,
        "topology.k8s.aws/zone-id": ZONES[node.zone],
        "topology.kubernetes.io/region": REGION,
        "topology.kubernetes.io/zone": node.zone,
    }
    if node.pool.name == "control-plane":
        labels["node-role.kubernetes.io/control-plane"] = ""
        labels["node.kubernetes.io/exclude-from-external-load-balancers"] = ""
    if node.machine.gpus:
        labels["nvidia.com/gpu.count"] = str(node.machine.gpus)
        labels["nvidia.com/gpu.memory"] = "23028"
        labels["nvidia.com/gpu.present"] = "true"
        labels["nvidia.com/gpu.product"] = "NVIDIA-A10G"
    labels["shop.example.com/capacity-type"] = "spot" if node.pool.name == "spot" else "on-demand"
    return labels


def _annotations(node: NodeDraft) -> dict[str, str]:
    return {
        "csi.volume.kubernetes.io/nodeid": f'{{"ebs.csi.aws.com":"i-0{hex_id("instance", node.name)[:16]}"}}',
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    }


def _taints(node: NodeDraft) -> list[dict]:
    taints: list[dict] = []
    if node.pool.taint:
        key, value = node.pool.taint
        taints.append({"effect": "NoSchedule", "key": key} | ({"value": value} if value else {}))
    added = stamp(moment(0.1, "taint", node.name))
    if node.trouble == "cordoned":
        taints.append({"effect": "NoSchedule", "key": "node.kubernetes.io/unschedulable", "timeAdded": added})
    if node.trouble == "not-ready":
        taints.append({"effect": "NoSchedule", "key": "node.kubernetes.io/not-ready", "timeAdded": added})
        taints.append({"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "timeAdded": added})
    if node.trouble == "disk-pressure":
        taints.append({"effect": "NoSchedule", "key": "node.kubernetes.io/disk-pressure", "timeAdded": added})
    return taints


def _status(node: NodeDraft, images: list[dict]) -> dict:
    disk_kib = 104_845_292 if node.machine.cores < 16 else 209_702_892
    capacity = {
        "cpu": str(node.machine.cores),
        "ephemeral-storage": f"{disk_kib}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{_memory_capacity_kib(node)}Ki",
        "pods": "110",
    }
    allocatable = capacity | {
        "cpu": f"{_cpu(node.machine)}m",
        "ephemeral-storage": str(disk_kib * 1024 * 9 // 10 - 1024**3),
        "memory": f"{_memory_kib(node)}Ki",
    }
    if node.machine.gpus:
        capacity["nvidia.com/gpu"] = allocatable["nvidia.com/gpu"] = str(node.machine.gpus)
    status = {
        "addresses": [
            {"address": node.address, "type": "InternalIP"},
            {"address": node.name, "type": "InternalDNS"},
            {"address": node.name, "type": "Hostname"},
        ],
        "allocatable": allocatable,
        "capacity": capacity,
        "conditions": _conditions(node),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "declaredFeatures": ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"],
        "features": {"supplementalGroupsPolicy": True},
        "images": images,
        "nodeInfo": _node_info(node),
        "runtimeHandlers": [
            {"features": {"recursiveReadOnlyMounts": True, "userNamespaces": True}, "name": ""},
            {"features": {"recursiveReadOnlyMounts": True, "userNamespaces": True}, "name": "runc"},
        ],
    }
    if node.volumes:
        names = [f"kubernetes.io/csi/ebs.csi.aws.com^{handle}" for handle in sorted(node.volumes)]
        status["volumesAttached"] = [{"devicePath": "", "name": name} for name in names]
        status["volumesInUse"] = names
    return status


def _conditions(node: NodeDraft) -> list[dict]:
    beat = stamp(NOW if node.trouble != "not-ready" else moment(0.1, "beat", node.name))
    since = stamp(moment(30, "condition", node.name))
    pressure = node.trouble == "disk-pressure"
    rows = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "True", "KubeletHasDiskPressure", "kubelet has disk pressure")
        if pressure
        else ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false")
        if node.trouble == "not-ready"
        else ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
    return [
        {
            "lastHeartbeatTime": beat,
            "lastTransitionTime": since,
            "message": message,
            "reason": reason,
            "status": state,
            "type": kind,
        }
        for kind, state, reason, message in rows
    ]


def _node_info(node: NodeDraft) -> dict:
    return {
        "architecture": node.machine.arch,
        "bootID": uid("boot", node.name),
        "containerRuntimeVersion": "containerd://2.2.1",
        "kernelVersion": "6.12.48-61.114.amzn2023." + ("aarch64" if node.machine.arch == "arm64" else "x86_64"),
        "kubeProxyVersion": "",
        "kubeletVersion": KUBELET,
        "machineID": digest("machine", node.name).hex()[:32],
        "operatingSystem": "linux",
        "osImage": "Amazon Linux 2023.9.20260929",
        "swap": {"capacity": 0},
        "systemUUID": uid("system", node.name),
    }
