"""Scheduler configurations in the files that people have: ConfigMaps, workloads, Helm values, several documents."""

from kubesched.config.sources.find import Input, find_sources
from kubesched.config.sources.source import ConfigSource

__all__ = ["ConfigSource", "Input", "find_sources"]
