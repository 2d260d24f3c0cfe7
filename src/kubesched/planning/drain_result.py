"""What a drain does, pod by pod: the result of `drain`, `Drainer.each` and `Drainer.most`."""

import enum
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from kubesched.api import KubeObject, Pod
from kubesched.release import DEFAULT_VERSION, DecidingVersion
from kubesched.session import DeviceFill, Fill, NodeFill, NodeGroup, Victim, device_fills, fills_frame, node_fills
from kubesched.shown import Shown, frame_of_pods

if TYPE_CHECKING:
    import pandas as pd

_FRAMED: Final = ("owner", "node", "fate", "to", "step", "message", "cause", "fix", "has_local_data", "was_pending")


class Fate(enum.Enum):
    """What becomes of a pod on a drained node."""

    MOVES = "moves"
    """Its controller makes a new pod, which runs elsewhere."""
    RETURNS = "returns"
    """Its controller makes a new pod, which comes back to a drained node: it tolerates the cordon."""
    PENDING = "pending"
    """Its controller makes a new pod, which stays pending."""
    NOT_KNOWN = "notKnown"
    """Its controller makes a new pod, and kubesched cannot decide where that goes."""
    FOREIGN = "otherScheduler"
    """Its controller makes a new pod, and another scheduler decides where that goes."""
    BLOCKED = "blocked"
    """Disruption budgets never allow its eviction."""
    LOST = "lost"
    """Nothing makes it again: it has no controller, or its Job ends, also because of pods on other nodes."""
    MAY_BE_LOST = "mayBeLost"
    """Its controller is not known to make a new pod."""
    HANGS = "hangs"
    """It stays Terminating: its node is unreachable, and its controller makes no new pod before it has ended."""
    GONE = "gone"
    """It has finished, or is being deleted already."""
    STAYS = "stays"
    """A DaemonSet or the kubelet runs it on the node, also while the node is drained."""
    STILL_PENDING = "stillPending"
    """It is pending in the snapshot, was placed before the drain, and it is pending again: nothing is lost."""

    @property
    def is_known(self) -> bool:
        """Whether it is known what becomes of such a pod."""
        return self not in (Fate.NOT_KNOWN, Fate.FOREIGN)

    @property
    def is_bad(self) -> bool:
        """Whether such a pod prevents a drain without harm, or may prevent it."""
        return self not in (Fate.MOVES, Fate.GONE, Fate.STAYS, Fate.STILL_PENDING)


class DrainedPod(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A pod on a drained node, or elsewhere a pod of a Job that fails because of the drain.

    Attributes:
        pod: `namespace/name`.
        owner: `Kind/name` of its workload, empty for none.
        node: where it is; empty for a pending pod of such a Job.
        fate: what becomes of it.
        to: where it runs afterwards; empty for nowhere. Of a pod that may be lost, where a new pod would run.
        step: the step in which it is evicted, from 1 on; 0 if it is not evicted, as where it was pending.
        message: why it stays pending, in kube-scheduler's words or with the line of a plugin that failed; why its place
            is not known; why it stays or is gone; why it is or may be lost.
        budgets: `namespace/name` of the disruption budgets that select it.
        has_local_data: whether it has an emptyDir volume, which is deleted with it.
        was_pending: whether it is pending in the snapshot, so that it does not run. If it was placed on the node before
            the drain, it is placed again without an eviction: it needs no budget, and has no data to lose.
        keeps_off: the annotation by which it asks not to be evicted, such as safe-to-evict: "false"; a drain evicts it.
        cause, fix: why it stays pending, and the best change after which it fits, as `explain` finds them on the
            cluster that the drain leaves; empty where there is none. In results of `each`, the
            first pods of a workload that stay pending with one message have them.
    """

    pod: str
    owner: str
    node: str
    fate: Fate
    to: str = ""
    step: int = 0
    message: str = ""
    budgets: tuple[str, ...] = ()
    has_local_data: bool = False
    was_pending: bool = False
    keeps_off: str = ""
    cause: str = ""
    fix: str = ""

    @property
    def is_awaited(self) -> bool:
        """Whether `kubectl drain` waits until the pod has ended."""
        is_left = self.fate in (Fate.STAYS, Fate.BLOCKED) or self.was_pending
        return not is_left and not (self.fate is Fate.GONE and self.message == "finished")


class BudgetUse(msgspec.Struct, frozen=True, rename="camel"):
    """A disruption budget that selects evicted pods.

    Attributes:
        budget: `namespace/name`.
        allowed: evictions that it allows before the drain.
        n_pods: the pods on the drained nodes that it selects.
        n_blocked: those of them that are never evicted.
        steps: the step in which the last of the others is evicted; 0 if none is.
        why: why it allows no eviction, such as `minAvailable 1 of 1 pod`; empty where it allows some, or nothing shows.
        fix: what has it allow one.
    """

    budget: str
    allowed: int
    n_pods: int
    n_blocked: int
    steps: int
    why: str = ""
    fix: str = ""


class NodesCost(msgspec.Struct, frozen=True, rename="camel"):
    """What nodes cost.

    Attributes:
        per_hour: of those whose price is known, in the currency of the prices.
        unpriced: instance type -> how many have no price.
    """

    per_hour: float
    unpriced: dict[str, int] = {}


class Drain(Shown, msgspec.Struct, frozen=True, eq=False):
    """The result of a drain: the nodes are cordoned, then their pods are evicted in steps.

    In each step as many pods are evicted as the disruption budgets allow; the scheduler places the new ones, and each
    that it places counts as ready in the next step.

    Attributes:
        nodes: the drained nodes.
        pods: the pods on them, in the snapshot's order; then those that run there in the snapshot and are evicted
            before the drain, for pending pods; then the pods elsewhere of Jobs that fail, which end with their Job.
        pushed_out: running pods that preemption evicts from other nodes, in order.
        budgets: those that select pods of the nodes.
        steps: how many steps evict pods.
        n_placed_before, n_pending_before: pending pods of the snapshot that the scheduler places before the drain, and
            that stay pending without it.
        n_failed_before: those for which a plugin fails, so that they end in an error.
        n_undecided_before: those about which kubesched cannot decide.
        n_foreign_before: those of other schedulers.
        evicted_before: pods that preemption evicts for them, in order.
        unreachable: those of the nodes that are unreachable. Pods that are deleted there stay Terminating, because no
            kubelet confirms that they have ended.
        cordoned_before: those of the nodes that are cordoned in the snapshot.
        out_meanwhile: workloads, `Kind namespace/name`, all of whose running pods are evicted in one step, and have new
            ones: none runs until a new one is ready.
        unplaced_before: `namespace/name` of those that run in the snapshot, and of which no new pod has a node when the
            drain begins.
        evicted_again: pending pods of the snapshot that the scheduler places before the drain, and that preemption
            evicts during the drain, in order.
        before, after: how full the nodes are.
        groups: the pool and zone of each node.
        faults: of plugins, each text once: the pods for which one failed end in an error, and stay pending. An Error
            that a plugin returns for a pod which was pending before is none: a scheduler would get it, too.
        cost: what the nodes cost; None without prices.
        is_explained: whether causes and fixes were looked for, which `each` does not do in the largest clusters.
        undecided_nodes: of `most`: candidates that are left out because it is not known where pods on them would go.
        objects: the cluster after the drain, for the next question or `write_snapshot`: pods run where they were
            placed, also the new ones of those that were pushed out. Empty in results of `each`.
        version: the version of Kubernetes whose rules decided.

    Example:
        result = drain(load_snapshot("cluster.json"), ["n1"])
        print(result.can_go, [(pod.pod, pod.to) for pod in result.of(Fate.MOVES)])
    """

    nodes: tuple[str, ...]
    pods: tuple[DrainedPod, ...]
    pushed_out: tuple[Victim, ...]
    budgets: tuple[BudgetUse, ...]
    steps: int
    n_placed_before: int
    n_pending_before: int
    before: Fill
    after: Fill
    groups: Mapping[str, NodeGroup]
    n_failed_before: int = 0
    n_undecided_before: int = 0
    n_foreign_before: int = 0
    faults: tuple[str, ...] = ()
    evicted_before: tuple[Victim, ...] = ()
    evicted_again: tuple[Victim, ...] = ()
    unreachable: tuple[str, ...] = ()
    cordoned_before: tuple[str, ...] = ()
    out_meanwhile: tuple[str, ...] = ()
    unplaced_before: tuple[str, ...] = ()
    undecided_nodes: tuple[str, ...] = ()
    cost: NodesCost | None = None
    is_explained: bool = True
    objects: tuple[KubeObject, ...] = ()
    version: DecidingVersion = DEFAULT_VERSION

    @property
    def can_go(self) -> bool:
        """Whether every pod that runs before runs afterwards, apart from those that stay on the nodes.

        Pods that are pending before and afterwards do not count. A pod that runs on a drained node in the snapshot
        counts, also if it is evicted for a pending pod before the drain.
        """
        return not self.pushed_out and not any(pod.fate.is_bad for pod in self.pods)

    @property
    def could_go(self) -> bool | None:
        """`can_go`; None where it is not known what the cluster would do.

        So it is if a plugin failed, and if kubesched cannot decide about some pods while nothing else is in the way.
        """
        if self.faults:
            return None
        is_harmed = bool(self.pushed_out) or any(pod.fate.is_bad for pod in self.pods if pod.fate.is_known)
        return self.can_go if is_harmed or all(pod.fate.is_known for pod in self.pods) else None

    def pods_frame(self) -> "pd.DataFrame":
        """The pods as a DataFrame, a row for each in their order.

        Columns: `namespace`, `name`, and the fields of a DrainedPod apart from `budgets`. `fate` is the text.

        Raises:
            InputError: pandas is not installed.
        """
        return frame_of_pods(self.pods, _FRAMED)

    def nodes_frame(self) -> "pd.DataFrame":
        """How full all nodes are, with the columns of `Report.nodes_frame`.

        Raises:
            InputError: pandas is not installed.
        """
        return fills_frame(node_fills(self.before, self.after, self.groups))

    def of(self, fate: Fate) -> list[DrainedPod]:
        """The pods with this fate."""
        return [pod for pod in self.pods if pod.fate is fate]

    @property
    def never_ends_on(self) -> tuple[str, ...]:
        """The unreachable nodes with pods whose end `kubectl drain` waits for."""
        awaited = {pod.node for pod in self.pods if pod.is_awaited}
        return tuple(node for node in self.unreachable if node in awaited)

    @property
    def counts(self) -> dict[Fate, int]:
        """How many pods have each fate."""
        counted = Counter(pod.fate for pod in self.pods)
        return {fate: counted[fate] for fate in Fate}

    @property
    def fills(self) -> tuple[NodeFill, ...]:
        """How full every node is before and after, in the snapshot's order."""
        return node_fills(self.before, self.after, self.groups)

    @property
    def devices(self) -> tuple[DeviceFill, ...]:
        """The devices of ResourceSlices by driver, class and model."""
        return device_fills(self.before.devices, self.after.devices)

    @property
    def n_waiting(self) -> int:
        """How many pods of the cluster have no node in the end; 0 in results of `each`."""
        return sum(isinstance(one, Pod) and not one.node_name and not one.is_finished for one in self.objects)

    @property
    def n_evicted(self) -> int:
        """The pods that have to leave, with those that the scheduler placed before the drain and then elsewhere."""
        return sum(pod.fate not in (Fate.STAYS, Fate.GONE, Fate.STILL_PENDING) for pod in self.pods)
