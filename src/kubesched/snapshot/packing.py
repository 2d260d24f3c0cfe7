"""Reads and writes gzip and zstd, recognised by the first bytes, or chosen by the suffix of a new file."""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Final

from kubesched.errors import InputError

PACKED_SUFFIXES: Final = (".gz", ".zst")

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_REFUSED: Final[dict[bytes, str]] = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
}


def unpack(data: bytes, label: str) -> bytes:
    """Undo gzip or zstd where the data is packed so, whatever the file is called.

    Raises:
        InputError: another compression, or packed data that is damaged or cut.
    """
    for magic, name in _REFUSED.items():
        if data.startswith(magic):
            raise InputError(f"{label}: compressed with {name}; expected gzip (.gz) or zstd (.zst)")
    if data.startswith(_GZIP):
        return _gunzip(data, label)
    if data.startswith(_ZSTD):
        return _unzstd(data, label)
    return data


def _gunzip(data: bytes, label: str) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError as error:
        raise InputError(f"{label}: the gzip data ends in the middle; the file is cut") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{label}: the gzip data is damaged: {error}") from error


def _unzstd(data: bytes, label: str) -> bytes:
    """Frame by frame: a file may hold several, and only the frame decoder tells a cut one."""
    parts = []
    while data:
        decoder, failure = _zstd_decoder()
        try:
            parts.append(decoder.decompress(data))
        except failure as error:
            raise InputError(f"{label}: the zstd data is damaged: {error}") from error
        if not decoder.eof:
            raise InputError(f"{label}: the zstd data ends in the middle; the file is cut")
        data = decoder.unused_data
    return b"".join(parts)


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
