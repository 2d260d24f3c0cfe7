"""Gangs: pods that are to run together, found by what names their group."""

from collections.abc import Collection, Iterable, Iterator, Sequence

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
from kubesched.session import GangFit


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
    meant = {pod.key: pod for pod in pods}
    keys = tuple(key for key in GROUP_NAMES if any(group_name(pod, key) for pod in meant.values()))
    gangs: dict[tuple[str, str], Gang] = {}
    for gang in _gangs(objects, keys) if keys else ():  # pods may name a group in several ways
        if gang.minimum > 1 and any(pod.key in meant for pod in gang.pods):
            gangs.setdefault((gang.namespace, gang.name), gang)
    return list(gangs.values())


def may_be_of_gang(pod: Pod) -> bool:
    """Whether a pod names a group with a known key, or is of a Job."""
    return bool(_job(pod)) or any(group_name(pod, key) for key in GROUP_NAMES)


def gang_fits(
    objects: Iterable[KubeObject],
    pods: Sequence[Pod],
    placed: Collection[str] = (),
    gone: Collection[str] = (),
    jobs_among: Iterable[Pod] | None = None,
) -> tuple[GangFit, ...]:
    """How many pods of the gangs that have one of some pods have a node; a Job with several pods is one, too.

    Args:
        placed: `namespace/name` of pods that get a node.
        gone: of those that have none, or lose it.
        jobs_among: those of whose pods Jobs are made; None for all.

    Example:
        group = {"pod-group.scheduling.sigs.k8s.io": "red", "pod-group.scheduling.sigs.k8s.io/min-available": "3"}
        pods = [make_pod(f"worker-{i}", labels=group) for i in range(3)]
        assert [gang.n_placed for gang in gang_fits(pods, pods, placed=["default/worker-0"])] == [1]
    """
    meant = [pod for pod in pods if may_be_of_gang(pod)]
    every = list(objects) if meant else []
    groups = gangs_of(every, meant)
    in_groups = {pod.key for group in groups for pod in group.pods}
    found = [(f"{one.namespace}/{one.name}", False, one.minimum, one.pods) for one in groups]
    among = (one for one in every if isinstance(one, Pod)) if jobs_among is None else jobs_among
    jobs = _jobs(meant, among)
    found += [(job, True, len(of), tuple(of)) for job, of in jobs if in_groups.isdisjoint(pod.key for pod in of)]
    return tuple(
        GangFit(
            name,
            is_job,
            needs,
            len(of),
            sum(_has_node(pod, placed, gone) for pod in of),
            sum(_has_node(pod, (), gone) for pod in of),
        )
        for name, is_job, needs, of in found
    )


def _has_node(pod: Pod, placed: Collection[str], gone: Collection[str]) -> bool:
    return pod.key not in gone and (bool(pod.node_name) or pod.key in placed)


def _jobs(meant: Iterable[Pod], among: Iterable[Pod]) -> Iterator[tuple[str, list[Pod]]]:
    """The Jobs of some pods that have several pods at once."""
    of_meant = {job for pod in meant if (job := _job(pod))}
    by_job: dict[str, list[Pod]] = {}
    for pod in among if of_meant else ():
        if (job := _job(pod)) in of_meant and not pod.is_finished:
            by_job.setdefault(job, []).append(pod)
    return ((job, of) for job, of in by_job.items() if len(of) > 1)


def _job(pod: Pod) -> str:
    """`namespace/name` of the Job that a pod belongs to; empty for none."""
    controller = pod.metadata.controller
    return f"{pod.namespace}/{controller.name}" if controller is not None and controller.kind == "Job" else ""


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
