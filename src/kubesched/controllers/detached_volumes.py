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
    volumes = ((pod, state.pod_info(pod).volumes) for pod in pods if pod.node_name)
    left = [(pod, known) for pod, known in volumes if known.n_attachable]
    if not left:
        return []  # without a count of what is attached where
    attached = state.volumes.attached
    return [one for pod, known in left for one in attached.left_by(pod, known)]
