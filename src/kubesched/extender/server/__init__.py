"""The server that a stock kube-scheduler calls."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.extender.server.answer import Answer
    from kubesched.extender.server.binder import Binder
    from kubesched.extender.server.common_mistakes import advice
    from kubesched.extender.server.extender_process import ExtenderOptions, run_extender
    from kubesched.extender.server.offer import Offer, find_offer
    from kubesched.extender.server.plugin_extender import ClusterWrites, Extender, served_profiles
    from kubesched.extender.server.recording import RecordedCall, RecordedWatch, Recorder, read_recording
    from kubesched.extender.server.requested_nodes import NodeSource
    from kubesched.extender.server.requested_pods import RequestedPods
    from kubesched.extender.server.service import ExtenderService
    from kubesched.extender.server.verbs import Verbs
    from kubesched.extender.server.watched_kinds import watched_kinds

__all__ = [
    "Answer",
    "Binder",
    "ClusterWrites",
    "Extender",
    "ExtenderOptions",
    "ExtenderService",
    "NodeSource",
    "Offer",
    "RecordedCall",
    "RecordedWatch",
    "Recorder",
    "RequestedPods",
    "Verbs",
    "advice",
    "find_offer",
    "read_recording",
    "run_extender",
    "served_profiles",
    "watched_kinds",
]
