"""Pods that are bound, or may be, and that the watch has not confirmed yet."""

from typing import Final

from kubesched.api import Pod
from kubesched.scheduler.placed_pod import PlacedPod

UNCONFIRMED_SECONDS: Final = 10 * 60.0
"""How long a pod is held without being shown."""


class Unconfirmed:
    """Holds these pods until they are shown, or for ten minutes.

    A watch that is ten minutes behind has lost more than this pod: either the Binding never came to be, or the pod was
    deleted unseen.
    """

    def __init__(self) -> None:
        self._since: dict[str, tuple[float, PlacedPod]] = {}  # by uid, in the order of their times

    def add(self, placed: PlacedPod, now: float) -> None:
        """Hold a pod from now on."""
        self._since[placed.pod.uid] = (now, placed)

    def settle(self, pod: Pod) -> None:
        """Let go of a pod that the watch has just shown; give back what it holds if it was gone before it was bound."""
        if not self._since:
            return
        _, placed = self._since.get(pod.uid, (0.0, None))
        if placed is not None and not placed.is_awaited:
            del self._since[pod.uid]
            if pod.node_name != placed.node_name:
                placed.undo()

    def pods(self) -> list[PlacedPod]:
        """Those that are not shown yet. May be called on any thread."""
        return [placed for _, placed in list(self._since.values()) if placed.is_awaited]

    def next_deadline(self) -> float | None:
        """When `expire` has something to do, if no pod is shown until then."""
        return next((since + UNCONFIRMED_SECONDS for since, _ in self._since.values()), None)

    def expire(self, now: float) -> list[PlacedPod]:
        """Give back what the pods hold that were not shown in time. Returns: these pods."""
        expired = []
        for uid, (since, placed) in list(self._since.items()):
            if not placed.is_awaited:
                del self._since[uid]
            elif now - since >= UNCONFIRMED_SECONDS:
                del self._since[uid]
                placed.undo()
                expired.append(placed)
        return expired
