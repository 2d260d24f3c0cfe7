"""Elects one leader among the replicas of a scheduler.

Theory of operation. The leader renews the Lease every retryPeriod. Others read it, and take it once it has not changed
for leaseDurationSeconds on their own monotonic clock: wall clocks of different machines are never compared. Every write
carries the resourceVersion that was read, so of two candidates the API server lets only one through.

A leader counts the lease from the moment at which it sent the request that renewed it. Others count from the moment at
which they saw the change, which is later. So a leader that stops at `expires_at` stops before anybody else may begin,
whatever answers were late or lost.

Rule: client-go v1.36 leader election: periods, jitter, fields, the renewal without a read before it, release. There are
four differences, none of which lets two lead at a time:

- A leader gives up before its lease ends, even if renewDeadline and retryPeriod together are longer than that.
- A leader that reads the name of another holder gives up at once, and does not try until renewDeadline.
- A candidate looks again when the lease that it waits for ends, if this comes before its next regular look.
- leaseDurationSeconds is rounded up, not down, if leaseDuration is not in whole seconds.
"""

import asyncio
import logging
from collections.abc import Callable
from math import ceil
from typing import Final

import msgspec

from kubesched.cluster import Timing, micro_time
from kubesched.config import LeaderElectionConfiguration
from kubesched.errors import ClusterError, ConflictError, InputError, LeaseLostError, NotFoundError
from kubesched.live.lease import Lease, LeaseLock, LeaseSpec

_JITTER: Final = 1.2  # of retryPeriod, between two looks of a candidate
_SAFE_SHARE: Final = 0.9  # of the lease: clocks of two machines may run at different rates, and to stop takes a moment
_TOLERATED_SECONDS: Final = 20.0  # past the end of the lease, before the health check fails
_MAX_TRANSITIONS: Final = 2**31 - 1  # the field is an int32, and an API server refuses more
_LOG: Final = logging.getLogger("kubesched.leaderelection")


def _ignore(seconds: float) -> None:
    """Ignore it."""


class LeaderElector:
    """One candidate. Call `acquire`, then `renew`; `release` when the process ends as it should.

    Args:
        on_renewed: called after each write that made or kept us leader, with the seconds that are left of the lease.
    Attributes:
        is_leader: whether we lead.
        expires_at: the end of our lease by the monotonic clock.
        lease: as we saw it last.
    """

    def __init__(
        self,
        lock: LeaseLock,
        election: LeaderElectionConfiguration,
        timing: Timing,
        on_renewed: Callable[[float], None] = _ignore,
    ) -> None:
        self.is_leader = False
        self.expires_at = 0.0
        self.lease: Lease | None = None
        self._lock = lock
        self._election = election
        self._timing = timing
        self._on_renewed = on_renewed
        self._valid_until = 0.0  # the lease of another holder
        self._has_claimed = False  # whether a claim was ever sent
        self._last_error = ""
        self._awaited = ""  # the holder that the log has named

    @property
    def may_write(self) -> bool:
        """Whether we lead and the lease is not over at this moment. May be called from any thread."""
        return self.is_leader and self._timing.monotonic() < self.expires_at

    async def acquire(self) -> None:
        """Wait until we lead."""
        _LOG.info("Attempting to acquire leader lease %s", self._lock.label)
        while not await self._try():
            await self._timing.sleep(self._pause())
        _LOG.info("Successfully acquired lease %s", self._lock.label)

    async def renew(self) -> None:
        """Keep the lease as long as possible.

        Raises:
            LeaseLostError: it was not renewed in time, or somebody else has it.
        """
        retry, patience = self._election.retry_period, self._election.renew_deadline
        try:
            while True:
                left = self.expires_at - self._timing.monotonic()
                async with asyncio.timeout(min(retry + patience, _SAFE_SHARE * left)):
                    await self._timing.sleep(retry)
                    while not await self._try():
                        await self._timing.sleep(retry)
        except TimeoutError:
            reason = self._last_error or "the API server did not answer"
            raise LeaseLostError(f"failed to renew lease {self._lock.label} in time: {reason}") from None
        finally:
            self.is_leader = False

    async def release(self) -> None:
        """Give the lease back if it is ours, so that another candidate leads at its next look.

        An acquisition that was broken off may have succeeded. So this asks the API server, not our memory.
        """
        self.is_leader = False
        if not self._has_claimed:
            return
        try:
            async with asyncio.timeout(self._election.renew_deadline):
                lease = await self._lock.get()
                if lease is not None and lease.spec.holder_identity == self._lock.identity:
                    now = micro_time(self._timing.now())
                    await self._lock.update(lease, LeaseSpec("", 1, now, now, lease.spec.lease_transitions))
        except (ClusterError, InputError, TimeoutError) as error:
            _LOG.warning("failed to release lease %s: %s", self._lock.label, str(error) or "no answer")

    def check(self) -> str:
        """What is wrong, as a health check; "" if nothing is. May be called from any thread."""
        if self.is_leader and self._timing.monotonic() > self.expires_at + _TOLERATED_SECONDS:
            return f"failed election to renew leadership on lease {self._lock.name}"
        return ""

    def _pause(self) -> float:
        """Seconds until a candidate looks again."""
        pause = self._election.retry_period * (1 + _JITTER * self._timing.rng.random())
        left = self._valid_until - self._timing.monotonic()
        return min(pause, left) if left > 0 else pause

    # --- one look ---

    async def _try(self) -> bool:
        """Returns: whether we hold the lease now.

        Raises:
            LeaseLostError: we led, and somebody else does now.
        """
        try:
            holds = (self.is_leader and await self._renewed_blindly()) or await self._taken()
        except (ClusterError, InputError) as error:
            if str(error) != self._last_error:
                _LOG.warning("leader election: %s", error)
            self._last_error = str(error)
            return False
        self._last_error = ""
        return holds

    async def _renewed_blindly(self) -> bool:
        """Renew without a look before: no other candidate writes to a lease that is ours."""
        assert self.lease is not None
        try:
            return await self._write(self.lease)
        except (ConflictError, NotFoundError):  # perhaps by a renewal of ours whose answer was lost
            return False

    async def _taken(self) -> bool:
        """Look who has the lease, and take it if it is ours or free."""
        lease = await self._lock.get()
        if lease is None:
            return await self._write(None)
        self._observe(lease)
        holder = lease.spec.holder_identity
        if holder and holder != self._lock.identity:
            if self.is_leader:
                raise LeaseLostError(f"lease {self._lock.label} is held by {holder}")
            if self._timing.monotonic() < self._valid_until:
                self._log_awaited(holder)
                return False
        return await self._write(lease)

    def _log_awaited(self, holder: str) -> None:
        if holder != self._awaited:
            self._awaited = holder
            _LOG.info(
                "waiting: %s holds the Lease %s, and only its holder schedules. If that is not a replica of this "
                "scheduler, give this one another Lease: set leaderElection.resourceName, or "
                "--leader-elect-resource-name",
                holder,
                self._lock.label,
            )

    def _observe(self, lease: Lease) -> None:
        if self.lease is None or lease.spec != self.lease.spec:
            self._valid_until = self._timing.monotonic() + (lease.spec.lease_duration_seconds or 0)
        self.lease = lease

    async def _write(self, old: Lease | None) -> bool:
        """Write our claim over what was read. Returns: whether the answer came before the lease was over."""
        sent = self._timing.monotonic()
        spec, self._has_claimed = self._claim(old), True
        self.lease = await (self._lock.create(spec) if old is None else self._lock.update(old, spec))
        self.expires_at = sent + self._election.lease_duration
        left = self.expires_at - self._timing.monotonic()
        self.is_leader = left > 0
        if self.is_leader:
            self._on_renewed(left)
        return self.is_leader

    def _claim(self, old: Lease | None) -> LeaseSpec:
        now, seconds = micro_time(self._timing.now()), ceil(self._election.lease_duration)
        if old is None:
            return LeaseSpec(self._lock.identity, seconds, now, now, 0)
        if old.spec.holder_identity == self._lock.identity:
            return msgspec.structs.replace(old.spec, lease_duration_seconds=seconds, renew_time=now)
        transitions = min((old.spec.lease_transitions or 0) + 1, _MAX_TRANSITIONS)
        return LeaseSpec(self._lock.identity, seconds, now, now, transitions)
