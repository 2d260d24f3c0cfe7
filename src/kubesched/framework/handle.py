"""The way from a plugin to the rest of the scheduler, and nothing more."""

from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from kubesched.api import KubeObject, Pod
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.nominated import NominatedPods
from kubesched.state import ClusterState, Nodes, Snapshot

if TYPE_CHECKING:
    from kubesched.framework.what_if import WhatIf

__all__ = ["Clock", "Handle", "Logger", "ObjectName", "WaitFor"]

ObjectName = str | tuple[str, str]
"""All objects of a kind, or one of them as (kind, key); kinds as in KINDS, keys as `namespace/name` or `name`."""


class Clock(Protocol):
    """Where time comes from; the simulator's is virtual."""

    def monotonic(self) -> float:
        """Seconds, for durations."""
        ...

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC, for stamps."""
        ...


class Logger(Protocol):
    """Where a plugin may write what an operator should see."""

    def info(self, message: str, *args: object) -> None:
        """Something worth knowing."""
        ...

    def warning(self, message: str, *args: object) -> None:
        """Something that is likely wrong."""
        ...


class WaitFor(Protocol):
    """How a hook waits for something to become true in the cluster."""

    def __call__(
        self, condition: Callable[[], object], seconds: float, reads: Iterable[ObjectName] = ()
    ) -> Awaitable[bool]:
        """Wait until the condition holds, or for some seconds.

        Args:
            reads: what the condition depends on, anything by default. It is looked at when one of these changed, and
                when the time is over.
        Returns: whether it holds.
        """
        ...


class _Silence:
    def info(self, message: str, *args: object) -> None:
        """Drop it."""

    def warning(self, message: str, *args: object) -> None:
        """Drop it."""


class _StoppedClock:
    def monotonic(self) -> float:
        """Always 0."""
        return 0.0

    def now(self) -> float:
        """Always 0."""
        return 0.0


def _no_action(action: object) -> Any:
    raise RuntimeError(f"nobody performs actions here: {action!r}")


def _no_wait(condition: Callable[[], object], seconds: float, reads: Iterable[ObjectName] = ()) -> Any:
    raise RuntimeError("nobody waits for conditions here")


class Handle:
    """What a plugin may ask of the scheduler. One per profile; drivers fill it in.

    Attributes:
        state: the cluster state; plugins read it through snapshot(), get() and list().
        extenders: configured HTTP extenders.
        clock, rng, logger: time, chance and a place for messages; a run replays from its events because only these are
            used.
        perform: awaited by binding-cycle hooks: carries out an action (a write to the API server) and gives its
            outcome.
        wait: awaited by binding-cycle hooks: wait(condition, seconds) goes on when the condition holds or the time is
            over, and gives whether it holds; see WaitFor.
        activate: asks the queue to try pods again now.
        nominated: pods that were promised a node.
        waiting_pods: pods held back in Permit, by uid.
        what_if: a copy of some rows on which pods can be moved, with the filters to ask again.
        preempt_plugins: plugins that may strike nodes from a preemption plan.
        preempting: uids of pods whose victims are being evicted.
    """

    def __init__(self, state: ClusterState, *, clock: Clock | None = None, rng: Random | None = None) -> None:
        self.state = state
        self.clock: Clock = clock or _StoppedClock()
        self.rng = rng or Random(0)
        self.logger: Logger = _Silence()
        self.extenders: Sequence[Any] = ()
        self.perform: Callable[[Any], Any] = _no_action
        self.wait: WaitFor = _no_wait
        self.activate: Callable[[Iterable[Pod]], None] = lambda pods: None
        self.nominated = NominatedPods(state.columns)
        self.waiting_pods: Callable[[], Mapping[str, Any]] = dict
        self.what_if: Callable[[CycleState, Pod, Nodes], WhatIf] = _no_what_if
        self.preempt_plugins: Sequence[Any] = ()
        self.preempting: Container[str] = ()

    def snapshot(self) -> Snapshot:
        """The cluster as this cycle sees it."""
        return self.state.snapshot()

    def get(self, kind: str, namespace: str, name: str) -> KubeObject | None:
        """An object by kind and name; None when there is none. The namespace is empty for kinds outside namespaces."""
        return self.state.objects.get(kind, f"{namespace}/{name}" if namespace else name)

    def list(self, kind: str) -> Iterable[Any]:
        """All objects of a kind, in order of appearance."""
        return self.state.objects.list(kind)


def _no_what_if(state: CycleState, pod: Pod, nodes: Nodes) -> "WhatIf":
    raise RuntimeError("no framework runs this plugin")
