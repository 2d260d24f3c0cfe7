"""Replaces the pods of workloads by new ones, in the steps of their controllers, and simulates each step.

Rule: kube-controller-manager v1.36; here a pod counts as available as soon as it has a node.

- A Deployment never has more pods than its replicas and maxSurge (25%, rounded up), and never fewer available ones than
  its replicas without maxUnavailable (25%, rounded down).
- A StatefulSet replaces maxUnavailable pods at a time (1, rounded up), from the highest number down to its partition.
  It creates missing pods one after another, each once those before it are available, and replaces none before all are;
  with the podManagementPolicy Parallel it does not wait.
- A DaemonSet replaces maxUnavailable pods at a time (1, rounded up), each on its node; with maxSurge (0, rounded up) it
  creates the new one first.
"""

from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from kubesched.api import KubeObject, Pod, Workload, as_int64
from kubesched.controllers import RollingUpdate, UpdateStrategy, node_of_daemon, ordinal_of, pods_to_remove
from kubesched.errors import InputError
from kubesched.planning.asked import Asked
from kubesched.planning.placed import has_place
from kubesched.session import Placement, PodState, Progress, Report, Session, Victim, awaited

_PERCENT: Final = 100
_STOPPED: Final = "the rollout stops before this pod is created"

Way = Callable[["_Replacement"], None]
"""How a controller replaces pods."""


class Rollout(msgspec.Struct, frozen=True):
    """How the pods of one workload are replaced.

    Attributes:
        workload: such as `Deployment shop/web`.
        steps: how often the controller creates or removes pods.
        n_old: how many pods it had before, without those that stay.
        n_old_left: how many of them are left because the rollout stops.
        n_kept: how many pods of a StatefulSet stay, because their numbers are below its partition.
        n_lowest: the lowest number of its pods, old and new, that had a node at any time.
    """

    workload: str
    steps: int
    n_old: int
    n_old_left: int
    n_kept: int
    n_lowest: int


def roll_out(
    session: Session, asked: Asked, replicas: int | None, progress: Progress | None = None
) -> tuple[list[KubeObject], Report, tuple[Rollout, ...]]:
    """Replace the pods of the workloads that exist, and add the others.

    Returns: the new objects, the report of all steps together, and how each workload was replaced. New pods that would
        replace pods below the partition of a StatefulSet are left out.
    Raises:
        InputError: a workload has no rollout, or a strategy is not valid.
    """
    new = asked.objects(replicas)
    plans = [_plan(workload, asked, new) for workload in asked.existing]
    left_out = {pod.key for plan in plans for pod in plan.left_out}
    new = [one for one in new if not (isinstance(one, Pod) and one.key in left_out)]
    pods = [one for one in new if isinstance(one, Pod)]
    steps = _Steps(session, progress)
    steps.take([one for one in new if not isinstance(one, Pod)], [])
    rollouts = tuple(_Replacement(plan, steps).run() for plan in plans)
    replaced = {pod.key for plan in plans for pod in plan.new}
    if others := [pod for pod in pods if pod.key not in replaced]:
        steps.take(others, [])
    return new, steps.report(pods), rollouts


class _Plan(NamedTuple):
    """Which pods of a workload are replaced, and how.

    Attributes:
        old, new: before and after.
        kept: old pods that stay.
        left_out: new pods that would replace them.
    """

    workload: Workload
    way: Way
    old: list[Pod]
    new: list[Pod]
    kept: list[Pod]
    left_out: list[Pod]


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
                self._placements[victim.pod].evicted_by = victim.preemptor
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
                message = self._why_not.get(pod.key, _STOPPED)
                owner = self._session.owner_of(pod)
                self._placements[pod.key] = Placement(pod.key, "", PodState.NOT_TRIED, message=message, owner=owner)
        session = self._session
        placements = tuple(self._placements.values())
        return Report(
            placements, tuple(self._victims), self._before, session.fill(), self._seconds, session.node_groups()
        )


class _Replacement:
    """Replaces the pods of one workload. It knows pods by `namespace/name`."""

    def __init__(self, plan: _Plan, steps: _Steps) -> None:
        self._plan = plan
        self._cluster = steps
        self._n_steps = 0
        now = {pod.key: steps.pod(pod.key) for pod in (*plan.old, *plan.kept)}
        self._old = {pod.key: pod for pod in plan.old if now[pod.key] is not None}
        self._running = {key for key, pod in now.items() if pod is not None and pod.node_name}
        self._own = now.keys() | {pod.key for pod in plan.new}
        self._n_lowest = len(self._running)

    def run(self) -> Rollout:
        """Replace them."""
        self._plan.way(self)
        plan = self._plan
        n_old, n_kept = len(plan.old), len(plan.kept)
        return Rollout(str(plan.workload), self._n_steps, n_old, len(self._old), n_kept, self._n_lowest)

    def _step(self, created: Sequence[Pod], gone: Iterable[Pod]) -> None:
        """Remove pods, then create others, and count how many run in between and afterwards."""
        gone_keys = [pod.key for pod in gone]
        self._n_lowest = min(self._n_lowest, len(self._running.difference(gone_keys)))
        report = self._cluster.take(created, gone_keys)
        for key in (*gone_keys, *(victim.pod for victim in report.victims)):
            self._old.pop(key, None)
            self._running.discard(key)
        self._running |= {one.pod for one in report.placements if has_place(one) and one.pod in self._own}
        self._n_steps += 1
        self._n_lowest = min(self._n_lowest, len(self._running))

    def at_once(self) -> None:
        """Remove all old pods, then create all new ones."""
        self._step(self._plan.new, list(self._old.values()))

    def rolling(self, surge: int, unavailable: int) -> None:
        """Create and remove as many as the bounds allow, until nothing more can be done."""
        new, n, n_created = self._plan.new, len(self._plan.new), 0
        while True:
            n_up = max(0, min(n, n + surge - len(self._old)) - n_created)
            if n_up:
                self._step(new[n_created : n_created + n_up], [])
                n_created += n_up
            n_running = sum(pod.key in self._running for pod in new[:n_created])
            n_down = min(len(self._old), max(0, len(self._old) + n_running - (n - unavailable)))
            if n_down:
                now = [pod for pod in map(self._cluster.pod, self._old) if pod is not None]
                self._step([], pods_to_remove(self._plan.workload, now, len(now) - n_down))
            if not n_up and not n_down:
                return

    def in_places(
        self,
        place_of: Callable[[Pod], int | str],
        surge: int,
        unavailable: int,
        *,
        last_first: bool = False,
        is_ordered: bool = False,
    ) -> None:
        """Remove what has no place, fill the empty places, then replace the others as long as the bounds allow it.

        Args:
            place_of: the number of a pod of a StatefulSet, the node of a pod of a DaemonSet.
            last_first: whether the pod in the last place is replaced first.
            is_ordered: whether a pod is only created once all those in the places before it run, and only replaced
                once all of them run.
        """
        old, new = ({place_of(pod): pod for pod in pods} for pods in (self._old.values(), self._plan.new))
        stay = {pod.key for place, pod in old.items() if place in new}
        if gone := [pod for key, pod in self._old.items() if key not in stay]:
            self._step([], gone)
        waiting = [pod for place, pod in new.items() if place not in old]
        if is_ordered:
            kept = [*self._plan.kept, *(pod for place, pod in old.items() if place in new)]
            if not self._create_in_order(waiting, kept):
                return
        elif waiting:
            self._step(waiting, [])
        left = [place for place in new if place in old]
        places = deque(reversed(left) if last_first else left)
        while places:
            waiting = [pod for pod in waiting if pod.key not in self._running]
            n = (surge or unavailable) - len(waiting)
            if n <= 0:
                return
            batch = [places.popleft() for _ in range(min(n, len(places)))]
            created = [new[place] for place in batch]
            waiting += created
            if not surge:
                self._step(created, [old[place] for place in batch])
                continue
            self._step(created, [])
            ready = [place for place in map(place_of, waiting) if new[place].key in self._running]
            if gone := [old[place] for place in ready if place in old and old[place].key in self._old]:
                self._step([], gone)

    def _create_in_order(self, pods: Iterable[Pod], kept: Sequence[Pod]) -> bool:
        """Create pods one after another, each once those before it run. Returns: whether all run."""
        present = list(kept)
        for pod in pods:
            if self._is_held_up(one for one in present if ordinal_of(one) < ordinal_of(pod)):
                return False
            self._step([pod], [])
            present.append(pod)
        return not self._is_held_up(present)

    def _is_held_up(self, pods: Iterable[Pod]) -> bool:
        """Whether one of some pods does not run, for which the controller waits."""
        first = awaited(pods, lambda pod: pod.key in self._running)
        if first is not None and not any(first is one for one in self._plan.new):
            self._cluster.hold_up(self._plan.new, first)
        return first is not None


def _plan(workload: Workload, asked: Asked, new: Iterable[KubeObject]) -> _Plan:
    """How the controller of a workload replaces its pods.

    Raises:
        InputError: it does not, or its strategy is not valid.
    """
    strategy = asked.strategies.get(workload, UpdateStrategy())
    rolling = strategy.rolling_update or RollingUpdate()
    old, pods = asked.existing[workload], asked.pods_of(workload, new)
    way = _way(workload, strategy, len(pods))
    stay: set[int] = set()
    if workload.kind == "StatefulSet" and (partition := rolling.partition or 0):
        numbers = {ordinal_of(pod) for pod in old} & {ordinal_of(pod) for pod in pods}
        stay = {number for number in numbers if number < partition}
        if len(stay) == len(pods):
            raise InputError(f"{workload}: partition: found {partition}; no pod has this number or a higher one")
    kept, updated = _split(old, stay)
    left_out, created = _split(pods, stay)
    return _Plan(workload, way, updated, created, kept, left_out)


def _split(pods: Iterable[Pod], numbers: Container[int]) -> tuple[list[Pod], list[Pod]]:
    """The pods with these numbers, and the others."""
    known = list(pods)
    return [pod for pod in known if ordinal_of(pod) in numbers], [
        pod for pod in known if ordinal_of(pod) not in numbers
    ]


def _way(workload: Workload, strategy: UpdateStrategy, n: int) -> Way:
    """How `n` new pods replace those of a workload."""
    rolling = strategy.rolling_update or RollingUpdate()
    if workload.kind == "Pod" or strategy.type == "Recreate":
        return _Replacement.at_once
    if strategy.type == "OnDelete":
        raise InputError(f"{workload} has the update strategy OnDelete: its pods change only when they are deleted")

    def amount(field: str, written: int | str | None, default: int | str, *, round_up: bool = True) -> int:
        text = str(default if written is None else written)
        number = as_int64(text.removesuffix("%"))
        if number is None or number < 0:
            expected = "expected a number such as 1, or a percentage such as 25%"
            raise InputError(f"{workload}: {field}: found {text}; {expected}")
        is_percentage = text.endswith("%")
        if number > _PERCENT and is_percentage and field == "maxUnavailable":
            raise InputError(f"{workload}: {field}: found {text}; expected 100% or less")
        if not is_percentage:
            return number
        return (n * number + (_PERCENT - 1 if round_up else 0)) // _PERCENT

    if workload.kind == "StatefulSet":
        at_a_time = amount("maxUnavailable", rolling.max_unavailable, 1)
        if not at_a_time:
            raise InputError(f"{workload}: maxUnavailable: found {rolling.max_unavailable}; expected 1 or more")
        ordered = not strategy.is_parallel
        return lambda replacement: replacement.in_places(ordinal_of, 0, at_a_time, last_first=True, is_ordered=ordered)
    _refuse_standstill(workload, rolling)
    if workload.kind == "DaemonSet":
        surge = amount("maxSurge", rolling.max_surge, 0)
        missing = amount("maxUnavailable", rolling.max_unavailable, 1)
        return lambda replacement: replacement.in_places(node_of_daemon, surge, missing)
    if workload.kind != "Deployment":
        raise InputError(f"{workload} has no rollout: its controller does not replace pods; add the new ones instead")
    more = amount("maxSurge", rolling.max_surge, "25%")
    fewer = amount("maxUnavailable", rolling.max_unavailable, "25%", round_up=False)
    return lambda replacement: replacement.rolling(more, fewer if more or fewer else 1)


def _refuse_standstill(workload: Workload, rolling: RollingUpdate) -> None:
    """Refuse a strategy with which no pod may be added and none be missing.

    Raises:
        InputError: both bounds are 0, and not only rounded to it.
    """
    surge = rolling.max_surge if workload.kind == "Deployment" else rolling.max_surge or 0
    if _is_zero(surge) and _is_zero(rolling.max_unavailable):
        raise InputError(
            f"{workload}: maxUnavailable: found {rolling.max_unavailable}; may not be 0 when maxSurge is 0"
        )


def _is_zero(amount: int | str | None) -> bool:
    return str(amount).removesuffix("%") == "0"
