"""The record of one attempt to place a pod; messages, events, metrics and reports are made from it."""

from collections.abc import Iterable

import msgspec

from kubesched.api import Pod
from kubesched.framework.actions import Action
from kubesched.framework.status import Status
from kubesched.release import Release
from kubesched.state import PodInfo


class NodeScore(msgspec.Struct, frozen=True):
    """A feasible node with its scores.

    Attributes:
        total: the sum of `scores`.
        scores: plugin -> normalised score x weight; empty when only one node was feasible.
    """

    node_name: str
    total: int
    scores: dict[str, int]


class Outcome(msgspec.Struct, frozen=True):
    """How a cycle ended.

    Attributes:
        status: SUCCESS; a rejection (reason Unschedulable); or an Error (reason SchedulerError).
        message: what users read when it is not SUCCESS.
    """

    status: Status
    message: str = ""

    @property
    def located(self) -> str:
        """The message with the place in the plugin's file where it is the fault of one."""
        return self.status.located if self.status.place else self.message


class Decision(msgspec.Struct, frozen=True):
    """One attempt. It keeps no columns. A later outcome is a new Decision.

    Attributes:
        pod: the pod, as it was tried.
        profile: the scheduler name that served it.
        attempt: counted from 1.
        n_nodes, n_evaluated, n_feasible: nodes there are, nodes looked at, nodes that fit.
        chosen: the node and its scores; None when none fits.
        runners_up: name and total of up to three next best nodes.
        outcome: how it ended.
        rejections: distinct verdicts of nodes that do not fit, with how many nodes have each; only when no node fits.
        left_out: the verdict on the nodes that PreFilter plugins left out, and how many these are; None for none.
        unschedulable_plugins, pending_plugins: whose rejection the queue waits for.
        nominated_node_name: where preemption makes room; "" clears a nomination; None does not change it.
        victims: pods to be evicted for it.
        n_pdb_violations: how many of them a disruption budget protects.
        writes: what else PostFilter plugins have to write for it.
        unwritten_message: what users read instead if that cannot be written, before the error.
        initial_attempt_timestamp: when the pod first became active, in the clock's seconds; None where no queue was.
        was_flushed: whether the pod was tried only because it had waited for too long.
    """

    pod: Pod
    profile: str
    attempt: int
    n_nodes: int
    outcome: Outcome
    n_evaluated: int = 0
    n_feasible: int = 0
    chosen: NodeScore | None = None
    runners_up: tuple[tuple[str, int], ...] = ()
    rejections: tuple[tuple[Status, int], ...] = ()
    left_out: tuple[Status, int] | None = None
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    nominated_node_name: str | None = None
    victims: tuple[PodInfo, ...] = ()
    n_pdb_violations: int = 0
    writes: tuple[Action, ...] = ()
    unwritten_message: str = ""
    initial_attempt_timestamp: float | None = None
    was_flushed: bool = False

    @property
    def node_name(self) -> str:
        """The node that the pod goes to; empty when it goes nowhere."""
        return self.chosen.node_name if self.chosen is not None and self.outcome.status.is_success else ""

    @property
    def rejected_by(self) -> str:
        """The plugin that rejects the pod outside of the filters; empty where none does, or not one alone."""
        status = self.outcome.status
        if self.rejections or not status.is_rejected or status.is_undecided:
            return ""
        known = self.unschedulable_plugins | self.pending_plugins
        return status.plugin or (next(iter(known)) if len(known) == 1 else "")

    @property
    def reason(self) -> str:
        """The reason of the PodScheduled condition; empty for a pod that was placed."""
        status = self.outcome.status
        if status.is_success:
            return ""
        return "Unschedulable" if status.is_rejected else "SchedulerError"


def pods_to_evict(victims: Iterable[PodInfo], release: Release) -> list[Pod]:
    """The victims that preemption deletes.

    Rule: kube-scheduler; since v1.35 a pod that is terminating already is not deleted again.
    """
    return [info.pod for info in victims if release.before(35) or not info.pod.is_terminating]
