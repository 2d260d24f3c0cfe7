"""Collects the events that the plugins of a profile register, in the form that the queue uses."""

from collections.abc import Sized
from typing import Any

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
from kubesched.scheduler.extenders import EXTENDER

__all__ = ["registrations"]

_TAINTS = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)


def registrations(framework: Framework, extenders: Sized = ()) -> list[tuple[ClusterEvent, str, Any]]:
    """What the profile's plugins want to hear of; one that does not say hears of everything.

    Args:
        extenders: those that are called; what one of them rejected is woken by everything.
    Rule: kube-scheduler v1.36 buildQueueingHintMap. One that wants to hear of new nodes and not of taints hears of all
    changes of taints: a node may have been tainted when it was added.
    """
    entries: list[tuple[ClusterEvent, str, Any]] = []
    everything = ClusterEvent(EventResource.WILDCARD, ActionType.ALL)
    for plugin in framework.profile.plugins:
        if plugin.defines("events_to_register"):
            wanted = _events_of(plugin)
            entries += [(event, plugin.name, _guarded(framework, plugin, hint)) for event, hint in wanted]
            actions = [event.action for event, _ in wanted if event.resource is EventResource.NODE]
            if any(action & ActionType.ADD for action in actions) and not any(
                action & ActionType.UPDATE_NODE_TAINT for action in actions
            ):
                entries.append((_TAINTS, plugin.name, None))
        elif _may_reject(plugin):
            entries.append((everything, plugin.name, None))
    if extenders:
        entries.append((everything, EXTENDER, None))
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


def _guarded(framework: Framework, plugin: Plugin, hint: HintFunction | None) -> HintFunction | None:
    """The hint, with every fault as a PluginError, which the queue takes for Queue."""
    if hint is None:
        return None

    def ask(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        try:
            answer: object = hint(pod, old, new)
            if not isinstance(answer, QueueingHint):
                raise TypeError(f"a hint must return a QueueingHint; found {answer_text(answer)}")
        except HOOK_FAULTS as error:
            text = f"queueing hint of plugin {plugin.name}: {located_line(error)}"
            framework.handle.logger.warning("%s", text)
            raise PluginError(text, plugin=plugin.name, extension_point="events_to_register") from error
        return answer

    return ask


def _may_reject(plugin: Plugin) -> bool:
    return not plugin.extension_points().isdisjoint({"preEnqueue", "preFilter", "filter", "reserve", "permit"})
