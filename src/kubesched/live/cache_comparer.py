"""Compares the scheduler's cache with the API server, each time the process gets SIGUSR2. For debugging.

Theory of operation. The check has two parts, which together say that the columns are those of a fresh list:

- Objects. Nodes and pods are listed from the API server, and compared by name, uid, version and node. An object that
  changes while this happens differs, although nothing is wrong: its event is on the way. So what differs is listed
  again, up to five times in ten seconds. A difference counts if it is the same each time.
- Sums and queue. What the columns keep of a node is counted again from its object and the pods on it. Each pod without
  a node has to wait, be in flight, or be assumed on a node, and each pod that waits has to exist. Both sides are in
  this process, so these differences count at once.

All of it runs on the event loop, in steps of some milliseconds (35 at most with 100,000 pods). So scheduling goes on.

Rule: kube-scheduler's cache debugger (SIGUSR2) dumps cache and queue, and compares the names of nodes and pods with its
informers. This one also compares versions, amounts and the queue, and asks the API server.
"""

import asyncio
import logging
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Final

from kubesched.api import KubeObject, Pod
from kubesched.cluster import ApiClient, ListedObject, list_objects
from kubesched.errors import ClusterError
from kubesched.live.driver import LiveScheduler
from kubesched.scheduler import Scheduler
from kubesched.serving import give_free_memory_back
from kubesched.state import row_differences

Differences = dict[str, tuple[str, str]]
"""By what differs: our value, and the value that it should be."""

_KINDS: Final = ("Node", "Pod")
_LISTS: Final = 5
_PAUSE: Final = 2.0  # seconds between two lists, for events on the way
_SLICE: Final = 50  # nodes that are counted again before other tasks get their turn; pods are cheaper
_PODS_SLICE: Final = 2000
_LOG: Final = logging.getLogger("kubesched.scheduler")


class CacheComparer:
    """Compares when asked, as long as `run` runs."""

    def __init__(self, client: ApiClient, live: LiveScheduler) -> None:
        self._client = client
        self._feed = live.feed
        self._scheduler = live.scheduler
        self._is_asked = asyncio.Event()

    def ask(self) -> None:
        """Request a comparison; a request during a comparison leads to one more."""
        self._is_asked.set()

    async def run(self) -> None:
        """Compare each time it is asked, until cancelled, and log what differs."""
        while True:
            await self._is_asked.wait()
            self._is_asked.clear()
            if not self._feed.is_handed_over:
                _LOG.info("cache comparison: the cache is not filled yet")
                continue
            _LOG.info("cache dump: %s", sizes(self._scheduler))
            try:
                differences = await self.compare()
            except ClusterError as error:
                _LOG.warning("cache comparison: failed: %s", error)
                continue
            except Exception:  # noqa: BLE001 - a debugging aid must not end the scheduler
                _LOG.exception("cache comparison: failed")
                continue
            finally:
                give_free_memory_back()  # what the lists took
            for what, (ours, wanted) in differences.items():
                _LOG.warning("cache comparison: %s: cache %s; expected %s", what, ours, wanted)
            if not differences:
                _LOG.info("cache comparison: no differences to the API server")

    async def compare(self) -> Differences:
        """What differs from the API server, and in itself.

        Raises:
            ClusterError: the API server refused to list, or did not answer.
        """
        lasting = await self._compare_objects()
        for _ in range(_LISTS - 1):
            if not lasting:
                break
            await self._client.timing.sleep(_PAUSE)
            again = await self._compare_objects()
            lasting = {what: values for what, values in lasting.items() if again.get(what) == values}
        return lasting | await self._compare_inside()

    async def _compare_objects(self) -> Differences:
        listed = {kind: await list_objects(self._client, kind) for kind in _KINDS}
        differences: Differences = {}
        for kind in _KINDS:
            known = {obj.key: obj for obj in self._scheduler.cluster_state.objects.list(kind)}
            for keys in _sliced({**known, **listed[kind]}, _PODS_SLICE):
                differences |= object_differences(kind, keys, known, listed[kind])
                await asyncio.sleep(0)
        return differences

    async def _compare_inside(self) -> Differences:
        state, differences = self._scheduler.cluster_state, Differences()
        for names in _sliced(state.columns.row_of, _SLICE):
            differences |= inner_differences(self._scheduler, nodes=names)
            await asyncio.sleep(0)
        keys = dict.fromkeys([*(pod.key for pod in state.objects.list("Pod")), *self._scheduler.queue.keys()])
        for some in _sliced(keys, _PODS_SLICE):
            differences |= inner_differences(self._scheduler, pods=some)
            await asyncio.sleep(0)
        return differences


def object_differences(
    kind: str, keys: Iterable[str], known: Mapping[str, KubeObject], listed: Mapping[str, ListedObject]
) -> Differences:
    """Which of some objects are not known as they are listed."""
    differences: Differences = {}
    for key in keys:
        ours, theirs = known.get(key), listed.get(key)
        if ours is not None and theirs is not None:
            meta, other = ours.metadata, theirs.metadata
            if (meta.resource_version, meta.uid) == (other.resource_version, other.uid):
                continue
        differences[f"{kind} {key}"] = (_known_as(ours), _listed_as(theirs))
    return differences


def inner_differences(scheduler: Scheduler, nodes: Iterable[str] = (), pods: Iterable[str] = ()) -> Differences:
    """What does not fit together of some nodes and pods, given by name: sums of the columns, and the queue."""
    differences: Differences = {}
    columns = scheduler.cluster_state.columns
    for name in nodes:
        row = columns.row_of.get(name)
        for what, (kept, counted) in ({} if row is None else row_differences(columns, row)).items():
            differences[f"Node {name}, {what}"] = (str(kept), str(counted))
    waiting = set(scheduler.queue.keys())
    for key in pods:
        misplaced = _misplaced(scheduler, key, key in waiting)
        if misplaced is not None:
            differences[f"Pod {key}"] = misplaced
    return differences


def sizes(scheduler: Scheduler) -> str:
    """How much the caches and the queue hold, in one line."""
    state, queue = scheduler.cluster_state, scheduler.queue
    parts = {
        "nodes": state.columns.n_nodes,
        "pods": state.n_placed,
        "assumed": len(state.assumed_uids),
        **queue.counts(),
        "in flight": queue.in_flight_events()["PodPopped"],
        "waiting in Permit": len(scheduler.waiting_pods),
    }
    kept = {name: n for name, n in state.sizes().items() if n}
    return ", ".join(f"{name} {n}" for name, n in {**parts, **kept}.items())


@contextmanager
def on_sigusr2(call: Callable[[], None]) -> Iterator[None]:
    """Call a function on the running loop each time the process gets SIGUSR2; without that signal, do nothing."""
    loop = asyncio.get_running_loop()
    try:
        before = signal.getsignal(signal.SIGUSR2)
        loop.add_signal_handler(signal.SIGUSR2, call)
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGUSR2)
        signal.signal(signal.SIGUSR2, before)


def _misplaced(scheduler: Scheduler, key: str, is_waiting: bool) -> tuple[str, str] | None:
    """Where a pod is and where it has to be, if it is not there."""
    state = scheduler.cluster_state
    pod = state.objects.get("Pod", key)
    if not isinstance(pod, Pod):
        return ("in the queue", "nowhere, it does not exist") if is_waiting else None
    placed = state.placed(pod.uid)
    node_name = "" if placed is None else placed.pod.node_name
    if pod.node_name:
        is_right = node_name == pod.node_name and not is_waiting
        return None if is_right else (_described(node_name, is_waiting), f"on node {pod.node_name}")
    is_mine = pod.scheduler_name in scheduler.frameworks and not pod.is_terminating
    if is_waiting or node_name or not is_mine or scheduler.queue.is_in_flight(pod.uid):
        return None
    return _described(node_name, is_waiting), "in the queue"


def _described(node_name: str, is_waiting: bool) -> str:
    places = [f"on node {node_name}"] if node_name else []
    return " and ".join([*places, "in the queue"] if is_waiting else places) or "nowhere"


def _known_as(obj: KubeObject | None) -> str:
    if obj is None:
        return "does not have it"
    return _version(obj.metadata.resource_version, obj.uid, obj.node_name if isinstance(obj, Pod) else "")


def _listed_as(listed: ListedObject | None) -> str:
    if listed is None:
        return "none, the API server does not have it"
    return _version(listed.metadata.resource_version, listed.metadata.uid, listed.spec.node_name)


def _version(version: str, uid: str, node_name: str) -> str:
    return f"version {version}, uid {uid}" + (f", on node {node_name}" if node_name else "")


def _sliced(items: Iterable[str], n: int) -> Iterator[list[str]]:
    """The items as they are now, some at a time."""
    every = iter(list(items))
    while some := list(islice(every, n)):
        yield some
