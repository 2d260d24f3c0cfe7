"""Reads a file or stream to its end, and stops at one that does not end, such as a device or an endless pipe."""

import errno
from typing import IO, Any, Final, Protocol, runtime_checkable

MAX_BYTES = 8 * 2**30
"""Of one file; the largest clusters have a quarter of it."""
_CHUNK: Final = 2**24
_END: Final = 2


@runtime_checkable
class OpenableFile(Protocol):
    """A file, such as a pathlib.Path."""

    def open(self, mode: str, /) -> IO[Any]:
        """The file as a stream."""


def read_file(file: OpenableFile) -> bytes:
    """The content of a file.

    Raises:
        OSError: it cannot be read, has more than MAX_BYTES or does not fit into the memory.
    """
    with file.open("rb") as stream:
        size = _size_of(stream)
        if size > MAX_BYTES:
            raise _too_large()
        return bytes(read_whole(stream, size + 1 if size else _CHUNK))


def read_whole(stream: IO[Any], chunk: int = _CHUNK) -> Any:
    """What is left of a stream: bytes, or a text.

    Raises:
        OSError: as with `read_file`.
    """
    parts: list[Any] = []
    n_read = 0
    try:
        while part := stream.read(chunk):
            parts.append(part)
            n_read += len(part)
            if n_read > MAX_BYTES:
                raise _too_large()
        return parts[0][:0].join(parts) if parts else b""
    except MemoryError as error:
        raise OSError(errno.ENOMEM, "it does not fit into the memory") from error


def _size_of(stream: IO[bytes]) -> int:
    """The size of a regular file; 0 for others, such as pipes, devices and those of /proc."""
    try:
        size = stream.seek(0, _END)
        stream.seek(0)
    except OSError:
        return 0
    return size


def _too_large() -> OSError:
    return OSError(errno.EFBIG, f"it has more than {MAX_BYTES / 2**30:g} GiB; expected less")
