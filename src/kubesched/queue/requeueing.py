"""Decides whether an event triggers a retry of a rejected pod, from the plugins' registrations."""

import enum
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Final, NamedTuple

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject, Pod
from kubesched.errors import PluginError
from kubesched.framework import HintFunction, QueuedPodInfo, QueueingHint
from kubesched.queue.in_flight import RecordedEvent

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


class Registration(NamedTuple):
    """What a plugin registered for events: see EventRegistration. Faults of the functions are PluginErrors."""

    event: ClusterEvent
    plugin: str
    hint: HintFunction | None = None
    part: Callable[[Pod], Hashable] | None = None
    objects: Callable[[Pod], Collection[str]] | None = None
    keys_of: Callable[[KubeObject], Collection[str]] | None = None


UNTOLD: Final = object()
"""The group of pods about which a rule cannot say what its hint reads: each is asked about."""

_ALL: Final[tuple[Hashable, ...]] = ("all",)


class HintRule:
    """A registration of a profile's plugin, as the queue asks it.

    Pods that the plugin rejected are filed in groups: by what the hint reads of a pod, or by the objects that can help
    it. A group of equal pods is asked about once.

    Attributes:
        event, plugin: as registered.
        by_object: whether a group is named by the key of the only objects that can help it.
        reads: equal for rules that file a pod in the same groups.
    """

    def __init__(self, registration: Registration) -> None:
        self.event, self.plugin, self._hint, self._part, self._objects, self._keys_of = registration
        self.by_object = self._objects is not None
        self.reads: object = self._objects or self._part or self._hint is None

    def groups(self, pod: Pod) -> Collection[Hashable]:
        """The names of the groups that a pod belongs to."""
        try:
            if self._objects is not None:
                return self._objects(pod)
            if self._part is not None:
                return (self._part(pod),)
        except PluginError:
            return (UNTOLD,)
        return _ALL if self._hint is None else (UNTOLD,)

    def groups_of(self, thing: KubeObject) -> Collection[Hashable] | None:
        """The groups that an object can help, where they are named by keys; None if the plugin cannot say."""
        if self._keys_of is None:
            return (thing.key,)
        try:
            return self._keys_of(thing)
        except PluginError:
            return None

    def helps(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> bool:
        """Whether the hint says Queue; one that fails (PluginError) does."""
        if self._hint is None:
            return True
        try:
            return self._hint(pod, old, new) is QueueingHint.QUEUE
        except PluginError:
            return True


class Interest(NamedTuple):
    """The registrations for an event: the plugins of all profiles, and by profile the rules in the order registered."""

    label: str
    plugins: frozenset[str]
    rules: dict[str, list[HintRule]]


class RequeueingTable:
    """What the plugins of all profiles registered, looked up by event.

    Rule: kube-scheduler v1.36 isEventOfInterest and isPodWorthRequeuing.

    Args:
        registered: scheduler name -> what its plugins registered, in the order to ask.
    """

    def __init__(self, registered: Mapping[str, Iterable[Registration]]) -> None:
        self._rules = {profile: [HintRule(entry) for entry in entries] for profile, entries in registered.items()}
        self._by_plugin: dict[tuple[str, str], list[HintRule]] = {}
        for profile, rules in self._rules.items():
            for rule in rules:
                self._by_plugin.setdefault((profile, rule.plugin), []).append(rule)
        self._interests: dict[ClusterEvent, Interest] = {}

    def rules_of(self, profile: str, plugins: Collection[str]) -> list[HintRule]:
        """The rules of some plugins of a profile."""
        return [rule for plugin in plugins for rule in self._by_plugin.get((profile, plugin), ())]

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
        for rule in self.interest(event).rules.get(info.pod.scheduler_name, ()):
            is_pending = rule.plugin in info.pending_plugins
            if not is_pending and rule.plugin not in info.unschedulable_plugins:
                continue
            if not rule.helps(info.pod, old, new):
                continue
            if is_pending:
                return QueueingStrategy.IMMEDIATELY
            strategy = QueueingStrategy.AFTER_BACKOFF
            if not info.pending_plugins:
                break  # nothing can improve the answer
        return strategy

    def _find_interest(self, event: ClusterEvent) -> Interest:
        rules = {
            profile: [rule for rule in rules if rule.event.covers(event)] for profile, rules in self._rules.items()
        }
        plugins = frozenset(rule.plugin for some in rules.values() for rule in some)
        return Interest(event.label, plugins, rules)
