"""Container images: full names, digests, sizes, and which of them a node still holds."""

from generator.identity import digest, hex_id, number

REGISTRY = "registry.shop.example.com"
PUBLIC = {
    "aws-ebs-csi-driver": ("public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.53.0", 78),
    "argocd": ("quay.io/argoproj/argocd:v3.3.2", 181),
    "cert-manager": ("quay.io/jetstack/cert-manager-controller:v1.20.1", 24),
    "cilium": ("quay.io/cilium/cilium:v1.19.4", 262),
    "cilium-operator": ("quay.io/cilium/operator-aws:v1.19.4", 41),
    "cluster-autoscaler": ("registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.0", 31),
    "coredns": ("registry.k8s.io/coredns/coredns:v1.13.1", 22),
    "csi-node-driver-registrar": ("public.ecr.aws/eks-distro/kubernetes-csi/node-driver-registrar:v2.15.0", 12),
    "elasticsearch": ("docker.elastic.co/elasticsearch/elasticsearch:9.2.1", 702),
    "envoy": ("docker.io/envoyproxy/envoy:distroless-v1.38.0", 66),
    "etcd": ("registry.k8s.io/etcd:3.6.6-0", 23),
    "external-dns": ("registry.k8s.io/external-dns/external-dns:v0.20.0", 20),
    "grafana": ("docker.io/grafana/grafana:12.3.0", 164),
    "kafka": ("quay.io/strimzi/kafka:0.49.0-kafka-4.1.1", 431),
    "kube-apiserver": ("registry.k8s.io/kube-apiserver:v1.36.3", 27),
    "kube-controller-manager": ("registry.k8s.io/kube-controller-manager:v1.36.3", 23),
    "kube-proxy": ("registry.k8s.io/kube-proxy:v1.36.3", 26),
    "kube-scheduler": ("registry.k8s.io/kube-scheduler:v1.36.3", 18),
    "loki": ("docker.io/grafana/loki:3.6.1", 37),
    "metrics-server": ("registry.k8s.io/metrics-server/metrics-server:v0.8.0", 22),
    "nginx": ("docker.io/library/nginx:1.29.3-alpine", 23),
    "node-exporter": ("quay.io/prometheus/node-exporter:v1.10.2", 13),
    "nvidia-device-plugin": ("nvcr.io/nvidia/k8s-device-plugin:v0.18.0", 189),
    "pause": ("registry.k8s.io/pause:3.10.1", 0),
    "postgres": ("ghcr.io/cloudnative-pg/postgresql:18.1", 214),
    "prometheus": ("quay.io/prometheus/prometheus:v3.8.0", 124),
    "redis": ("docker.io/valkey/valkey:9.0.0-alpine", 17),
    "triton": ("nvcr.io/nvidia/tritonserver:26.10-py3", 7_480),
    "pytorch": ("nvcr.io/nvidia/pytorch:26.10-py3", 9_210),
}
KEPT = 40  # images that a node reports at most beyond those in use


def image_name(image: str) -> str:
    """The full reference of a public image, or of one of the shop's own."""
    if image in PUBLIC:
        return PUBLIC[image][0]
    return f"{REGISTRY}/{image}:2026.{46 - number(3, 'week', image)}.{number(9, 'build', image)}"


def image_digest(reference: str) -> str:
    return f"{reference.rpartition(':')[0]}@sha256:{hex_id('image', reference)}"


def image_entry(image: str) -> dict:
    """The image as `node.status.images` lists it."""
    size = (
        PUBLIC[image][1] * 1_048_576 + 320_000 if image in PUBLIC else 58_000_000 + number(390_000_000, "size", image)
    )
    name = image_name(image)
    return {"names": [image_digest(name), name], "sizeBytes": size}


def node_images(node: str, in_use: set[str], catalogue: list[str]) -> list[dict]:
    """What the pods of a node use and some that earlier pods left behind, largest first as the kubelet reports them."""
    old = sorted((i for i in catalogue if i not in in_use), key=lambda image: digest("kept", node, image))
    held = in_use | {"pause"} | set(old[: 6 + number(KEPT - 20, "held", node)])
    return sorted((image_entry(i) for i in held), key=lambda entry: (-entry["sizeBytes"], entry["names"]))[:50]
