"""Scheduler configurations in the files that people have: ConfigMaps, workloads, Helm values, several documents."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.config.sources.find import find_sources
    from kubesched.config.sources.flags import REPLACED_FLAGS, FieldFlag
    from kubesched.config.sources.given_objects import Input
    from kubesched.config.sources.recognition import is_meant_as_configuration
    from kubesched.config.sources.schedulers import LocalFiles
    from kubesched.config.sources.source import ConfigSource

__all__ = [
    "REPLACED_FLAGS",
    "ConfigSource",
    "FieldFlag",
    "Input",
    "LocalFiles",
    "find_sources",
    "is_meant_as_configuration",
]
