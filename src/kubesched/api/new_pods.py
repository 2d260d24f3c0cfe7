"""What an API server and its controllers follow when they create pods: classes, defaults, limits, quotas, scales."""

from kubesched.api.meta import KubeObject, Value
from kubesched.api.pod_fields import Quantities, Toleration


class Overhead(Value, frozen=True):
    """overhead of a RuntimeClass."""

    pod_fixed: Quantities | None = None


class RuntimeScheduling(Value, frozen=True):
    """scheduling of a RuntimeClass."""

    node_selector: dict[str, str] | None = None
    tolerations: tuple[Toleration, ...] | None = None


class RuntimeClass(KubeObject, frozen=True):
    """A container runtime. An API server adds what it has to the pods that name it."""

    overhead: Overhead | None = None
    scheduling: RuntimeScheduling | None = None


class Limit(Value, frozen=True):
    """One item of spec.limits of a LimitRange; `type` is Container, Pod or PersistentVolumeClaim."""

    type: str = ""
    default: Quantities | None = None
    default_request: Quantities | None = None
    min: Quantities | None = None
    max: Quantities | None = None
    max_limit_request_ratio: Quantities | None = None


class LimitRangeSpec(Value, frozen=True):
    """spec of a LimitRange."""

    limits: tuple[Limit, ...] | None = None


class LimitRange(KubeObject, frozen=True):
    """Defaults and bounds for what the new pods of a namespace request."""

    spec: LimitRangeSpec = LimitRangeSpec()


class ScopeRequirement(Value, frozen=True):
    """One term of the scopeSelector of a ResourceQuota."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class ScopeSelector(Value, frozen=True):
    """scopeSelector of a ResourceQuota."""

    match_expressions: tuple[ScopeRequirement, ...] | None = None


class ResourceQuotaSpec(Value, frozen=True):
    """spec of a ResourceQuota."""

    hard: Quantities | None = None
    scopes: tuple[str, ...] | None = None
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Value, frozen=True):
    """status of a ResourceQuota."""

    hard: Quantities | None = None
    used: Quantities | None = None


class ResourceQuota(KubeObject, frozen=True):
    """How much the pods of a namespace may request together."""

    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class ScaleTarget(Value, frozen=True, gc=False):
    """scaleTargetRef of a HorizontalPodAutoscaler."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class AutoscalerSpec(Value, frozen=True, gc=False):
    """spec of a HorizontalPodAutoscaler; every version of the API has these fields."""

    scale_target_ref: ScaleTarget = ScaleTarget()
    min_replicas: int | None = None
    max_replicas: int = 0


class AutoscalerStatus(Value, frozen=True, gc=False):
    """status of a HorizontalPodAutoscaler."""

    desired_replicas: int = 0


class HorizontalPodAutoscaler(KubeObject, frozen=True):
    """Sets the number of a workload's replicas."""

    spec: AutoscalerSpec = AutoscalerSpec()
    status: AutoscalerStatus = AutoscalerStatus()
