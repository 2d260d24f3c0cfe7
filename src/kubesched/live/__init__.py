"""Schedules the pods of a live cluster, in place of kube-scheduler or beside it."""

from kubesched.live.attempt_log import ATTEMPT_LOG, AttemptLog
from kubesched.live.driver import LiveScheduler, Writer
from kubesched.live.dry_run import DryRunWriter, dry_run_setup
from kubesched.live.endpoints import EndpointOptions, Endpoints, HealthChecks
from kubesched.live.other_scheduler import serves_default_scheduler
from kubesched.live.process import SchedulerOptions, run_scheduler, with_kubeconfig
from kubesched.live.shadow import Shadow
from kubesched.live.shadow_process import run_shadow
from kubesched.live.shadow_report import ShadowReport
from kubesched.live.shadow_verdict import Agreement, Verdict
from kubesched.live.traces import Traces, new_traces
from kubesched.live.writes import ApiWriter

__all__ = [
    "ATTEMPT_LOG",
    "Agreement",
    "ApiWriter",
    "AttemptLog",
    "DryRunWriter",
    "EndpointOptions",
    "Endpoints",
    "HealthChecks",
    "LiveScheduler",
    "SchedulerOptions",
    "Shadow",
    "ShadowReport",
    "Traces",
    "Verdict",
    "Writer",
    "dry_run_setup",
    "new_traces",
    "run_scheduler",
    "run_shadow",
    "serves_default_scheduler",
    "with_kubeconfig",
]
