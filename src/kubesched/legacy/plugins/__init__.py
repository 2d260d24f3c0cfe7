"""Plugins that kube-scheduler no longer has, for configurations that still name them; one file each.

Rule: kube-scheduler v1.20, the last line in which all of them exist, unless a plugin's file gives another version. None
is in a default profile.
"""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.legacy.plugins.by_name import LEGACY_PLUGINS as LEGACY_PLUGINS, legacy_plugin as legacy_plugin
