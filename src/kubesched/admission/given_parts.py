"""Gives new pods what admission gives the pods of a cluster: parts that their templates lack."""

from collections.abc import Iterable, Sequence

import msgspec

from kubesched.admission.added_parts import AddedParts, added_parts
from kubesched.api import NAMESPACE_SELECTOR, Container, KubeObject, Pod, PodOwners, Workload, edited, kind_of
from kubesched.documents import joined

_Containers = tuple[Container, ...]


def with_given_parts(
    new: Sequence[KubeObject], cluster: Iterable[KubeObject]
) -> tuple[list[KubeObject], tuple[str, ...]]:
    """New objects, whose pods have the node selector and the containers that admission will add to them.

    It does what it did to the newest pod of the workload; where the workload is new, what the annotation of the
    namespace gave to the other pods there.

    Args:
        cluster: without the new objects.
    Returns: the objects, and a note for each workload whose pods have more.
    """
    given = _Given(cluster)
    owners = PodOwners(new)
    notes: dict[str, None] = {}
    objects = []
    for one in new:
        if isinstance(one, Pod):
            one, note = given.to(one, owners.workload_of(one))
            notes.update({note: None} if note else {})
        objects.append(one)
    return objects, tuple(notes)


class _Given:
    """What admission gave to the pods of a cluster."""

    def __init__(self, cluster: Iterable[KubeObject]) -> None:
        self._known = {(kind_of(one), one.key): one for one in cluster}
        pods = [one for one in self._known.values() if isinstance(one, Pod) and not one.is_finished]
        pods.sort(key=lambda pod: pod.metadata.creation_timestamp or "")
        owners = PodOwners(self._known.values())
        self._newest = {owners.workload_of(pod): pod for pod in pods}
        self._pods = pods
        self._parts: dict[str, AddedParts] = {}

    def to(self, pod: Pod, workload: Workload) -> tuple[Pod, str]:
        """A new pod with what it is given, and a note on that; empty for nothing."""
        is_of_workload = workload in self._newest
        like = self._newest.get(workload) or self._example_in(pod.namespace)
        if like is None or like.key == pod.key:
            return pod, ""
        parts = self._parts_of(like)
        selector = parts.node_selector if is_of_workload else parts.of_namespace
        pairs = {key: value for key, value in selector.items() if key not in pod.node_selector}
        names = {one.name for one in (*pod.containers, *pod.init_containers)}
        more = {name for name in parts.containers if name not in names} if is_of_workload else set()
        if not pairs and not more:
            return pod, ""
        containers = (f"container {name}" for name in parts.containers if name in more)
        words = joined((*(f"node selector {key}={value}" for key, value in pairs.items()), *containers))
        whose = f"existing pods of {workload} have what the template has not ({words})"
        if not is_of_workload:
            whose = f"namespace {pod.namespace} gives its pods what the template of {workload} has not ({words})"
        return _with(pod, pairs, like, more), f"{whose}: admission adds it to new pods, too, which are tried with it"

    def _example_in(self, namespace: str) -> Pod | None:
        """A pod to which the annotation of its namespace gave a node selector; None for none."""
        known = self._known.get(("Namespace", namespace))
        if known is None or NAMESPACE_SELECTOR not in known.annotations:
            return None
        there = (pod for pod in self._pods if pod.namespace == namespace)
        return next((pod for pod in there if self._parts_of(pod).of_namespace), None)

    def _parts_of(self, pod: Pod) -> AddedParts:
        if pod.key not in self._parts:
            self._parts[pod.key] = added_parts(pod, lambda kind, key: self._known.get((kind, key)))
        return self._parts[pod.key]


def _with(pod: Pod, pairs: dict[str, str], like: Pod, names: set[str]) -> Pod:
    def and_more(mine: _Containers | None, others: _Containers | None) -> _Containers | None:
        return (*(mine or ()), *(one for one in others or () if one.name in names)) or None

    spec = msgspec.structs.replace(
        pod.spec,
        node_selector={**pod.node_selector, **pairs} or None,
        containers=and_more(pod.spec.containers, like.spec.containers),
        init_containers=and_more(pod.spec.init_containers, like.spec.init_containers),
    )
    return edited(pod, spec=spec)
