"""The server that a stock kube-scheduler calls."""

from kubesched.extender.server.advice import advice
from kubesched.extender.server.answer import Answer
from kubesched.extender.server.binder import Binder
from kubesched.extender.server.extender import ClusterWrites, Extender
from kubesched.extender.server.offer import Offer, find_offer
from kubesched.extender.server.requested_nodes import NodeSource
from kubesched.extender.server.requested_pods import RequestedPods
from kubesched.extender.server.verbs import Verbs

__all__ = [
    "Answer",
    "Binder",
    "ClusterWrites",
    "Extender",
    "NodeSource",
    "Offer",
    "RequestedPods",
    "Verbs",
    "advice",
    "find_offer",
]
