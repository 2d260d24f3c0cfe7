"""The shapes: pools with machines, labels and taints, zones or racks, daemons and storage."""

from typing import Any, NamedTuple

Document = dict[str, Any]


class Machine(NamedTuple):
    """A machine type; `cpu` is in cores, `memory` in GiB."""

    type: str
    cpu: int
    memory: int
    gpus: int = 0
    gpu_type: str = ""


class Pool(NamedTuple):
    """A pool of equal nodes.

    Attributes:
        share: of all nodes; at least `least` nodes. The pool `default` gets the rest.
        fills: which workloads run there: a key of workloads.FILLS, empty for daemons only.
    """

    name: str
    machine: Machine
    share: float = 0.0
    least: int = 0
    labels: dict[str, str] = {}
    taints: tuple[Document, ...] = ()
    fills: str = ""


class Storage(NamedTuple):
    """How volumes come: `driver` is empty for local volumes, which have the node instead of a zone."""

    driver: str
    topology_key: str
    attach_limit: int
    classes: tuple[tuple[str, str, str], ...]  # name, provisioner, volumeBindingMode


class Shape(NamedTuple):
    """A kind of cluster.

    Attributes:
        domains: zones or racks.
        domain_key: the label that has them.
        daemons: name, CPU in milli, memory in MiB, and whether it is a mirror pod of the kubelet.
        reserved: the part of a machine that its kubelet keeps back, CPU in milli and memory in MiB.
    """

    name: str
    region: str
    domains: tuple[str, ...]
    domain_key: str
    pool_key: str
    pools: tuple[Pool, ...]
    daemons: tuple[tuple[str, int, int, bool], ...]
    storage: Storage
    reserved: tuple[int, int]
    max_pods: int


def _taint(key: str, value: str = "", effect: str = "NoSchedule") -> Document:
    return {"key": key, **({"value": value} if value else {}), "effect": effect}


def _zonal(driver: str, *names: str) -> tuple[tuple[str, str, str], ...]:
    waiting = [(name, driver, "WaitForFirstConsumer") for name in names]
    return (*waiting, ("immediate", driver, "Immediate"))


_GKE_SPOT = {"cloud.google.com/gke-spot": "true", "cloud.google.com/gke-provisioning": "spot"}
_GKE_GPU = {"cloud.google.com/gke-accelerator": "nvidia-l4", "cloud.google.com/gke-gpu-driver-version": "default"}
GKE = Shape(
    name="gke",
    region="europe-west4",
    domains=("europe-west4-a", "europe-west4-b", "europe-west4-c"),
    domain_key="topology.kubernetes.io/zone",
    pool_key="cloud.google.com/gke-nodepool",
    pools=(
        Pool("default-pool", Machine("e2-standard-8", 8, 32), fills="default"),
        Pool("highmem", Machine("n2-highmem-16", 16, 128), 0.2, 6, fills="large"),
        Pool(
            "spot",
            Machine("n2-standard-16", 16, 64),
            0.15,
            6,
            _GKE_SPOT,
            (_taint("cloud.google.com/gke-spot", "true"),),
            "batch",
        ),
        Pool(
            "gpu-l4",
            Machine("g2-standard-24", 24, 96, 2, "nvidia-l4"),
            0.04,
            3,
            _GKE_GPU,
            (_taint("nvidia.com/gpu", "present"),),
            "gpu",
        ),
        Pool("ingress", Machine("e2-standard-4", 4, 16), 0, 4, fills="ingress"),
    ),
    daemons=(
        ("kube-proxy", 100, 0, True),
        ("fluentbit-gke", 105, 200, False),
        ("gke-metrics-agent", 8, 110, False),
        ("pdcsi-node", 10, 20, False),
    ),
    storage=Storage(
        "pd.csi.storage.gke.io",
        "topology.gke.io/zone",
        127,
        _zonal("pd.csi.storage.gke.io", "standard-rwo", "premium-rwo"),
    ),
    reserved=(110, 3584),
    max_pods=110,
)

_SPOT = {"eks.amazonaws.com/capacityType": "SPOT", "karpenter.sh/capacity-type": "spot"}
_ON_DEMAND = {"eks.amazonaws.com/capacityType": "ON_DEMAND"}
EKS = Shape(
    name="eks",
    region="eu-central-1",
    domains=("eu-central-1a", "eu-central-1b", "eu-central-1c"),
    domain_key="topology.kubernetes.io/zone",
    pool_key="eks.amazonaws.com/nodegroup",
    pools=(
        Pool("general", Machine("m6i.2xlarge", 8, 32), labels=_ON_DEMAND, fills="default"),
        Pool("memory", Machine("r6i.4xlarge", 16, 128), 0.2, 6, _ON_DEMAND, fills="large"),
        Pool("spot", Machine("c6i.4xlarge", 16, 32), 0.2, 6, _SPOT, (_taint("spot", "true"),), "batch"),
        Pool(
            "gpu",
            Machine("g5.12xlarge", 48, 192, 4, "A10G"),
            0.03,
            3,
            {**_ON_DEMAND, "nvidia.com/gpu.product": "NVIDIA-A10G"},
            (_taint("nvidia.com/gpu", "true"),),
            "gpu",
        ),
        Pool("ingress", Machine("c6i.xlarge", 4, 8), 0, 4, _ON_DEMAND, fills="ingress"),
    ),
    daemons=(
        ("aws-node", 50, 0, False),
        ("kube-proxy", 100, 0, False),
        ("ebs-csi-node", 30, 120, False),
        ("datadog-agent", 200, 256, False),
    ),
    storage=Storage("ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", 26, _zonal("ebs.csi.aws.com", "gp3", "io2")),
    reserved=(90, 1024),
    max_pods=58,
)

BARE_METAL = Shape(
    name="bare-metal",
    region="",
    domains=("r01", "r02", "r03", "r04", "r05"),
    domain_key="topology.example.com/rack",
    pool_key="node.example.com/role",
    pools=(
        Pool("worker", Machine("", 32, 128), fills="default"),
        Pool("storage", Machine("", 48, 384), 0.25, 6, {"node.example.com/nvme": "true"}, fills="large"),
        Pool("batch", Machine("", 64, 256), 0.1, 6, {}, (_taint("dedicated", "batch"),), "batch"),
        Pool("gpu", Machine("", 64, 512, 8, "H100"), 0.05, 3, {}, (_taint("nvidia.com/gpu", "present"),), "gpu"),
        Pool("ingress", Machine("", 16, 64), 0, 4, {}, (), "ingress"),
        Pool(
            "control-plane",
            Machine("", 8, 32),
            0,
            3,
            {"node-role.kubernetes.io/control-plane": ""},
            (_taint("node-role.kubernetes.io/control-plane"),),
        ),
    ),
    daemons=(
        ("calico-node", 250, 0, False),
        ("kube-proxy", 50, 0, False),
        ("node-exporter", 100, 64, False),
        ("local-volume-provisioner", 20, 64, False),
    ),
    storage=Storage(
        "",
        "kubernetes.io/hostname",
        0,
        (
            ("local-nvme", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
            ("scratch", "rancher.io/local-path", "WaitForFirstConsumer"),
            ("immediate", "example.com/nfs", "Immediate"),
        ),
    ),
    reserved=(500, 4096),
    max_pods=250,
)

SHAPES = {shape.name: shape for shape in (GKE, EKS, BARE_METAL)}
