"""Builds ready profiles from a configuration and the user's plugins."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.setup.added_plugins import ArgsLike as ArgsLike, enable_loaded as enable_loaded
    from kubesched.setup.awaited import AwaitedRequests as AwaitedRequests
    from kubesched.setup.comparable_setup import comparable as comparable
    from kubesched.setup.configuration_files import read_source as read_source, read_sources as read_sources
    from kubesched.setup.event_loop import EventLoop as EventLoop
    from kubesched.setup.expansion import expand_points as expand_points
    from kubesched.setup.extender_calls import ExtenderCalls as ExtenderCalls, without_bind as without_bind
    from kubesched.setup.older_versions import convert_text as convert_text, older_versions as older_versions
    from kubesched.setup.plugin_loading import FileRun as FileRun, file_run as file_run, module_of as module_of
    from kubesched.setup.plugin_times import PluginClock as PluginClock, PluginTimes as PluginTimes
    from kubesched.setup.profile_findings import profile_findings as profile_findings
    from kubesched.setup.registry import (
        IN_TREE as IN_TREE,
        PluginLike as PluginLike,
        RegisteredPlugin as RegisteredPlugin,
        Registry as Registry,
        find_plugins as find_plugins,
    )
    from kubesched.setup.setup import (
        ConfigurationLike as ConfigurationLike,
        Profiles as Profiles,
        Setup as Setup,
        load_configuration as load_configuration,
        readers_of as readers_of,
        set_up as set_up,
        set_up_in_any_version as set_up_in_any_version,
    )
