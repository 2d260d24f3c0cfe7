"""`kubesched plugins`: list the registered plugins with their origin and extension points."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from kubesched.cli.bad_input import refuse_bad_input
from kubesched.cli.completion import complete_files
from kubesched.cli.output import output_option
from kubesched.errors import PluginDefinitionError

if TYPE_CHECKING:
    from kubesched.setup import RegisteredPlugin

_HEADINGS = ("NAME", "EXTENSION POINTS", "WEIGHT", "FROM")

plugin_option = click.option(
    "--plugin",
    "references",
    metavar="FILE.py:Class",
    multiple=True,
    shell_complete=complete_files,
    help="Load your plugin, from a file or as package.module:Class. Repeatable.",
)
"""The option of every command that runs or names plugins."""


@click.command()
@plugin_option
@output_option("text", "json", help="Format of the list.")
def plugins(references: tuple[str, ...], output: str) -> None:
    """List the plugins that a configuration can refer to.

    In-tree plugins come first, in the order of the default profile. Legacy plugins follow: kube-scheduler had them in
    earlier versions, for example in a Policy. Then come plugins of installed packages. Both run only where a profile
    enables them. Plugins given with --plugin come last. WEIGHT is the default weight of a score plugin.
    Exits with 2 if a plugin cannot be loaded.
    """
    from kubesched.setup import find_plugins

    with refuse_bad_input():
        registry = find_plugins(references)
        rows = []
        broken = []
        for plugin in registry:
            try:
                rows.append(_describe(plugin))
            except PluginDefinitionError as error:
                broken.append(str(error))
        click.echo(_as_json(rows) if output == "json" else _as_table(rows))
        if broken:
            raise PluginDefinitionError("\n".join(broken))


class _Row(NamedTuple):
    name: str
    extension_points: list[str]
    weight: int | None
    origin: str


def _describe(plugin: "RegisteredPlugin") -> _Row:
    from kubesched.config import DEFAULT_PLUGINS
    from kubesched.framework import HOOKS

    extended = plugin.plugin_class.extension_points()
    weights = {entry.name: entry.weight for entry in DEFAULT_PLUGINS.multi_point.enabled}
    weight = (weights.get(plugin.name) or 1) if "score" in extended else None
    return _Row(plugin.name, [point for point in HOOKS if point in extended], weight, plugin.origin)


def _as_json(rows: Sequence[_Row]) -> str:
    listed = [
        {
            "name": row.name,
            "extensionPoints": row.extension_points,
            "defaultWeight": row.weight,
            "origin": row.origin,
        }
        for row in rows
    ]
    return json.dumps(listed, indent=2, sort_keys=True)


def _as_table(rows: Sequence[_Row]) -> str:
    cells = [_HEADINGS]
    for row in rows:
        weight = "-" if row.weight is None else str(row.weight)
        cells.append((row.name, ", ".join(row.extension_points), weight, row.origin))
    widths = [max(len(line[i]) for line in cells) for i in range(len(_HEADINGS))]
    return "\n".join("   ".join(map(str.ljust, line, widths)).rstrip() for line in cells)
