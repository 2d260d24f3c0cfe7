"""What a watch shows, on its way to a driver: the initial cluster in one piece, then event by event.

Plugins start in between. So `hand_over` passes the cluster on, and `release` the pods that wait for a node, as events,
with those that came in the meantime: a hook that is called for a pod finds what `start` prepared.
"""

import logging
from collections.abc import Callable, Iterable

from kubesched.api import EventType, KubeObject, Pod, WatchEvent
from kubesched.errors import StateError

_LOG = logging.getLogger(__name__)


class Feed:
    """A sink for ClusterWatch.

    Args:
        load: takes everything that exists, once. Returns: the pods that wait for a node, which come as events.
        apply: takes each event after that.

    Attributes:
        is_handed_over: whether everything that existed at first has been passed on, with the pods that wait.
    """

    def __init__(
        self, load: Callable[[Iterable[KubeObject]], Iterable[Pod]], apply: Callable[[WatchEvent], None]
    ) -> None:
        self._load = load
        self._apply = apply
        self._initial: dict[tuple[str, str], KubeObject] | None = {}
        self._held: list[WatchEvent] | None = None
        self.is_handed_over = False

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
        """Take in what came since `hold` or `hand_over`, in order."""
        held, self._held = self._held, None
        self(held or [])
        self.is_handed_over = self._initial is None

    def hand_over(self) -> None:
        """Pass on everything that exists. Pods that wait for a node, and events, are kept until `release`."""
        initial, self._initial = self._initial or {}, None
        self._held = [WatchEvent(EventType.ADDED, "Pod", pod) for pod in self._load(initial.values())]

    def _hand_on(self, event: WatchEvent) -> None:
        try:
            self._apply(event)
        except StateError as error:  # one event that makes no sense must not end the watch
            _LOG.error("%s %s of %s: %s", event.type.value, event.kind, event.object.key, error)
