"""Notes claims that have devices which no ResourceSlice has: kube-scheduler looks at neither of them again."""

from collections.abc import Iterable, Iterator
from typing import Final

from kubesched.api import KubeObject, ResourceClaim, ResourceSlice
from kubesched.documents import count, listed, plural

_MAX_NAMED: Final = 3


def note_on_absent_devices(objects: Iterable[KubeObject]) -> Iterator[str]:
    """The claims, with the devices; nothing if there are no slices, which is another note."""
    known: set[tuple[str, str, str]] = set()
    allocated: list[ResourceClaim] = []
    for one in objects:
        if isinstance(one, ResourceSlice):
            known.update((one.spec.driver, one.spec.pool.name, device.name) for device in one.spec.devices or ())
        elif isinstance(one, ResourceClaim) and one.status.allocation is not None:
            allocated.append(one)
    absent = {claim.key: gone for claim in allocated if (gone := _absent(claim, known))} if known else {}
    if absent:
        n = len(absent)
        which = listed((f"{key} ({listed(gone, _MAX_NAMED)})" for key, gone in absent.items()), _MAX_NAMED)
        have = f"{count(n, 'claim')} {plural(n, 'has', 'have')} devices that no ResourceSlice has"
        yield f"{have}: {which}; kube-scheduler does not check that, and pods that use them may not start"


def _absent(claim: ResourceClaim, known: set[tuple[str, str, str]]) -> list[str]:
    allocation = claim.status.allocation
    results = (allocation.devices.results or ()) if allocation is not None else ()
    devices = ((one.driver, one.pool, one.device) for one in results)
    return ["/".join(device) for device in devices if device not in known]
