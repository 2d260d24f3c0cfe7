"""Adds nodes to a cluster, as a cloud does, with the pods that their controllers put on them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Any, Final

import msgspec

from kubesched.api import (
    HOSTNAME,
    CSINode,
    KubeObject,
    Node,
    Pod,
    ResourceSlice,
    VolumeAttachment,
    edited,
    kind_of,
    rewritten,
)
from kubesched.controllers.cordons import CORDON, is_cordoned
from kubesched.controllers.daemon_nodes import may_run_daemon
from kubesched.controllers.model_devices import devices_not_copied, incomplete_pools
from kubesched.controllers.replacements import fresh_pod
from kubesched.controllers.site_labels import is_site
from kubesched.controllers.successors import is_bound_to_node
from kubesched.documents import plural
from kubesched.errors import InputError

_PASSING_TAINTS: Final = (  # what controllers put on a node for a while; a new node does not have them
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "node.cluster.x-k8s.io/",
    "karpenter.sh/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)
_MAX_NODES: Final = 100_000


def new_nodes(objects: Iterable[KubeObject], model: Node, n: int) -> list[KubeObject]:
    """`n` more nodes of the shape of another one, named `new-1`, `new-2` and so on, each before what comes with it.

    A new node has the labels, taints and allocatable amounts of its model, but not its images, its cordon and taints
    of passing conditions. It runs copies of the DaemonSet pods and static pods there, and has the same volume limits
    and devices, without the taints of these.
    If the model is not in the cluster, it runs a pod of each DaemonSet that its labels and taints allow.

    Args:
        objects: of the cluster; names that are taken are not used again.
        model: a node of the cluster, or any node.
    Raises:
        InputError: `n` is out of range.
    """
    cluster = list(objects)
    if not 0 <= n <= _MAX_NODES:
        raise InputError(f"number of new nodes: found {n}; expected 0 to {_MAX_NODES}")
    on_it = on_new_node(cluster, model)
    taken = {obj.name for obj in cluster if isinstance(obj, Node)}
    names = islice((name for name in new_names(model) if name not in taken), n)
    return [one for name in names for one in node_with(model, name, on_it)]


def on_new_node(cluster: Sequence[KubeObject], model: Node) -> list[KubeObject]:
    """What new nodes like another one have the like of: see `new_nodes`."""
    if any(isinstance(obj, Node) and obj.name == model.name for obj in cluster):
        found = [obj for obj in cluster if node_of(obj) == model.name and _comes_with_node(obj)]
        return [obj for obj in found if not isinstance(obj, ResourceSlice)] + list(_whole_pools(found))
    return _daemons_for(model, cluster)


def _whole_pools(on_model: Iterable[KubeObject]) -> Iterator[ResourceSlice]:
    """The slices of a node, as many as their pools have: no older ones, and no others on other nodes."""
    of_pool: dict[tuple[str, str], list[ResourceSlice]] = {}
    for one in on_model:
        if isinstance(one, ResourceSlice):
            of_pool.setdefault((one.spec.driver, one.spec.pool.name), []).append(one)
    for slices in of_pool.values():
        newest = max(one.spec.pool.generation for one in slices)
        current = [one for one in slices if one.spec.pool.generation == newest]
        for one in current:
            pool = msgspec.structs.replace(one.spec.pool, resource_slice_count=len(current))
            same = pool == one.spec.pool
            yield one if same else edited(one, spec=msgspec.structs.replace(one.spec, pool=pool))


def new_names(model: Node) -> Iterator[str]:
    """The names of new nodes like another one, in its domain."""
    domain = model.name.removeprefix(model.name.partition(".")[0])
    return (f"new-{number}{domain}" for number in count(1))


def node_with(model: Node, name: str, on_model: Iterable[KubeObject]) -> list[KubeObject]:
    """One new node of a shape, and the like of what belongs to the model.

    Args:
        on_model: of what is on the model or describes it, what each new node has the like of.
    """
    return [_new_node(model, name), *(like_on_node(obj, name) for obj in on_model)]


def like_on_node(obj: KubeObject, node: str) -> KubeObject:
    """The like of a pod that belongs to its node, of a CSINode, or of a ResourceSlice, for another node."""
    if isinstance(obj, Pod):
        return fresh_pod(obj, f"{obj.name}-{node}", node=node)
    if isinstance(obj, ResourceSlice):
        return _slice_on(obj, node)
    return edited(obj, metadata=msgspec.structs.replace(obj.metadata, name=node, uid=f"{kind_of(obj)}/{node}"))


def _slice_on(known: ResourceSlice, node: str) -> ResourceSlice:
    """The same devices on another node, in a separate pool.

    Rule: drivers name the pool of a node after it; its name may have more than that.
    """
    spec, old, name = known.spec, known.spec.node_name, f"{known.name}-{node}"
    pool = spec.pool.name.replace(old, node) if old in spec.pool.name else f"{spec.pool.name}-{node}"
    fields = {"node_name": node, "pool": msgspec.structs.replace(spec.pool, name=pool)}
    devices = spec.devices and tuple(msgspec.structs.replace(device, taints=None) for device in spec.devices)
    metadata = msgspec.structs.replace(known.metadata, name=name, uid=f"ResourceSlice/{name}")
    return edited(known, metadata=metadata, spec=msgspec.structs.replace(spec, devices=devices, **fields))


def note_on_model(model: Node, cluster: Iterable[KubeObject] = ()) -> str:
    """What new nodes do not have of their model; empty for nothing.

    That is what passes, its cordon and such taints, and devices that are not copied. And what they are taken to have,
    which a new machine need not have: its rack or its NVLink domain.
    """
    known = list(cluster)
    passing = [taint for taint in model.spec.taints or () if taint.key.startswith(_PASSING_TAINTS)]
    taints = [f"{taint.key}:{taint.effect}" for taint in passing if taint.key != CORDON.key]
    lacking = ["its cordon"] if is_cordoned(model) else []
    if taints:
        lacking.append(f"its {plural(len(taints), 'taint')} {', '.join(taints)}")
    lacking += devices_not_copied(model, _new_node(model, next(new_names(model))), known)
    sites = [f"{key}={value}" for key, value in model.labels.items() if is_site(key)]
    said = [f"would not have {' and '.join(lacking)}"] if lacking else []
    said += [f"would have {pool}" for pool in incomplete_pools(model, known)]
    said += [f"are taken to have its {plural(len(sites), 'label')} {', '.join(sites)}"] if sites else []
    return f"new nodes like {model.name} {', and '.join(said)}" if said else ""


def node_of(obj: KubeObject) -> str:
    """The node that an object is, is on, or belongs to."""
    if isinstance(obj, Pod):
        return obj.node_name
    if isinstance(obj, VolumeAttachment | ResourceSlice):
        return obj.spec.node_name
    return obj.name if isinstance(obj, Node | CSINode) else ""


def _comes_with_node(obj: KubeObject) -> bool:
    """Whether a new node has the like of an object on its model."""
    if isinstance(obj, Pod):
        return is_bound_to_node(obj) and not obj.is_finished
    return isinstance(obj, CSINode | ResourceSlice)


def _daemons_for(model: Node, cluster: Iterable[KubeObject]) -> list[KubeObject]:
    """A pod of each DaemonSet that would run on a node; the DaemonSets are known by their pods alone."""
    samples: dict[tuple[str, str], Pod] = {}
    for obj in cluster:
        owner = obj.metadata.controller if isinstance(obj, Pod) and obj.node_name else None
        if isinstance(obj, Pod) and owner is not None and owner.kind == "DaemonSet" and not obj.is_finished:
            samples.setdefault((obj.namespace, owner.name), obj)
    return [pod for pod in samples.values() if may_run_daemon(unpinned(pod), model)]


def unpinned(pod: Pod) -> Pod:
    """A DaemonSet's pod without its node; the required node affinity is what its controller replaced by the name."""
    affinity = pod.spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        affinity = msgspec.structs.replace(
            affinity, node_affinity=msgspec.structs.replace(affinity.node_affinity, required=None)
        )
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name="", affinity=affinity))


def _new_node(model: Node, name: str) -> Node:
    def rename(document: dict[str, Any]) -> None:
        labels = {**model.labels, HOSTNAME: name.partition(".")[0] if _is_short(model) else name}
        document["metadata"] = {"name": name, "uid": f"Node/{name}", "labels": labels, "annotations": model.annotations}
        (document.get("status") or {}).pop("images", None)

    taints = tuple(taint for taint in model.taints if not taint.key.startswith(_PASSING_TAINTS))
    bare = edited(model, spec=msgspec.structs.replace(model.spec, unschedulable=False, taints=taints))
    return rewritten(bare, rename)


def _is_short(model: Node) -> bool:
    """Whether the host name of a node is its name up to the first dot."""
    return model.labels.get(HOSTNAME, model.name) == model.name.partition(".")[0]
