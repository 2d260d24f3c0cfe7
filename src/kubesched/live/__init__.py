"""Schedules the pods of a live cluster, in place of kube-scheduler or beside it."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.live.attempt_log import ATTEMPT_LOG as ATTEMPT_LOG, AttemptLog as AttemptLog
    from kubesched.live.cache_comparer import on_sigusr2 as on_sigusr2
    from kubesched.live.driver import LiveScheduler as LiveScheduler, Writer as Writer
    from kubesched.live.dry_run import (
        DryRunWriter as DryRunWriter,
        dry_run_setup as dry_run_setup,
        without_election as without_election,
    )
    from kubesched.live.other_scheduler import serves_default_scheduler as serves_default_scheduler
    from kubesched.live.scheduler_endpoints import (
        EndpointOptions as EndpointOptions,
        Endpoints as Endpoints,
        HealthChecks as HealthChecks,
    )
    from kubesched.live.scheduler_process import (
        Confirm as Confirm,
        SchedulerOptions as SchedulerOptions,
        access_of as access_of,
        briefly as briefly,
        first_of as first_of,
        get_ready as get_ready,
        keep_heap_small as keep_heap_small,
        run_scheduler as run_scheduler,
        serving as serving,
        with_kubeconfig as with_kubeconfig,
    )
    from kubesched.live.server_release import (
        check_version as check_version,
        start_sentence as start_sentence,
        version_of_server as version_of_server,
    )
    from kubesched.live.spans import Spans as Spans, new_spans as new_spans
    from kubesched.live.writes import ApiWriter as ApiWriter
