"""The kinds that kubesched reads, and those that plugins name: their place in the API, the decoding of their JSON."""

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, TypeVar

import msgspec

from kubesched.api.meta import KubeObject
from kubesched.api.new_pods import HorizontalPodAutoscaler, LimitRange, ResourceQuota, RuntimeClass
from kubesched.api.node import Node
from kubesched.api.node_pools import NodeClaim, NodePool
from kubesched.api.pod import Pod
from kubesched.api.resource_claims import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kubesched.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from kubesched.api.unstructured import Unstructured, plural_of
from kubesched.api.well_known import KUSTOMIZE_GROUP
from kubesched.api.workloads import (
    CoschedulingPodGroup,
    Deployment,
    Job,
    Namespace,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
    VolcanoPodGroup,
)
from kubesched.documents import RawJson, decode_forgiving, did_you_mean, quoted
from kubesched.errors import InputError, ObjectError

ObjectT = TypeVar("ObjectT", bound=KubeObject)


class KindUse(Enum):
    """Who reads the objects of a kind."""

    SCHEDULING = "scheduling"
    """Every scheduler: it watches them."""
    NEW_PODS = "new pods"
    """Only what foresees new pods as an API server and its controllers create them: those of a manifest, and those that
    follow an evicted pod. Nothing of them is left to decide when a scheduler sees the pod."""
    NEW_NODES = "new nodes"
    """Only what foresees new nodes as an autoscaler makes them."""
    PLUGINS = "plugins"
    """A scheduler whose plugins name the kind in `reads`."""


class Kind(msgspec.Struct, frozen=True):
    """A kind of object.

    Attributes:
        name: as in the field `kind`; empty where a plugin names a kind by its plural.
        group: API group, empty for the core group.
        version: the API version that is watched.
        plural: the resource's name in URLs and for `kubectl get`.
        namespaced: whether its objects live in namespaces.
        type: the struct. Its name is the key in KINDS, because several API groups have a kind of one name; Unstructured
            for the kinds that are not in KINDS.
        is_optional: whether an API server may lack it: a custom resource, an alpha API, or one of newer servers.
        use: who reads it.
        other_versions: API versions with the same fields, which are read where an API server does not have `version`.
    """

    name: str
    group: str
    version: str
    plural: str
    namespaced: bool
    type: type[KubeObject]
    is_optional: bool = False
    use: KindUse = KindUse.SCHEDULING
    other_versions: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """`group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def key(self) -> str:
        """What `kind_of` returns for its objects: the key in KINDS, or `group/version/plural`."""
        return f"{self.api_version}/{self.plural}" if self.type is Unstructured else self.type.__name__

    @property
    def is_dispensable(self) -> bool:
        """Whether only plugins read it, and do without where an API server gives no good answer."""
        return self.is_optional and self.type is Unstructured

    @property
    def resource(self) -> str:
        """As `kubectl get` takes it: the plural, with the group where other groups may have the same."""
        may_be_several = self.group and (self.is_optional or self.type is Unstructured)
        return f"{self.plural}.{self.group}" if may_be_several else self.plural


_DEVICES: Final = "resource.k8s.io"
_LIKE_V1: Final = ("v1beta2",)
"""Rule: Kubernetes v1.33 and v1.34 resource.k8s.io: v1beta2 has the fields of v1. Files may have v1beta1, which `as_v1`
converts."""

KINDS: Final[dict[str, Kind]] = {
    kind.type.__name__: kind
    for kind in (
        Kind("Node", "", "v1", "nodes", False, Node),
        Kind("Pod", "", "v1", "pods", True, Pod),
        Kind("Namespace", "", "v1", "namespaces", False, Namespace),
        Kind("Service", "", "v1", "services", True, Service),
        Kind("ReplicationController", "", "v1", "replicationcontrollers", True, ReplicationController),
        Kind("ReplicaSet", "apps", "v1", "replicasets", True, ReplicaSet),
        Kind("StatefulSet", "apps", "v1", "statefulsets", True, StatefulSet),
        Kind("PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets", True, PodDisruptionBudget),
        Kind("PersistentVolume", "", "v1", "persistentvolumes", False, PersistentVolume),
        Kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", True, PersistentVolumeClaim),
        Kind("StorageClass", "storage.k8s.io", "v1", "storageclasses", False, StorageClass),
        Kind("CSINode", "storage.k8s.io", "v1", "csinodes", False, CSINode),
        Kind("CSIDriver", "storage.k8s.io", "v1", "csidrivers", False, CSIDriver),
        Kind("CSIStorageCapacity", "storage.k8s.io", "v1", "csistoragecapacities", True, CSIStorageCapacity),
        Kind("VolumeAttachment", "storage.k8s.io", "v1", "volumeattachments", False, VolumeAttachment),
        Kind(
            "DeviceClass",
            _DEVICES,
            "v1",
            "deviceclasses",
            False,
            DeviceClass,
            True,
            other_versions=(*_LIKE_V1, "v1beta1"),
        ),
        Kind("ResourceSlice", _DEVICES, "v1", "resourceslices", False, ResourceSlice, True, other_versions=_LIKE_V1),
        Kind("ResourceClaim", _DEVICES, "v1", "resourceclaims", True, ResourceClaim, True, other_versions=_LIKE_V1),
        Kind(
            "ResourceClaimTemplate",
            _DEVICES,
            "v1",
            "resourceclaimtemplates",
            True,
            ResourceClaimTemplate,
            is_optional=True,
            use=KindUse.NEW_PODS,
            other_versions=_LIKE_V1,
        ),
        Kind("PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", False, PriorityClass, use=KindUse.NEW_PODS),
        Kind("Deployment", "apps", "v1", "deployments", True, Deployment, use=KindUse.NEW_PODS),
        Kind("Job", "batch", "v1", "jobs", True, Job, use=KindUse.NEW_PODS),
        Kind("RuntimeClass", "node.k8s.io", "v1", "runtimeclasses", False, RuntimeClass, use=KindUse.NEW_PODS),
        Kind("LimitRange", "", "v1", "limitranges", True, LimitRange, use=KindUse.NEW_PODS),
        Kind("ResourceQuota", "", "v1", "resourcequotas", True, ResourceQuota, use=KindUse.NEW_PODS),
        Kind(
            "HorizontalPodAutoscaler",
            "autoscaling",
            "v2",
            "horizontalpodautoscalers",
            True,
            HorizontalPodAutoscaler,
            use=KindUse.NEW_PODS,
        ),
        Kind("NodePool", "karpenter.sh", "v1", "nodepools", False, NodePool, True, KindUse.NEW_NODES),
        Kind("NodeClaim", "karpenter.sh", "v1", "nodeclaims", False, NodeClaim, True, KindUse.NEW_NODES),
        Kind(
            "PodGroup",
            "scheduling.k8s.io",
            "v1beta1",
            "podgroups",
            True,
            PodGroup,
            True,
            KindUse.PLUGINS,
            ("v1alpha2",),
        ),
        Kind(
            "PodGroup",
            "scheduling.x-k8s.io",
            "v1alpha1",
            "podgroups",
            True,
            CoschedulingPodGroup,
            True,
            KindUse.PLUGINS,
        ),
        Kind("PodGroup", "scheduling.volcano.sh", "v1beta1", "podgroups", True, VolcanoPodGroup, True, KindUse.PLUGINS),
    )
}

WATCHED_KINDS: Final = tuple(key for key, kind in KINDS.items() if kind.use is KindUse.SCHEDULING)
"""The keys of the kinds that every scheduler watches. Priorities are in the pods, and claims are made of templates by a
controller, so these kinds are not among them; kube-scheduler's roles do not allow them either."""

AUTOSCALER_STATUS: Final = "cluster-autoscaler-status"
"""The ConfigMap, in whatever namespace, in which cluster-autoscaler describes its node groups."""

_CHANGED_IN_V1: Final = ("ResourceSlice", "ResourceClaim", "ResourceClaimTemplate")
_KEYS: Final = {(kind.name, kind.group): key for key, kind in KINDS.items()}


def unread_name(kind: str, group: str) -> str:
    """The name to count objects under whose kind is not read: with the group, where the kind alone says too little.

    Example:
        assert unread_name("Pod", "other.example.com") == "Pod.other.example.com"
        assert unread_name("ConfigMap", "") == "ConfigMap"
    """
    is_ambiguous = group == KUSTOMIZE_GROUP or any(read.name == kind for read in KINDS.values())
    return f"{kind}.{group}" if group and is_ambiguous else kind


def kind_key(name: str, group: str) -> str:
    """The key in KINDS of a kind in an API group; empty where no scheduler reads it.

    Example:
        assert kind_key("PodGroup", "scheduling.x-k8s.io") == "CoschedulingPodGroup"
    """
    return _KEYS.get((name, group), "")


def has_other_fields(key: str, api_version: str) -> bool:
    """Whether objects of a kind have other fields in this version than in those that are read.

    They would be read as objects without devices.

    Example:
        assert has_other_fields("ResourceSlice", "resource.k8s.io/v1alpha3")
    """
    read = ("v1beta1", *_LIKE_V1)
    return key in _CHANGED_IN_V1 and api_version.rpartition("/")[2] not in (KINDS[key].version, *read)


def kind_of(known: KubeObject) -> str:
    """The object's kind: a key of KINDS, or `group/version/plural` for an Unstructured."""
    return known.kind_key if isinstance(known, Unstructured) else type(known).__name__


def type_of(known: KubeObject) -> tuple[str, str]:
    """ApiVersion and kind of an object, as others refer to it; two empty texts if they are not known."""
    if isinstance(known, Unstructured):
        return known.api_version, known.kind
    kind = KINDS.get(type(known).__name__)
    return ("", "") if kind is None else (kind.api_version, kind.name)


_VERSION: Final = re.compile(r"v[1-9]\d*((alpha|beta)[1-9]\d*)?")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9.-]*")


def kind_named(name: str) -> Kind:
    """The kind that a plugin names: a key of KINDS, or `group/version/Kind` (`v1/Kind` in the core group), where the
    plural may be in the place of the kind. A `?` at the end makes it optional: an API server may lack it.

    Raises:
        InputError: there is no such kind, or plugins may not read it.

    Example:
        assert kind_named("apps/v1/ReplicaSet") is KINDS["ReplicaSet"]
        assert kind_named("metrics.k8s.io/v1beta1/NodeMetrics?").plural == "nodes"
    """
    plain = name.removesuffix("?")
    if known := KINDS.get(plain):
        return known
    api_version, _, last = plain.rpartition("/")
    group, _, version = api_version.rpartition("/")
    if not (_VERSION.fullmatch(version) and _NAME.fullmatch(last) and (not group or _NAME.fullmatch(group))):
        raise InputError(_not_a_kind(plain, last))
    is_plural = last == last.lower()
    plural = last if is_plural else plural_of(last, group)  # what objects are stored under, whatever the letters' case
    if not group and plural == "secrets":
        raise InputError(
            f"{quoted(name)}: plugins do not read Secrets, because what a scheduler watches is in its memory and may "
            "be saved in snapshots; mount the Secret into the scheduler's pod instead"
        )
    for known in KINDS.values():
        if known.group == group and known.plural == plural:
            if version not in (known.version, *known.other_versions):
                raise InputError(
                    f"{quoted(name)}: kubesched reads {known.name} as {known.api_version}; write "
                    f"{quoted(known.type.__name__)}"
                )
            return known
    return Kind(
        "" if is_plural else last,
        group,
        version,
        plural,
        namespaced=False,
        type=Unstructured,
        is_optional=name.endswith("?"),
        use=KindUse.PLUGINS,
    )


def _not_a_kind(name: str, last: str) -> str:
    near = did_you_mean(last, KINDS) if "/" not in name else ""
    written = "write other kinds as group/version/Kind, such as metrics.k8s.io/v1beta1/NodeMetrics or v1/ConfigMap"
    return f"{quoted(name)} is not a kind that kubesched reads; {near + ' Or ' if near else ''}{written}"


def objects_of(snapshot: object) -> list[KubeObject]:
    """The objects of a cluster that a Python program passes.

    Raises:
        InputError: it is the name of a file, or has anything but Kubernetes objects.

    Example:
        assert len(objects_of(load_snapshot("cluster.json"))) > 0
    """
    if isinstance(snapshot, Mapping):
        snapshot = [snapshot]
    if isinstance(snapshot, str | bytes) or not isinstance(snapshot, Iterable):
        advice = f"pass load_snapshot({snapshot!r})" if isinstance(snapshot, str) else "pass what load_snapshot returns"
        raise InputError(f"a snapshot has Kubernetes objects; found {snapshot!r:.80}; {advice}")
    objects = list(snapshot)
    for known in objects:
        if not isinstance(known, KubeObject):
            documents = "for documents, pass load_snapshot(io.StringIO(json.dumps(documents)))"
            files = "load_snapshot reads objects from files and streams"
            advice = documents if isinstance(known, Mapping) else files
            raise InputError(f"a snapshot has Kubernetes objects; found {known!r:.80}; {advice}")
    return objects


_TOLD_APART_BY_UID: Final = ("Pod", "PersistentVolumeClaim")
_DECODERS: Final = {name: msgspec.json.Decoder(kind.type) for name, kind in KINDS.items()}


_decode_unstructured: Final = msgspec.json.Decoder(Unstructured).decode


def decode_object(kind: str | Kind, raw: RawJson, *, keep_source: bool = True) -> KubeObject:
    """Decode the JSON of one object of a kind and, where that is wanted, remember its source (`raw`). An Unstructured
    always has its source.

    A field that is null is taken as absent. Namespace and uid are `completed`.

    Raises:
        ObjectError: the JSON is broken or a field has the wrong type; the message begins with the field.
    """
    decoder = _DECODERS.get(kind) if isinstance(kind, str) else None
    if decoder is None:
        named = kind_named(kind) if isinstance(kind, str) else kind
        if named.type is Unstructured:
            return _unstructured(named, raw)
        decoder = _DECODERS[named.key]
    decoded, raw = decode_forgiving(decoder.decode, raw)
    if not decoded.metadata.name:
        raise ObjectError("metadata.name is missing")
    decoded = completed(decoded)
    if keep_source:
        decoded.__dict__["raw_source"] = raw
    return decoded


def _unstructured(kind: Kind, raw: RawJson) -> Unstructured:
    """An object with its whole JSON, to which apiVersion and kind are added: the items of a list may lack them."""
    decoded, raw = decode_forgiving(_decode_unstructured, raw)
    if not decoded.metadata.name:
        raise ObjectError("metadata.name is missing")
    api_version, name = decoded.api_version or kind.api_version, decoded.kind or kind.name
    if not name:
        raise ObjectError("kind is missing")
    missing = {"apiVersion": api_version} if not decoded.api_version else {}
    missing |= {"kind": name} if not decoded.kind else {}
    source = bytes(raw)
    if missing:
        source = msgspec.json.encode(missing)[:-1] + b"," + source.lstrip()[1:]
        decoded = msgspec.structs.replace(decoded, api_version=api_version, kind=name)
    if kind_of(decoded) != kind.key:
        expected = f"{kind.api_version}/{kind.name or kind.plural}"
        raise ObjectError(f"found {api_version}/{name}; expected {expected}")
    decoded.__dict__["raw_source"] = source
    return decoded


def completed(known: ObjectT) -> ObjectT:
    """The object with a namespace and, if it is a pod or a claim, with a uid; the same object if nothing is missing.

    Namespaced kinds without a namespace are put into `default`, as an API server would. A pod or claim without a uid,
    which has never met one, gets its name for a uid: it is the only one of that name.
    """
    if isinstance(known, Unstructured):
        return known
    metadata = known.metadata
    if metadata.namespace and metadata.uid:  # as of most objects
        return known
    kind = kind_of(known)
    namespace = metadata.namespace or ("default" if KINDS[kind].namespaced else "")
    uid = metadata.uid or (f"{kind}/{namespace}/{metadata.name}" if kind in _TOLD_APART_BY_UID else "")
    if namespace == metadata.namespace and uid == metadata.uid:
        return known
    changed = msgspec.structs.replace(known, metadata=msgspec.structs.replace(metadata, namespace=namespace, uid=uid))
    changed.__dict__.update(known.__dict__)
    return changed
