"""Claims that a run leaves allocated although their pods do not start.

Rule: kube-scheduler v1.36.3 DynamicResources Unreserve: a claim whose status is written stays allocated, without the
pod among its users.
"""

from collections.abc import Collection, Iterable, Iterator

from kubesched.api import Pod, ResourceClaim
from kubesched.plugins import claim_name
from kubesched.state import ObjectStore


def idle_claims(pods: Iterable[Pod], failed: Collection[str], objects: ObjectStore) -> Iterator[str]:
    """The allocated claims of pods that ended in an error, as far as no pod uses them: `namespace/name`, each once.

    Args:
        failed: `namespace/name` of those pods.
    """
    names = (
        f"{pod.namespace}/{claim_name(pod, entry)[0]}"
        for pod in pods
        if pod.key in failed
        for entry in pod.spec.resource_claims or ()
    )
    for name in dict.fromkeys(names):
        claim = objects.get("ResourceClaim", name)
        if isinstance(claim, ResourceClaim) and claim.status.allocation is not None and not claim.status.reserved_for:
            yield name
