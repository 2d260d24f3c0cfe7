"""kubesched as Kubernetes objects: what every installation has."""

from kubesched.manifests.access import (
    account,
    cluster_role,
    cluster_role_binding,
    lease_rules,
    read_rules,
    role,
    role_binding,
    rule,
)
from kubesched.manifests.installation import PLUGIN_FOLDER, Document, Installation
from kubesched.manifests.pods import (
    config_map_volume,
    container,
    mount,
    pod_spec,
    python_environment,
    secret_volume,
)
from kubesched.manifests.workloads import checksum_of, config_map, namespace, service, workload

__all__ = [
    "PLUGIN_FOLDER",
    "Document",
    "Installation",
    "account",
    "checksum_of",
    "cluster_role",
    "cluster_role_binding",
    "config_map",
    "config_map_volume",
    "container",
    "lease_rules",
    "mount",
    "namespace",
    "pod_spec",
    "python_environment",
    "read_rules",
    "role",
    "role_binding",
    "rule",
    "secret_volume",
    "service",
    "workload",
]
