"""Finds the pods that a command line means: pods, workloads, a label selector, a namespace, or all pending pods."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kubesched.api import KubeObject, Pod

_POD_WORDS: Final = ("pod", "pods", "po")
_KIND_AND_NAME: Final = 2
_MAX_NAMED: Final = 3


class ChosenPods(NamedTuple):
    """The pods to explain.

    Attributes:
        pods: each once.
        what: which ones they are, as an adjective: `pending`, `chosen`.
    """

    pods: "tuple[Pod, ...]"
    what: str

    @property
    def is_one(self) -> bool:
        """Whether the answer is about one pod alone: one was chosen by its name, its workload or its labels."""
        return self.what == "chosen" and len(self.pods) == 1


def choose_pods(
    objects: "Iterable[KubeObject]", names: Sequence[str], namespace: str = "", selector: str | None = None
) -> ChosenPods:
    """Find the pods.

    Args:
        names: `namespace/name`, `name`, `pod/name`, a workload such as `deploy/web` or `shop/sts/db`, or the name of a
            workload alone.
        namespace: where to look; empty for all.
        selector: labels of the pods, as `kubectl -l` takes them. Without names and without a selector, all pending pods
            are meant. Of a workload and of a selector, the pending pods are meant, or, if there are none, those that
            run.
    Raises:
        InputError: a name is unknown or has several meanings, or the selector does not parse or selects nothing.
    """
    from kubesched.api import Pod

    known = [obj for obj in objects if not isinstance(obj, Pod) or not namespace or obj.namespace == namespace]
    pods = [obj for obj in known if isinstance(obj, Pod)]
    if not names and selector is None:
        return ChosenPods(tuple(pod for pod in pods if _is_pending(pod)), "pending")
    if not names:
        return ChosenPods(_preferred(_selected(pods, selector or "")), "chosen")
    chosen: dict[str, Pod] = {}
    for name in names:
        meant = _meant_by(name, known, pods, namespace)
        for pod in [meant] if isinstance(meant, Pod) else _preferred(meant):
            chosen[pod.key] = pod
    if selector is not None:
        chosen = {pod.key: pod for pod in _selected(list(chosen.values()), selector)}
    return ChosenPods(tuple(chosen.values()), "chosen")


def _meant_by(name: str, objects: "Sequence[KubeObject]", pods: "Sequence[Pod]", namespace: str) -> "Pod | list[Pod]":
    """One pod, or the pods of a workload."""
    from kubesched.api import workloads
    from kubesched.explanation import find_pod
    from kubesched.planning import find_workload, is_workload_kind

    word, _, rest = name.partition("/")
    if rest and word in _POD_WORDS:
        name = rest
    if any(name in (pod.key, pod.name) for pod in pods):
        return find_pod(pods, name)
    known = workloads(objects)
    parts = name.split("/")
    if len(parts) > _KIND_AND_NAME or (len(parts) == _KIND_AND_NAME and is_workload_kind(parts[0], known)):
        return known[find_workload(known, name)]
    called_so = [one for one in known if name in (one.name, f"{one.namespace}/{one.name}") and known[one]]
    if len(called_so) == 1:
        return known[called_so[0]]
    if called_so:
        from kubesched.errors import InputError

        listed = ", ".join(f"{one.namespace}/{one.kind.lower()}/{one.name}" for one in called_so)
        raise InputError(f'several workloads have the name "{name}": {listed}; write one of these')
    return find_pod(pods, name)


def _selected(pods: "Sequence[Pod]", text: str) -> "list[Pod]":
    from kubesched.api import parse_selector_text
    from kubesched.errors import InputError, SelectorError

    try:
        selector = parse_selector_text(text)
    except SelectorError as error:
        raise InputError(f"-l {text}: {error}") from error
    selected = [pod for pod in pods if selector.matches(pod.labels)]
    if not selected:
        raise InputError(f"-l {text}: none of {len(pods)} pods has these labels")
    return selected


def _preferred(pods: "Sequence[Pod]") -> "tuple[Pod, ...]":
    """The pending ones; without any, those that run."""
    pending = tuple(pod for pod in pods if _is_pending(pod))
    return pending or tuple(pod for pod in pods if not pod.is_finished)


def _is_pending(pod: "Pod") -> bool:
    return not pod.node_name and not pod.is_finished
