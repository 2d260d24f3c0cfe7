"""Gangs: how many pods of a group fit now, and what the rest lacks."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from kubesched.api import EventType, KubeObject, Pod, WatchEvent, completed
from kubesched.errors import InputError
from kubesched.explanation.choice import choice
from kubesched.explanation.explainer import Explainer, is_running, unplaced
from kubesched.explanation.names import near_words
from kubesched.explanation.outcome import diagnosis
from kubesched.reports import Align, Check, Column, Level, Page, Paragraph, Row, Table

__all__ = ["Gang", "GroupFit", "find_group", "group_page", "place_group"]

_KEYS: Final = {
    "scheduling.x-k8s.io/pod-group": "",
    "pod-group.scheduling.sigs.k8s.io": "",
    "pod-group.scheduling.sigs.k8s.io/name": "pod-group.scheduling.sigs.k8s.io/min-available",
    "scheduling.k8s.io/group-name": "",
    "kueue.x-k8s.io/pod-group-name": "kueue.x-k8s.io/pod-group-total-count",
}
"""Label or annotation that names the group of a pod -> the one with the number of pods that it needs; empty where
minMember of the PodGroup has it.

Rule: in this order, scheduler-plugins coscheduling of scheduling.x-k8s.io/v1alpha1 and scheduling.sigs.k8s.io/v1alpha1,
the lightweight one before them, Volcano scheduling.volcano.sh/v1beta1, Kueue kueue.x-k8s.io/v1beta1.
"""
_NO_MINIMUM: Final = (
    "No pod has a label or annotation with the minimum of the group, and kubesched does not read PodGroup objects. All "
    "pods of the group are counted as needed."
)
_ONE_BY_ONE: Final = (
    "kube-scheduler's default plugins place the pods of a group one by one: those that fit start, also if the rest "
    "does not fit."
)


class Gang(msgspec.Struct, frozen=True):
    """Pods that are to run together.

    Attributes:
        key: the label or annotation that names it.
        minimum: how many of its pods it needs at once: what its pods say, else all of them.
        pods: those that have not ended.
        is_minimum_known: whether its pods say it.
    """

    namespace: str
    name: str
    key: str
    minimum: int
    pods: tuple[Pod, ...]
    is_minimum_known: bool = True


class GroupFit(msgspec.Struct, frozen=True):
    """A group and the nodes for its pods.

    Attributes:
        running: `namespace/name` of the pods that have a node.
        placed: pending pod -> the node that it would get, behind the pods before it.
        lacking: pending pod -> why it would not get a node now, in one line.
        profile: whose plugins decided.
    """

    group: Gang
    running: tuple[str, ...]
    placed: dict[str, str]
    lacking: dict[str, str]
    profile: str


def find_group(objects: Iterable[KubeObject], name: str, namespace: str = "") -> Gang:
    """Find a group by its name, or by `KEY=NAME` where its label or annotation is not a known one.

    Args:
        namespace: where to look; empty for all.
    Raises:
        InputError: no pod, or pods of several namespaces, are of such a group.

    Example:
        pods = [make_pod(f"worker-{i}", labels={"team": "red"}) for i in range(3)]
        assert find_group(pods, "team=red").minimum == 3
    """
    key, sign, value = name.rpartition("=")
    keys = (key,) if sign else tuple(_KEYS)
    pods = [pod for pod in objects if isinstance(pod, Pod) and not pod.is_finished]
    pods = [pod for pod in pods if not namespace or pod.namespace == namespace]
    for one in keys:
        members = [pod for pod in pods if _value(pod, one) == value]
        spaces = list(dict.fromkeys(pod.namespace for pod in members))
        if len(spaces) > 1:
            raise InputError(f"--group {name}: namespaces {', '.join(spaces)} have such a group; name one with -n")
        if members:
            minimum = _minimum(members, one)
            needed = len(members) if minimum is None else minimum
            return Gang(spaces[0], value, one, needed, tuple(members), minimum is not None)
    known = {_value(pod, one) for pod in pods for one in keys} - {""}
    near = near_words(value, sorted(known))
    told = f"; {near}" if near else f"; pods name their group with {' or '.join(keys)}, others with --group KEY=NAME"
    raise InputError(f"--group {name}: no pod is of such a group{told}")


def place_group(explainer: Explainer, group: Gang) -> GroupFit:
    """Place the pending pods of a group one after another, highest priority first; the cluster is afterwards as before.

    Pods that no profile serves are judged by the first one.

    Example:
        snapshot = [*load_snapshot("cluster.json"), make_pod("worker-0", labels={"team": "red"})]
        with Explainer(snapshot, set_up()) as explainer:
            fit = place_group(explainer, find_group(snapshot, "team=red"))
        assert fit.placed == {"default/worker-0": "n1"}
    """
    running = tuple(pod.key for pod in group.pods if is_running(pod))
    waiting = sorted((completed(pod) for pod in group.pods if not pod.node_name), key=lambda pod: -pod.priority)
    placed: dict[str, str] = {}
    lacking: dict[str, str] = {}
    bound: list[Pod] = []
    profile = ""
    try:
        for pod in waiting:
            asked = _served(pod, explainer)
            profile = asked.scheduler_name
            explanation = explainer.explain(unplaced(asked), preempt=False)
            if explanation.held_back:
                lacking[pod.key] = explanation.held_back
                continue
            chosen = choice(explanation)
            if chosen is None:
                fault = explanation.failure
                lacking[pod.key] = diagnosis(explanation) if fault is None else fault.message
                continue
            placed[pod.key] = chosen.best.node
            spec = msgspec.structs.replace(asked.spec, node_name=chosen.best.node)
            bound.append(msgspec.structs.replace(asked, spec=spec))
            explainer.cluster_state.apply(WatchEvent(EventType.ADDED, "Pod", bound[-1]))
    finally:
        for pod in reversed(bound):
            explainer.cluster_state.apply(WatchEvent(EventType.DELETED, "Pod", pod))
    return GroupFit(group, running, placed, lacking, profile)


def group_page(fit: GroupFit, again: str = "kubesched explain") -> Page:
    """The report on a group: how many of its pods fit now, where, and what the rest lacks.

    Example:
        fit = GroupFit(Gang("ml", "red", "team", 2, ()), ("ml/a",), {"ml/b": "n1"}, {}, "default-scheduler")
        assert group_page(fit).verdict.text == "Group ml/red needs 2 pods: 1 runs, 1 of 1 pending pods would fit now."
    """
    group = fit.group
    n_pending = len(fit.placed) + len(fit.lacking)
    is_enough = len(fit.running) + len(fit.placed) >= group.minimum
    would = f"{len(fit.placed)} of {n_pending} pending pods would fit now"
    n_running = len(fit.running)
    run = f"{n_running} {'runs' if n_running == 1 else 'run'}, " if n_running else ""
    verdict = f"Group {group.namespace}/{group.name} needs {group.minimum} pods: {run}{would}."
    nodes: dict[str, int] = {}
    for node in fit.placed.values():
        nodes[node] = nodes.get(node, 0) + 1
    reasons: dict[str, list[str]] = {}
    for pod, why in fit.lacking.items():
        reasons.setdefault(why, []).append(pod)
    foreign = {pod.scheduler_name for pod in group.pods} - {fit.profile}
    parts: list[Table | Paragraph] = [
        _table("lacking", "Would not be placed:", ("PODS", "WHY"), [[len(pods), why] for why, pods in reasons.items()]),
        _table("placed", "Would be placed:", ("PODS", "NODE"), [[n, node] for node, n in nodes.items()]),
    ]
    if foreign and fit.profile:
        names = ", ".join(sorted(foreign))
        parts.append(
            Paragraph(f"The pods are for scheduler {names}; the answer is that of {fit.profile}.", Level.WARNING)
        )
    if not group.is_minimum_known:
        parts.append(Paragraph(_NO_MINIMUM, Level.DETAIL))
    parts.append(Paragraph(_ONE_BY_ONE))
    document = {
        "group": f"{group.namespace}/{group.name}",
        "key": group.key,
        "minimum": group.minimum,
        "running": list(fit.running),
        "placed": [{"pod": pod, "node": node} for pod, node in fit.placed.items()],
        "lacking": [{"pod": pod, "why": why} for pod, why in fit.lacking.items()],
    }
    first = next(iter(fit.lacking or fit.placed), "")
    return Page(
        "explain-group",
        Paragraph(verdict, Level.GOOD if is_enough else Level.BAD),
        tuple(parts),
        main="placed" if fit.placed else "lacking",
        next_command=f"{again} {first}" if again and first and not foreign else "",
        document=document,
        lines=(document,),
        checks=[Check(*_split(pod), fit.lacking.get(pod, "")) for pod in (*fit.running, *fit.placed, *fit.lacking)],
    )


def _table(name: str, title: str, headings: tuple[str, str], rows: Sequence[Row]) -> Table:
    second = Align.NODE if headings[1] == "NODE" else Align.TEXT
    columns = (Column("pods", headings[0], Align.NUMBER), Column(headings[1].lower(), headings[1], second))
    return Table(name, title, columns, rows)


def _split(key: str) -> tuple[str, str]:
    namespace, _, name = key.partition("/")
    return namespace, name


def _served(pod: Pod, explainer: Explainer) -> Pod:
    """The pod, for a profile that there is."""
    if pod.scheduler_name in explainer.frameworks:
        return pod
    name = next(iter(explainer.frameworks))
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, scheduler_name=name))


def _value(pod: Pod, key: str) -> str:
    return pod.labels.get(key) or pod.annotations.get(key) or ""


def _minimum(members: Sequence[Pod], key: str) -> int | None:
    """How many pods the group needs, as its pods say; None where they do not."""
    for pod in members:
        for name in (_KEYS.get(key, ""), f"{key}-min"):
            if _value(pod, name).isdecimal():
                return int(_value(pod, name))
    return None
