"""Notes claims whose pods have gone: their devices count as taken, although a controller is about to free them."""

from collections.abc import Iterable, Iterator
from typing import Final

from kubesched.api import KubeObject, Pod, ResourceClaim
from kubesched.documents import count, listed, plural

_MAX_NAMED: Final = 3


def note_on_unused_claims(objects: Iterable[KubeObject]) -> Iterator[str]:
    """The claims with devices that are reserved only for pods which have finished, or which are not there.

    Rule: kube-controller-manager v1.36, resourceclaim controller: it takes the reservation of such a pod back, and with
    the last one the allocation. Where no pod runs, as in a part of a snapshot, the pods are left out, not gone.
    """
    claims: list[ResourceClaim] = []
    any_runs, unfinished = False, set[str]()
    for one in objects:
        if isinstance(one, Pod):
            any_runs = any_runs or bool(one.node_name)
            if not one.is_finished:
                unfinished.add(one.uid)
        elif isinstance(one, ResourceClaim) and one.status.allocation is not None and one.status.reserved_for:
            claims.append(one)
    gone = [one.key for one in claims if any_runs and not _has_users(one, unfinished)]
    if gone:
        n = len(gone)
        have = f"{count(n, 'claim has', 'claims have')} devices, and {plural(n, 'its', 'their')} pods have finished"
        yield (
            f"{have} or are not in the snapshot: {listed(gone, _MAX_NAMED)}; the devices count as taken until "
            f"kube-controller-manager frees {plural(n, 'it', 'them')}"
        )


def _has_users(claim: ResourceClaim, unfinished: set[str]) -> bool:
    """Whether some pod may use the claim; users of other kinds are not known."""
    return any(user.resource != "pods" or user.uid in unfinished for user in claim.status.reserved_for or ())
