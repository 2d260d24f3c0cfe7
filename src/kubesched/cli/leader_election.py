"""The --leader-elect flags of `kubesched scheduler`, with kube-scheduler's names.

The default name of the Lease is `kubesched`, not `kube-scheduler`. Only one holder of a Lease schedules. With
kube-scheduler's name, a kubesched that runs beside kube-scheduler under another scheduler name would wait forever, or
kube-scheduler would after its next restart. To replace kube-scheduler, this exclusion is right: --replace takes its
name.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from kubesched.cli.options import Seconds

if TYPE_CHECKING:
    from kubesched.config import LeaderElectionConfiguration, LeaderElectionFlags

F = TypeVar("F", bound=Callable[..., Any])

_LEASE_NAME: Final = "kubesched"
_REPLACED: Final = "kube-scheduler"
_FLAGS: Final = (
    click.option(
        "--leader-elect",
        type=bool,
        is_flag=False,
        flag_value="true",
        metavar="[true|false]",
        help="Schedule only while this process holds the Lease.  [default: true]",
    ),
    click.option(
        "--leader-elect-lease-duration",
        type=Seconds(),
        help="How long others wait before they take a Lease that is not renewed.  [default: 15s]",
    ),
    click.option(
        "--leader-elect-renew-deadline",
        type=Seconds(),
        help="How long the leader tries to renew before it gives up.  [default: 10s]",
    ),
    click.option(
        "--leader-elect-retry-period", type=Seconds(), help="Time between two attempts to renew.  [default: 2s]"
    ),
    click.option("--leader-elect-resource-lock", metavar="TYPE", help="Only `leases`.  [default: leases]"),
    click.option(
        "--leader-elect-resource-name",
        metavar="NAME",
        help="The Lease. kube-scheduler's is kube-scheduler: with this name, only one of the two schedules.  "
        f"[default: {_LEASE_NAME}; with --replace, {_REPLACED}]",
    ),
    click.option("--leader-elect-resource-namespace", metavar="NAME", help="Its namespace.  [default: kube-system]"),
)


def leader_election_options(command: F) -> F:
    """The flags, each None if it is not given: those of `leader_election_flags`."""
    for decorate in reversed(_FLAGS):
        command = decorate(command)
    return command


def leader_election_flags(*, replaces: bool = False, **flags: Any) -> "LeaderElectionFlags":
    """What replaces fields of the file.

    Args:
        replaces: take kube-scheduler's Lease, unless the file or a flag names another.
        flags: by parameter name, such as `leader_elect_retry_period`.
    """
    from kubesched.config import Duration, LeaderElectionFlags

    given = {
        name if name == "leader_elect" else name.removeprefix("leader_elect_"): (
            Duration(value) if isinstance(value, float) else value
        )
        for name, value in flags.items()
        if value is not None
    }
    return LeaderElectionFlags(resource_name=_REPLACED if replaces else _LEASE_NAME, given=given)


def lease_note(election: "LeaderElectionConfiguration") -> str:
    """Which Lease decides who schedules; "" without leader election."""
    if not election.leader_elect:
        return ""
    text = f"leader election on the Lease {election.resource_namespace}/{election.resource_name}"
    if election.resource_name != _LEASE_NAME:
        return text
    return f"{text}, not kube-scheduler's: to replace kube-scheduler, give --replace"
