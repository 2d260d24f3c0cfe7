"""Replaces the names in a snapshot, so that it can be shown to others and is decided as before.

Everything that a user or a provider chose is replaced: names, namespaces, uids, label keys and values, taints, images,
extended resources, pools, devices, and those of their attributes that nothing compares. What Kubernetes defines stays,
such as topology.kubernetes.io/zone; so do labels and zones of providers, plain words in labels, numbers and times, CEL
expressions with what they read, and drivers of devices. Every other text is replaced, whatever its field.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from kubesched.api import (
    AVOID_PODS,
    CLASS_ANNOTATION,
    GROUP_KEYS,
    GROUP_MINIMUMS,
    KINDS,
    MIGRATED_PLUGINS,
    MIRROR_POD,
    SELECTED_NODE,
    SILENCED,
    CapacityRequirements,
    DeviceAttribute,
    DeviceResult,
    DeviceStatus,
    ExitCodesPattern,
    ObjectMeta,
    OwnerReference,
    PodCondition,
    ResourceSliceSpec,
    ScaleTarget,
    Unstructured,
)
from kubesched.capture.device_names import CLASS, KINDS_OF_OBJECTS, DeviceNames, kind_of_name, parts_of
from kubesched.capture.device_words import DeviceWords, device_words, replaced_amounts, without_comments
from kubesched.capture.kubernetes_words import (
    CONDITIONS,
    DEFINED_TYPES,
    OWNER_API_VERSIONS,
    OWNER_KINDS,
    REASONS,
    is_defined_value,
    is_integer,
    is_kept_resource,
    is_public_value,
)
from kubesched.capture.named_texts import ROLES_OF_FIELDS, named_texts
from kubesched.capture.replaced_words import ReplacedWords
from kubesched.config import CLUSTER_RULES
from kubesched.controllers import RE_CREATING_KINDS
from kubesched.release import numbers_of
from kubesched.snapshot import READ_ANNOTATIONS, ClusterObjects

T = TypeVar("T")
OwnerT = TypeVar("OwnerT", OwnerReference, ScaleTarget)

_DEFINED_FIELDS: Final = frozenset(
    (
        *("access_modes", "action", "allocation_mode", "allocation_timestamp", "amount", "capacity"),
        *("creation_timestamp", "default", "declared_features", "deletion_timestamp", "effect", "managed_by", "max"),
        *("maximum_volume_size", "min", "node_affinity_policy", "node_taints_policy", "operator", "phase"),
        *("preemption_policy", "protocol", "resource", "resource_version", "restart_policy", "scope_name", "scopes"),
        *("start_time", "status", "step", "unhealthy_pod_eviction_policy", "valid_values", "volume_binding_mode"),
        *("volume_mode", "when_unsatisfiable"),
    )
)
"""Fields whose values Kubernetes defines, amounts and times; any other value there is replaced."""
_KEPT_FIELDS: Final = frozenset(
    ("scheduler_name", "match_attribute", "distinct_attribute")  # the configuration has the first one
)
_OF_DRIVERS: Final = (ResourceSliceSpec, DeviceResult, DeviceStatus)
_BOUNDS: Final = ("min_available", "max_unavailable", "max_surge")
_BOUND: Final = re.compile("[0-9]+%?")
_KEYS: Final = ("key", "topology_key", "topology_keys", "match_label_keys", "mismatch_label_keys")
_LABELS: Final = ("labels", "match_labels", "node_selector", "selector")
_QUANTITIES: Final = (
    *("allocatable", "allocated_resources", "capacity", "limits", "overhead", "requests"),
    *("pod_fixed", "default", "default_request", "min", "max", "max_limit_request_ratio", "hard", "used"),
    "resources",
)
_OF_QUOTAS: Final = ("requests.", "limits.")
_EXTENDED_RESOURCES: Final = ("extended_resource_name", "resource_name")
_CONDITION_TYPES: Final = ("binding_conditions", "binding_failure_conditions")
_CHOSEN_SUFFIX: Final = (
    "hugepages-",
    "attachable-volumes-csi-",
    "attachable-volumes-",
)
"""Resources whose other names somebody chose below a prefix that a scheduler reads."""
_OF_CLASSES: Final = "deviceclass.resource.kubernetes.io/"
_NUMERIC: Final = ("Gt", "Lt")
_READ_VALUE: Final = re.compile("yes|true|false|-?[0-9]+")
"""What rules read in the other annotations; any other value counts as its absence or default, whatever it is."""
_NAMES_IN_ANNOTATIONS: Final = (
    CLASS_ANNOTATION,
    SELECTED_NODE,
    MIRROR_POD,
    *GROUP_KEYS,
)


class Anonymized(NamedTuple):
    """A snapshot with other names.

    Attributes:
        table: the words that names are made of, by their replacements. Keep it private.
        device_words: the words that stay because expressions and constraints compare them, sorted.
    """

    cluster: ClusterObjects
    table: dict[str, str]
    device_words: list[str]


def anonymize(cluster: ClusterObjects, salt: str = "", keep: Iterable[str] = ()) -> Anonymized:
    """Replace all names, and leave out the configuration that came with the objects, and the objects that only plugins
    read: what names they have is not known.

    Args:
        cluster: only the fields that a scheduler reads (`only_read_fields`).
        salt: the same names get the same replacements in every snapshot with this salt; without one, they say what they
            name, and keep the order of the names.
        keep: texts whose words stay, such as those of the configuration that is to decide about the result.
    Raises:
        InputError: the salt gives two words the same replacement.
    """
    cluster = msgspec.structs.replace(
        cluster,
        objects=tuple(known for known in cluster.objects if not isinstance(known, Unstructured)),
        listed_kinds=cluster.listed_kinds & KINDS.keys(),
    )
    texts: set[str] = set()
    of_devices: defaultdict[str, set[str]] = defaultdict(set)

    def collect(text: str) -> str:
        texts.add(text)
        return text

    def collect_name(kind: str, name: str) -> str:
        of_devices[kind].update(parts_of(kind, name))
        return name

    stays = device_words(cluster.objects)
    first = _Walk(collect, collect_name, stays, set())
    for known in cluster.objects:
        first.struct(known)
    names = named_texts(cluster.objects, first.fields, first.keys, first.values, first.resources)
    words, device_names = ReplacedWords(texts, salt, keep, names), DeviceNames(of_devices, salt)
    second = _Walk(words, device_names.renamed, stays, first.numeric_keys)
    objects = tuple(second.struct(known) for known in cluster.objects)
    server = _numbers(cluster.server_version)
    anonymous = msgspec.structs.replace(
        cluster, objects=objects, notes=(), bad=(), scheduler_config=b"", server_version=server
    )
    return Anonymized(anonymous, words.used | device_names.used, stays.listed)


def _numbers(version: str) -> str:
    """A version of Kubernetes, which decides, without what a provider adds to it; empty for any other text."""
    numbers = numbers_of(version)
    return "" if numbers is None else "v" + ".".join(map(str, numbers))


class _Walk:
    """Visits every text of objects, and makes objects of what a function gives for it.

    Args:
        device_name: is given what a name of a device is of, and the name.
        stays: the words of devices that stay.
        numeric_keys: labels whose values are compared as numbers, and stay.
    Attributes:
        numeric_keys: those, and the ones that were met.
        keys, values, resources: label keys, the labels that were met, and the names of resources.
        fields: texts of fields that have a name of some kind, and which kind.
    """

    def __init__(
        self,
        text: Callable[[str], str],
        device_name: Callable[[str, str], str],
        stays: DeviceWords,
        numeric_keys: set[str],
    ) -> None:
        self.numeric_keys = numeric_keys
        self.keys: dict[str, None] = {}
        self.values: dict[tuple[str, str], None] = {}
        self.resources: dict[str, None] = {}
        self.fields: dict[str, str] = {}
        self._text = text
        self._device_name = device_name
        self._stays = stays
        self._done: dict[int, Any] = {}  # pods share equal parts; the objects outlive the walk

    def struct(self, value: T) -> T:
        """A struct with all texts below it replaced."""
        done = self._done.get(id(value))
        if done is None:
            done = self._done[id(value)] = self._special(value)
        result: T = done
        return result

    def _special(self, value: Any) -> Any:
        if isinstance(value, OwnerReference):
            return msgspec.structs.replace(self._owner(value), uid=self._text(value.uid))
        if isinstance(value, ScaleTarget):
            return self._owner(value)
        if isinstance(value, PodCondition):
            reason = value.reason if value.reason in REASONS else ""
            kind, status = self._condition(value.type), self._defined(value.status)
            return msgspec.structs.replace(value, type=kind, status=status, reason=reason, message="")
        changes = {name: self._field(name, getattr(value, name), value) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **changes)

    def _metadata(self, metadata: ObjectMeta, kind: str) -> ObjectMeta:
        """The metadata of an object with a name of `device_names`."""
        nameless: ObjectMeta = self._special(msgspec.structs.replace(metadata, name=""))
        return msgspec.structs.replace(nameless, name=self._device_name(kind, metadata.name))

    def _owner(self, owner: OwnerT) -> OwnerT:
        if (owner.api_version.rpartition("/")[0], owner.kind) in RE_CREATING_KINDS:
            return msgspec.structs.replace(owner, name=self._text(owner.name))
        version = owner.api_version if owner.api_version in OWNER_API_VERSIONS else self._text(owner.api_version)
        name, kind = self._text(owner.name), self._kind(owner.kind)
        return msgspec.structs.replace(owner, name=name, kind=kind, api_version=version)

    def _field(self, name: str, value: Any, of: Any) -> Any:
        if isinstance(value, ObjectMeta) and (of_object := KINDS_OF_OBJECTS.get(type(of))):
            return self._metadata(value, of_object)
        if isinstance(value, msgspec.Struct):
            return self.struct(value)
        if isinstance(value, dict):
            if name == "consumed_capacity" or isinstance(of, CapacityRequirements):
                return {self._stays.renamed(key, self._text): amount for key, amount in value.items()}
            return self._dict(name, value)
        if name in _KEPT_FIELDS or (name == "driver" and isinstance(of, _OF_DRIVERS)):
            return value
        if value and (kind := kind_of_name(of, name)):
            return self._device_names(kind, value)
        if name in _BOUNDS and isinstance(value, str):
            return value if _BOUND.fullmatch(value) else self._text(value)
        if isinstance(value, str) and name == "expression":
            return without_comments(value, self._text)
        if isinstance(value, str) and name == "kubelet_version":
            return _numbers(value)
        if isinstance(value, str) and name == "version":
            return replaced_amounts(value, self._text)
        if isinstance(value, str) and name in _EXTENDED_RESOURCES:
            return self._resource(value)
        if isinstance(value, tuple) and name in _CONDITION_TYPES:
            return tuple(map(self._condition, value))
        if name in _DEFINED_FIELDS:
            return tuple(map(self._defined, value)) if isinstance(value, tuple) else self._defined(value)
        if name == "values" and isinstance(of, ExitCodesPattern):
            return value
        if name in ("value", "values") and isinstance(value, str | tuple):
            return self._values(getattr(of, "key", None) or "", value, getattr(of, "operator", ""))
        if name in _KEYS and value is not None:
            return tuple(map(self._key, value)) if isinstance(value, tuple) else self._key(value)
        if isinstance(value, tuple):
            return tuple(self.struct(one) if isinstance(one, msgspec.Struct) else self._text(one) for one in value)
        if not isinstance(value, str):
            return value
        if name in ROLES_OF_FIELDS:
            self.fields[value] = ROLES_OF_FIELDS[name]
        if name == "type" and value in DEFINED_TYPES:
            return value
        return self._condition(value) if name == "type" else self._text(value)

    def _kind(self, kind: str) -> str:
        return kind if kind in OWNER_KINDS else self._text(kind)

    def _condition(self, type: str) -> str:
        return type if type in CONDITIONS else self._text(type)

    def _defined(self, value: Any) -> Any:
        return self._text(value) if isinstance(value, str) and not is_defined_value(value) else value

    def _values(self, key: str, value: Any, operator: str) -> Any:
        if operator in _NUMERIC:
            self.numeric_keys.add(key)
        if isinstance(value, str):
            return self._value(key, value)
        return tuple(self._value(key, one) for one in value)

    def _value(self, key: str, value: str) -> str:
        is_number = (key in self.numeric_keys or key in GROUP_MINIMUMS) and is_integer(value)
        if is_number or is_public_value(key, value):
            return value
        self.values[key, value] = None
        return self._text(value)

    def _key(self, key: str) -> str:
        self.keys[key] = None
        return self._text(key)

    def _dict(self, name: str, value: dict[str, Any]) -> dict[str, Any]:
        if any(isinstance(one, msgspec.Struct) for one in value.values()):  # of a device, by name
            return {self._stays.renamed(key, self._text): self._fact(key, one) for key, one in value.items()}
        if name in _LABELS:
            return {self._key(key): self._value(key, text) for key, text in value.items()}
        if name in _QUANTITIES:
            return {self._resource(resource): quantity for resource, quantity in value.items()}
        if name == "annotations":
            return {key: self._annotation(key, text) for key, text in value.items() if key in READ_ANNOTATIONS}
        if name == "disrupted_pods" or not value:  # only the names are read
            return dict.fromkeys(map(self._text, value))
        raise TypeError(f"{name}: capture/anonymize.py does not know which of its keys and values are names")

    def _fact(self, name: str, value: Any) -> Any:
        """An attribute or a capacity of a device, or a counter."""
        return value if isinstance(value, DeviceAttribute) and self._stays.keeps(name) else self.struct(value)

    def _device_names(self, kind: str, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._device_name(kind, one) for one in value)
        return self._device_name(kind, value)

    def _resource(self, name: str) -> str:
        if is_kept_resource(name):
            return name
        if of_quota := next(filter(name.startswith, _OF_QUOTAS), ""):
            return of_quota + self._resource(name.removeprefix(of_quota))
        if name.startswith(_OF_CLASSES):
            return _OF_CLASSES + self._device_name(CLASS, name.removeprefix(_OF_CLASSES))
        prefix = next(filter(name.startswith, _CHOSEN_SUFFIX), "")
        if not prefix:
            self.resources[name] = None
        return prefix + self._text(name.removeprefix(prefix))

    def _annotation(self, key: str, text: str) -> str:
        if key in _NAMES_IN_ANNOTATIONS:
            return self._text(text)
        if key == AVOID_PODS:
            return self._avoided(text)
        if key == SILENCED:
            return ", ".join(rule for rule in re.findall(r"[\w-]+", text) if rule in CLUSTER_RULES)
        if key == MIGRATED_PLUGINS:
            return ",".join(map(self._text, text.split(",")))
        return text if _READ_VALUE.fullmatch(text) else self._text(text)

    def _avoided(self, text: str) -> str:
        """The controllers that a node asks to be spared: only their kinds and uids, replaced."""
        try:
            entries = json.loads(text)["preferAvoidPods"]
            controllers = [entry["podSignature"]["podController"] for entry in entries]
            kept = [{"kind": self._kind(str(c["kind"])), "uid": self._text(str(c["uid"]))} for c in controllers]
        except (ValueError, LookupError, TypeError):
            return ""
        return json.dumps({"preferAvoidPods": [{"podSignature": {"podController": one}} for one in kept]})
