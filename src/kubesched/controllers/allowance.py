"""Disruption budgets while pods are evicted and placed: which evictions they allow now, and which never.

Rule: the eviction subresource of Kubernetes v1.36. An eviction needs an allowed disruption of the one budget that
selects the pod. A pod that more than one budget selects is never evicted. A pod that has not started yet is evicted at
once; so is one that is not ready, if the budget has its healthy pods or has the policy AlwaysAllow.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from kubesched.api import KubeObject, Pod, PodDisruptionBudget, rewritten
from kubesched.state import Budget, Budgets


class Allowance:
    """What the budgets still allow in one drain.

    Args:
        budgets: of the cluster, kept up to date.
        leaving: pods that are healthy as the budgets have it, and leave before the first eviction.

    Attributes:
        left: key of a budget -> its healthy pods beyond those that it needs, for those that were asked. So many
            evictions it allows now; none if the number is negative, as where pods are not ready.
    """

    def __init__(self, budgets: Budgets, leaving: Iterable[Pod] = ()) -> None:
        self.left: dict[str, int] = {}
        self._budgets = budgets
        self._asked: dict[str, Budget] = {}
        self._written: dict[str, int] = {}
        self._at_first: dict[str, int] = {}
        for pod in leaving:
            self.lose(pod)
        self._at_first |= self.left

    def first(self, key: str) -> int:
        """How many evictions a budget that selects one of the pods allowed at the beginning."""
        return max(0, self._at_first.get(key, 0))

    def selecting(self, pod: Pod) -> list[str]:
        """`namespace/name` of the budgets that select a pod."""
        return [budget.key for budget in self._of(pod)]

    def take(self, pod: Pod) -> bool:
        """Evict a pod, if the budgets allow it now."""
        budgets = self._of(pod)
        if not budgets or pod.status.phase == "Pending":
            return True
        if len(budgets) > 1:
            return False
        (budget,) = budgets
        if pod.condition("Ready") not in ("", "True") and _lets_unhealthy_go(budget.object):
            return True
        if self.left[budget.key] <= 0:
            return False
        self.left[budget.key] -= 1
        return True

    def lose(self, pod: Pod) -> tuple[str, ...]:
        """Count a pod that leaves although no budget was asked. Returns: the budgets that this breaks."""
        keys = self.selecting(pod)
        broken = tuple(key for key in keys if self.left[key] <= 0)
        for key in keys:
            self.left[key] -= 1
        return broken

    def give_back(self, pod: Pod) -> None:
        """Count a pod that was placed: it becomes ready."""
        for key in self.selecting(pod):
            self.left[key] += 1

    def changed(self) -> list[KubeObject]:
        """The budgets whose status is another one since the last call."""
        keys = [key for key, left in self.left.items() if self._written[key] != left]
        return [self._rewritten(key) for key in keys]

    def _of(self, pod: Pod) -> Sequence[Budget]:
        """The budgets that select a pod; each is counted from now on."""
        budgets = self._budgets.selecting(pod)
        for budget in budgets:
            if budget.key not in self.left:
                self._asked[budget.key] = budget
                self.left[budget.key] = self._written[budget.key] = self._at_first[budget.key] = _left(budget.object)
        return budgets

    def _rewritten(self, key: str) -> KubeObject:
        def count(document: dict[str, Any]) -> None:
            status = document["status"] = document.get("status") or {}
            status["currentHealthy"] = budget.status.current_healthy + self.left[key] - self._written[key]
            status["disruptionsAllowed"] = max(0, self.left[key])

        budget = self._asked[key].object
        after = rewritten(budget, count)
        self._written[key] = self.left[key]
        return after


def _left(budget: PodDisruptionBudget) -> int:
    """Rule: kube-controller-manager v1.36: disruptionsAllowed is currentHealthy - desiredHealthy, at least 0."""
    status = budget.status
    return status.disruptions_allowed or min(0, status.current_healthy - status.desired_healthy)


def _lets_unhealthy_go(budget: PodDisruptionBudget) -> bool:
    status = budget.status
    has_healthy = status.current_healthy >= status.desired_healthy > 0
    return has_healthy or budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
