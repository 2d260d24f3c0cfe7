"""Groups pods by the workload that people deploy: the Deployment above a ReplicaSet, else the pod's controller."""

from collections.abc import Iterable, Mapping
from typing import Final

from kubesched.api import KubeObject, Pod, ReplicaSet

__all__ = ["Workloads"]

_HASH_LABEL: Final = "pod-template-hash"


class Workloads:
    """Finds the workload of a pod.

    Args:
        objects: of the cluster; its ReplicaSets say to which Deployment they belong.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._deployments: Mapping[str, str] = {
            one.key: owner.name
            for one in objects
            if isinstance(one, ReplicaSet) and (owner := one.metadata.controller) and owner.kind == "Deployment"
        }

    def of(self, pod: Pod) -> str:
        """`Kind namespace/name`, such as `Deployment shop/web`; `Pod namespace/name` for a pod without a controller.

        A ReplicaSet that the cluster does not have belongs to a Deployment if its name ends with the pod's template
        hash.
        """
        owner = pod.metadata.controller
        if owner is None:
            return f"Pod {pod.key}"
        if owner.kind == "ReplicaSet":
            end = f"-{pod.labels.get(_HASH_LABEL, '')}"
            by_name = owner.name.removesuffix(end) if len(end) > 1 and owner.name.endswith(end) else ""
            deployment = self._deployments.get(f"{pod.namespace}/{owner.name}", by_name)
            if deployment:
                return f"Deployment {pod.namespace}/{deployment}"
        return f"{owner.kind} {pod.namespace}/{owner.name}"
