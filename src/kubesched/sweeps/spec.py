"""Reads what a sweep is about from a YAML file: snapshots, configurations, plugins, their arguments, seeds."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from kubesched.comparison import Candidate, packed, read_prices
from kubesched.config import convert, error_of, read_text, select_known
from kubesched.documents import read_yaml
from kubesched.errors import ConfigError, InputError, YamlError

_DEFAULTS: Final = "defaults"


class NamedConfiguration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `configurations`.

    Attributes:
        name: in the rows; empty for that of the file.
        config: a file; empty for kube-scheduler's defaults.
        plugins: those of this configuration alone.
        pack: whether NodeResourcesFit has the strategy MostAllocated, whatever the file says.
    """

    name: str = ""
    config: str = ""
    plugins: list[str] = []
    pack: bool = False


class SweepSpec(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a sweep is about, as `sweep` takes it; file names are relative to that of the file.

    Attributes:
        snapshots: files or folders; `*` stands for any characters.
        configurations: files, or NamedConfiguration; none for kube-scheduler's defaults.
        plugins: of every configuration.
        plugin_args: each entry is tried with every configuration: plugin -> arguments.
        seeds: how many runs each has.
        pods: which pods are placed, as for `compare`.
        prices: a file.
    """

    snapshots: list[str]
    configurations: list[str | NamedConfiguration] = msgspec.field(default_factory=lambda: [_DEFAULTS])
    plugins: list[str] = []
    plugin_args: list[dict[str, dict[str, Any]]] = msgspec.field(default_factory=lambda: [{}])
    seeds: int = 10
    pods: str = "pending"
    prices: str = ""

    def arguments(self, folder: Path) -> dict[str, Any]:
        """The arguments of `sweep`.

        Raises:
            InputError: a pattern matches no snapshot, or prices cannot be read.
        """
        return {
            "snapshots": [*self._found(folder)],
            "configurations": [self._candidate(one, folder) for one in self.configurations],
            "plugins": [_beside(plugin, folder) for plugin in self.plugins],
            "plugin_args": self.plugin_args,
            "seeds": self.seeds,
            "pods": self.pods,
            "prices": read_prices(folder / self.prices) if self.prices else None,
        }

    def _found(self, folder: Path) -> Iterator[Path]:
        for name in self.snapshots:
            if "*" not in name:
                yield folder / name
                continue
            matching = sorted(folder.glob(name))
            if not matching:
                raise InputError(f"snapshots: {folder / name}: no such file")
            yield from matching

    def _candidate(self, one: str | NamedConfiguration, folder: Path) -> Candidate:
        if isinstance(one, str):
            one = NamedConfiguration(one, "" if one == _DEFAULTS else one)
        file = folder / one.config if one.config else None
        name = one.name or one.config or _DEFAULTS
        candidate = Candidate(name, file, tuple(_beside(plugin, folder) for plugin in one.plugins))
        return packed(candidate) if one.pack else candidate


def read_spec(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of `sweep` in a YAML file.

    Raises:
        InputError: it cannot be read, or something in it is not valid.
    """
    file = Path(path)
    try:
        documents = [one.value for one in read_yaml(read_text(file))]
        value = documents[0] if len(documents) == 1 else None
        if not isinstance(value, Mapping):
            raise InputError(f"{file}: expected one object with snapshots, configurations and seeds")
        known, unknown = select_known(value, SweepSpec)
        spec, wrong = convert(known, SweepSpec)
        if unknown or wrong or spec is None:
            raise error_of([*unknown, *wrong])
        return spec.arguments(file.parent)
    except (YamlError, ConfigError) as error:
        raise InputError(f"{file}: {error}") from error


def _beside(plugin: str, folder: Path) -> str:
    """A plugin in a file of the folder."""
    file, colon, name = plugin.rpartition(":")
    return f"{folder / file}{colon}{name}" if file.endswith(".py") else plugin
