"""KubeSchedulerConfiguration v1: types, upstream defaults, strict decoding, validation; older versions become v1."""

from kubesched.config.args import PluginArgs
from kubesched.config.decode_args import ArgsTypes
from kubesched.config.defaults import ARGS_PLUGINS, DEFAULT_PLUGINS, DEFAULT_SCHEDULER_NAME
from kubesched.config.dialects import Conversion, Notice
from kubesched.config.difference import Change, ChangeKind, differences, differences_from_defaults
from kubesched.config.effective import PlainValue, effective
from kubesched.config.feature_gates import check_feature_gates
from kubesched.config.field_errors import (
    FieldError,
    child,
    config_error,
    did_you_mean,
    item,
    joined,
    qualified_name_errors,
    quoted,
)
from kubesched.config.load import (
    OlderVersions,
    Readable,
    convert_configuration,
    load_args,
    load_configuration,
    read_text,
)
from kubesched.config.scalars import Duration, Int32, Int64, parse_duration
from kubesched.config.sources import ConfigSource, Input, LocalFiles, find_sources
from kubesched.config.types import (
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
)
from kubesched.config.validation import managed_resource_errors

__all__ = [
    "ARGS_PLUGINS",
    "DEFAULT_PLUGINS",
    "DEFAULT_SCHEDULER_NAME",
    "ArgsTypes",
    "Change",
    "ChangeKind",
    "ClientConnectionConfiguration",
    "ConfigSource",
    "Conversion",
    "Duration",
    "ExtenderConfig",
    "ExtenderManagedResource",
    "ExtenderTLSConfig",
    "FieldError",
    "Input",
    "Int32",
    "Int64",
    "KubeSchedulerConfiguration",
    "KubeSchedulerProfile",
    "LeaderElectionConfiguration",
    "LeaderElectionFlags",
    "LocalFiles",
    "Notice",
    "OlderVersions",
    "PlainValue",
    "PluginArgs",
    "PluginConfig",
    "PluginEntry",
    "PluginSet",
    "Plugins",
    "Readable",
    "check_feature_gates",
    "child",
    "config_error",
    "convert_configuration",
    "did_you_mean",
    "differences",
    "differences_from_defaults",
    "effective",
    "find_sources",
    "item",
    "joined",
    "load_args",
    "load_configuration",
    "managed_resource_errors",
    "parse_duration",
    "qualified_name_errors",
    "quoted",
    "read_text",
]
