"""The process of a live scheduler: starts and stops connection, watch, plugins and scheduling in the right order."""

import asyncio
import gc
import logging
import platform
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from random import Random
from typing import Final

import msgspec

from kubesched.cluster import (
    Access,
    ApiClient,
    ClusterWatch,
    EventRecorder,
    Feed,
    PluginRequests,
    check_server,
    find_access,
)
from kubesched.config import KUBE_SCHEDULER_LEASE
from kubesched.errors import ClusterError, ConfigError
from kubesched.extender_client import ExtenderCaller
from kubesched.framework import Framework, Services
from kubesched.live.attempt_log import AttemptLog
from kubesched.live.cache_comparer import CacheComparer, on_sigusr2
from kubesched.live.driver import LiveScheduler
from kubesched.live.dry_run import DryRunWriter, dry_run_setup
from kubesched.live.leadership import Leadership, NoElection
from kubesched.live.other_scheduler import OtherScheduler, serves_default_scheduler
from kubesched.live.scheduler_endpoints import EndpointOptions, Endpoints, HealthChecks
from kubesched.live.server_release import check_version
from kubesched.live.spans import new_spans
from kubesched.live.writes import ApiWriter
from kubesched.metrics import EventMetrics, Observers, PodResources, SchedulerMetrics
from kubesched.scheduler import TieBreak, start_plugins, stop_plugins
from kubesched.serving import Registry, give_free_memory_back, map_large_blocks, new_registry
from kubesched.setup import Setup, readers_of

_FINISH_SECONDS: Final = 5.0
_TRIM_SECONDS: Final = 60.0
_SYNC_SECONDS: Final = 20.0  # until the log says what is missing
_POOL: Final = 64  # requests at a time
_REVIEWS_POOL: Final = 16  # reviews of clients of the endpoints at a time
_REVIEW_SECONDS: Final = 10.0
_GC_THRESHOLDS: Final = (100_000, 50, 100)  # scheduling makes much and keeps nothing in cycles
_LOG: Final = logging.getLogger("kubesched.scheduler")
Confirm = Callable[[], Awaitable[None]]


class SchedulerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which cluster, and how.

    Attributes:
        kubeconfig, context: which cluster; as with kubectl where not given.
        master: URL of its API server, instead of the kubeconfig's.
        in_cluster: the one that this pod runs in.
        tie_break: which of equally good nodes is taken.
        max_in_unschedulable: seconds after which an unschedulable pod is tried without an event.
        endpoints: HTTPS for health and metrics, by default on the port 10259 of 127.0.0.1; None serves nothing.
        dry_run: decide and log, and write nothing; takes no part in the election.
        replaces: serve default-scheduler although another scheduler does, which this one is to replace: the two share
            the Lease of kube-scheduler. With another Lease, or none, the start looks whether somebody renews that one.
    """

    kubeconfig: str = ""
    context: str = ""
    master: str = ""
    in_cluster: bool = False
    tie_break: TieBreak = TieBreak.UPSTREAM
    max_in_unschedulable: float = 300.0
    endpoints: EndpointOptions | None = EndpointOptions()
    dry_run: bool = False
    replaces: bool = False


async def run_scheduler(
    setup: Setup,
    options: SchedulerOptions,
    *,
    stop: asyncio.Event,
    on_started: Callable[[], None] = lambda: None,
    on_ready: Callable[[LiveScheduler], None],
    checks_version: bool = False,
) -> None:
    """Schedule until `stop` is set, while this process leads.

    A candidate for the lease is warm: it watches, its queue is filled, and its plugins have started. With
    `delayCacheUntilActive`, all this begins when it leads.

    Args:
        on_started: called when there are credentials and the endpoints are open; what is wrong with the command line
            has been raised by then.
        on_ready: called when this process leads, everything that exists is known, and the plugins have started.
        checks_version: whether to ask the API server for its version before that, because it did not answer before the
            setup was made.
    Raises:
        PluginError: a plugin did not start.
        ClusterError: there are no usable credentials, or the API server has another version than the one that decides.
        InputError: the endpoints cannot be served, or another scheduler serves default-scheduler.
        LeaseLostError: another process may lead; the caller ends this one with code 1.
    """
    if options.dry_run:
        setup = dry_run_setup(setup)
    rate = setup.configuration.client_connection
    election = _election(setup, options)
    new_client = partial(ApiClient, pool_size=_POOL, qps=rate.qps, burst=rate.burst)
    # Events have a separate rate limit, as upstream, so that they do not hold up Bindings; so have requests of plugins.
    async with (
        new_client(access_of(options), may_write=election.may_write) as client,
        new_client(access_of(options), may_write=election.may_record) as events,
        new_client(access_of(options), may_write=election.may_write) as for_plugins,
    ):
        recorder = EventRecorder(events, platform.node())
        traces = new_spans(client.timing)
        metrics = SchedulerMetrics(client.timing.monotonic)
        tracing = [traces] if traces else []
        observers = Observers(metrics, AttemptLog(), *tracing)
        calls = ExtenderCaller(setup.configuration.extenders, observers.called)
        plugin_requests = PluginRequests(
            for_plugins, (lambda: "a dry run writes nothing") if options.dry_run else election.why_plugins_wait
        )
        live = LiveScheduler(
            setup.calling(calls).watched_by(metrics.steps, *tracing),
            DryRunWriter
            if options.dry_run
            else lambda state: ApiWriter(client, state, recorder.record, election.may_write),
            clock=client.timing,
            rng=Random(),
            tie_break=options.tie_break,
            max_in_unschedulable=options.max_in_unschedulable,
            observer=observers,
            services=Services(client=plugin_requests, metrics_of=metrics.plugins.of),
        )
        other = _other_scheduler(setup, options, client, live)
        watch = ClusterWatch(
            client,
            other or live.feed,
            kinds=setup.watched_kinds,
            wants_raw=setup.kinds_with_source,
            readers=readers_of(setup.profiles),
        )
        comparer = CacheComparer(client, live)
        confirm = partial(check_version, client, setup.release) if checks_version else None
        with on_sigusr2(comparer.ask):
            try:
                async with _endpoints(setup, options, live, metrics, recorder, election, stop), election:
                    on_started()
                    is_delayed = setup.configuration.delay_cache_until_active
                    await _run(live, watch, recorder, comparer, election, other, confirm, is_delayed, stop, on_ready)
                    _LOG.info("Requested to terminate, exiting")
            finally:
                await briefly(calls.close(), "closing connections to extenders")
            await briefly(recorder.finish(), "writing the last events")
        if traces:
            await asyncio.to_thread(traces.shutdown)


def with_kubeconfig(options: SchedulerOptions, setup: Setup) -> SchedulerOptions:
    """The options with the kubeconfig that the configuration names, where they name none.

    Raises:
        ConfigError: that file cannot be used.
    """
    path = setup.configuration.client_connection.kubeconfig
    if options.kubeconfig or not path:
        return options
    options = msgspec.structs.replace(options, kubeconfig=path)
    try:
        access_of(options)
    except ConfigError as error:
        advice = "--kubeconfig, in Python SchedulerOptions.kubeconfig, takes its place"
        raise ConfigError(f"{error}\n  the configuration names it as clientConnection.kubeconfig; {advice}") from error
    return options


def access_of(options: SchedulerOptions, kubeconfig: str = "") -> Access:
    """The cluster, or the one of another kubeconfig."""
    if kubeconfig:
        return find_access(kubeconfig)
    access = find_access(options.kubeconfig or None, options.context, in_cluster=options.in_cluster)
    if options.master:
        return msgspec.structs.replace(access, server=check_server(options.master, "--master"))
    return access


def _other_scheduler(
    setup: Setup, options: SchedulerOptions, client: ApiClient, live: LiveScheduler
) -> OtherScheduler | None:
    """What looks for another scheduler of default-scheduler; None where two of them do no harm or are meant."""
    election = setup.configuration.leader_election
    lease = (election.resource_namespace, election.resource_name)
    takes_turns = options.replaces and election.leader_elect and lease == KUBE_SCHEDULER_LEASE
    is_harmless = options.dry_run or takes_turns
    if is_harmless or not serves_default_scheduler(profile.scheduler_name for profile in setup.profiles):
        return None
    return OtherScheduler(client, election, live.feed, replaces=options.replaces)


def _election(setup: Setup, options: SchedulerOptions) -> NoElection:
    election = setup.configuration.leader_election
    if not election.leader_elect:
        return NoElection()
    seconds = max(election.renew_deadline / 2, 1.0)  # upstream's: there is time for a second try
    component = setup.profiles[0].scheduler_name
    return Leadership(lambda: ApiClient(access_of(options), timeout=seconds), election, component)


def _endpoints(
    setup: Setup,
    options: SchedulerOptions,
    live: LiveScheduler,
    metrics: SchedulerMetrics,
    recorder: EventRecorder,
    election: NoElection,
    stop: asyncio.Event,
) -> AbstractAsyncContextManager[object]:
    """What serves health and metrics."""
    lease = setup.configuration.leader_election
    is_leader = (lambda: election.is_leader) if lease.leader_elect else None
    page, resources = new_registry(), Registry()
    metrics.register(
        page,
        live.scheduler,
        n_binding=lambda: live.n_binding,
        is_leader=is_leader,
        lease_name=lease.resource_name,
    )
    page.register(EventMetrics(recorder.discarded))
    resources.register(PodResources(live.cluster_state, is_leader))
    checks: HealthChecks = HealthChecks(
        leader_election=election.check if lease.leader_elect else None,
        is_stopping=stop.is_set,
        is_synced=lambda: live.feed.is_handed_over,
    )
    return serving(setup, options, checks, page, resources)


def serving(
    setup: Setup, options: SchedulerOptions, checks: HealthChecks, page: Registry, resources: Registry
) -> AbstractAsyncContextManager[object]:
    """The endpoints, if these options have some.

    Args:
        page, resources: shown at /metrics and /metrics/resources.
    """
    if options.endpoints is None:
        return nullcontext()
    return Endpoints(
        options.endpoints,
        setup.configuration,
        checks,
        metrics=page,
        resources=resources,
        release=setup.release,
        new_client=lambda kubeconfig: ApiClient(
            access_of(options, kubeconfig), pool_size=_REVIEWS_POOL, timeout=_REVIEW_SECONDS
        ),
    )


async def _run(
    live: LiveScheduler,
    watch: ClusterWatch,
    recorder: EventRecorder,
    comparer: CacheComparer,
    election: NoElection,
    other: OtherScheduler | None,
    confirm: Confirm | None,
    is_delayed: bool,
    stop: asyncio.Event,
    on_ready: Callable[[LiveScheduler], None],
) -> None:
    """Run everything at the same time until `stop`, or until something cannot go on."""
    frameworks = live.scheduler.frameworks.values()
    try:
        async with asyncio.TaskGroup() as group:
            background = [
                group.create_task(election.until_lost(), name="lease"),
                group.create_task(_watch(watch, election, is_delayed), name="watch"),
                group.create_task(recorder.run(), name="events"),
                group.create_task(comparer.run(), name="cache comparison"),
                group.create_task(keep_heap_small(), name="free memory"),
            ]
            lead = group.create_task(
                _lead(live, watch, election, other, confirm, is_delayed, on_ready), name="schedule"
            )
            await stop.wait()
            for task in (lead, *background):
                task.cancel()
    except BaseExceptionGroup as several:
        raise first_of(several) from None
    finally:
        await briefly(stop_plugins(frameworks), "stopping the plugins")


async def keep_heap_small() -> None:
    """Return free memory to the system each minute. In the heap of an hour of watching and listing, half is free."""
    map_large_blocks()
    while True:
        await asyncio.sleep(_TRIM_SECONDS)
        give_free_memory_back()


def first_of(error: BaseException) -> BaseException:
    """The first error of a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def briefly(work: Awaitable[None], what: str) -> None:
    """Await one of the last steps, briefly: the lease, or a kubelet that ends this process, waits for it."""
    try:
        async with asyncio.timeout(_FINISH_SECONDS):
            await work
    except TimeoutError:
        _LOG.warning("%s took more than %g s and is broken off", what, _FINISH_SECONDS)


async def _watch(watch: ClusterWatch, election: NoElection, is_delayed: bool) -> None:
    if is_delayed:
        await election.leading.wait()
    await watch.run()


async def _lead(
    live: LiveScheduler,
    watch: ClusterWatch,
    election: NoElection,
    other: OtherScheduler | None,
    confirm: Confirm | None,
    is_delayed: bool,
    on_ready: Callable[[LiveScheduler], None],
) -> None:
    if other is not None:
        await other.check(None if is_delayed else partial(_until_synced, watch))
    if is_delayed:
        await election.lead()
    await get_ready(watch, live.feed, live.scheduler.frameworks.values(), confirm)
    await election.lead()
    if other is not None:
        await other.look_again()
    on_ready(live)
    await live.run()


async def get_ready(
    watch: ClusterWatch, feed: Feed, frameworks: Iterable[Framework], confirm: Confirm | None = None
) -> None:
    """Wait until everything that exists is known, load it, start the plugins, and pass on the pods that wait.

    Args:
        confirm: awaited before the plugins start; what it raises is raised.
    Raises:
        PluginError: a plugin did not start.
    """
    await _until_synced(watch)
    if confirm is not None:
        await confirm()
    feed.hand_over()
    await start_plugins(frameworks)
    feed.release()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


async def _until_synced(watch: ClusterWatch) -> None:
    """Wait until everything that exists is known, and log what is missing."""
    while True:
        try:
            await watch.synced(_SYNC_SECONDS)
            return
        except ClusterError as error:
            _LOG.warning("no pod is scheduled yet: %s", error)
