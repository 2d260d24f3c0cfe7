"""Remedies for requests that admission gave a pod: by a LimitRange, or by a webhook, which may inject the container."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from kubesched.api import Container, KubeObject, LimitRange, Pod, PodOwners, parse_quantity, rewritten
from kubesched.documents import joined
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, containers_edit, is_equal
from kubesched.explanation.remedies.short_amounts import at_most

_ISTIO: Final = "istio-proxy"
_OF_ISTIO: Final = {"cpu": "sidecar.istio.io/proxyCPU", "memory": "sidecar.istio.io/proxyMemory"}
"""Rule: Istio: annotations of a pod template that set what the sidecar requests."""


class Given(msgspec.Struct, frozen=True):
    """A request that admission gave a container of the pod.

    Attributes:
        before: what most running pods of the workload request for it; empty where that is not less.
        limit_range: the LimitRange that gives it; None where something else does.
    """

    container: str
    resource: str
    amount: str
    before: str
    limit_range: LimitRange | None = None


def given_requests(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """The requests of running pods of the workload, where admission gave this one more; changed where they come from.

    Args:
        where: nodes that are short of something.
    """
    names = case.missing[0][1:]
    short = {name for i, name in enumerate(names) if (case.missing[1][1 + i][where] > 0).any()}
    larger = [one for one in _given(case) if one.resource in short and one.before]
    if not larger:
        return
    edits = tuple(_with_default(one) for one in larger if one.limit_range is not None)
    change = containers_edit(partial(_as_before, given=larger)) + Change(edits=edits)
    text = joined(dict.fromkeys(_words(case, one) for one in larger))
    yield Remedy(text, "admission", True, change, effort=Effort.CORRECT)


def _given(case: Case) -> Iterator[Given]:
    """The requests that admission gave the pod, or not only the template: equal pods have others."""
    ranges = [one for one in case.objects("LimitRange") if isinstance(one, LimitRange)]
    mine = sorted((one for one in ranges if one.namespace == case.pod.namespace), key=lambda one: one.name)
    owners = PodOwners(case.objects("ReplicaSet"))
    owner = owners.owner_of(case.pod)
    others = [info.pod for info, _ in case.placed.in_namespace(case.pod.namespace)]
    of_workload = [pod for pod in others if owner and owners.owner_of(pod) == owner]
    replicas = [pod for pod in others if is_equal(pod, case.pod)]
    for container in (*case.pod.containers, *case.pod.init_containers):
        for name, text in container.requests.items():
            is_given = case.added.gives(container.name, name)
            before = _before(of_workload if is_given else replicas, container.name, name, str(text))
            if is_given or (before and case.added.template is None):
                source = next((one for one in mine if is_given and _gives(one, name, text)), None)
                in_template = container.name not in case.added.containers
                yield Given(container.name, name, str(text), before, source if in_template else None)


def _before(replicas: Sequence[Pod], container: str, resource: str, amount: str) -> str:
    """What most replicas request for a container; empty where that is not less."""
    every = (one for pod in replicas for one in (*pod.containers, *pod.init_containers) if one.name == container)
    counted = Counter(str(one.requests[resource]) for one in every if resource in one.requests)
    usual = next((text for text, _ in counted.most_common(1)), "")
    return usual if usual and parse_quantity(usual) < parse_quantity(amount) else ""


def _gives(limit_range: LimitRange, resource: str, amount: str | int | float) -> bool:
    """Whether the default of a LimitRange is a request.

    Rule: kube-apiserver v1.36: a default limit, then a minimum, is the default request where there is none.
    """
    for one in limit_range.spec.limits or ():
        defaults = {**(one.min or {}), **(one.max or {}), **(one.default or {}), **(one.default_request or {})}
        if one.type == "Container" and resource in defaults:
            return parse_quantity(defaults[resource]) == parse_quantity(amount)
    return False


def _words(case: Case, one: Given) -> str:
    have = "which running pods of this workload have"
    if one.limit_range is not None:
        key = one.limit_range.key
        return f"correct defaultRequest of LimitRange {key} from {one.amount} to {one.before} {one.resource}, {have}"
    to = f"{one.container} to {one.before} {one.resource}"
    if one.container in case.added.containers:
        total = case.info.requests.value.wanted.get(one.resource, 0)
        share = f"{one.amount} of {_amount(one.resource, total)} {one.resource}"
        where = "is not in the template" if case.added.template is not None else "may not be in the template"
        how = (
            f" (annotation {_OF_ISTIO[one.resource]})" if one.container == _ISTIO and one.resource in _OF_ISTIO else ""
        )
        return f"correct what injects {to}{how}, {have}: {one.container} ({share}) {where}, it is injected at admission"
    return f"correct what changes {to} at admission, {have}: here it asks for {one.amount}"


def _amount(resource: str, amount: int) -> str:
    return at_most(resource, amount)[0]


def _as_before(container: Container, given: Sequence[Given]) -> Container:
    """A container with the requests that it had."""
    mine = {one.resource: one.before for one in given if one.container == container.name}
    if not mine or container.resources is None:
        return container
    requests = {**(container.resources.requests or {}), **mine}
    return msgspec.structs.replace(container, resources=msgspec.structs.replace(container.resources, requests=requests))


def _with_default(one: Given) -> Edit:
    """The LimitRange with another default request."""
    assert one.limit_range is not None

    def changed(limit_range: LimitRange) -> KubeObject:
        return rewritten(limit_range, set_default)

    def set_default(document: dict[str, Any]) -> None:
        for limit in document["spec"]["limits"]:
            if limit.get("type") == "Container":
                limit["defaultRequest"] = {**(limit.get("defaultRequest") or {}), one.resource: one.before}
                return

    return Edit("LimitRange", one.limit_range.key, changed)
