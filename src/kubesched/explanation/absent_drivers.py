"""Finds CSI drivers of a pod's claims that are not on nodes where it fits: it would be placed there, and not start.

Rule: kube-scheduler v1.36 does not ask whether the driver of a volume or of a StorageClass runs on a node.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from kubesched.api import CSINode, KubeObject, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from kubesched.documents import count, joined, plural
from kubesched.plugins import makes_volumes
from kubesched.state import is_bound, storage_class_of

_IN_TREE: Final = "kubernetes.io/"
_MAX_NAMED: Final = 3
_NOT_THERE: Final = "kube-scheduler places pods there all the same, and their volumes would not be made or mounted"
Get = Callable[[str, str], KubeObject | None]
"""Finds an object by its kind and its `namespace/name` or name."""


class AbsentDriver(msgspec.Struct, frozen=True, rename="camel"):
    """A CSI driver that is not on some nodes.

    Attributes:
        driver: such as `ebs.csi.aws.com`.
        nodes: where the pod fits and the driver is not.
        n_fit: how many nodes fit.
    """

    driver: str
    nodes: tuple[str, ...]
    n_fit: int

    @property
    def text(self) -> str:
        """What it means for the pod, in one sentence."""
        where = f"not on {len(self.nodes):,} of {count(self.n_fit, 'node')} that {plural(self.n_fit, 'fits', 'fit')}"
        return f"{absent_words(self.driver, self.nodes, where)}."


def absent_words(driver: str, nodes: Iterable[str], where: str = "") -> str:
    """That a driver is not on some nodes, and what that means, without the end of the sentence.

    Args:
        where: how many of which nodes these are; empty for their names alone.
    """
    names = joined(list(nodes), _MAX_NAMED)
    return f"CSI driver {driver} is {f'{where} ({names})' if where else f'not on {names}'}: {_NOT_THERE}"


def absent_drivers(pod: Pod, nodes: list[str], get: Get) -> tuple[AbsentDriver, ...]:
    """The drivers of a pod's claims that are not on all of some nodes, where it fits."""
    drivers = dict.fromkeys(driver for claim in _claims(pod, get) if (driver := driver_of(claim, get)))
    found = ((driver, nodes_without_driver(get, driver, nodes)) for driver in drivers)
    return tuple(AbsentDriver(driver, tuple(names), len(nodes)) for driver, names in found if names)


def _claims(pod: Pod, get: Get) -> Iterator[PersistentVolumeClaim]:
    for name in pod.claim_names:
        claim = get("PersistentVolumeClaim", f"{pod.namespace}/{name}")
        if isinstance(claim, PersistentVolumeClaim):
            yield claim


def driver_of(claim: PersistentVolumeClaim, get: Get) -> str:
    """The CSI driver of a claim's volume, or of the one that its class makes; empty for none."""
    if is_bound(claim):
        volume = get("PersistentVolume", claim.spec.volume_name)
        return volume.spec.csi.driver if isinstance(volume, PersistentVolume) and volume.spec.csi else ""
    storage_class = get("StorageClass", storage_class_of(claim))
    if not isinstance(storage_class, StorageClass) or not makes_volumes(storage_class):
        return ""
    return storage_class.provisioner


def nodes_without_driver(get: Get, driver: str, nodes: Iterable[str]) -> list[str]:
    """Those of some nodes whose CSINode does not have a driver; in-tree provisioners are not asked about."""
    if driver.startswith(_IN_TREE):
        return []
    found = ((name, get("CSINode", name)) for name in nodes)
    return [
        name
        for name, one in found
        if isinstance(one, CSINode) and all(known.name != driver for known in one.spec.drivers or ())
    ]
