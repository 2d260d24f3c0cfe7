"""Decodes plugin arguments from `pluginConfig` or a separate file into the Args class of each plugin."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubesched.config.args import PluginArgs
from kubesched.config.defaults import ARGS_PLUGINS, DEFAULT_PLUGINS
from kubesched.config.strict import StrictFault, convert, select_known
from kubesched.config.type_meta import API_VERSION, GROUP, check_registered, take_type_meta
from kubesched.documents import shorten
from kubesched.errors import ConfigError

ArgsTypes = Mapping[str, type[PluginArgs]]
"""The Args class of every plugin that is known, by the plugin's name."""


def decode_args(name: str, document: Any, args_types: ArgsTypes) -> tuple[PluginArgs | bytes | None, list[StrictFault]]:
    """Make the arguments of a plain value; a plugin without an args type gets them as JSON.

    Raises:
        ConfigError: arguments of another plugin, or a value of a wrong type.
    """
    if not is_typed(name, args_types):
        return (None if document is None else msgspec.json.encode(document)), []
    cls = args_types[name]
    body = without_kind(name, document) if name in ARGS_PLUGINS else document
    if body is not None and not isinstance(body, dict):
        raise ConfigError(f"decoding args for plugin {name}: expected an object, found {shorten(body)}")
    known, faults = select_known(body or {}, cls)
    try:
        return convert(known, cls).with_defaults(), faults
    except ConfigError as error:
        raise ConfigError(f"decoding args for plugin {name}: {error}") from None


def has_args_kind(name: str, args_types: ArgsTypes) -> bool:
    """Whether the plugin is one of those with a kind of arguments in kube-scheduler's own group."""
    return name in ARGS_PLUGINS and name in args_types


def is_typed(name: str, args_types: ArgsTypes) -> bool:
    """Whether arguments are read. False for in-tree plugins that have no Args kind: their arguments are ignored."""
    return has_args_kind(name, args_types) or (name in args_types and name not in DEFAULT_PLUGINS.enabled_names)


def without_kind(name: str, document: Any) -> Any:
    """The fields alone; apiVersion and kind are optional, and have to be the plugin's."""
    if document is None:
        return None
    expected = f"{name}Args"
    try:
        kind, version, body = take_type_meta(document)
        check_registered(kind or expected, version or API_VERSION)
    except ConfigError as error:
        raise ConfigError(f"decoding args for plugin {name}: {error}") from None
    if kind and kind != expected:
        raise ConfigError(f"args for plugin {name} were not of type {expected}.{GROUP}, got {kind}.{GROUP}")
    return body
