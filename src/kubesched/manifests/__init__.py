"""kubesched as Kubernetes objects: what every installation has, and the manifests of a live scheduler."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.manifests.access import (
        account,
        cluster_role,
        cluster_role_binding,
        lease_rules,
        plugin_grants,
        read_rules,
        role,
        role_binding,
        rule,
        rule_comments,
        why_read,
    )
    from kubesched.manifests.deployments import checksum_of, config_map, namespace, service, workload
    from kubesched.manifests.installation import PLUGIN_FOLDER, Document, Grant, Installation
    from kubesched.manifests.pods import (
        config_map_volume,
        container,
        mount,
        pod_spec,
        python_environment,
        secret_volume,
    )
    from kubesched.manifests.scheduler_access import cluster_grants, lease_grants
    from kubesched.manifests.scheduler_comments import write_commented
    from kubesched.manifests.scheduler_installation import SchedulerInstallation
    from kubesched.manifests.scheduler_objects import CONFIG_FILE, scheduler_manifests

__all__ = [
    "CONFIG_FILE",
    "PLUGIN_FOLDER",
    "Document",
    "Grant",
    "Installation",
    "SchedulerInstallation",
    "account",
    "checksum_of",
    "cluster_grants",
    "cluster_role",
    "cluster_role_binding",
    "config_map",
    "config_map_volume",
    "container",
    "lease_grants",
    "lease_rules",
    "mount",
    "namespace",
    "plugin_grants",
    "pod_spec",
    "python_environment",
    "read_rules",
    "role",
    "role_binding",
    "rule",
    "rule_comments",
    "scheduler_manifests",
    "secret_volume",
    "service",
    "why_read",
    "workload",
    "write_commented",
]
