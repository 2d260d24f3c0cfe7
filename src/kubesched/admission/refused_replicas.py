"""Finds the pods that workloads want and do not have, because the API server refuses to create them.

Rule: kube-controller-manager v1.36: a ReplicaSet and a ReplicationController note such a refusal in their condition
ReplicaFailure; StatefulSets and Jobs note it only in events. Where there is no condition, the quotas, LimitRanges and
priority classes of the cluster are asked for one more pod of the template, or one like those that there are.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from kubesched.admission.amounts import Amount, amount_of
from kubesched.admission.limit_ranges import LimitRanges
from kubesched.admission.refusals import Refusals
from kubesched.api import (
    Job,
    KubeObject,
    ObjectMeta,
    Pod,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    Workload,
    kind_of,
)
from kubesched.documents import joined

_FORBIDDEN: Final = " is forbidden: "
_EXCEEDED: Final = re.compile(
    r"exceeded quota: (?P<quota>[^,]+), requested: (?P<requested>.+), used: (?P<used>.+), limited: (?P<limited>.+)"
)
_LIMITS: Final = ("LimitRange", "ResourceQuota")
_POLICIES: Final = ("LimitRange", "Namespace", "PriorityClass", "ResourceQuota")
_ADVICE: Final = "change the policy, or the template of the pods"
_Owner = ReplicaSet | ReplicationController | StatefulSet | Job
_OWNERS: Final = (ReplicaSet, ReplicationController, StatefulSet, Job)


class RefusedReplicas(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Pods of a workload that do not exist, because the API server refuses them.

    Attributes:
        workload: such as `Deployment shop/web`.
        n_refused, n_wanted: how many do not exist, and how many the workload wants.
        why: why they are refused, in short: `exceeded quota team (requests.cpu 3 of 3)`.
        message: the words of the API server.
        fix: what helps.
        quota: `namespace/name` of the ResourceQuota that allows no more; empty for another reason.
        hard: what this quota has to allow for all of the pods, by resource.
    """

    workload: str
    n_refused: int
    n_wanted: int
    why: str
    message: str
    fix: str
    quota: str = ""
    hard: Mapping[str, str] = {}

    @property
    def namespace(self) -> str:
        """The namespace of the workload."""
        return self.workload.partition(" ")[2].partition("/")[0]

    @property
    def text(self) -> str:
        """`3 of 6 pods do not exist: exceeded quota team (requests.cpu 3 of 3)`."""
        do = "does" if self.n_refused == 1 else "do"
        return f"{self.n_refused} of {self.n_wanted} pods {do} not exist: {self.why}"


def refused_replicas(objects: Iterable[KubeObject]) -> tuple[RefusedReplicas, ...]:
    """The workloads of a cluster with pods that the API server refuses, by name.

    Example:
        for one in refused_replicas(load_snapshot("cluster.json")):
            print(one.workload, one.text, one.fix)
    """
    known = list(objects)
    owned: dict[tuple[str, str], list[Pod]] = {}
    for pod in known:
        if isinstance(pod, Pod) and not pod.is_finished and not pod.is_terminating:
            if (owner := pod.metadata.controller) is not None:
                owned.setdefault((owner.kind, f"{pod.namespace}/{owner.name}"), []).append(pod)
    asked: _Asked | None = None
    missing: dict[Workload, list[_Missing]] = {}
    wanted: Counter[Workload] = Counter()
    for one in known:
        if not isinstance(one, _OWNERS):
            continue
        pods = owned.get((kind_of(one), one.key), [])
        n_wanted, workload = _wanted(one), _workload(one)
        wanted[workload] += n_wanted
        if n_wanted > len(pods):
            asked = asked or _Asked(known)
            missing.setdefault(workload, []).extend(asked.refused(one, pods, n_wanted - len(pods)))
    return tuple(_answer(workload, wanted[workload], sets) for workload, sets in sorted(missing.items()) if sets)


class _Missing(NamedTuple):
    """Pods of one controller that are refused, and the words of the API server."""

    n: int
    message: str


def _wanted(owner: _Owner) -> int:
    if not isinstance(owner, Job):
        return owner.replicas
    spec, status = owner.spec, owner.status
    has_ended = any(one.type in ("Complete", "Failed") and one.status == "True" for one in status.conditions or ())
    if spec.suspend or has_ended or spec.managed_by:
        return 0
    left = spec.parallelism if spec.completions is None else spec.completions - status.succeeded
    return max(0, min(spec.parallelism, left))


def _workload(owner: _Owner) -> Workload:
    above = owner.metadata.controller
    kind, name = (above.kind, above.name) if above is not None else (kind_of(owner), owner.name)
    return Workload(kind, owner.namespace, name)


def _noted(owner: _Owner) -> str:
    """What the condition of a controller says; empty for nothing."""
    for one in (owner.document.get("status") or {}).get("conditions") or ():
        if one.get("type") == "ReplicaFailure" and one.get("status") == "True" and one.get("reason") == "FailedCreate":
            return str(one.get("message") or "")
    return ""


class _Asked:
    """What the API server of a cluster says to one more pod of a controller."""

    def __init__(self, objects: Collection[KubeObject]) -> None:
        policies = [one for one in objects if kind_of(one) in _POLICIES]
        self._limit_ranges = LimitRanges(policies)
        has_limits = any(kind_of(one) in _LIMITS for one in policies)
        pods = (one for one in objects if isinstance(one, Pod))
        self._refusals = Refusals(policies, pods) if has_limits else None

    def refused(self, owner: _Owner, pods: Sequence[Pod], n: int) -> Iterator[_Missing]:
        """The pods of a controller that are refused.

        Args:
            pods: those that it has.
            n: how many it lacks.
        """
        if noted := _noted(owner):
            yield _Missing(n, noted)
        elif self._refusals and (pod := pods[0] if pods else self._first_pod(owner)) is not None:
            spec = msgspec.structs.replace(pod.spec, overhead=None, runtime_class_name="")  # of the template
            bare = msgspec.structs.replace(pod, spec=spec)
            answers = enumerate(self._refusals.admit(bare) for _ in range(n))
            yield from islice((_Missing(n - i, message) for i, message in answers if message), 1)

    def _first_pod(self, owner: _Owner) -> Pod | None:
        """A pod of the template of a controller; None where that is not known, or is not valid."""
        spec = ((owner.document.get("spec") or {}).get("template") or {}).get("spec")
        if not spec:
            return None
        self._limit_ranges.complete(owner.namespace, spec)
        try:
            pod = msgspec.convert({"spec": spec}, Pod)
        except msgspec.ValidationError:
            return None
        return msgspec.structs.replace(pod, metadata=ObjectMeta(name=f"{owner.name}-", namespace=owner.namespace))


def _answer(workload: Workload, n_wanted: int, missing: Sequence[_Missing]) -> RefusedReplicas:
    n, message = sum(one.n for one in missing), missing[0].message
    refusal = message.rpartition(_FORBIDDEN)[2]
    exceeded = _EXCEEDED.search(refusal)
    if exceeded is None:
        return RefusedReplicas(str(workload), n, n_wanted, refusal, message, _ADVICE)
    requested, used, limited = (_amounts(exceeded[name]) for name in ("requested", "used", "limited"))
    name, key = exceeded["quota"], f"{workload.namespace}/{exceeded['quota']}"
    why = ", ".join(f"{resource} {used.get(resource, '0')!s} of {most!s}" for resource, most in limited.items())
    higher = {
        resource: str(Amount(used.get(resource, most) + n * int(requested[resource]), most.form))
        for resource, most in limited.items()
        if resource in requested
    }
    raised = joined(f"{one} from {limited[one]!s} to {amount}" for one, amount in higher.items())
    fix = f"raise quota {key}: {raised}, or lower the requests"
    return RefusedReplicas(str(workload), n, n_wanted, f"exceeded quota {name} ({why})", message, fix, key, higher)


def _amounts(text: str) -> dict[str, Amount]:
    """`requests.cpu=1,pods=2`: amounts as the API server prints them."""
    split = (pair.partition("=") for pair in text.split(","))
    return {name: amount_of(amount) for name, _, amount in split}
