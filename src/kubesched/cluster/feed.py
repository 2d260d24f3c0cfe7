"""What a watch shows, on its way to a driver: the initial cluster in one piece, then event by event."""

import logging
from collections.abc import Callable, Iterable

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.errors import StateError

__all__ = ["Feed"]

_LOG = logging.getLogger(__name__)


class Feed:
    """A sink for ClusterWatch.

    Args:
        load: takes everything that exists, once.
        apply: takes each event after that.
    """

    def __init__(self, load: Callable[[Iterable[KubeObject]], None], apply: Callable[[WatchEvent], None]) -> None:
        self._load = load
        self._apply = apply
        self._initial: dict[tuple[str, str], KubeObject] | None = {}
        self._held: list[WatchEvent] | None = None

    def __call__(self, events: list[WatchEvent]) -> None:
        """Take in what happened."""
        for event in events:
            if self._held is not None:
                self._held.append(event)
            elif self._initial is None:
                self._hand_on(event)
            elif event.type is EventType.DELETED:
                self._initial.pop((event.kind, event.object.key), None)
            else:
                self._initial[event.kind, event.object.key] = event.object

    def hold(self) -> None:
        """Keep the events that come, until `release`."""
        self._held = []

    def release(self) -> None:
        """Take in what came since `hold`, in order."""
        held, self._held = self._held, None
        self(held or [])

    @property
    def is_handed_over(self) -> bool:
        """Whether everything that existed at first has been passed on."""
        return self._initial is None

    def hand_over(self) -> None:
        """Everything that exists has been shown."""
        initial, self._initial = self._initial, None
        self._load((initial or {}).values())

    def _hand_on(self, event: WatchEvent) -> None:
        try:
            self._apply(event)
        except StateError as error:  # one event that makes no sense must not end the watch
            _LOG.error("%s %s of %s: %s", event.type.value, event.kind, event.object.key, error)
