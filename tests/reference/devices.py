"""The devices of a cluster: which pools a node can use, and what claims have of them (kube-scheduler v1.36)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from tests.reference.cel import Domains, as_quantity, as_semver
from tests.reference.cluster import Cluster, Node
from tests.reference.objects import has_untolerated_taint, node_selector_matches, quantity

DeviceId = tuple[str, str, str]  # driver, pool, device


@dataclass(frozen=True, eq=False)
class Device:
    """One device of a slice."""

    spec: dict
    slice: dict

    @property
    def driver(self) -> str:
        return self.slice["driver"]

    @cached_property
    def id(self) -> DeviceId:
        return self.driver, self.slice["pool"]["name"], self.spec["name"]

    @property
    def is_shareable(self) -> bool:
        return bool(self.spec.get("allowMultipleAllocations"))

    @cached_property
    def capacity(self) -> dict[str, Fraction]:
        return {name: quantity(one["value"]) for name, one in (self.spec.get("capacity") or {}).items()}

    @cached_property
    def counters(self) -> dict[tuple[str, str], Fraction]:
        """What it uses of the counters of its pool, by counter set and counter."""
        return {
            (of_set["counterSet"], name): quantity(one["value"])
            for of_set in self.spec.get("consumesCounters") or ()
            for name, one in of_set["counters"].items()
        }

    def attribute(self, name: str) -> tuple[str, object] | None:
        """Type and value; in the driver's domain the name may be written without it."""
        attributes = self.spec.get("attributes") or {}
        domain, _, bare = name.rpartition("/")
        found = attributes.get(name) or (attributes.get(bare) if domain == self.driver else None)
        return next(iter(found.items())) if found else None

    @cached_property
    def seen_by_cel(self) -> dict:
        attributes, capacity = Domains(), Domains()
        for name, typed in (self.spec.get("attributes") or {}).items():
            ((kind, value),) = typed.items()
            domain, _, bare = name.rpartition("/")
            value = as_semver(value) if kind == "version" else value
            attributes.setdefault(domain or self.driver, {})[bare] = value
        for name, one in (self.spec.get("capacity") or {}).items():
            domain, _, bare = name.rpartition("/")
            capacity.setdefault(domain or self.driver, {})[bare] = as_quantity(one["value"])
        seen = {"driver": self.driver, "attributes": attributes, "capacity": capacity}
        return {**seen, "allowMultipleAllocations": self.is_shareable}

    def is_tolerated(self, tolerations: list[dict]) -> bool:
        return not has_untolerated_taint({"spec": {"tolerations": tolerations}}, self.spec.get("taints") or [])


@dataclass
class Pool:
    """A pool as one node sees it.

    `devices` are those that the node can use, `everywhere` those of all nodes; `comes_last`: a device of the slices has
    binding conditions.
    """

    driver: str
    name: str
    devices: list[Device]
    everywhere: list[Device]
    counters: dict[tuple[str, str], Fraction]
    is_complete: bool
    is_valid: bool
    comes_last: bool


@dataclass
class Use:
    """What claims have: whole devices, and parts of shared ones by capacity."""

    taken: set[DeviceId] = field(default_factory=set)
    shared: dict[DeviceId, Counter[str]] = field(default_factory=dict)

    def counters(self, pool: Pool) -> Counter[tuple[str, str]]:
        """What the devices of a pool that claims have use of its counters; a shared one uses them once."""
        used: Counter[tuple[str, str]] = Counter()
        for device in pool.everywhere:
            if device.id in self.taken or device.id in self.shared:
                used.update(device.counters)
        return used


def devices_in_use(claims: Iterable[dict]) -> Use:
    """Results with admin access have nothing, those with a share their part, all others the device."""
    use = Use()
    for claim in claims:
        allocation = (claim.get("status") or {}).get("allocation") or {}
        for result in (allocation.get("devices") or {}).get("results") or ():
            device = result["driver"], result["pool"], result["device"]
            if result.get("adminAccess"):
                continue
            if result.get("shareID"):
                amounts = (result.get("consumedCapacity") or {}).items()
                use.shared.setdefault(device, Counter()).update({name: quantity(text) for name, text in amounts})
            else:
                use.taken.add(device)
    return use


def pools_on(node: Node, cluster: Cluster) -> list[Pool]:
    """In the order in which a search comes to them."""
    of_pool: dict[tuple[str, str], list[dict]] = {}
    for obj in sorted(cluster.list("ResourceSlice"), key=lambda obj: obj["metadata"]["name"]):
        spec = obj["spec"]
        of_pool.setdefault((spec["driver"], spec["pool"]["name"]), []).append(spec)
    pools = [pool for key, slices in of_pool.items() if (pool := pool_on(node, *key, slices))]
    return sorted(pools, key=lambda pool: (pool.comes_last, pool.driver, pool.name))


def pool_on(node: Node, driver: str, name: str, slices: list[dict]) -> Pool | None:
    """None where no slice belongs to the node. One with shared counters belongs to every node."""
    here = [one for one in slices if one.get("sharedCounters") or list(devices_on(node, one))]
    if not here:
        return None
    newest = max(one["pool"]["generation"] for one in here)
    here = [one for one in here if one["pool"]["generation"] == newest]
    everywhere = [one for one in slices if one["pool"]["generation"] == newest]
    sets = [one for spec in everywhere for one in spec.get("sharedCounters") or ()]
    counters = {(one["name"], key): quantity(c["value"]) for one in sets for key, c in one["counters"].items()}
    devices = [Device(device, spec) for spec in everywhere for device in spec.get("devices") or ()]
    listed = [device["name"] for spec in here for device in spec.get("devices") or ()]
    is_complete = len(everywhere) == here[0]["pool"]["resourceSliceCount"]
    is_consistent = (
        len(set(listed)) == len(listed)
        and len({one["name"] for one in sets}) == len(sets)
        and all(counter in counters for device in devices for counter in device.counters)
    )
    return Pool(
        driver,
        name,
        [Device(device, spec) for spec in here for device in devices_on(node, spec)],
        devices,
        counters,
        is_complete,
        is_consistent or not is_complete,
        any(device.get("bindingConditions") for spec in here for device in spec.get("devices") or ()),
    )


def devices_on(node: Node, spec: dict) -> Iterator[dict]:
    """The devices of a slice that a node can use."""
    for device in spec.get("devices") or ():
        if reaches(device if spec.get("perDeviceNodeSelection") else spec, node):
            yield device


def reaches(where: dict, node: Node) -> bool:
    """Whether a slice or a device is for a node."""
    if where.get("nodeName"):
        return where["nodeName"] == node.name
    selector = where.get("nodeSelector")
    return bool(where.get("allNodes")) or bool(selector and node_selector_matches(selector, node.name, node.labels))
