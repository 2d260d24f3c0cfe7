"""KubeSchedulerConfiguration v1 as frozen structs, with upstream's names and defaults.

A value of these types that came from `load_configuration` is complete: defaults filled in, plugin sets merged with the
default ones, arguments typed and, for the in-tree kinds, valid.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from kubesched.config.plugin_args import PluginArgs
from kubesched.config.scalars import Duration, Int32, Int64
from kubesched.config.secrets import without_password


class _ConfigurationPart(msgspec.Struct, frozen=True, rename="camel"):
    """Base of the types of the configuration."""


class PluginEntry(_ConfigurationPart, frozen=True):
    """A plugin named in a list. The weight counts at score only; 0 means that no weight is given."""

    name: str = ""
    weight: Int32 = 0


class PluginSet(_ConfigurationPart, frozen=True):
    """What is enabled, in order, and disabled at one extension point; `*` in `disabled` means every default."""

    enabled: tuple[PluginEntry, ...] = ()
    disabled: tuple[PluginEntry, ...] = ()

    @property
    def enabled_names(self) -> tuple[str, ...]:
        """The enabled plugins by name."""
        return tuple(entry.name for entry in self.enabled)

    @property
    def disabled_names(self) -> frozenset[str]:
        """The disabled plugins by name, perhaps `*` among them."""
        return frozenset(entry.name for entry in self.disabled)


class Plugins(_ConfigurationPart, frozen=True):
    """The plugin sets of a profile, one for each extension point; `multi_point` means all that a plugin implements."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()

    def by_point(self) -> dict[str, PluginSet]:
        """The sets by extension point as files spell it (`preFilter`), `multiPoint` last."""
        return {point: getattr(self, attribute) for point, attribute in _POINTS}

    def changed(self, change: Callable[[str, PluginSet], PluginSet]) -> "Plugins":
        """The sets that a function makes of an extension point and its set."""
        return Plugins(**{attribute: change(point, getattr(self, attribute)) for point, attribute in _POINTS})

    @property
    def enabled_names(self) -> frozenset[str]:
        """Every plugin that some set enables: the ones that have to be built."""
        return frozenset(name for plugin_set in self.by_point().values() for name in plugin_set.enabled_names)


_POINTS: Final = tuple((field.encode_name, field.name) for field in msgspec.structs.fields(Plugins))


class PluginConfig(_ConfigurationPart, frozen=True):
    """Arguments of one plugin.

    Attributes:
        args: typed arguments; for a plugin that is not registered, or an in-tree one without arguments, the JSON as
            given; None where nothing was given for such a plugin.
    """

    name: str = ""
    args: PluginArgs | bytes | None = None


class KubeSchedulerProfile(_ConfigurationPart, frozen=True):
    """One scheduler name with its plugins and their arguments.

    Attributes:
        percentage_of_nodes_to_score: overrides the global value; 0 means adaptive there, None means the global value.
        plugin_config: entries of the file in its order, then defaults of other plugins by name.
    """

    scheduler_name: str = ""
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class ExtenderManagedResource(_ConfigurationPart, frozen=True):
    """An extended resource that an extender manages; `ignored_by_scheduler` makes NodeResourcesFit ignore it."""

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(_ConfigurationPart, frozen=True):
    """How to reach an extender by HTTPS; data wins over files."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


class ExtenderConfig(_ConfigurationPart, frozen=True):
    """An HTTP extender that the scheduler calls; an empty verb means that it does not do that.

    Attributes:
        http_timeout: 0 means 5 seconds.
    """

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Duration = Duration(0)
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False

    @property
    def shown_url(self) -> str:
        """UrlPrefix for messages and metrics: without a password."""
        return without_password(self.url_prefix)


KUBE_SCHEDULER_LEASE: Final = ("kube-system", "kube-scheduler")
"""Namespace and name of kube-scheduler's default Lease."""


class LeaderElectionConfiguration(_ConfigurationPart, frozen=True):
    """Which replica schedules. A zero duration or an empty text in the file means the default."""

    leader_elect: bool = True
    lease_duration: Duration = Duration(15)
    renew_deadline: Duration = Duration(10)
    retry_period: Duration = Duration(2)
    resource_lock: str = "leases"
    resource_name: str = KUBE_SCHEDULER_LEASE[1]
    resource_namespace: str = KUBE_SCHEDULER_LEASE[0]


def lease_name(*, replaces: bool = False) -> str:
    """The Lease of a scheduler that kubesched runs, where nothing else names one.

    It is not kube-scheduler's. Only one holder of a Lease schedules. With kube-scheduler's name, a kubesched that runs
    beside kube-scheduler under another scheduler name would wait forever, or kube-scheduler would after its next
    restart. To replace kube-scheduler, this exclusion is right.

    Args:
        replaces: whether it is to replace kube-scheduler.
    """
    return KUBE_SCHEDULER_LEASE[1] if replaces else "kubesched"


class LeaderElectionFlags(msgspec.Struct, frozen=True, kw_only=True):
    """What a command line says about leader election.

    Attributes:
        resource_name: the name of the Lease if neither the file nor `given` has one; kube-scheduler's if empty.
        given: fields of LeaderElectionConfiguration that replace those of the file.
    Rule: kube-scheduler v1.36: flags that are given replace the file's fields before the configuration is validated.
    """

    resource_name: str = ""
    given: Mapping[str, Any] = msgspec.field(default_factory=dict)

    def replaced_by(self, other: "LeaderElectionFlags") -> "LeaderElectionFlags":
        """The flags of two command lines; those of the other one count first."""
        return LeaderElectionFlags(
            resource_name=other.resource_name or self.resource_name, given={**self.given, **other.given}
        )

    def source(self, field: str) -> str:
        """Where a field of LeaderElectionConfiguration has its value from if a flag gives it; else "".

        Example:
            flags = LeaderElectionFlags(given={"leader_elect": False, "retry_period": Duration(1)})
            assert flags.source("leader_elect") == "--leader-elect"
            assert flags.source("retry_period") == "--leader-elect-retry-period"
        """
        if field not in self.given:
            return ""
        return "--leader-elect" if field == "leader_elect" else f"--leader-elect-{field.replace('_', '-')}"


class ClientConnectionConfiguration(_ConfigurationPart, frozen=True):
    """How to reach the API server. A zero rate, or an empty content type, in the file means the default.

    Attributes:
        qps: requests per second, negative for no limit, which is our default; kube-scheduler's is 50.
        burst: how many may go out at once.
    """

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: float = -1
    burst: Int32 = 100


class KubeSchedulerConfiguration(_ConfigurationPart, frozen=True):
    """The configuration of a scheduler process.

    Attributes:
        percentage_of_nodes_to_score: 0 is kube-scheduler's adaptive sampling; kubesched then looks at every node.
    """

    parallelism: Int32 = 16
    leader_election: LeaderElectionConfiguration = LeaderElectionConfiguration()
    client_connection: ClientConnectionConfiguration = ClientConnectionConfiguration()
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[KubeSchedulerProfile, ...] = ()
    extenders: tuple[ExtenderConfig, ...] = ()
    delay_cache_until_active: bool = False
