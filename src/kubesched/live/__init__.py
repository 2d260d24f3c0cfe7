"""Schedules the pods of a live cluster, in place of kube-scheduler or beside it."""

from kubesched.live.driver import LiveScheduler, Writer
from kubesched.live.dry_run import DryRunWriter, dry_run_setup
from kubesched.live.endpoints import EndpointOptions, Endpoints, HealthChecks
from kubesched.live.event_recorder import EventRecorder
from kubesched.live.process import SchedulerOptions, run_scheduler
from kubesched.live.writes import ApiWriter

__all__ = [
    "ApiWriter",
    "DryRunWriter",
    "EndpointOptions",
    "Endpoints",
    "EventRecorder",
    "HealthChecks",
    "LiveScheduler",
    "SchedulerOptions",
    "Writer",
    "dry_run_setup",
    "run_scheduler",
]
