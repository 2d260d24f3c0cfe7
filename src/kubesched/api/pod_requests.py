"""The requests of a pod, in the variants that different rules use.

Rule: kube-scheduler, component-helpers resource.PodRequests. Amounts are added exactly and rounded up once per pod; see
`PodRequests` for which reading counts container statuses, pod-level resources and the scoring defaults.

Of a pod that is resized in place, each container holds the largest of what it wants, was given and uses. Since v1.37
the three are added up for the whole pod, init containers included, and the largest sum counts. What the status says of
the whole pod then counts without spec.resources, too: what the containers want takes their place. Where the status says
what the whole pod uses and was given, those of its containers do not count.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol

import msgspec

from kubesched.api.pod_fields import Container, ContainerStatus, PodSpec, PodStatus, Quantities, Resources
from kubesched.api.quantity import NANO, parse_quantity, whole_units
from kubesched.release import DEFAULT_RELEASE, Release

BASIC_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")

Amounts = dict[str, int]  # billionths by resource name
Read = Callable[[str | int | float], int]
_DEFAULTS: Final[Amounts] = {"cpu": 100 * NANO // 1000, "memory": 200 * 1024 * 1024 * NANO}  # 100 milli-CPU, 200 MiB
_NO_DEFAULTS: Final[Amounts] = {}


class _Requesting(Protocol):
    """A pod, with the fields that say what it requests."""

    @property
    def spec(self) -> PodSpec: ...
    @property
    def status(self) -> PodStatus: ...
    @property
    def containers(self) -> tuple[Container, ...]: ...
    @property
    def init_containers(self) -> tuple[Container, ...]: ...


Held = Callable[[_Requesting, Amounts], Amounts]
"""What a pod holds on its node, with these amounts for what a container does not request."""


class PodRequests:
    """A pod's requests in whole units (milli-CPU, bytes, counts), each reading a dict by resource name.

    Attributes:
        wanted: what NodeResourcesFit's filter asks a node for: spec only, pod-level resources honoured.
        scored: what NodeResourcesFit's score adds: spec only, no pod-level resources, defaults filled in per container.
        held: what the pod takes once it is on a node, and what NodeResourcesBalancedAllocation adds: statuses count.
        held_non_zero: the same with defaults, cpu and memory only.
        further: names of what it holds beyond cpu, memory and ephemeral-storage.
    """

    __slots__ = ("further", "held", "held_non_zero", "scored", "wanted")

    def __init__(self, pod: _Requesting, release: Release = DEFAULT_RELEASE) -> None:
        status = pod.status
        is_plain = not (pod.spec.resources or status.container_statuses or status.init_container_statuses)
        held = _held
        if not release.before(37):
            held = _held_by_sums
            is_plain = is_plain and not _is_infeasible(status) and not _resized_as_a_whole(status)
        wanted = _pod_requests(pod)
        self.wanted = _units(wanted)
        self.scored = _units(_pod_requests(pod, pod_level=False, defaults=_DEFAULTS))
        self.held = self.wanted if is_plain else _units(held(pod, _NO_DEFAULTS))
        self.held_non_zero = self.scored if is_plain else _units(_non_zero_requests(pod, held))
        self.further = tuple(name for name, amount in self.held.items() if amount and name not in BASIC_RESOURCES)


def has_same_requests(old: PodStatus, new: PodStatus) -> bool:
    """Whether a pod whose spec is unchanged requests and holds what it did: a resize shows in its status."""
    return old == new or (
        old.container_statuses == new.container_statuses
        and old.init_container_statuses == new.init_container_statuses
        and old.resources == new.resources
        and old.allocated_resources == new.allocated_resources
        and _is_infeasible(old) == _is_infeasible(new)
    )


def requests_key(pod: _Requesting) -> tuple[object, ...]:
    """Everything that PodRequests reads of a pod, hashable: pods with equal keys have equal requests."""
    spec, status = pod.spec, pod.status
    key: tuple[object, ...] = tuple([_items(c.requests) for c in spec.containers or ()])
    if spec.init_containers:
        key += ("init", *[(c.restart_policy == "Always", _items(c.requests)) for c in spec.init_containers])
    if spec.overhead:
        key += ("overhead", _items(spec.overhead))
    if spec.resources:
        key += ("pod", _resource_items(spec.resources))
    if status.container_statuses or status.init_container_statuses:
        key += _statuses_key(pod)
    if status.resources is not None and spec.resources:
        key += ("status", _resource_items(status.resources), _items(status.allocated_resources or {}))
    return key


def newer_requests_key(pod: _Requesting) -> tuple[object, ...]:
    """The same for the requests of a pod since v1.37."""
    of_statuses = [
        tuple([(one.name, *_given_and_used(one)) for one in some])
        for some in (pod.status.container_statuses or (), pod.status.init_container_statuses or ())
    ]
    of_pod = map(_items, _resized_as_a_whole(pod.status))
    return (requests_key(pod), _is_infeasible(pod.status), *of_pod, "containers", *of_statuses)


def _given_and_used(status: ContainerStatus) -> tuple[tuple[object, ...], tuple[object, ...]]:
    used = status.resources.requests if status.resources is not None else None
    return _items(status.allocated_resources or {}), _items(used or {})


def requests_of(pod: _Requesting, read: Read = parse_quantity) -> Amounts:
    """What the spec of a pod requests, in billionths by resource name.

    Args:
        read: makes a quantity an amount, whose type the sums have.
    """
    return _pod_requests(pod, read=read)


def limits_of(pod: _Requesting, read: Read = parse_quantity) -> Amounts:
    """What the spec of a pod is limited to, in billionths by resource name.

    Args:
        read: as for `requests_of`.

    Rule: kube-scheduler v1.36 component-helpers resource.PodLimits: as requests, and overhead is added only to
        resources that have a limit.
    """
    return _pod_requests(pod, field="limits", read=read)


def _items(quantities: Quantities) -> tuple[object, ...]:
    return tuple(quantities.items())


def _resource_items(resources: Resources) -> tuple[object, ...]:
    return _items(resources.requests or {})


def _statuses_key(pod: _Requesting) -> tuple[object, ...]:
    key: list[object] = ["statuses", _is_infeasible(pod.status)]
    for containers, statuses in (
        (pod.containers, pod.status.container_statuses),
        (pod.init_containers, pod.status.init_container_statuses),
    ):
        held = {s.name: s for s in statuses or () if s.resources is not None}
        for i, container in enumerate(containers):
            status = held.get(container.name)
            if status is not None and status.resources is not None:
                key += (i, _resource_items(status.resources), _items(status.allocated_resources or {}))
        key.append("/")
    return tuple(key)


def _units(amounts: Amounts) -> dict[str, int]:
    return {name: whole_units(name, nano) for name, nano in amounts.items()}


def _amounts(quantities: Quantities | None, read: Read = parse_quantity) -> Amounts:
    return {name: read(text) for name, text in quantities.items()} if quantities else {}


def _add(total: Amounts, more: Mapping[str, int]) -> None:
    """Add to a total in place: a pod may have a thousand containers that request a thousand things."""
    for name, nano in more.items():
        total[name] = total[name] + nano if name in total else nano


def _raise_to(peak: Amounts, wanted: Amounts, sidecars: Amounts) -> None:
    """Raise a peak to what an init container needs beside the sidecars that were started before it.

    What only these sidecars request is left out: the sum of all containers is not less.
    """
    for name, nano in wanted.items():
        needed = nano + sidecars.get(name, 0)
        if name not in peak or peak[name] < needed:
            peak[name] = needed


def _larger(a: Amounts, b: Amounts) -> Amounts:
    """Per resource the larger one; a name that only one has is kept."""
    return {name: max(x[name] for x in (a, b) if name in x) for name in {**a, **b}}


def _pod_requests(
    pod: _Requesting,
    *,
    status: bool = False,
    pod_level: bool = True,
    defaults: Amounts = _NO_DEFAULTS,
    field: str = "requests",
    read: Read = parse_quantity,
) -> Amounts:
    statuses = _statuses(pod.status.container_statuses) if status else {}
    total: Amounts = {}
    for container in pod.containers:
        _add(total, _container_requests(pod, container, statuses.get(container.name), defaults, field, read))
    sidecar_statuses = _statuses(pod.status.init_container_statuses) if status else {}
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.init_containers:
        if container.restart_policy == "Always":
            held = _container_requests(pod, container, sidecar_statuses.get(container.name), defaults, field, read)
            _add(total, held)
            _add(sidecars, held)
        else:
            _raise_to(peak, _container_requests(pod, container, None, defaults, field, read), sidecars)
    total = _larger(total, peak) if peak else total
    if pod_level:
        total = {**total, **_pod_level_requests(pod, status=status, field=field, read=read)}
    overhead = _amounts(pod.spec.overhead, read)
    if field == "limits":
        overhead = {name: nano for name, nano in overhead.items() if name in total}
    _add(total, overhead)
    return total


def _statuses(statuses: tuple[ContainerStatus, ...] | None) -> dict[str, ContainerStatus]:
    return {status.name: status for status in statuses or () if status.resources is not None}


def _container_requests(
    pod: _Requesting, container: Container, held: ContainerStatus | None, defaults: Amounts, field: str, read: Read
) -> Amounts:
    amounts = _amounts(getattr(container.resources, field, None), read)
    if held is not None and held.resources is not None:
        amounts = _resized(pod, amounts, held.resources, held.allocated_resources)
    return {**defaults, **amounts}


def _resized(pod: _Requesting, wanted: Amounts, actual: Resources, allocated: Quantities | None) -> Amounts:
    """In-place resize: the largest of what is wanted, was given and is used; an infeasible wish does not count."""
    has = _larger(_amounts(actual.requests), _amounts(allocated))
    return has if _is_infeasible(pod.status) else _larger(wanted, has)


def _is_infeasible(status: PodStatus) -> bool:
    for condition in status.conditions or ():
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _resized_as_a_whole(status: PodStatus) -> tuple[Quantities, ...]:
    """What the status says that the whole pod uses and was given; nothing unless it says both."""
    used = status.resources.requests if status.resources is not None else None
    given = status.allocated_resources
    return () if used is None or given is None else (used, given)


def _pod_level_requests(
    pod: _Requesting,
    *,
    status: bool,
    field: str = "requests",
    read: Read = parse_quantity,
    of_containers: Amounts | None = None,
) -> Amounts:
    """The requests or limits of spec.resources, which replace the containers' sum: cpu, memory and huge pages only.

    Args:
        status: whether the status of a resize counts.
        of_containers: what the containers want, as since v1.37, where it counts without spec.resources, and where the
            status has resources that spec.resources does not have.
    """
    if pod.spec.resources is not None:
        wanted = _of_pod_level(_amounts(getattr(pod.spec.resources, field), read))
    elif of_containers is not None and _resized_as_a_whole(pod.status):
        wanted = _of_pod_level(of_containers)
    else:
        return {}
    if status and pod.status.resources is not None:
        actual = _resized(pod, wanted, pod.status.resources, pod.status.allocated_resources)
        names = wanted if of_containers is None else {**wanted, **_of_pod_level(actual)}
        wanted = {name: actual.get(name, 0) for name in names}
    return wanted


def _of_pod_level(amounts: Amounts) -> Amounts:
    return {name: nano for name, nano in amounts.items() if name in ("cpu", "memory") or name.startswith("hugepages-")}


def _non_zero_requests(pod: _Requesting, held: Held) -> Amounts:
    """Defaults where a container has no request; with pod-level requests only where the whole pod has none."""
    defaults = _DEFAULTS
    if _pod_level_requests(pod, status=False):
        requests = held(pod, _NO_DEFAULTS)
        defaults = {name: q for name, q in defaults.items() if name not in requests}
    return held(pod, defaults)


def _held(pod: _Requesting, defaults: Amounts) -> Amounts:
    """What a pod holds on its node before v1.37."""
    return _pod_requests(pod, status=True, defaults=defaults)


def _held_by_sums(pod: _Requesting, defaults: Amounts) -> Amounts:
    """What a pod holds on its node since v1.37; without a status, a container was given what it wants."""
    is_infeasible = _is_infeasible(pod.status)
    of = {one.name: one for one in pod.status.container_statuses or ()}
    of_init = {one.name: one for one in pod.status.init_container_statuses or ()}

    def wanted(container: Container, found: ContainerStatus | None) -> Quantities:
        return {} if is_infeasible else container.requests

    def given(container: Container, found: ContainerStatus | None) -> Quantities:
        return (found.allocated_resources if found is not None else None) or wanted(container, found)

    def used(container: Container, found: ContainerStatus | None) -> Quantities:
        actual = found.resources.requests if found is not None and found.resources is not None else None
        return actual or given(container, found)

    bare = msgspec.structs.replace(pod.spec, overhead=None)
    of_spec = _Read(bare, pod.status, pod.containers, pod.init_containers)
    of_containers = _pod_requests(of_spec, pod_level=False, defaults=defaults)
    if _resized_as_a_whole(pod.status):
        readings, total = [], {} if is_infeasible else of_containers
    else:
        readings, total = [given, used] if is_infeasible else [wanted, given, used], {}
    for reading in readings:
        read = _Read(
            bare,
            pod.status,
            tuple([_requesting(one, reading(one, of.get(one.name))) for one in pod.containers]),
            tuple([_requesting(one, reading(one, of_init.get(one.name))) for one in pod.init_containers]),
        )
        total = _larger(total, _pod_requests(read, pod_level=False, defaults=defaults))
    total = {**total, **_pod_level_requests(pod, status=True, of_containers=of_containers)}
    _add(total, _amounts(pod.spec.overhead))
    return total


class _Read(NamedTuple):
    """A pod in one reading of what its containers request."""

    spec: PodSpec
    status: PodStatus
    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...]


def _requesting(container: Container, requests: Quantities) -> Container:
    return msgspec.structs.replace(container, resources=Resources(requests=requests))
