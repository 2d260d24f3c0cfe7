"""Reads bytes from files, folders, standard input and open streams, unpacks them and converts them to UTF-8.

A folder gives its `*.json`, `*.yaml` and `*.yml` files, also with `.gz` or `.zst`, in order of their paths; so the
folder that `kubectl cluster-info dump --output-directory` makes can be read as it is; its logs are left out. A tar
archive is read as a folder is.
"""

import codecs
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from kubesched.documents import read_file, read_whole
from kubesched.errors import InputError
from kubesched.snapshot.archives import is_archive, members_of
from kubesched.snapshot.packing import PACKED_SUFFIXES, unpack

SourceLike = str | os.PathLike[str] | IO[bytes] | IO[str]

_STDIN: Final = "<stdin>"
_TEXT_SUFFIXES: Final = (".json", ".yaml", ".yml")
_SUFFIXES: Final = tuple(text + packed for text in _TEXT_SUFFIXES for packed in ("", *PACKED_SUFFIXES))
_WIDE: Final = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # what PowerShell's `>` writes
_WARNINGS: Final = re.compile(rb"\A(?:(?:Warning: |[IWEF]\d{4} \d\d:\d\d:)[^\n]*\n)+")  # of kubectl and its libraries
_PROBE: Final = 65536  # bytes looked at for signs of a binary file


class Source(msgspec.Struct, frozen=True):
    """Something to read.

    Attributes:
        label: how messages call it: the path, `<stdin>` or the stream's name.
        path: the file, None for streams.
        stream: the stream, None for files. Neither is there for what a folder has that is not a file, such as a pipe;
            it is left out.
        size: bytes as stored, 0 when not known.
        is_named: whether the user named the file; else it was in a folder, where other files may be, too.
    """

    label: str
    path: Path | None = None
    stream: Any = None
    size: int = 0
    is_named: bool = True


class Text(msgspec.Struct, frozen=True):
    """The content of a file or of a member of an archive.

    Attributes:
        label: how messages call it.
        data: UTF-8.
        is_named: as of a source; the members of an archive are not.
    """

    label: str
    data: bytes
    is_named: bool


def find_sources(given: Iterable[SourceLike]) -> list[Source]:
    """List the files and streams behind what a user names, folders opened up, in the order given.

    Raises:
        InputError: nothing is there, a folder holds no file to read, or standard input is named twice.
    """
    sources = [source for one in given for source in _sources_of(one)]
    if sum(source.label == _STDIN for source in sources) > 1:
        raise InputError('standard input ("-") is given twice, but can be read only once')
    return sources


def _sources_of(given: SourceLike) -> list[Source]:
    if not isinstance(given, str | os.PathLike):
        name = getattr(given, "name", None)
        return [Source(name if isinstance(name, str) and name else "<stream>", stream=given)]
    if given == "-":
        return [Source(_STDIN, stream=sys.stdin.buffer)]
    if not os.fspath(given):
        raise InputError("a file name is empty; write . for the current folder")
    path = Path(given)
    try:
        return _files_in(path) if path.is_dir() else [Source(str(path), path, size=path.stat().st_size)]
    except FileNotFoundError:
        raise InputError(f"{path}: no such file or folder") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read: {_reason(error)}") from error


def _files_in(folder: Path) -> list[Source]:
    paths = sorted(path for path in _walk(folder) if path.name.endswith(_SUFFIXES))
    if not paths:
        raise InputError(f"{folder}: no file in this folder has a known suffix; expected {', '.join(_SUFFIXES)}")
    return [_file_in_folder(path) for path in paths]


def _file_in_folder(path: Path) -> Source:
    if not path.is_file():
        return Source(str(path), is_named=False)
    return Source(str(path), path, size=path.stat().st_size, is_named=False)


def _walk(folder: Path) -> Iterator[Path]:
    """Files below a folder; names that begin with a dot are left out, as in a mounted ConfigMap."""
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(where, name) for name in files if not name.startswith("."))


def read_texts(source: Source) -> Iterator[Text]:
    """Read a source: unpacked, as UTF-8 without a byte order mark, without warnings before the text.

    Raises:
        InputError: the file cannot be read, is empty, is packed in a way that cannot be undone, or is not text. In
            folders and archives, files that are empty or not text give an empty text.
    """
    data = _read_bytes(source)
    if not is_archive(data):
        yield _text_of(data, source.label, is_named=source.is_named)
        return
    n_members = 0
    for label, content in members_of(data, source.label, _SUFFIXES):
        n_members += 1
        yield _text_of(content, label, is_named=False)
    if not n_members:
        raise InputError(f"{source.label}: no file in this archive has a known suffix; expected {', '.join(_SUFFIXES)}")


def _text_of(packed: bytes, label: str, *, is_named: bool) -> Text:
    data = unpack(packed, label)
    encoding = _WIDE.get(data[:2])
    if encoding:
        data = _recode(data, encoding, label)
    data = data.removeprefix(codecs.BOM_UTF8)
    data = _WARNINGS.sub(lambda warnings: re.sub(rb"[^\n]", b" ", warnings[0]), data)  # lines keep their numbers
    fault = _fault_of(data)
    if fault and is_named:
        raise InputError(f"{label}: {fault}")
    return Text(label, b"" if fault else data, is_named)


def _fault_of(data: bytes) -> str:
    if not data[:_PROBE].strip() and not data.strip():
        return "the file is empty; expected JSON or YAML with Kubernetes objects"
    if b"\x00" in data[:_PROBE]:
        return "binary data; expected JSON or YAML, plain or compressed with gzip or zstd"
    return ""


def _read_bytes(source: Source) -> bytes:
    try:
        data = read_file(source.path) if source.path is not None else read_whole(source.stream)
    except (OSError, ValueError) as error:
        raise InputError(f"{source.label}: cannot be read: {_reason(error)}") from error
    return data.encode() if isinstance(data, str) else bytes(data)


def _recode(data: bytes, encoding: str, label: str) -> bytes:
    try:
        return data.decode(encoding).encode()
    except UnicodeDecodeError as error:
        raise InputError(f"{label}: starts like {encoding} text, but is not valid: {error.reason}") from error


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
