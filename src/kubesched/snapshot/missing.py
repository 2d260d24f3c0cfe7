"""Finds kinds that pods refer to and the snapshot does not have, usually because `kubectl get` left them out.

A kind that is partly there is taken as complete. Kinds that a cluster may well do without (PodDisruptionBudget,
VolumeAttachment) are not missed. CSIDriver and CSIStorageCapacity are, where another object names the driver, and
DeviceClass is, where a pod asks for a device that no node offers, and ResourceSlice, where a DeviceClass serves that.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from kubesched.admission import BUILT_IN_CLASSES
from kubesched.api import (
    KINDS,
    CSIDriver,
    CSINode,
    DeviceClass,
    KubeObject,
    LabelSelector,
    Node,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
    StorageClass,
    Unstructured,
    is_extended_resource,
    kind_named,
    kind_of,
)
from kubesched.documents import count, listed
from kubesched.state import resources_of_class, storage_class_of

KubeT = TypeVar("KubeT", bound=KubeObject)
_Claims = Mapping[tuple[str, str], PersistentVolumeClaim]

_VOLUME_KINDS: Final = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode")
_DEVICE_KINDS: Final = ("DeviceClass", "ResourceSlice", "ResourceClaim")
_SPREADING_OWNERS: Final = ("ReplicaSet", "StatefulSet", "ReplicationController")


_UNREFERRED: Final = {
    "PodDisruptionBudget": "preemption and drain ignore disruption budgets",
    "Deployment": "check takes the default strategy for rollouts",
    "Job": "drain cannot tell whether the Job creates a new pod",
    "DeviceClass": "pods that a DeviceClass serves are taken for pods of device plugins",
    "ResourceSlice": "devices of ResourceSlices are not counted, and no claim can be allocated",
    "ResourceClaim": "devices that claims have count as free",
    "ResourceClaimTemplate": "new pods get no claims from ResourceClaimTemplates",
    "VolumeAttachment": "volumes that are attached to a node without a pod are not counted there",
    **dict.fromkeys(
        ("RuntimeClass", "LimitRange", "ResourceQuota", "HorizontalPodAutoscaler"),
        "new pods are tried without what an API server and its controllers take from them",
    ),
    **dict.fromkeys(("NodePool", "NodeClaim"), "which nodes Karpenter may make is not known"),
    **dict.fromkeys(
        (key for key, kind in KINDS.items() if kind.name == "PodGroup"),
        "how many pods a group needs at once is not known; explain counts all of them",
    ),
}
"""What is decided without kinds to which no pod refers."""


class MissingKinds(msgspec.Struct, frozen=True):
    """Kinds that are wholly absent though pods refer to them.

    Attributes:
        kinds: their names.
        pods: the pods affected, as `namespace/name`, in the order of the snapshot.
        effect: what is decided without them; `{pods}` stands for the pods.
    """

    kinds: tuple[str, ...]
    pods: tuple[str, ...]
    effect: str

    @property
    def command(self) -> str:
        """The `kubectl get` line that fetches them."""
        known = [KINDS[name] for name in self.kinds]
        everywhere = " -A" if any(kind.namespaced for kind in known) else ""
        return f"kubectl get {','.join(kind.plural for kind in known)}{everywhere} -o json"

    @property
    def sentence(self) -> str:
        """What is decided without them, for which pods."""
        return self.effect.format(pods=f"{count(len(self.pods), 'pod')} ({listed(self.pods)})")

    @property
    def brief(self) -> str:
        """The same without the names of the pods, and without the command."""
        return f"the snapshot has no {' or '.join(self.kinds)}: {self.effect.format(pods=count(len(self.pods), 'pod'))}"

    def __str__(self) -> str:
        return f"the snapshot has no {' or '.join(self.kinds)}: {self.sentence}; add `{self.command}`"


def missing_kinds(
    objects: Iterable[KubeObject], listed: Collection[str] = (), new: Sequence[KubeObject] = ()
) -> list[MissingKinds]:
    """Find the kinds that unfinished pods refer to and that are wholly absent, one entry for each use of them.

    Args:
        listed: kinds of which it is known that there is no other object.
        new: objects of manifests. With them only their pods are looked at: the Service of a manifest does not show that
            the snapshot has those of other pods.
    """
    known = _ByType([*objects, *new])
    present = known.kinds().union(listed)
    claims = {(one.namespace, one.name): one for one in known.of(PersistentVolumeClaim)}
    pods = [one for one in (_ByType(new) if new else known).of(Pod) if not one.is_finished]
    offers = _DeviceOffers(known)
    uses = (
        _Use("{pods} cannot be placed", ("Node",), _kinds_for_placing),
        _Use(
            "the volumes of {pods} are judged without them",
            _VOLUME_KINDS,
            lambda pod: _kinds_for_volumes(pod, claims, present),
        ),
        _Use(
            "the free storage for the volumes of {pods} is not known",
            ("CSIDriver", "CSIStorageCapacity"),
            _CapacityKinds(known, claims),
        ),
        _Use("the claims of {pods} cannot be allocated", _DEVICE_KINDS, _kinds_for_claims),
        _Use("the devices for {pods} are not known", ("ResourceSlice",), offers.kinds_for_served),
        _Use("whether a DeviceClass serves {pods} is not known", ("DeviceClass",), offers.kinds_for_unserved),
        _Use("the priority of {pods} counts as 0", ("PriorityClass",), _kinds_for_priority),
        _Use("the namespaceSelector of {pods} selects nothing", ("Namespace",), _kinds_for_namespaces),
        _Use("whether {pods} may have admin access to devices is not known", ("Namespace",), _AdminAccess(known, new)),
        _Use("default spreading is skipped for {pods}", ("Service", *_SPREADING_OWNERS), _kinds_for_spreading),
    )
    return [missing for use in uses if (missing := _missing_for(use, pods, present))]


def effects_of_refusals(objects: Iterable[KubeObject], refused: Mapping[str, str]) -> list[str]:
    """What is decided without kinds that an API server did not list, one sentence for each use of them.

    Args:
        refused: the kinds, and the reason as messages give it: `403 Forbidden`.
    """
    if not refused:
        return []
    others = [kind for kind in refused if kind not in KINDS]
    sentences = [_not_listed([kind], refused, "what reads them, such as a plugin, finds none") for kind in others]
    unused = {kind: why for kind, why in refused.items() if kind in KINDS}
    for missing in missing_kinds(objects):
        if kinds := [kind for kind in missing.kinds if kind in refused]:
            sentences.append(_not_listed(kinds, refused, missing.sentence))
            for kind in kinds:
                unused.pop(kind, None)
    for effect in dict.fromkeys(_UNREFERRED.values()):
        if kinds := [kind for kind in unused if _UNREFERRED.get(kind) == effect]:
            sentences.append(_not_listed(kinds, refused, effect))
            for kind in kinds:
                unused.pop(kind)
    return sentences + ([_not_listed(list(unused), refused, "no pod refers to them")] if unused else [])


def _not_listed(kinds: Sequence[str], refused: Mapping[str, str], effect: str) -> str:
    named = ", ".join(kind_named(kind).resource for kind in kinds)
    return f"{named} cannot be listed ({', '.join(dict.fromkeys(refused[kind] for kind in kinds))}): {effect}"


class _ByType:
    """Objects by their type, because what is asked about them concerns few of many."""

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._objects: dict[type, list[Any]] = {}
        for one in objects:
            self._objects.setdefault(type(one), []).append(one)

    def of(self, kind: type[KubeT]) -> list[KubeT]:
        """Those of a type, in order."""
        return self._objects.get(kind, [])

    def kinds(self) -> set[str]:
        """The kinds that there are."""
        further = {kind_of(one) for one in self.of(Unstructured)}
        return further.union(kind_of(same[0]) for same in self._objects.values())


class _Use(NamedTuple):
    effect: str
    kinds: tuple[str, ...]
    kinds_for: Callable[[Pod], Sequence[str]]


def _missing_for(use: _Use, pods: list[Pod], present: set[str]) -> MissingKinds | None:
    if present.issuperset(use.kinds):
        return None
    kinds: dict[str, None] = {}
    affected = []
    for pod in pods:
        wanted = use.kinds_for(pod)
        absent = [kind for kind in wanted if kind not in present] if wanted else []
        if absent:
            kinds.update(dict.fromkeys(absent))
            affected.append(pod.key)
    return MissingKinds(tuple(kinds), tuple(affected), use.effect) if affected else None


def _kinds_for_placing(pod: Pod) -> Sequence[str]:
    return () if pod.node_name else ("Node",)


def _kinds_for_volumes(pod: Pod, claims: _Claims, present: set[str]) -> Sequence[str]:
    """What volume rules follow from a pod: its claims, then their volumes and classes, and the limits of nodes."""
    if not any(pod.claim_names):
        return ()
    if "PersistentVolumeClaim" not in present:
        return _VOLUME_KINDS
    known_claims = _known_claims(pod, claims)
    kinds = ["CSINode"]
    if any(claim.spec.volume_name for claim in known_claims):
        kinds.append("PersistentVolume")
    if any(storage_class_of(claim) for claim in known_claims):
        kinds.append("StorageClass")
    return kinds


class _CapacityKinds:
    """What follows from the claims that get their volume when the pod is placed, if their driver is a CSI driver."""

    def __init__(self, known: _ByType, claims: _Claims) -> None:
        self._claims = claims
        self._provisioners: dict[str, str] = {}  # of the classes that wait for a pod
        self._publishes: dict[str, bool] = {}
        for one in known.of(StorageClass):
            if one.volume_binding_mode == "WaitForFirstConsumer":
                self._provisioners[one.name] = one.provisioner
        for node in known.of(CSINode):
            for driver in node.spec.drivers or ():
                self._publishes[driver.name] = True  # it may, unless a CSIDriver denies it
        for of_driver in known.of(CSIDriver):
            self._publishes[of_driver.name] = bool(of_driver.spec.storage_capacity)

    def __call__(self, pod: Pod) -> Sequence[str]:
        if not self._provisioners:
            return ()
        unbound = [claim for claim in _known_claims(pod, self._claims) if not claim.spec.volume_name]
        provisioners = (self._provisioners.get(storage_class_of(claim), "") for claim in unbound)
        is_asked = not pod.node_name and any(self._publishes.get(provisioner) for provisioner in provisioners)
        return ("CSIDriver", "CSIStorageCapacity") if is_asked else ()


def _kinds_for_claims(pod: Pod) -> Sequence[str]:
    """What decides about the resource claims of a pending pod."""
    return _DEVICE_KINDS if pod.spec.resource_claims and not pod.node_name else ()


class _DeviceOffers:
    """What follows from pending pods that ask for an extended resource."""

    def __init__(self, known: _ByType) -> None:
        offers = (node.status.allocatable or {} for node in known.of(Node))
        self._offered = {name for offered in offers for name, amount in offered.items() if amount}
        self._served = {name for one in known.of(DeviceClass) for name in resources_of_class(one)}

    def kinds_for_served(self, pod: Pod) -> Sequence[str]:
        """What is needed for a resource that a DeviceClass serves."""
        return ("ResourceSlice",) if self._served and not self._served.isdisjoint(_asked(pod)) else ()

    def kinds_for_unserved(self, pod: Pod) -> Sequence[str]:
        """What shows whether one serves a resource that no node offers."""
        return ("DeviceClass",) if any(name not in self._offered for name in _asked(pod)) else ()


class _AdminAccess:
    """What follows from pending pods whose resource claims with admin access have still to be created."""

    def __init__(self, known: _ByType, new: Sequence[KubeObject]) -> None:
        made = {id(one) for one in new}
        claims = (one for one in known.of(ResourceClaim) if id(one) in made and one.spec.admin_request is not None)
        self._claims = {one.key for one in claims}
        self._there = {one.key for one in known.of(ResourceClaim)}
        templates = known.of(ResourceClaimTemplate)
        self._templates = {one.key for one in templates if one.spec.spec.admin_request is not None}

    def __call__(self, pod: Pod) -> Sequence[str]:
        if pod.node_name or not (self._claims or self._templates):
            return ()
        made = {one.name: one.resource_claim_name for one in pod.status.resource_claim_statuses or ()}
        for entry in pod.spec.resource_claims or ():
            claim = f"{pod.namespace}/{entry.resource_claim_name or made.get(entry.name)}"
            template = f"{pod.namespace}/{entry.resource_claim_template_name}"
            if claim in self._claims or (claim not in self._there and template in self._templates):
                return ("Namespace",)
        return ()


def _asked(pod: Pod) -> Iterator[str]:
    """The extended resources of a pending pod."""
    if not pod.node_name:
        for container in pod.spec.containers or ():
            yield from filter(is_extended_resource, container.requests)


def _known_claims(pod: Pod, claims: _Claims) -> list[PersistentVolumeClaim]:
    keys = ((pod.namespace, name) for name in pod.claim_names)
    return [claims[key] for key in keys if key in claims]


def _kinds_for_priority(pod: Pod) -> Sequence[str]:
    name = pod.spec.priority_class_name
    is_open = name and pod.spec.priority is None and name not in BUILT_IN_CLASSES
    return ("PriorityClass",) if is_open else ()


def _kinds_for_namespaces(pod: Pod) -> Sequence[str]:
    terms = pod.spec.affinity.pod_terms if pod.spec.affinity is not None else ()
    return ("Namespace",) if any(_selects_by_label(term.namespace_selector) for term in terms) else ()


def _selects_by_label(selector: LabelSelector | None) -> bool:
    return selector is not None and bool(selector.match_labels or selector.match_expressions)


def _kinds_for_spreading(pod: Pod) -> Sequence[str]:
    """PodTopologySpread's default constraints, for a pod without its own, follow its services and its controller."""
    if pod.node_name or pod.spec.topology_spread_constraints or not pod.labels:
        return ()
    owner = pod.metadata.controller
    return ("Service", owner.kind) if owner is not None and owner.kind in _SPREADING_OWNERS else ("Service",)
