"""All plugins by name and origin: in-tree, bundled, legacy, from a file or module, from an installed package."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import msgspec

from kubesched.config import PLUGIN_LIKENESS, PluginArgs, did_you_mean, points_without_hook, read_feature_gates
from kubesched.errors import PluginDefinitionError
from kubesched.framework import Plugin
from kubesched.legacy import LEGACY_PLUGINS, legacy_plugin
from kubesched.plugins import in_tree_plugins
from kubesched.release import DEFAULT_RELEASE, RELEASES, Release
from kubesched.setup.plugin_loading import check_takes_part, find_class, import_module, run_file

ENTRY_POINT_GROUP: Final = "kubesched.plugins"
"""The group under which packages announce their plugins."""
IN_TREE: Final = "in-tree"
"""The origin of kube-scheduler's own plugins."""
LEGACY: Final = "legacy"
"""The origin of plugins that kube-scheduler had in earlier versions."""

BUNDLED: Final = "bundled"
"""The origin of plugins that kubesched has and kube-scheduler never had."""

BUNDLED_PLUGINS: Final = {"NodeUsage": "kubesched.usage"}
"""Name of each bundled plugin -> its module, which is imported when something names the plugin."""

PluginLike = str | type[Plugin]
"""A plugin class, or where to find one: `FILE.py:Class` or `package.module:Class`."""


def find_plugins(
    plugins: Iterable[PluginLike] = (), *, legacy: bool = True, release: Release = DEFAULT_RELEASE
) -> "Registry":
    """Register the in-tree, bundled and legacy plugins, those of installed packages, and those that the user brings.

    Args:
        legacy: without the bundled and the legacy plugins, a configuration is judged as kube-scheduler judges it.
        release: the version whose in-tree plugins there are.
    Raises:
        ConfigError: the version does not take a feature gate of the release, or kubesched has no rules for it.
        PluginDefinitionError: a plugin that the user brings does not load or is none, or two have one name.
    """
    read_feature_gates((f"{name}={is_on}" for name, is_on in release.gates), release)
    registry = Registry(in_tree_plugins(release), release)
    if legacy:
        registry.register_bundled()
        registry.register_legacy()
    registry.register_installed()
    for plugin in [plugins] if isinstance(plugins, str) else plugins:
        _register(plugin, registry)
    return registry


def _register(plugin: object, registry: "Registry") -> None:
    if isinstance(plugin, str):
        registry.load(plugin)
    elif isinstance(plugin, type) and issubclass(plugin, Plugin):
        registry.register(plugin, plugin.__module__)
        registry.loaded.append(plugin.name)
    else:
        raise PluginDefinitionError(
            f"plugins: found {plugin!r:.80}; expected a subclass of kubesched.Plugin, FILE.py:Class or "
            "package.module:Class"
        )


class RegisteredPlugin(msgspec.Struct, frozen=True, eq=False):
    """A plugin that configurations may name.

    Attributes:
        name: the name in configurations: `name` of the class, which is the name of the class where it sets none.
        origin: `in-tree`, `bundled`, `legacy`, the `FILE.py` or module that the user named, or the package and its
            version, with the entry point if that has another name.
    """

    name: str
    origin: str
    _find: Callable[[], type[Plugin]]

    @property
    def plugin_class(self) -> type[Plugin]:
        """The class, imported when first asked for.

        Raises:
            PluginDefinitionError: an installed package announces a plugin that does not load.
        """
        return self._find()


class Registry:
    """Plugins by name, in the order in which they were registered.

    The name of a plugin is that of its class. The class of an installed package is imported when something needs it:
    until then its plugin has the name of the entry point, which usually is the same. A name that is not known, and a
    walk through all plugins, imports all of them.

    Attributes:
        loaded: names of the plugins that the user brings, by reference or as a class, in order.
        release: the version whose rules the plugins get.
    """

    def __init__(self, in_tree: Mapping[str, type[Plugin]], release: Release = DEFAULT_RELEASE) -> None:
        """Begin with kube-scheduler's own plugins."""
        self.release = release
        self._plugins: dict[str, RegisteredPlugin] = {}
        self._announced: set[str] = set()  # those of them that have the name of their entry point, until it is checked
        self._entry_points: dict[str, str] = {}  # entry points with another name than their plugin's -> that name
        self.loaded: list[str] = []
        for name, plugin_class in in_tree.items():
            self._add(_of_class(name, IN_TREE, plugin_class))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __getitem__(self, name: str) -> RegisteredPlugin:
        plugin = self._find(name)
        if plugin is None:
            raise KeyError(name)
        return plugin

    def __iter__(self) -> Iterator[RegisteredPlugin]:
        self._settle(*self._announced)
        return iter(self._plugins.values())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def those(self, names: Iterable[str]) -> list[RegisteredPlugin]:
        """The plugins with these names that are registered, in their order; imports no others."""
        wanted = {name for name in names if name in self}
        return [plugin for plugin in self._plugins.values() if plugin.name in wanted]

    def named(self, name: str) -> RegisteredPlugin | None:
        """The plugin of this name or, if there is none, of this class or entry point."""
        plugin = self._find(name)
        if plugin is None and name in self._entry_points:
            plugin = self._find(self._entry_points[name])
        return plugin or next((plugin for plugin in self if _class_name(plugin) == name), None)

    @property
    def of_kube_scheduler(self) -> frozenset[str]:
        """The in-tree plugins, without those that the user brings."""
        in_tree = (plugin.name for plugin in self._plugins.values() if plugin.origin == IN_TREE)
        return frozenset(in_tree) - frozenset(self.loaded)

    @property
    def args_types(self) -> Mapping[str, type[PluginArgs]]:
        """The Args class of each plugin, for reading configurations."""
        return _ArgsTypes(self)

    def register(self, plugin_class: type[Plugin], origin: str) -> None:
        """Add a plugin from outside the tree; the same class may come twice.

        Raises:
            PluginDefinitionError: it defines no extension point, or another plugin has the name.
        """
        name = plugin_class.name
        check_takes_part(plugin_class, origin)
        self._settle(*self._announced & {name})
        if name not in self._plugins or self._plugins[name].plugin_class is not plugin_class:
            self._add(_of_class(name, origin, plugin_class))

    def register_bundled(self) -> None:
        """Add the bundled plugins; a class is imported when something names it."""
        for name, module in BUNDLED_PLUGINS.items():
            self._add(RegisteredPlugin(name, BUNDLED, partial(_bundled, name, module)))

    def register_legacy(self) -> None:
        """Add the legacy plugins; a class is imported when something names it."""
        for name in LEGACY_PLUGINS:
            self._add(RegisteredPlugin(name, LEGACY, partial(legacy_plugin, name)))

    def register_installed(self) -> None:
        """Add what installed packages announce; a class is imported when something names it.

        Raises:
            PluginDefinitionError: two plugins have the same name.
        """
        for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name):
            plugin = _of_entry_point(entry)
            if self._is_free(entry.name):
                self._announced.add(entry.name)
                self._add(plugin)
            else:  # two entry points may have one name, two plugins may not
                self._settle(*self._announced & {entry.name})
                self._take_in(_named_as_its_class(plugin))

    def load(self, reference: str) -> str:
        """Import the plugin that the user asks for, register it, and give its name.

        Args:
            reference: `FILE.py:Class` or `package.module:Class`.
        Raises:
            PluginDefinitionError: there is none, or it cannot be imported, or it defines no extension point, or another
                plugin has the name.
        """
        source, _, class_name = reference.rpartition(":")
        if not source or not class_name:
            raise PluginDefinitionError(
                f'plugin "{reference}": write FILE.py:Class or package.module:Class, such as team_zone.py:TeamZone'
            )
        module = run_file(source) if source.endswith(".py") else import_module(source)
        plugin_class = find_class(module, class_name, source)
        self.register(plugin_class, source)
        self.loaded.append(plugin_class.name)
        return plugin_class.name

    def help_with(self, name: str) -> str:
        """The message for a name that is not registered."""
        if name in LEGACY_PLUGINS:
            return (
                f"kube-scheduler v1.{self.release.minor} no longer has {name}, kubesched does; "
                '"kubesched config convert FILE" replaces it, and "kubesched config check --for kubesched FILE" '
                "accepts it"
            )
        if name in BUNDLED_PLUGINS:
            return (
                f'kube-scheduler does not have {name}, kubesched does; "kubesched config check --for kubesched FILE" '
                'accepts it, and "kubesched extender --config FILE" serves it to kube-scheduler'
            )
        if since := _first_with(name):
            return f"kube-scheduler v1.{self.release.minor} does not have {name}; it exists since v1.{since.minor}"
        meant = self.named(name)
        if meant is not None:
            what = "entry point" if name in self._entry_points else "class"
            return (
                f'no plugin has the name "{name}"; the {what} {name} is the plugin "{meant.name}"; write {meant.name}'
            )
        near = did_you_mean(name, self._plugins, PLUGIN_LIKENESS)
        return (
            f'no plugin has the name "{name}"; {near + " " if near else ""}"kubesched plugin list" prints them; '
            "to load your plugin, add --plugin FILE.py:Class, or in Python plugins=[Class]"
        )

    def _find(self, name: str) -> RegisteredPlugin | None:
        if self._is_free(name):
            self._settle(*self._announced)
        elif name in self._announced:
            self._settle(name)
        return self._plugins.get(name)

    def _settle(self, *entry_names: str) -> None:
        """Import the classes of these entry points, and register them under their own names.

        One that does not load keeps the name of the entry point, so that whatever names it gets the reason.
        """
        for entry_name in sorted(entry_names):
            if entry_name not in self._announced:
                continue
            self._announced.remove(entry_name)
            plugin = _named_as_its_class(self._plugins[entry_name])
            if plugin.name != entry_name:
                self._entry_points[entry_name] = plugin.name
                del self._plugins[entry_name]
                self._take_in(plugin)

    def _take_in(self, plugin: RegisteredPlugin) -> None:
        """Add a plugin, unless another entry point or the user has named the same class."""
        self._settle(*self._announced & {plugin.name})
        if self._is_free(plugin.name) or _class_of(self._plugins[plugin.name]) is not _class_of(plugin):
            self._add(plugin)

    def _is_free(self, name: str) -> bool:
        """Whether a name can be taken. Legacy and bundled plugins give way: kube-scheduler does not have them."""
        return name not in self._plugins or self._plugins[name].origin in (LEGACY, BUNDLED)

    def _add(self, plugin: RegisteredPlugin) -> None:
        if self._is_free(plugin.name):
            self._plugins.pop(plugin.name, None)  # the new one is the last in their order
        else:
            origins = f"one is {self._plugins[plugin.name].origin}, the other is from {plugin.origin}"
            raise PluginDefinitionError(
                f"a plugin named {plugin.name} already exists\n  {origins}; give one class another name",
                plugin=plugin.name,
            )
        self._plugins[plugin.name] = plugin


class _ArgsTypes(Mapping[str, type[PluginArgs]]):
    """A view of a registry; looking a name up imports that plugin and no other."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def __contains__(self, name: object) -> bool:
        return name in self._registry

    def __getitem__(self, name: str) -> type[PluginArgs]:
        return self._registry[name].plugin_class.Args

    def __iter__(self) -> Iterator[str]:
        return (plugin.name for plugin in self._registry)

    def __len__(self) -> int:
        return len(self._registry)


def _first_with(name: str) -> Release | None:
    """The first version with a plugin of kube-scheduler's own."""
    return next((one for one in RELEASES if name in in_tree_plugins(one) or points_without_hook(name, one)), None)


def _bundled(name: str, module: str) -> type[Plugin]:
    plugin_class: type[Plugin] = getattr(importlib.import_module(module), name)
    return plugin_class


def _of_class(name: str, origin: str, plugin_class: type[Plugin]) -> RegisteredPlugin:
    return RegisteredPlugin(name, origin, lambda: plugin_class)


def _of_entry_point(entry: EntryPoint) -> RegisteredPlugin:
    origin = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
    return RegisteredPlugin(entry.name, origin, cache(lambda: _load_entry_point(entry, origin)))


def _load_entry_point(entry: EntryPoint, origin: str) -> type[Plugin]:
    return find_class(import_module(entry.module), entry.attr, f"{origin}: {entry.module}")


def _named_as_its_class(plugin: RegisteredPlugin) -> RegisteredPlugin:
    """A plugin of an installed package under its own name; as it is if it does not load."""
    plugin_class = _class_of(plugin)
    if plugin_class is None or plugin_class.name == plugin.name:
        return plugin
    origin = f"{plugin.origin}, entry point {plugin.name}"
    return msgspec.structs.replace(plugin, name=plugin_class.name, origin=origin)


def _class_of(plugin: RegisteredPlugin) -> type[Plugin] | None:
    try:
        return plugin.plugin_class
    except PluginDefinitionError:
        return None


def _class_name(plugin: RegisteredPlugin) -> str:
    """The name of its class, where it may be another one; a legacy class is not imported to find out."""
    plugin_class = None if plugin.origin == LEGACY else _class_of(plugin)
    return plugin.name if plugin_class is None else plugin_class.__name__
