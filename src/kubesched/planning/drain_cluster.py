"""The cluster that drains are tried on: its pending pods are placed first, as a scheduler does before anyone drains."""

from collections.abc import Iterable, Sequence

from kubesched.admission import job_of
from kubesched.api import Node, Pod, ReplicaSet, owner_of
from kubesched.engine import paused_gc
from kubesched.planning.changes import nodes_named
from kubesched.simulator import Allowance, Budgets, PodState, Progress, Trials

__all__ = ["SettledCluster"]


class SettledCluster:
    """A cluster after its pending pods were scheduled.

    Args:
        trials: the cluster as it was loaded.
        progress: called while its pending pods are placed.

    Attributes:
        trials: the cluster, for changes that are taken back.
        budgets: its disruption budgets.
        nodes: by name, in the snapshot's order.
        groups: the pool and zone of each node.
        settled: pending pods of the snapshot that the scheduler placed, as they are now; not new pods that name their
            nodes: these run when the drain begins.
        faults: of plugins, for which pending pods of the snapshot ended in an error.
        evicted: pods that preemption evicted for pending pods of the snapshot.
        undecided_nodes: nodes whose drain was tried, and on which kubesched cannot decide about some pods.
        n_placed, n_failed, n_undecided, n_pending: pending pods of the snapshot that were placed, that ended in an
            error, about which kubesched cannot decide, and the rest.
    """

    def __init__(self, trials: Trials, progress: Progress | None = None) -> None:
        known = trials.objects()
        self.trials = trials
        with paused_gc():
            report = self.trials.schedule(progress)
        self.nodes = {one.name: one for one in known if isinstance(one, Node)}
        self.groups = trials.node_groups()
        self.budgets = Budgets(self.trials.of("PodDisruptionBudget"))
        pending = {one.key: one for one in known if isinstance(one, Pod) and not one.node_name}
        placed = [one.pod for one in report.placements if not one.is_left_pending and one.node]
        self._count_as_ready(pod for key in placed if isinstance(pod := trials.get("Pod", key), Pod))
        self._as_pending = {key: pending[key] for key in placed if key in pending}
        self.settled = [pod for key in self._as_pending if isinstance(pod := trials.get("Pod", key), Pod)]
        self.faults = report.faults
        self.evicted = report.victims
        self.n_placed = len(placed)
        self.n_failed = report.count(PodState.ERROR)
        self.undecided_nodes: dict[str, None] = {}
        self.n_undecided = report.count(PodState.NOT_DECIDED)
        self.n_pending = len(report.placements) - self.n_placed - self.n_failed - self.n_undecided
        self._replica_sets = {one.key: one for one in known if isinstance(one, ReplicaSet)}
        self._finished: dict[str, list[Pod]] = {}
        self._of_job: dict[str, list[str]] = {}
        for one in known:
            if isinstance(one, Pod) and one.is_finished:
                self._finished.setdefault(one.node_name, []).append(one)
            elif isinstance(one, Pod) and (job := job_of(one)):
                self._of_job.setdefault(job, []).append(one.key)

    def allowance(self, leaving: Iterable[Pod] = ()) -> Allowance:
        """What the budgets allow now, without some pods."""
        return Allowance(self.budgets, lambda key: self.trials.get("PodDisruptionBudget", key), leaving)

    def _count_as_ready(self, placed: Iterable[Pod]) -> None:
        """Enter into the budgets that the placed pods are ready."""
        allowance = self.allowance()
        for pod in placed:
            allowance.give_back(pod)
        self.trials.change(allowance.changed())

    def named(self, names: Iterable[str]) -> list[Node]:
        """The nodes of these names, in the given order, each once; a name may be cut at its first dot.

        Raises:
            InputError: there is no such node, or a short name belongs to several.
        """
        return nodes_named(self.nodes.values(), names)

    def pods_on(self, nodes: Sequence[Node]) -> list[Pod]:
        """The pods on some nodes, finished ones among them."""
        return [pod for node in nodes for pod in (*self.trials.pods_on(node.name), *self._finished.get(node.name, ()))]

    def pods_of_job(self, job: str) -> list[Pod]:
        """The pods of a Job that have not ended, as they are now, on whatever node or on none.

        Args:
            job: `namespace/name`.
        """
        found = (self.trials.get("Pod", key) for key in self._of_job.get(job, ()))
        return [pod for pod in found if isinstance(pod, Pod)]

    def as_pending(self, pod: Pod) -> Pod:
        """A pod of `settled` as it is in the snapshot, without a node."""
        return self._as_pending[pod.key]

    def owner_of(self, pod: Pod) -> str:
        """`Kind/name` of the workload that a pod belongs to; empty for none."""
        return owner_of(pod, self._replica_sets)
