"""The server that a stock kube-scheduler calls."""

from kubesched.extender.server.advice import advice
from kubesched.extender.server.answer import Answer
from kubesched.extender.server.binder import Binder
from kubesched.extender.server.extender import ClusterWrites, Extender, served_profiles
from kubesched.extender.server.manifest_options import KUBE_SCHEDULER_IMAGE, PLUGIN_FOLDER, ManifestOptions
from kubesched.extender.server.manifests import manifests, scheduler_configuration
from kubesched.extender.server.offer import Offer, find_offer
from kubesched.extender.server.process import ExtenderOptions, run_extender
from kubesched.extender.server.recording import Recorder, read_recording
from kubesched.extender.server.replay import Replayed, replay
from kubesched.extender.server.requested_nodes import NodeSource
from kubesched.extender.server.requested_pods import RequestedPods
from kubesched.extender.server.service import ExtenderService
from kubesched.extender.server.verbs import Verbs
from kubesched.extender.server.watched_kinds import watched_kinds

__all__ = [
    "KUBE_SCHEDULER_IMAGE",
    "PLUGIN_FOLDER",
    "Answer",
    "Binder",
    "ClusterWrites",
    "Extender",
    "ExtenderOptions",
    "ExtenderService",
    "ManifestOptions",
    "NodeSource",
    "Offer",
    "Recorder",
    "Replayed",
    "RequestedPods",
    "Verbs",
    "advice",
    "find_offer",
    "manifests",
    "read_recording",
    "replay",
    "run_extender",
    "scheduler_configuration",
    "served_profiles",
    "watched_kinds",
]
