"""PodDisruptionBudgets by namespace, their selectors parsed once: which pods count against which budget."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from kubesched.api import KubeObject, LabelSelector, Pod, PodDisruptionBudget, Selector, parse_selector
from kubesched.errors import SelectorError
from kubesched.state.objects import ObjectStore
from kubesched.state.pod_info import Identity, PodInfo

_MAX_ASKED: Final = 10_000


class Budget:
    """A PodDisruptionBudget with its selector parsed.

    Attributes:
        key: `namespace/name`.
        object: as the cluster has it.
        allowed: evictions that it still allows.
        disrupted: names of pods that it counts as gone already.
    """

    __slots__ = ("_namespace", "_selector", "allowed", "disrupted", "key", "object")

    def __init__(self, budget: PodDisruptionBudget) -> None:
        self.key = budget.key
        self._namespace = budget.namespace
        self._selector = _parsed(budget.spec.selector)
        self.read_status(budget)

    def read_status(self, budget: PodDisruptionBudget) -> None:
        """Take over the status, which changes with every pod; the selector stays."""
        self.object = budget
        self.allowed = budget.status.disruptions_allowed
        self.disrupted = frozenset(budget.status.disrupted_pods or ())

    def selects(self, pod: Pod | Identity) -> bool:
        """Whether the eviction of a pod asks the budget.

        Rule: the eviction subresource of Kubernetes v1.36: a pod without labels has no budget, and an empty selector
        selects all others of the namespace.
        """
        return pod.namespace == self._namespace and bool(pod.labels) and self._selector.matches(pod.labels)

    def protects(self, pod: Identity) -> bool:
        """Whether a preemption of such a pod counts against the budget.

        Rule: kube-scheduler v1.36: an empty selector selects no pod.
        """
        return not self._selector.is_empty and self.selects(pod)


class Budgets:
    """All budgets, kept up to date with the objects: for preemption and for evictions."""

    def __init__(self, objects: ObjectStore) -> None:
        self._budgets: dict[str, dict[str, Budget]] = {}  # namespace -> name -> budget
        self._asked: dict[tuple[str, frozenset[tuple[str, str]]], tuple[Budget, ...]] = {}  # by namespace and labels
        objects.listen("PodDisruptionBudget", self._changed, keeps_order=True)

    def __bool__(self) -> bool:
        return bool(self._budgets)

    def of(self, namespace: str) -> Iterable[Budget]:
        """The budgets of a namespace."""
        return self._budgets.get(namespace, {}).values()

    def selecting(self, pod: Pod) -> tuple[Budget, ...]:
        """The budgets that an eviction of a pod asks. They match equal labels once, until a selector changes."""
        if not pod.labels or pod.namespace not in self._budgets:
            return ()
        key = (pod.namespace, frozenset(pod.labels.items()))
        selecting = self._asked.get(key)
        if selecting is None:
            if len(self._asked) == _MAX_ASKED:
                del self._asked[next(iter(self._asked))]
            selecting = self._asked[key] = tuple(budget for budget in self.of(pod.namespace) if budget.selects(pod))
        return selecting

    def broken_by(self, evicted: Iterable[PodInfo]) -> tuple[str, ...]:
        """`namespace/name` of the budgets that count more of these pods than they still allow to evict, sorted."""
        counted = Counter(
            budget
            for info in evicted
            for budget in self.of(info.pod.namespace)
            if budget.protects(info.identity.value) and info.pod.name not in budget.disrupted
        )
        return tuple(sorted(budget.key for budget, n in counted.items() if n > budget.allowed))

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if isinstance(new, PodDisruptionBudget):
            here = self._budgets.setdefault(new.namespace, {})
            if isinstance(old, PodDisruptionBudget) and old.spec == new.spec:
                here[new.name].read_status(new)
                return
            here[new.name] = Budget(new)
        elif old is not None:
            here = self._budgets[old.namespace]
            del here[old.name]
            if not here:
                del self._budgets[old.namespace]
        self._asked.clear()


def _parsed(selector: LabelSelector | None) -> Selector:
    try:
        return parse_selector(selector)
    except SelectorError:
        return Selector(nothing=True)
