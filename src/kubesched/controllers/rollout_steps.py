"""The steps in which controllers replace the pods of a workload by new ones.

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
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from kubesched.api import Pod, RollingUpdate, UpdateStrategy, Workload, int_or_percent
from kubesched.controllers.daemon_nodes import node_of_daemon
from kubesched.controllers.kept_replicas import first_awaited, ordinal_of
from kubesched.controllers.scaling import pods_to_remove
from kubesched.errors import InputError

_PERCENT: Final = 100


class RolloutStep(NamedTuple):
    """What a controller does at once: it removes some pods, then it creates others."""

    created: Sequence[Pod] = ()
    gone: Sequence[Pod] = ()


class RolloutView:
    """What a controller sees of its pods. Who takes its steps keeps `old` and `running` up to date.

    Args:
        find: a pod as it is now, by `namespace/name`; None where there is none.
        old: the pods that are replaced.
        kept: further pods of the workload, which stay.

    Attributes:
        old: those that are left of the pods to replace.
        running: which pods of the workload, old and new, have a node.
        awaited: a pod without a node for which the controller stops, unless it is a new one.
    """

    def __init__(self, find: Callable[[str], Pod | None], old: Iterable[Pod], kept: Iterable[Pod] = ()) -> None:
        self.find = find
        replaced = list(old)
        now = {pod.key: find(pod.key) for pod in (*replaced, *kept)}
        self.old = {pod.key: pod for pod in replaced if now[pod.key] is not None}
        self.running = {key for key, pod in now.items() if pod is not None and pod.node_name}
        self.awaited: Pod | None = None


class RolloutPlan(NamedTuple):
    """Which pods of a workload are replaced, and how.

    Attributes:
        way: gives the steps.
        old, new: before and after.
        kept: old pods that stay.
        left_out: new pods that would replace them.
    """

    workload: Workload
    way: "Way"
    old: list[Pod]
    new: list[Pod]
    kept: list[Pod]
    left_out: list[Pod]

    def steps(self, view: RolloutView) -> Iterator[RolloutStep]:
        """The steps, each to be taken before the next one is asked for."""
        return self.way(self, view)


Way = Callable[[RolloutPlan, RolloutView], Iterator[RolloutStep]]
"""How a controller replaces pods."""


def plan_rollout(workload: Workload, strategy: UpdateStrategy, old: Sequence[Pod], new: Sequence[Pod]) -> RolloutPlan:
    """How the controller of a workload replaces its pods.

    Raises:
        InputError: it does not, or its strategy is not valid.
    """
    rolling = strategy.rolling_update or RollingUpdate()
    way = _way(workload, strategy, len(new))
    stay: set[int] = set()
    if workload.kind == "StatefulSet" and (partition := rolling.partition or 0):
        numbers = {ordinal_of(pod) for pod in old} & {ordinal_of(pod) for pod in new}
        stay = {number for number in numbers if number < partition}
        if len(stay) == len(new):
            raise InputError(f"{workload}: partition: found {partition}; no pod has this number or a higher one")
    kept, updated = _split(old, stay)
    left_out, created = _split(new, stay)
    return RolloutPlan(workload, way, updated, created, kept, left_out)


def _at_once(plan: RolloutPlan, view: RolloutView) -> Iterator[RolloutStep]:
    """Remove all old pods, then create all new ones."""
    yield RolloutStep(plan.new, list(view.old.values()))


def _rolling(plan: RolloutPlan, view: RolloutView, surge: int, unavailable: int) -> Iterator[RolloutStep]:
    """Create and remove as many as the bounds allow, until nothing more can be done."""
    new, n, n_created = plan.new, len(plan.new), 0
    while True:
        n_up = max(0, min(n, n + surge - len(view.old)) - n_created)
        if n_up:
            yield RolloutStep(new[n_created : n_created + n_up])
            n_created += n_up
        n_running = sum(pod.key in view.running for pod in new[:n_created])
        n_down = min(len(view.old), max(0, len(view.old) + n_running - (n - unavailable)))
        if n_down:
            now = [pod for pod in map(view.find, view.old) if pod is not None]
            yield RolloutStep(gone=pods_to_remove(plan.workload, now, len(now) - n_down))
        if not n_up and not n_down:
            return


def _in_places(
    plan: RolloutPlan,
    view: RolloutView,
    place_of: Callable[[Pod], int | str],
    surge: int,
    unavailable: int,
    *,
    last_first: bool = False,
    is_ordered: bool = False,
) -> Iterator[RolloutStep]:
    """Remove what has no place, fill the empty places, then replace the others as long as the bounds allow it.

    Args:
        place_of: the number of a pod of a StatefulSet, the node of a pod of a DaemonSet.
        last_first: whether the pod in the last place is replaced first.
        is_ordered: whether a pod is only created once all those in the places before it run, and only replaced once all
            of them run.
    """
    old, new = ({place_of(pod): pod for pod in pods} for pods in (view.old.values(), plan.new))
    stay = {pod.key for place, pod in old.items() if place in new}
    if gone := [pod for key, pod in view.old.items() if key not in stay]:
        yield RolloutStep(gone=gone)
    waiting = [pod for place, pod in new.items() if place not in old]
    if is_ordered:
        present = [*plan.kept, *(pod for place, pod in old.items() if place in new)]
        if not (yield from _create_in_order(plan, view, waiting, present)):
            return
    elif waiting:
        yield RolloutStep(waiting)
    left = [place for place in new if place in old]
    places = deque(reversed(left) if last_first else left)
    while places:
        waiting = [pod for pod in waiting if pod.key not in view.running]
        n = (surge or unavailable) - len(waiting)
        if n <= 0:
            return
        batch = [places.popleft() for _ in range(min(n, len(places)))]
        created = [new[place] for place in batch]
        waiting += created
        if not surge:
            yield RolloutStep(created, [old[place] for place in batch])
            continue
        yield RolloutStep(created)
        ready = [place for place in map(place_of, waiting) if new[place].key in view.running]
        if gone := [old[place] for place in ready if place in old and old[place].key in view.old]:
            yield RolloutStep(gone=gone)


def _create_in_order(
    plan: RolloutPlan, view: RolloutView, pods: Iterable[Pod], kept: Iterable[Pod]
) -> Generator[RolloutStep, None, bool]:
    """Create pods one after another, each once those before it run. Returns: whether all run."""
    present = list(kept)
    for pod in pods:
        if _is_held_up(plan, view, (other for other in present if ordinal_of(other) < ordinal_of(pod))):
            return False
        yield RolloutStep([pod])
        present.append(pod)
    return not _is_held_up(plan, view, present)


def _is_held_up(plan: RolloutPlan, view: RolloutView, pods: Iterable[Pod]) -> bool:
    """Whether one of some pods does not run, for which the controller waits."""
    first = first_awaited(pods, lambda pod: pod.key in view.running)
    if first is not None and not any(first is pod for pod in plan.new):
        view.awaited = first
    return first is not None


def _split(pods: Iterable[Pod], numbers: Container[int]) -> tuple[list[Pod], list[Pod]]:
    """The pods with these numbers, and the others."""
    every = list(pods)
    return [pod for pod in every if ordinal_of(pod) in numbers], [
        pod for pod in every if ordinal_of(pod) not in numbers
    ]


def _way(workload: Workload, strategy: UpdateStrategy, n: int) -> Way:
    """How `n` new pods replace those of a workload."""
    rolling = strategy.rolling_update or RollingUpdate()
    if workload.kind == "Pod" or strategy.type == "Recreate":
        return _at_once
    if strategy.type == "OnDelete":
        raise InputError(f"{workload} has the update strategy OnDelete: its pods change only when they are deleted")

    amount = partial(_amount, workload, n)
    if workload.kind == "StatefulSet":
        at_a_time = amount("maxUnavailable", rolling.max_unavailable, 1)
        if not at_a_time:
            raise InputError(f"{workload}: maxUnavailable: found {rolling.max_unavailable}; expected 1 or more")
        ordered = not strategy.is_parallel
        return partial(
            _in_places, place_of=ordinal_of, surge=0, unavailable=at_a_time, last_first=True, is_ordered=ordered
        )
    _refuse_standstill(workload, rolling)
    if workload.kind == "DaemonSet":
        surge = amount("maxSurge", rolling.max_surge, 0)
        missing = amount("maxUnavailable", rolling.max_unavailable, 1)
        return partial(_in_places, place_of=node_of_daemon, surge=surge, unavailable=missing)
    if workload.kind != "Deployment":
        raise InputError(f"{workload} has no rollout: its controller does not replace pods; add the new ones instead")
    more, fewer = rollout_bounds(workload, rolling, n)
    return partial(_rolling, surge=more, unavailable=fewer)


def rollout_bounds(workload: Workload, rolling: RollingUpdate, n: int) -> tuple[int, int]:
    """How many pods a Deployment of `n` may have more, and how many fewer, while they are replaced.

    Raises:
        InputError: a bound is not valid.
    """
    more = _amount(workload, n, "maxSurge", rolling.max_surge, "25%")
    fewer = _amount(workload, n, "maxUnavailable", rolling.max_unavailable, "25%", round_up=False)
    return more, fewer if more or fewer else 1


def _amount(
    workload: Workload, n: int, field: str, written: int | str | None, default: int | str, *, round_up: bool = True
) -> int:
    """A bound as a number of pods."""
    text = str(default if written is None else written)
    number = int_or_percent(text, n, round_up=round_up)
    if number is None:
        expected = "expected a number such as 1, or a percentage such as 25%"
        raise InputError(f"{workload}: {field}: found {text}; {expected}")
    if field == "maxUnavailable" and text.endswith("%") and (int_or_percent(text, _PERCENT) or 0) > _PERCENT:
        raise InputError(f"{workload}: {field}: found {text}; expected 100% or less")
    return number


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
