"""Everything that runs in the shop: add-ons, services, databases, jobs."""

from generator.workload import Claim, Workload

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
AMD64 = (("kubernetes.io/arch", "amd64"),)


def daemon_set(name: str, cpu: int, memory: int, image: str, pool: str = "any", **more) -> Workload:
    return Workload(
        "DaemonSet", "kube-system", name, 0, cpu, memory, image, pool, priority="system-node-critical", **more
    )


def service(namespace: str, name: str, replicas: int, cpu: int, memory: int, **more) -> Workload:
    """A stateless service with an image of the shop's own and a mesh proxy."""
    return Workload(
        "Deployment", namespace, name, replicas, cpu, memory, f"{namespace}/{name}", **{"proxied": True} | more
    )


def add_on(kind: str, namespace: str, name: str, replicas: int, cpu: int, memory: int, image: str, **more) -> Workload:
    more = {"pool": "system", "priority": "system-cluster-critical"} | more
    return Workload(kind, namespace, name, replicas, cpu, memory, image, **more)


def database(namespace: str, name: str, replicas: int, cpu: int, memory: int, image: str, **more) -> Workload:
    more = {"pool": "database", "priority": "business-critical", "budget": "max 1"} | more
    return Workload("StatefulSet", namespace, name, replicas, cpu, memory, image, **more)


DAEMONS = [
    daemon_set("cilium", 100, 256, "cilium", host_network=True, host_port=9962),
    daemon_set("kube-proxy", 100, 64, "kube-proxy", host_network=True, host_port=10249),
    daemon_set("ebs-csi-node", 30, 80, "aws-ebs-csi-driver"),
    daemon_set("node-exporter", 100, 64, "node-exporter", host_network=True, host_port=9100),
    daemon_set("nvidia-device-plugin", 50, 128, "nvidia-device-plugin", pool="gpu"),
]

ADD_ONS = [
    add_on("Deployment", "kube-system", "coredns", 9, 100, 170, "coredns", spread="soft", budget="max 2"),
    add_on("Deployment", "kube-system", "cilium-operator", 2, 100, 128, "cilium-operator", apart=HOST),
    add_on("Deployment", "kube-system", "ebs-csi-controller", 2, 60, 240, "aws-ebs-csi-driver", budget="max 1"),
    add_on("Deployment", "kube-system", "metrics-server", 2, 200, 400, "metrics-server", apart=HOST, budget="min 1"),
    add_on("Deployment", "kube-system", "cluster-autoscaler", 1, 200, 1024, "cluster-autoscaler"),
    add_on("Deployment", "cert-manager", "cert-manager", 3, 100, 256, "cert-manager"),
    add_on("Deployment", "external-dns", "external-dns", 1, 50, 128, "external-dns"),
    add_on("Deployment", "argocd", "argocd-server", 3, 250, 512, "argocd", spread="soft"),
    add_on("Deployment", "argocd", "argocd-repo-server", 3, 500, 1024, "argocd"),
    add_on("StatefulSet", "argocd", "argocd-application-controller", 2, 1000, 3072, "argocd"),
    add_on(
        "StatefulSet", "observability", "prometheus", 2, 3000, 14336, "prometheus",
        apart=ZONE, claims=(Claim("prometheus-data", "500Gi"),),
    ),
    add_on("StatefulSet", "observability", "alertmanager", 3, 100, 256, "prometheus", claims=(Claim("data", "10Gi"),)),
    add_on("StatefulSet", "observability", "loki", 6, 1000, 4096, "loki", claims=(Claim("data", "200Gi"),)),
    add_on("Deployment", "observability", "grafana", 2, 250, 512, "grafana"),
]  # fmt: skip

EDGE = [
    Workload(
        "Deployment", "edge", "gateway", 7, 2500, 4096, "envoy", "edge",
        running=5, priority="business-critical", spread="host", budget="max 1",
    ),
    Workload(
        "Deployment", "edge", "tls-passthrough", 5, 500, 512, "edge/tls-passthrough", "edge",
        priority="business-critical", host_port=8443,
    ),
]  # fmt: skip

SERVICES = [
    service("storefront", "web", 75, 1000, 1024, running=72, spread="soft", near="bff", budget="max 8"),
    service("storefront", "bff", 48, 750, 1024, spread="soft", budget="max 5"),
    service("storefront", "assets", 12, 250, 256),
    service("checkout", "api", 57, 1500, 1536, running=54, spread="hard", priority="business-critical", budget="max 6"),
    service("checkout", "cart", 36, 1000, 1024, spread="hard", priority="business-critical", budget="max 4"),
    service("checkout", "session-worker", 18, 500, 512),
    service("payments", "gateway", 30, 1000, 1024, apart=HOST, priority="business-critical", budget="min 24"),
    service("payments", "fraud-scoring", 24, 2000, 3072, spread="soft", priority="business-critical"),
    service("payments", "ledger-api", 18, 750, 1024, spread="hard", priority="business-critical", budget="max 2"),
    service("payments", "payouts", 9, 500, 768),
    service("catalog", "api", 48, 1000, 1536, spread="soft", budget="max 5"),
    service("catalog", "media", 25, 750, 2048, running=24, claims=(Claim("media-library", "2Ti", "efs", shared=True),)),
    service("catalog", "importer", 12, 1500, 3072),
    service("catalog", "price-api", 30, 500, 768, near="api"),
    service("search", "query", 36, 2000, 4096, spread="soft", budget="max 4", selector=AMD64),
    service("search", "suggest", 18, 750, 1024),
    service("search", "feed", 12, 1000, 2048),
    service("inventory", "api", 30, 750, 1024, spread="soft", budget="max 3"),
    service("inventory", "reservations", 24, 500, 768),
    service("inventory", "sync", 12, 500, 1024),
    service("recommendations", "api", 30, 1000, 2048, spread="soft", near="web"),
    service("recommendations", "feature-store", 18, 1500, 4096),
    service("orders", "api", 43, 1000, 1024, running=42, spread="hard", priority="business-critical", budget="max 5"),
    service("orders", "fulfilment", 24, 750, 1024),
    service("orders", "returns", 12, 500, 512),
    service("orders", "notifications", 24, 250, 384),
    service("customers", "accounts", 24, 750, 1024, spread="soft", budget="max 3"),
    service("customers", "loyalty", 18, 500, 768),
    service("customers", "reviews", 18, 500, 1024),
    service("warehouse", "picking", 24, 1000, 1536),
    service("warehouse", "routing", 12, 2000, 4096, selector=(("shop.example.com/instance-family", "m6i"),)),
    service("warehouse", "labels", 12, 250, 256),
    service("ads", "bidder", 37, 2000, 2048, running=36, spread="soft"),
    service("ads", "tracking", 30, 500, 512),
    service("ads", "campaigns", 9, 500, 1024),
    service("backoffice", "admin", 6, 500, 1024, proxied=False),
    service("backoffice", "reporting", 6, 1500, 4096, proxied=False),
    add_on(
        "StatefulSet", "platform", "keycloak", 3, 1000, 2048, "platform/keycloak",
        pool="general", priority="business-critical", apart=HOST, budget="max 1",
    ),
    add_on(
        "StatefulSet", "platform", "temporal", 6, 1000, 2048, "platform/temporal",
        pool="general", priority="standard", claims=(Claim("data", "50Gi"),),
    ),
]  # fmt: skip

PREVIEWS = [
    service("dev", f"preview-{1180 + 7 * i}", 1, 0, 0, proxied=False).but(image="storefront/web") for i in range(36)
]

PGDATA = (Claim("pgdata", "300Gi", "io2-database"),)
DATABASES = [
    database("orders", "orders-pg", 3, 2000, 16384, "postgres", apart=ZONE, claims=PGDATA),
    database("customers", "customers-pg", 3, 2000, 16384, "postgres", apart=ZONE, claims=PGDATA),
    database("catalog", "catalog-pg", 3, 2000, 12288, "postgres", apart=ZONE, claims=PGDATA),
    database("payments", "payments-pg", 3, 2000, 16384, "postgres", apart=ZONE, claims=PGDATA),
    database("checkout", "session-redis", 4, 1000, 12288, "redis", apart=ZONE, running=3),
    database("platform", "kafka", 10, 1500, 12288, "kafka", running=9, claims=(Claim("data", "500Gi"),)),
    database("search", "es-data", 9, 2000, 20480, "elasticsearch", claims=(Claim("data", "1Ti"),)),
]

LOW = {"priority": "batch-low"}
BATCH = [
    Workload("Job", "batch", "price-recalculation", 96, 6000, 8192, "batch/price-recalculation", "compute", **LOW),
    Workload("Deployment", "batch", "media-transcoder", 36, 3000, 6144, "batch/media-transcoder", "spot"),
    Workload("Deployment", "batch", "mail-worker", 24, 1000, 1024, "batch/mail-worker", "spot", **LOW),
    Workload("Deployment", "batch", "log-compactor", 24, 500, 1024, "batch/log-compactor", "spot", **LOW),
    Workload(
        "Deployment", "recommendations", "inference", 10, 3000, 12288, "triton", "gpu",
        running=8, gpus=1, selector=(("nvidia.com/gpu.count", "1"),),
    ),
    Workload("Job", "recommendations", "train-embeddings", 4, 24000, 98304, "pytorch", "gpu", gpus=4),
]  # fmt: skip
