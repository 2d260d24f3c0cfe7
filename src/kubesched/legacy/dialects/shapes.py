"""The fields of the older configuration versions, as types: what is checked before a document is converted."""

from typing import Any

import msgspec

from kubesched.config import Int32, Int64, Plugins, PluginSet


class _OldPart(msgspec.Struct, frozen=True, rename="camel"):
    """Base of the types of a document."""


class OldPlugins(Plugins, frozen=True):
    """The sets of v1, and `unreserve` of v1alpha1 and v1alpha2, which is part of `reserve` today."""

    unreserve: PluginSet = PluginSet()


class OldPluginConfig(_OldPart, frozen=True):
    """Arguments of a plugin; they are checked when v1 is decoded."""

    name: str = ""
    args: dict[str, Any] | None = None


class OldProfile(_OldPart, frozen=True):
    """A profile of v1alpha2 to v1beta3."""

    scheduler_name: str = ""
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: OldPlugins = OldPlugins()
    plugin_config: tuple[OldPluginConfig, ...] = ()


class OldConfiguration(_OldPart, frozen=True):
    """The fields of v1beta3, v1beta2, v1beta1 and v1alpha2; what is Any is checked when v1 is decoded."""

    parallelism: Any = None
    leader_election: dict[str, Any] = {}
    client_connection: Any = None
    enable_profiling: Any = None
    enable_contention_profiling: Any = None
    percentage_of_nodes_to_score: Any = None
    pod_initial_backoff_seconds: Any = None
    pod_max_backoff_seconds: Any = None
    profiles: tuple[OldProfile, ...] = ()
    extenders: Any = None
    delay_cache_until_active: Any = None
    healthz_bind_address: str = ""
    metrics_bind_address: str = ""
    disable_preemption: bool = False
    bind_timeout_seconds: Int64 | None = None


class PolicyFile(_OldPart, frozen=True):
    """A Policy in a file."""

    path: str = ""


class PolicyConfigMap(_OldPart, frozen=True):
    """A Policy in a ConfigMap."""

    namespace: str = ""
    name: str = ""


class PolicySource(_OldPart, frozen=True):
    """Where the Policy is."""

    file: PolicyFile | None = None
    config_map: PolicyConfigMap | None = None


class AlgorithmSource(_OldPart, frozen=True):
    """What decides: a named set of plugins, or a Policy."""

    provider: str | None = None
    policy: PolicySource | None = None


class V1Alpha1(OldConfiguration, frozen=True):
    """v1alpha1: one profile, written at the top level."""

    scheduler_name: str = ""
    algorithm_source: AlgorithmSource = AlgorithmSource()
    hard_pod_affinity_symmetric_weight: Int32 = 0
    plugins: OldPlugins = OldPlugins()
    plugin_config: tuple[OldPluginConfig, ...] = ()


class _LabelsPresence(_OldPart, frozen=True):
    labels: tuple[str, ...] = ()
    presence: bool = False


class _Labels(_OldPart, frozen=True):
    labels: tuple[str, ...] = ()


class PredicateArgument(_OldPart, frozen=True):
    """The argument of a predicate; exactly one field is given."""

    service_affinity: _Labels | None = None
    labels_presence: _LabelsPresence | None = None


class Predicate(_OldPart, frozen=True):
    """A predicate of a Policy."""

    name: str = ""
    argument: PredicateArgument | None = None


class _Label(_OldPart, frozen=True):
    label: str = ""
    presence: bool = False


class _ShapePoint(_OldPart, frozen=True):
    utilization: Int32 = 0
    score: Int32 = 0


class _RatioResource(_OldPart, frozen=True):
    name: str = ""
    weight: Int64 = 0


class RatioArguments(_OldPart, frozen=True):
    """Arguments of RequestedToCapacityRatio."""

    shape: tuple[_ShapePoint, ...] = ()
    resources: tuple[_RatioResource, ...] = ()


class PriorityArgument(_OldPart, frozen=True):
    """The argument of a priority; exactly one field is given."""

    service_anti_affinity: _Label | None = None
    label_preference: _Label | None = None
    requested_to_capacity_ratio_arguments: RatioArguments | None = None


class Priority(_OldPart, frozen=True):
    """A priority of a Policy."""

    name: str = ""
    weight: Int64 = 0
    argument: PriorityArgument | None = None


class _TLSConfig(_OldPart, frozen=True):
    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: str = ""
    key_data: str = ""
    ca_data: str = ""


class _ManagedResource(_OldPart, frozen=True):
    name: str = ""
    ignored_by_scheduler: bool = False


class LegacyExtender(_OldPart, frozen=True):
    """An extender of a Policy; `httpTimeout` is in nanoseconds."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = False
    tls_config: _TLSConfig | None = None
    http_timeout: Int64 = 0
    node_cache_capable: bool = False
    managed_resources: tuple[_ManagedResource, ...] = ()
    ignorable: bool = False


class Policy(_OldPart, frozen=True):
    """A Policy; None means that the list is absent, which is not the same as empty."""

    predicates: tuple[Predicate, ...] | None = None
    priorities: tuple[Priority, ...] | None = None
    extenders: tuple[LegacyExtender, ...] = ()
    hard_pod_affinity_symmetric_weight: Int32 = 0
    always_check_all_predicates: bool = False
