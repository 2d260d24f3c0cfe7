"""The pages of `kubesched plugin list` and `plugin show`: the registered plugins, and one with its arguments."""

import json
from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import Any, NamedTuple

from kubesched.config import DEFAULT_PLUGINS, describe_args
from kubesched.framework import HOOKS
from kubesched.pages.formats import Align, Cell, Check, Column, Level, Page, Paragraph, Table
from kubesched.setup import RegisteredPlugin


class PluginRow(NamedTuple):
    """A plugin in the list."""

    name: str
    extension_points: list[str]
    weight: int | None
    origin: str


def described(plugin: RegisteredPlugin) -> PluginRow:
    """The row of a plugin.

    Raises:
        PluginDefinitionError: it does not load.
    """
    extended = plugin.plugin_class.extension_points()
    weights = {entry.name: entry.weight for entry in DEFAULT_PLUGINS.multi_point.enabled}
    weight = (weights.get(plugin.name) or 1) if "score" in extended else None
    return PluginRow(plugin.name, [point for point in HOOKS if point in extended], weight, plugin.origin)


def plugins_page(rows: Sequence[PluginRow], broken: Mapping[str, str]) -> Page:
    """All plugins, and why some do not load."""
    columns = (
        Column("name"),
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


def plugin_page(plugin: RegisteredPlugin) -> Page:
    """One plugin, with its arguments."""
    row, plugin_class = described(plugin), plugin.plugin_class
    arguments = describe_args(plugin_class.Args)
    purpose = next(iter(cleandoc(plugin_class.__dict__.get("__doc__") or "").splitlines()), "")
    facts = [f"Extension points: {', '.join(row.extension_points) or 'none'}."]
    facts += [] if row.weight is None else [f"Weight of the score: {row.weight} by default."]
    facts += [] if arguments else ["It takes no arguments."]
    columns = (Column("name", "ARGUMENT"), Column("type"), Column("default"), Column("meaning"))
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


def _document(row: PluginRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "extensionPoints": row.extension_points,
        "defaultWeight": row.weight,
        "origin": row.origin,
    }
