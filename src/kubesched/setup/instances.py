"""Makes instances of plugins with their arguments.

Rule: kube-scheduler v1.36 profile construction, with its messages; our help follows on indented lines.
"""

from kubesched.config import PluginArgs, error_of, field_finding, load_args
from kubesched.errors import ConfigError, PluginDefinitionError
from kubesched.framework import HOOK_FAULTS, Plugin, kinds_read, located_line
from kubesched.release import DEFAULT_RELEASE, Release


def build_plugin(
    plugin_class: type[Plugin], given: PluginArgs | bytes | None, release: Release = DEFAULT_RELEASE
) -> Plugin:
    """Make an instance with these arguments, which decides by the rules of a version.

    Raises:
        ConfigError: the arguments are not valid, or the class raises something.
        PluginDefinitionError: its `reads` is not valid.
    """
    name = plugin_class.name
    try:
        args = typed_args(plugin_class, given, release)
        if errors := args.validate(""):
            raise error_of(field_finding(error, release=release) for error in errors)
        plugin = plugin_class(args)
        plugin.release = release
        if plugin.name != name:
            raise ConfigError(
                f"__init__ sets self.name to {plugin.name!r:.80}; set name in the class, for all instances"
            )
        kinds_read((plugin,))
        return plugin
    except ConfigError as error:
        raise ConfigError(f'initializing plugin "{name}": {error}') from None
    except PluginDefinitionError:
        raise
    except HOOK_FAULTS as error:
        advice = f"__init__ of the class {plugin_class.__name__} of {plugin_class.__module__} raised this"
        raise ConfigError(f'initializing plugin "{name}": {located_line(error)}\n  {advice}') from error


def typed_args(plugin_class: type[Plugin], given: PluginArgs | bytes | None, release: Release) -> PluginArgs:
    """The arguments as the class declares them; those that were read without their type are decoded now.

    Raises:
        ConfigError: they are not valid.
    """
    if not isinstance(given, PluginArgs):
        name = plugin_class.name
        given = load_args(given or b"{}", name, args_types={name: plugin_class.Args}, release=release)
    return given if isinstance(given, PluginArgs) else plugin_class.Args()
