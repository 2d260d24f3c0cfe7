"""Decides which new pods the ResourceQuotas of their namespaces allow.

Rule: kube-apiserver v1.36 admission plugin ResourceQuota and its evaluator of pods, with its messages. The limits
and what is used are in the status of a quota, which the quota controller sets; where the status has none, the limits
are those of the spec, and what is used is what the namespace's pods request. Quotas of other objects than pods, such as
claims and services, are not looked at.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from kubesched.admission.amounts import Amounts, amount_of, amounts_of, printed
from kubesched.admission.quota_scopes import matches_scopes
from kubesched.api import KubeObject, Pod, Quantities, ResourceQuota, Resources, limits_of, requests_of
from kubesched.documents import listed

_BOTH_NAMES: Final = ("cpu", "memory", "ephemeral-storage")
_ONE: Final = amount_of(1)
_HUGE_PAGES: Final = "hugepages-"
_REQUIRED: Final = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")


class Quotas:
    """The quotas of a cluster, and what is used of each.

    Args:
        objects: of the cluster.
        pods: those that exist, as far as the status of the quotas counts them.
    """

    def __init__(self, objects: Iterable[KubeObject], pods: Iterable[Pod]) -> None:
        self._quotas: dict[str, list[_Quota]] = defaultdict(list)
        for one in objects:
            if isinstance(one, ResourceQuota):
                self._quotas[one.namespace].append(_Quota(one))
        for quotas in self._quotas.values():
            quotas.sort(key=lambda quota: quota.name)
        if self._quotas:
            for quota, used in self._sums(pods).items():
                quota.begin(used)

    def __bool__(self) -> bool:
        return bool(self._quotas)

    def count_again(self, pods: Iterable[Pod]) -> None:
        """Set what is used to what it is with these pods, in place of those that there were at first."""
        for quota, used in self._sums(pods).items():
            quota.go_on(used)

    def admit(self, pod: Pod) -> str:
        """Count a new pod. Returns: why an API server refuses it, and then it is not counted; else empty."""
        matching = [quota for quota in self._quotas.get(pod.namespace, ()) if quota.matches(pod)]
        if not matching:
            return ""
        usage = _usage(pod)
        for fault in (*(quota.missing(pod) for quota in matching), *(quota.excess(usage) for quota in matching)):
            if fault:
                return fault
        for quota in matching:
            quota.add(usage)
        return ""

    def help(self, pod: Pod, fault: str) -> str:
        """What to do about a refusal of `admit`."""
        matching = [quota for quota in self._quotas.get(pod.namespace, ()) if quota.matches(pod)]
        if lacks := next((lacks for quota in matching if (lacks := quota.lacking(pod))), {}):
            what = "; ".join(f"{name} on container {containers}" for name, containers in lacks.items())
            return f"set {what}, or add a LimitRange with a default to namespace {pod.namespace}"
        usage = _usage(pod)
        over = next(quota for quota in matching if quota.excess(usage) == fault)
        return f"raise {listed(over.beyond(usage))} of ResourceQuota {pod.namespace}/{over.name}"

    def _sums(self, pods: Iterable[Pod]) -> dict["_Quota", dict[str, int]]:
        """What pods use of each quota."""
        sums: dict[_Quota, dict[str, int]] = {quota: {} for quotas in self._quotas.values() for quota in quotas}
        for pod in pods:
            if pod.is_finished:
                continue
            for quota in self._quotas.get(pod.namespace, ()):
                if quota.matches(pod):
                    _add(sums[quota], _usage(pod))
        return sums


class _Quota:
    """One quota. `begin` sets what is used before anything else is asked."""

    def __init__(self, quota: ResourceQuota) -> None:
        self.name = quota.name
        hard: Quantities = quota.status.hard or quota.spec.hard or {}
        self._quota = quota
        self._hard = amounts_of(hard)
        self._at_first: dict[str, int] = {}  # what the pods use that the status counts
        self._counted: dict[str, int] = {}  # what it says
        self._used: dict[str, int] = {}

    def matches(self, pod: Pod) -> bool:
        """Whether the quota is about a pod."""
        return matches_scopes(self._quota, pod)

    def begin(self, used: dict[str, int]) -> None:
        """Take what is used from the status, and from the pods where the status has nothing."""
        self._at_first = used
        self._counted = {name: used.get(name, 0) for name in self._hard} | amounts_of(self._quota.status.used)
        self._used = dict(self._counted)

    def go_on(self, used: dict[str, int]) -> None:
        """Take what is used from the first moment, and what has changed since."""
        self._used = {
            name: max(0, amount + used.get(name, 0) - self._at_first.get(name, 0))
            for name, amount in self._counted.items()
        }

    def add(self, usage: Amounts) -> None:
        """Count a pod."""
        _add(self._used, {name: amount for name, amount in usage.items() if name in self._hard})

    def missing(self, pod: Pod) -> str:
        """Why a pod cannot be counted: what its containers have to specify, and do not; empty if it can."""
        faults = "; ".join(f"{name} for: {containers}" for name, containers in self.lacking(pod).items())
        return f"failed quota: {self.name}: must specify {faults}" if faults else ""

    def lacking(self, pod: Pod) -> dict[str, str]:
        """What has to be specified and is not, with the containers that lack it.

        A pod with requests or limits in spec.resources can always be counted.
        """
        if pod.spec.resources is not None and _names_of(pod.spec.resources):
            return {}
        lacks = {
            name: ",".join(
                c.name for c in (*pod.containers, *pod.init_containers) if name not in _names_of(c.resources)
            )
            for name in sorted(_REQUIRED)
            if name in self._hard
        }
        return {name: containers for name, containers in lacks.items() if containers}

    def beyond(self, usage: Amounts) -> list[str]:
        """Of what a pod that can be counted uses more than is left."""
        asked = {name: amount for name, amount in usage.items() if name in self._hard}
        return [name for name, amount in asked.items() if self._used.get(name, 0) + amount > self._hard[name]]

    def excess(self, usage: Amounts) -> str:
        """Why a pod is refused that can be counted; empty if it is not."""
        over = self.beyond(usage)
        if not over:
            return ""
        asked = {name: amount for name, amount in usage.items() if name in self._hard}
        requested, used, limited = (printed(over, of) for of in (asked, self._used, self._hard))
        return f"exceeded quota: {self.name}, requested: {requested}, used: {used}, limited: {limited}"


def _usage(pod: Pod) -> dict[str, int]:
    """What a pod uses, by the names that quotas have for it. Read only."""
    known: dict[str, int] | None = pod.__dict__.get("quota_usage")
    if known is None:
        known = _names(requests_of(pod, amount_of), limits_of(pod, amount_of)) | {"pods": _ONE, "count/pods": _ONE}
        pod.__dict__["quota_usage"] = known  # many runs count the same pods
    return known


def _names(requests: Amounts, limits: Amounts) -> dict[str, int]:
    named = {f"requests.{name}": amount for name, amount in requests.items()}
    named |= {name: amount for name, amount in requests.items() if name in _BOTH_NAMES or name.startswith(_HUGE_PAGES)}
    return named | {f"limits.{name}": amount for name, amount in limits.items() if name in _BOTH_NAMES}


def _names_of(resources: Resources | None) -> dict[str, int]:
    return _names(amounts_of(resources.requests), amounts_of(resources.limits)) if resources else {}


def _add(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount
