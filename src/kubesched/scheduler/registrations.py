"""Collects the events that the plugins of a profile register, in the form that the queue uses."""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence, Sized
from typing import Any, Final, TypeVar

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject, Pod, custom_resource
from kubesched.errors import PluginError
from kubesched.framework import (
    HOOK_FAULTS,
    EventRegistration,
    Framework,
    HintFunction,
    Plugin,
    QueueingHint,
    answer_text,
    located_line,
)
from kubesched.queue import Registration
from kubesched.scheduler.extenders import EXTENDER

ObjectT = TypeVar("ObjectT", bound=KubeObject)
_MOST_LOGGED: Final = 8
_TAINTS = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)


def registrations(framework: Framework, extenders: Sized = ()) -> list[Registration]:
    """The events for which the profile's plugins retry pods; a plugin without EventsToRegister gets every event.

    Args:
        extenders: those that are called; what one of them rejected is woken by everything.
    Rule: kube-scheduler v1.36 buildQueueingHintMap. A plugin that registers new nodes and not taints gets all changes
    of taints: a node may have been tainted when it was added.
    """
    entries: list[Registration] = []
    everything = ClusterEvent(EventResource.WILDCARD, ActionType.ALL)
    for plugin in framework.profile.plugins:
        if plugin.defines("events_to_register"):
            wanted = _events_of(plugin)
            entries += _guarded(framework, plugin, wanted)
            actions = [entry.event.action for entry in wanted if entry.event.resource is EventResource.NODE]
            if any(action & ActionType.ADD for action in actions) and not any(
                action & ActionType.UPDATE_NODE_TAINT for action in actions
            ):
                entries.append(Registration(_TAINTS, plugin.name))
        elif _may_reject(plugin):
            entries.append(Registration(everything, plugin.name))
    if extenders:
        entries.append(Registration(everything, EXTENDER))
    return entries


def _events_of(plugin: Plugin) -> list[EventRegistration]:
    """What the plugin registers.

    Raises:
        PluginError: it cannot say; then nothing would wake the pods that it rejects.
    """
    try:
        entries: list[Any] = list(plugin.events_to_register())
        for entry in entries:
            if not isinstance(entry, EventRegistration):
                raise TypeError(f"it must return a list of EventRegistration; found {answer_text(entry)} in it")
            _check_resource(plugin, entry.event.resource)
            if entry.part and entry.objects:
                raise ValueError(f"{entry.event.label}: a hint has either a part or objects; found both")
    except HOOK_FAULTS as error:
        text = f'events_to_register of plugin "{plugin.name}": {located_line(error)}'
        raise PluginError(text, plugin=plugin.name, extension_point="events_to_register") from error
    return entries


def _check_resource(plugin: Plugin, resource: EventResource | str) -> None:
    """Events of kinds that kubesched does not decode come for those that are declared."""
    declared = sorted(filter(None, map(custom_resource, set(plugin.handle.reads.values()))))
    if not isinstance(resource, EventResource) and resource not in declared:
        expected = ", ".join(declared) or "a kind in `reads`"
        raise ValueError(f"events of {resource!r} never come; expected an EventResource, or {expected}")


def _guarded(framework: Framework, plugin: Plugin, wanted: Sequence[EventRegistration]) -> Iterator[Registration]:
    """What a plugin registered, with every fault of its functions as a PluginError; equal functions stay equal."""
    report = _Report(framework, plugin)
    parts = {entry.part: _checked_part(report, entry.part) for entry in wanted if entry.part}
    for event, hint, part, objects, keys_of in wanted:
        ask = hint and _checked_hint(report, hint)
        keys = objects and _checked_keys(report, "objects", objects)
        keys_of = keys_of and _checked_keys(report, "keys_of", keys_of)
        yield Registration(event, plugin.name, ask, part and parts[part], keys, keys_of)


def _checked_hint(report: "_Report", hint: HintFunction) -> HintFunction:
    def ask(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        try:
            answer: object = hint(pod, old, new)
            if not isinstance(answer, QueueingHint):
                raise TypeError(f"a hint must return a QueueingHint; found {answer_text(answer)}")
        except HOOK_FAULTS as error:
            raise report.fault("queueing hint", error) from error
        return answer

    return ask


def _checked_part(report: "_Report", part: Callable[[Pod], Hashable]) -> Callable[[Pod], Hashable]:
    def read(pod: Pod) -> Hashable:
        try:
            value = part(pod)
            hash(value)
            value == value  # noqa: B015 - the queue compares parts, and must not meet a fault there
        except HOOK_FAULTS as error:
            raise report.fault("part of a queueing hint", error) from error
        return value

    return read


def _checked_keys(
    report: "_Report", what: str, keys_of: Callable[[ObjectT], Collection[str]]
) -> Callable[[ObjectT], Collection[str]]:
    def read(thing: ObjectT) -> tuple[str, ...]:
        try:
            found: Any = keys_of(thing)
            keys = () if isinstance(found, str) else tuple(found)
            if isinstance(found, str) or not all(isinstance(key, str) for key in keys):
                raise TypeError(f"{what} must be a list of keys, such as ['team-a/data']; found {answer_text(found)}")
        except HOOK_FAULTS as error:
            raise report.fault(f"{what} of a queueing hint", error) from error
        return keys

    return read


class _Report:
    """Logs each fault of a plugin's functions once, and only the first few: one may come for each of many pods."""

    def __init__(self, framework: Framework, plugin: Plugin) -> None:
        self._logger = framework.handle.logger
        self._plugin = plugin.name
        self._logged: set[str] = set()

    def fault(self, what: str, error: BaseException) -> PluginError:
        """Log a fault. Returns: what to raise."""
        text = f"{what} of plugin {self._plugin}: {located_line(error)}"
        if text not in self._logged and len(self._logged) < _MOST_LOGGED:
            self._logged.add(text)
            self._logger.warning("%s", text)
        return PluginError(text, plugin=self._plugin, extension_point="events_to_register")


def _may_reject(plugin: Plugin) -> bool:
    return not plugin.extension_points().isdisjoint({"preEnqueue", "preFilter", "filter", "reserve", "permit"})
