"""The server that a stock kube-scheduler calls."""

from kubesched.extender.server.answer import Answer
from kubesched.extender.server.requested_nodes import NodeSource
from kubesched.extender.server.requested_pods import RequestedPods
from kubesched.extender.server.verbs import Verbs

__all__ = ["Answer", "NodeSource", "RequestedPods", "Verbs"]
