"""Finds which texts of a cluster are names, and of what: they get readable names, such as `node-17` for a node."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from kubesched.api import (
    HOSTNAME,
    SERVICE_OF_K3S,
    DeviceClass,
    KubeObject,
    Namespace,
    Node,
    Pod,
    ReplicaSet,
    ResourceClaim,
    ResourceSlice,
    kind_of,
)
from kubesched.capture.kubernetes_words import is_amount, is_defined_name
from kubesched.capture.public_words import is_plain, is_public_name

PLAIN: Final = ""
"""The role of texts that stay."""
OF_WORKLOADS: Final = "app"
_OF_KINDS: Final = {
    "Node": "node",
    "Namespace": "team",
    "PersistentVolume": "volume",
    "PersistentVolumeClaim": "claim",
    "StorageClass": "class",
    "PriorityClass": "priority",
    "RuntimeClass": "runtime",
    "Service": "service",
    "PodDisruptionBudget": "budget",
    "ResourceQuota": "quota",
    "ResourceClaim": "claim",
    "ResourceClaimTemplate": "template",
}
ROLES_OF_FIELDS: Final = {
    "claim_name": "claim",
    "priority_class_name": "priority",
    "resource_claim_name": "claim",
    "resource_claim_template_name": "template",
    "runtime_class_name": "runtime",
    "storage_class_name": "class",
}
_WORKLOADS: Final = ("Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController")
_SYSTEM: Final = "kube-system"
_HASHES: Final = ("pod-template-hash", "controller-revision-hash")
_POOLS: Final = ("pool", "nodepool", "node-pool", "nodegroup", "node-group", "agentpool", "instancegroup")


class Joined(NamedTuple):
    """A name that is made of two others with a dash between them, which other rules take apart again."""

    begin: str
    end: str


class NamedTexts(NamedTuple):
    """The names of a cluster.

    Attributes:
        roles: what a text names, such as `node`; PLAIN for one that stays.
        joined: names that have to stay made of two others.
    """

    roles: dict[str, str]
    joined: list[Joined]


def named_texts(
    objects: Iterable[KubeObject],
    fields: Mapping[str, str],
    keys: Iterable[str],
    values: Iterable[tuple[str, str]],
    resources: Iterable[str],
) -> NamedTexts:
    """The names among the texts of a cluster; a text that names several things has the role of the first.

    Args:
        fields: texts of fields that name other objects, which may not be there, and the kinds of names.
        keys: of labels, also in selectors and taints.
        values: label keys with their values.
        resources: names of extended resources.
    """
    roles: dict[str, str] = {}
    objects = [one for one in objects if not isinstance(one, DeviceClass | ResourceSlice)]  # of `device_names`
    joined = list(_joined(objects))
    made = {f"{one.begin}-{one.end}" for one in joined}
    referred = ((text, role) for text, role in fields.items() if text not in made)
    for text, role in (*_of_objects(objects, made), *referred, *_of_keys(keys, resources), *_of_values(values)):
        if not (is_amount(text) or is_defined_name(text) or text.startswith(SERVICE_OF_K3S)):
            roles.setdefault(text, role)
    return NamedTexts(roles, joined)


def _joined(objects: Iterable[KubeObject]) -> Iterator[Joined]:
    """Pods and their owners, ReplicaSets and Deployments, mirror pods and nodes, pods and claims."""
    for known in objects:
        owner = known.metadata.controller
        if owner is not None and known.name.startswith(f"{owner.name}-"):
            yield Joined(owner.name, known.name.removeprefix(f"{owner.name}-"))
        for name in _with_hash(known):
            yield Joined(*name)
        if isinstance(known, Pod):
            yield from _joined_by_pod(known)


def _joined_by_pod(pod: Pod) -> Iterator[Joined]:
    if pod.node_name and pod.name.endswith(f"-{pod.node_name}"):
        yield Joined(pod.name.removesuffix(f"-{pod.node_name}"), pod.node_name)
    for claim in pod.claim_names:
        if claim.startswith(f"{pod.name}-"):
            yield Joined(pod.name, claim.removeprefix(f"{pod.name}-"))
        elif claim.endswith(f"-{pod.name}"):
            yield Joined(claim.removesuffix(f"-{pod.name}"), pod.name)


def _with_hash(known: KubeObject) -> Iterator[tuple[str, str]]:
    """The Deployment and the hash that the name of a ReplicaSet, or of the one that owns a pod, is made of."""
    owner, of_pods = known.metadata.controller, known.labels.get(_HASHES[0], "")
    is_owned = owner is not None and owner.kind == "ReplicaSet"
    name = known.name if isinstance(known, ReplicaSet) else owner.name if owner is not None and is_owned else ""
    if of_pods and name.endswith(f"-{of_pods}"):
        yield name.removesuffix(f"-{of_pods}"), of_pods


def _of_objects(objects: Iterable[KubeObject], made: set[str]) -> Iterator[tuple[str, str]]:
    """Names of nodes, namespaces and workloads first: they are in the other names.

    Args:
        made: names that are made of others.
    """
    for known in objects:
        if isinstance(known, Node | Namespace):
            yield known.name, _OF_KINDS[kind_of(known)]
        elif known.namespace:
            yield known.namespace, _OF_KINDS["Namespace"]
    for known in objects:
        owner = known.metadata.controller
        is_workload = isinstance(known, Pod) or kind_of(known) in _WORKLOADS
        if isinstance(known, ResourceClaim) or (owner is None and not is_workload):
            continue
        names = [*(begin for begin, _ in _with_hash(known)), *([owner.name] if owner is not None else []), known.name]
        role = "pod" if isinstance(known, Pod) and owner is None else OF_WORKLOADS
        for name in names:
            if name not in made:
                yield name, PLAIN if known.namespace == _SYSTEM and is_plain(name) else role
    for known in objects:
        kind = _OF_KINDS.get(kind_of(known))
        if kind is not None and known.name not in made:
            yield known.name, PLAIN if kind == "class" and is_plain(known.name) else kind


def _of_keys(keys: Iterable[str], resources: Iterable[str]) -> Iterator[tuple[str, str]]:
    for names, role in ((keys, "key"), (resources, "resource")):
        for text in names:
            domain, _, name = text.rpartition("/")
            if is_public_name(text) or is_defined_name(text):
                continue
            if domain and not domain.endswith(("kubernetes.io", "k8s.io")):
                yield domain, "domain"
            yield name, PLAIN if is_plain(name) else role


def _of_values(values: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for key, text in values:
        name = key.rpartition("/")[2]
        if not text or key == HOSTNAME or key in _HASHES:
            continue
        role = name if name in ("zone", "region") else "pool" if name in _POOLS else "value"
        yield text, PLAIN if is_public_name(text) or is_plain(text) else role
