"""KubeSchedulerConfiguration v1: types, upstream defaults, strict decoding, validation; older versions become v1."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.config.configuration_difference import (
        ChangeKind,
        FieldChange,
        differences,
        differences_from_defaults,
    )
    from kubesched.config.decode_args import ArgsTypes
    from kubesched.config.defaults import ARGS_PLUGINS, DEFAULT_PLUGINS, DEFAULT_SCHEDULER_NAME
    from kubesched.config.described_args import Argument, describe_args
    from kubesched.config.effective import PlainValue, effective
    from kubesched.config.feature_gates import check_feature_gates
    from kubesched.config.field_errors import (
        PLUGIN_LIKENESS,
        FieldError,
        bracketed,
        child,
        did_you_mean,
        item,
        qualified_name_errors,
        quoted,
    )
    from kubesched.config.findings import Finding, ReadingStage, error_finding, error_of, field_finding
    from kubesched.config.load import (
        Readable,
        load_args,
        load_configuration,
        read_text,
    )
    from kubesched.config.merge import merge_plugins
    from kubesched.config.parsed_text import parse_value
    from kubesched.config.plugin_args import PluginArgs
    from kubesched.config.rules import RULES
    from kubesched.config.scalars import Duration, Int32, Int64, parse_duration
    from kubesched.config.secrets import without_secrets
    from kubesched.config.sources import (
        REPLACED_FLAGS,
        ConfigSource,
        FieldFlag,
        Input,
        LocalFiles,
        find_sources,
        is_meant_as_configuration,
    )
    from kubesched.config.stages import Reading, ToV1, not_convertible, only_v1, read_stages
    from kubesched.config.strict import convert, select_known
    from kubesched.config.type_meta import (
        API_VERSION,
        FIRST_VERSION,
        GROUP,
        KIND,
        POLICY,
        advice_on_missing,
        is_bare_policy,
        policy_fields,
        take_type_meta,
    )
    from kubesched.config.types import (
        KUBE_SCHEDULER_LEASE,
        ClientConnectionConfiguration,
        ExtenderConfig,
        ExtenderManagedResource,
        ExtenderTLSConfig,
        KubeSchedulerConfiguration,
        KubeSchedulerProfile,
        LeaderElectionConfiguration,
        LeaderElectionFlags,
        PluginConfig,
        PluginEntry,
        Plugins,
        PluginSet,
        lease_name,
    )
    from kubesched.config.validation import managed_resource_errors, queue_sort_advice
    from kubesched.config.written import dig, entry_path, profile_document, written_entries

__all__ = [
    "API_VERSION",
    "ARGS_PLUGINS",
    "DEFAULT_PLUGINS",
    "DEFAULT_SCHEDULER_NAME",
    "FIRST_VERSION",
    "GROUP",
    "KIND",
    "KUBE_SCHEDULER_LEASE",
    "PLUGIN_LIKENESS",
    "POLICY",
    "REPLACED_FLAGS",
    "RULES",
    "ArgsTypes",
    "Argument",
    "ChangeKind",
    "ClientConnectionConfiguration",
    "ConfigSource",
    "Duration",
    "ExtenderConfig",
    "ExtenderManagedResource",
    "ExtenderTLSConfig",
    "FieldChange",
    "FieldError",
    "FieldFlag",
    "Finding",
    "Input",
    "Int32",
    "Int64",
    "KubeSchedulerConfiguration",
    "KubeSchedulerProfile",
    "LeaderElectionConfiguration",
    "LeaderElectionFlags",
    "LocalFiles",
    "PlainValue",
    "PluginArgs",
    "PluginConfig",
    "PluginEntry",
    "PluginSet",
    "Plugins",
    "Readable",
    "Reading",
    "ReadingStage",
    "ToV1",
    "advice_on_missing",
    "bracketed",
    "check_feature_gates",
    "child",
    "convert",
    "describe_args",
    "did_you_mean",
    "differences",
    "differences_from_defaults",
    "dig",
    "effective",
    "entry_path",
    "error_finding",
    "error_of",
    "field_finding",
    "find_sources",
    "is_bare_policy",
    "is_meant_as_configuration",
    "item",
    "lease_name",
    "load_args",
    "load_configuration",
    "managed_resource_errors",
    "merge_plugins",
    "not_convertible",
    "only_v1",
    "parse_duration",
    "parse_value",
    "policy_fields",
    "profile_document",
    "qualified_name_errors",
    "queue_sort_advice",
    "quoted",
    "read_stages",
    "read_text",
    "select_known",
    "take_type_meta",
    "without_secrets",
    "written_entries",
]
