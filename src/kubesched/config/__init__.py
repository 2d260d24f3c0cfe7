"""KubeSchedulerConfiguration v1: types, upstream defaults, strict decoding, validation."""

from kubesched.config.args import PluginArgs
from kubesched.config.field_errors import FieldError, child, config_error, did_you_mean, item, joined, quoted
from kubesched.config.names import qualified_name_errors
from kubesched.config.scalars import Duration, Int32, Int64, parse_duration

__all__ = [
    "Duration",
    "FieldError",
    "Int32",
    "Int64",
    "PluginArgs",
    "child",
    "config_error",
    "did_you_mean",
    "item",
    "joined",
    "parse_duration",
    "qualified_name_errors",
    "quoted",
]
