"""Turns a complete configuration into plain values, as kube-scheduler writes it with --write-config-to.

Rule: kube-scheduler v1.36: merged plugin sets; arguments only of plugins that are built, by name; empty values left out
where upstream's types have `omitempty`.
"""

from collections.abc import Container, Mapping
from typing import Any, TypeAlias

import msgspec

from kubesched.config.defaults import ARGS_PLUGINS
from kubesched.config.known_since import later_fields
from kubesched.config.type_meta import API_VERSION, KIND
from kubesched.config.types import (
    ExtenderConfig,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginConfig,
    PluginSet,
)
from kubesched.release import Release

PlainValue: TypeAlias = "dict[str, PlainValue] | list[PlainValue] | str | int | float | bool | None"


def effective(configuration: KubeSchedulerConfiguration, release: Release) -> dict[str, PlainValue]:
    """The configuration as mappings with sorted keys, lists, texts, numbers and booleans; YAML and JSON can hold it.

    Args:
        release: the version that it was read for; fields of later versions are left out.
    """
    later = later_fields(release)
    plain = _plain(configuration)
    plain.update(apiVersion=API_VERSION, kind=KIND)
    plain["profiles"] = [_profile(profile, later) for profile in configuration.profiles]
    plain["extenders"] = [_extender(extender) for extender in configuration.extenders]
    for optional in ("extenders", "delayCacheUntilActive"):
        if not plain[optional]:
            del plain[optional]
    written: dict[str, PlainValue] = _as_written(plain)
    return written


def _plain(value: msgspec.Struct) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(value, enc_hook=str)
    return plain


def _profile(profile: KubeSchedulerProfile, later: Container[str]) -> dict[str, Any]:
    built = profile.plugins.enabled_names
    entries = sorted((e for e in profile.plugin_config if e.name in built), key=lambda entry: entry.name)
    sets = {point: _plugin_set(one) for point, one in profile.plugins.by_point().items() if point not in later}
    plain: dict[str, Any] = {
        "schedulerName": profile.scheduler_name,
        "plugins": sets,
        "pluginConfig": [{"name": entry.name, "args": _args(entry)} for entry in entries],
    }
    if not entries:
        del plain["pluginConfig"]
    if profile.percentage_of_nodes_to_score is not None:
        plain["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
    return plain


def _plugin_set(plugin_set: PluginSet) -> dict[str, Any]:
    return {key: entries for key, entries in _plain(plugin_set).items() if entries}


def _args(entry: PluginConfig) -> Any:
    if isinstance(entry.args, bytes):
        return msgspec.json.decode(entry.args)
    if entry.args is None:
        return None
    plain = _without_empty(_plain(entry.args))
    if entry.name in ARGS_PLUGINS:
        plain.update(apiVersion=API_VERSION, kind=f"{entry.name}Args")
    return plain


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_empty(entry) for key, entry in value.items() if entry not in (None, (), [], {}, "")}
    if isinstance(value, list | tuple):
        return [_without_empty(entry) for entry in value]
    return value


def _extender(extender: ExtenderConfig) -> dict[str, Any]:
    plain = _without_zero(_plain(extender))
    plain.update(urlPrefix=extender.url_prefix, httpTimeout=str(extender.http_timeout))
    plain["managedResources"] = [
        {"name": resource.name, **({"ignoredByScheduler": True} if resource.ignored_by_scheduler else {})}
        for resource in extender.managed_resources
    ]
    if extender.tls_config is not None:
        plain["tlsConfig"] = _without_zero(_plain(extender.tls_config))
    return plain if extender.managed_resources else {k: v for k, v in plain.items() if k != "managedResources"}


def _without_zero(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in plain.items() if value}


def _as_written(value: Any) -> Any:
    """Sorted keys, lists, and whole numbers without a point, as Go writes them."""
    if isinstance(value, dict):
        return {key: _as_written(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_as_written(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
