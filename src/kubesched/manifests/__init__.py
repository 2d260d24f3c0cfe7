"""kubesched as Kubernetes objects: what every installation has, and the manifests of a live scheduler."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.manifests.access import (
        account as account,
        cluster_role as cluster_role,
        cluster_role_binding as cluster_role_binding,
        lease_rules as lease_rules,
        plugin_grants as plugin_grants,
        read_rules as read_rules,
        role as role,
        role_binding as role_binding,
        rule as rule,
        rule_comments as rule_comments,
        why_read as why_read,
    )
    from kubesched.manifests.base_installation import (
        PLUGIN_FOLDER as PLUGIN_FOLDER,
        Document as Document,
        Grant as Grant,
        Installation as Installation,
    )
    from kubesched.manifests.deployments import (
        checksum_of as checksum_of,
        config_map as config_map,
        namespace as namespace,
        service as service,
        workload as workload,
    )
    from kubesched.manifests.pods import (
        config_map_volume as config_map_volume,
        container as container,
        mount as mount,
        pod_spec as pod_spec,
        python_environment as python_environment,
        secret_volume as secret_volume,
    )
    from kubesched.manifests.scheduler_access import cluster_grants as cluster_grants, lease_grants as lease_grants
    from kubesched.manifests.scheduler_comments import write_commented as write_commented
    from kubesched.manifests.scheduler_installation import SchedulerInstallation as SchedulerInstallation
    from kubesched.manifests.scheduler_objects import (
        CONFIG_FILE as CONFIG_FILE,
        scheduler_manifests as scheduler_manifests,
    )
