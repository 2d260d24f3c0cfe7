"""Finds running pods that an API server would refuse to create again: for a quota, a LimitRange or a priority class."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import msgspec

from kubesched.admission import Refusals
from kubesched.api import KubeObject, Pod, kind_of

_POLICIES: Final = ("LimitRange", "PriorityClass", "ResourceQuota")


class RefusedAgain:
    """What the API server of a cluster says of its pods, if they are re-created.

    Args:
        objects: of the cluster.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._pods: dict[str, list[Pod]] = defaultdict(list)
        self._policies: list[KubeObject] = []
        for one in objects:
            if isinstance(one, Pod):
                self._pods[one.namespace].append(one)
            elif kind_of(one) in _POLICIES:
                self._policies.append(one)
        self._of_namespace: dict[str, Refusals] = {}

    def why(self, pod: Pod, *, gone: bool) -> str:
        """Why a pod that is like a running one is refused; empty if it is not.

        Args:
            gone: whether the running one is deleted before.
        """
        if not self._policies:
            return ""
        others = self._pods[pod.namespace]
        refusals = self._of_namespace.get(pod.namespace)
        if refusals is None:
            refusals = self._of_namespace[pod.namespace] = Refusals(self._policies, others)
        refusals.count_again(one for one in others if not gone or one.key != pod.key)
        spec = msgspec.structs.replace(
            pod.spec, overhead=None, runtime_class_name=""
        )  # of the new pod, not of its template
        return refusals.admit(msgspec.structs.replace(pod, spec=spec))
