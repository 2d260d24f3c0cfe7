"""The cluster that drains are tried on: its pending pods are placed first, as a scheduler does before anyone drains."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from kubesched.api import Node, Pod, PodDisruptionBudget, PodOwners
from kubesched.controllers import Allowance, controllers_of, job_of
from kubesched.engine import paused_gc
from kubesched.naming import nodes_named
from kubesched.planning.blocking_budgets import why_it_blocks
from kubesched.planning.settling import count_in_budgets, settle
from kubesched.session import PodState, Progress, Session, workload_text


class SettledCluster:
    """A cluster after its pending pods were scheduled.

    Args:
        session: the cluster as it was loaded.
        progress: called while its pending pods are placed.
        taken_at, listed_kinds: as for `controllers_of`.

    Attributes:
        session: the cluster, for changes that are taken back.
        controllers: what is counted of its controllers.
        nodes: by name, in the snapshot's order.
        groups: the pool and zone of each node.
        settled: pending pods of the snapshot that the scheduler placed, as they are now; not new pods that name their
            nodes: these run when the drain begins.
        faults: exceptions in plugins, for which pending pods of the snapshot ended in an error.
        evicted: pods that preemption evicted for pending pods of the snapshot.
        victims: those of them that run in the snapshot, as they were there, and whether new pods were created.
        messages: why the pods that were tried have no node; empty for those that have one.
        unplaced: `namespace/name` of the victims of which no new pod has a node.
        undecided_nodes: nodes whose drain was tried, and where it is not known where some pods go.
        n_running: workload, `Kind namespace/name` -> how many of its pods run in the snapshot.
        n_placed, n_failed, n_undecided, n_foreign, n_pending: pending pods of the snapshot that were placed, that ended
            in an error, about which kubesched cannot decide, of other schedulers, and the rest.
    """

    def __init__(
        self,
        session: Session,
        progress: Progress | None = None,
        taken_at: datetime | None = None,
        listed_kinds: Iterable[str] = (),
    ) -> None:
        known = session.objects()
        self.session = session
        self.controllers = controllers_of(known, taken_at, listed_kinds)
        with paused_gc():
            settled = settle(self.session, self.controllers, progress)
        self.nodes = {one.name: one for one in known if isinstance(one, Node)}
        self.groups = session.node_groups()
        pending = {one.key: one for one in known if isinstance(one, Pod) and not one.node_name}
        now = (session.get("Pod", key) for key in settled.placements)
        placed = {pod.key: pod for pod in now if isinstance(pod, Pod) and pod.node_name}
        ran = [pod for pod in settled.evicted if pod.key not in pending]
        replaced = [pod for pod in ran if not settled.successors[pod.key].costs_nothing]
        count_in_budgets(session, placed.values(), ran)
        self.settled = [pod for pod in placed.values() if pod.key in pending]
        self._as_pending = {pod.key: pending[pod.key] for pod in self.settled}
        self.faults = tuple(settled.faults)
        self.evicted = tuple(settled.victims)
        self.victims = {pod.key: (pod, settled.successors[pod.key]) for pod in replaced}
        self.messages = {one.pod: one.message_with_plugin for one in settled.placements.values()}
        outcomes = [one for one in settled.placements.values() if one.pod not in self.victims]
        self.n_placed = sum(one.pod in placed for one in outcomes)
        self.n_failed = sum(one.state is PodState.ERROR for one in outcomes)
        self.undecided_nodes: dict[str, None] = {}
        n_unknown = sum(one.is_undecided for one in outcomes)
        self.n_foreign = sum(one.is_undecided and one.is_foreign for one in outcomes)
        self.n_undecided = n_unknown - self.n_foreign
        self.n_pending = len(outcomes) - self.n_placed - self.n_failed - n_unknown
        self.unplaced = tuple(key for key in self.victims if key not in placed)
        self.owners = PodOwners(known)
        running = (one for one in known if isinstance(one, Pod) and one.node_name and not one.is_finished)
        self.n_running = Counter(workload_text(pod.key, self.owners.owner_of(pod)) for pod in running)
        self._budgets = {one.key: one for one in known if isinstance(one, PodDisruptionBudget)}
        self._pods_of: dict[str, list[Pod]] = {}
        self._why_blocked: dict[tuple[str, frozenset[str]], tuple[str, str]] = {}
        self._finished: dict[str, list[Pod]] = {}
        self._of_job: dict[str, list[str]] = {}
        for one in known:
            if isinstance(one, Pod) and not one.is_finished:
                self._pods_of.setdefault(one.namespace, []).append(one)
            if isinstance(one, Pod) and one.is_finished:
                self._finished.setdefault(one.node_name, []).append(one)
            elif isinstance(one, Pod) and (job := job_of(one)):
                self._of_job.setdefault(job, []).append(one.key)

    def allowance(self, leaving: Iterable[Pod] = ()) -> Allowance:
        """What the budgets allow now, without some pods."""
        return Allowance(self.session.cluster_state.disruption_budgets, leaving)

    def why_it_blocks(self, key: str, leaving: Iterable[str]) -> tuple[str, str]:
        """Why a budget allows no eviction in the snapshot, and what helps; looked for once.

        Args:
            leaving: `namespace/name` of its pods that are to be evicted.
        """
        asked = key, frozenset(leaving)
        if asked not in self._why_blocked:
            budget = self._budgets.get(key)
            pods = () if budget is None else self._pods_of.get(budget.namespace, ())
            self._why_blocked[asked] = ("", "") if budget is None else why_it_blocks(budget, pods, asked[1])
        return self._why_blocked[asked]

    def named(self, names: Iterable[str]) -> list[Node]:
        """The nodes of these names, in the given order, each once; a name may be cut at its first dot.

        Raises:
            InputError: there is no such node, or a short name belongs to several.
        """
        return nodes_named(self.nodes.values(), names)

    def pods_on(self, nodes: Sequence[Node]) -> list[Pod]:
        """The pods on some nodes, finished ones among them."""
        return [pod for node in nodes for pod in (*self.session.pods_on(node.name), *self._finished.get(node.name, ()))]

    def pods_of_job(self, job: str) -> list[Pod]:
        """The pods of a Job that have not ended, as they are now, on whatever node or on none.

        Args:
            job: `namespace/name`.
        """
        found = (self.session.get("Pod", key) for key in self._of_job.get(job, ()))
        return [pod for pod in found if isinstance(pod, Pod)]

    def as_pending(self, pod: Pod) -> Pod:
        """A pod of `settled` as it is in the snapshot, without a node."""
        return self._as_pending[pod.key]
