"""Pods in flight: those that filter let pass and whose node is not known yet.

kube-scheduler asks about the next pod as soon as it has chosen a node for the last one, some milliseconds before the
watch or a bind call shows which. A filter that counts pods would miss the last one. The node cannot be guessed, since
it follows from kube-scheduler's own scores and from chance. On 300 nodes, the first one that filter kept was taken for
1 % of the pods, the first of our best scored ones for 2 %. So the next call waits until the node is known, for a short
while at most.
"""

import asyncio
from typing import Final

from kubesched.api import EventType, Pod, WatchEvent, compare_versions

DECISION_SECONDS: Final = 0.1
"""How long a pod is waited for. Permit and volumes take longer, and an attempt that fails as before is not shown."""


class PodsInFlight:
    """The pods that are waited for. Each leaves by itself when its time is over.

    Attributes:
        n_given_up: pods that left so, so far.
    """

    def __init__(self) -> None:
        self.n_given_up = 0
        self._pods: dict[str, tuple[str, asyncio.TimerHandle]] = {}  # uid -> resourceVersion that filter saw, end
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._pods)

    def add(self, pod: Pod) -> None:
        """Filter has let a pod pass."""
        self.decided(pod.uid)
        end = asyncio.get_running_loop().call_later(DECISION_SECONDS, self._give_up, pod.uid)
        self._pods[pod.uid] = (pod.metadata.resource_version, end)

    def decided(self, uid: str) -> None:
        """It is known what became of a pod."""
        _, end = self._pods.pop(uid, ("", None))
        if end is not None:
            end.cancel()
            self._changed.set()

    def observe(self, event: WatchEvent) -> None:
        """Take in what the watch shows.

        kube-scheduler sets a condition when a pod's attempt has failed, so a version that filter has not seen decides,
        too. The exception is status.nominatedNodeName, which it sets before a binding that takes longer.
        """
        pod = event.object
        if not isinstance(pod, Pod) or pod.uid not in self._pods:
            return
        order = compare_versions(pod.metadata.resource_version, self._pods[pod.uid][0])
        is_newer = order is None or order > 0  # the watch may be behind what kube-scheduler has seen
        has_failed = is_newer and event.type is EventType.MODIFIED and not pod.status.nominated_node_name
        if pod.node_name or has_failed or event.type is EventType.DELETED:
            self.decided(pod.uid)

    async def settle(self, uid: str, seconds: float) -> None:
        """Wait until no pod but this one is undecided, for some seconds at most.

        Nothing else runs between the last check and the return, so of two calls that wait one goes on.
        """
        try:
            async with asyncio.timeout(seconds):
                while any(other != uid for other in self._pods):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return

    def _give_up(self, uid: str) -> None:
        self.n_given_up += 1
        self.decided(uid)
