"""The largest number of equal pods that fit: that many fit, and one more does not."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from kubesched.api import KubeObject, Pod
from kubesched.explanation import with_reasons
from kubesched.framework import Decision
from kubesched.planning.asked import Asked
from kubesched.planning.placed import has_place, placements_of, rivals
from kubesched.session import Placement, Progress, Report, Session
from kubesched.state import PodRequests

_FIRST_TRY: Final = 20_000
_MAX_PODS: Final = 500_000
_IN_ORDER: Final = "PrioritySort"


class Most(NamedTuple):
    """The largest number of pods that fit.

    Attributes:
        new: that many pods, and perhaps the objects that come with them.
        report: of the simulation with them.
        next_left: the pod that does not fit any more; None if the search ended at its upper limit.
    """

    new: list[KubeObject]
    report: Report
    next_left: Placement | None


def most_that_fit(session: Session, asked: Asked, progress: Progress | None = None) -> Most:
    """Find the largest number.

    One run lets pods arrive until the first is left, and is then the run of exactly as many pods: the last one is left,
    and changes nothing for the others. Where another one has no node in the end, because it was evicted again or a
    plugin orders the queue, the number is confirmed by runs with exactly as many pods.

    Raises:
        InputError: the pods belong to several workloads, or their number is fixed.
    """
    asked.only_workload()
    search = _Search(session, asked, progress)
    if search.may_arrive():
        found = search.arriving()
        return found if isinstance(found, Most) else search.answer(search.bisect(found))
    n, preempts = search.scout()
    if n == _MAX_PODS:
        return Most(asked.objects(n), search.run(n), None)
    if not preempts and search.n_placed(n + 1) == n:
        return search.answer(n, without_last=True)
    return search.answer(search.bisect(n))


class _Search:
    def __init__(self, session: Session, asked: Asked, progress: Progress | None) -> None:
        self._session = session
        self._asked = asked
        self._progress = progress
        self._reports: dict[int, Report] = {}

    # --- pods that arrive one after another ---

    def may_arrive(self) -> bool:
        """Whether pods that arrive later are tried later: no plugin sorts them in another way, and no kubelet does."""
        pod = self._asked.pods[0]
        framework = self._session.frameworks.get(pod.scheduler_name)
        if framework is None or any(one.node_name for one in self._asked.pods):
            return False
        return [plugin.name for plugin in framework.profile.points["queueSort"]] == [_IN_ORDER]

    def arriving(self) -> Most | int:
        """Let pods arrive until one is left. Returns: the number alone where it has to be confirmed."""
        with self._session.fork():
            watch = _Arriving(self._session, self._asked)
            report = self._explained(self._session.schedule(self._progress, until=watch), watch.pods)
        placements = placements_of(watch.pods, report)
        index = watch.index if watch.index is not None else _first_absent(placements)
        if index is None:
            return Most([*watch.pods], report, None)
        last = placements[-1]
        if index != len(placements) - 1 or [one for one in placements if not has_place(one)] != [last]:
            return index
        if any(victim.preemptor == last.pod for victim in report.victims):
            return index
        kept = tuple(one for one in report.placements if one is not last)
        return Most([*watch.pods[:-1]], msgspec.structs.replace(report, placements=kept), last)

    # --- runs with a number of pods ---

    def scout(self) -> tuple[int, bool]:
        """Place pods until one finds no node. Returns: how many had one, and whether preemption took part."""
        n = min(_MAX_PODS, max(1, self._room() + 1))
        for n_tried in _growing(min(n, _FIRST_TRY)):
            new = self._asked.objects(n_tried)
            order = {pod.uid: i for i, pod in enumerate(pod for pod in new if isinstance(pod, Pod))}
            watch = _FirstLeft(order)
            with self._session.fork():
                self._session.change(new)
                report = self._session.schedule(self._progress, until=watch)
            index = watch.index if watch.index is not None else _first_absent(placements_of(new, report))
            if index is not None:
                return index, watch.preempts
        return _MAX_PODS, False

    def _room(self) -> int:
        """How many of the pods fit by their requests alone, if no pod is evicted."""
        needed = {**PodRequests(self._asked.pods[0]).wanted, "pods": 1}
        fill = self._session.fill()
        return sum(_room_on(fill.allocatable(name), fill.held(name), needed) for name in fill.node_names)

    def run(self, n: int) -> Report:
        """The report for exactly `n` pods."""
        if n not in self._reports:
            with self._session.fork():
                new = self._asked.objects(n)
                self._session.change(new)
                self._reports[n] = self._explained(self._session.schedule(self._progress), new)
        return self._reports[n]

    def _explained(self, report: Report, new: Iterable[KubeObject]) -> Report:
        """The report with the reason of the first new pod without a node."""
        left = (one.pod for one in placements_of(new, report) if not has_place(one))
        return with_reasons(self._session, report, only=[*islice(left, 1), *rivals(self._session.pending, new)])

    def n_placed(self, n: int) -> int:
        """How many of `n` pods have a node."""
        return sum(map(has_place, placements_of(self._asked.objects(n), self.run(n))))

    def bisect(self, n: int) -> int:
        """A number near `n` that fits, and one more does not."""
        low, high = (n, None) if self._fits(n) else (None, n)
        step = 1
        while low is None and high is not None:
            tried = max(0, high - step)
            low, high = (tried, high) if self._fits(tried) else (None, tried)
            step *= 2
        step = 1
        while high is None and low is not None:
            tried = min(_MAX_PODS, low + step)
            low, high = (tried, None) if self._fits(tried) and tried < _MAX_PODS else (low, tried)
            step *= 2
        assert low is not None
        assert high is not None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._fits(middle) else (low, middle)
        return low

    def _fits(self, n: int) -> bool:
        return n == 0 or self.n_placed(n) == n

    def answer(self, n: int, *, without_last: bool = False) -> Most:
        """The result for `n` pods.

        Args:
            without_last: whether the report for one more pod also describes `n` pods: it evicts no pod.
        """
        more = placements_of(self._asked.objects(n + 1), self.run(n + 1))
        next_left = next(one for one in more if not has_place(one))
        if not without_last:
            return Most(self._asked.objects(n), self.run(n), next_left)
        kept = tuple(one for one in self.run(n + 1).placements if one.pod != next_left.pod)
        report = msgspec.structs.replace(self.run(n + 1), placements=kept)
        return Most(self._asked.objects(n), report, next_left)


class _FirstLeft:
    """Ends a run when the first of some pods finds no node.

    Args:
        order: the index of each pod by uid.
    Attributes:
        index: of that pod; None until there is one.
        preempts: whether any pod had victims until then.
    """

    def __init__(self, order: dict[str, int]) -> None:
        self.index: int | None = None
        self.preempts = False
        self._order = order

    def __call__(self, decision: Decision) -> bool:
        self.preempts |= bool(decision.victims)
        index = self._order.get(decision.pod.uid)
        if index is not None and not decision.node_name and not decision.nominated_node_name:
            self.index = index
        return self.index is not None


class _Arriving(_FirstLeft):
    """Lets pods arrive during a run, each once the one before has a node or is nominated to one.

    Attributes:
        pods: those that have arrived.
    """

    def __init__(self, session: Session, asked: Asked) -> None:
        super().__init__({})
        self.pods: list[Pod] = []
        self._session = session
        self._coming = asked.one_by_one()
        session.change(self._next())

    def _next(self) -> Iterator[KubeObject]:
        """What comes, up to and with a pod."""
        for one in self._coming:
            yield one
            if isinstance(one, Pod):
                self._order[one.uid] = len(self.pods)
                self.pods.append(one)
                return

    def __call__(self, decision: Decision) -> bool:
        is_left = super().__call__(decision)
        is_last = decision.pod.uid == self.pods[-1].uid
        if is_last and not is_left and len(self.pods) < _MAX_PODS:
            self._session.arrive(self._next())
        return False


def _first_absent(placements: Iterable[Placement]) -> int | None:
    """The index of the first pod without a node that no scheduler has tried: one that is refused, or names its node."""
    return next((i for i, one in enumerate(placements) if not has_place(one)), None)


def _growing(n: int) -> Iterator[int]:
    while n < _MAX_PODS:
        yield n
        n *= 4
    yield _MAX_PODS


def _room_on(offered: Mapping[str, int], held: Mapping[str, int], needed: Mapping[str, int]) -> int:
    free = ((offered.get(name, 0) - held.get(name, 0)) // n for name, n in needed.items() if n)
    return max(0, min(free))
