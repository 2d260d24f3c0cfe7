"""Decides whether an event triggers a retry of a rejected pod, from the plugins' registrations."""

import enum
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject, Pod
from kubesched.errors import PluginError
from kubesched.framework import HintFunction, QueuedPodInfo, QueueingHint
from kubesched.queue.in_flight import RecordedEvent

__all__ = ["FORCE_ACTIVATE", "UNSCHEDULABLE_TIMEOUT", "QueueingStrategy", "RequeueingTable"]

UNSCHEDULABLE_TIMEOUT = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivate")


class QueueingStrategy(enum.Enum):
    """Where a pod goes after an event or a failed attempt."""

    SKIP = enum.auto()
    """It waits for another event."""
    AFTER_BACKOFF = enum.auto()
    """It is tried again when its backoff is over."""
    IMMEDIATELY = enum.auto()
    """It is tried again at once."""


class Interest(NamedTuple):
    """The registrations for an event: the plugins of all profiles, and by profile the hints in the order registered."""

    label: str
    plugins: frozenset[str]
    hints: dict[str, list[tuple[str, HintFunction | None]]]


class RequeueingTable:
    """What the plugins of all profiles registered, looked up by event.

    Rule: kube-scheduler v1.36 isEventOfInterest and isPodWorthRequeuing.

    Args:
        registered: scheduler name -> (event, plugin, hint) in the order to ask; None for a hint means always.
    """

    def __init__(self, registered: Mapping[str, Iterable[tuple[ClusterEvent, str, HintFunction | None]]]) -> None:
        self._registered = {profile: list(entries) for profile, entries in registered.items()}
        self._interests: dict[ClusterEvent, Interest] = {}

    def interest(self, event: ClusterEvent) -> Interest:
        """The registrations for the event; computed once per event."""
        interest = self._interests.get(event)
        if interest is None:
            interest = self._interests[event] = self._find_interest(event)
        return interest

    def may_ungate(self, info: QueuedPodInfo, event: ClusterEvent) -> bool:
        """Whether an event can concern a pod as far as its gate goes: the gating plugin registered it, in any profile.

        Wildcard events, a safeguard, concern all pods.
        """
        return not info.gating_plugin or event.is_wildcard or info.gating_plugin in self.interest(event).plugins

    def strategy(
        self, info: QueuedPodInfo, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> QueueingStrategy:
        """The strategy for a pod after the event.

        A hint that fails (PluginError) counts as Queue. A wildcard event about a pod means that
        pod alone.
        """
        if not info.unschedulable_plugins and not info.pending_plugins:
            return QueueingStrategy.AFTER_BACKOFF
        if event.is_wildcard:
            is_for_another = isinstance(new, Pod) and new.uid != info.pod.uid
            return QueueingStrategy.SKIP if is_for_another else QueueingStrategy.AFTER_BACKOFF
        return self._ask_hints(info, event, old, new)

    def replay(self, info: QueuedPodInfo, events: Iterable[RecordedEvent]) -> QueueingStrategy:
        """The strategy for a pod after the events since its failed attempt began."""
        if not info.rejectors:
            return QueueingStrategy.AFTER_BACKOFF
        best = QueueingStrategy.SKIP
        for event, old, new in events:
            strategy = self.strategy(info, event, old, new)
            if strategy is QueueingStrategy.IMMEDIATELY:
                return strategy
            if strategy is QueueingStrategy.AFTER_BACKOFF:
                best = strategy
                if not info.pending_plugins:
                    break
        return best

    def _ask_hints(
        self, info: QueuedPodInfo, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> QueueingStrategy:
        strategy = QueueingStrategy.SKIP
        for plugin, hint in self.interest(event).hints.get(info.pod.scheduler_name, ()):
            is_pending = plugin in info.pending_plugins
            if not is_pending and plugin not in info.unschedulable_plugins:
                continue
            if _ask(hint, info.pod, old, new) is QueueingHint.SKIP:
                continue
            if is_pending:
                return QueueingStrategy.IMMEDIATELY
            strategy = QueueingStrategy.AFTER_BACKOFF
            if not info.pending_plugins:
                break  # nothing can improve the answer
        return strategy

    def _find_interest(self, event: ClusterEvent) -> Interest:
        hints = {
            profile: [(plugin, hint) for registered, plugin, hint in entries if registered.covers(event)]
            for profile, entries in self._registered.items()
        }
        plugins = frozenset(plugin for entries in hints.values() for plugin, _ in entries)
        return Interest(event.label, plugins, hints)


def _ask(hint: HintFunction | None, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    if hint is None:
        return QueueingHint.QUEUE
    try:
        return hint(pod, old, new)
    except PluginError:
        return QueueingHint.QUEUE
