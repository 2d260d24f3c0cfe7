"""The manifests of an extender and its kube-scheduler, and the KubeSchedulerConfiguration that calls it."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.extender.manifests.manifest_options import KUBE_SCHEDULER_IMAGE, ManifestOptions
    from kubesched.extender.manifests.manifests import manifests, scheduler_configuration

__all__ = ["KUBE_SCHEDULER_IMAGE", "ManifestOptions", "manifests", "scheduler_configuration"]
