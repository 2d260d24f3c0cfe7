"""The way from a plugin to the rest of the scheduler, and nothing more.

Whoever composes a run fills in `Services`; a `Handle` is made from them, once per profile, and does not change.
"""

import logging
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from random import Random
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from kubesched.api import KubeObject, Pod
from kubesched.framework.actions import Action, ActionDone
from kubesched.framework.clock import Clock
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.nominated import NominatedPods
from kubesched.framework.waiting_pod import WaitingPod
from kubesched.state import ClusterState, NodeColumns, Nodes, Snapshot

if TYPE_CHECKING:
    from kubesched.framework.plugin import Plugin
    from kubesched.framework.what_if import WhatIf

__all__ = ["Handle", "Logger", "ObjectName", "Services", "WaitFor"]

ObjectName = str | tuple[str, str]
"""All objects of a kind, or one of them as (kind, key); kinds as in KINDS, keys as `namespace/name` or `name`."""

_LOG: Final = logging.getLogger("kubesched.plugin")


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


class _NoClock(Clock):
    def monotonic(self) -> float:
        """There is none."""
        raise RuntimeError("this run has no clock: its Services were built without one")

    def now(self) -> float:
        """There is none."""
        return self.monotonic()


def _no_action(action: Action) -> Awaitable[ActionDone]:
    raise RuntimeError(f"nobody performs actions here: {action!r}")


def _no_wait(condition: Callable[[], object], seconds: float, reads: Iterable[ObjectName] = ()) -> Awaitable[bool]:
    raise RuntimeError("nobody waits for conditions here")


def _no_queue(pods: Iterable[Pod]) -> None:
    names = ", ".join(pod.key for pod in pods)
    _LOG.warning("there is no queue here, so that activate does nothing for %s", names or "no pods")


def _no_what_if(state: CycleState, pod: Pod, nodes: Nodes) -> "WhatIf":
    raise RuntimeError("no framework runs this plugin")


class Services(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What a driver offers to the plugins that it runs; see Handle."""

    clock: Clock = _NoClock()
    rng: Random = msgspec.field(default_factory=lambda: Random(0))
    logger: Logger = _LOG
    perform: Callable[[Action], Awaitable[ActionDone]] = _no_action
    wait: WaitFor = _no_wait
    activate: Callable[[Iterable[Pod]], None] = _no_queue
    nominated: NominatedPods = msgspec.field(default_factory=lambda: NominatedPods(NodeColumns()))
    waiting_pods: Callable[[], Mapping[str, WaitingPod]] = dict
    preempting: Container[str] = ()


class Handle(Services, frozen=True, eq=False):
    """What a plugin may ask of the scheduler. One per profile, complete from the start.

    Attributes:
        state: the cluster state; plugins read it through snapshot(), get() and list().
        clock: time. A run replays from its events because only this is used; virtual in a simulation, at 0 in
            `explain`.
        rng: chance, seeded by the driver.
        logger: the place for messages: `logging`'s kubesched.plugin, shown on standard error from WARNING on.
        perform: awaited by binding-cycle hooks: carries out an action (a write to the API server) and gives its
            outcome. Behind a kube-scheduler, Bind alone is carried out.
        wait: awaited by binding-cycle hooks: wait(condition, seconds) goes on when the condition holds or the time is
            over, and gives whether it holds; see WaitFor.
        activate: tries pods again now that are unschedulable or back off. Without a queue of our own, behind a
            kube-scheduler and in `explain`, it warns and does nothing.
        nominated: pods that were promised a node; none behind a kube-scheduler.
        waiting_pods: gives the pods held back in Permit, by uid.
        preempting: uids of pods whose victims are being evicted; none behind a kube-scheduler, which evicts itself.
        what_if: a copy of some rows on which pods can be moved, with the filters to ask again.
        preempt_plugins: plugins that may strike nodes from a preemption plan.
    """

    state: ClusterState
    what_if: "Callable[[CycleState, Pod, Nodes], WhatIf]" = _no_what_if
    preempt_plugins: "tuple[Plugin, ...]" = ()

    def snapshot(self) -> Snapshot:
        """The cluster as this cycle sees it."""
        return self.state.snapshot()

    def get(self, kind: str, namespace: str, name: str) -> KubeObject | None:
        """An object by kind and name; None when there is none. The namespace is empty for kinds outside namespaces."""
        return self.state.objects.get(kind, f"{namespace}/{name}" if namespace else name)

    def list(self, kind: str) -> Iterable[KubeObject]:
        """All objects of a kind, in order of appearance."""
        return self.state.objects.list(kind)
