"""Takes the steps of `controllers/rollout_steps.py`, which replace the pods of workloads by new ones, on a session."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from kubesched.api import KubeObject, PatchTarget, Pod, RollingUpdate, UpdateStrategy, Workload
from kubesched.controllers import RolloutPlan, RolloutView, plan_rollout
from kubesched.explanation import WAY_OUT, of_strategy
from kubesched.planning.asked import Asked
from kubesched.planning.placed import has_place
from kubesched.session import Placement, PodState, Progress, Report, Session, Victim

_OLD_FIRST: Final = "maxSurge: 0 and maxUnavailable: 1"
_STRATEGIES: Final = {
    _OLD_FIRST: UpdateStrategy("RollingUpdate", RollingUpdate(0, 1)),
    "maxSurge: 0 and maxUnavailable: 50%": UpdateStrategy("RollingUpdate", RollingUpdate(0, "50%")),
    "type: Recreate": UpdateStrategy("Recreate"),
}
"""Strategies that are tried where a rollout stops: an old pod makes way before a new one comes."""
_STOPPED: Final = "the rollout stops before this pod is created"


class Rollout(msgspec.Struct, frozen=True):
    """How the pods of one workload are replaced.

    Attributes:
        workload: such as `Deployment shop/web`.
        steps: how often the controller creates or removes pods.
        n_old: how many pods it had before, without those that stay.
        n_old_left: how many of them are left because the rollout stops.
        n_kept: how many pods of a StatefulSet stay, because their numbers are below its partition.
        n_lowest, n_highest: the lowest and the highest number of its pods, old and new, that had a node at any time.
        way_out: the strategy with which a rollout that stops would end, as fields of YAML; empty where none helps.
        way_out_lowest: the same lowest number with that strategy; 0 is an outage.
    """

    workload: str
    steps: int
    n_old: int
    n_old_left: int
    n_kept: int
    n_lowest: int
    n_highest: int = 0
    way_out: str = ""
    way_out_lowest: int = 0

    @property
    def lets_old_go(self) -> bool:
        """Whether it stops, and would end if one old pod made way for each new one."""
        return self.way_out == _OLD_FIRST


def roll_out(
    session: Session, asked: Asked, replicas: int | None, progress: Progress | None = None
) -> tuple[list[KubeObject], Report, tuple[Rollout, ...]]:
    """Replace the pods of the workloads that exist, and add the others; try other strategies where a rollout stops.

    Returns: the new objects, the report of all steps together, and how each workload was replaced. New pods that would
        replace pods below the partition of a StatefulSet are left out.
    Raises:
        InputError: a workload has no rollout, or a strategy is not valid.
    """
    with session.fork() as fork:
        new, report, rollouts = _rolled_out(session, asked, replicas, asked.strategies, progress)
        stopped = {one.workload for one in rollouts if one.n_old_left}
        if not stopped:
            fork.commit()
            return new, report, rollouts
    ways_out: dict[str, tuple[str, int]] = {}
    for words, strategy in _STRATEGIES.items():
        others = {workload: strategy for workload in asked.existing if _may_have(workload, strategy)}
        with session.fork():
            tried, outcome, ended = _rolled_out(session, asked, replicas, {**asked.strategies, **others})
        lowest = {one.workload: one.n_lowest for one in ended}
        placed = {one.pod for one in outcome.placements if has_place(one)}
        for workload in others:
            if str(workload) in stopped and all(pod.key in placed for pod in asked.pods_of(workload, tried)):
                ways_out.setdefault(str(workload), (words, lowest[str(workload)]))
    new, report, rollouts = _rolled_out(session, asked, replicas, asked.strategies, progress)
    placements = tuple(_with_strategy(one, ways_out) if one.refused else one for one in report.placements)
    report = msgspec.structs.replace(report, placements=placements)
    return new, report, tuple(_with_way_out(one, *ways_out.get(one.workload, ("", 0))) for one in rollouts)


def _with_strategy(refused: Placement, ways_out: Mapping[str, tuple[str, int]]) -> Placement:
    """A pod that is refused while old ones stay, with the strategy that lets them go as the first fix."""
    _, lowest = ways_out.get(refused.workload, ("", 0))
    kind, _, key = refused.workload.partition(" ")
    if not lowest or kind != "Deployment":
        return refused
    namespace, _, name = key.partition("/")
    step = of_strategy(WAY_OUT, PatchTarget("apps/v1", kind, namespace, name), is_new=True)
    fix = f"{WAY_OUT}; or {refused.fix}" if refused.fix else WAY_OUT
    return msgspec.structs.replace(refused, fix=fix, patches=(step,))


def _with_way_out(rollout: Rollout, words: str, lowest: int) -> Rollout:
    return msgspec.structs.replace(rollout, way_out=words, way_out_lowest=lowest)


def _may_have(workload: Workload, strategy: UpdateStrategy) -> bool:
    return workload.kind == "Deployment" or (workload.kind == "DaemonSet" and strategy.type != "Recreate")


def _rolled_out(
    session: Session,
    asked: Asked,
    replicas: int | None,
    strategies: Mapping[Workload, UpdateStrategy],
    progress: Progress | None = None,
) -> tuple[list[KubeObject], Report, tuple[Rollout, ...]]:
    new = asked.objects(replicas)
    plans = [
        plan_rollout(workload, strategies.get(workload, UpdateStrategy()), old, asked.pods_of(workload, new))
        for workload, old in asked.existing.items()
    ]
    left_out = {pod.key for plan in plans for pod in plan.left_out}
    new = [obj for obj in new if not (isinstance(obj, Pod) and obj.key in left_out)]
    pods = [obj for obj in new if isinstance(obj, Pod)]
    steps = _Steps(session, progress)
    steps.take([obj for obj in new if not isinstance(obj, Pod)], [])
    rollouts = tuple(_replaced(plan, steps) for plan in plans)
    replaced = {pod.key for plan in plans for pod in plan.new}
    if others := [pod for pod in pods if pod.key not in replaced]:
        steps.take(others, [])
    return new, steps.report(pods), rollouts


class _Steps:
    """Carries out steps on one cluster and keeps what became of each pod."""

    def __init__(self, session: Session, progress: Progress | None) -> None:
        self._session = session
        self._progress = progress
        self._placements: dict[str, Placement] = {}
        self._victims: list[Victim] = []
        self._seconds = 0.0
        self._created: set[str] = set()
        self._why_not: dict[str, str] = {}  # why pods are never created, if it is not the usual reason
        self._before = session.fill()

    def take(self, created: Sequence[KubeObject], gone: Sequence[str]) -> Report:
        """Remove some pods by `namespace/name`, create others, and schedule what is pending."""
        for key in gone:
            self._placements.pop(key, None)
        self._created.update(one.key for one in created)
        self._session.change(created, [pod for pod in map(self.pod, gone) if pod is not None])
        report = self._session.schedule(self._progress)
        self._placements |= {placement.pod: placement for placement in report.placements}
        self._victims += report.victims
        self._seconds += report.seconds
        for victim in report.victims:
            if victim.pod in self._placements:
                evicted = self._placements[victim.pod]
                self._placements[victim.pod] = msgspec.structs.replace(evicted, evicted_by=victim.preemptor)
        return report

    def pod(self, key: str) -> Pod | None:
        """A pod as it is now, with a node or without; None where there is none."""
        current = self._session.get("Pod", key)
        return current if isinstance(current, Pod) else None

    def hold_up(self, new: Iterable[Pod], first: Pod) -> None:
        """Note for which pod others are not created yet."""
        self._why_not |= {pod.key: f"the rollout waits for {first.key}, which stays pending" for pod in new}

    def report(self, new: Sequence[Pod]) -> Report:
        """All steps in one report; a pod that was never created is not tried."""
        for pod in new:
            if pod.key not in self._created:
                message, profile = self._why_not.get(pod.key, _STOPPED), pod.scheduler_name
                owner = self._session.owner_of(pod)
                self._placements[pod.key] = Placement(
                    pod.key, profile, PodState.NOT_TRIED, message=message, owner=owner
                )
        session = self._session
        placements = tuple(self._placements.values())
        return Report(
            placements,
            tuple(self._victims),
            self._before,
            session.fill(),
            self._seconds,
            session.node_groups(),
            version=session.version,
        )


def _replaced(plan: RolloutPlan, steps: _Steps) -> Rollout:
    """Take the steps of one workload, and count how many of its pods run between and after them."""
    view = RolloutView(steps.pod, plan.old, plan.kept)
    own = {pod.key for pod in (*plan.old, *plan.kept, *plan.new)}
    n_steps, n_lowest, n_highest = 0, len(view.running), len(view.running)
    for step in plan.steps(view):
        gone = [pod.key for pod in step.gone]
        n_lowest = min(n_lowest, len(view.running.difference(gone)))
        report = steps.take(step.created, gone)
        for key in (*gone, *(victim.pod for victim in report.victims)):
            view.old.pop(key, None)
            view.running.discard(key)
        view.running |= {
            placement.pod for placement in report.placements if has_place(placement) and placement.pod in own
        }
        n_lowest, n_highest = min(n_lowest, len(view.running)), max(n_highest, len(view.running))
        n_steps += 1
    if view.awaited is not None:
        steps.hold_up(plan.new, view.awaited)
    return Rollout(str(plan.workload), n_steps, len(plan.old), len(view.old), len(plan.kept), n_lowest, n_highest)
