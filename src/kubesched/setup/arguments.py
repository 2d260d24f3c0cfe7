"""Arguments of plugins from outside the configuration: a file of their own, or values of the program that calls us."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from kubesched.config import PluginArgs, load_args
from kubesched.errors import ConfigError
from kubesched.framework import IN_TREE, Registry

__all__ = ["ArgsLike", "read_args"]

ArgsLike = PluginArgs | Mapping[str, object] | str | os.PathLike[str] | bytes
"""A plugin's arguments: its Args, a mapping, the name of a YAML or JSON file, or the text of one as bytes."""


def read_args(given: Mapping[str, ArgsLike], registry: Registry) -> dict[str, PluginArgs | bytes | None]:
    """Read the arguments of each plugin, strictly.

    Raises:
        InputError: a file cannot be read.
        ConfigError: there is no such plugin, it takes its arguments elsewhere, or they do not hold.
    """
    return {name: _read(name, args, registry) for name, args in given.items()}


def _read(name: str, args: ArgsLike, registry: Registry) -> PluginArgs | bytes | None:
    if name not in registry:
        raise ConfigError(f"arguments for {name}: {registry.help_with(name)}")
    if registry[name].origin == IN_TREE:
        raise ConfigError(f"arguments for {name}: an in-tree plugin takes them from pluginConfig in the configuration")
    if isinstance(args, PluginArgs):
        return args
    source = Path(args) if isinstance(args, str | os.PathLike) else args
    if isinstance(source, Mapping):
        source = msgspec.json.encode(source)
    return load_args(source, name, args_types=registry.args_types)
