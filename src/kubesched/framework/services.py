"""The services that a driver offers to its plugins; by default, none.

A driver fills in `Services`; a `Handle` is made from them, once per profile, and does not change.
"""

import logging
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from random import Random
from typing import Final, Protocol

import msgspec

from kubesched.api import Pod
from kubesched.framework.actions import Action, ActionDone, RecordEvent
from kubesched.framework.clock import Clock
from kubesched.framework.nominated import NominatedPods
from kubesched.framework.plugin_client import NoClient, PluginClient
from kubesched.framework.plugin_metrics import MetricShapes, NoMetrics, PluginMetrics
from kubesched.framework.status import Status, VictimsOf
from kubesched.framework.waiting_pod import WaitingPod
from kubesched.state import NodeColumns, PodInfo, Snapshot

ObjectName = str | tuple[str, str]
"""All objects of a kind, or one of them as (kind, key); kinds as in KINDS, keys as `namespace/name` or `name`."""

ReadObjects = Iterable[ObjectName] | Callable[[], Iterable[ObjectName]]
"""What a condition reads; or what it reads as things are now, for objects whose names other objects have."""

_LOG: Final = logging.getLogger("kubesched.plugin")


class Logger(Protocol):
    """Where a plugin may write what an operator should see."""

    def info(self, message: str, *args: object) -> None:
        """Something worth knowing."""
        ...

    def warning(self, message: str, *args: object) -> None:
        """Something that is likely wrong."""
        ...


class CalledExtenders(Protocol):
    """The HTTP extenders that the scheduler calls itself, as preemption and the binding cycle ask them."""

    def preempt(
        self, pod: PodInfo, snapshot: Snapshot, victims: Mapping[str, VictimsOf]
    ) -> Awaitable[Mapping[str, VictimsOf]]:
        """Which of the nodes, by name, stay candidates, and with which victims."""
        ...

    def bind(self, pod: PodInfo, node_name: str) -> Awaitable[Status | None]:
        """What came of the binding; None where no extender binds the pod."""
        ...


class WaitFor(Protocol):
    """How a hook waits for something to become true in the cluster."""

    def __call__(self, condition: Callable[[], object], seconds: float, reads: ReadObjects = ()) -> Awaitable[bool]:
        """Wait until the condition holds, or for some seconds.

        Args:
            reads: what the condition depends on, anything by default. It is looked at when one of these changed, and
                when the time is over. A function is asked each time that the condition was looked at and did not hold.
        Returns: whether it holds.
        """
        ...


class _NoClock(Clock):
    def monotonic(self) -> float:
        """There is none."""
        raise RuntimeError("this run has no clock: its Services have none")

    def now(self) -> float:
        """There is none."""
        return self.monotonic()


def _no_action(action: Action) -> Awaitable[ActionDone]:
    raise RuntimeError(f"this run cannot perform actions: {action!r}")


def _no_wait(condition: Callable[[], object], seconds: float, reads: ReadObjects = ()) -> Awaitable[bool]:
    raise RuntimeError("this run cannot wait for conditions")


def _no_write(action: Action) -> None:
    """This run writes nothing."""


def _no_event(event: RecordEvent) -> None:
    """This run keeps no events."""


def _no_metrics() -> Callable[[str], PluginMetrics]:
    """Metrics that are checked and not kept."""
    shapes = MetricShapes()
    return lambda plugin: NoMetrics(plugin, shapes)


class _NoQueue:
    """Warns once that a run has no queue, in the name of the plugin that asked."""

    def __init__(self) -> None:
        self._has_warned = False

    def __call__(self, pods: Iterable[Pod]) -> None:
        if not self._has_warned:
            self._has_warned = True
            names = ", ".join(pod.key for pod in pods)
            _LOG.warning("this run has no queue, so activate does nothing for %s", names or "no pods", stacklevel=2)


class Services(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What a driver offers to the plugins that it runs; see Handle."""

    clock: Clock = _NoClock()
    rng: Random = msgspec.field(default_factory=lambda: Random(0))
    logger: Logger = _LOG
    perform: Callable[[Action], Awaitable[ActionDone]] = _no_action
    emit: Callable[[Action], None] = _no_write
    wait: WaitFor = _no_wait
    activate: Callable[[Iterable[Pod]], None] = msgspec.field(default_factory=_NoQueue)
    nominated: NominatedPods = msgspec.field(default_factory=lambda: NominatedPods(NodeColumns()))
    waiting_pods: Callable[[], Mapping[str, WaitingPod]] = dict
    preempting: Container[str] = ()
    extenders: CalledExtenders | None = None
    client: PluginClient = NoClient()
    metrics_of: Callable[[str], PluginMetrics] = msgspec.field(default_factory=_no_metrics)
    record_event: Callable[[RecordEvent], None] = _no_event
    avoids_known_faults: bool = False
