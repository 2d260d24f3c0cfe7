"""Events of plugins for users: checked where they are made, and collected in runs that write none."""

import logging
from collections.abc import Callable
from typing import Final

from kubesched.api import KubeObject
from kubesched.framework.actions import RecordEvent
from kubesched.state import NodeInfo, PodInfo

__all__ = ["PluginEvents", "log_plugin_event", "plugin_event"]

_TYPES: Final = ("Normal", "Warning")
_REASON_LIMIT: Final = 128
_NOTE_LIMIT: Final = 1024  # bytes
_KEPT: Final = 1000
_LOG: Final = logging.getLogger("kubesched.plugin")


def plugin_event(
    plugin: str, profile: str, regarding: KubeObject | NodeInfo | PodInfo, type: str, reason: str, note: str
) -> RecordEvent:
    """An event as an API server accepts it; a note that is too long is cut.

    Rule: Kubernetes v1.36 validation of events.k8s.io/v1: 128 characters for the reason, 1024 bytes for the note.

    Raises:
        ValueError: the type or the reason is not valid, or there is no object.
    """
    if isinstance(regarding, NodeInfo):
        regarding = regarding.node
    if isinstance(regarding, PodInfo):
        regarding = regarding.pod
    if not isinstance(regarding, KubeObject):
        raise ValueError(f"an event is about an object of Kubernetes, such as the pod; found {regarding!r:.80}")
    if type not in _TYPES:
        raise ValueError(f"the type of an event is Normal or Warning; found {type!r:.80}")
    if not (reason.isascii() and reason.isalnum() and len(reason) <= _REASON_LIMIT):
        raise ValueError(f"the reason of an event is one word such as QuotaExceeded; found {reason!r:.80}")
    note = note.encode("utf-8", "replace")[:_NOTE_LIMIT].decode("utf-8", "ignore")
    return RecordEvent(reason, type, plugin, regarding, note, controller=profile)


class PluginEvents:
    """The last 1,000 different events of plugins. Equal ones are one: a filter is called once for each node.

    Args:
        on_new: called with an event that is not among them.
    """

    def __init__(self, on_new: Callable[[RecordEvent], None] | None = None) -> None:
        self._events: dict[tuple[str, ...], RecordEvent] = {}
        self._on_new = on_new

    @property
    def events(self) -> tuple[RecordEvent, ...]:
        """The events, in the order in which they came first."""
        return tuple(self._events.values())

    def record(self, event: RecordEvent) -> None:
        """Take an event; the oldest one makes room for it."""
        about = event.regarding
        key = (event.action, event.type, event.reason, about.__class__.__name__, about.key, about.uid, event.note)
        if key in self._events:
            return
        self._events[key] = event
        if len(self._events) > _KEPT:
            del self._events[next(iter(self._events))]
        if self._on_new is not None:
            self._on_new(event)


def log_plugin_event(event: RecordEvent) -> None:
    """Log an event that is written nowhere."""
    level = logging.WARNING if event.type == "Warning" else logging.INFO
    about = {"plugin": event.action, "reason": event.reason, "object": event.regarding.key}
    _LOG.log(level, "event %s of %s: %s", event.reason, event.regarding.key, event.note, extra=about)
