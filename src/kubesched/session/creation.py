"""Creates the new pods of a cluster: those that the API server does not refuse, and each when its controller does."""

from collections.abc import Iterable, Sequence, Set
from typing import Final

from kubesched.admission import Refusals, refusal_message
from kubesched.api import KubeObject, Pod, completed, kind_of, objects_of
from kubesched.controllers import OrderedCreation, is_made_here, is_new_and_bound
from kubesched.state import ObjectStore

_POLICIES: Final = ("LimitRange", "Namespace", "PriorityClass", "ResourceQuota", "RuntimeClass")

_NOT_REFUSED: Final = ("", "")


class Creation:
    """Which of the pending pods are created.

    Args:
        pending: the pods without a node.
        new: `namespace/name` of those that a StatefulSet creates in order.
        objects: of the cluster.
    """

    def __init__(self, pending: Sequence[Pod], new: Set[str], objects: ObjectStore) -> None:
        self._new = new
        self._objects = objects
        self._ordered = OrderedCreation((), new, objects)
        self._policies = self._policies_now()
        self._at_first = self._existing(pending) if self._policies or _has_overhead(pending) else None
        self._refusals: Refusals | None = None
        self._refused: dict[str, tuple[str, str]] = {}  # by uid, the refusals and what to do

    def begin(self, pending: Sequence[Pod], bound: Sequence[Pod]) -> list[Pod]:
        """The pods that exist from the beginning of a run, in the same order.

        Args:
            bound: new pods that name their nodes.
        """
        self._refused.clear()
        self._ordered = OrderedCreation(pending, self._new, self._objects)
        policies = self._policies_now()
        if (policies or _has_overhead(pending)) and (bound or any(map(is_made_here, pending))):
            existing = self._existing(pending)
            if self._refusals is None or policies != self._policies:
                self._policies = policies
                self._refusals = Refusals(policies, existing if self._at_first is None else self._at_first)
            self._refusals.count_again(existing)
        return [pod for pod in self._ordered.exist(pending) if self.is_allowed(pod)]

    def placed(self, pod: Pod) -> Pod | None:
        """Note that a pod has a node. Returns: the pod that is created now, if there is one."""
        created = self._ordered.placed(pod)
        return created if created is not None and self.is_allowed(created) else None

    def is_allowed(self, pod: Pod) -> bool:
        """Count a pod that is to be created now. Returns: whether the API server creates it."""
        if self._refusals is None or not is_made_here(pod):
            return True
        if fault := self._refusals.admit(pod):
            self._refused[pod.uid] = fault, self._refusals.help(pod, fault)
        return not fault

    def refusal(self, pod: Pod) -> str:
        """Why the API server refuses a pod; empty if it does not."""
        return self._refused.get(pod.uid, _NOT_REFUSED)[0]

    def help(self, pod: Pod) -> str:
        """What to do about the refusal of a pod; empty where nothing is known."""
        return self._refused.get(pod.uid, _NOT_REFUSED)[1]

    def awaits(self, pod: Pod) -> str:
        """`namespace/name` of the pod of a lower number that keeps a pod from being created; empty if none does."""
        return self._ordered.awaits(pod)

    def why_not(self, pod: Pod) -> str:
        """Why a pod is not created; empty if it is."""
        if fault := self.refusal(pod):
            return refusal_message(pod, fault)
        return self._ordered.why_not(pod)

    def _policies_now(self) -> list[KubeObject]:
        """The objects for which the API server refuses pods, or changes them."""
        return [one for kind in _POLICIES for one in self._objects.list(kind)]

    def _existing(self, pending: Iterable[Pod]) -> list[Pod]:
        """The pods that an API server has: those on nodes, and the pending ones that are not new."""
        placed = [one for one in self._objects.list("Pod") if isinstance(one, Pod) and one.node_name]
        return [*placed, *(pod for pod in pending if not is_made_here(pod))]


def refused_pods(cluster: Iterable[KubeObject], new: Set[str]) -> dict[str, str]:
    """The pods of manifests that the API server refuses in a simulation where each pod gets a node.

    Args:
        cluster: with the objects of the manifests.
        new: as for `Creation`.
    Returns: `namespace/name` -> the words of the API server.
    """
    objects = ObjectStore()
    pending: list[Pod] = []
    bound: list[Pod] = []
    for one in map(completed, objects_of(cluster)):
        if isinstance(one, Pod) and is_new_and_bound(one):
            bound.append(one)
        elif isinstance(one, Pod) and not one.node_name and not one.is_finished:
            pending.append(one)
        else:
            objects.put(kind_of(one), one)
    creation = Creation(pending, new, objects)
    created = creation.begin(pending, bound)
    for pod in created:  # which grows
        if (following := creation.placed(pod)) is not None:
            created.append(following)
    refused = [pod for pod in bound if not creation.is_allowed(pod)]
    return {pod.key: why for pod in (*pending, *refused) if (why := creation.refusal(pod))}


def _has_overhead(pods: Iterable[Pod]) -> bool:
    return any(pod.spec.overhead is not None for pod in pods)
