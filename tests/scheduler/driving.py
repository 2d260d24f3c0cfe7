"""A scheduler over a cluster in memory, driven step by step: every action is noted, time stands still until told."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from kubesched.api import EventType, KubeObject, Pod, WatchEvent
from kubesched.framework import Action, ActionDone, Bind, CycleState, Decision, Plugin, Services, Status, Wait
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.scheduler import BindingCycle, Eviction, PermitRequest, Scheduler, TieBreak, straight
from kubesched.state import ClusterState
from kubesched.testing.fake_cluster import minimal_profile

ActionT = TypeVar("ActionT", bound=Action)


class Driven:
    """The clock of its plugins, too.

    Attributes:
        seconds: what the clock shows.
        actions: everything that the scheduler wanted done, in order.
        refusals: errors with which actions of a type fail.
        queued: every pod that came into a queue, in order: the queue, the event's label, the pod.
        loses_answers: whether a Binding is made although it is reported as failed.
    """

    def __init__(
        self, *plugins: Plugin, objects: Iterable[KubeObject] = (), release: Release = DEFAULT_RELEASE
    ) -> None:
        self.seconds = 0.0
        self.actions: list[Action] = []
        self.refusals: dict[type[Action], str] = {}
        self.loses_answers = False
        self._binding: BindingCycle | Eviction | None = None
        self.cluster_state = ClusterState(release)
        self.queued: list[tuple[str, str, str]] = []
        self.scheduler = Scheduler(
            [msgspec.structs.replace(minimal_profile(*plugins), release=release)],
            self.cluster_state,
            Services(clock=self),
            emit=self.actions.append,
            tie_break=TieBreak.FIRST,
            observer=lambda queue, label, pod: self.queued.append((queue, label, pod.name)),
        )
        for obj in objects:
            self.tell(obj)

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> float:
        return self.seconds

    def tell(self, obj: KubeObject, type_: EventType = EventType.MODIFIED) -> None:
        self.scheduler.handle_event(WatchEvent(type_, type(obj).__name__, obj))

    def pass_time(self, seconds: float) -> None:
        self.seconds += seconds
        self.scheduler.advance()

    def decide(self) -> BindingCycle | Eviction:
        """Try the next pod. Returns: its binding cycle, or the eviction of its victims; nobody has gone on with it."""
        taken = straight(self.scheduler.attempt())
        assert taken is not None
        cycle = taken[1]
        assert cycle is not None
        return cycle

    def attempt(self) -> Decision | None:
        """Try the next pod and bind it if it fits; a pod that has to wait in Permit is left waiting."""
        taken = straight(self.scheduler.attempt())
        if taken is None:
            return None
        decision, self._binding = taken
        return decision if self._binding is None else self._drive(None) or decision

    def resume(self) -> Decision:
        """Go on with the binding cycle that waits in Permit."""
        (waiting,) = self.scheduler.waiting_pods.values()
        decision = self._drive(waiting.status)
        assert decision is not None
        return decision

    def _drive(self, answer: object) -> Decision | None:
        """Run the binding cycle until it ends (its decision) or waits for Permit (None)."""
        assert self._binding is not None
        try:
            while True:
                request = self._binding.send(answer)
                if isinstance(request, PermitRequest):
                    return None
                answer = self._perform(request)
        except StopIteration as end:
            decision: Decision = end.value
            return decision

    def _perform(self, action: Action) -> ActionDone:
        self.actions.append(action)
        refusal = self.refusals.get(type(action), "")
        if isinstance(action, Bind) and (self.loses_answers or not refusal):
            spec = msgspec.structs.replace(action.pod.spec, node_name=action.node_name)
            self.tell(msgspec.structs.replace(action.pod, spec=spec))
        return ActionDone(action, error=refusal)

    def done(self, kind: type[ActionT]) -> list[ActionT]:
        """The actions of a type."""
        return [action for action in self.actions if isinstance(action, kind)]

    @property
    def counts(self) -> dict[str, int]:
        """Pods in each queue that has some."""
        return {name: n for name, n in self.scheduler.queue.counts().items() if n}

    def held(self, node: str) -> int:
        """The milli-CPU that pods hold on a node."""
        return int(self.cluster_state.columns.requested[0, self.cluster_state.columns.row_of[node]])


class Steps(Plugin):
    """Notes which hooks are called; each answers as it was told, with success by default."""

    def __init__(self, calls: list[str] | None = None, **answers: object) -> None:
        super().__init__()
        self.calls = [] if calls is None else calls
        self.answers = answers

    def _answer(self, hook: str) -> Status | Wait:
        self.calls.append(hook)
        answer = self.answers.get(hook, Status.SUCCESS)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        return self._answer("reserve")

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.calls.append("unreserve")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | Wait:
        return self._answer("permit")

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        return self._answer("pre_bind")

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.calls.append("post_bind")


class OtherSteps(Steps):
    """A second one, which notes its calls with a dash."""

    def _answer(self, hook: str) -> Status | Wait:
        answer = super()._answer(hook)
        self.calls[-1] = f"-{hook}"
        return answer

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.calls.append("-unreserve")

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.calls.append("-post_bind")
