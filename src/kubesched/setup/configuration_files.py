"""Reads the files that hold scheduler configurations, and those that command lines name in them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kubesched.config import ConfigSource, Input, LocalFiles, Readable, find_sources, read_text
from kubesched.errors import InputError

_MAX_SHOWN: Final = 5


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


def read_source(file: Readable) -> ConfigSource:
    """The one configuration in a file, which may hold it as for `read_sources`.

    Raises:
        InputError: the file cannot be read, or has no configuration, or several.
    """
    sources = read_sources([file])
    if len(sources) > 1:
        names = "; ".join(str(source) for source in sources[:_MAX_SHOWN]) + ("; ..." if sources[_MAX_SHOWN:] else "")
        raise InputError(
            f"{file}: expected one configuration, found {len(sources)}: {names}\n"
            f"  give one of them as a file; `kubesched config convert {file}` prints each below its name"
        )
    return sources[0]


def local_places(path: str, folder: Path) -> tuple[Path, ...]:
    """Where a file may be that a configuration or a command line names: at that path, or in the folder of its text.

    Only places in that folder or below it count, after symbolic links: the author of a manifest does not choose which
    files are read where it is checked.
    """
    return tuple(place for place in (Path(path), folder / Path(path).name) if _is_below(place, folder))


def _is_below(place: Path, folder: Path) -> bool:
    try:
        place.is_file()  # raises OSError for what no file system takes; resolve() does not
        return place.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # also a circle of links
        return False


def _places(path: str, beside: str) -> list[str]:
    return [str(place) for place in local_places(path, Path(beside).parent)]


def _content(place: Path) -> str | None:
    return read_text(place) if place.is_file() else None
