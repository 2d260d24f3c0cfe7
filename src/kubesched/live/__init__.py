"""Schedules the pods of a live cluster, in place of kube-scheduler or beside it."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.live.attempt_log import ATTEMPT_LOG, AttemptLog
    from kubesched.live.cache_comparer import on_sigusr2
    from kubesched.live.driver import LiveScheduler, Writer
    from kubesched.live.dry_run import DryRunWriter, dry_run_setup, without_election
    from kubesched.live.other_scheduler import serves_default_scheduler
    from kubesched.live.scheduler_endpoints import EndpointOptions, Endpoints, HealthChecks
    from kubesched.live.scheduler_process import (
        SchedulerOptions,
        access_of,
        briefly,
        first_of,
        get_ready,
        keep_heap_small,
        run_scheduler,
        serving,
        with_kubeconfig,
    )
    from kubesched.live.traces import Traces, new_traces
    from kubesched.live.writes import ApiWriter

__all__ = [
    "ATTEMPT_LOG",
    "ApiWriter",
    "AttemptLog",
    "DryRunWriter",
    "EndpointOptions",
    "Endpoints",
    "HealthChecks",
    "LiveScheduler",
    "SchedulerOptions",
    "Traces",
    "Writer",
    "access_of",
    "briefly",
    "dry_run_setup",
    "first_of",
    "get_ready",
    "keep_heap_small",
    "new_traces",
    "on_sigusr2",
    "run_scheduler",
    "serves_default_scheduler",
    "serving",
    "with_kubeconfig",
    "without_election",
]
