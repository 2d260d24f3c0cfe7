"""The extender that a stock kube-scheduler calls: its server, its manifests, and recorded calls answered again."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.extender.answer import Answer
    from kubesched.extender.binder import Binder
    from kubesched.extender.common_mistakes import advice
    from kubesched.extender.extender_process import ExtenderOptions, run_extender
    from kubesched.extender.manifests import (
        KUBE_SCHEDULER_IMAGE,
        ManifestOptions,
        extender_manifests,
        scheduler_configuration,
    )
    from kubesched.extender.offer import Offer, find_offer
    from kubesched.extender.plugin_extender import ClusterWrites, Extender, served_profiles
    from kubesched.extender.recording import RecordedCall, RecordedWatch, Recorder, read_recording
    from kubesched.extender.replay import Replayed, replay
    from kubesched.extender.requested_nodes import NodeSource
    from kubesched.extender.requested_pods import RequestedPods
    from kubesched.extender.service import ExtenderService
    from kubesched.extender.verbs import Verbs
    from kubesched.extender.watched_kinds import watched_kinds

__all__ = [
    "KUBE_SCHEDULER_IMAGE",
    "Answer",
    "Binder",
    "ClusterWrites",
    "Extender",
    "ExtenderOptions",
    "ExtenderService",
    "ManifestOptions",
    "NodeSource",
    "Offer",
    "RecordedCall",
    "RecordedWatch",
    "Recorder",
    "Replayed",
    "RequestedPods",
    "Verbs",
    "advice",
    "extender_manifests",
    "find_offer",
    "read_recording",
    "replay",
    "run_extender",
    "scheduler_configuration",
    "served_profiles",
    "watched_kinds",
]
