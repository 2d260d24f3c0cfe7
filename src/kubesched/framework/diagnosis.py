"""Records why no node fits, node by node, and builds kube-scheduler's message from it.

Rule: kube-scheduler v1.36 framework.Diagnosis and FitError.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np

from kubesched.framework.status import Code, Status
from kubesched.framework.verdicts import FilterResult, RowStatuses

NO_NODES: Final = "no nodes available to schedule pods"
"""kube-scheduler's text for every pod in a cluster without nodes."""

_NO_REASON: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


class Diagnosis(msgspec.Struct, eq=False):
    """Why one pod did not fit.

    Attributes:
        n_all_nodes: nodes in the snapshot.
        result: the filters' verdicts, over the rows that were looked at; None when none were.
        explicit: verdicts from elsewhere (an extender, the nominated node tried first) by node name; they win.
        absent: the status of every node that has no verdict in `result` or `explicit`.
        n_left_out: how many nodes PreFilter plugins left out, without a rejection of the pod; their status is `absent`.
        pre_filter_message: PreFilter's rejection of the pod, which replaces the count of reasons.
        post_filter_message: appended as it is.
        unschedulable_plugins, pending_plugins: plugins whose rejection the queue must wait for.

    Example:
        def post_filter(self, state, pod, diagnosis):
            helped = [name for name, status in diagnosis.by_node().items() if status.code is Code.UNSCHEDULABLE]
            return None, Status.unschedulable(f"{len(helped)} node(s) could be emptied")
    """

    n_all_nodes: int
    result: FilterResult | None = None
    explicit: dict[str, Status] = {}
    absent: Status = _NO_REASON
    n_left_out: int = 0
    pre_filter_message: str = ""
    post_filter_message: str = ""
    unschedulable_plugins: set[str] = set()
    pending_plugins: set[str] = set()

    def take_in(self, result: FilterResult) -> None:
        """Note what the filters said, and which plugins rejected."""
        self.result = result
        for status, _ in self.statuses().counts():
            self.add_plugin(status)

    @property
    def failure(self) -> Status | None:
        """The fault of a plugin, which ends the pod's attempt: PreFilter's, or that of the first row; None for none."""
        if self.result is not None:
            return self.statuses().failure()
        return self.absent if self.absent.code is Code.ERROR else None

    @property
    def left_out(self) -> tuple[Status, int] | None:
        """The verdict on the nodes that PreFilter plugins left out, and how many these are; None for none."""
        return (self.absent, self.n_left_out) if self.n_left_out else None

    @property
    def undecided(self) -> Status | None:
        """The rejection of a pod that kubesched cannot decide about, on every node; None for all other pods."""
        return self.absent if self.absent.is_undecided else None

    def add_plugin(self, status: Status) -> None:
        """Note the plugin behind a rejection."""
        if status.plugin:
            pending = status.code is Code.PENDING
            (self.pending_plugins if pending else self.unschedulable_plugins).add(status.plugin)

    def statuses(self) -> RowStatuses:
        """The filters' verdicts, row by row of `result`."""
        assert self.result is not None
        return self.result.statuses()

    def status_of(self, name: str) -> Status:
        """Why this node is not feasible; SUCCESS for one that passed the filters."""
        if name in self.explicit:
            return self.explicit[name]
        position = None if self.result is None else self.result.nodes.position_of(name)
        return self.absent if position is None else self.statuses()[position]

    def by_node(self) -> dict[str, Status]:
        """The rejections in `result`, and the verdicts in `explicit`."""
        rejections: dict[str, Status] = {}
        if self.result is not None:
            statuses, names = self.statuses(), self.result.nodes.names
            for position in np.flatnonzero(statuses.index).tolist():
                rejections[names[position]] = statuses[position]
        rejections.update(self.explicit)
        return rejections

    def counts(self) -> list[tuple[Status, int]]:
        """How many nodes have each status; nodes with `absent` are left out."""
        if not self.explicit:
            return self.statuses().counts() if self.result is not None else []
        statuses = self.by_node().values()
        counts: Counter[Status] = Counter()
        objects = {id(status): status for status in statuses}  # far fewer than nodes, and quicker to hash
        for key, n_nodes in Counter(map(id, statuses)).items():
            counts[objects[key]] += n_nodes
        return list(counts.items())

    @property
    def message(self) -> str:
        """The FitError text: `0/3 nodes are available: ...`; NO_NODES in a cluster without nodes."""
        if not self.n_all_nodes:
            return NO_NODES
        if self.pre_filter_message:
            text = f"0/{self.n_all_nodes} nodes are available: {self.pre_filter_message}."
        else:
            text = fit_error(self.n_all_nodes, self.counts(), self.absent)
        return f"{text} {self.post_filter_message}" if self.post_filter_message else text


def fit_error(n_all_nodes: int, counted: Iterable[tuple[Status, int]], absent: Status) -> str:
    """Count reasons into the sentence that users search for.

    Args:
        counted: distinct statuses of nodes, with how many nodes have each.
        absent: the status of all other nodes.
    Rule: kube-scheduler v1.36 FitError.Error: `<n> <reason>` items sorted as text; a status with two reasons counts
    under both.

    Example:
        counted = [(Status.unschedulable("Insufficient cpu"), 3)]
        assert fit_error(3, counted, Status.SUCCESS) == "0/3 nodes are available: 3 Insufficient cpu."
    """
    reasons: Counter[str] = Counter()
    n_explicit = 0
    for status, n_nodes in counted:
        n_explicit += n_nodes
        for reason in status.reasons:
            reasons[reason] += n_nodes
    if n_all_nodes > n_explicit:
        for reason in absent.reasons:
            reasons[reason] += n_all_nodes - n_explicit
    items = ", ".join(sorted(f"{n} {reason}" for reason, n in reasons.items()))
    text = f"0/{n_all_nodes} nodes are available:"
    return f"{text} {items}." if items else text
