"""What a resource claim asks for, as a value: claims of equal specs, and of classes with equal selectors, are equal.

Names of claims are beside it, in `NamedAsk`, because only messages have them.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.api import (
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    Toleration,
)
from kubesched.errors import CelCompileError
from kubesched.state import ObjectStore

if TYPE_CHECKING:
    from kubesched.cel import Reads

ALL: Final = "All"
EXACT_COUNT: Final = "ExactCount"


class DeviceAsk(msgspec.Struct, frozen=True, cache_hash=True):
    """Devices of one kind.

    Attributes:
        name: the request, or `request/subrequest`.
        short_name: the last part of it.
        class_selectors, selectors: CEL expressions; all must hold.
        mode: ALL, EXACT_COUNT, or one that is not known.
        count: how many; 0 for mode ALL.
        is_admin: whether devices that others have will do.
        capacity: (name, quantity) that a device must have, in the order of the names.
    """

    name: str
    class_name: str
    class_selectors: tuple[str, ...] = ()
    selectors: tuple[str, ...] = ()
    mode: str = EXACT_COUNT
    count: int = 1
    is_admin: bool = False
    tolerations: tuple[Toleration, ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()

    @property
    def short_name(self) -> str:
        """The name of the request or of the subrequest."""
        return self.name.rpartition("/")[2]


class ConstraintAsk(msgspec.Struct, frozen=True, cache_hash=True):
    """What the devices of some requests must have in common, or apart.

    Attributes:
        attribute: its qualified name; empty for a constraint of a type that is not known.
        is_distinct: whether the values must differ.
        requests: the names; none for all.
    """

    attribute: str
    is_distinct: bool = False
    requests: tuple[str, ...] = ()

    def concerns(self, name: str) -> bool:
        """Whether it is about a request, or a subrequest."""
        return not self.requests or name in self.requests or name.partition("/")[0] in self.requests


class ClaimAsk(msgspec.Struct, frozen=True, dict=True, cache_hash=True):
    """What one claim asks for: per request the alternatives, in order of preference."""

    requests: tuple[tuple[DeviceAsk, ...], ...] = ()
    constraints: tuple[ConstraintAsk, ...] = ()

    @cached_property
    def reads(self) -> "Reads":
        """The attributes and capacities that decide which devices it gets."""
        reads = nothing = kubesched.cel.Reads()
        for text in {text for ask in self.asks for text in (*ask.class_selectors, *ask.selectors)}:
            try:
                reads |= kubesched.cel.compile_in_any_version(text).reads
            except CelCompileError:
                continue
        names = frozenset(one.attribute for one in self.constraints)
        amounts = frozenset(name for ask in self.asks for name, _ in ask.capacity)
        return reads | msgspec.structs.replace(nothing, attributes=names, capacity=amounts)

    @property
    def asks(self) -> Iterator[DeviceAsk]:
        """All alternatives of all requests."""
        return (ask for alternatives in self.requests for ask in alternatives)


class NamedAsk(msgspec.Struct, frozen=True):
    """What a claim asks for, with its `namespace/name`."""

    ask: ClaimAsk
    claim: str


def claim_ask(devices: DeviceClaim, objects: ObjectStore) -> ClaimAsk:
    """What a claim asks for. A class that does not exist has no selectors; see `missing_class`."""
    requests = tuple(
        tuple(_device_ask(name, one, objects) for name, one in alternatives_of(request))
        for request in devices.requests or ()
    )
    return _shared(ClaimAsk(requests, tuple(map(_constraint_ask, devices.constraints or ()))))


@lru_cache(maxsize=1024)
def _shared(ask: ClaimAsk) -> ClaimAsk:
    """The same object for equal asks, with what it reads and its hash, which take as long as a search."""
    return ask


def missing_class(devices: DeviceClaim, objects: ObjectStore) -> str:
    """The first request whose class does not exist, in upstream's words; empty for none."""
    for request in devices.requests or ():
        for name, one in alternatives_of(request):
            if not isinstance(objects.get("DeviceClass", one.device_class_name), DeviceClass):
                return f"request {name}: device class {one.device_class_name} does not exist"
    return ""


def alternatives_of(request: DeviceRequest) -> list[tuple[str, DeviceSubRequest]]:
    """What a request asks for, in order of preference, with the names that results have."""
    if request.exactly is not None:
        return [(request.name, request.exactly)]
    return [(f"{request.name}/{one.name}", one) for one in request.first_available or ()]


def _device_ask(name: str, one: DeviceSubRequest, objects: ObjectStore) -> DeviceAsk:
    """Rule: the API server's defaults: mode ExactCount, and then a count of 1."""
    known, mode = objects.get("DeviceClass", one.device_class_name), one.allocation_mode or EXACT_COUNT
    requests = (one.capacity.requests if one.capacity else None) or {}
    return DeviceAsk(
        name,
        one.device_class_name,
        _expressions(known.spec.selectors) if isinstance(known, DeviceClass) else (),
        _expressions(one.selectors),
        mode,
        0 if mode == ALL else one.count or 1,
        one.admin_access,
        one.tolerations or (),
        tuple(sorted((name, str(amount)) for name, amount in requests.items())),
    )


def _expressions(selectors: Sequence[DeviceSelector] | None) -> tuple[str, ...]:
    return tuple(one.cel.expression if one.cel else "" for one in selectors or ())


def _constraint_ask(constraint: DeviceConstraint) -> ConstraintAsk:
    names = constraint.requests or ()
    if constraint.match_attribute is not None:
        return ConstraintAsk(constraint.match_attribute, is_distinct=False, requests=names)
    return ConstraintAsk(constraint.distinct_attribute or "", is_distinct=True, requests=names)
