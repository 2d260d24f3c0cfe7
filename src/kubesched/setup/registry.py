"""All plugins that a run knows: the in-tree ones, those of installed packages, and those that the user brings."""

from collections.abc import Iterable

from kubesched.errors import PluginDefinitionError
from kubesched.framework import Plugin, Registry
from kubesched.plugins import IN_TREE_PLUGINS

__all__ = ["PluginLike", "find_plugins"]

PluginLike = str | type[Plugin]
"""A plugin class, or where to find one: `FILE.py:Class` or `package.module:Class`."""


def find_plugins(plugins: Iterable[PluginLike] = ()) -> Registry:
    """Register the in-tree plugins, those of installed packages, and those that the user brings.

    Raises:
        PluginDefinitionError: a plugin that the user brings does not load or is none, or two have one name.
    """
    registry = Registry(IN_TREE_PLUGINS)
    registry.register_installed()
    for plugin in plugins:
        _register(plugin, registry)
    return registry


def _register(plugin: object, registry: Registry) -> None:
    if isinstance(plugin, str):
        registry.load(plugin)
    elif isinstance(plugin, type) and issubclass(plugin, Plugin):
        registry.register(plugin, plugin.__module__)
        registry.loaded.append(plugin.__name__)
    else:
        raise PluginDefinitionError(
            f"plugins: found {plugin!r:.80}; allowed are classes derived from kubesched.Plugin, FILE.py:Class and "
            "package.module:Class"
        )
