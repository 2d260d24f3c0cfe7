"""Detaches the volumes of pods that have left their nodes."""

from collections.abc import Iterable

from kubesched.api import Pod, VolumeAttachment
from kubesched.state import ClusterState


def detached(pods: Iterable[Pod], state: ClusterState) -> list[VolumeAttachment]:
    """The VolumeAttachments that go once some pods have left their nodes.

    Rule: kube-controller-manager v1.36, attach-detach controller: a volume that no pod of the node uses is detached.

    Args:
        pods: as they were on their nodes.
        state: without them.
    """
    attached = state.volumes.attached
    left = (pod for pod in pods if pod.node_name)
    return [one for pod in left for one in attached.left_by(pod, state.pod_info(pod).volumes)]
