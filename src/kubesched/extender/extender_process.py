"""The process of an extender: starts and stops connection, watch, plugins and server in the right order."""

import asyncio
import gc
import logging
import platform
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final

import msgspec
from aiohttp import web

from kubesched.api import Pod, WatchEvent, decode_object
from kubesched.cluster import (
    SILENCE_SECONDS,
    ApiClient,
    ClusterWatch,
    EventRecorder,
    Feed,
    PluginRequests,
    Timing,
    bind_pod,
    find_access,
    object_path,
)
from kubesched.config import ExtenderManagedResource
from kubesched.errors import ClusterError, NotFoundError
from kubesched.extender.extender_metrics import ExtenderMetrics
from kubesched.extender.paths import QuickBelowPrefix, VerbPaths, log_unknown_paths
from kubesched.extender.plugin_extender import ClusterWrites, Extender
from kubesched.extender.recording import Recorder
from kubesched.extender.service import ExtenderService, add_routes
from kubesched.framework import Bind, Services, logged_plugin_events
from kubesched.metrics import EventMetrics, MetricsOfPlugins
from kubesched.scheduler import start_plugins, stop_plugins
from kubesched.serving import HEALTH_PATHS, Server, ServerOptions, add_health, add_metrics, allow_clients, new_registry
from kubesched.setup import Setup, readers_of

_SYNC_SECONDS: Final = 60.0
_HOUSEKEEPING_SECONDS: Final = 30.0
_EVENT_SECONDS: Final = 5.0  # for the last events of plugins
_BUDGET: Final = 0.8  # of the time that the client waits
_GC_THRESHOLDS: Final = (100_000, 50, 100)  # requests make much and keep nothing in cycles
_LOG: Final = logging.getLogger("kubesched.extender")


class ExtenderOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How an extender is reached and what it may do.

    Attributes:
        server: address, TLS, limits.
        client_names: common names of client certificates that are let in; all with a valid one where empty.
        is_watched: whether to connect to the cluster and watch it.
        kubeconfig, context: which cluster; as with kubectl where not given.
        in_cluster: the one that this pod runs in.
        silence_seconds: how long a watch may send nothing before everything is listed again.
        http_timeout: seconds that kube-scheduler waits for an answer.
        allow_on_timeout: let all nodes pass when the time is over.
        preemption_helps: pass UNSCHEDULABLE on as such although no plugin takes part in preemption.
        offers_bind: offer bind although no plugin takes part in binding.
        record: folder to record calls in.
        path_prefix: the only path below which the verbs are served and their exact paths; None allows any.
        managed_resources: what kube-scheduler is to call the extender for, in its configuration.
    """

    server: ServerOptions = ServerOptions(port=8888)
    client_names: tuple[str, ...] = ()
    is_watched: bool = False
    kubeconfig: str = ""
    context: str = ""
    in_cluster: bool = False
    silence_seconds: float = SILENCE_SECONDS
    http_timeout: float = 5.0
    allow_on_timeout: bool = False
    preemption_helps: bool = False
    offers_bind: bool = False
    record: Path | None = None
    path_prefix: str | None = None
    managed_resources: tuple[ExtenderManagedResource, ...] = ()


async def run_extender(
    setup: Setup,
    options: ExtenderOptions,
    *,
    stop: asyncio.Event,
    on_listening: Callable[[Extender, Server], None],
    on_ready: Callable[[Extender], None],
) -> None:
    """Serve until `stop` is set, then answer what is in flight and end.

    Args:
        setup: made without default plugins.
        on_listening: called when the port is open; calls are refused until everything is known.
        on_ready: called when the first one can be answered.
    Raises:
        InputError: the options are not valid, or the plugins cannot be served with them.
        PluginError: a plugin did not start.
        ClusterError: no credentials are usable.
    """
    async with AsyncExitStack() as stack:
        client, for_plugins = await _connect(options, stack), await _connect(options, stack)
        events = None if for_plugins is None else EventRecorder(for_plugins, platform.node())
        metrics = MetricsOfPlugins()
        services = Services(
            metrics_of=metrics.of,
            record_event=logged_plugin_events(time.monotonic).record if events is None else events.record,
        )
        if for_plugins is not None:
            services = msgspec.structs.replace(services, client=PluginRequests(for_plugins))
        extender = Extender(
            setup,
            clock=Timing(),
            is_watched=client is not None,
            writes=None if client is None else _ApiWrites(client),
            offers_bind=options.offers_bind,
            preemption_helps=options.preemption_helps,
            allow_on_timeout=options.allow_on_timeout,
            services=services,
        )
        recorder = None
        if options.record is not None:
            recorder = stack.enter_context(Recorder(options.record, () if client is None else extender.kinds))
        feed = Feed(extender.load, lambda event: extender.apply((event,)))
        watch = None if client is None else _watch_for(extender, client, feed, recorder, options.silence_seconds)
        server, service = _build_server(extender, options, watch, recorder, metrics, events)
        await server.start()
        try:
            on_listening(extender, server)
            await _serve(extender, server, service, watch, events, feed, stop, on_ready)
        finally:
            await server.drain()
            await _end(extender, service, events, server.drain_left, options.server.drain_seconds)


async def _end(
    extender: Extender, service: ExtenderService, events: EventRecorder | None, drain_left: float, seconds: float
) -> None:
    """Let bindings under way end in what is left of the drain time, and stop the plugins that were started."""
    if extender.binder is not None:
        await extender.binder.finish(drain_left)
    if not service.unready:
        try:
            async with asyncio.timeout(seconds):
                await stop_plugins(extender.frameworks.values())
        except TimeoutError:
            _LOG.warning("a plugin did not stop within %g s", seconds)
    if events is not None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_EVENT_SECONDS):
                await events.finish()


async def _connect(options: ExtenderOptions, stack: AsyncExitStack) -> ApiClient | None:
    if not options.is_watched:
        return None
    access = find_access(options.kubeconfig or None, options.context, in_cluster=options.in_cluster)
    return await stack.enter_async_context(ApiClient(access))


def _build_server(
    extender: Extender,
    options: ExtenderOptions,
    watch: ClusterWatch | None,
    recorder: Recorder | None,
    plugin_metrics: MetricsOfPlugins,
    events: EventRecorder | None = None,
) -> tuple[Server, ExtenderService]:
    app = web.Application()
    server = Server(app, options.server)
    registry = new_registry()
    registry.register(plugin_metrics)
    if events is not None:
        registry.register(EventMetrics(events.discarded))
    service = ExtenderService(
        extender,
        server.bodies,
        ExtenderMetrics(registry, extender, watch, recorder, server),
        budget_seconds=_BUDGET * options.http_timeout,
        recorder=recorder,
        describe=lambda: {} if watch is None else {"cacheAgeSeconds": round(watch.age(), 3)},
    )
    paths = VerbPaths(extender.singles, options.path_prefix)
    add_routes(app, service, paths)
    app.middlewares.append(log_unknown_paths())
    for each in (app, server.aside):
        add_metrics(each, registry)
        add_health(each, live={}, ready={"cache": lambda: service.unready})
    if options.client_names:
        app.middlewares.append(allow_clients(options.client_names, open_paths=HEALTH_PATHS))
    else:
        server.quick = QuickBelowPrefix(service.quick_handlers(), paths)
    return server, service


def _watch_for(
    extender: Extender, client: ApiClient, feed: Feed, recorder: Recorder | None, silence: float
) -> ClusterWatch:
    profiles = [framework.profile for framework in extender.frameworks.values()]
    if recorder is not None:
        wants_raw = extender.kinds
    else:
        wants_raw = (
            ("Node", "Pod") if any(plugin.wants_raw for profile in profiles for plugin in profile.plugins) else ()
        )

    def sink(events: list[WatchEvent]) -> None:
        if recorder is not None:
            recorder.events(events)
        feed(events)

    return ClusterWatch(
        client, sink, kinds=extender.kinds, wants_raw=wants_raw, silence=silence, readers=readers_of(profiles)
    )


async def _serve(
    extender: Extender,
    server: Server,
    service: ExtenderService,
    watch: ClusterWatch | None,
    events: EventRecorder | None,
    feed: Feed,
    stop: asyncio.Event,
    on_ready: Callable[[Extender], None],
) -> None:
    """Run everything concurrently until `stop`, or until something cannot go on."""
    try:
        async with asyncio.TaskGroup() as group:
            background = [
                group.create_task(_get_ready(extender, service, watch, feed, on_ready), name="get ready"),
                group.create_task(_keep_house(extender), name="housekeeping"),
            ]
            if watch is not None:
                background.append(group.create_task(watch.run(), name="watch"))
            if events is not None:
                background.append(group.create_task(events.run(), name="events"))
            await server.run(stop)
            for task in background:
                task.cancel()
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


async def _get_ready(
    extender: Extender,
    service: ExtenderService,
    watch: ClusterWatch | None,
    feed: Feed,
    on_ready: Callable[[Extender], None],
) -> None:
    if watch is not None:
        service.unready = "the cluster is not in the cache yet"
        while True:
            try:
                await watch.synced(_SYNC_SECONDS)
                feed.hand_over()
                break
            except ClusterError as error:
                service.unready = str(error)
                _LOG.warning("%s", error)
    service.unready = "plugins are starting"
    await start_plugins(extender.frameworks.values())
    feed.release()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    service.unready = ""
    on_ready(extender)


async def _keep_house(extender: Extender) -> None:
    while True:
        await asyncio.sleep(_HOUSEKEEPING_SECONDS)
        if extender.binder is not None:
            for pod in extender.binder.forget_unconfirmed():
                _LOG.warning(
                    "pod %s was bound long ago and never confirmed by the watch; it does not count any more", pod
                )


class _ApiWrites(ClusterWrites):
    """Writes to the API server."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def find_pod(self, namespace: str, name: str) -> Pod | None:
        """The pod as the API server has it."""
        try:
            raw = await self._client.request("GET", object_path("Pod", namespace, name), type=msgspec.Raw)
        except NotFoundError:
            return None
        pod = decode_object("Pod", raw)
        assert isinstance(pod, Pod)
        return pod

    async def create_binding(self, action: Bind) -> str:
        """Bind the pod."""
        pod = action.pod
        try:
            await bind_pod(self._client, pod.namespace, pod.name, pod.uid, action.node_name, action.annotations)
        except ClusterError as error:
            return str(error)
        return ""
