"""Finds out, before this process schedules, whether another scheduler serves default-scheduler.

Two schedulers of the same pods place more on a node than it has room for. kube-scheduler shows that it runs by renewing
the Lease kube-system/kube-scheduler, or, without leader election, by binding pods. Replicas of this scheduler do both,
too, and are not another scheduler: they share our Lease, and `is_replica` recognizes their name in it.

The clocks of two machines are never compared: a Lease is held by somebody if it changes while we look at it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from kubesched.api import EventType, Pod, WatchEvent
from kubesched.cluster import ApiClient
from kubesched.config import DEFAULT_SCHEDULER_NAME, KUBE_SCHEDULER_LEASE, LeaderElectionConfiguration
from kubesched.errors import ClusterError, InputError
from kubesched.live.lease import LeaseLock, LeaseSpec, is_replica

_PAUSE_SECONDS: Final = 0.5  # between two looks at a Lease
_WATCH_SECONDS: Final = 2.0  # for bindings of another scheduler, once everything that exists is known
_LOOK_SECONDS: Final = 5.0  # for one answer
_LONGEST_SECONDS: Final = 60.0  # for a Lease to change; who holds it renews several times in its duration
_LEASE_SECONDS: Final = 15  # kube-scheduler's default, for a Lease without a duration
_FORBIDDEN: Final = 403
_HARM: Final = "two schedulers of the same pods overcommit nodes"
_ADVICE: Final = (
    "To compare with it, give --shadow; to take its place, give --replace (in Python, "
    "SchedulerOptions(replaces=True)); to run beside it, give a configuration with another schedulerName"
)
_LOG: Final = logging.getLogger("kubesched.scheduler")
Sink = Callable[[list[WatchEvent]], None]


def serves_default_scheduler(scheduler_names: Iterable[str]) -> bool:
    """Whether one of these names is that of a cluster's own scheduler, which pods without a schedulerName ask for."""
    return DEFAULT_SCHEDULER_NAME in scheduler_names


def _is_unknown(identity: str) -> bool:
    return False


class OtherScheduler:
    """Looks for another scheduler of default-scheduler while this process starts.

    Args:
        election: of this process. Who holds the same Lease, and is a kubesched, is a replica of ours.
        sink: of the watch; the pods on their way there show the bindings of others.
        replaces: this process is to replace kube-scheduler, but not through its Lease. Bindings do not count then: they
            may be those of a scheduler that has our Lease, or of one that is about to end.
    """

    def __init__(
        self, client: ApiClient, election: LeaderElectionConfiguration, sink: Sink, *, replaces: bool = False
    ) -> None:
        self._client = client
        self._election = election
        self._sink = sink
        self._replaces = replaces
        self._pending: set[str] | None = set()  # uids of pods that had no node; None after the check
        self._unrenewed: dict[str, LeaseSpec] = {}  # Leases that stayed as they are for their duration, by label
        self._bound: Pod | None = None  # the first pod that got its node from somebody else

    def __call__(self, events: list[WatchEvent]) -> None:
        """Pass events on, and note bindings until `check` ends."""
        if self._pending is not None:
            self._note(events, self._pending)
        self._sink(events)

    async def check(self, synced: Callable[[], Awaitable[None]] | None) -> None:
        """Look until it is clear who serves default-scheduler.

        Args:
            synced: returns when all pods that exist have been passed on; None if the watch does not run yet.
        Raises:
            InputError: another scheduler does.
        """
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._look_for_kube_scheduler())
                if synced is not None and not self._replaces:
                    group.create_task(self._watch_pods(synced()))
            pod = None if self._replaces else self._bound
            if pod is not None and not await self._has_replica():
                raise self._refused(f"it bound pod {pod.key} to node {pod.node_name} while kubesched was starting")
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            self._pending = None

    async def look_again(self) -> None:
        """Look at kube-scheduler's Lease once more, for a process that has waited long between `check` and leading.

        Raises:
            InputError: somebody else renews it by now.
        """
        await self._look_for_kube_scheduler()

    def _refused(self, what: str) -> InputError:
        advice = self._way_to_replace() if self._replaces else _ADVICE
        return InputError(f"another scheduler serves {DEFAULT_SCHEDULER_NAME}: {what}; {_HARM}. {advice}")

    # --- leases ---

    @property
    def _our_lease(self) -> tuple[str, str] | None:
        election = self._election
        return (election.resource_namespace, election.resource_name) if election.leader_elect else None

    def _way_to_replace(self) -> str:
        found = f"on the Lease {'/'.join(self._our_lease)}" if self._our_lease else "off"
        return (
            f"--replace takes its place only through its Lease, and leader election is {found}: leave out the "
            "--leader-elect options and the fields leaderElect, resourceName and resourceNamespace of leaderElection"
        )

    async def _look_for_kube_scheduler(self) -> None:
        is_known = is_replica if self._our_lease == KUBE_SCHEDULER_LEASE else _is_unknown
        holder = await self._holder(*KUBE_SCHEDULER_LEASE, is_known)
        if holder and not is_known(holder):
            raise self._refused(f"{_shown(holder)} renews the Lease {'/'.join(KUBE_SCHEDULER_LEASE)}")

    async def _has_replica(self) -> bool:
        """Whether a replica leads, which binds pods."""
        return self._our_lease is not None and is_replica(await self._holder(*self._our_lease))

    async def _holder(self, namespace: str, name: str, is_known: Callable[[str], bool] = _is_unknown) -> str:
        """The identity that renews a Lease; "" if it stays as it is for its duration.

        Args:
            is_known: for which identity it does not matter whether it renews.
        """
        lock = LeaseLock(self._client, namespace, name, identity="", component="")
        timing, first, end = self._client.timing, None, 0.0
        while True:
            try:
                lease = await lock.get(_LOOK_SECONDS)
            except (ClusterError, InputError) as error:
                if not isinstance(error, ClusterError) or error.status == _FORBIDDEN:
                    _LOG.warning("whether another scheduler holds the Lease %s is not known: %s", lock.label, error)
                    return ""
                _LOG.warning("no pod is scheduled yet: the Lease %s cannot be read: %s", lock.label, error)
                await timing.sleep(4 * _PAUSE_SECONDS)
                continue
            holder = (lease and lease.spec.holder_identity) or ""
            if lease is None or not holder or self._unrenewed.get(lock.label) == lease.spec:
                return ""
            if is_known(holder) or lease.spec != (first or lease.spec):
                return holder
            if first is None:
                first = lease.spec
                end = timing.monotonic() + _begin_to_wait(lock.label, holder, first)
            if timing.monotonic() >= end:
                self._unrenewed[lock.label] = lease.spec
                return ""
            await timing.sleep(_PAUSE_SECONDS)

    # --- pods ---

    async def _watch_pods(self, synced: Awaitable[None]) -> None:
        await synced
        await self._client.timing.sleep(_WATCH_SECONDS)

    def _note(self, events: list[WatchEvent], pending: set[str]) -> None:
        for event in events:
            pod = event.object
            if not isinstance(pod, Pod) or pod.scheduler_name != DEFAULT_SCHEDULER_NAME:
                continue
            if event.type is not EventType.DELETED and not pod.node_name:
                pending.add(pod.uid)
            elif pod.uid in pending:
                pending.discard(pod.uid)
                if event.type is not EventType.DELETED:
                    self._bound = self._bound or pod


def _begin_to_wait(label: str, holder: str, spec: LeaseSpec) -> float:
    """Log how long a Lease may stay as it is until its holder counts as gone. Returns: the seconds."""
    seconds = min(max(0, spec.lease_duration_seconds or _LEASE_SECONDS), _LONGEST_SECONDS)
    _LOG.info(
        "no pod is scheduled yet: waiting up to %g s to see whether %s still renews the Lease %s; "
        "if it has been removed, delete the Lease to start at once",
        *(seconds, _shown(holder), label),
    )
    return seconds


def _shown(holder: str) -> str:
    """A name that anybody may have written into a Lease, as part of a line."""
    return holder if holder.isprintable() else ascii(holder)
