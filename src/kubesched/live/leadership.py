"""Takes part in the leader election, in a separate thread with its event loop.

A plugin that keeps the main loop busy for a minute does not cost the lease, because the thread goes on renewing it.
Conversely, a process that has lost the lease must not write any more, whatever its main loop is doing. Three things see
to that, each for the case in which the one before it cannot act:

1. The main loop gets an event, cancels what it schedules, and ends the process with code 1.
2. If it has not done so after a second, this thread ends the process.
3. A plugin can also keep the interpreter itself, for example in one slow regular expression. Then no other thread of
   Python runs, and the lease is not renewed. A timer outside the interpreter ends the process when the lease is over,
   and prints where each thread is. Every renewal restarts it.
"""

import asyncio
import faulthandler
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from kubesched.cluster import ApiClient
from kubesched.config import LeaderElectionConfiguration
from kubesched.errors import LeaseLostError
from kubesched.live.leader import LeaderElector
from kubesched.live.lease import LeaseLock, new_identity
from kubesched.serving import LoopThread

_GRACE_SECONDS: Final = 1.0  # for the main loop to end the process
_STDERR: Final = 2
_LOG: Final = logging.getLogger("kubesched.leaderelection")


class ProcessEnd:
    """Ends this process with code 1, without its main loop."""

    def now(self) -> None:
        """End it."""
        os._exit(1)

    def after(self, seconds: float) -> None:
        """End it later, even if no Python code can run then; replaces an earlier time.

        The stacks of all threads are printed first, while these run: about once in fifty times this ends the process
        with SIGSEGV instead of code 1.
        """
        faulthandler.dump_traceback_later(seconds, exit=True, file=_STDERR)

    def cancel(self) -> None:
        """Let it live."""
        faulthandler.cancel_dump_traceback_later()


class NoElection:
    """Leads as soon as it wants to: a scheduler that is alone.

    Attributes:
        leading: set when we lead.
    """

    def __init__(self) -> None:
        self.leading = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leading.clear()

    @property
    def is_leader(self) -> bool:
        """Whether we lead."""
        return self.leading.is_set()

    def may_write(self) -> bool:
        """Whether this process may write as the leader at this moment."""
        return True

    def may_record(self) -> bool:
        """Whether this process may write its events at this moment."""
        return True

    def why_plugins_wait(self) -> str:
        """Why plugins may not write at this moment, as the end of a sentence; "" if they may."""
        return ""

    def check(self) -> str:
        """What is wrong with the lease, as a health check; "" if nothing is. May be called from any thread."""
        return ""

    async def lead(self) -> None:
        """Become a candidate, and wait until we lead. May be called again."""
        self.leading.set()

    async def until_lost(self) -> None:
        """Wait for the loss of the lease.

        Raises:
            LeaseLostError: it came.
        """
        await asyncio.Event().wait()


class Leadership(NoElection):
    """Leads while it holds the lease; gives it back at the end of `async with`.

    Args:
        connect: makes a client for the loop of the thread, with separate credentials.
        component: the source of events: the name of the first profile.
    Attributes:
        identity: of `new_identity`.
    """

    def __init__(
        self,
        connect: Callable[[], ApiClient],
        election: LeaderElectionConfiguration,
        component: str,
        process_end: ProcessEnd | None = None,
    ) -> None:
        super().__init__()
        self.identity = new_identity()
        self._connect = connect
        self._election = election
        self._component = component
        self._process_end = process_end or ProcessEnd()
        self._lost = asyncio.Event()
        self._reason = ""
        self._has_given_back = False
        self._is_ending = asyncio.Event()  # in the thread: whether the main loop has left the block
        self._elector: LeaderElector | None = None
        self._task: asyncio.Task[None] | None = None
        self._events: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._main_loop = asyncio.get_running_loop()
        self._thread = LoopThread("lease")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._thread.call(self._finish())
        self._process_end.cancel()
        await self._thread.stop()

    @property
    def is_leader(self) -> bool:
        """Whether we lead."""
        return self._elector is not None and self._elector.is_leader

    def may_write(self) -> bool:
        """Whether we lead and the lease is not over. A process that was stopped finds out here first."""
        return self._elector is not None and self._elector.may_write

    def may_record(self) -> bool:
        """Whether we may write, or have given the lease back: then the events of what we did may still be written."""
        return self._has_given_back or self.may_write()

    def why_plugins_wait(self) -> str:
        """Why plugins may not write at this moment: we do not lead yet, or no longer."""
        if self.may_write():
            return ""
        if self.leading.is_set():
            return "the lease of this process is over"
        return "this process does not lead yet; write in a task that start makes, and try again after this ClusterError"

    def check(self) -> str:
        """Fails 20 s after a lease that was neither renewed nor given up."""
        return self._elector.check() if self._elector is not None else ""

    async def lead(self) -> None:
        """Become a candidate, and wait until we lead. May be called again."""
        await self._thread.call(self._begin())
        await self.leading.wait()

    async def until_lost(self) -> None:
        """Wait for the loss of the lease.

        Raises:
            LeaseLostError: it came.
        """
        await self._lost.wait()
        raise LeaseLostError(self._reason)

    # --- in the thread ---

    async def _begin(self) -> None:
        self._task = self._task or asyncio.create_task(self._take_part())

    async def _finish(self) -> None:
        self._is_ending.set()
        await self._write_events()
        if self._task is not None:
            self._has_given_back = self.may_write()
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _write_events(self) -> None:
        if self._events:
            await asyncio.wait(self._events, timeout=_GRACE_SECONDS)

    async def _take_part(self) -> None:
        election = self._election
        try:
            async with self._connect() as client:
                names = (election.resource_namespace, election.resource_name)
                lock = LeaseLock(client, *names, identity=self.identity, component=self._component)
                self._elector = LeaderElector(lock, election, client.timing, self._process_end.after)
                await self._lead(lock, self._elector)
        except Exception as error:  # noqa: BLE001 - a fault here must not leave a process that leads or waits forever
            _LOG.exception("leader election failed")
            await self._lose(str(error))

    async def _lead(self, lock: LeaseLock, elector: LeaderElector) -> None:
        try:
            await elector.acquire()
            self._tell(self.leading)
            self._record(lock, elector, "became leader")
            await elector.renew()
        except LeaseLostError as error:
            self._record(lock, elector, "stopped leading")
            await self._lose(str(error))
        except asyncio.CancelledError:
            self._process_end.cancel()  # nothing is written any more, and a release may take its time
            await elector.release()
            raise

    def _record(self, lock: LeaseLock, elector: LeaderElector, what: str) -> None:
        if elector.lease is not None:
            event = asyncio.create_task(lock.record(elector.lease, what))
            self._events.add(event)
            event.add_done_callback(self._events.discard)

    async def _lose(self, reason: str) -> None:
        _LOG.error("Leaderelection lost: %s", reason)
        self._reason = reason
        self._tell(self._lost)
        self._process_end.after(2 * _GRACE_SECONDS)
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                await self._is_ending.wait()
        except TimeoutError:
            _LOG.error("the scheduler has not stopped within %g s; ending the process", _GRACE_SECONDS)
            self._process_end.now()
        else:
            self._process_end.cancel()  # nothing is written any more
            await self._write_events()

    def _tell(self, event: asyncio.Event) -> None:
        with suppress(RuntimeError):  # the main loop is closed: the process ends
            self._main_loop.call_soon_threadsafe(event.set)
