"""Shadow mode: decides for each pod that another scheduler binds, and compares.

Theory of operation. A pod is judged when the watch shows it on a node, on the state just before. A scheduler that has
to write before it binds sets `status.nominatedNodeName` first; then the pod is judged at that moment, and assumed.

The other scheduler decided earlier, and it saw the same events in another order: it assumes a pod at once, while its
Bindings, which are sent at the same time, are shown in any order. So a binding on which we do not agree is judged again
after a moment, on states that the other scheduler may have seen, until one of them agrees:

1. The cluster as it is then, with pods taken off that the queue puts behind this one: those that are later by priority
   and by the time when they came, and those that came after this one was bound.
2. The same, with the other changes since the pod came undone one after another, the latest first.

For this the last changes are kept. They are undone in a fork of the live state, so that no second state is needed.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

import msgspec
from msgspec.structs import replace

from kubesched.api import KINDS, MIRROR_POD, EventType, KubeObject, Pod, WatchEvent
from kubesched.cluster import Feed
from kubesched.framework import Clock, Framework, NominatedPods, Profile, QueuedPodInfo, Services
from kubesched.queue import Nominator
from kubesched.scheduler import SchedulingCycle, TieBreak, build_frameworks, load_cluster
from kubesched.setup import Setup
from kubesched.shadow.verdict import Agreement, Judge, Verdict
from kubesched.state import ClusterState, PodInfo

Position = tuple[int, int]
"""Where a pod was in the queue: its priority, negative, and the number of the event with which it came."""

Report = Callable[[Verdict, Callable[[], list[KubeObject]]], None]
"""Takes each final verdict, and what gives the cluster on which it was judged, with the pod pending."""

_SECOND_LOOK_SECONDS: Final = 4.0
_TOGETHER_SECONDS: Final = 0.5  # second looks that are due within this time are given together
_KEPT_SECONDS: Final = 15.0
_MAX_KEPT: Final = 5000  # changes
_MAX_SUSPECTS: Final = 1000
_MAX_UNDONE: Final = 8  # other changes, with a decision after each


class _Waiting(msgspec.Struct):
    """A pod without a node.

    Attributes:
        since: the number of the event with which it came, or failed.
        chosen: the node on which it is assumed, because the other scheduler has announced it.
    """

    since: int
    chosen: str = ""


class _Change(msgspec.Struct, frozen=True, gc=False):
    """A change of the cluster that a decision may depend on.

    Attributes:
        before: the object that was known; None where there was none, or where it took no room.
        position: of a pod that got its node, if one of our profiles serves it.
    """

    number: int
    at: float
    event: WatchEvent
    before: KubeObject | None
    position: Position | None = None


class _Suspect(msgspec.Struct, frozen=True):
    """A binding that gets a second look.

    Attributes:
        pod: as it waited.
        number: of the event with which it was shown.
    """

    verdict: Verdict
    pod: Pod
    position: Position
    number: int
    due: float


class Shadow:
    """Judges the bindings of the pods that our profiles serve.

    Args:
        report: takes the verdicts; those without a second look at once.
        took: called with the seconds that a first judgement took.
        services: what else plugins get than the clock and the nominated pods.

    Attributes:
        feed: the sink for the watch; `feed.hand_over()` when everything that exists has been shown, and
            `feed.release()` when the plugins have started.
        frameworks: by scheduler name.
    """

    def __init__(
        self,
        setup: Setup,
        report: Report,
        *,
        clock: Clock,
        took: Callable[[float], object] = float,
        services: Services | None = None,
    ) -> None:
        self.cluster_state = ClusterState(setup.release)
        self.feed = Feed(partial(load_cluster, self.cluster_state), self._apply)
        self._report = report
        self._took = took
        self._clock = clock
        self._nominator = Nominator()
        nominated = NominatedPods(self.cluster_state.columns, self._nominations, lambda: self._nominator.generation)
        rng = Random(0)
        self.frameworks: dict[str, Framework] = build_frameworks(
            map(_without_side_effects, setup.profiles),
            self.cluster_state,
            replace(services or Services(), clock=clock, rng=rng, nominated=nominated),
        )
        cycle = SchedulingCycle(TieBreak.UPSTREAM, rng)
        percentages = {profile.scheduler_name: profile.percentage_of_nodes_to_score for profile in setup.profiles}
        self._judges = {name: Judge(own, percentages[name], cycle) for name, own in self.frameworks.items()}
        self._number = 0  # of the last event
        self._waiting: dict[str, _Waiting] = {}  # by uid: pods of our profiles
        self._changes: deque[_Change] = deque()
        self._suspects: deque[_Suspect] = deque()
        self._has_suspects = asyncio.Event()

    @property
    def sizes(self) -> dict[str, int]:
        """How much is kept in addition to the cluster state."""
        return {"waiting": len(self._waiting), "changes": len(self._changes), "suspects": len(self._suspects)}

    async def run(self) -> None:
        """Give second looks when they are due, until cancelled; those that are left are given at once."""
        try:
            while True:
                if not self._suspects:
                    self._has_suspects.clear()
                    await self._has_suspects.wait()
                await asyncio.sleep(max(self._suspects[0].due - self._clock.monotonic(), 0.0))
                self._look_again(self._clock.monotonic())
        finally:
            self._look_again(float("inf"))

    # --- events in ---

    def _apply(self, event: WatchEvent) -> None:
        self._number += 1
        if isinstance(event.object, Pod):
            self._apply_pod(event, event.object)
        else:
            self._take_in(event)

    def _apply_pod(self, event: WatchEvent, pod: Pod) -> None:
        known = self.cluster_state.objects.get("Pod", pod.key)
        before = known if isinstance(known, Pod) and known.uid == pod.uid else None
        is_gone = event.type is EventType.DELETED or pod.is_finished
        self._nominator.delete(pod)
        if pod.scheduler_name not in self.frameworks:
            self._take_in(event)
        elif is_gone or pod.node_name:
            waiting = self._waiting.pop(pod.uid, None)
            position = None if waiting is None else (-pod.priority, waiting.since)
            if not is_gone:
                self._bound(pod, before, waiting)
            self._take_in(event, position)
        else:
            self._still_waits(event, pod, before)

    def _bound(self, pod: Pod, before: Pod | None, waiting: _Waiting | None) -> None:
        if waiting is not None and before is not None:
            if waiting.chosen != pod.node_name:
                self._judge(before, pod.node_name, waiting)
        elif before is None and MIRROR_POD not in pod.annotations:
            unseen = Verdict(Agreement.UNSEEN, pod.key, pod.uid, pod.scheduler_name, pod.node_name, "")
            self._report(unseen, list)

    def _still_waits(self, event: WatchEvent, pod: Pod, before: Pod | None) -> None:
        waiting = self._waiting.get(pod.uid)
        if waiting is None:
            waiting = self._waiting[pod.uid] = _Waiting(self._number)
        elif before is not None and _failure(pod) not in (None, _failure(before)):
            waiting.since = self._number
        nominated = pod.status.nominated_node_name
        if waiting.chosen and waiting.chosen != nominated:
            self.cluster_state.forget(pod)
            waiting.chosen = ""
        is_news = before is not None and nominated != before.status.nominated_node_name
        if is_news and nominated and _failure(pod) is None and before is not None:
            self._judge(before, nominated, waiting)
            self._take_in(event)
            self.cluster_state.assume(self.cluster_state.pod_info(pod), nominated)
            waiting.chosen = nominated
        else:
            self._take_in(event)
            if not waiting.chosen:
                self._nominator.add(QueuedPodInfo(pod, pod.key, 0.0))

    def _nominations(self) -> list[tuple[str, PodInfo]]:
        return [(name, self.cluster_state.pod_info(queued.pod)) for name, queued in self._nominator.pairs()]

    # --- the first look ---

    def _judge(self, pod: Pod, node_name: str, waiting: _Waiting) -> None:
        began = self._clock.monotonic()
        if waiting.chosen:
            self.cluster_state.forget(pod)
        verdict = self._judges[pod.scheduler_name].judge(self.cluster_state.pod_info(pod), node_name)
        now = self._clock.monotonic()
        self._took(now - began)
        if verdict.agreement is not Agreement.DISAGREED:
            self._report(verdict, list)
            return
        position = (-pod.priority, waiting.since)
        self._suspects.append(_Suspect(verdict, pod, position, self._number, now + _SECOND_LOOK_SECONDS))
        self._has_suspects.set()
        if len(self._suspects) > _MAX_SUSPECTS:
            self._look_again(self._suspects[0].due)

    # --- what changes ---

    def _take_in(self, event: WatchEvent, position: Position | None = None) -> None:
        before = self.cluster_state.objects.get(event.kind, event.object.key)
        is_there = event.type is not EventType.DELETED
        if isinstance(event.object, Pod):
            is_there = is_there and bool(event.object.node_name) and not event.object.is_finished
            before = before if isinstance(before, Pod) and before.node_name else None
        if _is_news(before, event.object if is_there else None):
            self._changes.append(_Change(self._number, self._clock.monotonic(), event, before, position))
            oldest = self._changes[-1].at - _KEPT_SECONDS
            while len(self._changes) > _MAX_KEPT or self._changes[0].at < oldest:
                self._changes.popleft()
        self.cluster_state.apply(event)

    # --- the second look ---

    def _look_again(self, now: float) -> None:
        """Look again at all bindings that are due or nearly so: each later pod is taken off once for all of them."""
        due: list[_Suspect] = []
        while self._suspects and self._suspects[0].due <= now + _TOGETHER_SECONDS:
            due.append(self._suspects.popleft())
        bound = sorted((c.position, c.event.object.uid) for c in self._changes if c.position is not None)
        agreeing: set[int] = set()
        taken_off: set[str] = set()
        with self.cluster_state.fork():
            for suspect in sorted(due, key=lambda one: one.position, reverse=True):
                while bound and bound[-1][0] > suspect.position:
                    uid = bound.pop()[1]
                    taken_off.add(uid)
                    self._take_off(uid)
                also = [suspect.pod.uid, *(uid for position, uid in bound if position[1] > suspect.number)]
                if self._agrees_elsewhere(suspect, also, taken_off.union(also)):
                    agreeing.add(suspect.number)
        for suspect in due:
            is_order = suspect.number in agreeing
            verdict = replace(suspect.verdict, agreement=Agreement.ORDER) if is_order else suspect.verdict
            self._report(verdict, partial(self._objects_before, suspect))

    def _agrees_elsewhere(self, suspect: _Suspect, also: list[str], taken_off: set[str]) -> bool:
        """Try the states that the other scheduler may have seen.

        Args:
            also: the pods to take off in addition, by uid.
            taken_off: all that are off then.
        """
        with self.cluster_state.fork():
            for uid in also:
                self._take_off(uid)
            if self._agrees(suspect):
                return True
            others = (c for c in reversed(self._changes) if c.position is None and c.event.object.uid not in taken_off)
            for change, _ in zip(others, range(_MAX_UNDONE), strict=False):
                if change.number <= suspect.position[1]:
                    break
                self._undo(change)
                if self._agrees(suspect):
                    return True
            return False

    def _agrees(self, suspect: _Suspect) -> bool:
        info = self.cluster_state.pod_info(suspect.pod)
        verdict = self._judges[suspect.pod.scheduler_name].judge(info, suspect.verdict.node)
        return verdict.agreement is not Agreement.DISAGREED

    def _take_off(self, uid: str) -> None:
        """Take a pod off its node."""
        info = self.cluster_state.placed(uid)
        if info is None:
            return
        if self.cluster_state.is_assumed(info.pod):
            self.cluster_state.forget(info.pod)
        else:
            self.cluster_state.apply(WatchEvent(EventType.DELETED, "Pod", info.pod))

    def _undo(self, change: _Change) -> None:
        """Bring back what was before a change, if all later ones are undone."""
        kind = change.event.kind
        if change.before is not None:
            self.cluster_state.apply(WatchEvent(EventType.MODIFIED, kind, change.before))
        elif (current := self.cluster_state.objects.get(kind, change.event.object.key)) is not None:
            self.cluster_state.apply(WatchEvent(EventType.DELETED, kind, current))

    def _objects_before(self, suspect: _Suspect) -> list[KubeObject]:
        """The cluster when the pod was shown on its node, with the pod as it waited."""
        with self.cluster_state.fork():
            for change in reversed(self._changes):
                if change.number >= suspect.number:
                    self._undo(change)
            known = self.cluster_state.objects
            kinds = (*KINDS, *(kind for kind in known.kinds if kind not in KINDS))
            objects = [obj for kind in kinds for obj in known.list(kind)]
        return [*(obj for obj in objects if obj.uid != suspect.pod.uid), suspect.pod]


def _without_side_effects(profile: Profile) -> Profile:
    """A profile that examines every node, and evicts no pod."""
    return replace(profile, percentage_of_nodes_to_score=100, points={**profile.points, "postFilter": ()})


def _failure(pod: Pod) -> tuple[str, str] | None:
    """Reason and message of the last failed attempt; None if the pod has not failed."""
    for condition in pod.status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason, condition.message
    return None


def _is_news(before: KubeObject | None, after: KubeObject | None) -> bool:
    """Whether a decision may depend on the difference."""
    if before is None or after is None:
        return before is not after
    if isinstance(before, Pod) and isinstance(after, Pod):  # what a kubelet reports of a running pod is not news
        return (before.spec, before.labels, before.is_terminating) != (after.spec, after.labels, after.is_terminating)
    is_same = before.metadata.is_same_but_for_version(after.metadata)
    return not is_same or replace(before, metadata=after.metadata) != after
