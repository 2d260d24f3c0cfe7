"""Says why a disruption budget allows no eviction, and which replica or field helps."""

from collections.abc import Iterable
from typing import Final

from kubesched.api import Pod, PodDisruptionBudget
from kubesched.documents import count, joined
from kubesched.state import Budget

_N_NAMED: Final = 3
_MOST_REPLICAS: Final = 4  # times as many as now, to run more of which is not a way out


def why_it_blocks(budget: PodDisruptionBudget, pods: Iterable[Pod]) -> tuple[str, str]:
    """Why a budget allows nothing, and what helps; both empty where its status does not show it.

    Rule: Kubernetes v1.36: as many pods may go as are healthy beyond desiredHealthy, which the disruption controller
    computes from minAvailable or maxUnavailable and from the replicas that the controllers of the pods want.

    Args:
        pods: of its namespace, without finished ones.
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
        more = "run a second replica, or " if enough == 2 else f"run {count(enough, 'replica')}, or " if enough else ""
        return f"{_least(least, expected)} of {count(expected, 'pod')}", f"{more}set maxUnavailable: 1 instead"
    if status.desired_healthy and healthy <= desired:
        sick = [pod.name for pod in mine if not _is_ready(pod)]
        who = joined(sick, _N_NAMED) or "more pods"
        return f"{healthy} of {count(expected, 'pod')} are healthy, {desired} have to be", f"get {who} ready first"
    return "", ""


def _least(least: object, expected: int) -> str:
    """The field minAvailable as it is written; a percentage also as the number that it is rounded up to."""
    is_rounded = str(least).endswith("%") and str(least) != "100%"
    rounded = f", rounded up to {_desired(least, expected)}," if is_rounded else ""
    return f"minAvailable {least}{rounded}"


def _desired(least: object, expected: int) -> int:
    """How many pods minAvailable wants; 0 where it is not a number or a percentage."""
    text = str(least)
    if text.removesuffix("%").isdecimal():
        return -(-int(text[:-1]) * expected // 100) if text.endswith("%") else int(text)
    return 0


def _is_ready(pod: Pod) -> bool:
    return any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ())
