"""Reads the files that hold scheduler configurations, and those that command lines name in them."""

from collections.abc import Iterable
from pathlib import Path

from kubesched.config import ConfigSource, Input, LocalFiles, Readable, find_sources, read_text

__all__ = ["local_places", "read_sources"]


def read_sources(files: Iterable[Readable]) -> tuple[ConfigSource, ...]:
    """The configurations in some files, in their order; at least one for each file.

    Args:
        files: each with a configuration of any version, alone or among other documents, in a ConfigMap, or named by the
            command line of a scheduler in a pod or workload. What a command line names may be in another of the files.
    Raises:
        InputError: a file cannot be read, or has no configuration.
    """
    return find_sources(
        [Input(str(file), read_text(file)) for file in files], LocalFiles(_places, lambda place: _content(Path(place)))
    )


def local_places(path: str, folder: Path) -> tuple[Path, Path]:
    """Where a file is that a configuration or a command line names: at that path, or in the folder of its text."""
    return Path(path), folder / Path(path).name


def _places(path: str, beside: str) -> list[str]:
    return [str(place) for place in local_places(path, Path(beside).parent)]


def _content(place: Path) -> str | None:
    return read_text(place) if place.is_file() else None
