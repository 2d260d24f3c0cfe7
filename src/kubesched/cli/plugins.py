"""`kubesched plugin list` and `plugin show`: the registered plugins, and one of them with its arguments."""

import click

from kubesched.cli.completion import complete_files
from kubesched.cli.reports import print_report, report_output_option
from kubesched.errors import InputError, PluginDefinitionError

plugin_option = click.option(
    "--plugin",
    "references",
    metavar="FILE.py:Class",
    multiple=True,
    shell_complete=complete_files,
    help="Load your plugin, from a file or as package.module:Class. Repeatable.",
)
"""The option of every command that runs or names plugins."""


@click.command("list")
@plugin_option
@report_output_option()
def list_plugins(references: tuple[str, ...], output: str) -> None:
    """List the plugins that a configuration can refer to.

    In-tree plugins come first, in the order of the default profile. Legacy plugins follow: kube-scheduler had them in
    earlier versions, for example in a Policy. Then come plugins of installed packages. Both run only where a profile
    enables them. Plugins given with --plugin come last. WEIGHT is the default weight of a score plugin.
    Exits with 2 if a plugin cannot be loaded.
    """
    from kubesched.pages.configurations import described, plugins_page
    from kubesched.setup import find_plugins

    rows = []
    broken = {}
    for plugin in find_plugins(references):
        try:
            rows.append(described(plugin))
        except PluginDefinitionError as error:
            broken[plugin.name] = str(error)
    print_report(plugins_page(rows, broken), output)
    if broken:
        raise PluginDefinitionError("\n".join(broken.values()))


@click.command("show")
@click.argument("name")
@plugin_option
@report_output_option()
def show_plugin(name: str, references: tuple[str, ...], output: str) -> None:
    """Describe the plugin NAME with its arguments.

    NAME is that of the plugin, or of its class. Exits with 2 if the plugin cannot be loaded.
    """
    from kubesched.config import did_you_mean
    from kubesched.pages.configurations import plugin_page
    from kubesched.setup import find_plugins

    registry = find_plugins(references)
    plugin = registry.named(name)
    if plugin is None:
        near = did_you_mean(name, [plugin.name for plugin in registry])
        raise InputError(f"no plugin has the name {name}; {near or 'kubesched plugin list prints them'}")
    print_report(plugin_page(plugin), output)
