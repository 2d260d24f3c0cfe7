"""Advice on the process: leader election, the connection to the API server, and back-off."""

from collections.abc import Iterator, Mapping
from typing import Final

from kubesched.config import (
    DEFAULT_SCHEDULER_NAME,
    KUBE_SCHEDULER_LEASE,
    Finding,
    KubeSchedulerConfiguration,
    LeaderElectionConfiguration,
    dig,
)
from kubesched.review.reviewed import Review

_JITTER: Final = 1.2
_SLOW_FAILOVER: Final = 60
_LONG_BACKOFF: Final = 300


def process_advice(review: Review) -> Iterator[Finding]:
    """Find what a process with this configuration does unexpectedly."""
    configuration = review.configuration
    if configuration.leader_election.leader_elect:
        yield from _default_lease(review)
        yield from _election_times(review)
    yield from _client_rate(review)
    longest = configuration.pod_max_backoff_seconds
    if longest > _LONG_BACKOFF:
        message = f"a pod that was rejected repeatedly waits up to {longest} seconds, even if it fits by then"
        yield Finding("long-backoff", "podMaxBackoffSeconds", message, "the default is 10 seconds")


def shared_leases(configurations: Mapping[str, KubeSchedulerConfiguration]) -> dict[str, list[Finding]]:
    """Find schedulers of different names that elect their leader with the same lease.

    Args:
        configurations: by the names of their files.
    Returns: the findings for each file.
    """
    findings: dict[str, list[Finding]] = {}
    for file, configuration in configurations.items():
        election, names = configuration.leader_election, _scheduler_names(configuration)
        for other, another in configurations.items():
            shared = election.leader_elect and another.leader_election.leader_elect
            if other == file or not shared or _lease(election) != _lease(another.leader_election):
                continue
            if _lease(election) == KUBE_SCHEDULER_LEASE:  # default-lease reports the one that is not kube-scheduler's
                continue
            if names.isdisjoint(_scheduler_names(another)):
                message = f"{other} uses the lease {'/'.join(_lease(election))}, too, for another scheduler"
                advice = "only one of the two schedules; give each its own leaderElection.resourceName"
                findings.setdefault(file, []).append(
                    Finding("shared-lease", "leaderElection.resourceName", message, advice)
                )
    return findings


def _scheduler_names(configuration: KubeSchedulerConfiguration) -> set[str]:
    return {profile.scheduler_name for profile in configuration.profiles}


def _lease(election: LeaderElectionConfiguration) -> tuple[str, str]:
    return election.resource_namespace, election.resource_name


def _default_lease(review: Review) -> Iterator[Finding]:
    names = sorted(filter(None, _scheduler_names(review.configuration)))
    if (
        _lease(review.configuration.leader_election) != KUBE_SCHEDULER_LEASE
        or DEFAULT_SCHEDULER_NAME in names
        or not names
    ):
        return
    is_written = dig(review.document, "leaderElection") is not None
    yield Finding(
        "default-lease",
        "leaderElection.resourceName" if is_written else "profiles[0].schedulerName",
        f"{' or '.join(names)} waits for the lease kube-system/kube-scheduler, which kube-scheduler holds",
        "set leaderElection.resourceName to a name for this scheduler",
    )


def _election_times(review: Review) -> Iterator[Finding]:
    election = review.configuration.leader_election
    if 0 < election.renew_deadline <= _JITTER * election.retry_period:
        is_written = dig(review.document, "leaderElection", "retryPeriod") is not None
        times = f"renewDeadline ({election.renew_deadline})", f"retryPeriod ({election.retry_period})"
        yield Finding(
            "retry-period",
            f"leaderElection.{'retryPeriod' if is_written else 'renewDeadline'}",
            f"{times[0]} must be more than 1.2 times {times[1]}",
            "kube-scheduler accepts the file, and then ends: couldn't create leader elector: renewDeadline must be "
            "greater than retryPeriod*JitterFactor",
        )
    if election.lease_duration > _SLOW_FAILOVER:
        message = f"if the leader fails, no pod is scheduled for up to {election.lease_duration}"
        yield Finding("slow-failover", "leaderElection.leaseDuration", message, "the default is 15s")


def _client_rate(review: Review) -> Iterator[Finding]:
    qps = dig(review.document, "clientConnection", "qps")
    if isinstance(qps, int | float) and not isinstance(qps, bool) and 0 < qps <= 50:
        yield Finding(
            "client-rate",
            "clientConnection.qps",
            f"a limit of {qps:g} requests per second also limits the pods bound per second, to fewer than that",
            "kube-scheduler's default is 50, with a burst of 100; without the field, kubesched has no limit",
        )
