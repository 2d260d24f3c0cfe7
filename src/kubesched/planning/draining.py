"""One drain of a cluster in memory: cordon, then evict and schedule step by step until nothing more can be evicted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kubesched.api import KubeObject, Node, Pod
from kubesched.controllers import (
    LeavingPods,
    Successor,
    fresh_device_claims,
    hangs_because,
    has_local_data,
    is_cordoned,
    is_unreachable,
    job_of,
    keeps_off_evictions,
    leaves_because,
    stays_because,
    way_to_end,
)
from kubesched.explanation import with_reasons
from kubesched.planning.blocking_budgets import why_several_block
from kubesched.planning.changes import cordoned
from kubesched.planning.drain_cluster import SettledCluster
from kubesched.planning.drain_result import BudgetUse, Drain, DrainedPod, Fate
from kubesched.planning.settling import cluster_after
from kubesched.session import Placement, PodState, Progress, Report, Victim, workload_text

Explained = tuple[str, str]
"""The workload of pods that stay pending, and kube-scheduler's message."""


class Draining:
    """Drains some nodes; `run` once.

    Args:
        cluster: different afterwards.
        nodes: to be drained.
        keeps_objects: whether the result has the objects.
        explained: what needs no cause any more; what is explained joins it. None: no pod gets a cause.
        progress: called while the pods of a step are placed.

    Attributes:
        left: the pods that the last step leaves pending, if causes are looked for: `namespace/name` -> what they are
            explained by.
    """

    def __init__(
        self,
        cluster: SettledCluster,
        nodes: Sequence[Node],
        *,
        keeps_objects: bool = False,
        explained: set[Explained] | None = None,
        progress: Progress | None = None,
    ) -> None:
        session = cluster.session
        self._cluster = cluster
        self._session = session
        self._nodes = nodes
        self._names = frozenset(node.name for node in nodes)
        self._pods = cluster.pods_on(nodes)
        self._were_pending = frozenset(pod.key for pod in cluster.settled)
        self._unreachable = {node.name for node in nodes if is_unreachable(node)}
        self._hangs = self._hanging() if self._unreachable else {}
        self._allowance = cluster.allowance([pod for pod in self._pods if pod.key in self._were_pending])
        self._keeps_objects = keeps_objects
        self._explained = explained
        self._progress = progress
        self.left: dict[str, Explained] = {}
        self._step_of: dict[str, int] = {}
        self._evicted_before = [
            pod for pod, _ in cluster.victims.values() if pod.node_name in self._names and self._has_left(pod)
        ]
        self._message_of = {pod.key: cluster.messages.get(pod.key, "") for pod in self._evicted_before}
        self._successors: dict[str, Successor] = {}
        self._unknown: dict[str, Fate] = {}
        self._ended_elsewhere: list[DrainedPod] = []
        self._victims: list[Victim] = []
        self._faults = dict.fromkeys(cluster.faults)
        self._waited = {pod.key for pod in session.waiting()}  # whatever is drained
        self._pushed_out: list[Pod] = []
        self._report: Report | None = None
        self._reasons: dict[str, Placement] = {}
        self._placed = {pod.key for pod in cluster.settled}

    def run(self) -> Drain:
        """Cordon the nodes, and evict their pods in steps."""
        before = self._session.fill()
        self._session.change(cordoned(self._nodes, [node.name for node in self._nodes]))
        waiting = self._leave_at_once()
        n_steps = 0
        while waiting:
            now, waiting = self._allowed_now(waiting)
            if not now:
                break
            n_steps += 1
            self._step_of |= dict.fromkeys((pod.key for pod in now), n_steps)
            self._evict(now)
            waiting = [pod for pod in waiting if pod.key not in self._successors]  # else its Job has ended it
            self._schedule()
        if self._explained is not None and self._report is not None:
            self._explain(self._report, self._explained)
        self._session.change(self._allowance.changed())
        early = map(self._evicted_early, self._evicted_before)
        drained = (*map(self._described, self._pods), *early, *self._ended_elsewhere)
        self._cluster.undecided_nodes |= dict.fromkeys(pod.node for pod in drained if not pod.fate.is_known)
        return Drain(
            nodes=tuple(node.name for node in self._nodes),
            pods=drained,
            pushed_out=tuple(one for one in self._victims if one.pod not in self._were_pending),
            budgets=tuple(self._used(drained)),
            steps=n_steps,
            n_placed_before=self._cluster.n_placed,
            n_pending_before=self._cluster.n_pending,
            n_failed_before=self._cluster.n_failed,
            n_undecided_before=self._cluster.n_undecided,
            n_foreign_before=self._cluster.n_foreign,
            before=before,
            after=self._session.fill(),
            groups=self._cluster.groups,
            faults=tuple(self._faults),
            unreachable=tuple(node.name for node in self._nodes if node.name in self._unreachable),
            cordoned_before=tuple(node.name for node in self._nodes if is_cordoned(node)),
            out_meanwhile=tuple(self._out(drained)),
            evicted_before=self._cluster.evicted,
            unplaced_before=self._cluster.unplaced,
            evicted_again=tuple(one for one in self._victims if one.pod in self._were_pending),
            is_explained=self._explained is not None,
            objects=self._objects() if self._keeps_objects else (),
            version=self._session.version,
        )

    def _objects(self) -> tuple[KubeObject, ...]:
        now = self._session.objects_now()
        return cluster_after(self._session, self._cluster.controllers, now, self._pushed_out)

    def _leave_at_once(self) -> list[Pod]:
        """Remove what needs no eviction. Returns: the pods to evict."""
        leaving = [pod for pod in self._pods if not stays_because(pod)]
        at_once = [pod for pod in leaving if not self._runs(pod)]
        if self._replace(at_once, self._leaving(())):
            self._schedule()
        return [pod for pod in leaving if self._runs(pod)]

    def _runs(self, pod: Pod) -> bool:
        """Whether a pod has to be evicted: it has not finished, and it was not pending before the drain."""
        return not leaves_because(pod) and pod.key not in self._were_pending

    def _allowed_now(self, waiting: Iterable[Pod]) -> tuple[list[Pod], list[Pod]]:
        """The pods that the budgets allow to evict in this step, and the others."""
        now: list[Pod] = []
        later: list[Pod] = []
        for pod in waiting:
            (now if self._allowance.take(pod) else later).append(pod)
        return now, later

    def _evict(self, pods: Sequence[Pod]) -> None:
        """Evict pods. Each counts as a failure of its Job, and a Job that fails ends all its pods."""
        leaving = self._leaving(pods)
        self._successors |= {pod.key: leaving.successor(pod) for pod in pods}
        ended, jobs = leaving.ended_jobs(), list(leaving.jobs())
        self._replace(pods, leaving)
        self._session.change(jobs)
        for key, end in ended.items():
            self._end(key, end)

    def _leaving(self, pods: Iterable[Pod]) -> LeavingPods:
        return LeavingPods(pods, self._session.get, self._cluster.controllers)

    def _end(self, job: str, end: Successor) -> None:
        """Remove the pods of a Job that fails, wherever they are.

        Rule: Job controller of kube-controller-manager v1.36: it deletes the pods of a failed Job that have not ended;
        no disruption budget is asked.
        """
        drained = {pod.key for pod in self._pods if job_of(pod) == job}
        for key in drained & self._successors.keys():
            self._successors[key] = end
        left = [pod for pod in self._cluster.pods_of_job(job) if not pod.is_terminating]
        for pod in left:
            self._successors[pod.key] = end
            if pod.node_name:
                self._allowance.lose(pod)
            if pod.key not in drained:
                owner, was_pending = (
                    self._cluster.owners.owner_of(pod),
                    pod.key in self._were_pending or not pod.node_name,
                )
                lost = DrainedPod(pod.key, owner, pod.node_name, Fate.LOST, message=end.why, was_pending=was_pending)
                self._ended_elsewhere.append(lost)
        self._session.change(self._allowance.changed(), left)

    def _replace(self, pods: Iterable[Pod], leaving: LeavingPods) -> bool:
        """Take pods off their nodes; what their controllers make in their place is pending.

        Returns: whether they make something.
        """
        made: list[KubeObject] = []
        gone: list[KubeObject] = []
        for pod in pods:
            if pod.key in self._hangs:
                continue
            new, old = leaving.replacement(pod)
            if not new and pod.key in self._were_pending:
                pending = self._cluster.as_pending(pod)
                claims = (claim for _, claim in fresh_device_claims(pod, pending, self._session.get))
                new, old = [*claims, pending], [pod]
            made += new
            gone += old
        self._session.change([*made, *self._allowance.changed()], gone)
        return bool(made)

    def _schedule(self) -> None:
        report = self._session.schedule(self._progress)
        for action in self._session.cluster.evicted:
            broken = self._allowance.lose(action.pod)
            self._pushed_out.append(action.pod)
            owner = self._cluster.owners.owner_of(action.pod)
            preemptor = action.preemptor.key
            self._victims.append(Victim(action.pod.key, owner, action.node_name, preemptor, broken))
            self._message_of[action.pod.key] = f"it was placed, and evicted for {preemptor}"
        self._report = report
        self._placed.update(one.pod for one in report.placements if one.node)
        own = {one.pod for one in report.placements} - self._waited
        self._faults |= dict.fromkeys(report.faults_of(own))
        for placement in report.placements:
            pod = self._session.get("Pod", placement.pod)
            if isinstance(pod, Pod) and pod.node_name:
                self._allowance.give_back(pod)
            elif isinstance(pod, Pod) and placement.is_undecided:
                fate = Fate.FOREIGN if placement.is_foreign else Fate.NOT_KNOWN
                self._cannot_decide(pod, fate, placement.diagnosis or placement.message)
            elif pod is not None or placement.pod not in self._message_of:
                failed = placement.diagnosis if placement.state is PodState.ERROR else ""
                self._message_of[placement.pod] = failed or placement.message_with_plugin

    def _explain(self, report: Report, known: set[Explained]) -> None:
        """Find the causes of the pods that the last step leaves pending; no fix takes back what the drain does."""
        nodes, placed = {("Node", name) for name in self._names}, {("Pod", key) for key in self._placed}
        self._session.assumed = self._session.assumed | nodes | placed
        left = {pod.key for pod in (*self._pods, *self._evicted_before)}
        self.left = {
            one.pod: (workload_text(one.pod, one.owner), one.message)
            for one in report.placements
            if one.pod in left and one.is_left_pending
        }
        only = {pod for pod, group in self.left.items() if group not in known}
        known |= {self.left[pod] for pod in only}
        explained = with_reasons(self._session, report, only=only)
        self._reasons = {
            one.pod: one
            for one in explained.placements
            if one.pod in only and (one.state is PodState.UNSCHEDULABLE or (one.state is PodState.ERROR and one.fix))
        }

    def _cannot_decide(self, pod: Pod, fate: Fate, why: str) -> None:
        """Note a pod that may run or stay pending; budgets count it as ready, so that it blocks no other pod."""
        self._message_of[pod.key] = why
        if pod.key not in self._unknown:
            self._unknown[pod.key] = fate
            self._allowance.give_back(pod)

    def _described(self, pod: Pod) -> DrainedPod:
        step, now = self._step_of.get(pod.key, 0), self._session.get("Pod", pod.key)
        was_pending = pod.key in self._were_pending
        successor = self._successors.get(pod.key)
        to, message = "", ""
        if why := stays_because(pod):
            fate, message = Fate.STAYS, why
        elif (
            (why := self._hangs.get(pod.key, ""))
            and (step or pod.is_terminating)
            and (successor is None or successor.is_made is not False)
        ):
            fate, message = Fate.HANGS, why
        elif now is None and (why := leaves_because(pod)):
            fate, message = Fate.GONE, why
        elif not step and self._runs(pod) and successor is None:
            fate = Fate.BLOCKED
        elif successor is not None and not successor.is_made:
            fate, message = Fate.MAY_BE_LOST if successor.is_made is None else Fate.LOST, successor.why
            to = now.node_name if isinstance(now, Pod) else ""
        elif isinstance(now, Pod) and now.node_name:
            to = now.node_name
            fate = Fate.RETURNS if to in self._names else Fate.MOVES
        else:
            fate = Fate.STILL_PENDING if was_pending else self._unknown.get(pod.key, Fate.PENDING)
            message = self._message_of.get(pod.key, "")
        is_evicted = fate not in (Fate.STAYS, Fate.GONE) and not was_pending
        reason = self._reasons.get(pod.key) if fate in (Fate.PENDING, Fate.STILL_PENDING) else None
        return DrainedPod(
            pod=pod.key,
            owner=self._cluster.owners.owner_of(pod),
            node=pod.node_name,
            fate=fate,
            to=to,
            step=step,
            message=message,
            budgets=tuple(self._allowance.selecting(pod)) if is_evicted else (),
            has_local_data=not (fate is Fate.STAYS or was_pending or pod.is_finished) and has_local_data(pod),
            was_pending=was_pending,
            keeps_off=keeps_off_evictions(pod) if is_evicted else "",
            cause="" if reason is None else reason.diagnosis or reason.message,
            fix=way_to_end(pod.node_name) if fate is Fate.HANGS else "" if reason is None else reason.fix,
        )

    def _hanging(self) -> dict[str, str]:
        """Why pods of unreachable nodes would stay Terminating, and no new ones would come."""
        running = [
            pod for pod in self._pods if pod.node_name in self._unreachable and pod.key not in self._were_pending
        ]
        return {pod.key: why for pod in running if (why := hangs_because(pod, self._session.get))}

    def _has_left(self, pod: Pod) -> bool:
        """Whether a pod that was evicted before the drain is not among the pods that the drain evicts."""
        now = self._session.get("Pod", pod.key)
        return not isinstance(now, Pod) or now.node_name not in self._names

    def _evicted_early(self, pod: Pod) -> DrainedPod:
        """What becomes of a pod that ran on a drained node, and that a pending pod evicts before the drain."""
        now, (_, successor) = self._session.get("Pod", pod.key), self._cluster.victims[pod.key]
        to = now.node_name if isinstance(now, Pod) else ""
        if not successor.is_made:
            fate, message = Fate.MAY_BE_LOST if successor.is_made is None else Fate.LOST, successor.why
        elif to:
            fate, message = Fate.RETURNS if to in self._names else Fate.MOVES, ""
        else:
            fate = self._unknown.get(pod.key, Fate.PENDING)
            message = self._message_of[pod.key]
        reason = self._reasons.get(pod.key) if fate is Fate.PENDING else None
        why = ("", "") if reason is None else (reason.diagnosis, reason.fix)
        owner = self._cluster.owners.owner_of(pod)
        return DrainedPod(pod.key, owner, pod.node_name, fate, to, message=message, cause=why[0], fix=why[1])

    def _out(self, drained: Sequence[DrainedPod]) -> Iterator[str]:
        """The workloads all of whose running pods leave in one step, and come again."""
        back = (Fate.MOVES, Fate.RETURNS, Fate.NOT_KNOWN, Fate.FOREIGN)
        leaving = Counter((workload_text(pod.pod, pod.owner), pod.step) for pod in drained if pod.step)
        n_back = Counter(workload_text(pod.pod, pod.owner) for pod in drained if pod.fate in back)
        for (workload, _), n in leaving.items():
            if n_back[workload] and n == self._cluster.n_running[workload]:
                yield workload

    def _used(self, drained: Sequence[DrainedPod]) -> Iterator[BudgetUse]:
        for key in dict.fromkeys(key for pod in drained for key in pod.budgets):
            selected = [pod for pod in drained if key in pod.budgets]
            blocked = [pod.pod for pod in selected if pod.fate is Fate.BLOCKED]
            is_closed = blocked and not self._allowance.first(key)
            why, fix = self._cluster.why_it_blocks(key, blocked) if is_closed else ("", "")
            shared = dict.fromkeys(other for pod in selected if pod.fate is Fate.BLOCKED for other in pod.budgets)
            if len(shared) > 1:
                why, fix = why_several_block(shared)
            yield BudgetUse(
                budget=key,
                allowed=self._allowance.first(key),
                n_pods=len(selected),
                n_blocked=len(blocked),
                steps=max(pod.step for pod in selected),
                why=why,
                fix=fix,
            )
