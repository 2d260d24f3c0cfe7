"""Reads the members of a tar archive, plain or packed: Velero backups, must-gathers, support bundles.

Members are read one after another and never written, so a path cannot lead out of a folder.
"""

import tarfile
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

from kubesched.errors import InputError
from kubesched.snapshot.packing import MAX_UNPACKED, in_gib, most_unpacked, open_packed, packing_errors

MAX_ARCHIVE = 32 * 2**30
"""Bytes of all members, also of those that are not read, such as logs."""
MAX_MEMBERS = 500_000
"""Files, folders and links. Empty ones take next to nothing of a packed file, and time here."""
_HEADERS = 2**20  # bytes between the content of a member and that of the next, where long names are
_HEADER = 512
_MAX_NAMES = 10_000
_HEADER_FAULTS = (ValueError, OverflowError, RecursionError, MemoryError)  # what tarfile raises beside its own errors
_MAX_SHOWN = 200


def is_archive(data: bytes) -> bool:
    """Whether some data is a tar archive, perhaps packed with gzip or zstd."""
    damaged: tuple[type[Exception], ...] = (tarfile.HeaderError, *packing_errors())
    head = b""
    try:
        head = open_packed(data).read(_HEADER)
        tarfile.TarInfo.frombuf(head, tarfile.ENCODING, "surrogateescape")
    except damaged:
        return len(head) == _HEADER and not head.strip(b"\0")  # the end of an archive without members
    return True


def members_of(data: bytes, label: str, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield label and content of each file with one of the suffixes, but for hidden ones, in the order of the archive.

    Raises:
        InputError: the archive is damaged, cut or too large.
    """
    last = "its beginning"
    damaged: tuple[type[Exception], ...] = (tarfile.TarError, *_HEADER_FAULTS, *packing_errors())
    most = min(MAX_ARCHIVE, most_unpacked(data))
    try:
        for number, (archive, member) in enumerate(_members(data)):
            if number == MAX_MEMBERS:
                raise InputError(f"{label}: has more than {MAX_MEMBERS:,} files; expected less")
            last = _shown(member.name)
            if member.issparse():
                raise InputError(f"{label}: {last} is sparse; expected an archive without sparse files")
            if member.offset_data + member.size > most:
                raise InputError(f"{label}: has more than {in_gib(most)} when it is unpacked, at {last}")
            if not member.isfile() or not _is_wanted(member.name, suffixes):
                continue
            if member.size > MAX_UNPACKED:
                raise InputError(f"{label}: {last} has more than {in_gib(MAX_UNPACKED)}; expected less")
            content = archive.extractfile(member)
            yield f"{label}: {last}", content.read() if content else b""
    except damaged as error:
        why = "a header is not valid" if isinstance(error, _HEADER_FAULTS) else error
        raise InputError(f"{label}: the archive is damaged or cut, after {last}: {why}") from error


def names_in(data: bytes) -> list[str]:
    """The first files of an archive that `members_of` has read to its end."""
    files = (_shown(member.name) for _, member in _members(data) if member.isfile())
    return list(islice(files, _MAX_NAMES))


def _members(data: bytes) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Each member with the archive, from which its content can be read before the next."""
    stream: Any = _Metered(open_packed(data))
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            archive.members = []  # type: ignore[attr-defined]  # it would keep all of them
            stream.left = _HEADERS + (member.size if _has_content(member) else 0)
            yield archive, member


def _has_content(member: tarfile.TarInfo) -> bool:
    """Whether the size of a member is that of bytes that follow; tarfile takes unknown types for files."""
    return member.isreg() or member.type not in tarfile.SUPPORTED_TYPES


class _Metered:
    """A stream that gives only so many bytes: tarfile reads whole headers into the memory, whatever size they claim.

    Attributes:
        left: bytes until `read` fails.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.left = _HEADERS

    def read(self, size: int) -> bytes:
        """Read like a stream.

        Raises:
            ValueError: nothing is left.
        """
        part = self._stream.read(size)
        self.left -= len(part)
        if self.left < 0:
            raise ValueError("the headers of a member are too large")
        return part


def _is_wanted(name: str, suffixes: tuple[str, ...]) -> bool:
    steps = name.split("/")
    return name.endswith(suffixes) and not any(step.startswith(".") and step not in (".", "..") for step in steps)


def _shown(name: str) -> str:
    """The name of a member in a message: no control characters, not without end."""
    name = name.removeprefix("./")
    shown = name if name.isprintable() else ascii(name)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
