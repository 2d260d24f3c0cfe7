"""`kubesched plugin list` and `plugin show`: the registered plugins, and one of them with its arguments."""

import json
from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kubesched.cli.bad_input import BadInput, refuse_bad_input
from kubesched.cli.completion import complete_files
from kubesched.cli.reports import print_report, report_output_option
from kubesched.errors import PluginDefinitionError

if TYPE_CHECKING:
    from kubesched.pages.formats import Page
    from kubesched.setup import RegisteredPlugin, Registry

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
    from kubesched.setup import find_plugins

    with refuse_bad_input():
        rows = []
        broken = {}
        for plugin in find_plugins(references):
            try:
                rows.append(_describe(plugin))
            except PluginDefinitionError as error:
                broken[plugin.name] = str(error)
        print_report(_list(rows, broken), output)
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
    from kubesched.setup import find_plugins

    with refuse_bad_input():
        print_report(_page(find_plugins(references), name), output)


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


def _list(rows: Sequence[_Row], broken: Mapping[str, str]) -> "Page":
    """All plugins, and why some do not load."""
    from kubesched.pages.formats import Align, Check, Column, Page, Paragraph, Table

    columns = (
        Column("name", "NAME"),
        Column("extensionPoints", "EXTENSION POINTS"),
        Column("defaultWeight", "WEIGHT", Align.NUMBER),
        Column("origin", "FROM"),
    )
    cells = [
        [row.name, ", ".join(row.extension_points), "-" if row.weight is None else row.weight, row.origin]
        for row in rows
    ]
    listed = [_document(row) for row in rows]
    return Page(
        "plugin-list",
        Paragraph(f"{len(rows)} plugins."),
        (Table("plugins", "", columns, cells),),
        document={"plugins": listed},
        lines=listed,
        checks=[Check(row.origin, row.name) for row in rows]
        + [Check("does not load", plugin, why) for plugin, why in broken.items()],
    )


def _page(registry: "Registry", name: str) -> "Page":
    """One plugin, with its arguments."""
    from kubesched.config import describe_args, did_you_mean
    from kubesched.pages.formats import Cell, Check, Column, Level, Page, Paragraph, Table

    found = registry.named(name)
    if found is None:
        near = did_you_mean(name, [plugin.name for plugin in registry])
        raise BadInput(f"no plugin has the name {name}; {near or 'kubesched plugin list prints them'}")
    row, plugin_class = _describe(found), found.plugin_class
    arguments = describe_args(plugin_class.Args)
    purpose = next(iter(cleandoc(plugin_class.__dict__.get("__doc__") or "").splitlines()), "")
    facts = [f"Extension points: {', '.join(row.extension_points) or 'none'}."]
    facts += [] if row.weight is None else [f"Weight of the score: {row.weight} by default."]
    facts += [] if arguments else ["It takes no arguments."]
    columns = (
        Column("name", "ARGUMENT"),
        Column("type", "TYPE"),
        Column("default", "DEFAULT"),
        Column("meaning", "MEANING"),
    )
    required = Cell("required", level=Level.WARNING)
    rows = [[one.name, one.kind, one.default or required, one.meaning] for one in arguments]
    listed = [
        {"name": one.name, "type": one.kind, "meaning": one.meaning}
        | ({"default": json.loads(one.default)} if one.default else {})
        for one in arguments
    ]
    document = {**_document(row), "purpose": purpose, "arguments": listed}
    return Page(
        "plugin",
        Paragraph(f"{row.name} ({row.origin}){': ' if purpose else ''}{purpose}"),
        (*map(Paragraph, facts), Table("arguments", "Arguments in pluginConfig", columns, rows)),
        document=document,
        lines=(document,),
        checks=(Check(row.origin, row.name),),
    )


def _document(row: _Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "extensionPoints": row.extension_points,
        "defaultWeight": row.weight,
        "origin": row.origin,
    }
