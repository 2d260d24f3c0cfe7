"""Describes the arguments of a plugin for people: each field with its type, its default and its meaning."""

import re
from typing import Final

import msgspec
from msgspec import inspect

from kubesched.config.plugin_args import PluginArgs

_SECTION: Final = re.compile(r"^([ \t]*)Attributes:\n((?:\1[ \t]+\S.*\n?)*)", re.MULTILINE)
_ENTRY: Final = re.compile(r"^(?P<indent>[ \t]+)(?P<name>\w+): (?P<text>.*(?:\n(?P=indent)[ \t]+\S.*)*)", re.MULTILINE)
_KINDS: Final[dict[type[inspect.Type], str]] = {
    inspect.BoolType: "boolean",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.StrType: "string",
}


class Argument(msgspec.Struct, frozen=True):
    """A field of `args` in `pluginConfig`.

    Attributes:
        name: as files spell it: `hotApps`.
        kind: its type in words: `list of string`.
        default: as JSON; empty for a field that has to be given.
        meaning: from `Attributes:` in the docstring of the Args class; empty where it has none.
    """

    name: str
    kind: str
    default: str
    meaning: str = ""


def describe_args(args_type: type[PluginArgs]) -> tuple[Argument, ...]:
    """The fields of an Args class, in their order.

    Example:
        class Args(PluginArgs):
            hot_apps: tuple[str, ...] = ("web",)

        assert describe_args(Args) == (Argument("hotApps", "list of string", '["web"]'),)
    """
    fields = msgspec.structs.fields(args_type)
    meanings = _meanings(args_type)
    required = [field.name for field in fields if field.required]
    default = None if required else args_type().with_defaults()
    return tuple(
        Argument(
            field.encode_name,
            _kind(inspect.type_info(field.type)),
            "" if field.required else _as_json(_default(field) if default is None else getattr(default, field.name)),
            meanings.get(field.name, ""),
        )
        for field in fields
    )


def _default(field: msgspec.structs.FieldInfo) -> object:
    return field.default if field.default is not msgspec.NODEFAULT else field.default_factory()


def _as_json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=0).decode()


def _meanings(args_type: type[PluginArgs]) -> dict[str, str]:
    """Field -> meaning, of the class and its bases."""
    meanings: dict[str, str] = {}
    for cls in reversed(args_type.__mro__):
        for section in _SECTION.finditer(cls.__doc__ or "" if issubclass(cls, PluginArgs) else ""):
            entries = _ENTRY.finditer(section[2])
            meanings.update((entry["name"], " ".join(entry["text"].split())) for entry in entries)
    return meanings


def _kind(info: inspect.Type) -> str:
    if isinstance(info, inspect.Metadata):
        return _kind(info.type)
    if isinstance(info, inspect.UnionType):
        return " or ".join(_kind(one) for one in info.types if not isinstance(one, inspect.NoneType))
    if isinstance(info, inspect.DictType):
        return f"map of string to {_kind(info.value_type)}"
    if isinstance(info, inspect.CollectionType):
        return f"list of {_kind(info.item_type)}"
    if isinstance(info, inspect.CustomType):
        return info.cls.__name__.lower()
    if isinstance(info, inspect.LiteralType):
        return " or ".join(map(str, info.values))
    if isinstance(info, inspect.EnumType):
        return " or ".join(str(member.value) for member in info.cls)
    return _KINDS.get(type(info), "object")
