"""Records events for users (events.k8s.io/v1), in the background; equal ones become a series.

Rule: client-go v1.36 tools/events: events with the same type, action, reason, controller, instance and regarding are
one event with a series. The second one starts the series at count 2; further ones are counted, and the count is written
when the series has been silent for six minutes, or every thirty. kube-scheduler v1.36.3 writes no `related`, not even
on victims. It writes no counts when it ends: after six equal events and SIGTERM, the series has count 2. So a
stop costs no request for each pending pod here either. The next leader starts new events.

1,000 writes wait at most; further events are dropped and counted. A series that finds no room is written later, with
its count. Events of plugins get half of the room, so that they do not displace those of the scheduler.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from kubesched.api import KubeObject, type_of
from kubesched.cluster.client import ApiClient
from kubesched.cluster.timing import Timing
from kubesched.errors import ClusterError, ConflictError, NotFoundError, NotSentError
from kubesched.framework import RecordEvent

__all__ = ["EventRecorder"]

_FINISH_SECONDS: Final = 6 * 60.0
_REFRESH_SECONDS: Final = 30 * 60.0
_MAX_WAITING: Final = 1000
_NAME_LIMIT: Final = 253  # of an object; that of a pod is as long
_INSTANCE_LIMIT: Final = 128  # of reportingInstance
_ROOT: Final = "/apis/events.k8s.io/v1/namespaces"
_LOG: Final = logging.getLogger("kubesched.scheduler")

_Key = bytes


class _Known(msgspec.Struct):
    """An event that was recorded.

    Attributes:
        count: how often it happened.
        written: the count that the API server has.
        last_at: when it happened last; seconds of the clock.
        written_at: when the count was written.
        last_time: the same as seconds since 1970.
    """

    namespace: str
    name: str
    count: int
    written: int
    last_at: float
    written_at: float
    last_time: float
    is_busy: bool = False


class EventRecorder:
    """Writes events one after another for each of them, many at a time.

    Args:
        hostname: of this machine; part of reportingInstance.
    Attributes:
        n_recorded: events that were asked for.
        n_dropped: those of them that were dropped, because too many were waiting.
    """

    def __init__(self, client: ApiClient, hostname: str) -> None:
        self._client = client
        self._timing: Timing = client.timing
        self._hostname = hostname
        self._known: dict[_Key, _Known] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.n_recorded = 0
        self.n_dropped = 0
        self._n_reported = 0  # of the dropped ones

    def record(self, event: RecordEvent) -> None:
        """Tell users of something; returns at once."""
        self.n_recorded += 1
        now, time = self._timing.monotonic(), self._timing.now()
        key = _key_of(event)
        known = self._known.get(key)
        if known is not None:
            known.count += 1
            known.last_at, known.last_time = now, time
            if known.count == 2 and not self._is_full(event):
                self._begin(self._write_series, known)
            return
        if self._is_full(event):
            self.n_dropped += 1
            return
        document = self._document(event, _micro_time(time))
        metadata = document["metadata"]
        known = self._known[key] = _Known(metadata["namespace"], metadata["name"], 1, 1, now, now, time)
        self._begin(lambda it: self._create(document, key, it), known)

    async def run(self) -> None:
        """Write the counts of series, forget the silent ones and log how many events are lost, until cancelled."""
        while True:
            await self._timing.sleep(_FINISH_SECONDS / 6)
            self._keep_house()

    async def finish(self) -> None:
        """Wait until the recorded events are written; if the caller stops waiting, those that are left are dropped."""
        try:
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()
            self._report_drops()

    def sizes(self) -> dict[str, int]:
        """Events that may still become series, and writes in flight."""
        return {"events": len(self._known), "event writes": len(self._tasks)}

    def _is_full(self, event: RecordEvent | None = None) -> bool:
        """Whether too many writes wait for another one, or for an event of a plugin."""
        is_of_plugin = event is not None and event.is_of_plugin
        return len(self._tasks) >= (_MAX_WAITING // 2 if is_of_plugin else _MAX_WAITING)

    def _report_drops(self) -> None:
        n_new = self.n_dropped - self._n_reported
        if n_new:
            _LOG.warning("%d events are lost: %d were already waiting to be written", n_new, _MAX_WAITING)
        self._n_reported = self.n_dropped

    def _keep_house(self) -> None:
        self._report_drops()
        now = self._timing.monotonic()
        for key, known in list(self._known.items()):
            is_silent = now - known.last_at >= _FINISH_SECONDS
            if known.count > known.written and (is_silent or now - known.written_at >= _REFRESH_SECONDS):
                if self._is_full():
                    continue  # the count is written by a later round
                self._begin(self._write_series, known)
            if is_silent and not known.is_busy:
                del self._known[key]

    # --- writing ---

    def _begin(self, write: Callable[[_Known], Any], known: _Known) -> None:
        task = asyncio.create_task(self._in_turn(write, known))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _in_turn(self, write: Callable[[_Known], Any], known: _Known) -> None:
        try:
            await write(known)
        except NotSentError as error:  # the process ends; its next leader has other events
            _LOG.debug("an event is lost: %s", error)
        except ClusterError as error:
            _LOG.warning("an event is lost: %s", error)

    async def _create(self, document: dict[str, Any], key: _Key, known: _Known) -> None:
        known.is_busy = True
        try:
            path = f"{_ROOT}/{known.namespace}/events"
            await self._client.request("POST", path, body=document, retry=True)
        except ConflictError:  # written by a try whose answer was lost
            pass
        except ClusterError:
            self._known.pop(key, None)
            raise
        finally:
            known.is_busy = False
        if known.count > known.written:
            await self._write_series(known)

    async def _write_series(self, known: _Known) -> None:
        if known.is_busy or known.count == known.written:
            return
        known.is_busy = True
        count, known.written_at = known.count, self._timing.monotonic()
        body = {"series": {"count": count, "lastObservedTime": _micro_time(known.last_time)}}
        path = f"{_ROOT}/{known.namespace}/events/{known.name}"
        try:
            await self._client.request(
                "PATCH", path, body=body, retry=True, content_type="application/strategic-merge-patch+json"
            )
            known.written = count
        except NotFoundError:  # expired
            known.written = known.count
        finally:
            known.is_busy = False

    # --- the object ---

    def _document(self, event: RecordEvent, stamp: str) -> dict[str, Any]:
        regarding, controller = event.regarding, event.reporting_controller
        namespace = regarding.namespace or "default"
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": self._name(regarding), "namespace": namespace},
            "eventTime": stamp,
            "reportingController": controller,
            "reportingInstance": f"{controller}-{self._hostname}"[:_INSTANCE_LIMIT],
            "action": event.action,
            "reason": event.reason,
            "regarding": _reference(regarding),
            "note": event.note,
            "type": event.type,
        }

    def _name(self, regarding: KubeObject) -> str:
        """The object's name, cut where it is too long, and a number that no other event has: the time and a count."""
        number = (int(self._timing.now() * 1e9) & ~0xFFF) | (self.n_recorded & 0xFFF)
        suffix = f".{number:x}"
        return regarding.name[: _NAME_LIMIT - len(suffix)].rstrip(".-") + suffix  # parts end with a letter or a digit


def _reference(regarding: KubeObject) -> dict[str, str]:
    api_version, kind = type_of(regarding)
    reference = {"apiVersion": api_version, "kind": kind}
    if regarding.namespace:
        reference["namespace"] = regarding.namespace
    metadata = regarding.metadata
    reference.update(name=metadata.name, uid=metadata.uid, resourceVersion=metadata.resource_version)
    return reference


def _key_of(event: RecordEvent) -> _Key:
    """The key of its series in few bytes: a busy cluster has tens of thousands of events in six minutes."""
    return hashlib.blake2b(msgspec.json.encode(event.series_key), digest_size=16).digest()


def _micro_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
