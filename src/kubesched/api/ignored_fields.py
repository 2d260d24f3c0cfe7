"""Fields that a version of Kubernetes does not read, because their feature gate is off.

They are taken off where objects come in, so that no rule has to ask. The JSON of an object keeps them: what is written,
or sent to an extender, is the object as it was read.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from kubesched.api.kinds import decode_object, kind_of
from kubesched.api.meta import KubeObject
from kubesched.api.pod import Pod
from kubesched.api.pod_fields import ComparingToleration
from kubesched.api.resource_claims import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kubesched.release import Release

COMPARISONS: Final = "TaintTolerationComparisonOperators"
"""The gate of tolerations that compare numbers."""
_COMPARING: Final = ("Lt", "Gt")
T = TypeVar("T", bound=msgspec.Struct)
ObjectT = TypeVar("ObjectT", bound=KubeObject)

_EACH: Final = "[]"
_CLAIM: Final = ("spec", "devices", "requests", _EACH, "exactly")
_ALTERNATIVES: Final = ("spec", "devices", "requests", _EACH, "first_available")
_DISTINCT: Final = ("spec", "devices", "constraints", _EACH, "distinct_attribute")
_DEVICE: Final = ("spec", "devices", _EACH)
_RESULT: Final = ("status", "allocation", "devices", "results", _EACH)


class IgnoredField(NamedTuple):
    """A field that counts only while a gate is on.

    Attributes:
        gate: the gate.
        kind: the kind of objects.
        path: the attributes that lead to it; `[]` stands for each entry of a list.
        with_entry: whether the entry of the list that has it is ignored, too.
        since: the first minor version that ignores it; earlier ones do something else without the gate.
    """

    gate: str
    kind: type[KubeObject]
    path: tuple[str, ...]
    with_entry: bool = False
    since: int = 0

    def is_off(self, release: Release) -> bool:
        """Whether a version does not read it."""
        return not release.has(self.gate) and not release.before(self.since)

    @property
    def spelled(self) -> str:
        """The path as manifests spell it, such as `spec.resources`."""
        return ".".join(map(_spelled, self.path)).replace(f".{_EACH}", _EACH)


def _fields(gate: str, kind: type[KubeObject], *paths: tuple[str, ...], since: int = 0) -> tuple[IgnoredField, ...]:
    return tuple(IgnoredField(gate, kind, path, since=since) for path in paths)


def _of_requests(gate: str, *names: str, since: int = 0) -> tuple[IgnoredField, ...]:
    """Fields of a request, and of its alternatives."""
    paths = [(*place, name) for name in names for place in (_CLAIM, (*_ALTERNATIVES, _EACH))]
    of_templates = [("spec", *path) for path in paths]
    of_claims = _fields(gate, ResourceClaim, *paths, since=since)
    return (*of_claims, *_fields(gate, ResourceClaimTemplate, *of_templates, since=since))


IGNORED_FIELDS: Final = (
    *_fields(
        "PodLevelResources",
        Pod,
        ("spec", "resources"),
        ("status", "resources"),
        ("status", "allocated_resources"),
    ),
    *_fields(
        "InPlacePodLevelResourcesVerticalScaling", Pod, ("status", "resources"), ("status", "allocated_resources")
    ),
    *_fields("DynamicResourceAllocation", Pod, ("spec", "resource_claims")),
    *_fields("DRAExtendedResource", DeviceClass, ("spec", "extended_resource_name")),
    *_fields("DRADeviceTaints", ResourceSlice, (*_DEVICE, "taints")),
    *_of_requests("DRADeviceTaints", "tolerations"),
    *_fields(
        "DRAPartitionableDevices",
        ResourceSlice,
        ("spec", "shared_counters"),
        ("spec", "per_device_node_selection"),
        (*_DEVICE, "consumes_counters", _EACH, "counters"),  # no claim gets such a device
    ),
    *_fields("DRAConsumableCapacity", ResourceSlice, (*_DEVICE, "allow_multiple_allocations")),
    *_fields("DRAConsumableCapacity", ResourceClaim, (*_RESULT, "consumed_capacity")),
    *_of_requests("DRAConsumableCapacity", "capacity", since=35),
    IgnoredField("DRAConsumableCapacity", ResourceClaim, _DISTINCT, since=35),
    IgnoredField("DRAConsumableCapacity", ResourceClaimTemplate, ("spec", *_DISTINCT), since=35),
    IgnoredField("DRADeviceBindingConditions", ResourceSlice, (*_DEVICE, "binding_conditions"), with_entry=True),
    *_fields(
        "DRADeviceBindingConditions",
        ResourceSlice,
        (*_DEVICE, "binds_to_node"),
        (*_DEVICE, "binding_failure_conditions"),
    ),
    *_fields(
        "DRADeviceBindingConditions",
        ResourceClaim,
        (*_RESULT, "binding_conditions"),
        (*_RESULT, "binding_failure_conditions"),
    ),
)
"""What counts only with a gate.

Rule: kube-scheduler v1.33 to v1.37. The gates of devices are alpha before v1.36, where upstream has other code for
them; without them the fields are not read.
"""


def without_ignored_fields(release: Release) -> Callable[[ObjectT], ObjectT] | None:
    """What makes an object one that the version reads; None where it reads everything."""
    fields: dict[type[KubeObject], list[IgnoredField]] = {}
    for field in IGNORED_FIELDS:
        if field.is_off(release):
            fields.setdefault(field.kind, []).append(field)
    compares = allows_comparisons(release)
    if not fields and not compares:
        return None

    def read(one: ObjectT) -> ObjectT:
        after = one
        for field in fields.get(type(one), ()):
            after = _cleared(after, field.path, with_entry=field.with_entry)
        after = with_comparisons(after) if compares else after
        if after is not one:
            after.__dict__["raw_source"] = one.__dict__.get("raw_source") or one.raw
        return after

    return read


def with_fields_of_json(one: ObjectT) -> ObjectT:
    """An object that lacks what a version does not read, with all that its JSON has; a pod stays on its node."""
    whole: Any = decode_object(kind_of(one), one.raw)
    changes: dict[str, object] = {"metadata": one.metadata}
    if isinstance(one, Pod):
        changes["spec"] = msgspec.structs.replace(whole.spec, node_name=one.node_name)
    restored: ObjectT = msgspec.structs.replace(whole, **changes)
    restored.__dict__.update(one.__dict__)
    return one if restored == one else restored


def with_comparisons(one: ObjectT) -> ObjectT:
    """A pod whose tolerations compare numbers, where their operator says so; anything else is as it was.

    Rule: kube-scheduler v1.35 and later with the gate TaintTolerationComparisonOperators.
    """
    spec: Any = one.spec if isinstance(one, Pod) else None
    if spec is None or not any(entry.operator in _COMPARING for entry in spec.tolerations or ()):
        return one
    tolerations = tuple(
        ComparingToleration(*msgspec.structs.astuple(entry)) if entry.operator in _COMPARING else entry
        for entry in spec.tolerations
    )
    return msgspec.structs.replace(one, spec=msgspec.structs.replace(spec, tolerations=tolerations))


def allows_comparisons(release: Release) -> bool:
    """Whether a version takes the operators Lt and Gt of a toleration."""
    return release.has(COMPARISONS)


def ignored_fields(release: Release, objects: Iterable[KubeObject]) -> dict[IgnoredField, int]:
    """The fields that some objects have and the version does not read, and how many objects have each."""
    off = [field for field in IGNORED_FIELDS if field.is_off(release)]
    if not off:
        return {}
    found = Counter(
        field for one in objects for field in off if type(one) is field.kind and _cleared(one, field.path) is not one
    )
    return {field: found[field] for field in off if found[field]}


def _spelled(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _cleared(value: T, path: tuple[str, ...], *, with_entry: bool = False) -> T:
    """The value without what is at a path; the value itself where nothing is."""
    name, *rest = path
    inner: Any = getattr(value, name)
    if not inner:
        return value
    if not rest:
        return msgspec.structs.replace(value, **{name: getattr(type(value)(), name)})
    if rest[0] == _EACH:
        entries = [(entry, _cleared(entry, tuple(rest[1:]))) for entry in inner]
        changed: Any = tuple(after for before, after in entries if after is before or not with_entry)
        is_same = all(after is before for before, after in entries)
    else:
        changed = _cleared(inner, tuple(rest), with_entry=with_entry)
        is_same = changed is inner
    return value if is_same else msgspec.structs.replace(value, **{name: changed})
