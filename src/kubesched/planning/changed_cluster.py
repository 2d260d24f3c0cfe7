"""Changes to a cluster in one piece: what the what-if options of a command ask for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from kubesched.api import KubeObject, Node, Pod, kind_of
from kubesched.controllers import Controllers, LeavingPods, controllers_of, job_of, node_shapes, note_on_model
from kubesched.documents import count, joined, listed, plural
from kubesched.errors import InputError
from kubesched.naming import chosen_nodes, is_selector, nodes_named
from kubesched.planning.changes import cordoned, note_on_scale, scaled, uncordoned, with_nodes_like, without_nodes
from kubesched.snapshot import ClusterObjects, admit_manifests, as_read

_MAX_NAMED: Final = 3
_FILES: Final = (".json", ".yaml", ".yml", ".gz", ".zst")


class Changed(NamedTuple):
    """A cluster after changes.

    Attributes:
        cluster: with what was known of the one before: when it was read, and which kinds are there completely.
        notes: what became of pods, and what new nodes do not have of their model, one sentence each.
        assumed: the changes, each as what follows "if": `n1 and n2 were removed`.
        nodes: kind and name of the nodes that are other ones then: no fix takes that back.
        lost, may_be_lost: `namespace/name` of the pods of which no controller, or perhaps none, creates new ones.
    """

    cluster: ClusterObjects
    notes: list[str]
    assumed: tuple[str, ...]
    nodes: frozenset[tuple[str, str]] = frozenset()
    lost: tuple[str, ...] = ()
    may_be_lost: tuple[str, ...] = ()

    @property
    def objects(self) -> tuple[KubeObject, ...]:
        """Those of the cluster."""
        return self.cluster.objects


class WhatIf(msgspec.Struct, frozen=True):
    """Changes to a cluster, made in this order: `uncordon`, `cordon`, `add_nodes`, `remove`, `scale`.

    Attributes:
        cordon: nodes: names, or label selectors such as `pool=spot`.
        add_nodes: how many nodes are added.
        like: their model: the name of a node, a node group, `NODEPOOL/TYPE`, or a file with a Node.
        remove: nodes that are removed, as in `cordon`. Their pods are pending then, re-created by their controllers.
        scale: workload -> number of pods, such as `deploy/web` -> 20.
        uncordon: as `cordon`; of the nodes that one of them chooses, at least one is cordoned.

    Example:
        changed = WhatIf(scale={"deploy/web": 20}).applied(load_snapshot("cluster.json"))
    """

    cordon: tuple[str, ...] = ()
    add_nodes: int = 0
    like: str = ""
    remove: tuple[str, ...] = ()
    scale: dict[str, int] = {}
    uncordon: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != WhatIf()

    def applied(self, objects: Iterable[KubeObject]) -> Changed:
        """The changed cluster.

        Args:
            objects: the cluster; of ClusterObjects, `taken_at` and `listed_kinds` count too.

        Raises:
            InputError: a node or a workload is not there, a selector selects nothing, or a number is out of range.
        """
        read = as_read(objects)
        before = known = list(read)
        notes: list[str] = []
        assumed: list[str] = []
        freed: list[str] = []
        lost: dict[bool | None, dict[str, str]] = {}
        for name in dict.fromkeys(self.uncordon):  # each of the cluster as it is: they may choose the same nodes
            alone = uncordoned(known, chosen_nodes(known, [name]))
            freed.append(_nodes_of(name, sum(node is not old for node, old in zip(alone, known, strict=True))))
        if freed:
            assumed.append(f"{joined(freed, _MAX_NAMED)} were uncordoned")
            known = uncordoned(known, chosen_nodes(known, self.uncordon))
        if self.cordon:
            assumed.append(f"{_named(known, self.cordon)} were cordoned")
            known = cordoned(known, chosen_nodes(known, self.cordon))
        if self.add_nodes:
            assumed.append(f"{count(self.add_nodes, 'node')} like {self.like} were added")
            model = node_model(known, self.like)
            notes += filter(None, [note_on_model(model, known)])
            known = with_nodes_like(known, model, self.add_nodes)
        if self.remove:
            assumed.append(f"{_named(known, self.remove)} were removed")
            names = chosen_nodes(known, self.remove)
            evictions = _Evictions(known, names, controllers_of(known, read.taken_at, read.listed_kinds))
            known, n_back = _replaced(known, names, evictions)
            lost = evictions.lost()
            notes += _loss_notes(lost, names, n_back)
        for workload, n in self.scale.items():
            notes += filter(None, [note_on_scale(known, workload, n)])
            known = scaled(known, workload, n)
            assumed.append(f"{workload} had {count(n, 'pod')}")
        nodes = frozenset(("Node", name) for name in _other_nodes(before, known))
        cluster = msgspec.structs.replace(read, objects=tuple(known))
        return Changed(cluster, notes, tuple(assumed), nodes, tuple(lost.get(False, ())), tuple(lost.get(None, ())))


def premise(assumed: Sequence[str]) -> str:
    """The beginning of an answer: `If n1 were removed, and deploy/web had 20 pods: `; empty without changes."""
    return f"If {', and '.join(assumed)}: " if assumed else ""


def node_model(objects: Sequence[KubeObject], text: str) -> Node:
    """The node of a name, the one in a file, or one of a shape such as a node group or `NODEPOOL/TYPE`.

    Raises:
        InputError: there is no such node, or the file has no node, several, or one with an unknown field.
    """
    if not text.endswith(_FILES) and not _is_file(text):
        return _of_shape(objects, text) or nodes_named(objects, [text])[0]
    nodes = [known for known in admit_manifests((), [text]).objects if isinstance(known, Node)]
    if len(nodes) != 1:
        raise InputError(f"{text}: found {len(nodes)} nodes; expected a file with one Node")
    return nodes[0]


def _other_nodes(before: Iterable[KubeObject], after: Iterable[KubeObject]) -> Iterator[str]:
    """The nodes that are only in one of two clusters, or are another object there."""
    known, left = ({one.name: one for one in objects if isinstance(one, Node)} for objects in (before, after))
    return (name for name in known.keys() | left.keys() if known.get(name) is not left.get(name))


def _of_shape(objects: Sequence[KubeObject], name: str) -> Node | None:
    """A node of a shape that autoscalers may add; None where a node has the name, or no shape."""
    if any(isinstance(one, Node) and one.name == name for one in objects):
        return None
    known = node_shapes(objects)
    shape = next((one for one in known.shapes if one.name == name), None)
    return None if shape is None else next(shape.models_for(None, known.places))


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # no file has so long a name, or it may not be looked for
        return False


def _replaced(
    known: Sequence[KubeObject], names: Sequence[str], evictions: "_Evictions"
) -> tuple[list[KubeObject], int]:
    """The cluster without some nodes, with what controllers make for their pods, and how many pods they make."""
    back: list[KubeObject] = []
    gone = {("Pod", pod.key) for pod in evictions.ended}
    for pod in evictions.pods:
        made, lost = evictions.leaving.replacement(pod)
        back += made
        gone.update((kind_of(one), one.key) for one in lost)
    kept = [one for one in without_nodes(known, names) if (kind_of(one), one.key) not in gone]
    return kept + back, sum(isinstance(one, Pod) for one in back)


class _Evictions:
    """The pods of removed nodes, which leave together.

    Attributes:
        ended: pods elsewhere of Jobs that fail because of them; they end with their Job.
    """

    def __init__(self, objects: Sequence[KubeObject], names: Sequence[str], counted: Controllers) -> None:
        by_key = {(kind_of(one), one.key): one for one in objects}
        self.pods = [one for one in objects if isinstance(one, Pod) and one.node_name in names]
        self.leaving = LeavingPods(self.pods, lambda kind, key: by_key.get((kind, key)), counted)
        self._ends = self.leaving.ended_jobs()
        self.ended = [
            one
            for one in (objects if self._ends else ())
            if isinstance(one, Pod) and job_of(one) in self._ends and one.node_name not in names
            if not (one.is_finished or one.is_terminating)
        ]

    def lost(self) -> dict[bool | None, dict[str, str]]:
        """Why pods are lost (False) or may be lost (None), by `namespace/name`."""
        lost: dict[bool | None, dict[str, str]] = {False: {}, None: {}}
        for pod in self.pods:
            successor = self.leaving.successor(pod)
            if successor.is_loss:
                lost[successor.is_made][pod.key] = successor.why
        lost[False] |= {pod.key: self._ends[job_of(pod)].why for pod in self.ended}
        return lost


def _loss_notes(lost: Mapping[bool | None, Mapping[str, str]], names: Sequence[str], n_back: int) -> Iterator[str]:
    """How many pods are re-created, how many are or may be lost, and the reasons of the first."""
    nodes = plural(len(names), "node")
    yield f"{count(n_back - len(lost[None]), 'pod')} of the removed {nodes} would be re-created"
    for is_made, words, but in ((False, "would be", ""), (None, "may be", "; placed here as if re-created")):
        whose: dict[str, list[str]] = {}
        for pod, why in lost[is_made].items():
            whose.setdefault(why, []).append(pod)
        shown = [f"{listed(pods)} ({why})" for why, pods in whose.items()]
        if shown:
            yield f"{count(len(lost[is_made]), 'pod')} {words} lost: {_in_short(shown)}{but}"


def _in_short(reasons: Sequence[str]) -> str:
    n_more = len(reasons) - _MAX_NAMED
    more = f"; and for {count(n_more, 'other reason')}" if n_more > 0 else ""
    return "; ".join(reasons[:_MAX_NAMED]) + more


def _named(objects: Sequence[KubeObject], given: Sequence[str]) -> str:
    """Nodes in words: names, and how many nodes a selector selects."""
    nodes = (_nodes_of(name, len(chosen_nodes(objects, [name]))) for name in dict.fromkeys(given))
    return joined(nodes, _MAX_NAMED)


def _nodes_of(name: str, n: int) -> str:
    return f"{count(n, 'node')} with {name}" if is_selector(name) else name
