"""A fix: a change of the pod or of the cluster after which the pod fits somewhere, and how to apply it."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from kubesched.api import KubeObject, Pod, completed, kind_of
from kubesched.documents import count
from kubesched.explanation.effort import Effort
from kubesched.framework import Status

PodEdit = Callable[[Pod], Pod]


class Edit(msgspec.Struct, frozen=True):
    """What happens to one object of the cluster.

    Attributes:
        kind, key: which object: a key of KINDS, and `namespace/name` or the name alone.
        change: gets the object, or None if there is none. It returns the object after the edit, or None to remove it.
    """

    kind: str
    key: str
    change: Callable[[Any], KubeObject | None]


class Change(msgspec.Struct, frozen=True):
    """Edits of the pending pod and of objects of the cluster, in the order in which they are applied.

    Example:
        gone = Change(edits=(Edit("Pod", "shop/web-7", lambda pod: None),))
        objects, pod = gone.apply(load_snapshot("cluster.json"), make_pod("new"))
    """

    of_pod: tuple[PodEdit, ...] = ()
    edits: tuple[Edit, ...] = ()

    def __add__(self, other: "Change") -> "Change":
        return Change(self.of_pod + other.of_pod, self.edits + other.edits)

    def pod(self, pod: Pod) -> Pod:
        """The pending pod after the change."""
        for edit in self.of_pod:
            pod = edit(pod)
        return pod

    def apply(self, objects: Iterable[KubeObject], pod: Pod) -> tuple[list[KubeObject], Pod]:
        """The objects of the cluster and the pending pod after the change; those that are new come last."""
        changed = {(kind_of(obj), obj.key): obj for obj in map(completed, objects)}
        for edit in self.edits:
            after = edit.change(changed.get((edit.kind, edit.key)))
            if after is not None:
                changed[edit.kind, edit.key] = after
            else:
                changed.pop((edit.kind, edit.key), None)
        return list(changed.values()), self.pod(pod)


class Fix(msgspec.Struct, frozen=True):
    """A change that was tried on the cluster: with it, the filters pass some nodes.

    Attributes:
        text: the change as an instruction: `tolerate pool=database:NoSchedule`.
        n_nodes: how many nodes fit with it.
        nodes: the first few of them, in the snapshot's order.
        keeps_intent: whether it keeps what the pod asks for and what nodes are reserved for.
        kind: a FixKind, such as `toleration`, `requests` or `movePod`; those of a pair with `+` between them.
        parts: the fixes of which all are needed; empty for a single one.
        change: what is changed.
        answers: the node whose obstacles it removes: the first of the nodes, or the one that a new node is like.
        effort: what it costs; of several parts, the most.
        fault: what a plugin fails with on other nodes, also with the change; None for nothing. It ends an attempt that
            reaches them.
        leaves_pending: `namespace/name` of the pods that make way for it and then have no node.

    Example:
        fix = explain(load_snapshot("cluster.json"), make_pod("big", requests={"cpu": "5"})).fixes[0]
        objects, pod = fix.change.apply(load_snapshot("cluster.json"), make_pod("big", requests={"cpu": "5"}))
        assert explain(objects, pod).fits
    """

    text: str
    n_nodes: int
    nodes: tuple[str, ...]
    keeps_intent: bool
    kind: str
    parts: "tuple[Fix, ...]" = ()
    change: Change = Change()
    answers: str = ""
    leaves_pending: tuple[str, ...] = ()
    effort: Effort = Effort.ADAPT
    fault: Status | None = None

    def __str__(self) -> str:
        return f"{self.text} -> {count(self.n_nodes, 'node')}"
