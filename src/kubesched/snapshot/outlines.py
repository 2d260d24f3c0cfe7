"""Reads the metadata of objects alone, for a shell that completes their names and cannot wait for a large file."""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

import msgspec

from kubesched.api import KINDS, KubeObject, ObjectMeta, kind_key
from kubesched.snapshot.byte_sources import Source, find_sources
from kubesched.snapshot.files import Files
from kubesched.snapshot.items import items_of
from kubesched.snapshot.packing import PACKED_SUFFIXES

_MOST_BYTES: Final = 64 * 2**20  # a second of reading
_MOST_PACKED: Final = 4 * 2**20
_MOST_YAML: Final = 2**19


class _Outline(msgspec.Struct):
    metadata: ObjectMeta = ObjectMeta()


_read_outline: Final = msgspec.json.Decoder(_Outline).decode


def read_outlines(given: Iterable[str], kinds: Collection[str]) -> list[KubeObject]:
    """The objects of some kinds in files, with their metadata and nothing else.

    Args:
        given: files and folders.
    Returns: in the order of the files; nothing if the files take too long to read while a user types.
    Raises:
        InputError: a file cannot be read.
    """
    sources = find_sources(given)
    if sum(map(_weight, sources)) > 1:
        return []
    return [known for source in sources for known in _outlines_in(source, kinds)]


def _weight(source: Source) -> float:
    """Which part of that time a file takes."""
    name = source.label
    if name.endswith(PACKED_SUFFIXES):
        return source.size / _MOST_PACKED
    return source.size / (_MOST_YAML if name.endswith((".yaml", ".yml")) else _MOST_BYTES)


def _outlines_in(source: Source, kinds: Collection[str]) -> Iterator[KubeObject]:
    for label, document in Files().documents(source):
        for item in items_of(document, label):
            key = kind_key(item.header.kind or "", (item.header.api_version or "").rpartition("/")[0])
            if item.fault is None and key in kinds:
                yield KINDS[key].type(metadata=_read_outline(item.raw).metadata)
