"""A fix: a change of the pod or of the cluster after which the pod fits somewhere, and how to apply it."""

import msgspec

from kubesched.api import Patch, Pod
from kubesched.documents import count
from kubesched.explanation.change import Change
from kubesched.explanation.effort import Effort
from kubesched.explanation.patches import Before, FixPart, patches_of
from kubesched.framework import Status


class Fix(msgspec.Struct, frozen=True):
    """A change that was tried on the cluster: with it, the filters pass some nodes.

    Attributes:
        text: the change as an instruction: `tolerate pool=database:NoSchedule`.
        n_nodes: how many nodes fit with it.
        nodes: the first few of them, in the snapshot's order.
        keeps_intent: whether it keeps what the pod asks for and what nodes are reserved for.
        kind: a FixKind, such as `toleration`, `requests` or `movePod`; those of a pair with `+` between them.
        parts: the fixes of which all are needed; empty for a single one.
        change: what is changed; nothing for an upgrade.
        answers: the node whose obstacles it removes: the first of the nodes, or the one that a new node is like.
        effort: what it costs; of several parts, the most.
        fault: what a plugin fails with on other nodes, also with the change; None for nothing. It ends an attempt that
            reaches them.
        leaves_pending: `namespace/name` of the pods that make way for it and then have no node.
        n_pods, n_equal: how many of the pending pods of the workload get a node with it one after another, and how many
            it has; 1 of 1 where each of them is helped alike.
        before: what it changes, as it is before; None where nothing is known of it.

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
    n_pods: int = 1
    n_equal: int = 1
    before: Before | None = None

    @property
    def is_short(self) -> bool:
        """Whether some of the pending pods of the workload have no node with it."""
        return self.n_pods < self.n_equal

    @property
    def pods_words(self) -> str:
        """How many of these get a node: `1 of 5 pods`."""
        return f"{self.n_pods:,} of {count(self.n_equal, 'pod')}"

    @property
    def patches(self) -> tuple[Patch, ...]:
        """The steps that apply it, in order, for programs and as commands; computed at each call."""
        if self.before is None:
            return ()
        parts = [FixPart(one.text, one.kind, one.change) for one in self.parts or (self,)]
        return patches_of(parts, self.change, self.before)

    @property
    def names_pod(self) -> bool:
        """Whether a step is about the pod itself, and not its template: each of equal pods needs a separate step."""
        if self.before is None or self.before.pod.metadata.controller is None:
            return self.before is not None
        own = "Pod", self.before.pod.namespace, self.before.pod.name
        targets = (patch.target for patch in self.patches)
        return any((one.kind, one.namespace, one.name) == own for one in targets if one is not None)

    def for_pod(self, pod: Pod) -> "Fix":
        """The same fix for an equal pod, which its steps may name."""
        if self.before is None:
            return self
        return msgspec.structs.replace(self, before=msgspec.structs.replace(self.before, pod=pod))

    def __str__(self) -> str:
        if self.is_short:
            return f"{self.text} -> {self.pods_words}"
        return f"{self.text} -> {count(self.n_nodes, 'node')}"


def to_repair(fault: Status) -> str:
    """What has to be repaired before other fixes count: a plugin that raised, or what one that did not reports."""
    return f"plugin {fault.plugin}" if fault.place else f"the error that plugin {fault.plugin} reports"
