"""Builds ready profiles from a configuration and the user's plugins."""

from kubesched.setup.added_plugins import ArgsLike
from kubesched.setup.awaited import AwaitedRequests
from kubesched.setup.check import Checked, check_configuration
from kubesched.setup.comparison import comparable
from kubesched.setup.event_loop import EventLoop
from kubesched.setup.extender_calls import ExtenderCalls, answering_calls, without_bind
from kubesched.setup.older_versions import convert_text
from kubesched.setup.plugin_times import PluginTimes, timed_plugins
from kubesched.setup.registry import PluginLike, RegisteredPlugin, Registry, find_plugins
from kubesched.setup.setup import ConfigurationLike, Profiles, Setup, load_configuration, readers_of, set_up
from kubesched.setup.sources import read_source, read_sources

__all__ = [
    "ArgsLike",
    "AwaitedRequests",
    "Checked",
    "ConfigurationLike",
    "EventLoop",
    "ExtenderCalls",
    "PluginLike",
    "PluginTimes",
    "Profiles",
    "RegisteredPlugin",
    "Registry",
    "Setup",
    "answering_calls",
    "check_configuration",
    "comparable",
    "convert_text",
    "find_plugins",
    "load_configuration",
    "read_source",
    "read_sources",
    "readers_of",
    "set_up",
    "timed_plugins",
    "without_bind",
]
