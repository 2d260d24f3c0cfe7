"""Merges a profile's plugin sets with the default ones.

Rule: kube-scheduler v1.36 mergePluginSet, applied to each extension point and to multiPoint on its own.
"""

import msgspec

from kubesched.config.types import Plugins, PluginSet


def merge_plugins(default: Plugins, custom: Plugins) -> Plugins:
    """Merge every set with its default."""
    return Plugins(
        **{
            field.name: merge_plugin_set(getattr(default, field.name), getattr(custom, field.name))
            for field in msgspec.structs.fields(Plugins)
        }
    )


def merge_plugin_set(default: PluginSet, custom: PluginSet) -> PluginSet:
    """Take the defaults that are not disabled, each replaced by the custom entry of its name; then the others.

    A name that is both enabled and disabled ends up enabled at the end. Of a name that is enabled twice, the last entry
    replaces the default and the other one stays: the profile's construction then refuses it.
    """
    last = {entry.name: i for i, entry in enumerate(custom.enabled)}
    disabled = custom.disabled_names
    kept = []
    used = set()
    for entry in () if "*" in disabled else default.enabled:
        if entry.name in disabled:
            continue
        if entry.name in last:
            used.add(last[entry.name])
            kept.append(custom.enabled[last[entry.name]])
        else:
            kept.append(entry)
    rest = [entry for i, entry in enumerate(custom.enabled) if i not in used]
    return PluginSet(enabled=(*kept, *rest), disabled=(*custom.disabled, *default.disabled))
