"""Says why a disruption budget allows no eviction, and which replica or field helps."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from kubesched.api import Pod, PodDisruptionBudget, int_or_percent, rewritten
from kubesched.documents import count, joined
from kubesched.state import Budget

_N_NAMED: Final = 3
_TWO: Final = 2
_ALWAYS: Final = "AlwaysAllow"
_MOST_REPLICAS: Final = 4  # times as many as now, to run more of which is not a way out


def why_it_blocks(
    budget: PodDisruptionBudget, pods: Iterable[Pod], leaving: Collection[str] | None = None
) -> tuple[str, str]:
    """Why a budget allows nothing, and what helps; both empty where its status does not show it.

    Rule: Kubernetes v1.36: as many pods may go as are healthy beyond desiredHealthy, which the disruption controller
    computes from minAvailable or maxUnavailable and from the replicas that the controllers of the pods want.

    Args:
        pods: of its namespace, without finished ones.
        leaving: `namespace/name` of those that are to be evicted; None for any.
    """
    status = budget.status
    most, least = budget.spec.max_unavailable, budget.spec.min_available
    selects = Budget(budget).selects
    mine = [pod for pod in pods if selects(pod)]
    expected = status.expected_pods or len(mine)
    desired, healthy = status.desired_healthy or _desired(least, expected), status.current_healthy
    if str(most).removesuffix("%") == "0":
        return f"maxUnavailable is {most}", "set maxUnavailable: 1"
    if least is not None and expected and desired >= expected:
        enough = next((n for n in range(expected + 1, _MOST_REPLICAS * expected + 1) if _desired(least, n) < n), 0)
        way = "set maxUnavailable: 1 instead"  # which costs nothing, but takes a single replica away
        if enough:
            run = "run a second replica" if enough == _TWO else f"run {count(enough, 'replica')}"
            way = f"{run}, or {way}" if expected == 1 else f"{way}, or {run}"
        return f"{_least(least, expected)} of {count(expected, 'pod')}", way
    if status.desired_healthy and healthy <= desired:
        unready = [pod for pod in mine if pod.condition("Ready") != "True"]
        sick = [pod.name for pod in unready]
        n = desired + 1 - healthy
        who = f"{f'{n} of ' if n < len(sick) else ''}{joined(sick, _N_NAMED)}" if sick else "more pods"
        said = f"{healthy} of {count(expected, 'pod')} are healthy, {desired} have to be"
        return said, _readied(budget, who, [pod for pod in unready if leaving is None or pod.key in leaving])
    return "", ""


def _readied(budget: PodDisruptionBudget, who: str, unready: Sequence[Pod]) -> str:
    """What lets pods of a budget go of which some are not ready.

    Args:
        unready: those of the pods that are to be evicted.

    Rule: Kubernetes v1.36: with AlwaysAllow, a pod that is not ready may be evicted whatever the budget needs.
    """
    is_set = budget.spec.unhealthy_pod_eviction_policy == _ALWAYS
    helps = not is_set and any(pod.node_name for pod in unready)
    policy = f", or set unhealthyPodEvictionPolicy: {_ALWAYS} to evict those that are not ready" if helps else ""
    return f"get {who} ready first{policy}"


def why_several_block(keys: Collection[str]) -> tuple[str, str]:
    """Why budgets that select the same pod allow no eviction of it, and what helps.

    Rule: the eviction subresource of Kubernetes v1.36 fails for a pod that several budgets select.
    """
    fix = f"delete {'one' if len(keys) == _TWO else 'all but one'} of {joined(keys, _N_NAMED)}"
    return "a pod that several budgets select cannot be evicted", fix


def with_status(budget: PodDisruptionBudget, pods: Iterable[Pod]) -> PodDisruptionBudget:
    """The budget with the status that the disruption controller gives it where these pods are all that are wanted.

    Args:
        pods: as for `why_it_blocks`; those with a node are healthy, unless they are not ready.
    """
    mine = [pod for pod in pods if Budget(budget).selects(pod)]
    most, expected = budget.spec.max_unavailable, len(mine)
    desired = _desired(budget.spec.min_available, expected) if most is None else expected - _desired(most, expected)
    healthy = sum(bool(pod.node_name) and pod.condition("Ready") in ("", "True") for pod in mine)
    counts = {"currentHealthy": healthy, "desiredHealthy": max(0, desired), "expectedPods": expected}
    allowed = max(0, healthy - counts["desiredHealthy"])
    return rewritten(budget, lambda document: document.update(status=counts | {"disruptionsAllowed": allowed}))


def _least(least: object, expected: int) -> str:
    """The field minAvailable as it is written; a percentage also as the number that it is rounded up to."""
    is_rounded = str(least).endswith("%") and str(least) != "100%"
    rounded = f", rounded up to {_desired(least, expected)}," if is_rounded else ""
    return f"minAvailable {least}{rounded}"


def _desired(least: object, expected: int) -> int:
    """How many pods minAvailable wants; 0 where it is not a number or a percentage."""
    return int_or_percent(least, expected) or 0
