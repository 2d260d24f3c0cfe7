"""The words that identify no one, and stay when names are replaced: labels of providers, zones, resources, plain words.

As in `kubernetes_words`, every word is listed; the form of a zone is made of listed words.
"""

import re
from typing import Final

from kubesched.api import CAPACITY_LABELS, DO_NOT_DISRUPT, POOL_LABELS, SPOT_LABELS

_PROVIDERS: Final = {  # domain -> the labels and taints below it
    "": (
        "controller-revision-hash",
        "controller-uid",
        "job-name",
        "k8s-app",
        "pod-template-generation",
        "pod-template-hash",
    ),
    "alpha.eksctl.io": ("cluster-name", "nodegroup-name"),
    "aws.amazon.com": ("neuron",),
    "cloud.google.com": (
        *("gke-accelerator", "gke-boot-disk", "gke-container-runtime", "gke-cpu-scaling-level", "gke-local-nvme-ssd"),
        *("gke-os-distribution", "gke-tpu-topology"),
        *("impending-node-termination", "machine-family"),
    ),
    "doks.digitalocean.com": ("node-id", "node-pool", "node-pool-id"),
    "eks.amazonaws.com": ("compute-type", "nodegroup-image"),
    "karpenter.k8s.aws": (
        *("instance-category", "instance-cpu", "instance-family", "instance-generation", "instance-gpu-count"),
        *("instance-gpu-manufacturer", "instance-gpu-name", "instance-hypervisor", "instance-local-nvme"),
        *("instance-memory", "instance-size"),
    ),
    "karpenter.sh": (
        *("disrupted", "disruption", "do-not-evict", "initialized"),
        *("provisioner-name", "registered", "unregistered"),
    ),
    "kops.k8s.io": ("instancegroup",),
    "kubernetes.azure.com": ("cluster", "mode", "nodepool-type", "storageprofile"),
    "kueue.x-k8s.io": ("admission", "queue-name"),
    "node.cilium.io": ("agent-not-ready",),
    "ebs.csi.aws.com": ("agent-not-ready",),
    "efs.csi.aws.com": ("agent-not-ready",),
    "topology.ebs.csi.aws.com": ("zone",),
    "topology.gke.io": ("zone",),
    "topology.disk.csi.azure.com": ("zone",),
    "nvidia.com": (
        *("gpu", "gpu.count", "gpu.deploy.device-plugin", "gpu.family", "gpu.machine", "gpu.memory", "gpu.present"),
        *("gpu.product", "gpu.replicas", "gpu.shared", "mig.capable", "mig.config", "mig.strategy"),
    ),
    "amd.com": ("gpu",),
    "svccontroller.k3s.cattle.io": ("svcname", "svcnamespace"),
}
_KEYS: Final = frozenset(
    (
        *(f"{of}/{name}".lstrip("/") for of, names in _PROVIDERS.items() for name in names),
        *(*POOL_LABELS, *CAPACITY_LABELS, *SPOT_LABELS, DO_NOT_DISRUPT),
    )
)
_RESOURCES: Final = frozenset(
    (
        *("amd.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "aws.amazon.com/neurondevice"),
        *("devices.kubevirt.io/kvm", "devices.kubevirt.io/tun", "devices.kubevirt.io/vhost-net", "github.com/fuse"),
        *("google.com/tpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi", "nvidia.com/gpu"),
        *("nvidia.com/gpu.shared", "rdma/hca", "rdma/hca_shared_devices_a", "smarter-devices/fuse"),
        *("vpc.amazonaws.com/efa", "vpc.amazonaws.com/pod-eni", "vpc.amazonaws.com/PrivateIPv4Address"),
    )
)
_MIG: Final = re.compile(r"nvidia\.com/mig-[0-9]g\.[0-9]+gb")
_OF_MACHINES: Final = frozenset(
    (
        *("cloud.google.com/gke-accelerator", "cloud.google.com/machine-family", "cloud.google.com/gke-tpu-topology"),
        *("nvidia.com/gpu.family", "nvidia.com/gpu.machine", "nvidia.com/gpu.product"),
        *(key for key in _KEYS if key.startswith("karpenter.k8s.aws/instance-")),
    )
)
"""Labels whose values are types of machines and devices."""
_SIDES: Final = "central|east|north|northeast|northwest|south|southeast|southwest|west"
_ZONE: Final = re.compile(
    # AWS, Google, and Azure with its zones
    rf"(?:us|eu|ap|sa|ca|me|af|il|mx|cn)(?:-gov|-iso|-isob)?-(?:{_SIDES})-[0-9][a-f]?"
    rf"|(?:us|europe|asia|australia|northamerica|southamerica|me|africa)-(?:{_SIDES})[0-9]{{1,2}}(?:-[a-f])?"
    rf"|(?:{_SIDES})(?:us|europe|asia|india|ca|uk)[0-9]?(?:-[1-9])?"
    r"|(?:east|west|north|south|central)?(?:uk|france|germany|canada|japan|korea|australia|brazil|norway|sweden|poland)"
    r"(?:east|west|north|south|central|southeast|westcentral)[0-9]?(?:-[1-9])?"
)
_PLAIN: Final = frozenset(
    (
        *("accelerator", "agent", "agentpool", "amd", "amd64", "api", "app", "application", "apps", "arch", "arm"),
        *("arm64", "backend", "balanced", "batch", "beta", "big", "blue", "build", "burst", "burstable", "cache"),
        *("canary", "capacity", "ci", "class", "cluster", "cni", "color", "compliance", "component", "compute"),
        *("control", "controller", "coredns", "cpu", "critical", "csi", "database", "db", "debug", "dedicated"),
        *("default", "demand", "deployment", "dev", "development", "device", "disk", "disktype", "dns", "domain"),
        *("driver", "edge", "egress", "env", "environment", "ephemeral", "etcd", "exclusive", "family", "fast"),
        *("frontend", "gateway", "general", "generation", "gold", "gpu", "green", "group", "hash", "hdd", "heavy"),
        *("high", "highcpu", "highmem", "host", "hostname", "infra", "infrastructure", "ingress", "instance"),
        *("intel", "internal", "job", "jobs", "kind", "kube", "kubernetes", "large", "leader", "legacy", "level"),
        *("lifecycle", "light", "linux", "local", "logging", "machine", "main", "managed", "manager", "master"),
        *("mem", "memory", "metrics", "micro", "ml", "mode", "monitoring", "name", "network", "node", "nodegroup"),
        *("nodepool", "nodes", "none", "normal", "nvidia", "nvme", "on", "ondemand", "optimized", "os", "owner"),
        *("part", "performance", "pod", "policy", "pool", "preemptible", "premium", "primary", "prod", "product"),
        *("production", "proxy", "public", "purpose", "qa", "queue", "rack", "region", "regular", "release"),
        *("replica", "reserved", "role", "room", "row", "rw", "rwo", "scheduler", "server", "service", "shared"),
        *("silver", "size", "sku", "slow", "small", "spot", "ssd", "stable", "stage", "staging", "standard"),
        *("state", "stateful", "stateless", "storage", "system", "tainted", "team", "tenant", "test", "testing"),
        *("tier", "tmp", "topology", "tpu", "track", "training", "type", "usage", "user", "version", "web"),
        *("windows", "worker", "workers", "workload", "x86", "xlarge", "zone"),
    )
)
"""Words that many clusters have."""
_PLAIN_WORD: Final = re.compile(r"[a-z]+(?=[A-Z])|[^\W_]+")
_SHORT: Final = re.compile("[a-z]?[0-9]{1,2}[a-z]?|[a-z]")
"""The letter or number after a plain word, as in `spot-2` and `pool-n2`."""


def is_public_name(text: str) -> bool:
    """Whether a text is a label, taint or resource of a provider, or one of its zones or regions."""
    return text in _KEYS or text in _RESOURCES or bool(_MIG.fullmatch(text) or _ZONE.fullmatch(text))


def is_machine(key: str) -> bool:
    """Whether the values of a label are types of machines and devices."""
    return key in _OF_MACHINES


def is_plain(text: str) -> bool:
    """Whether a text has only plain words, perhaps with short numbers.

    Example:
        assert is_plain("on-demand") and is_plain("spot-n2") and not is_plain("payments-spot") and not is_plain("n2")
    """
    words = [word.lower() for word in _PLAIN_WORD.findall(text)]
    return any(word in _PLAIN for word in words) and all(word in _PLAIN or _SHORT.fullmatch(word) for word in words)
