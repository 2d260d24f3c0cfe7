"""The pods that a question is about: those of manifests, or of plain requests, as many as wanted."""

import io
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import IO, Final, TypeGuard, cast

import msgspec

from kubesched.api import KubeObject, Pod, is_extended_resource, parse_quantity
from kubesched.errors import InputError, QuantityError
from kubesched.planning.scaling import pods_to_add
from kubesched.planning.workloads import Workload, workloads
from kubesched.snapshot import admit_manifests

__all__ = ["Asked", "PodsLike", "asked_of"]

Manifest = str | PathLike[str] | IO[bytes] | IO[str]
PodsLike = Manifest | Iterable[Manifest] | Mapping[str, str | int | float] | Iterable[KubeObject]
"""A manifest or several (files, `-` or open streams), the requests of one pod, or objects with the pods among them."""

_NAME: Final = "pod"


class Asked:
    """New pods, and the objects that come with them.

    Args:
        cluster: the objects that are there already.
        new: what is added to it.
        notes: what a user should know about the manifests.
    Attributes:
        pods: the new pods.
        workloads: whom they belong to; a pod without a controller stands for itself.
    """

    def __init__(self, cluster: Sequence[KubeObject], new: Iterable[KubeObject], notes: Sequence[str] = ()) -> None:
        self._cluster = cluster
        self._new = list(new)
        self.notes = tuple(notes)
        self.pods = [one for one in self._new if isinstance(one, Pod)]
        controlled = workloads(self._new)
        alone = [Workload("Pod", pod.namespace, pod.name) for pod in self.pods if pod.metadata.controller is None]
        self.workloads = [one for one, pods in controlled.items() if pods] + alone
        if not self.pods:
            raise InputError("the manifests have no pods: found neither a Pod nor a workload with replicas")

    def objects(self, n: int | None = None) -> list[KubeObject]:
        """What is new in a cluster with `n` of the pods; None for as many as the manifests have.

        Raises:
            InputError: there are several workloads or pods, or one that has no number of replicas.
        """
        if n is None or n == len(self.pods):
            return self._new
        workload = self.only_workload()
        if n < len(self.pods):
            dropped = {pod.key for pod in self.pods[n:]}
            return [one for one in self._new if not (isinstance(one, Pod) and one.key in dropped)]
        return self._new + pods_to_add(workload, self.pods, n, [*self._cluster, *self._new])

    def only_workload(self) -> Workload:
        """The one workload or pod whose number can be changed.

        Raises:
            InputError: as from `objects`.
        """
        if len(self.workloads) > 1:
            named = ", ".join(f"{one.kind}/{one.name}" for one in self.workloads[:4])
            raise InputError(f"a number of replicas needs one workload; found {len(self.workloads)}: {named}")
        (workload,) = self.workloads
        if workload.kind == "DaemonSet":
            raise InputError(f"{workload} has one pod on each node and no replicas")
        return workload


def asked_of(pods: PodsLike, cluster: Sequence[KubeObject]) -> Asked:
    """What is asked, admitted to a cluster.

    Raises:
        InputError: a manifest cannot be read, is not valid, or has no pods; or a quantity is not valid.
    """
    if isinstance(pods, Mapping):
        return _of_requests(pods, cluster)
    if isinstance(pods, str | PathLike) or _is_stream(pods):
        return _of_manifests([pods], cluster)
    given = list(pods)
    objects = [one for one in given if isinstance(one, KubeObject)]
    if len(objects) == len(given):
        return Asked(cluster, objects)
    return _of_manifests(cast(list[Manifest], given), cluster)


def _is_stream(pods: object) -> TypeGuard[IO[bytes] | IO[str]]:
    return hasattr(pods, "read")


def _of_manifests(manifests: Iterable[Manifest], cluster: Sequence[KubeObject]) -> Asked:
    new = admit_manifests(cluster, manifests)
    return Asked(cluster, new, new.notes)


def _of_requests(requests: Mapping[str, str | int | float], cluster: Sequence[KubeObject]) -> Asked:
    for name, amount in requests.items():
        try:
            parse_quantity(amount)
        except QuantityError as error:
            raise InputError(f"resource {name}: {error}") from error
    resources: dict[str, object] = {"requests": dict(requests)}
    resources["limits"] = {name: amount for name, amount in requests.items() if _needs_limit(name)}
    container = {"name": _NAME, "image": _NAME, "resources": resources}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": _NAME}, "spec": {"containers": [container]}}
    known = [one for one in cluster if not isinstance(one, Pod)]
    return Asked(cluster, admit_manifests(known, [io.BytesIO(msgspec.json.encode(pod))]))


def _needs_limit(resource: str) -> bool:
    """Whether an API server accepts a request for it only with an equal limit."""
    return is_extended_resource(resource) or resource.startswith("hugepages-")
