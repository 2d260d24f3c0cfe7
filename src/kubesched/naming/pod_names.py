"""Finds a pod by its name; suggests the pods that a wrong name may mean, first those that begin alike."""

import difflib
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from kubesched.api import KubeObject, Pod
from kubesched.documents import meant
from kubesched.errors import InputError

_N_OFFERED: Final = 3
_ALIKE: Final = 0.6
_EXPECTED: Final = "expected a pod of the cluster, not a workload"


def find_pod(objects: Iterable[KubeObject], name: str) -> Pod:
    """The pod called `namespace/name`; the namespace may be left out where no other has a pod of that name.

    Raises:
        InputError: there is none, or several have the name.

    Example:
        assert find_pod(load_snapshot("cluster.json"), "web-7").namespace == "shop"
    """
    pods = [obj for obj in objects if isinstance(obj, Pod)]
    called_so = [pod for pod in pods if name in (pod.key, pod.name)]
    if len(called_so) == 1:
        return called_so[0]
    if called_so:
        raise InputError(
            f'several pods have the name "{name}": {", ".join(pod.key for pod in called_so)}; write one of these'
        )
    raise no_such_pod(name, pods)


def no_such_pod(wrong: str, pods: Sequence[Pod], otherwise: str = _EXPECTED) -> InputError:
    """The error for a name that no pod has, with what to write instead.

    Args:
        wrong: `namespace/name` or a name alone.
        otherwise: what to do where no pod has a similar name.

    Example:
        error = no_such_pod("shop/web", [make_pod("web-7", namespace="shop")])
        assert str(error) == 'no pod has the name "shop/web"; did you mean "shop/web-7"?'
    """
    return InputError(f'no pod has the name "{wrong}"; {suggestion(wrong, pods, otherwise)}')


def suggestion(wrong: str, pods: Sequence[Pod], otherwise: str = _EXPECTED) -> str:
    """What to write instead of a name that no pod has, as the end of a message.

    Args:
        wrong: `namespace/name` or a name alone.
        otherwise: what to do where no pod has a similar name.
    """
    end = f"; {otherwise}" if otherwise else ""
    namespace, slash, name = wrong.rpartition("/")
    if not name:
        return "write namespace/name"
    namespaces = {pod.namespace for pod in pods}
    if slash and namespace not in namespaces:
        near = _in_another_namespace(namespace, name, pods)
        return f'no pod is in namespace "{namespace}"{f"; {near}" if near else end}'
    if slash and any(pod.name == name for pod in pods):
        return _in_another_namespace(namespace, name, pods)
    names = dict.fromkeys(pod.name for pod in pods if not slash or pod.namespace == namespace)
    if words := near_words(name, names, f"{namespace}/" if slash else ""):
        return words
    return ("no pod of that namespace has a similar name" if slash else "write namespace/name") + end


def _in_another_namespace(namespace: str, name: str, pods: Sequence[Pod]) -> str:
    """The pods of that name; without any, similar ones in the namespace whose name is nearest."""
    same = [pod.namespace for pod in pods if pod.name == name]
    near = difflib.get_close_matches(namespace, sorted(set(same) or {pod.namespace for pod in pods}), n=1)
    for other in near or same[:1]:
        if words := near_words(name, [pod.name for pod in pods if pod.namespace == other], f"{other}/"):
            return words
    return ""


def near_words(wrong: str, names: Collection[str], before: str = "") -> str:
    """`did you mean "x" or "y"?`, with a text before each word; empty where no word is near."""
    near = _begin_alike(wrong, names) or _spelt_alike(wrong, names) or _of_similar_workload(wrong, names)
    return meant([before + name for name in near[:_N_OFFERED]], len(near) - _N_OFFERED)


def _begin_alike(name: str, names: Collection[str]) -> list[str]:
    """The names that begin with the name, or with as many of its parts between dashes as possible; alike ones first."""
    beginning = name.lower()
    while beginning:
        alike = [other for other in names if other.lower().startswith(beginning)]
        if alike:
            return sorted(alike, key=lambda other: -difflib.SequenceMatcher(None, name, other).ratio())
        beginning = beginning.rpartition("-")[0]
    return []


def _spelt_alike(wrong: str, names: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(wrong, list(names), n=_N_OFFERED, cutoff=_ALIKE)


def _of_similar_workload(wrong: str, names: Collection[str]) -> list[str]:
    """The names that begin with as many parts between dashes as the wrong one has, spelt like it: `wbe` for `web-7`."""
    n_parts = wrong.count("-") + 1
    beginnings = {name: "-".join(name.split("-")[:n_parts]) for name in names}
    near = _spelt_alike(wrong, dict.fromkeys(beginnings.values()))[:1]
    return [name for name in names if beginnings[name] in near]
