"""Records events for users (events.k8s.io/v1), in the background; equal ones become a series.

Rule: client-go v1.36 tools/events: events with the same type, action, reason, controller, instance and regarding are
one event with a series. The second one starts the series at count 2; further ones are counted, and the count is written
when the series has been silent for six minutes, or every thirty. kube-scheduler v1.36.3 writes no `related`, not even
on victims. It writes no counts when it ends: after six equal events and SIGTERM, the series has count 2. So a
stop costs no request for each pending pod here either. The next leader starts new events. While there is no answer, an
event is sent again every ten seconds, for two minutes.

A bounded number of events wait to be written. Further ones displace the least important: first events of plugins, then
those of failed attempts, then Scheduled and Preempted. What is discarded is counted by reason. A count that finds no
room or is refused is not discarded before its series ends: the next one includes it.
"""

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from enum import StrEnum
from typing import Final, cast

import msgspec

from kubesched.cluster.api_client import ApiClient
from kubesched.cluster.event_document import event_document, event_key, event_name, micro_time
from kubesched.cluster.event_queue import EventQueue, EventRank, rank_of
from kubesched.cluster.timing import Timing
from kubesched.errors import ClusterError, ConflictError, NotFoundError, NotSentError
from kubesched.framework import RecordEvent

_FINISH_SECONDS: Final = 6 * 60.0
_REFRESH_SECONDS: Final = 30 * 60.0
_MAX_WAITING: Final = 10_000  # of 1.5 to 2.6 KiB each
_MAX_KNOWN: Final = 100_000  # of about 0.4 KiB each
_N_WRITERS: Final = 64
_ANSWER_SECONDS: Final = 120.0
_PAUSE_SECONDS: Final = 10.0
_REPORT_SECONDS: Final = 60.0
_ROOT: Final = "/apis/events.k8s.io/v1/namespaces"
_STRATEGIC: Final = "application/strategic-merge-patch+json"
_LOG: Final = logging.getLogger("kubesched.scheduler")


class Discard(StrEnum):
    """Why an event is discarded; the label of the metric."""

    QUEUE_FULL = "queue_full"
    REFUSED = "refused"
    NO_ANSWER = "no_answer"
    LEASE_OVER = "lease_over"
    DELETED = "deleted"
    STOPPED = "stopped"


_LOGGED: Final = {
    Discard.QUEUE_FULL: f"%d because {_MAX_WAITING} others waited",
    Discard.REFUSED: "%d refused by the API server",
    Discard.NO_ANSWER: f"%d without an answer for {_ANSWER_SECONDS:g} s",
    Discard.STOPPED: "%d because the process ended",
}  # not LEASE_OVER: the loss of the lease is logged; and not DELETED: namespaces are deleted every day


class _Series(msgspec.Struct):
    """An event that was recorded.

    Attributes:
        document: to be created; None if it was.
        count: how often it happened.
        written: the count that the API server has.
        last_at: when it happened last; seconds of the clock.
        written_at: when the count was written.
        last_time: the same as seconds since 1970.
        is_waiting: whether it is in the queue, or is being written.
    """

    key: bytes
    rank: EventRank
    namespace: str
    name: str
    document: bytes | None
    last_at: float
    written_at: float
    last_time: float
    count: int = 1
    written: int = 0
    is_waiting: bool = False

    @property
    def n_unwritten(self) -> int:
        return self.count - self.written


class EventRecorder:
    """Writes events one after another for each of them, many at a time.

    Args:
        hostname: of this machine; part of reportingInstance.
    Attributes:
        discarded: how many events were discarded, by `Discard`; five equal ones count as five.
    """

    def __init__(self, client: ApiClient, hostname: str) -> None:
        self._client = client
        self._timing: Timing = client.timing
        self._hostname = hostname
        self._known: dict[bytes, _Series] = {}  # the oldest first
        self._queue = EventQueue[_Series](_MAX_WAITING)
        self._writers: set[asyncio.Task[None]] = set()
        self._n_names = 0
        self.discarded: Counter[str] = Counter({reason.value: 0 for reason in Discard})
        self._reported: Counter[str] = Counter()
        self._error_shown_at = -_REPORT_SECONDS

    def record(self, event: RecordEvent) -> None:
        """Tell users of something; returns at once."""
        key = event_key(event)
        series = self._known.get(key)
        if series is None:
            self._begin(key, event)
            return
        series.count += 1
        series.last_at, series.last_time = self._timing.monotonic(), self._timing.now()
        if series.count == 2:
            self._put(series)

    async def run(self) -> None:
        """Write the counts of series, forget the silent ones and log how many events are discarded, until cancelled."""
        while True:
            await self._timing.sleep(_REPORT_SECONDS)
            self._keep_house()

    async def finish(self) -> None:
        """Wait until the recorded events are written; if the caller stops waiting, the others are discarded."""
        try:
            while self._writers:
                await asyncio.wait(self._writers)
        finally:
            for writer in self._writers:
                writer.cancel()
            if self._writers:
                await asyncio.wait(self._writers)
            while self._queue:
                self._discard(self._queue.pop(), Discard.STOPPED)
            self._report()

    def sizes(self) -> dict[str, int]:
        """Events that may still become series, those that wait to be written, and tasks that write them."""
        return {"events": len(self._known), "waiting events": len(self._queue), "event writers": len(self._writers)}

    # --- series ---

    def _begin(self, key: bytes, event: RecordEvent) -> None:
        now, time = self._timing.monotonic(), self._timing.now()
        self._n_names += 1
        namespace, name = event.regarding.namespace or "default", event_name(event.regarding, time, self._n_names)
        document = event_document(event, name, namespace, self._hostname, time)
        series = _Series(key, rank_of(event), namespace, name, document, now, now, time)
        self._known[key] = series
        self._put(series)
        if len(self._known) > _MAX_KNOWN:
            self._end(next(iter(self._known.values())))

    def _end(self, series: _Series) -> None:
        """Give a series back: an equal event is a new one from now on."""
        self._forget(series)
        if series.n_unwritten:
            self._put(series)

    def _is_known(self, series: _Series) -> bool:
        return self._known.get(series.key) is series

    def _forget(self, series: _Series) -> None:
        if self._is_known(series):
            del self._known[series.key]

    def _keep_house(self) -> None:
        self._report()
        now = self._timing.monotonic()
        for series in list(self._known.values()):
            is_silent = now - series.last_at >= _FINISH_SECONDS
            if series.n_unwritten and self._queue.is_full:
                continue  # the count is written by a later round
            if is_silent:
                self._end(series)
            elif series.n_unwritten and now - series.written_at >= _REFRESH_SECONDS:
                self._put(series)

    # --- writing ---

    def _put(self, series: _Series) -> None:
        """Have a series written, unless it waits for that already."""
        if series.is_waiting:
            return
        series.is_waiting = True
        displaced = self._queue.push(series)
        if displaced is not None:
            displaced.is_waiting = False
            self._give_up(displaced, Discard.QUEUE_FULL)
        if len(self._writers) < _N_WRITERS:
            writer = asyncio.create_task(self._write_all())
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)

    async def _write_all(self) -> None:
        """Write what waits, until nothing does."""
        try:
            while self._queue:
                await self._write_one(self._queue.pop())
        finally:
            self._writers.discard(cast("asyncio.Task[None]", asyncio.current_task()))  # now: `_put` may need another

    async def _write_one(self, series: _Series) -> None:
        try:
            await self._write(series)
        except ClusterError as error:
            self._give_up(series, _reason_of(error, series), error)
        except asyncio.CancelledError:
            self._discard(series, Discard.STOPPED)
            raise
        finally:
            series.is_waiting = False
        if series.n_unwritten and not self._is_known(series):  # it ended while its count was written
            self._put(series)

    async def _write(self, series: _Series) -> None:
        if series.document is not None:
            await self._create(series, series.document)
        if series.n_unwritten:
            await self._write_count(series)

    async def _create(self, series: _Series, document: bytes) -> None:
        path = f"{_ROOT}/{series.namespace}/events"
        with suppress(ConflictError):  # written by a try whose answer was lost
            await self._send("POST", path, msgspec.Raw(document))
        series.document, series.written = None, 1

    async def _write_count(self, series: _Series) -> None:
        count, series.written_at = series.count, self._timing.monotonic()
        body = {"series": {"count": count, "lastObservedTime": micro_time(series.last_time)}}
        path = f"{_ROOT}/{series.namespace}/events/{series.name}"
        await self._send("PATCH", path, body, _STRATEGIC)
        series.written = count

    async def _send(self, method: str, path: str, body: object, content_type: str = "application/json") -> None:
        """Send a request, repeatedly while the API server does not answer or cannot take it.

        Raises:
            ClusterError: it was refused, or not taken in time.
        """
        deadline = self._timing.monotonic() + _ANSWER_SECONDS
        while True:
            try:
                await self._client.request(method, path, body=body, retry=True, content_type=content_type)
                return
            except ClusterError as error:
                if not _may_pass(error) or self._timing.monotonic() >= deadline:
                    raise
            await self._timing.sleep(_PAUSE_SECONDS)

    # --- what is discarded ---

    def _give_up(self, series: _Series, reason: Discard, error: ClusterError | None = None) -> None:
        """Discard a series that could not be written, unless its event exists: then a later count includes this one."""
        if series.document is not None or not self._is_known(series) or reason is Discard.DELETED:
            self._discard(series, reason, error)

    def _discard(self, series: _Series, reason: Discard, error: ClusterError | None = None) -> None:
        """Count what is not written of a series. Where the API server has no such event, an equal one is new."""
        self.discarded[reason] += series.n_unwritten
        series.written = series.count
        if series.document is not None or reason is Discard.DELETED:
            self._forget(series)
        if error is not None and reason in _LOGGED:
            self._show(error)

    def _show(self, error: ClusterError) -> None:
        """Log an error, if none was logged within the last minute; `_report` counts them all."""
        now = self._timing.monotonic()
        if now - self._error_shown_at >= _REPORT_SECONDS:
            self._error_shown_at = now
            _LOG.warning("an event is discarded: %s", error)

    def _report(self) -> None:
        new = {reason: self.discarded[reason] - self._reported[reason] for reason in _LOGGED}
        if not any(new.values()):
            return
        why = ", ".join(text % new[reason] for reason, text in _LOGGED.items() if new[reason])
        total = sum(self.discarded[reason] for reason in _LOGGED)
        _LOG.warning("%d events are discarded, %d since the start: %s", sum(new.values()), total, why)
        self._reported = self.discarded.copy()


def _may_pass(error: ClusterError) -> bool:
    """Whether the same request may succeed later: there was no answer, or the API server has too much to do."""
    return not isinstance(error, NotSentError) and (error.status in (0, 429) or error.status >= 500)


def _reason_of(error: ClusterError, series: _Series) -> Discard:
    if isinstance(error, NotSentError):
        return Discard.LEASE_OVER
    if isinstance(error, NotFoundError) and series.document is None:
        return Discard.DELETED
    return Discard.REFUSED if error.status else Discard.NO_ANSWER
