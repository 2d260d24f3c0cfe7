"""What differs from kube-scheduler in a run of `kubesched scheduler`: the notes at its start."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubesched.live import SchedulerOptions
    from kubesched.setup import Setup

_LOOPBACK: Final = ("127.", "::1", "localhost")


def differences(
    setup: "Setup",
    options: "SchedulerOptions",
    ignored_flags: Sequence[str] = (),
    *,
    ignored_gates: Sequence[str] = (),
    is_shadow: bool = False,
) -> list[str]:
    """What this run does differently from a kube-scheduler v1.36 with this configuration and these flags.

    Args:
        ignored_flags: flags of kube-scheduler on the command line that have no effect.
        ignored_gates: feature gates on the command line that are on in kube-scheduler and have no effect here. A gate
            with another value than its default is not among them: the command fails.
        is_shadow: whether it compares, instead of scheduling.
    Returns: one sentence for each difference; empty where there is none.
    Rule: kube-scheduler v1.36.3, as observed, leaves some pods with claims pending.
    """
    configuration, profiles = setup.configuration, setup.profiles
    told: list[str] = []
    if options.dry_run or is_shadow:
        flag = "--shadow" if is_shadow else "--dry-run"
        told.append(f"nothing is written ({flag}): no Bindings, evictions, conditions, events or Leases")
    if ignored_flags:
        told.append(f"these flags of kube-scheduler have no effect in kubesched: {', '.join(ignored_flags)}")
    if ignored_gates:
        told.append(f"these feature gates have no effect in kubesched: {', '.join(ignored_gates)}")
    if configuration.extenders and is_shadow:
        urls = ", ".join(extender.shown_url for extender in configuration.extenders)
        told.append(f"extenders are not called: {urls}")
    adaptive = (
        []
        if is_shadow
        else [profile.scheduler_name for profile in profiles if not profile.percentage_of_nodes_to_score]
    )
    if adaptive:
        told.append(
            f"every node is examined for pods of {', '.join(adaptive)}; kube-scheduler examines a sample in a cluster "
            "of 100 nodes or more, unless percentageOfNodesToScore is 100"
        )
    if options.tie_break.value != "upstream":
        told.append(f"of equally good nodes, --tie-break {options.tie_break.value} selects one")
    has_claims = any(plugin.name == "DynamicResources" for profile in profiles for plugin in profile.plugins)
    if has_claims and not is_shadow:
        told.append(
            "pods are placed that kube-scheduler v1.36.3 leaves pending forever: with a claim that they list twice, "
            "an allocation without a time, or an extended resource of a device plugin beside a claim"
        )
    if configuration.client_connection.qps < 0:
        told.append("requests have no rate limit; kube-scheduler's default is clientConnection.qps 50")
    if options.endpoints is not None and options.endpoints.host.startswith(_LOOPBACK):
        told.append(
            f"the endpoints listen on {options.endpoints.host}; kube-scheduler's listen on all addresses: "
            "in a pod, set --bind-address=0.0.0.0"
        )
    return told
