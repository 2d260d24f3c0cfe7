"""KubeSchedulerConfiguration v1: types, upstream defaults, strict decoding, validation; older versions become v1."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.config.configuration_difference import (
        ChangeKind as ChangeKind,
        FieldChange as FieldChange,
        differences as differences,
        differences_from_defaults as differences_from_defaults,
    )
    from kubesched.config.decode_args import ArgsTypes as ArgsTypes
    from kubesched.config.defaults import (
        ARGS_PLUGINS as ARGS_PLUGINS,
        DEFAULT_PLUGINS as DEFAULT_PLUGINS,
        DEFAULT_SCHEDULER_NAME as DEFAULT_SCHEDULER_NAME,
        default_plugins as default_plugins,
        merge_plugins as merge_plugins,
    )
    from kubesched.config.described_args import Argument as Argument, describe_args as describe_args
    from kubesched.config.effective import PlainValue as PlainValue, effective as effective
    from kubesched.config.feature_gates import (
        read_feature_gates as read_feature_gates,
        without_effect as without_effect,
    )
    from kubesched.config.field_errors import (
        PLUGIN_LIKENESS as PLUGIN_LIKENESS,
        FieldError as FieldError,
        bracketed as bracketed,
        child as child,
        did_you_mean as did_you_mean,
        go_syntax as go_syntax,
        item as item,
        qualified_name_errors as qualified_name_errors,
        quoted as quoted,
    )
    from kubesched.config.finding_rules import (
        CLUSTER_RULES as CLUSTER_RULES,
        RULES as RULES,
        Severity as Severity,
        silencing_fault as silencing_fault,
    )
    from kubesched.config.findings import (
        Finding as Finding,
        ReadingStage as ReadingStage,
        error_finding as error_finding,
        error_of as error_of,
        field_finding as field_finding,
    )
    from kubesched.config.known_since import points_without_hook as points_without_hook
    from kubesched.config.load import (
        Readable as Readable,
        load_args as load_args,
        load_configuration as load_configuration,
        read_text as read_text,
    )
    from kubesched.config.parsed_text import parse_value as parse_value
    from kubesched.config.plugin_args import PluginArgs as PluginArgs
    from kubesched.config.scalars import (
        Duration as Duration,
        Int32 as Int32,
        Int64 as Int64,
        parse_duration as parse_duration,
    )
    from kubesched.config.secrets import without_secrets as without_secrets
    from kubesched.config.sources import (
        REPLACED_FLAGS as REPLACED_FLAGS,
        ConfigSource as ConfigSource,
        FieldFlag as FieldFlag,
        Input as Input,
        LocalFiles as LocalFiles,
        find_sources as find_sources,
        is_meant_as_configuration as is_meant_as_configuration,
    )
    from kubesched.config.stages import (
        Reading as Reading,
        ToV1 as ToV1,
        not_convertible as not_convertible,
        only_v1 as only_v1,
        read_stages as read_stages,
    )
    from kubesched.config.strict import convert as convert, select_known as select_known
    from kubesched.config.type_meta import (
        API_VERSION as API_VERSION,
        FIRST_VERSION as FIRST_VERSION,
        GROUP as GROUP,
        KIND as KIND,
        POLICY as POLICY,
        advice_on_missing as advice_on_missing,
        is_bare_policy as is_bare_policy,
        policy_fields as policy_fields,
        take_type_meta as take_type_meta,
    )
    from kubesched.config.types import (
        KUBE_SCHEDULER_LEASE as KUBE_SCHEDULER_LEASE,
        ClientConnectionConfiguration as ClientConnectionConfiguration,
        ExtenderConfig as ExtenderConfig,
        ExtenderManagedResource as ExtenderManagedResource,
        ExtenderTLSConfig as ExtenderTLSConfig,
        KubeSchedulerConfiguration as KubeSchedulerConfiguration,
        KubeSchedulerProfile as KubeSchedulerProfile,
        LeaderElectionConfiguration as LeaderElectionConfiguration,
        LeaderElectionFlags as LeaderElectionFlags,
        PluginConfig as PluginConfig,
        PluginEntry as PluginEntry,
        PluginSet as PluginSet,
        Plugins as Plugins,
        lease_name as lease_name,
    )
    from kubesched.config.validation import (
        managed_resource_errors as managed_resource_errors,
        queue_sort_advice as queue_sort_advice,
    )
    from kubesched.config.written import (
        dig as dig,
        entry_path as entry_path,
        profile_document as profile_document,
        written_entries as written_entries,
    )
