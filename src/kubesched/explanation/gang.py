"""Gangs: pods that are to run together, found by what names their group."""

from collections.abc import Iterable, Sequence

import msgspec

from kubesched.api import (
    GROUP_NAMES,
    CoschedulingPodGroup,
    KubeObject,
    Pod,
    PodGroup,
    VolcanoPodGroup,
    group_name,
    kind_of,
    minimum_on_pod,
)
from kubesched.errors import InputError
from kubesched.naming import near_words


class Gang(msgspec.Struct, frozen=True):
    """Pods that are to run together.

    Attributes:
        key: the field, label or annotation that names it.
        minimum: how many of its pods it needs at once: what its PodGroup or its pods have, else all of them.
        pods: those that have not ended.
        is_minimum_known: whether one of them has it.
    """

    namespace: str
    name: str
    key: str
    minimum: int
    pods: tuple[Pod, ...]
    is_minimum_known: bool = True


def find_group(objects: Iterable[KubeObject], name: str, namespace: str = "") -> Gang:
    """Find a group by its name, or by `KEY=NAME` where its label or annotation is not a known one.

    Args:
        name: with or without a namespace: `red`, `ml/red`, `team=red`, `team=ml/red`.
        namespace: where to look; empty for all.
    Raises:
        InputError: no pod, or pods of several namespaces, are of such a group.

    Example:
        pods = [make_pod(f"worker-{i}", labels={"team": "red"}) for i in range(3)]
        assert find_group(pods, "team=red").minimum == 3
    """
    key, sign, written = name.rpartition("=")
    space, _, value = written.rpartition("/")
    keys = (key,) if sign else tuple(GROUP_NAMES)
    gangs = [gang for gang in _gangs(objects, keys) if {namespace, space} <= {"", gang.namespace}]
    called_so = [gang for gang in gangs if gang.name == value]
    called_so = [gang for gang in called_so if gang.key == called_so[0].key]
    if len(called_so) > 1:
        spaces = ", ".join(gang.namespace for gang in called_so)
        raise InputError(f"--group {name}: namespaces {spaces} have such a group; name one with -n")
    if called_so:
        return called_so[0]
    near = near_words(value, sorted({gang.name for gang in gangs}))
    told = f"; {near}" if near else f"; pods name their group with {' or '.join(keys)}, others with --group KEY=NAME"
    raise InputError(f"--group {name}: no pod is of such a group{told}")


def gangs_of(objects: Iterable[KubeObject], pods: Iterable[Pod]) -> list[Gang]:
    """The groups with a known key that have one of the pods and need more than one at once.

    Example:
        group = {"pod-group.scheduling.sigs.k8s.io": "red", "pod-group.scheduling.sigs.k8s.io/min-available": "3"}
        pods = [make_pod(f"worker-{i}", labels=group) for i in range(3)]
        assert [gang.minimum for gang in gangs_of(pods, pods)] == [3]
    """
    meant = {pod.key for pod in pods}
    gangs: dict[tuple[str, str], Gang] = {}
    for gang in _gangs(objects, tuple(GROUP_NAMES)):  # pods may name a group in several ways
        if gang.minimum > 1 and any(pod.key in meant for pod in gang.pods):
            gangs.setdefault((gang.namespace, gang.name), gang)
    return list(gangs.values())


def _gangs(objects: Iterable[KubeObject], keys: Sequence[str]) -> list[Gang]:
    """All groups that one of the keys names, in the order of the keys, then of the pods."""
    members: dict[tuple[str, str, str], list[Pod]] = {}
    minimums: dict[tuple[str, str], int] = {}
    for known in objects:
        if isinstance(known, Pod) and not known.is_finished:
            for key in keys:
                if name := group_name(known, key):
                    members.setdefault((key, known.namespace, name), []).append(known)
        elif isinstance(known, PodGroup | CoschedulingPodGroup | VolcanoPodGroup):
            minimums[kind_of(known), known.key] = known.minimum
    gangs = []
    for (key, namespace, name), pods in sorted(members.items(), key=lambda entry: keys.index(entry[0][0])):
        kind = GROUP_NAMES[key].kind if key in GROUP_NAMES else ""
        minimum = minimums.get((kind, f"{namespace}/{name}"), 0)
        minimum = minimum or next((n for pod in pods if (n := minimum_on_pod(pod, key))), 0)
        gangs.append(Gang(namespace, name, key, minimum or len(pods), tuple(pods), minimum > 0))
    return gangs
