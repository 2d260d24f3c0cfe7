"""Completes and bounds what new pods request, as the LimitRanges of their namespaces say.

Rule: kube-apiserver v1.36: the defaults of core/v1 LimitRange and the admission plugin LimitRanger, with its messages.
Where several LimitRanges have a default, the first one by name counts; Kubernetes leaves that open.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from kubesched.admission.amounts import Amount, Amounts, amount_of, amounts_of, joined
from kubesched.api import NANO, KubeObject, Limit, LimitRange, Pod, limits_of, requests_of

_CONTAINER: Final = "Container"
_POD: Final = "Pod"


class LimitRanges:
    """The limits of each namespace.

    Args:
        objects: of the cluster.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._limits: dict[str, list[Limit]] = defaultdict(list)
        self._completing: dict[str, list[str]] = defaultdict(list)
        found = (one for one in objects if isinstance(one, LimitRange))
        for one in sorted(found, key=lambda one: one.key):
            limits = list(map(_with_defaults, one.spec.limits or ()))
            self._limits[one.namespace] += limits
            if any(limit.default or limit.default_request for limit in limits if limit.type == _CONTAINER):
                self._completing[one.namespace].append(one.name)

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

    def adds_to(self, namespace: str) -> Sequence[str]:
        """The names of the LimitRanges that complete the containers of a namespace."""
        return self._completing.get(namespace, ())

    def refusal(self, pod: Pod) -> str:
        """Why an API server refuses a valid pod that has its defaults; empty if it does not."""
        faults = dict.fromkeys(fault for limit in self._limits.get(pod.namespace, ()) for fault in _faults(limit, pod))
        return joined(faults)


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
            limits = container.resources.limits if container.resources else None
            yield from _bounds(limit, amounts_of(container.requests), amounts_of(limits))
    elif limit.type == _POD:
        bare = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, overhead=None))
        yield from _bounds(limit, requests_of(bare, amount_of), limits_of(bare, amount_of))


def _bounds(limit: Limit, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """What is out of the bounds of a limit; the first fault of each bound."""
    for name, least in amounts_of(limit.min).items():
        said = f"minimum {name} usage per {limit.type} is {least!s}"
        if name not in requests:
            yield f"{said}.  No request is specified"
        elif requests[name] < least:
            yield f"{said}, but request is {requests[name]!s}"
        elif name in limits and limits[name] < least:
            yield f"{said}, but limit is {limits[name]!s}"
    for name, most in amounts_of(limit.max).items():
        said = f"maximum {name} usage per {limit.type} is {most!s}"
        if name not in limits:
            yield f"{said}.  No limit is specified"
        elif limits[name] > most:
            yield f"{said}, but limit is {limits[name]!s}"
        elif requests.get(name, 0) > most:
            yield f"{said}, but request is {requests[name]!s}"
    for name, ratio in amounts_of(limit.max_limit_request_ratio).items():
        yield from _ratio(limit, name, ratio, requests.get(name, 0), limits.get(name, 0))


def _ratio(limit: Limit, name: str, ratio: Amount, request: int, most: int) -> Iterator[str]:
    said = f"{name} max limit to request ratio per {limit.type} is {ratio!s}"
    if not request:
        yield f"{said}, but no request is specified or request is 0"
    elif not most:
        yield f"{said}, but no limit is specified or limit is 0"
    elif most * NANO > ratio * request:
        yield f"{said}, but provided ratio is {most / request:f}"
