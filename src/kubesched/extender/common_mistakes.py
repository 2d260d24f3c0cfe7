"""Notes on common mistakes with an extender, printed at start: one or two sentences each, only where they apply.

Those that a configuration shows are rules of `kubesched config check`, and end with the rule's name.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from kubesched.config import KubeSchedulerConfiguration
from kubesched.extender.merged_scores import extender_weight
from kubesched.extender.offer import Offer
from kubesched.extender.pods_in_flight import DECISION_SECONDS
from kubesched.extender.watched_kinds import counting_filters
from kubesched.framework import Profile
from kubesched.review import ignorable_bind_before, sampling_advice, scored_as_idle
from kubesched.scheduler import default_sample, nodes_to_find

_VERSION: Final = re.compile(r"v?1\.(\d+)")
_IDLE_NODES_SINCE: Final = 33
_IGNORABLE_BIND_SINCE: Final = 30
_NEVER_CALLED: Final = (
    "pre_enqueue",
    "less",
    "sort_key",
    "events_to_register",
    "post_filter",
    "add_pods",
    "remove_pods",
)
"""Hooks of the queue and of preemption, in the order of a pod's way; the hooks of a binding are called by bind."""


def advice(
    offer: Offer,
    configuration: KubeSchedulerConfiguration,
    *,
    n_nodes: int | None,
    is_watched: bool,
    scheduler_version: str | None = None,
    profiles: Iterable[Profile] = (),
    preemption_helps: bool = False,
    is_open: bool = False,
) -> list[str]:
    """Return what an operator should read before kube-scheduler's first call.

    Args:
        configuration: the extender's own, or kube-scheduler's where both read one file.
        n_nodes: of the cluster; None while it is unknown.
        is_watched: whether the extender watches the cluster, so that kube-scheduler may send names only.
        scheduler_version: such as `v1.36.3`; advice that depends on an unknown version names the version.
        profiles: what is served, to name plugins and to compare weights.
        preemption_helps: as the option of the command.
        is_open: whether other machines reach the extender and need no certificate.
    """
    profiles, minor = tuple(profiles), _minor(scheduler_version)
    sentences = (
        _never_called(profiles),
        _one_node(offer, n_nodes),
        _lost_resolution(offer),
        _weights(profiles),
        _sampling(offer, configuration, n_nodes),
        _idle_nodes(offer, is_watched, minor),
        _unresolvable(offer, profiles, preemption_helps),
        _uncounted(offer, profiles, is_watched),
        _replicas(offer),
        _ignorable(offer, configuration, minor),
        _openness(offer, is_open),
    )
    return [sentence for sentence in sentences if sentence]


def _minor(version: str | None) -> int | None:
    """30 for v1.30.2; None for a version that is not known."""
    match = _VERSION.match(version or "")
    return int(match[1]) if match else None


def _never_called(profiles: Sequence[Profile]) -> str:
    """The hooks that plugins define without effect."""
    plugins = {plugin.name: plugin for profile in profiles for plugin in profile.plugins}
    hooks = {name: [hook for hook in _NEVER_CALLED if plugins[name].defines(hook)] for name in sorted(plugins)}
    if not any(hooks.values()):
        return ""
    named = [f"{', '.join(of_one)} of {name}" for name, of_one in hooks.items() if of_one]
    return (
        f"The extender protocol never calls {' and '.join(named)}: kube-scheduler's queue and preemption do not ask "
        "extenders. `kubesched scheduler` calls every hook."
    )


def _one_node(offer: Offer, n_nodes: int | None) -> str:
    if not offer.prioritize or n_nodes != 1:
        return ""
    return (
        "The cluster has one node. kube-scheduler calls prioritize only if two or more nodes passed the filters, so it "
        "never asks this extender for scores."
    )


def _lost_resolution(offer: Offer) -> str:
    if not offer.prioritize:
        return ""
    return (
        "Scores of 0 to 100 go to kube-scheduler as whole numbers from 0 to 10, because the protocol has no "
        "finer ones. "
        "Nodes whose scores differ by less than 10 may get the same score."
    )


def _weights(profiles: Sequence[Profile]) -> str:
    """The profiles whose scores lose more than they would alone."""
    sums = {profile.scheduler_name: extender_weight([profile]) for profile in profiles if profile.points["score"]}
    weight = max(sums.values(), default=0)
    coarse = [f'"{name}" ({total})' for name, total in sums.items() if total < weight]
    if not coarse:
        return ""
    return (
        f"An extender has one weight for all profiles, here {weight}, the largest sum of score weights. Scores of "
        f"{', '.join(coarse)} with a smaller sum come in steps of {10 * weight} points of the total. Equal sums "
        "avoid that."
    )


def _sampling(offer: Offer, configuration: KubeSchedulerConfiguration, n_nodes: int | None) -> str:
    general = configuration.percentage_of_nodes_to_score
    overriding = (profile.percentage_of_nodes_to_score for profile in configuration.profiles)
    percentages = {general if own is None else own for own in overriding} or {general}
    n_shown, percentage = min((_n_shown(n_nodes, one), one) for one in percentages)
    if not offer.filter or percentage >= 100 or n_shown == n_nodes:
        return ""
    share = "some of the nodes" if n_nodes is None else f"{n_shown} of {n_nodes} nodes"
    return f"{' '.join(sampling_advice(percentage, share, 'the plugins reject'))} [extender-sampling]"


def _n_shown(n_nodes: int | None, percentage: int) -> int:
    """How many feasible nodes kube-scheduler looks for; the percentage itself where the number of nodes is unknown."""
    if n_nodes is None:
        return percentage
    if percentage == 0:
        return default_sample(n_nodes)
    return nodes_to_find(n_nodes, percentage)


def _idle_nodes(offer: Offer, is_watched: bool, minor: int | None) -> str:
    if is_watched:
        return ""
    slow = "Without a watch, the extender needs nodeCacheCapable: false, and every call has all nodes, some 14 KB each."
    if not offer.filter or (minor is not None and minor < _IDLE_NODES_SINCE):
        return slow
    avoided = "--kubeconfig or --in-cluster avoids both."
    return f"{slow} {scored_as_idle(_IDLE_NODES_SINCE)}; {avoided} [extender-whole-nodes]"


def _unresolvable(offer: Offer, profiles: Sequence[Profile], preemption_helps: bool) -> str:
    filtering = {
        plugin for profile in profiles for point in ("preFilter", "filter") for plugin in profile.points[point]
    }
    names = sorted({plugin.name for plugin in filtering if not plugin.defines("preempt")})
    is_without = bool(names) if profiles else offer.filter and not offer.preempt
    if preemption_helps or not is_without:
        return ""
    return (
        f"Rejections by {' and '.join(names) or 'plugins'} without a preempt hook are passed on as rejections that "
        "evicting pods cannot fix: kube-scheduler does not call filters while it plans an eviction. --preemption-helps "
        "passes UNSCHEDULABLE on unchanged."
    )


def _uncounted(offer: Offer, profiles: Sequence[Profile], is_watched: bool) -> str:
    """What a filter may miss that counts pods: those that kube-scheduler has chosen a node for and not bound yet."""
    names = counting_filters(profiles)
    if offer.bind or not is_watched or not names:
        return ""
    return (
        f"The filter of {' and '.join(names)} reads pods, and the extender does not bind. kube-scheduler asks about "
        "the next pod before the watch shows the node of the last one, so each filter call waits up to "
        f"{DECISION_SECONDS:g} s for that. A pod that takes longer to bind is not counted, and the limit can be "
        "exceeded. --bind shortens the wait; a reserve hook that checks again makes the limit exact."
    )


def _replicas(offer: Offer) -> str:
    if not offer.bind:
        return ""
    return (
        "bind: only the process that bound a pod counts it at once; another replica waits for "
        "the watch, and may assign the same device again. Let one process bind (one replica, or a sidecar "
        "of a kube-scheduler with leader election), or let a plugin read the API server in pre_bind."
    )


def _ignorable(offer: Offer, configuration: KubeSchedulerConfiguration, minor: int | None) -> str:
    if not offer.bind or not any(extender.ignorable for extender in configuration.extenders):
        return ""
    if minor is not None and minor >= _IGNORABLE_BIND_SINCE:
        return ""
    return f"{ignorable_bind_before(_IGNORABLE_BIND_SINCE)} [extender-ignorable-bind]"


def _openness(offer: Offer, is_open: bool) -> str:
    if not is_open:
        return ""
    what = "make it bind any pod to any node" if offer.bind else "call it"
    return (
        f"Every client that can reach this extender can {what}: it does not require a client certificate. Require one, "
        "of kube-scheduler's name: --client-ca-file (of manifests: --client-secret) and --client-cn."
    )
