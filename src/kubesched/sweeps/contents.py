"""Hashes of what a run depends on: snapshots, configurations, plugins, arguments and prices, by their content."""

import inspect
import os
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from kubesched.api import KubeObject
from kubesched.errors import InputError


def content_key(*parts: Any) -> str:
    """A hash of some values; names of files stand for what is in them.

    Raises:
        InputError: a file cannot be read.
    """
    digest = blake2b(digest_size=16)
    for part in parts:
        content = _content(part)
        digest.update(b"%d:" % len(content) + content)
    return digest.hexdigest()


def _content(part: Any) -> bytes:
    if isinstance(part, bytes):
        return part
    if isinstance(part, os.PathLike):
        return _of_files(Path(part))
    if isinstance(part, type):
        return _of_class(part)
    if isinstance(part, Mapping):
        return repr(sorted((str(key), _content(value)) for key, value in part.items())).encode()
    if isinstance(part, KubeObject):
        return part.raw
    if isinstance(part, msgspec.Struct):
        return repr(part).encode()
    if isinstance(part, Iterable) and not isinstance(part, str):
        return content_key(*part).encode()
    return str(part).encode()


def of_plugin(plugin: str | type) -> Any:
    """What a plugin is hashed by: the file of `FILE.py:Class`, too."""
    if isinstance(plugin, type):
        return plugin
    file = Path(plugin.rpartition(":")[0])
    return (plugin, file) if file.suffix == ".py" and file.is_file() else plugin


def _of_class(one: type) -> bytes:
    name = f"{one.__module__}.{one.__qualname__}"
    try:
        return f"{name}\n{inspect.getsource(one)}".encode()
    except (OSError, TypeError):  # typed in at a prompt
        return name.encode()


def _of_files(path: Path) -> bytes:
    """A file, or all files of a folder."""
    try:
        if path.is_dir():
            return content_key(*(each for each in sorted(path.rglob("*")) if each.is_file())).encode()
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
