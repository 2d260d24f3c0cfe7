"""Namespaces, services, controllers, disruption budgets, priority classes and pod groups: what a scheduler reads."""

from kubesched.api.meta import KubeObject, Value
from kubesched.api.pod_fields import PodCondition
from kubesched.api.selectors import LabelSelector
from kubesched.api.well_known import ADMIN_ACCESS


class Namespace(KubeObject, frozen=True):
    """A namespace; affinity terms select them by labels."""

    @property
    def allows_admin_access(self) -> bool:
        """Whether claims may have admin access to devices."""
        return self.labels.get(ADMIN_ACCESS) == "true"


class PlainSelectorSpec(Value, frozen=True, gc=False):
    """A spec whose selector is a plain map of labels; null selects nothing."""

    selector: dict[str, str] | None = None


class Service(KubeObject, frozen=True):
    """A service; default topology spreading follows its selector."""

    spec: PlainSelectorSpec = PlainSelectorSpec()


class ReplicationControllerSpec(PlainSelectorSpec, frozen=True, gc=False):
    """spec of a ReplicationController."""

    replicas: int = 1


class ReplicationController(KubeObject, frozen=True):
    """The oldest controller of replicas."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec()

    @property
    def replicas(self) -> int:
        """How many pods it keeps."""
        return self.spec.replicas


class SelectorSpec(Value, frozen=True, gc=False):
    """A spec with a LabelSelector."""

    selector: LabelSelector | None = None


class ReplicaSetSpec(SelectorSpec, frozen=True, gc=False):
    """spec of a ReplicaSet."""

    replicas: int = 1


class ReplicaSet(KubeObject, frozen=True):
    """A set of replicas."""

    spec: ReplicaSetSpec = ReplicaSetSpec()

    @property
    def replicas(self) -> int:
        """How many pods it keeps."""
        return self.spec.replicas


class RollingUpdate(Value, frozen=True, gc=False):
    """How many pods a rolling update adds and takes away at a time: numbers or percentages of the replicas.

    `partition` is of StatefulSets: pods with smaller numbers are not updated.
    """

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    partition: int | None = None


class UpdateStrategy(Value, frozen=True, gc=False):
    """How a workload replaces its pods.

    Attributes:
        is_parallel: whether a StatefulSet creates and removes pods without waiting for the others:
            `podManagementPolicy: Parallel` of its spec.
    """

    type: str = ""
    rolling_update: RollingUpdate | None = None
    is_parallel: bool = False


class DeploymentSpec(Value, frozen=True, gc=False):
    """spec of a Deployment; its ReplicaSets have the replicas."""

    strategy: UpdateStrategy = UpdateStrategy()


class Deployment(KubeObject, frozen=True):
    """Replaces the pods of one ReplicaSet by those of another."""

    spec: DeploymentSpec = DeploymentSpec()


class StatefulSetOrdinals(Value, frozen=True, gc=False):
    """The numbers of a StatefulSet's pods."""

    start: int = 0


class StatefulSetSpec(SelectorSpec, frozen=True, gc=False):
    """spec of a StatefulSet."""

    ordinals: StatefulSetOrdinals = StatefulSetOrdinals()
    pod_management_policy: str = ""
    replicas: int = 1


class StatefulSet(KubeObject, frozen=True):
    """A set of replicas, each with its name and storage."""

    spec: StatefulSetSpec = StatefulSetSpec()

    @property
    def replicas(self) -> int:
        """How many pods it keeps."""
        return self.spec.replicas

    @property
    def is_parallel(self) -> bool:
        """Whether it creates and removes pods without waiting for the others."""
        return self.spec.pod_management_policy == "Parallel"


class ExitCodesPattern(Value, frozen=True, gc=False):
    """Which exit codes of containers a rule of a podFailurePolicy is about."""

    operator: str = ""
    values: tuple[int, ...] | None = None


class PodConditionPattern(Value, frozen=True, gc=False):
    """Which condition of a pod a rule of a podFailurePolicy is about."""

    type: str = ""
    status: str = "True"


class PodFailureRule(Value, frozen=True, gc=False):
    """What a Job does about a pod that failed in one way: FailJob, FailIndex, Ignore or Count."""

    action: str = ""
    on_exit_codes: ExitCodesPattern | None = None
    on_pod_conditions: tuple[PodConditionPattern, ...] | None = None


class PodFailurePolicy(Value, frozen=True, gc=False):
    """Rules of a Job about pods that failed; the first that fits counts."""

    rules: tuple[PodFailureRule, ...] | None = None


class JobSpec(Value, frozen=True, gc=False):
    """spec of a Job, as far as it decides whether a pod that failed is followed by a new one."""

    parallelism: int = 1
    completions: int | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    suspend: bool = False
    managed_by: str = ""
    pod_failure_policy: PodFailurePolicy | None = None
    pod_replacement_policy: str = ""
    active_deadline_seconds: int | None = None


class JobStatus(Value, frozen=True, gc=False):
    """status of a Job."""

    succeeded: int = 0
    failed: int = 0
    start_time: str | None = None
    conditions: tuple[PodCondition, ...] | None = None


class Job(KubeObject, frozen=True):
    """Runs pods until enough of them have succeeded, or too many have failed."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class DisruptionSpec(SelectorSpec, frozen=True, gc=False):
    """spec of a PodDisruptionBudget."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str = ""


class DisruptionStatus(Value, frozen=True, gc=False):
    """status of a PodDisruptionBudget."""

    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
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


class GangPolicy(Value, frozen=True, gc=False):
    """Places no pod of a group before so many of them can be placed."""

    min_count: int = 0


class GroupPolicy(Value, frozen=True, gc=False):
    """How the pods of a group are placed; without a gang one by one."""

    gang: GangPolicy | None = None


class PodGroupSpec(Value, frozen=True, gc=False):
    """spec of a PodGroup of Kubernetes."""

    scheduling_policy: GroupPolicy = GroupPolicy()


class PodGroup(KubeObject, frozen=True):
    """A group of pods, as Kubernetes v1.36 defines it in an alpha API; pods name theirs in spec.schedulingGroup."""

    spec: PodGroupSpec = PodGroupSpec()

    @property
    def minimum(self) -> int:
        """How many of its pods it needs at once; 0 where it does not have that."""
        gang = self.spec.scheduling_policy.gang
        return 0 if gang is None else gang.min_count


class MinMemberSpec(Value, frozen=True, gc=False):
    """spec of a PodGroup that is a custom resource."""

    min_member: int = 0


class CoschedulingPodGroup(KubeObject, frozen=True):
    """The PodGroup of the Coscheduling plugin in scheduler-plugins."""

    spec: MinMemberSpec = MinMemberSpec()

    @property
    def minimum(self) -> int:
        """How many of its pods it needs at once; 0 where it does not have that."""
        return self.spec.min_member


class VolcanoPodGroup(KubeObject, frozen=True):
    """The PodGroup of Volcano."""

    spec: MinMemberSpec = MinMemberSpec()

    @property
    def minimum(self) -> int:
        """How many of its pods it needs at once; 0 where it does not have that."""
        return self.spec.min_member
