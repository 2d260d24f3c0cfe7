"""What new nodes have of the devices of their model, and what not, in words.

A slice that names the model is copied. One that assigns its devices, or each of them, by selectors is not: such devices
are of the network, and a new node reaches those that its labels allow. If they are assigned to the model by its name, a
driver may have the like for a new node, which is not known.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kubesched.api import Device, KubeObject, Node, NodeSelector, ResourceSlice, ResourceSliceSpec
from kubesched.documents import count
from kubesched.state import NodeTerms


def devices_not_copied(model: Node, new: Node, cluster: Iterable[KubeObject]) -> Iterator[str]:
    """The devices, by driver, that the model reaches and a new node does not."""
    n_of: Counter[str] = Counter()
    for one in cluster:
        if isinstance(one, ResourceSlice) and one.spec.node_name != model.name:
            n_of[one.spec.driver] += sum(
                _reaches(place, model) and not _reaches(place, new) for place in _places(one.spec)
            )
    for driver, n in sorted(n_of.items()):
        if n:
            yield f"its {count(n, 'device')} of driver {driver}, which slices assign to nodes by name"


def incomplete_pools(model: Node, cluster: Iterable[KubeObject]) -> Iterator[str]:
    """The pools of the model of which the cluster lacks slices, with what new nodes have of each."""
    of_pool: dict[tuple[str, str], list[ResourceSlice]] = {}
    for one in cluster:
        if isinstance(one, ResourceSlice):
            of_pool.setdefault((one.spec.driver, one.spec.pool.name), []).append(one)
    for (driver, name), slices in of_pool.items():
        newest = max(one.spec.pool.generation for one in slices)
        current = [one for one in slices if one.spec.pool.generation == newest]
        n_there, n_all = (
            sum(one.spec.node_name == model.name for one in current),
            current[0].spec.pool.resource_slice_count,
        )
        if n_there and len(current) < n_all:
            there = f"only the {count(n_there, 'slice')} of {n_all} that driver {driver} has published of pool {name}"
            yield f"{there} (repair driver {driver} on {model.name})"


def _places(spec: ResourceSliceSpec) -> Sequence[ResourceSliceSpec | Device]:
    """Where each device of a slice is."""
    devices = spec.devices or ()
    return devices if spec.per_device_node_selection else [spec] * len(devices)


def _reaches(place: ResourceSliceSpec | Device, node: Node) -> bool:
    if place.node_name:
        return place.node_name == node.name
    return bool(place.all_nodes) or NodeTerms(place.node_selector or NodeSelector()).matches_node(node)
