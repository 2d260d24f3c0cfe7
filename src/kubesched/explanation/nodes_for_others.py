"""The nodes that a pod may use, because it tolerates their taints, and that are there for other pods."""

from kubesched.api import Node, Taint, is_extended_resource, parse_quantity
from kubesched.plugins import untolerated_taints
from kubesched.state import PodInfo


def kept_for_others(info: PodInfo, node: Node) -> list[Taint]:
    """The tolerated taints that keep a node for other pods than this one; none where the node is for it, too.

    A toleration without a key tolerates every taint and chooses no node. A node with taints and devices is for pods
    that ask for one of these devices.
    """
    tolerations = info.pod.tolerations
    if unnamed := untolerated_taints(node.taints, [one for one in tolerations if one.key]):
        return unnamed
    hard = untolerated_taints(node.taints, ())
    return hard if hard and not _uses_devices(info, node) else []


def _uses_devices(info: PodInfo, node: Node) -> bool:
    """Whether the pod asks for a device of the node, or the node has none."""
    offered = node.status.allocatable or {}
    devices = [name for name, amount in offered.items() if is_extended_resource(name) and parse_quantity(amount)]
    wanted = info.requests.value.wanted
    return not devices or bool(info.pod.spec.resource_claims) or any(wanted.get(name) for name in devices)
