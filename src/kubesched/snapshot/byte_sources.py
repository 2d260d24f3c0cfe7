"""Reads bytes from files, folders, standard input and open streams, unpacks them and converts them to UTF-8.

A folder gives its `*.json`, `*.yaml` and `*.yml` files, also with `.gz` or `.zst`, in order of their paths; so the
folder that `kubectl cluster-info dump --output-directory` makes can be read as it is; its logs are left out. A tar
archive is read as a folder is.
"""

import codecs
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from kubesched.documents import listed, read_file, read_whole
from kubesched.errors import InputError
from kubesched.snapshot.archives import is_archive, members_of, names_in
from kubesched.snapshot.packing import PACKED_SUFFIXES, unpack

SourceLike = str | os.PathLike[str] | IO[bytes] | IO[str]

_ARCHIVES: Final = (".tar", ".tgz", *(f".tar.{suffix}" for suffix in ("gz", "zst", "xz", "bz2")))
_STDIN: Final = "<stdin>"
_TEXT_SUFFIXES: Final = (".json", ".yaml", ".yml")
_SUFFIXES: Final = tuple(text + packed for text in _TEXT_SUFFIXES for packed in ("", *PACKED_SUFFIXES))
_WIDE_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # what the `>` of PowerShell writes; also of UTF-32
_WARNING: Final = (  # of kubectl, its libraries and helm
    rb"(?:Warning: |[IWEF]\d{4} \d\d:\d\d:|[\w/.-]+\.go:\d+: |level=[A-Z]+ msg=|Pulled: |Digest: sha256:)[^\n]*"
)
_FIRST_WARNING: Final = re.compile(rb"%b\n" % _WARNING)
_LAST_WARNINGS: Final = re.compile(rb"(?:\n%b)+\s*\Z" % _WARNING)
_TAIL: Final = 4096  # bytes looked at for warnings after the text
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
        names = sorted(str(path.relative_to(folder)) for path in _walk(folder))
        advice = f"name the file: {folder}/{archive}" if (archive := _archive_in(names)) else ""
        raise InputError(f"{folder}: {_without_files('folder', names, advice)}")
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
    """Read a source: unpacked, as UTF-8 without a byte order mark, without warnings before and after the
    text.

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
        names = names_in(data)
        advice = f"extract {archive} and name it" if (archive := _archive_in(names)) else ""
        raise InputError(f"{source.label}: {_without_files('archive', names, advice)}")


def read_unpacked(source: Source) -> bytes:
    """The content of a file or stream, unpacked, without a byte order mark.

    Raises:
        InputError: it cannot be read, or is packed in a way that cannot be undone.
    """
    return unpack(_read_bytes(source), source.label).removeprefix(codecs.BOM_UTF8)


def _archive_in(names: Sequence[str]) -> str:
    return next((name for name in names if name.endswith(_ARCHIVES)), "")


def _without_files(what: str, names: Sequence[str], advice: str) -> str:
    """Why there is nothing to read in a folder or an archive."""
    if not names:
        return f"this {what} has no files"
    if advice:
        return f"this {what} has an archive, which is not opened; {advice}"
    return f"no file in this {what} has a known suffix; expected {', '.join(_SUFFIXES)}; found {listed(names)}"


def _text_of(packed: bytes, label: str, *, is_named: bool) -> Text:
    data = unpack(packed, label)
    if data.startswith(_WIDE_MARKS) or _is_wide(data):
        data = _recode(data, json.detect_encoding(data), label)
    data = data.removeprefix(codecs.BOM_UTF8)
    data = _without_warnings(data)
    fault = _fault_of(data)
    if fault and is_named:
        raise InputError(f"{label}: {fault}")
    return Text(label, b"" if fault else data, is_named)


def _without_warnings(data: bytes) -> bytes:
    """The text with spaces for the warnings before and after it: lines keep their numbers."""
    begin = 0
    while first := _FIRST_WARNING.match(data, begin):
        begin = first.end()
    if begin:
        data = re.sub(rb"[^\n]+", lambda warning: b" " * len(warning[0]), data[:begin]) + data[begin:]
    last = _LAST_WARNINGS.search(data, max(len(data) - _TAIL, 0))
    return data[: last.start()] if last else data


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


def _is_wide(data: bytes) -> bool:
    """Whether a text without a byte order mark begins with a letter or bracket of UTF-16 or UTF-32."""
    encoding = json.detect_encoding(data[:4])
    first = data[:4].decode(encoding, errors="replace")[:1]
    return encoding.startswith(("utf-16", "utf-32")) and first.isascii() and first.isprintable()


def _recode(data: bytes, encoding: str, label: str) -> bytes:
    try:
        return data.decode(encoding).encode()
    except UnicodeDecodeError as error:
        raise InputError(f"{label}: starts like {encoding} text, but is not valid: {error.reason}") from error


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
