"""Records what happens in a live cluster as a trace: the nodes, and each pod with the time for which it runs.

Pods that exist when the recording begins come at 0, on their nodes if they have one. A pod that runs when it ends has
no duration. One that leaves without having had a node is left out.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from kubesched.api import EventType, KubeObject, Node, Pod, WatchEvent
from kubesched.capture.anonymize import anonymize
from kubesched.cluster import ApiClient, ClusterWatch
from kubesched.controllers import fresh_pod
from kubesched.documents import count
from kubesched.snapshot import ClusterObjects, only_read_fields
from kubesched.traces import Arrival, NodeChange, Trace

_KINDS: Final = ("Node", "Pod")


class _Seen:
    """A pod that was seen.

    Attributes:
        at: when it came; `bound` and `ended` are when it got its node, and when it left.
    """

    def __init__(self, pod: Pod, at: float) -> None:
        self.pod = pod
        self.at = at
        self.bound: float | None = None
        self.ended: float | None = None


class TraceRecorder:
    """Takes the events of a watch, and makes a trace of them.

    Args:
        now: gives the seconds since the recording began.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pods: dict[str, _Seen] = {}  # by uid, in the order in which they came
        self._nodes: dict[str, Node] = {}
        self._changes: list[NodeChange] = []
        self._begin: tuple[Node, ...] | None = None

    def __call__(self, events: Iterable[WatchEvent]) -> None:
        """Take in what happened."""
        for event in events:
            if isinstance(event.object, Pod):
                self._take_pod(event.object, is_gone=event.type is EventType.DELETED)
            elif isinstance(event.object, Node):
                self._take_node(event.object, is_gone=event.type is EventType.DELETED)

    def begin(self) -> None:
        """Begin: what is known now exists at 0."""
        self._begin = tuple(self._nodes.values())

    def _at(self) -> float:
        return 0.0 if self._begin is None else round(self._now(), 3)

    def _take_pod(self, pod: Pod, *, is_gone: bool) -> None:
        seen = self._pods.get(pod.uid)
        is_over = is_gone or pod.is_finished
        if seen is None:
            if is_over:
                return
            seen = self._pods[pod.uid] = _Seen(pod, self._at())
        if pod.node_name and seen.bound is None:
            seen.bound = self._at()
        if is_over and seen.ended is None:
            seen.ended = self._at()

    def _take_node(self, node: Node, *, is_gone: bool) -> None:
        known = self._nodes.pop(node.name, None)
        if not is_gone:
            self._nodes[node.name] = node
        if self._begin is not None and (is_gone or known != node):
            self._changes.append(NodeChange(self._at(), node, is_gone=is_gone))

    def trace(self, *, is_anonymous: bool = False, salt: str = "") -> Trace:
        """What was recorded.

        Args:
            is_anonymous: whether to replace the names, as in a snapshot.
            salt: as for `anonymize`.
        """
        kept = [seen for seen in self._pods.values() if seen.bound is not None or seen.ended is None]
        n_out = len(self._pods) - len(kept)
        pods = _with_own_names(seen.pod for seen in kept)
        changed = [change.node for change in self._changes]
        nodes = list(self._begin or ())
        objects = _reduced([*nodes, *changed, *pods], is_anonymous=is_anonymous, salt=salt)
        new_nodes = [one for one in objects if isinstance(one, Node)]
        arrivals = [
            Arrival(seen.at, pod, None if seen.ended is None or seen.bound is None else seen.ended - seen.bound)
            for seen, pod in zip(kept, (one for one in objects if isinstance(one, Pod)), strict=True)
        ]
        changes = [
            msgspec.structs.replace(change, node=node)
            for change, node in zip(self._changes, new_nodes[len(nodes) :], strict=True)
        ]
        notes = (f"left before they had a node: {count(n_out, 'pod')}, which are left out",) if n_out else ()
        in_order = sorted(arrivals, key=lambda one: one.at)
        return Trace(tuple(new_nodes[: len(nodes)]), tuple(in_order), tuple(changes), notes)


def _with_own_names(pods: Iterable[Pod]) -> list[Pod]:
    """Pods of which none has the name of another one: a trace has each name once."""
    numbers: dict[str, int] = {}
    named = []
    for pod in pods:
        n = numbers[pod.key] = numbers.get(pod.key, 0) + 1
        named.append(pod if n == 1 else fresh_pod(pod, f"{pod.name}-again-{n}"))
    return named


def _reduced(objects: list[KubeObject], *, is_anonymous: bool, salt: str) -> list[KubeObject]:
    """The objects with the fields that a scheduler reads, and perhaps with other names, in the same order."""
    cluster = only_read_fields(ClusterObjects(tuple(objects)))
    return list((anonymize(cluster, salt).cluster if is_anonymous else cluster).objects)


async def record_trace(
    client: ApiClient, stop: asyncio.Event, seconds: float | None = None, on_begin: Callable[[], object] = bool
) -> TraceRecorder:
    """Record a cluster until `stop`, or for some seconds.

    Args:
        on_begin: called when everything that exists is known.
    Raises:
        ClusterError: the nodes and pods cannot be listed.
    """
    started = client.timing.monotonic()
    recorder = TraceRecorder(lambda: client.timing.monotonic() - started)
    watch = ClusterWatch(client, recorder, kinds=_KINDS)
    watching = asyncio.ensure_future(watch.run())
    try:
        await watch.synced()
        started = client.timing.monotonic()
        recorder.begin()
        on_begin()
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait((stopping, watching), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if watching.done():
            watching.result()
    finally:
        watching.cancel()
        await asyncio.wait((watching,))
    return recorder
