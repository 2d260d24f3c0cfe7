"""Which pods a controller adds and removes when the number of its replicas changes."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import count
from typing import Final

from kubesched.api import (
    DELETION_COST,
    KubeObject,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    StatefulSet,
    Workload,
    as_int64,
)
from kubesched.controllers.claim_controller import fresh_device_claims
from kubesched.controllers.kept_replicas import ordinal_of
from kubesched.controllers.replacements import claims_of, fresh_claim, fresh_pod
from kubesched.errors import InputError

_MAX_PODS: Final = 500_000
_NAMING: Final = ("ReplicaSet", "ReplicationController", "Job")  # whose pods have generated names


def pods_to_remove(workload: Workload, pods: Sequence[Pod], n: int) -> list[Pod]:
    """The pods that go until `n` are left.

    Rule: Kubernetes v1.36 documentation, ReplicaSet, "Scaling down": pods without a node, then pending ones, then those
    that are not ready, of a lower deletion cost, on nodes with more of the pods, and newer ones. A StatefulSet removes
    the highest numbers.
    """
    n_gone = max(0, len(pods) - n)
    if workload.kind == "StatefulSet":
        return sorted(pods, key=ordinal_of, reverse=True)[:n_gone]
    by_age = sorted(pods, key=lambda pod: pod.metadata.creation_timestamp or "", reverse=True)
    per_node = Counter(pod.node_name for pod in pods)
    return sorted(by_age, key=lambda pod: _rank(pod, per_node))[:n_gone]


def _rank(pod: Pod, per_node: Counter[str]) -> tuple[bool, bool, bool, int, int]:
    ready = pod.condition("Ready") == "True"
    cost = as_int64(pod.annotations.get(DELETION_COST, "")) or 0
    return bool(pod.node_name), pod.status.phase != "Pending", ready, cost, -per_node[pod.node_name]


def pods_to_add(workload: Workload, pods: Sequence[Pod], n: int, objects: Sequence[KubeObject]) -> list[KubeObject]:
    """The pending pods, each after its claims, that bring a workload to `n` pods.

    They are copies of its newest pod, which has the newest template. A StatefulSet fills its missing numbers.

    Args:
        objects: of the cluster; its claims are copied, and names that are taken are not used again.
    Raises:
        InputError: the workload has no pod to copy, or `n` is beyond any cluster.
    """
    n_new = n - len(pods)
    if n_new <= 0:
        return []
    if n > _MAX_PODS:
        raise InputError(f"{workload}: found {n} replicas; expected 0 to {_MAX_PODS}")
    if not pods:
        raise InputError(f"{workload} has no pod in the snapshot to copy; add its manifest with replicas: {n} instead")
    added: list[KubeObject] = []
    for one in further_pods(workload, pods, objects):
        added.append(one)
        n_new -= isinstance(one, Pod)
        if not n_new:
            break
    return added


def further_pods(workload: Workload, pods: Sequence[Pod], objects: Sequence[KubeObject]) -> Iterator[KubeObject]:
    """The pods that a workload would have next, each after its claims; arguments as for `pods_to_add`."""
    model = max(pods, key=lambda pod: pod.metadata.creation_timestamp or "")
    taken, claims, device_claims = set(), {}, {}
    for obj in objects:
        if isinstance(obj, Pod):
            taken.add(obj.key)
        elif isinstance(obj, PersistentVolumeClaim):
            claims[obj.key] = obj
        elif isinstance(obj, ResourceClaim):
            device_claims[obj.key] = obj
    is_numbered = workload.kind == "StatefulSet"
    number = _first_number(workload, objects) if is_numbered else 1
    base = _base(workload, model)
    of_model = claims_of(model, claims)
    for i in count(number):
        if f"{model.namespace}/{base}{i}" not in taken:
            pod = fresh_pod(model, f"{base}{i}")
            new_claims = (fresh_claim(claim, model, pod) for claim in of_model)
            yield from (claim for claim in new_claims if claim.key not in claims)
            yield from (claim for _, claim in fresh_device_claims(model, pod, lambda _, key: device_claims.get(key)))
            yield pod


def with_free_names(new: Iterable[KubeObject], taken: Container[str]) -> Iterator[KubeObject]:
    """New objects, in which no pod with a generated name has that of another one; its claims follow the name.

    Args:
        taken: `namespace/name` of the pods that are there.
    """
    known = list(new)
    claims = {one.key: one for one in known if isinstance(one, PersistentVolumeClaim)}
    device_claims = {one.key: one for one in known if isinstance(one, ResourceClaim)}
    free = count(1)
    renewed: dict[int, KubeObject] = {}
    for pod in known:
        controller = pod.metadata.controller
        if isinstance(pod, Pod) and pod.key in taken and controller is not None and controller.kind in _NAMING:
            base = pod.name.rpartition("-")[0]
            name = next(name for i in free if f"{pod.namespace}/{(name := f'{base}-new-{i}')}" not in taken)
            renewed[id(pod)] = renamed = fresh_pod(pod, name)
            renewed |= {id(claim): fresh_claim(claim, pod, renamed) for claim in claims_of(pod, claims)}
            of_templates = fresh_device_claims(pod, renamed, lambda _, key: device_claims.get(key))
            renewed |= {id(claim): fresh for claim, fresh in of_templates}
    return (renewed.get(id(one), one) for one in known)


def _base(workload: Workload, model: Pod) -> str:
    """What the names of new pods begin with."""
    if workload.kind in ("Pod", "StatefulSet"):
        return f"{workload.name}-"
    return f"{model.name.rpartition('-')[0] or model.name}-new-"


def _first_number(workload: Workload, objects: Iterable[KubeObject]) -> int:
    """The number of the first pod of a StatefulSet: `spec.ordinals.start`."""
    for obj in objects:
        if isinstance(obj, StatefulSet) and (obj.namespace, obj.name) == (workload.namespace, workload.name):
            return obj.spec.ordinals.start
    return 0
