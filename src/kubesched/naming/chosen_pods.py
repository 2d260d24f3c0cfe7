"""Finds the pods that a command line means: pods, workloads, a label selector, a namespace, or all pending pods."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kubesched.api import KubeObject, Namespace, Pod, ReplicaSet, Workload, workloads
from kubesched.documents import did_you_mean, meant
from kubesched.errors import InputError
from kubesched.naming.label_hints import selected
from kubesched.naming.pod_names import find_pod, no_such_pod
from kubesched.naming.workload_names import as_typed, find_workload, is_workload_kind, near_kind, typed_name

_POD_WORDS: Final = ("pod", "pods", "po")
_KIND_AND_NAME: Final = 2
_MAX_NAMED: Final = 3
_NEW: Final = "--manifest FILE adds pods that are not in the cluster yet"


class ChosenPods(NamedTuple):
    """The pods to explain.

    Attributes:
        pods: each once.
        what: which ones they are, as an adjective: `pending`, `chosen`.
        namespace: of all pending pods, the only one that is meant; empty for all.
    """

    pods: tuple[Pod, ...]
    what: str
    namespace: str = ""

    @property
    def is_one(self) -> bool:
        """Whether the answer is about one pod alone: one was chosen by its name, its workload or its labels."""
        return self.what == "chosen" and len(self.pods) == 1


def choose_pods(
    objects: Iterable[KubeObject],
    names: Sequence[str],
    namespace: str = "",
    selector: str | None = None,
    otherwise: str = _NEW,
) -> ChosenPods:
    """Find the pods.

    Args:
        names: `namespace/name`, `name`, `pod/name`, a workload such as `deploy/web`, `shop/sts/db` or, as tables show
            it, `StatefulSet shop/db`, or the name of a workload alone.
        namespace: where to look; empty for all.
        selector: labels of the pods, as `kubectl -l` takes them. Without names and without a selector, all pending pods
            are meant. Of a workload and of a selector, the pending pods are meant, or, if there are none, those that
            run.
        otherwise: what to do about a name where no other is similar.
    Raises:
        InputError: a name is unknown or has several meanings, or the selector does not parse or selects nothing.
    """
    everything = list(objects)
    _check_namespace(namespace, everything)
    pods = [obj for obj in everything if isinstance(obj, Pod) and namespace in ("", obj.namespace)]
    if not names and selector is None:
        return ChosenPods(tuple(pod for pod in pods if _is_pending(pod)), "pending", namespace)
    if not names:
        return ChosenPods(_preferred(_with_labels(selector or "", pods)), "chosen")
    chosen: dict[str, Pod] = {}
    for name in names:
        meant = _meant_by(name, everything, pods, namespace, otherwise)
        for pod in [meant] if isinstance(meant, Pod) else _preferred(meant):
            chosen[pod.key] = pod
    if selector is not None:
        chosen = {pod.key: pod for pod in _with_labels(selector, list(chosen.values()))}
    return ChosenPods(tuple(chosen.values()), "chosen")


def selected_pods(objects: Iterable[KubeObject], namespace: str = "", selector: str | None = None) -> list[Pod]:
    """The pods in a namespace, or in all, with these labels, without finished ones.

    Raises:
        InputError: nothing is in the namespace, or the selector does not parse or selects nothing.
    """
    everything = list(objects)
    _check_namespace(namespace, everything)
    pods = [obj for obj in everything if isinstance(obj, Pod) and namespace in ("", obj.namespace)]
    chosen = pods if selector is None else _with_labels(selector, pods)
    return [pod for pod in chosen if not pod.is_finished]


def _check_namespace(name: str, objects: Sequence[KubeObject]) -> None:
    """Reject a namespace that is not known: it is not listed, and no object is in it."""
    namespaces = {obj.name if isinstance(obj, Namespace) else obj.namespace for obj in objects}
    if name not in namespaces | {""}:
        near = did_you_mean(name, sorted(namespaces)) or "-A looks in all of them"
        raise InputError(f'-n: nothing in this cluster is in namespace "{name}"; {near}')


def _meant_by(
    name: str, objects: Sequence[KubeObject], pods: Sequence[Pod], namespace: str, otherwise: str
) -> Pod | list[Pod]:
    """One pod, or the pods of a workload.

    Args:
        pods: those of the namespace.
    """
    *before, last = as_typed(name).split("/")
    if last:
        name = "/".join([*(word for word in before if word not in _POD_WORDS), last])
    if any(name in (pod.key, pod.name) for pod in pods):
        return find_pod(pods, name)
    pods_of = workloads(objects)
    parts = name.split("/")
    if len(parts) > _KIND_AND_NAME or (len(parts) == _KIND_AND_NAME and is_workload_kind(parts[0], pods_of)):
        pods_of |= _replica_sets(objects)
        return pods_of[find_workload(pods_of, _in(namespace, name, _KIND_AND_NAME), otherwise=otherwise)]
    full = _in(namespace, name, 1)
    called_so = [
        workload
        for workload in pods_of
        if full in (workload.name, f"{workload.namespace}/{workload.name}") and pods_of[workload]
    ]
    if len(called_so) == 1:
        return pods_of[called_so[0]]
    raise _not_one(full, called_so, pods_of, objects, otherwise)


def _replica_sets(objects: Iterable[KubeObject]) -> dict[Workload, list[Pod]]:
    """ReplicaSets with their unfinished pods, also those that belong to a Deployment."""
    sets: dict[Workload, list[Pod]] = {}
    for obj in objects:
        if isinstance(obj, ReplicaSet):
            sets.setdefault(Workload("ReplicaSet", obj.namespace, obj.name), [])
        elif isinstance(obj, Pod) and not obj.is_finished:
            owner = obj.metadata.controller
            if owner is not None and owner.kind == "ReplicaSet":
                sets.setdefault(Workload("ReplicaSet", obj.namespace, owner.name), []).append(obj)
    return sets


def _in(namespace: str, name: str, n_parts: int) -> str:
    """A name of so many parts with the namespace before it.

    Raises:
        InputError: the name has another namespace.
    """
    if name.count("/") < n_parts:
        return f"{namespace}/{name}" if namespace else name
    if namespace and not name.startswith(f"{namespace}/"):
        raise InputError(f"{name} is not in namespace {namespace}; leave out -n or the namespace before the name")
    return name


def _not_one(
    name: str,
    called_so: Sequence[Workload],
    known_workloads: Iterable[Workload],
    objects: Sequence[KubeObject],
    otherwise: str,
) -> InputError:
    """The error for a name that no pod and no workload has, or several workloads have."""
    if called_so:
        listed = ", ".join(map(typed_name, called_so))
        return InputError(f'several workloads have the name "{name}": {listed}; write one of these')
    pods = [obj for obj in objects if isinstance(obj, Pod)]
    space, _, bare = name.rpartition("/")
    is_space = any(space in ("", pod.namespace) for pod in pods)
    if not is_space and (near := near_kind(space, known_workloads)):
        return InputError(f'{name}: "{space}" is not a kind of workload; {near}')
    elsewhere = [f"{workload.namespace}/{workload.name}" for workload in known_workloads if workload.name == bare]
    if elsewhere:
        return InputError(f'no pod or workload has the name "{name}"; {meant(elsewhere[:_MAX_NAMED])}')
    return no_such_pod(name, pods, otherwise)


def _with_labels(text: str, pods: Sequence[Pod]) -> list[Pod]:
    return selected(pods, text, f"-l {text}", f": none of {len(pods)} pods has these labels", "pod")


def _preferred(pods: Sequence[Pod]) -> tuple[Pod, ...]:
    """The pending ones; without any, those that run."""
    pending = tuple(pod for pod in pods if _is_pending(pod))
    return pending or tuple(pod for pod in pods if not pod.is_finished)


def _is_pending(pod: Pod) -> bool:
    return not pod.node_name and not pod.is_finished
