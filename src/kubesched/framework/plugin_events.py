"""Events of plugins for users: checked where they are made, and collected in runs that write none."""

import logging
from collections.abc import Callable
from typing import Final

from kubesched.api import KubeObject, type_of
from kubesched.framework.actions import RecordEvent
from kubesched.framework.limited_log import LimitedLog
from kubesched.state import NodeInfo, PodInfo

_TYPES: Final = ("Normal", "Warning")
_REASON_LIMIT: Final = 128
_NOTE_LIMIT: Final = 1024  # bytes
_KEPT: Final = 1000
_LOGGED: Final = 100  # different events in a minute
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
    if not all(type_of(regarding)):
        raise ValueError(f"an event is about an object that has an apiVersion and a kind; found {regarding!r:.80}")
    if type not in _TYPES:
        raise ValueError(f"the type of an event is Normal or Warning; found {type!r:.80}")
    if not (reason.isascii() and reason.isalnum() and len(reason) <= _REASON_LIMIT):
        raise ValueError(f"the reason of an event is one word such as QuotaExceeded; found {reason!r:.80}")
    note = note.encode("utf-8", "replace")[:_NOTE_LIMIT].decode("utf-8", "ignore")
    return RecordEvent(reason, type, plugin, regarding, note, controller=profile, is_of_plugin=True)


class PluginEvents:
    """The 1,000 different events of plugins that were used last. Equal ones are one, as for an API server: a filter is
    called once for each node, and the first note counts.

    Args:
        on_new: called with an event that is not among them.
    """

    def __init__(self, on_new: Callable[[RecordEvent], None] | None = None) -> None:
        self._events: dict[tuple[str, ...], tuple[int, RecordEvent]] = {}  # used last at the end, with when they came
        self._n_new = 0
        self._on_new = on_new

    @property
    def events(self) -> tuple[RecordEvent, ...]:
        """The events, in the order in which they came first."""
        return tuple(event for _, event in sorted(self._events.values(), key=lambda one: one[0]))

    def record(self, event: RecordEvent) -> None:
        """Take an event; the one that was used least recently makes room for it."""
        key = event.series_key
        if (known := self._events.pop(key, None)) is not None:
            self._events[key] = known
            return
        self._n_new += 1
        self._events[key] = self._n_new, event
        if len(self._events) > _KEPT:
            del self._events[next(iter(self._events))]
        if self._on_new is not None:
            self._on_new(event)


def logged_plugin_events(monotonic: Callable[[], float]) -> PluginEvents:
    """Events of a run that writes none: each is logged once, and a limited number of them in a minute."""
    log = LimitedLog(_LOG, "%d more events of plugins were not logged", monotonic, _LOGGED)

    def note(event: RecordEvent) -> None:
        level = logging.WARNING if event.type == "Warning" else logging.INFO
        about = {"plugin": event.action, "reason": event.reason, "object": event.regarding.key}
        log.note(f"event {event.reason} of {event.regarding.key}: {event.note}", level, about)

    return PluginEvents(note)
