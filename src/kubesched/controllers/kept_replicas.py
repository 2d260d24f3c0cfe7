"""What is known of the controllers that keep a number of pods: whether they still need the pods that they have.

Rule: kube-controller-manager v1.36. The controllers of ReplicaSets and ReplicationControllers create a pod when they
have fewer than spec.replicas that have not ended and are not being deleted. A StatefulSet keeps the pods of its
ordinals. None of them creates a pod while it is being deleted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from kubesched.api import (
    KubeObject,
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    as_int64,
    kind_of,
)
from kubesched.documents import count

Find = Callable[[str, str], KubeObject | None]
"""An object by kind and key."""

_SETS: Final = (ReplicaSet, ReplicationController, StatefulSet)


class Controllers(NamedTuple):
    """What has to be counted in a whole cluster.

    Attributes:
        kinds: of which the cluster has an object, or is known to have none; another one that is not there is deleted.
        n_pods: how many pods a controller has, by its kind and key: those that have not ended and are not deleted.
        taken_at: when the cluster was read; None where that is not known.
    """

    kinds: frozenset[str] = frozenset()
    n_pods: Mapping[tuple[str, str], int] = {}
    taken_at: datetime | None = None


def controllers_of(
    objects: Iterable[KubeObject], taken_at: datetime | None = None, listed_kinds: Iterable[str] = ()
) -> Controllers:
    """Count the controllers and their pods.

    Args:
        objects: the whole cluster.
        taken_at: when they were read from the API server, if that is known.
        listed_kinds: kinds that are there completely, even if there is no object of them.
    """
    kinds = set(listed_kinds)
    n_pods: Counter[tuple[str, str]] = Counter()
    for obj in objects:
        if isinstance(obj, _SETS):
            kinds.add(kind_of(obj))
        elif isinstance(obj, Pod) and not obj.is_finished and not obj.is_terminating:
            owner = obj.metadata.controller
            if owner is not None:
                n_pods[owner.kind, f"{obj.namespace}/{owner.name}"] += 1
    return Controllers(frozenset(kinds), n_pods, taken_at)


def ordinal_of(pod: Pod) -> int:
    """The number at the end of the name of a StatefulSet's pod; -1 where there is none."""
    number = as_int64(pod.name.rpartition("-")[2])
    return -1 if number is None else number


def first_awaited(pods: Iterable[Pod], runs: Callable[[Pod], bool]) -> Pod | None:
    """The pod of a StatefulSet that its controller waits for before it goes on: the first without a node.

    Rule: kube-controller-manager v1.36, podManagementPolicy OrderedReady; a pod with a node counts as ready here.
    """
    return min((pod for pod in pods if not runs(pod)), key=ordinal_of, default=None)


def why_not_kept(pod: Pod, owner: OwnerReference, find: Find, controllers: Controllers) -> tuple[bool | None, str]:
    """Why a controller of Kubernetes itself creates no pod in the place of one.

    Returns: whether it creates one, None where that is not known, and the reason unless it does.
    """
    key, name = f"{pod.namespace}/{owner.name}", f"{owner.kind} {owner.name}"
    owning = find(owner.kind, key)
    if not isinstance(owning, _SETS):
        is_missing = owner.kind in controllers.kinds
        return (None, f"{name} is not in the snapshot, which has the others") if is_missing else (True, "")
    n = owning.replicas
    if owning.is_terminating:
        return False, f"{name} is being deleted"
    if n == 0:
        return False, f"{name} has 0 replicas"
    if isinstance(owning, StatefulSet):
        first, number = owning.spec.ordinals.start, ordinal_of(pod)
        is_kept = number < 0 or first <= number < first + n
        return (True, "") if is_kept else (False, f"{name} has no ordinal {number}: it has {count(n, 'replica')}")
    n_pods = controllers.n_pods.get((owner.kind, key), 0)
    if n_pods <= n:
        return True, ""
    return None, f"{name} has {count(n, 'replica')} and {count(n_pods, 'pod')}, so it may not create this one again"
