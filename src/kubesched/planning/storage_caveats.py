"""What keeps placed pods from starting although kube-scheduler places them: volumes that cannot be made or shared.

Rule: kube-scheduler v1.36 holds each claim alone against the storage that a driver publishes, does not ask whether the
driver of a claim runs on a node, and does not look at which node a ReadWriteOnce volume is attached to.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from kubesched.api import (
    CSIStorageCapacity,
    KubeObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    in_words,
    parse_quantity,
    parse_selector,
    whole_units,
)
from kubesched.documents import count, joined
from kubesched.explanation import absent_words, driver_of, nodes_without_driver
from kubesched.session import Placement, Session
from kubesched.state import storage_class_of, storage_request

_MAX_NAMED: Final = 3
_Made = tuple[str, PersistentVolumeClaim]
"""The node of a pod, and a claim for which a volume would be made there."""


def storage_caveats(
    session: Session, placements: Iterable[Placement], before: Iterable[KubeObject], beside: Iterable[Pod] = ()
) -> tuple[str, ...]:
    """Sentences on placed pods that would not start, without their ends.

    Args:
        session: with the pods on their nodes.
        before: the objects of the cluster before its pods were placed.
        beside: pods on nodes that run until those of the placements do.
    """
    volumes = {one.name for one in before if isinstance(one, PersistentVolume)}
    made: dict[str, _Made] = {}
    users: dict[str, dict[str, None]] = defaultdict(dict)  # claim -> the nodes of its pods
    n_pods: dict[str, int] = defaultdict(int)
    drivers: dict[str, dict[str, None]] = defaultdict(dict)  # driver -> the nodes of the pods with its volumes
    surging = set[str]()
    for pod in beside:
        for name in pod.claim_names:
            users[f"{pod.namespace}/{name}"][pod.node_name] = None
            n_pods[f"{pod.namespace}/{name}"] += 1
            surging.add(f"{pod.namespace}/{name}")
    for placement in placements:
        placed = session.get("Pod", placement.pod) if placement.node else None
        if not isinstance(placed, Pod):
            continue
        for name in placed.claim_names:
            claim = session.get("PersistentVolumeClaim", f"{placed.namespace}/{name}")
            if isinstance(claim, PersistentVolumeClaim):
                users[claim.key][placement.node] = None
                n_pods[claim.key] += 1
                if claim.spec.volume_name and claim.spec.volume_name not in volumes:
                    made[claim.key] = (placement.node, claim)
                if driver := driver_of(claim, session.get):
                    drivers[driver][placement.node] = None
    many = ((key, len(nodes)) for key, nodes in users.items() if len(nodes) > 1)
    shared = (_shared(session, key, n, n_pods[key], is_surging=key in surging) for key, n in many)
    of_class: dict[str, list[_Made]] = defaultdict(list)
    for one in made.values():
        of_class[storage_class_of(one[1])].append(one)
    return tuple(filter(None, (*shared, *_short(session, of_class), *_without_driver(session, drivers))))


def _shared(session: Session, key: str, n_nodes: int, n_pods: int, *, is_surging: bool) -> str:
    """That a ReadWriteOnce claim is wanted on several nodes; empty for other claims.

    Args:
        is_surging: whether the old pods of a rollout run until the new ones do.
    """
    claim = session.get("PersistentVolumeClaim", key)
    modes = claim.spec.access_modes if isinstance(claim, PersistentVolumeClaim) else None
    if set(modes or ()) != {"ReadWriteOnce"}:
        return ""
    where = f"its {count(n_pods, 'pod')} would be on {n_nodes} nodes"
    text = f"claim {key} is ReadWriteOnce, and {where}: those on one of them would start (Multi-Attach error)"
    return f"{text}; with strategy type: Recreate the old pod makes way first" if is_surging else text


def _short(session: Session, of_class: dict[str, list[_Made]]) -> Iterator[str]:
    """The places whose published storage is less than the new claims ask for together."""
    short: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for one in session.objects_now() if of_class else ():
        if not isinstance(one, CSIStorageCapacity) or one.node_topology is None or one.capacity is None:
            continue
        selector, has = parse_selector(one.node_topology), whole_units("storage", parse_quantity(one.capacity))
        nodes = {node for node, _ in of_class.get(one.storage_class_name, ())}
        here = {name for name in nodes if (node := session.get("Node", name)) and selector.matches(node.labels)}
        asked = sum(_size(claim) for node, claim in of_class.get(one.storage_class_name, ()) if node in here)
        if asked > has:
            short[one.storage_class_name, asked, has] += sorted(here)
    for (name, asked, has), places in short.items():
        amounts = f"ask for {in_words('memory', asked)} of {in_words('memory', has)}"
        each = " each" if len(places) > 1 else ""
        where = f"new claims of class {name} on {joined(places, _MAX_NAMED)} {amounts}{each}"
        yield f"{where}: kube-scheduler counts each claim alone, and the rest would not be made"


def _size(claim: PersistentVolumeClaim) -> int:
    size = storage_request(claim)
    return 0 if size is None else whole_units("storage", size)


def _without_driver(session: Session, drivers: dict[str, dict[str, None]]) -> Iterator[str]:
    """The nodes of pods on which the driver of their volumes does not run."""
    for driver, placed_on in drivers.items():
        if nodes := nodes_without_driver(session.get, driver, placed_on):
            yield absent_words(driver, nodes)
