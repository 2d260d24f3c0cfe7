"""The manifests of an extender and its kube-scheduler, and the KubeSchedulerConfiguration that calls it."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.extender.manifests.extender_objects import (
        extender_manifests as extender_manifests,
        scheduler_configuration as scheduler_configuration,
    )
    from kubesched.extender.manifests.manifest_options import (
        KUBE_SCHEDULER_IMAGE as KUBE_SCHEDULER_IMAGE,
        ManifestOptions as ManifestOptions,
    )
