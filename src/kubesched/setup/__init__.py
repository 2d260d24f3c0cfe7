"""Builds ready profiles from a configuration and the user's plugins."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.setup.added_plugins import ArgsLike, enable_loaded
    from kubesched.setup.awaited import AwaitedRequests
    from kubesched.setup.comparable_setup import comparable
    from kubesched.setup.event_loop import EventLoop
    from kubesched.setup.expansion import expand_points
    from kubesched.setup.extender_calls import ExtenderCalls, without_bind
    from kubesched.setup.older_versions import convert_text, older_versions
    from kubesched.setup.plugin_times import PluginTimes, timed_plugins
    from kubesched.setup.profile_findings import profile_findings
    from kubesched.setup.registry import IN_TREE, PluginLike, RegisteredPlugin, Registry, find_plugins
    from kubesched.setup.setup import ConfigurationLike, Profiles, Setup, load_configuration, readers_of, set_up
    from kubesched.setup.sources import read_source, read_sources

__all__ = [
    "IN_TREE",
    "ArgsLike",
    "AwaitedRequests",
    "ConfigurationLike",
    "EventLoop",
    "ExtenderCalls",
    "PluginLike",
    "PluginTimes",
    "Profiles",
    "RegisteredPlugin",
    "Registry",
    "Setup",
    "comparable",
    "convert_text",
    "enable_loaded",
    "expand_points",
    "find_plugins",
    "load_configuration",
    "older_versions",
    "profile_findings",
    "read_source",
    "read_sources",
    "readers_of",
    "set_up",
    "timed_plugins",
    "without_bind",
]
