"""Namespaces, services, controllers, disruption budgets and priority classes, as far as a scheduler reads them."""

from kubesched.api.meta import KubeObject, Value
from kubesched.api.selectors import LabelSelector


class Namespace(KubeObject, frozen=True):
    """A namespace; affinity terms select them by labels."""


class PlainSelectorSpec(Value, frozen=True, gc=False):
    """A spec whose selector is a plain map of labels; null selects nothing."""

    selector: dict[str, str] | None = None


class Service(KubeObject, frozen=True):
    """A service; default topology spreading follows its selector."""

    spec: PlainSelectorSpec = PlainSelectorSpec()


class ReplicationController(KubeObject, frozen=True):
    """The oldest controller of replicas."""

    spec: PlainSelectorSpec = PlainSelectorSpec()


class SelectorSpec(Value, frozen=True, gc=False):
    """A spec with a LabelSelector."""

    selector: LabelSelector | None = None


class ReplicaSet(KubeObject, frozen=True):
    """A set of replicas."""

    spec: SelectorSpec = SelectorSpec()


class StatefulSet(KubeObject, frozen=True):
    """A set of replicas, each with its name and storage."""

    spec: SelectorSpec = SelectorSpec()


class DisruptionSpec(SelectorSpec, frozen=True, gc=False):
    """spec of a PodDisruptionBudget."""

    unhealthy_pod_eviction_policy: str = ""


class DisruptionStatus(Value, frozen=True, gc=False):
    """status of a PodDisruptionBudget."""

    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    disrupted_pods: dict[str, str | None] | None = None


class PodDisruptionBudget(KubeObject, frozen=True):
    """How many of the selected pods may be evicted now."""

    spec: DisruptionSpec = DisruptionSpec()
    status: DisruptionStatus = DisruptionStatus()


class PriorityClass(KubeObject, frozen=True):
    """A named priority."""

    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None
