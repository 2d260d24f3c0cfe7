"""FILE... of `kubesched config`: what holds the configurations, and how several of them are printed."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.standard_streams import STANDARD_STREAM

if TYPE_CHECKING:
    from kubesched.config import ConfigSource, Readable


class _StandardInput:
    """Standard input as a file."""

    def read_bytes(self) -> bytes:
        from kubesched.documents import read_whole

        return bytes(read_whole(sys.stdin.buffer))

    def __str__(self) -> str:
        return "standard input"


files_argument: Final = click.argument(
    "files", metavar="FILE...", type=click.Path(path_type=Path, allow_dash=True), nargs=-1, required=True
)
"""The argument of `sources_in`."""
reader_option: Final = click.option(
    "--for",
    "reader",
    type=click.Choice(["kube-scheduler", "kubesched"]),
    default="kube-scheduler",
    show_default=True,
    help="The scheduler that is to read FILE. Only kubesched has bundled and legacy plugins, such as NodeUsage and "
    "SelectorSpread, reads older versions, and has the Lease kubesched by default.",
)
"""Which scheduler reads the configuration."""


def sources_in(files: Iterable[Path], reader: str = "") -> "tuple[ConfigSource, ...]":
    """The configurations in the files; `-` is standard input.

    Args:
        reader: `kubesched` elects its leader with its own Lease where the file names none.
    Raises:
        InputError: a file cannot be read, or has no configuration.
    """
    from kubesched.setup import read_sources

    sources = read_sources([_readable(file) for file in dict.fromkeys(files)])
    return tuple(map(_of_kubesched, sources)) if reader == "kubesched" else sources


def _of_kubesched(source: "ConfigSource") -> "ConfigSource":
    from msgspec.structs import replace

    from kubesched.config import LeaderElectionFlags, lease_name

    return replace(source, flags=source.flags.replaced_by(LeaderElectionFlags(resource_name=lease_name())))


def source_in(file: Path) -> "ConfigSource":
    """The one configuration in a file, as for `sources_in`.

    Raises:
        InputError: the file cannot be read, or has no configuration, or several.
    """
    from kubesched.setup import read_source

    return read_source(_readable(file))


def _readable(file: Path) -> "Readable":
    return _StandardInput() if str(file) == STANDARD_STREAM else file


def under_names(texts: "Iterable[tuple[ConfigSource, str]]") -> str:
    """One YAML text: a single configuration as it is, several as documents, each below a comment with its name."""
    named = list(texts)
    if len(named) == 1:
        return named[0][1]
    return "---\n".join(f"# {source}\n{text.rstrip()}\n" for source, text in named)
