"""The labels, annotations and groups of Kubernetes that more than one rule reads.

Rule: Kubernetes v1.36, well-known labels, annotations and taints, and what client-go and the controllers define.
"""

from typing import Final

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"
INSTANCE_TYPES: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
POOL_LABELS: Final = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
)
POOL_WORDS: Final = ("pool", "nodepool", "node-pool", "nodegroup", "node-group")
"""How people name a label for pools, after a domain or without one."""
CAPACITY_LABELS: Final = (
    "karpenter.sh/capacity-type",
    "eks.amazonaws.com/capacityType",
    "kubernetes.azure.com/scalesetpriority",
    "cloud.google.com/gke-provisioning",
)
SPOT_LABELS: Final = ("cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible")
"""Whose value is `true`."""
PROVIDER_DOMAINS: Final = {
    "cloud.google.com": "GKE",
    "gke.io": "GKE",
    "eks.amazonaws.com": "EKS",
    "eksctl.io": "EKS",
    "karpenter.k8s.aws": "EKS",
    "kubernetes.azure.com": "AKS",
    "karpenter.azure.com": "AKS",
    "doks.digitalocean.com": "DigitalOcean",
    "karpenter.sh": "Karpenter",
}
"""How the domains of labels end that a provider sets on its own nodes, and the provider."""
MACHINE_DOMAINS: Final = ("kubernetes.io", "k8s.io", "amd.com", "nvidia.com", *PROVIDER_DOMAINS)
"""How the domains of labels end that the cluster, its provider or an operator sets: they say what a machine is."""

KUSTOMIZE_GROUP: Final = "kustomize.config.k8s.io"

# annotations; snapshot/fields.py keeps those that rules read
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
MIGRATED_PLUGINS: Final = "storage.alpha.kubernetes.io/migrated-plugins"
DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
BETA_DEFAULT_CLASS: Final = "storageclass.beta.kubernetes.io/is-default-class"
MIRROR_POD: Final = "kubernetes.io/config.mirror"
AVOID_PODS: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
DESIRED_REPLICAS: Final = "deployment.kubernetes.io/desired-replicas"
INDEX_FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
LIMIT_RANGER: Final = "kubernetes.io/limit-ranger"  # of a pod: what the admission plugin has set
ADMIN_ACCESS: Final = "resource.kubernetes.io/admin-access"
"""Of a namespace: `"true"` where claims may have admin access to devices that others have."""
NAMESPACE_SELECTOR: Final = "scheduler.alpha.kubernetes.io/node-selector"
NAMESPACE_TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/defaultTolerations"

SILENCED: Final = "kubesched/ignore"
"""Of kubesched: the rules of `kubesched check` that find nothing about an object: `single-replica, one-zone`."""

# how names begin that others give
KUEUE: Final = "kueue.x-k8s.io/"  # scheduling gates
SERVICE_OF_K3S: Final = "svclb-"  # the DaemonSet svclb-SERVICE-HASH holds the ports of a LoadBalancer Service
