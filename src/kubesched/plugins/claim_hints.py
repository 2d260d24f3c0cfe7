"""The queueing hint of events about a claim: does the pod use it?"""

from kubesched.api import KubeObject, Pod
from kubesched.framework import HintFunction, QueueingHint
from kubesched.state import pod_volumes

__all__ = ["claim_hint"]


def claim_hint(*, ephemeral: bool) -> HintFunction:
    """A hint function for PersistentVolumeClaim events.

    Args:
        ephemeral: whether the claims of generic ephemeral volumes count.
    Rule: kube-scheduler v1.36: Queue if the claim is in the pod's namespace and a volume of the pod stands for it.
    """

    def hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        claim = new or old
        if claim is None or claim.namespace != pod.namespace:
            return QueueingHint.SKIP
        names = [use.name for use in pod_volumes(pod).claims if ephemeral or not use.is_ephemeral]
        return QueueingHint.QUEUE if claim.name in names else QueueingHint.SKIP

    return hint
