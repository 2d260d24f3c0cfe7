"""Says why a disruption budget allows no eviction, and which replica or field helps."""

from collections.abc import Iterable
from typing import Final

from kubesched.api import KubeObject, Pod, PodDisruptionBudget
from kubesched.documents import count, joined
from kubesched.state import Budget

_N_NAMED: Final = 3


def why_it_blocks(budget: PodDisruptionBudget, pods: Iterable[KubeObject]) -> tuple[str, str]:
    """Why a budget allows nothing, and what helps; both empty where its status does not show it.

    Rule: Kubernetes v1.36: as many pods may go as are healthy beyond desiredHealthy, which the disruption controller
    computes from minAvailable or maxUnavailable and from the replicas that the controllers of the pods want.

    Args:
        pods: of the cluster.
    """
    document = budget.document
    spec, status = document.get("spec") or {}, document.get("status") or {}
    most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
    mine = [pod for pod in pods if isinstance(pod, Pod) and not pod.is_finished and Budget(budget).selects(pod)]
    expected = int(status.get("expectedPods") or len(mine))
    desired, healthy = budget.status.desired_healthy or _desired(least, expected), budget.status.current_healthy
    if str(most).removesuffix("%") == "0":
        return f"maxUnavailable is {most}", "set maxUnavailable: 1"
    if least is not None and expected and desired >= expected:
        more = "run a second replica" if expected == 1 else f"run {count(expected + 1, 'replica')}"
        either = "" if str(least).endswith("%") else f"{more}, or "
        return f"minAvailable {least} of {count(expected, 'pod')}", f"{either}set maxUnavailable: 1 instead"
    if status and desired and healthy <= desired:
        sick = [pod.name for pod in mine if not _is_ready(pod)]
        who = joined(sick, _N_NAMED) or "more pods"
        return f"{healthy} of {count(expected, 'pod')} are healthy, {desired} have to be", f"get {who} ready first"
    return "", ""


def _desired(least: object, expected: int) -> int:
    """How many pods minAvailable wants; 0 where it is not a number or a percentage."""
    text = str(least)
    if text.removesuffix("%").isdecimal():
        return -(-int(text[:-1]) * expected // 100) if text.endswith("%") else int(text)
    return 0


def _is_ready(pod: Pod) -> bool:
    return any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ())
