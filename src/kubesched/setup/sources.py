"""Reads the files that hold scheduler configurations."""

from collections.abc import Iterable

from kubesched.config import ConfigSource, Input, Readable, find_sources, read_text

__all__ = ["read_sources"]


def read_sources(files: Iterable[Readable]) -> tuple[ConfigSource, ...]:
    """The configurations in some files, in their order; at least one for each file.

    Args:
        files: each with a configuration of any version, alone or among other documents, or in a ConfigMap.
    Raises:
        InputError: a file cannot be read, or has no configuration.
    """
    return find_sources([Input(str(file), read_text(file)) for file in files])
