"""Disruption budgets while pods are evicted and placed: which evictions they allow now, and which never.

Rule: the eviction subresource of Kubernetes v1.36. An eviction needs an allowed disruption of the one budget that
selects the pod. A pod that more than one budget selects is never evicted. A pod that has not started yet is evicted at
once; so is one that is not ready, if the budget has its healthy pods or has the policy AlwaysAllow.
"""

from collections.abc import Callable, Iterable

import msgspec

from kubesched.api import KubeObject, Pod, PodDisruptionBudget, Selector, decode_object, parse_selector
from kubesched.errors import SelectorError


class Budgets:
    """The disruption budgets of a cluster, with their selectors parsed. They are matched once with equal labels."""

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._selectors: dict[str, dict[str, Selector]] = {}  # namespace -> key of the budget
        for one in objects:
            if isinstance(one, PodDisruptionBudget):
                self._selectors.setdefault(one.namespace, {})[one.key] = _parsed(one)
        self._found: dict[tuple[str, frozenset[tuple[str, str]]], tuple[str, ...]] = {}

    def of(self, pod: Pod) -> tuple[str, ...]:
        """`namespace/name` of the budgets that select a pod; a pod without labels has none."""
        selectors = self._selectors.get(pod.namespace) if pod.labels else None
        if not selectors:
            return ()
        known = (pod.namespace, frozenset(pod.labels.items()))
        found = self._found.get(known)
        if found is None:
            found = self._found[known] = tuple(key for key, one in selectors.items() if one.matches(pod.labels))
        return found


class Allowance:
    """What the budgets still allow in one drain.

    Args:
        find: a budget as it is now, by its key.
        leaving: pods that are healthy as the budgets have it, and leave before the first eviction.

    Attributes:
        left: key of a budget -> its healthy pods beyond those that it needs, for those that were asked. So many
            evictions it allows now; none if the number is negative, as where pods are not ready.
    """

    def __init__(self, budgets: Budgets, find: Callable[[str], KubeObject | None], leaving: Iterable[Pod] = ()) -> None:
        self.left: dict[str, int] = {}
        self._budgets = budgets
        self._find = find
        self._written: dict[str, int] = {}
        self._at_first: dict[str, int] = {}
        for pod in leaving:
            self.lose(pod)
        self._at_first |= self.left

    def first(self, key: str) -> int:
        """How many evictions a budget allowed at the beginning."""
        self._known(key)
        return max(0, self._at_first.get(key, 0))

    def take(self, pod: Pod) -> bool:
        """Evict a pod, if the budgets allow it now."""
        keys = self._budgets.of(pod)
        if not keys or _has_not_started(pod):
            return True
        if len(keys) > 1:
            return False
        (key,) = keys
        budget = self._known(key)
        if budget is None or (_is_not_ready(pod) and _lets_unhealthy_go(budget)):
            return True
        if self.left[key] <= 0:
            return False
        self.left[key] -= 1
        return True

    def lose(self, pod: Pod) -> tuple[str, ...]:
        """Count a pod that leaves although no budget was asked. Returns: the budgets that this breaks."""
        keys = [key for key in self._budgets.of(pod) if self._known(key) is not None]
        broken = tuple(key for key in keys if self.left[key] <= 0)
        for key in keys:
            self.left[key] -= 1
        return broken

    def give_back(self, pod: Pod) -> None:
        """Count a pod that was placed: it becomes ready."""
        for key in self._budgets.of(pod):
            if self._known(key) is not None:
                self.left[key] += 1

    def changed(self) -> list[KubeObject]:
        """The budgets whose status is another one since the last call."""
        keys = [key for key, left in self.left.items() if self._written[key] != left]
        return [self._rewritten(key) for key in keys]

    def _known(self, key: str) -> PodDisruptionBudget | None:
        budget = self._find(key)
        if not isinstance(budget, PodDisruptionBudget):
            return None
        if key not in self.left:
            self.left[key] = self._written[key] = self._at_first[key] = _left(budget)
        return budget

    def _rewritten(self, key: str) -> KubeObject:
        budget = self._find(key)
        assert isinstance(budget, PodDisruptionBudget)
        document = budget.document
        status = document["status"] = document.get("status") or {}
        status["currentHealthy"] = budget.status.current_healthy + self.left[key] - self._written[key]
        status["disruptionsAllowed"] = max(0, self.left[key])
        self._written[key] = self.left[key]
        return decode_object("PodDisruptionBudget", msgspec.json.encode(document))


def _parsed(budget: PodDisruptionBudget) -> Selector:
    try:
        return parse_selector(budget.spec.selector)
    except SelectorError:
        return Selector(nothing=True)


def _left(budget: PodDisruptionBudget) -> int:
    """Rule: kube-controller-manager v1.36: disruptionsAllowed is currentHealthy - desiredHealthy, at least 0."""
    status = budget.status
    return status.disruptions_allowed or min(0, status.current_healthy - status.desired_healthy)


def _has_not_started(pod: Pod) -> bool:
    return pod.status.phase == "Pending"


def _is_not_ready(pod: Pod) -> bool:
    return any(one.type == "Ready" and one.status != "True" for one in pod.status.conditions or ())


def _lets_unhealthy_go(budget: PodDisruptionBudget) -> bool:
    status = budget.status
    has_healthy = status.current_healthy >= status.desired_healthy > 0
    return has_healthy or budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
