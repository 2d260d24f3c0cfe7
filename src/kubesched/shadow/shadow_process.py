"""The process of shadow mode: watches, judges, serves metrics, and reports until it is stopped. It writes nothing."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from kubesched.cluster import ApiClient, ClusterWatch, PluginRequests
from kubesched.framework import Services, logged_plugin_events
from kubesched.live import (
    Confirm,
    HealthChecks,
    SchedulerOptions,
    access_of,
    briefly,
    check_version,
    first_of,
    get_ready,
    keep_heap_small,
    on_sigusr2,
    serving,
    without_election,
)
from kubesched.metrics import PodResources, ShadowMetrics
from kubesched.scheduler import stop_plugins
from kubesched.serving import Registry, new_registry
from kubesched.setup import Setup, readers_of
from kubesched.shadow.shadow import Shadow
from kubesched.shadow.shadow_report import ShadowReport

_SUMMARY_SECONDS: Final = 300.0
_LOG: Final = logging.getLogger("kubesched.shadow")


async def run_shadow(
    setup: Setup,
    options: SchedulerOptions,
    folder: Path | None,
    explain_options: Sequence[str] = (),
    *,
    stop: asyncio.Event,
    on_started: Callable[[], None] = lambda: None,
    on_ready: Callable[[Shadow], None],
    checks_version: bool = False,
) -> None:
    """Judge the bindings of other schedulers until `stop` is set.

    Args:
        folder, explain_options: as for ShadowReport.
        on_started: as for run_scheduler.
        on_ready: called when everything that exists is known, and the plugins have started.
        checks_version: as for run_scheduler.
    Raises:
        PluginError: a plugin did not start.
        ClusterError: there are no usable credentials, or the API server has another version than the one that decides.
        InputError: the endpoints cannot be served, or the folder cannot be written.
    """
    setup, metrics = without_election(setup), ShadowMetrics()
    report = ShadowReport(metrics, folder, explain_options)
    rate = setup.configuration.client_connection
    async with ApiClient(access_of(options), qps=rate.qps, burst=rate.burst) as client:
        services = Services(
            client=PluginRequests(client, lambda: "shadow mode writes nothing"),
            metrics_of=metrics.plugins.of,
            record_event=logged_plugin_events(client.timing.monotonic).record,
        )
        shadow = Shadow(setup, report.take, clock=client.timing, took=metrics.took, services=services)
        kept = _without_extenders(setup).kinds_with_source
        watch = ClusterWatch(
            client, shadow.feed, kinds=setup.watched_kinds, wants_raw=kept, readers=readers_of(setup.profiles)
        )
        confirm = partial(check_version, client, setup.release) if checks_version else None
        page, resources = new_registry(), Registry()
        page.register(metrics)
        resources.register(PodResources(shadow.cluster_state, None))
        checks: HealthChecks = HealthChecks(is_stopping=stop.is_set, is_synced=lambda: shadow.feed.is_handed_over)
        with on_sigusr2(lambda: _log_sizes(shadow)):
            async with serving(setup, options, checks, page, resources):
                on_started()
                try:
                    await _run(shadow, watch, report, stop, confirm, on_ready)
                finally:
                    await briefly(stop_plugins(shadow.frameworks.values()), "stopping the plugins")
                    await report.finish()
                    _LOG.info("%s", report.summary())


def _without_extenders(setup: Setup) -> Setup:
    """The setup as shadow mode uses it: extenders are not called, so they get no JSON."""
    return replace(setup, configuration=replace(setup.configuration, extenders=()))


async def _run(
    shadow: Shadow,
    watch: ClusterWatch,
    report: ShadowReport,
    stop: asyncio.Event,
    confirm: Confirm | None,
    on_ready: Callable[[Shadow], None],
) -> None:
    """Run everything at the same time until `stop`, or until something cannot go on."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(watch.run(), name="watch"),
                group.create_task(_judge(shadow, watch, confirm, on_ready), name="judge"),
                group.create_task(_summarize(report), name="summary"),
                group.create_task(keep_heap_small(), name="free memory"),
            ]
            await stop.wait()
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as several:
        raise first_of(several) from None


async def _judge(
    shadow: Shadow, watch: ClusterWatch, confirm: Confirm | None, on_ready: Callable[[Shadow], None]
) -> None:
    await get_ready(watch, shadow.feed, shadow.frameworks.values(), confirm)
    on_ready(shadow)
    await shadow.run()


async def _summarize(report: ShadowReport) -> None:
    while True:
        await asyncio.sleep(_SUMMARY_SECONDS)
        _LOG.info("%s", report.summary())


def _log_sizes(shadow: Shadow) -> None:
    """Log how much is kept: there is no queue to compare."""
    state = shadow.cluster_state
    sizes = {"nodes": state.columns.n_nodes, "pods": state.n_placed, **shadow.sizes, **state.sizes()}
    _LOG.info("cache dump: %s", ", ".join(f"{name} {n}" for name, n in sizes.items()))
