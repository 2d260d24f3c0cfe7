"""Keeps the objects of one kind up to date: lists, watches, and resumes after every interruption.

Theory of operation, after client-go's reflector. A list gives all objects and a resource version; a watch from that
version gives every change after it, and each change moves the version on, as do bookmarks. So whatever cuts a watch,
the next one goes on from the last version and nothing is lost. Only when the server has forgotten that version (410, as
an answer or inside the stream), or reports another error, is a new list needed; it is compared with the known
objects, so that the sink gets only changes. Tries that fail follow each other with growing delays, and so do watches
that bring nothing new. A server that is busy and names a time is asked again after just that time, also for a page of a
list.

A watch that sends what is not an event, an object of another type, or a line without end, is broken off. If it brought
something before, the next one goes on from there; if not, it would meet the same again, and a list is needed.

A server whose etcd was wiped or restored has not reached our version yet: it accepts the watch and sends nothing, not
even the bookmark that a healthy server sends about every minute. Two minutes without an event, a bookmark or a list,
over any number of watches, therefore lead to a list of the newest state. If its version is lower than ours, the server
gives out versions for the second time. Objects are then replaced even if their version is the known one.

An optional kind may be missing: the server answers 404, or 403 to a role that does not name it. That is not a fault:
the kind counts as listed, and the server is asked again each minute, because it may come later. What was known of it is
dropped at the second such answer in a row, so that a server that has just started takes nothing away. A kind that is
there and that the role does not allow is waited for: without it, decisions would be wrong.

A kind that a plugin names is looked up in the discovery of the server first, which has its plural and its verbs. One
without a watch, such as those of metrics.k8s.io, is listed every 15 seconds instead. One that plugins do without counts
as listed after any fault that the server answers with, and after five seconds without a list, because a server behind
an aggregated API may be down or hang for long. It is asked for until it is there.

Invariants: the known objects are exactly those that the sink was sent; the changes of one object are sent in the order
of the server. The version that a watch starts from is the last one that the server gave us, also when it is lower
than an earlier one.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Final

import msgspec
from msgspec.structs import replace

from kubesched.api import (
    EventType,
    Kind,
    KubeObject,
    Unstructured,
    WatchEvent,
    check_amounts,
    compare_versions,
    decode_object,
    kind_named,
)
from kubesched.cluster.api_client import ApiClient
from kubesched.cluster.discovery import find_served, in_other_version, is_served
from kubesched.cluster.known_objects import KnownObjects
from kubesched.cluster.listing import request_page
from kubesched.cluster.pacing import Backoff
from kubesched.cluster.reflector_counts import ReflectorCounts, Restart
from kubesched.cluster.resources import list_path
from kubesched.cluster.status_errors import UNUSABLE, StatusObject, status_error
from kubesched.cluster.watch_lines import MAX_LINE, Lines, ListPage, foreign_type, outline_of, read_line
from kubesched.engine import paused_gc
from kubesched.errors import ClusterError, GoneError, NotFoundError, ObjectError

Sink = Callable[[list[WatchEvent]], None]
"""Is given events in batches, on the event loop's thread, and may keep the list."""

SILENCE_SECONDS: Final = 120.0  # a healthy server sends a bookmark about every 60
_WATCH_SECONDS: Final = (300, 600)
_BRIEF: Final = 1.0  # a watch that ends sooner and without events is not tried again at once
_SLICE: Final = 1000  # objects handled before other tasks get their turn
_ABSENT_SECONDS: Final = 60.0  # until the server is asked again for an optional kind that it does not have
_POLL_SECONDS: Final = 15.0  # between lists of a kind without a watch; metrics-server measures as often
_PATIENCE_SECONDS = 5.0  # for the first list of a kind that plugins do without
_PATIENT_TRIES: Final = 10
_BROKEN: Final = (msgspec.DecodeError, UnicodeDecodeError)
_log = logging.getLogger(__name__)
_WATCHED_ON: Final = (Restart.CLOSED, Restart.CUT)  # at once, after a watch that was worth something
_EXPECTED: Final = (Restart.EXPIRED, Restart.IDLE, Restart.ABSENT)
"""Restarts of servers, proxies without bookmarks and older servers bring them."""


class Reflector:
    """Keeps one kind up to date and sends the changes to a sink.

    Args:
        kind: a kind as `kind_named` takes it.
        sink: what it raises ends `run`.
        field_selector: which objects count; those that no longer match are DELETED.
        keep_source: whether objects keep their JSON (`raw`).
        page_size: how many objects an answer holds where lists come in pages; 0 for all at once.
        silence: seconds without an event, a bookmark or a list after which everything is listed again.
        readers: the plugins that read the kind.
    Attributes:
        kind: the key under which its events come.
        known: the objects that the sink has been sent.
        counts: what has been done.
        synced: set when the sink has been sent everything that the first list had, or the wait for it ended.
        last_contact: `timing.monotonic()` when the server was last heard, None before.
        last_error: what went wrong last, empty if nothing did.
    """

    def __init__(
        self,
        client: ApiClient,
        kind: str,
        sink: Sink,
        *,
        field_selector: str = "",
        keep_source: bool = False,
        page_size: int = 500,
        silence: float = SILENCE_SECONDS,
        readers: Sequence[str] = (),
    ) -> None:
        self._readers = readers
        self._kind = kind_named(kind)
        self.kind = self._kind.key
        self.known = KnownObjects(self.kind)
        self.counts = ReflectorCounts()
        self.synced = asyncio.Event()
        self.last_contact: float | None = None
        self.last_error = ""
        self._client = client
        self._timing = client.timing
        self._sink = sink
        self._is_found = self._kind.type is not Unstructured
        self._is_watchable = True
        self._place(self._kind)
        self._selector: dict[str, str | int] = {"fieldSelector": field_selector} if field_selector else {}
        self._keep_source = keep_source or not self._is_found
        self._page_size = page_size
        self._silence = silence
        self._backoff = Backoff(client.timing)
        self._version = "0"  # of what is known; "0" is any state that the server has at hand
        self._is_listed = False
        self._told = ""  # the fault that was logged last, since the last list
        self._n_absent = 0  # answers in a row that there is no such kind
        self._wants_newest = False  # whether to list without our version, which the server may not have
        self._heard_at = client.timing.monotonic()  # the last event, bookmark or list
        self._began: float | None = None  # of the watch, once the server answered
        self._watched_from = self._version
        self._has_been_odd = False  # whether the log has an event of an unknown type
        self._n_busy = 0  # answers in a row with which the server asked for time

    def _place(self, listed: Kind) -> None:
        """Take note of where the objects are listed and watched."""
        self._listed_as = listed
        self._path = list_path(listed)
        self._label = f"GET {self._client.access.server}{self._path}"

    async def run(self) -> None:
        """List and watch until cancelled."""
        with self._limited_patience():
            await self._follow()

    @contextmanager
    def _limited_patience(self) -> Iterator[None]:
        """Let a start wait for some seconds only, if plugins do without the kind."""
        if not self._kind.is_dispensable:
            yield
            return
        timer = asyncio.get_running_loop().call_later(_PATIENCE_SECONDS, self._go_on)
        try:
            yield
        finally:
            timer.cancel()

    def _go_on(self) -> None:
        """Count the kind as listed, though the server has not listed it yet."""
        if self.synced.is_set():
            return
        self._contact()
        self.synced.set()
        words = "watching %s: no list within %g s (%s); the plugins that read it go on without it until it comes"
        _log.warning(words, self._kind.resource, _PATIENCE_SECONDS, self.last_error or "no answer yet")

    async def _follow(self) -> None:
        while True:
            self._began, self._watched_from = None, self._version
            pause, is_busy = 0.0, False
            wanted_newest = self._wants_newest
            try:
                if not self._is_found:
                    await self._find()
                if not self._is_listed:
                    await self._list()
                await (self._watch() if self._is_watchable else self._pause())
                restart = Restart.CLOSED
            except ClusterError as fault:
                error = await self._cause(fault)
                restart = self._judge(error)
                if restart is Restart.ABSENT and await self._is_elsewhere():
                    continue
                pause, is_busy = error.retry_after or 0.0, self._is_busy(error)
                if restart is Restart.ABSENT:
                    pause = _ABSENT_SECONDS
                    self._do_without()
                self._log(error, restart)
                if self._kind.is_dispensable and error.status:
                    self._contact()
                    self.synced.set()
                self.last_error = str(error)
            self.counts.restarts[restart] += 1
            is_other_list = self._wants_newest and not wanted_newest
            if self._has_moved:
                self._n_busy = 0
            if restart is Restart.IDLE or self._is_silent:
                self._is_listed, self._wants_newest = False, True
            if is_busy:
                await self._timing.sleep(pause)
            elif not is_other_list and (restart not in _WATCHED_ON or self._was_brief):
                await self._timing.sleep(max(self._backoff.next(), pause))

    def _is_busy(self, error: ClusterError) -> bool:
        """Whether the server asked for time, and gets just that, unless it goes on to do so.

        Rule: client-go v1.36 waits ten times in a row for the seconds of Retry-After.
        """
        if error.status != 429 or error.retry_after is None:
            return False
        self._n_busy += 1
        return self._n_busy <= _PATIENT_TRIES

    def _log(self, error: ClusterError, restart: Restart) -> None:
        """Log why a list or watch ended; what stays of a kind that is absent, or that plugins do without, once."""
        if restart is Restart.ABSENT and self._n_absent > 1:
            return
        if self._kind.is_dispensable and str(error) == self._told:
            return
        self._told = str(error)
        level = logging.INFO if restart in _EXPECTED else logging.WARNING
        _log.log(level, "watching %s: %s (%s)", self._kind.resource, error, restart.value)

    @property
    def _was_brief(self) -> bool:
        began = self._began
        return began is None or (not self._has_moved and self._timing.monotonic() - began < _BRIEF)

    @property
    def _has_moved(self) -> bool:
        """Whether the watch brought anything: what was there before may come repeatedly."""
        return self._version != self._watched_from

    @property
    def _is_silent(self) -> bool:
        return self._timing.monotonic() - self._heard_at >= self._silence

    async def _cause(self, error: ClusterError) -> ClusterError:
        """The fault, or that the server does not have an optional kind, which it refuses like one that it has."""
        if error.status == 403 and not await is_served(self._client, self._kind):
            return NotFoundError(str(error), status=404, reason="NotFound")
        return error

    def _judge(self, error: ClusterError) -> Restart:
        """The kind of fault, and its effect on the next try."""
        if self._kind.is_optional and error.status == 404:
            self._is_listed = False
            self._is_found = self._kind.type is not Unstructured
            return Restart.ABSENT
        if error.status in (401, 403, 429) or error.reason == UNUSABLE:
            return Restart.REFUSED
        if error.status == 0:
            return Restart.IDLE if error.reason == "Timeout" and self._began is not None else Restart.CUT
        is_gone = isinstance(error, GoneError)
        if not self._is_listed and (is_gone or error.status in (400, 504)):
            # 504: newer than the server, after a restore; 400: not a version of this server
            if is_gone and self._wants_newest:
                self._page_size = 0  # pages expire faster than we read them
            self._wants_newest = True
        self._is_listed = False
        return Restart.EXPIRED if is_gone else Restart.FAILED

    def _do_without(self) -> None:
        """Go on without an optional kind."""
        self._n_absent += 1
        if self._n_absent > 1:
            self._tell(list(self.known.replace({})))
        self._heard_at = self._contact()
        self.synced.set()

    # --- find ---

    async def _find(self) -> None:
        """Find out where the server has a kind that a plugin names, and whether it can be watched."""
        try:
            found = await find_served(self._client, self._kind)
        except NotFoundError as error:
            raise NotFoundError(f"{error}{self._who_reads()}", status=404, reason="NotFound") from error
        self._kind = replace(self._kind, name=found.kind.name)
        self._place(found.kind)
        self._is_watchable = found.is_watchable
        self._is_found = True

    async def _is_elsewhere(self) -> bool:
        """Whether the server has the kind in another version than the one that it was asked for."""
        if not self._kind.other_versions:
            return False
        found = await in_other_version(self._client, self._kind) or self._kind
        is_other = found.version != self._listed_as.version
        self._place(found)
        return is_other

    def _who_reads(self) -> str:
        """Which plugin named the kind, as the end of a message that it is missing."""
        if not self._readers:
            return ""
        who = f"; plugin {' and plugin '.join(self._readers)} declares it in reads"
        if self._kind.is_optional:
            return who
        return f"{who}, and nothing is scheduled until it is there; a ? at the end of its name makes it optional"

    async def _pause(self) -> None:
        """Wait for the next list of a kind that cannot be watched."""
        self._began = self._timing.monotonic()
        await self._timing.sleep(_POLL_SECONDS)
        self._is_listed = False

    # --- list ---

    async def _list(self) -> None:
        """List all objects, and send what differs from the known ones."""
        self.counts.lists += 1
        listed: dict[str, KubeObject] = {}
        paging: dict[str, str | int] = {"limit": self._page_size} if self._page_size else {}
        not_older = "" if self._wants_newest or not self._is_watchable else self._version
        query = {**self._selector, **({"resourceVersion": not_older} if not_older else paging)}
        number = 1
        while True:
            page = await self._page(query, number)
            if not page.metadata.resource_version and self._is_watchable:  # a watch begins with it
                raise ClusterError(f"{self._label}: the list has no metadata.resourceVersion", status=200)
            self._heard_at = self._contact()
            await self._decode_all(page.items or [], listed)
            if not page.metadata.continue_:
                break
            query = {**self._selector, **paging, "continue": page.metadata.continue_}
            number += 1
        await self._replace(listed, page.metadata.resource_version)
        self._is_listed, self._wants_newest, self._n_absent = True, False, 0
        self._told = ""
        self.synced.set()

    async def _page(self, query: Mapping[str, str | int], number: int) -> ListPage:
        """One page. A server that is busy is asked for this page again: a long list would never end otherwise."""
        while True:
            try:
                page = await request_page(self._client, self._listed_as, query, ListPage, number=number, retry=False)
            except ClusterError as error:
                if not self._is_busy(error):
                    raise
                self.last_error = str(error)
                self.counts.restarts[Restart.REFUSED] += 1
                self._log(error, Restart.REFUSED)
                await self._timing.sleep(error.retry_after or 0.0)
            else:
                self._n_busy = 0
                return page

    async def _replace(self, listed: Mapping[str, KubeObject], version: str) -> None:
        """Send what differs between a list and the known objects."""
        went_back = (compare_versions(version, self._version) or 0) < 0
        if went_back:
            words = "watching %s: the resource version went back from %s to %s; the list replaces all known objects"
            _log.warning(words, self._kind.plural, self._version, version)
        changes = self.known.replace(listed, versions_hold=not went_back)
        while batch := list(islice(changes, _SLICE)):
            self._tell(batch)
            await asyncio.sleep(0)
        self._version = version

    async def _decode_all(self, items: Sequence[msgspec.Raw], listed: dict[str, KubeObject]) -> None:
        """Decode the items of a list; those that do not decode stay as they are known."""
        for start in range(0, len(items), _SLICE):
            with paused_gc():
                for raw in items[start : start + _SLICE]:
                    if (read := self._item(raw)) is not None:
                        listed[read.key] = read
            await asyncio.sleep(0)

    def _item(self, raw: msgspec.Raw) -> KubeObject | None:
        """An item of a list, or the object as it is known."""
        if foreign := foreign_type(self._listed_as, raw):
            self._skip(raw, f"found {foreign}; expected {self._listed_as.api_version}/{self._listed_as.name}")
            return None
        # a source that is kept is copied: a slice would hold on to the whole answer
        return self._decode(raw.copy() if self._keep_source else raw) or self.known.get(outline_of(raw).key)

    def _decode(self, raw: msgspec.Raw) -> KubeObject | None:
        try:
            decoded = decode_object(self._kind, raw, keep_source=self._keep_source)
            check_amounts(decoded)
            return decoded
        except (ObjectError, UnicodeDecodeError) as error:
            self._skip(raw, str(error))
            return None

    def _skip(self, raw: msgspec.Raw, why: str) -> None:
        self.counts.skipped += 1
        _log.error("%s %s is skipped, because it does not decode: %s", self.kind, outline_of(raw).key, why)

    # --- watch ---

    async def _watch(self) -> None:
        """Send every change, until the server or the network ends the watch."""
        self.counts.watches += 1
        seconds = self._timing.rng.randint(*_WATCH_SECONDS)
        query: Mapping[str, str | int] = {
            **self._selector,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": seconds,
        }
        lines, self._watched_from = Lines(), self._version
        async with self._client.stream(self._path, query=query, idle_timeout=self._silence) as pieces:
            self._began = self._contact()
            async for piece in pieces:
                self._contact()
                self._hear(lines.complete(piece))
                if lines.n_waiting > MAX_LINE:
                    raise self._broken(f"a line of the watch has more than {MAX_LINE >> 20} MiB; expected less")
        if lines.n_waiting:
            raise self._cut("the watch ended in the middle of a line")

    def _hear(self, lines: Iterable[bytes]) -> None:
        """Send the changes of some lines, also when the last of them is an error."""
        events: list[WatchEvent] = []
        try:
            for line in lines:
                self._read(line, events)
        finally:
            self._tell(events)

    def _read(self, line: bytes, events: list[WatchEvent]) -> None:
        try:
            said = read_line(line)
        except _BROKEN:
            raise self._broken("a line of the watch is not valid; expected JSON with type and object") from None
        self._heard_at = self._timing.monotonic()
        if said.type == "ERROR":
            raise self._error(said.object)
        if said.type == "BOOKMARK":
            self.counts.bookmarks += 1
            self._version = outline_of(said.object).resource_version or self._version
        elif said.type in EventType.__members__:
            self._take_in(EventType(said.type), said.object, events)
        elif not self._has_been_odd:
            self._has_been_odd = True
            words = "watching %s: an event of the unknown type %.40r, and all others like it, are left out"
            _log.warning(words, self._kind.resource, said.type)

    def _take_in(self, type: EventType, raw: msgspec.Raw, events: list[WatchEvent]) -> None:
        if foreign := foreign_type(self._listed_as, raw):
            raise self._broken(
                f"the watch sent {foreign}; expected {self._listed_as.api_version}/{self._listed_as.name}"
            )
        read = self._decode(raw)
        identity = outline_of(raw) if read is None else read.metadata
        key = outline_of(raw).key if read is None else read.key
        self._version = identity.resource_version or self._version
        if type is EventType.DELETED:
            events.extend(self.known.remove(key, read))
        elif read is not None:
            events.extend(self.known.put(read))

    def _error(self, raw: msgspec.Raw) -> ClusterError:
        try:
            status = msgspec.json.decode(raw, type=StatusObject)
        except _BROKEN:
            status = StatusObject()
        return status_error(f"{self._label}: in the watch", status)

    def _cut(self, what: str) -> ClusterError:
        return ClusterError(f"{self._label}: {what}", reason="NoAnswer")

    def _broken(self, what: str) -> ClusterError:
        """The fault of a watch that sends what it must not. One that brought nothing before would do so again from the
        same version, so everything is listed.
        """
        return self._cut(what) if self._has_moved else ClusterError(f"{self._label}: {what}", status=200)

    def _tell(self, events: list[WatchEvent]) -> None:
        if events:
            self.counts.events += len(events)
            self._sink(events)

    def _contact(self) -> float:
        self.last_contact = self._timing.monotonic()
        return self.last_contact
