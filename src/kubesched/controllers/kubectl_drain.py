"""What an eviction means for a pod: who stays and who is lost.

Rule: `kubectl drain` v1.36. Pods of DaemonSets are skipped with --ignore-daemonsets, mirror pods always. Pods without a
controller need --force, pods with an emptyDir volume need --delete-emptydir-data. Finished pods need neither.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from kubesched.api import DO_NOT_DISRUPT, MIRROR_POD, SAFE_TO_EVICT, Node, Pod
from kubesched.controllers.kept_replicas import Find
from kubesched.controllers.successors import waits_for_end

UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_KEPT_OFF: Final = {SAFE_TO_EVICT: "false", DO_NOT_DISRUPT: "true"}
_OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"


def is_unreachable(node: Node) -> bool:
    """Whether no kubelet confirms that a pod of a node has ended, so that an evicted pod stays Terminating.

    Rule: kube-controller-manager v1.36: the condition Ready of such a node is Unknown, and it is tainted. With the
    taint out-of-service, which an administrator sets, pods that are being deleted are deleted for good.
    """
    keys = {taint.key for taint in node.taints}
    is_silent = node.condition("Ready") == "Unknown"
    return (is_silent or UNREACHABLE in keys) and _OUT_OF_SERVICE not in keys


def zones_out(nodes: Iterable[Node]) -> dict[str, int]:
    """The zones of several nodes of which no kubelet reports, while others do -> how many nodes they have."""
    known = [(node.zone, is_unreachable(node)) for node in nodes]
    every, silent = Counter(zone for zone, _ in known), Counter(zone for zone, is_silent in known if is_silent)
    out = {zone: n for zone, n in silent.items() if zone and n > 1 and n == every[zone]}
    return out if out.keys() < every.keys() else {}


def hangs_because(pod: Pod, find: Find) -> str:
    """Why no new pod comes for a pod of an unreachable node that is evicted; empty if one may come."""
    owner = pod.metadata.controller
    if owner is None or pod.is_finished or stays_because(pod) or not waits_for_end(pod, find):
        return ""
    return f"{owner.kind} {owner.name} creates no new pod until this one has ended, and {pod.node_name} is unreachable"


def way_to_end(node: str) -> str:
    """What ends the pods that stay Terminating on an unreachable node, so that new ones come.

    Rule: Kubernetes v1.36, non-graceful node shutdown: a machine that still runs may write the same data as a new pod.
    """
    return f"make sure that {node} is off, then kubectl taint node {node} {_OUT_OF_SERVICE}=nodeshutdown:NoExecute"


def stays_because(pod: Pod) -> str:
    """Why a pod stays on a drained node; empty if it leaves."""
    owner = pod.metadata.controller
    if MIRROR_POD in pod.annotations or (owner is not None and owner.kind == "Node"):
        return "static pod"
    return "DaemonSet" if owner is not None and owner.kind == "DaemonSet" and not pod.is_finished else ""


def leaves_because(pod: Pod) -> str:
    """Why a pod leaves without an eviction that a disruption budget could hold up; empty if it has to be evicted."""
    if pod.is_finished:
        return "finished"
    return "is being deleted" if pod.is_terminating else ""


def has_local_data(pod: Pod) -> bool:
    """Whether the pod has data that is deleted with it: an emptyDir volume."""
    return any(volume.empty_dir is not None for volume in pod.volumes)


def keeps_off_evictions(pod: Pod) -> str:
    """The annotation by which a pod asks autoscalers not to evict it, as written in YAML; empty for none.

    Rule: `kubectl drain` v1.36 evicts it all the same.
    """
    kept = (f'{key}: "{value}"' for key, value in _KEPT_OFF.items() if pod.annotations.get(key) == value)
    return next(kept, "")
