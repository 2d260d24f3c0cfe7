"""What remedies are made from: the explanation of a pod, its nodes, and short ways to write edits."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec
import numpy as np

from kubesched.admission import AddedParts, added_parts
from kubesched.api import (
    AffinityToNodes,
    Container,
    KubeObject,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    edited,
)
from kubesched.controllers import Allowance, is_bound_to_node
from kubesched.documents import count, joined, listed, plural
from kubesched.engine import BoolVector, FloatVector, IntMatrix
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.effort import Effort, FixKind, usual_effort
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.snapshot_time import newest_time
from kubesched.explanation.trial import Move
from kubesched.framework import Code
from kubesched.naming import near_key
from kubesched.plugins import RequiredNodeAffinity, missing_resources
from kubesched.session import group_nodes
from kubesched.state import Has, Identity, NodeInfo, Nodes, PodInfo, Rows

ELSEWHERE: Final = "to another node"
"""In the text of a remedy that moves one pod; the fix has the node instead."""

OTHERS: Final = "{others}"
"""In the text of a remedy that is one of several: what would help in its place."""

_PLACES: Final = ("zone", "region", "arch", "os")  # ends of label keys that do not say which pool a node is of
_ABOVE_ALL: Final = 2**62  # higher than every priority


class Remedy(msgspec.Struct, frozen=True):
    """A change that may help; `text`, `kind`, `keeps_intent` and `change` mean the same as in a Fix.

    Attributes:
        ladder: of the remedies with the same ladder, only the first that helps is worth a word; empty for none.
        moves: pods that have to go to other nodes.
        needs_places: whether it helps only if each of them has another node.
        like: the node that a new node is like; empty for none.
        effort: what it costs; None for what remedies of its kind cost.
        steps: what it consists of, where another remedy may be a part of it; empty for one step.
        counts_pods: whether the next equal pod may have no place, because a rule counts pods or devices are few.
        instead: what a person may choose in its place -> the change; tried, too.
        text_with_others: the text where some of these help.
    """

    text: str
    kind: FixKind
    keeps_intent: bool
    change: Change
    ladder: str = ""
    moves: tuple[Move, ...] = ()
    needs_places: bool = False
    like: str = ""
    effort: Effort | None = None
    steps: tuple[str, ...] = ()
    counts_pods: bool = False
    instead: tuple[tuple[str, Change], ...] = ()
    text_with_others: str = ""

    @property
    def cost(self) -> Effort:
        """What it costs."""
        return usual_effort(self.kind, keeps_intent=self.keeps_intent) if self.effort is None else self.effort


class Case:
    """A pod that fits nowhere.

    Attributes:
        evaluation: the pod's attempt, with the verdicts of all plugins.
        info, pod: the pod.
        nodes: all nodes.
        given: nodes that no remedy opens, because the question has changed them.
        waiting: the other pending pods.
        nominated: pending pods that keep room on nodes for themselves, with the positions of these nodes.
        findings: what several remedies ask for, by name, once it has been looked for.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        nominated: Sequence[tuple[int, PodInfo]] = (),
        given: Collection[str] = (),
        waiting: Sequence[Pod] = (),
    ) -> None:
        self.evaluation = evaluation
        self.waiting = waiting
        self.given = given
        self.nominated = nominated
        self.findings: dict[str, dict[tuple[str, int, int], list[int]]] = {}
        self.info = evaluation.info
        self.pod = evaluation.pod
        self.nodes = evaluation.nodes

    def may_open(self, where: BoolVector) -> BoolVector:
        """(nodes,) bool: those of some nodes that a remedy may open."""
        known = [position for name in self.given if (position := self.nodes.position_of(name)) is not None]
        open_ = where.copy()
        open_[known] = False
        return open_

    def rejected(self, *plugins: str) -> BoolVector:
        """(nodes,) bool: nodes that one of these plugins rejects."""
        rejected = np.zeros(len(self.nodes), dtype=np.bool_)
        for name in plugins:
            said = self.evaluation.by_plugin.get(name)
            if said is not None:
                rejected |= said.rejected
        return rejected

    def object_of(self, kind: str, key: str) -> KubeObject | None:
        """An object of the cluster, by its `namespace/name` or its name alone; None for none."""
        return self.evaluation.snapshot.objects.get(kind, key)

    def objects(self, kind: str) -> Iterable[KubeObject]:
        """The objects of a kind, in order of appearance."""
        return self.evaluation.snapshot.objects.list(kind)

    def near_key(self, key: str) -> str:
        """The label key of some node that was probably meant, where no node has the written one; empty for none."""
        if (self.nodes.codes(key) > 0).any():
            return ""
        return near_key(key, list({key: None for node in self.nodes for key in node.labels}))

    def at(self, where: BoolVector) -> Iterator[NodeInfo]:
        """The nodes of a mask."""
        return (self.nodes[position] for position in np.flatnonzero(where).tolist())

    def may_go(self, pods: Iterable[PodInfo]) -> bool:
        """Whether pods can be evicted together: none belongs to its node or leaves anyway, and all budgets allow it."""
        allowance = Allowance(self.evaluation.snapshot.cluster_state.disruption_budgets)
        return all(
            not is_bound_to_node(info.pod) and not info.pod.is_terminating and allowance.take(info.pod) for info in pods
        )

    def higher(self, pods: Iterable[PodInfo]) -> list[Pod]:
        """Those of some pods that have a higher priority than this one."""
        return [info.pod for info in pods if info.pod.priority > self.pod.priority]

    @cached_property
    def missing(self) -> tuple[list[str], IntMatrix]:
        """Resources, and (resources, nodes) how much of each NodeResourcesFit misses; none where it did not run."""
        said = self.evaluation.by_plugin.get("NodeResourcesFit")
        if said is None or said.index is None or any(one.code is Code.ERROR for one in said.distinct):
            return [], np.zeros((0, len(self.nodes)), dtype=np.int64)
        return missing_resources(self.evaluation.asked[said.plugin].state, self.nodes)

    @cached_property
    def shortage(self) -> FloatVector:
        """(nodes,) what is missing, summed over the resources, each as a share of what the pod asks for."""
        names, missing = self.missing
        wanted = {**self.info.requests.value.wanted, "pods": 1}
        share = missing / np.array([[wanted[name]] for name in names]).reshape(-1, 1)
        total: FloatVector = share.sum(axis=0)
        return total

    def largest(self, resource: str) -> int:
        """How much of a resource the node offers that has most of it."""
        row = self.nodes.columns.resources.find(resource)
        return 0 if row is None else int(self.nodes.allocatable[row].max(initial=0))

    @cached_property
    def chosen(self) -> BoolVector | None:
        """(nodes,) bool: the kind of nodes that the pod chooses, wherever they are; None where it chooses no kind.

        A node selector or required node affinity of a place or platform alone, such as a zone, chooses no kind.
        """
        choice = self.info.node_choice.value
        pairs = [(key, value) for key, value in choice.node_selector if not _is_place(key)]
        required = choice.affinity.required if choice.affinity else None
        terms = [_without_places(term) for term in (required.node_selector_terms if required else None) or ()]
        has_terms = bool(terms) and all(term.match_expressions or term.match_fields for term in terms)
        if not pairs and not has_terms:
            return None
        affinity = AffinityToNodes(NodeSelector(tuple(terms))) if has_terms else None
        return RequiredNodeAffinity(pairs, affinity).matches(self.nodes)

    @cached_property
    def pools(self) -> dict[str, str]:
        """Node -> its pool; empty where no label says it."""
        return {name: group.pool for name, group in group_nodes(node.node for node in self.nodes).items()}

    @cached_property
    def now(self) -> float:
        """Seconds since 1970: the newest time in the cluster; 0 where nothing says it."""
        return newest_time([self.pod, *(info.pod for info in self.placed.pods), *(node.node for node in self.nodes)])

    @cached_property
    def added(self) -> AddedParts:
        """What admission added to the pod."""
        return added_parts(self.pod, self.evaluation.snapshot.objects.get)

    @cached_property
    def placed(self) -> "PodsOnNodes":
        """The pods on the nodes."""
        return PodsOnNodes(self.nodes)


def _is_place(key: str) -> bool:
    return key.rpartition("/")[2] in _PLACES


def _without_places(term: NodeSelectorTerm) -> NodeSelectorTerm:
    kept = tuple(one for one in term.match_expressions or () if not _is_place(one.key))
    return msgspec.structs.replace(term, match_expressions=kept)


class PodsOnNodes:
    """The pods on some nodes, node by node, as they are before any change is tried.

    Attributes:
        pods: the pods.
        positions: (pods,) the position of the node of each.
        leaving, with_volumes, with_anti_affinity: (n,) indices of those that are being deleted, that have volumes, and
            that have required anti-affinity.
    """

    def __init__(self, nodes: Nodes) -> None:
        batch, self.positions = nodes.columns.pod_table.below(_ABOVE_ALL, nodes.all_rows, nodes.columns.n_rows)
        self.pods = list(batch.infos)
        self.leaving = batch.having(Has.DELETION_TIMESTAMP)
        self.with_volumes = batch.having(Has.VOLUMES)
        self.with_anti_affinity = batch.having(Has.ANTI_AFFINITY)
        self._identities, self._which = batch.identities()

    @cached_property
    def daemon_sets(self) -> dict[str, PodInfo]:
        """The uid of each DaemonSet -> one of its pods."""
        owners = ((info.pod.metadata.controller, info) for info in self.pods)
        return {owner.uid: info for owner, info in owners if owner is not None and owner.kind == "DaemonSet"}

    def matching(self, test: Callable[[Identity], bool]) -> Rows:
        """(n,) indices of the pods whose namespace and labels pass a test."""
        passes = np.array([test(identity) for identity in self._identities], dtype=np.bool_)
        return np.flatnonzero(passes[self._which])

    def selected(self, test: Callable[[Identity], bool]) -> list[tuple[PodInfo, int]]:
        """The pods whose namespace and labels pass a test, each with the position of its node."""
        return [(self.pods[index], int(self.positions[index])) for index in self.matching(test).tolist()]

    def in_namespace(self, namespace: str) -> list[tuple[PodInfo, int]]:
        """The pods of a namespace, each with the position of its node."""
        return self.selected(lambda them: them.namespace == namespace)


def node_words(names: Iterable[str]) -> str:
    """`n1`, or `3 nodes (n1, n2, n3)`."""
    known = list(names)
    return known[0] if len(known) == 1 else f"{count(len(known), 'node')} ({listed(known)})"


def repair_words(names: Iterable[str]) -> str:
    """How nodes whose kubelet is silent report again; their machines may be terminated, which no object shows."""
    known = list(names)
    still = plural(len(known), "its machine still exists", "their machines still exist")
    return f"repair {node_words(known)}, if {still} (the kubelet does not report)"


def of(info: PodInfo) -> str:
    """A placed pod with its node."""
    return f"{info.pod.key} ({info.pod.node_name})"


def removal(pods: Iterable[PodInfo]) -> Change:
    """The change that takes pods away."""
    return Change(edits=tuple(Edit("Pod", info.pod.key, lambda pod: None) for info in pods))


def moved(
    case: Case,
    text: str,
    kind: FixKind,
    pods: Sequence[PodInfo],
    domains: frozenset[tuple[str, str]] = frozenset(),
    **more: Any,
) -> Iterator[Remedy]:
    """The remedy that evicts pods, out of some domains; none where they cannot be evicted.

    Replicas of the pod's own controller cost less: to create them again is a command, and no other workload is hit.
    Pods of a higher priority cost more.
    """
    if not case.may_go(pods):
        return
    effort = Effort.OPEN if all(is_equal(info.pod, case.pod) for info in pods) else None
    if higher := case.higher(pods):
        text, effort = f"{text} ({joined(f'{one.key} has priority {one.priority}' for one in higher)})", Effort.OUTRANK
    moves, keeps = moves_of(pods, domains), not higher
    yield Remedy(f"{text}{loss_words(pods)}", kind, keeps, removal(pods), moves=moves, effort=effort, **more)


def off_node(case: Case, info: PodInfo, kind: FixKind, rest: str = "", **more: Any) -> Iterator[Remedy]:
    """The remedy that moves one pod off its node; none where it cannot be evicted."""
    return moved(case, f"move {info.pod.key} from {info.pod.node_name} {ELSEWHERE}{rest}", kind, [info], **more)


def moves_of(pods: Iterable[PodInfo], domains: frozenset[tuple[str, str]] = frozenset()) -> tuple[Move, ...]:
    """The moves of some pods, out of the same domains."""
    return tuple(Move(info.pod, domains) for info in pods)


def loss_words(pods: Iterable[PodInfo]) -> str:
    """What is lost when pods leave their nodes; empty for nothing."""
    every = [info.pod for info in pods]
    names = list(dict.fromkeys(one.name for pod in every for one in pod.spec.volumes or () if one.empty_dir))
    jobs = [pod.key for pod in every if _is_of_job(pod)]
    words = [f"what is in emptyDir {joined(names)} is lost"] if names else []
    words += [f"{joined(jobs)}, of a Job, {plural(len(jobs), 'starts', 'start')} over"] if jobs else []
    return f" ({'; '.join(words)})" if words else ""


def harm(pod: Pod) -> int:
    """How much is lost when a pod leaves its node: nothing, its name for a while, its data or its work."""
    if _is_of_job(pod) or any(one.empty_dir for one in pod.spec.volumes or ()):
        return 2
    owner = pod.metadata.controller
    return int(owner is not None and owner.kind == "StatefulSet")


def _is_of_job(pod: Pod) -> bool:
    owner = pod.metadata.controller
    return owner is not None and owner.kind == "Job"


def held_by_daemons(node: NodeInfo, names: Iterable[str]) -> dict[str, int]:
    """Resource -> how much of it the pods that belong to a node take."""
    held = [{**info.requests.value.held, "pods": 1} for info in daemons(node)]
    return {name: sum(one.get(name, 0) for one in held) for name in names}


def daemons(node: NodeInfo) -> list[PodInfo]:
    """The pods that belong to a node: those of DaemonSets, and static pods."""
    return [info for info in node.pods if is_bound_to_node(info.pod)]


def is_equal(one: Pod, other: Pod) -> bool:
    """Whether one controller owns both pods."""
    owner, others = one.metadata.controller, other.metadata.controller
    return owner is not None and others is not None and one.namespace == other.namespace and owner.uid == others.uid


def with_label(node: Node, key: str, value: str) -> Node:
    """The node with one label more."""
    return edited(node, metadata=msgspec.structs.replace(node.metadata, labels={**node.labels, key: value}))


def node_edit(name: str, change: Callable[[Node], Node]) -> Edit:
    """An edit of a node."""
    return Edit("Node", name, change)


def spec_edit(change: Callable[[PodSpec], PodSpec]) -> Change:
    """An edit of the pod's spec."""
    return Change(of_pod=(lambda pod: edited(pod, spec=change(pod.spec)),))


def field_edit(path: str, new: object = None) -> Change:
    """An edit that gives one field of the pod's spec, such as `affinity.pod_affinity.required`, another value."""
    return spec_edit(lambda spec: _replaced(spec, path, new))


def _replaced(value: Any, path: str, new: object) -> Any:
    """A struct with another value at a path; the same one where the path leads through a field that is absent."""
    name, _, rest = path.partition(".")
    inner = getattr(value, name)
    if rest and inner is None:
        return value
    return msgspec.structs.replace(value, **{name: _replaced(inner, rest, new) if rest else new})


def containers_edit(change: Callable[[Container], Container]) -> Change:
    """An edit of every container and init container of the pod."""

    def changed(spec: PodSpec) -> PodSpec:
        lists = {name: getattr(spec, name) for name in ("containers", "init_containers")}
        return msgspec.structs.replace(spec, **{name: tuple(map(change, some)) for name, some in lists.items() if some})

    return spec_edit(changed)


def daemon_set(pod: Pod) -> bool:
    """Whether a DaemonSet owns the pod, so that it belongs to its node."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind == "DaemonSet"
