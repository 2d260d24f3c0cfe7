"""What `generate.py --more` adds to a snapshot: a table of features, each a function that changes a World."""

from collections.abc import Callable, Collection

from campaigns.oracle import more_pods as pods
from campaigns.oracle import more_storage as storage
from campaigns.oracle.world import World

FEATURES: dict[str, Callable[[World], None]] = {
    "namespaces": pods.namespaces,
    "allocatable": pods.allocatable,
    "attachments": storage.attachments,
    "bare": pods.bare,
    "budgets": pods.budgets,
    "capacity": storage.capacity,
    "claims": storage.claims,
    "ephemeral": storage.ephemeral,
    "features": pods.features,
    "fields": pods.fields,
    "host-ports": pods.host_ports,
    "image-sizes": pods.image_sizes,
    "image-volumes": pods.image_volumes,
    "inline-disks": storage.inline_disks,
    "label-sets": pods.label_sets,
    "local": storage.local,
    "malformed": pods.malformed,
    "migrated": storage.migrated,
    "nominated": pods.nominated,
    "owners": pods.owners,
    "pod-level": pods.pod_level,
    "pressure": pods.pressure,
    "profiles": pods.profiles,
    "quantities": pods.quantities,
    "resize": pods.resize,
    "selectors": pods.selectors,
    "sidecars": pods.sidecars,
    "spreading": pods.spreading,
    "terminating": pods.terminating,
    "ties": pods.ties,
    "tolerations": pods.tolerations,
    "zones": pods.zones,
    "attributes": storage.attributes,
    "drivers": storage.drivers,
    "resource-claims": pods.resource_claims,
    "order": pods.order,
}
# In `all`: everything that an API server would let in, and that the oracle of every version can answer.
USUAL = tuple(name for name in FEATURES if name not in ("malformed", "resource-claims"))
FEW = 4  # up to this many features in one snapshot each of them is laid on thickly


def enrich(items: list[dict], seed: int, wanted: Collection[str]) -> list[dict]:
    """Add the wanted features to a snapshot's objects, always in the order of the table: namespaces before claims."""
    world = World(items, seed, boost=2.0 if len(wanted) <= FEW else 0.35)
    for name in FEATURES:
        if name in wanted:
            world.begin(name)
            FEATURES[name](world)
    return world.items
