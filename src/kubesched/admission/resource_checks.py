"""Checks what new pods request: names, whole numbers, huge pages, and limits that have to equal requests.

Rule: kube-apiserver v1.36 validation of core/v1 resource requirements, with its messages; what is expected and the
nearest name are added to them. Quantities are checked already.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from kubesched.admission.amounts import amount_of, amounts_of, quantity_text
from kubesched.api import (
    BASIC_RESOURCES,
    NANO,
    Node,
    Pod,
    PodSpec,
    Resources,
    is_extended_resource,
    is_qualified_name,
    parse_quantity,
    qualified_name_faults,
    requests_of,
)
from kubesched.config import FieldError, did_you_mean
from kubesched.errors import QuantityError

Where = Callable[[str], str]
"""The path of a resource, from its name."""
Amounts = Mapping[str, str | int | float]

_HUGE_PAGES: Final = "hugepages-"
_BYTES: Final = ("memory", "ephemeral-storage")
_EXPECTED: Final = f"{', '.join(BASIC_RESOURCES)}, {_HUGE_PAGES}SIZE, or a name with a domain such as example.com/gpu"
_POD_LEVEL: Final = ("cpu", "memory")


def known_resources(nodes: Iterable[Node]) -> frozenset[str]:
    """The resources that may be meant by a name that is wrong: the basic ones and those that nodes have."""
    return frozenset(BASIC_RESOURCES).union(*(node.status.allocatable or () for node in nodes)) - {"pods"}


def resource_faults(
    path: str, resources: Resources | None, known: Collection[str] = BASIC_RESOURCES, *, of_pod: bool = False
) -> Iterator[FieldError]:
    """What an API server refuses in the requests and limits of a container, or of a whole pod.

    Args:
        known: the names that may be meant by another one.
    """
    requests, limits = (resources.requests or {}, resources.limits or {}) if resources else ({}, {})
    for field, quantities in (("limits", limits), ("requests", requests)):
        yield from quantity_faults(f"{path}.{field}[{{}}]".format, quantities, known, of_pod=of_pod)
    for name, request in requests.items():
        limit = limits.get(name)
        must_equal = is_extended_resource(name) or name.startswith(_HUGE_PAGES)
        over = 0 if limit is None else parse_quantity(request) - parse_quantity(limit)
        if limit is None and must_equal:
            yield FieldError.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        elif over > 0 or (over and must_equal):
            bound = "must be equal to" if must_equal else "must be less than or equal to"
            detail = f"{bound} {name} limit of {quantity_text(limit or 0)}"
            yield FieldError.invalid(f"{path}.requests", quantity_text(request), detail)


def pod_level_faults(spec: PodSpec) -> Iterator[FieldError]:
    """What an API server refuses in the requests and limits of a whole pod beside those of its containers."""
    if spec.resources is None:
        return
    bare = Pod(spec=PodSpec(containers=spec.containers, init_containers=spec.init_containers))
    asked = requests_of(bare, amount_of)
    for name, request in amounts_of(spec.resources.requests).items():
        if asked.get(name, 0) > request:
            detail = f"must be greater than or equal to aggregate container requests of {asked[name]!s}"
            yield FieldError.invalid(f"spec.resources.requests[{name}]", str(request), detail)
    for name, most in amounts_of(spec.resources.limits).items():
        for i, container in enumerate(spec.containers or ()):
            limit = amounts_of(container.resources.limits if container.resources else None).get(name, amount_of(0))
            if limit > most:
                path = f"spec.resources.containers[{i}][{name}].limits"
                yield FieldError.invalid(path, str(limit), f"must be less than or equal to pod limits of {most!s}")


def quantity_faults(
    where: Where, quantities: Amounts, known: Collection[str] = BASIC_RESOURCES, *, of_pod: bool = False
) -> Iterator[FieldError]:
    """What an API server refuses in the names and amounts of requests, of limits or of an overhead."""
    for name, quantity in quantities.items():
        path = where(name)
        yield from _name_faults(path, name, known, of_pod=of_pod)
        amount = parse_quantity(quantity)
        if is_extended_resource(name) and amount % NANO:
            yield FieldError.invalid(path, str(quantity), "must be an integer")
        if name.startswith(_HUGE_PAGES):
            size = _page_size(name)
            if not size or amount % size:
                yield FieldError.invalid(path, str(quantity), f"is not positive integer multiple of {name}")


def huge_page_faults(path: str, resources: Resources | None) -> Iterator[FieldError]:
    """Huge pages of a container, or of a whole pod, need cpu or memory of the same one."""
    names = {*(resources.requests or ()), *(resources.limits or ())} if resources else set()
    if any(name.startswith(_HUGE_PAGES) for name in names) and names.isdisjoint(_POD_LEVEL):
        yield FieldError.forbidden(path, "HugePages require cpu or memory")


def byte_notes(where: Where, quantities: Amounts) -> Iterator[str]:
    """Amounts of bytes that are no whole number, which an API server accepts with a warning: `400m` of memory."""
    for name, quantity in quantities.items():
        if name in _BYTES and parse_quantity(quantity) % NANO:
            number = str(quantity).rstrip("m")
            meant = f'; did you mean "{number}M" or "{number}Mi"?' if number != str(quantity) else ""
            yield f'{where(name)}: fractional byte value "{quantity}" is invalid, must be an integer{meant}'


def _name_faults(path: str, name: str, known: Collection[str], *, of_pod: bool) -> Iterator[FieldError]:
    if of_pod:
        if name not in _POD_LEVEL and not name.startswith(_HUGE_PAGES):
            yield FieldError.unsupported(path, name, ("cpu", _HUGE_PAGES, "memory"))
    elif not is_qualified_name(name):
        yield FieldError.invalid(path, name, qualified_name_faults(name)[0])
    elif "/" not in name:
        if name not in BASIC_RESOURCES and not name.startswith(_HUGE_PAGES):
            detail = f"must be a standard resource for containers; expected {_EXPECTED}"
            yield FieldError.invalid(path, name, detail, help=_nearest(name, known))
    elif "kubernetes.io/" not in name and not is_extended_resource(name):
        yield FieldError.invalid(path, name, "doesn't follow extended resource name standard")


def _nearest(name: str, known: Collection[str]) -> str:
    """The known name of which this is a part, such as `gpu`; else the most similar one."""
    whole = next((one for one in sorted(known) if name.lower() in re.split("[-./]", one)), "")
    return f'did you mean "{whole}"?' if whole else did_you_mean(name, sorted(known))


def _page_size(name: str) -> int:
    """The size in a name such as `hugepages-2Mi`, in billionths of a byte; 0 if it is not a quantity."""
    try:
        return parse_quantity(name.removeprefix(_HUGE_PAGES))
    except QuantityError:
        return 0
