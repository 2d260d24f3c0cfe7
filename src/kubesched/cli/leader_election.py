"""The --leader-elect flags of `kubesched scheduler`, with kube-scheduler's names.

The default name of the Lease is that of config.lease_name, not kube-scheduler's.
"""

from typing import Any, Final

import click

from kubesched.cli.parameters import Seconds, option_value


def _given_fields(**flags: Any) -> dict[str, Any]:
    """The fields of LeaderElectionConfiguration that flags replace.

    Args:
        flags: by parameter name, such as `leader_elect_retry_period`.
    """
    from kubesched.config import Duration

    return {
        name if name == "leader_elect" else name.removeprefix("leader_elect_"): (
            Duration(value) if isinstance(value, float) else value
        )
        for name, value in flags.items()
        if value is not None
    }


leader_election_options: Final = option_value(
    "election",
    _given_fields,
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
        "[default: kubesched; with --replace, kube-scheduler]",
    ),
    click.option("--leader-elect-resource-namespace", metavar="NAME", help="Its namespace.  [default: kube-system]"),
)
"""The argument `election` of a command: the fields of LeaderElectionConfiguration that flags replace."""
