"""Scheduler configurations in the files that people have: ConfigMaps, workloads, Helm values, several documents."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.config.sources.find import find_sources as find_sources
    from kubesched.config.sources.flags import REPLACED_FLAGS as REPLACED_FLAGS, FieldFlag as FieldFlag
    from kubesched.config.sources.given_objects import Input as Input
    from kubesched.config.sources.recognition import is_meant_as_configuration as is_meant_as_configuration
    from kubesched.config.sources.schedulers import LocalFiles as LocalFiles
    from kubesched.config.sources.source import ConfigSource as ConfigSource
