"""Reads and writes gzip and zstd, recognised by the first bytes, or chosen by the suffix of a new file."""

import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Final

from kubesched.documents import MAX_BYTES
from kubesched.errors import InputError

PACKED_SUFFIXES: Final = (".gz", ".zst")

MAX_UNPACKED = MAX_BYTES
"""Bytes of one file after unpacking."""

_UNSUSPICIOUS: Final = 2**30
_MOST_PACKED: Final = 500  # times smaller: objects have uids, which nothing packs; a bomb is a thousand times smaller
_CHUNK: Final = 2**24
_ZSTD_CHUNK: Final = 2**13  # of packed data, which may be a thousand times as large unpacked
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_FRAMES: Final = (_ZSTD, *(bytes((0x50 + i, 0x2A, 0x4D, 0x18)) for i in range(16)))  # the latter are skipped
_PADDING: Final = re.compile(rb"[\0\n\r ]*")
_REFUSED: Final[dict[bytes, tuple[str, str]]] = {  # first bytes -> name, and the command that decompresses
    b"BZh": ("bzip2", "bzip2 -dc"),
    b"\xfd7zXZ\x00": ("xz", "xz -dc"),
    b"PK\x03\x04": ("zip", "unzip -p"),
    b"\x04\x22\x4d\x18": ("lz4", "lz4 -dc"),
    b"7z\xbc\xaf\x27\x1c": ("7z", "7z x -so"),
}


def unpack(data: bytes, label: str) -> bytes:
    """Undo gzip or zstd where the data is packed so, whatever the file is called.

    Raises:
        InputError: another compression, packed data that is damaged or cut, or more than MAX_UNPACKED bytes.
    """
    for magic, (name, command) in _REFUSED.items():
        if data.startswith(magic):
            advice = f"`{command} FILE | kubesched COMMAND -` reads it"
            raise InputError(f"{label}: compressed with {name}; expected gzip (.gz) or zstd (.zst); {advice}")
    if data.startswith(_GZIP):
        unpacked = _gunzip(data, label)
    elif data.startswith(_ZSTD):
        unpacked = _unzstd(data, label)
    else:
        return data
    if unpacked.startswith((_GZIP, _ZSTD)):
        command = "gzip -dc" if data.startswith(_GZIP) else "zstd -dc"
        raise InputError(f"{label}: compressed twice; expected once; `{command} FILE | kubesched COMMAND -` reads it")
    return unpacked


def open_packed(data: bytes) -> IO[bytes]:
    """A stream of what the data holds, packed or not. Reading it raises what the decoders raise (`packing_errors`)."""
    packed: Any = io.BytesIO(data)
    if data.startswith(_GZIP):
        packed = gzip.GzipFile(fileobj=packed)
    elif data.startswith(_ZSTD):
        packed = _zstd_reader(packed)
    stream: IO[bytes] = packed
    return stream


def _zstd_reader(packed: IO[bytes]) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(packed)
    import zstandard

    return zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)


def packing_errors() -> tuple[type[Exception], ...]:
    """What reading a stream of `open_packed` raises where the data is damaged or cut."""
    return (EOFError, OSError, zlib.error, _zstd_decoder()[1])


def _gunzip(data: bytes, label: str) -> bytes:
    stream = open_packed(data)
    try:
        return _joined(iter(lambda: stream.read(_CHUNK), b""), most_unpacked(data), label)
    except EOFError as error:
        raise InputError(f"{label}: the gzip data ends in the middle; the file is cut") from error
    except gzip.BadGzipFile as error:
        if "Not a gzipped file" in str(error):
            raise InputError(f"{label}: after the gzip data comes other data; the file is damaged") from error
        raise InputError(f"{label}: the gzip data is damaged: {error}") from error
    except zlib.error as error:
        raise InputError(f"{label}: the gzip data is damaged: {error}") from error


def _unzstd(data: bytes, label: str) -> bytes:
    return _joined(_zstd_parts(data, label), most_unpacked(data), label)


def _zstd_parts(data: bytes, label: str) -> Iterator[bytes]:
    """Frame by frame: a file may hold several, and only the frame decoder tells a cut one."""
    position = 0
    while position < len(data):
        decoder, failure = _zstd_decoder()
        while position < len(data) and not decoder.eof:
            part = data[position : position + _ZSTD_CHUNK]
            try:
                yield decoder.decompress(part)
            except failure as error:
                raise InputError(f"{label}: the zstd data is damaged: {error}") from error
            position += len(part)
        if not decoder.eof:
            raise InputError(f"{label}: the zstd data ends in the middle; the file is cut")
        position = _PADDING.match(data, position - len(decoder.unused_data)).end()  # type: ignore[union-attr]  # always
        if position < len(data) and not data.startswith(_ZSTD_FRAMES, position):
            raise InputError(f"{label}: after the zstd data comes other data; the file is damaged")


def most_unpacked(data: bytes) -> int:
    """Bytes that some packed data may have when it is unpacked, all files of an archive together."""
    return max(_UNSUSPICIOUS, _MOST_PACKED * len(data))


def _joined(parts: Iterator[bytes], most: int, label: str) -> bytes:
    most = min(most, MAX_UNPACKED)
    kept, size = list[bytes](), 0
    try:
        for part in parts:
            size += len(part)
            if size > most:
                raise InputError(f"{label}: has more than {in_gib(most)} when it is unpacked; expected less")
            kept.append(part)
        return b"".join(kept)
    except MemoryError:
        raise InputError(f"{label}: it does not fit into the memory when it is unpacked") from None


def in_gib(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 2**30:g} GiB"


def _zstd_decoder() -> tuple[Any, type[Exception]]:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor(), zstd.ZstdError
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError


@contextmanager
def packed_writer(file: IO[bytes], suffix: str) -> Iterator[Callable[[bytes], object]]:
    """Give a function that writes to an open binary file, packed as the suffix says; other suffixes write plainly.

    What comes out depends on the content alone: no name, no time. The file stays open.
    """
    if suffix == ".gz":
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed:
            yield packed.write
    elif suffix == ".zst":
        with _zstd_writer(file) as packed:
            yield packed.write
    else:
        yield file.write


def _zstd_writer(file: IO[bytes]) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(file, "w")
    import zstandard

    return zstandard.ZstdCompressor(level=3).stream_writer(file, closefd=False)
