"""Completes and bounds what new pods request, as the LimitRanges of their namespaces say.

Rule: kube-apiserver v1.36: the defaults of core/v1 LimitRange and the admission plugin LimitRanger, with its messages.
Where several LimitRanges have a default, the first one by name counts; Kubernetes leaves that open.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from kubesched.admission.amounts import amount_text, amounts_of, is_binary, quantity_text
from kubesched.api import (
    NANO,
    Container,
    KubeObject,
    Limit,
    LimitRange,
    Pod,
    PodSpec,
    Quantities,
    is_extended_resource,
    limits_of,
    parse_quantity,
    requests_of,
)

__all__ = ["LimitRanges"]

Amounts = dict[str, int]

_CONTAINER: Final = "Container"
_POD: Final = "Pod"
_HUGE_PAGES: Final = "hugepages-"


class LimitRanges:
    """The limits of each namespace.

    Args:
        objects: of the cluster.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._limits: dict[str, list[Limit]] = defaultdict(list)
        self._defaults: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)  # limit and LimitRange of a resource
        found = (one for one in objects if isinstance(one, LimitRange))
        for one in sorted(found, key=lambda one: one.key):
            limits = list(map(_with_defaults, one.spec.limits or ()))
            self._limits[one.namespace] += limits
            for limit in limits:
                for name, default in (limit.default or {}).items() if limit.type == _CONTAINER else ():
                    self._defaults[one.namespace].setdefault(name, (str(default), one.name))

    def complete(self, namespace: str, spec: dict[str, Any]) -> None:
        """Give the containers of a new pod their default limits and requests, in place."""
        for limit in self._limits.get(namespace, ()):
            if limit.type != _CONTAINER:
                continue
            for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
                resources = container["resources"] = container.get("resources") or {}
                for field, defaults in (("limits", limit.default), ("requests", limit.default_request)):
                    if defaults:
                        resources[field] = {**defaults, **(resources.get(field) or {})}

    def refusal(self, pod: Pod) -> str:
        """Why an API server refuses a pod that has its defaults; empty if it does not."""
        limits = self._limits.get(pod.namespace)
        if not limits:
            return ""
        for i, field, container in _containers(pod.spec):
            for name in self._exceeded(pod.namespace, container):
                path = f"spec.{field}[{i}].resources.requests: Invalid value"
                limit, of = self._defaults[pod.namespace][name]
                must = "be equal to" if _must_equal(name) else "be less than or equal to"
                said = f'{path}: "{container.requests[name]}": must {must} {name} limit of {limit}'
                return f"{said}, the default of LimitRange {of}"
        faults = [fault for limit in limits for fault in _faults(limit, pod)]
        return f"[{', '.join(faults)}]" if len(faults) > 1 else "".join(faults)

    def without_exceeded(self, pod: Pod) -> PodSpec:
        """The spec of a pod that has its defaults, without the default limits that its own requests exceed.

        A manifest with such a request is valid; an API server refuses only its pods.
        """
        spec = pod.spec
        if pod.namespace not in self._defaults or not any(
            self._exceeded(pod.namespace, container) for _, _, container in _containers(spec)
        ):
            return spec
        containers, init_containers = (
            tuple(self._unlimited(pod.namespace, one) for one in of) for of in (pod.containers, pod.init_containers)
        )
        return msgspec.structs.replace(spec, containers=containers, init_containers=init_containers)

    def _unlimited(self, namespace: str, container: Container) -> Container:
        exceeded, resources = self._exceeded(namespace, container), container.resources
        if not exceeded or resources is None:
            return container
        limits = {name: limit for name, limit in (resources.limits or {}).items() if name not in exceeded}
        return msgspec.structs.replace(container, resources=msgspec.structs.replace(resources, limits=limits))

    def _exceeded(self, namespace: str, container: Container) -> list[str]:
        """The resources of which a container requests more than a limit that it has by default."""
        limits = (container.resources.limits if container.resources else None) or {}
        defaults = self._defaults.get(namespace, {})
        own = {name for name, limit in limits.items() if name in defaults and str(limit) == defaults[name][0]}
        over = {name: _over(name, container.requests, limits) for name in own if name in container.requests}
        return sorted(name for name, is_over in over.items() if is_over)


def _containers(spec: PodSpec) -> Iterator[tuple[int, str, Container]]:
    """The containers with their numbers and the field that has them."""
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for i, container in enumerate(containers or ()):
            yield i, field, container


def _over(name: str, requests: Quantities, limits: Quantities) -> bool:
    more = parse_quantity(requests[name]) - parse_quantity(limits[name])
    return more > 0 or bool(more and _must_equal(name))


def _must_equal(name: str) -> bool:
    return is_extended_resource(name) or name.startswith(_HUGE_PAGES)


def _with_defaults(limit: Limit) -> Limit:
    """The limit as an API server stores it: a maximum is a default limit, a default limit or minimum a request."""
    if limit.type != _CONTAINER:
        return limit
    default = {**(limit.max or {}), **(limit.default or {})}
    requests = {**(limit.min or {}), **default, **(limit.default_request or {})}
    return msgspec.structs.replace(limit, default=default, default_request=requests)


def _faults(limit: Limit, pod: Pod) -> Iterator[str]:
    if limit.type == _CONTAINER:
        for container in (*pod.containers, *pod.init_containers):
            yield from _bounds(limit, *_written(container))
    elif limit.type == _POD:
        bare = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, overhead=None))
        yield from _bounds(limit, requests_of(bare), limits_of(bare), _binary_of(pod))


def _written(container: Container) -> tuple[Amounts, Amounts, frozenset[str]]:
    """What a container requests and is limited to, and the resources that are written in powers of 1024."""
    limits = (container.resources.limits if container.resources else None) or {}
    return amounts_of(container.requests), amounts_of(limits), _binary(container.requests, limits)


def _binary_of(pod: Pod) -> frozenset[str]:
    return frozenset().union(*(_written(one)[2] for one in (*pod.containers, *pod.init_containers)))


def _binary(*quantities: Quantities) -> frozenset[str]:
    return frozenset(name for one in quantities for name, text in one.items() if is_binary(text))


def _bounds(limit: Limit, requests: Amounts, limits: Amounts, binary: frozenset[str]) -> Iterator[str]:
    """What is out of the bounds of a limit; the first fault of each bound."""

    def shown(name: str, nano: int) -> str:
        return amount_text(nano, binary=name in binary)

    for name, least in amounts_of(limit.min).items():
        said = f"minimum {name} usage per {limit.type} is {quantity_text((limit.min or {})[name])}"
        if name not in requests:
            yield f"{said}.  No request is specified"
        elif requests[name] < least:
            yield f"{said}, but request is {shown(name, requests[name])}"
        elif name in limits and limits[name] < least:
            yield f"{said}, but limit is {shown(name, limits[name])}"
    for name, most in amounts_of(limit.max).items():
        said = f"maximum {name} usage per {limit.type} is {quantity_text((limit.max or {})[name])}"
        if name not in limits:
            yield f"{said}.  No limit is specified"
        elif limits[name] > most:
            yield f"{said}, but limit is {shown(name, limits[name])}"
        elif requests.get(name, 0) > most:
            yield f"{said}, but request is {shown(name, requests[name])}"
    for name, ratio in amounts_of(limit.max_limit_request_ratio).items():
        yield from _ratio(limit, name, ratio, requests.get(name, 0), limits.get(name, 0))


def _ratio(limit: Limit, name: str, ratio: int, request: int, most: int) -> Iterator[str]:
    said = f"{name} max limit to request ratio per {limit.type} is {amount_text(ratio)}"
    if not request:
        yield f"{said}, but no request is specified or request is 0"
    elif not most:
        yield f"{said}, but no limit is specified or limit is 0"
    elif most * NANO > ratio * request:
        yield f"{said}, but provided ratio is {most / request:f}"
