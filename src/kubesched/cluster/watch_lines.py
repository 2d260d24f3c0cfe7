"""Decodes the lists and watches of an API server piece by piece, without dicts."""

from functools import cache
from typing import Final

import msgspec

from kubesched.api import Kind
from kubesched.documents import decode_nested

MAX_LINE: Final = 2**24
"""How many bytes a line of a watch may have: ten times the largest object that etcd takes by default."""


class ListMeta(msgspec.Struct, rename="camel"):
    """metadata of a list."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class ListPage(msgspec.Struct):
    """A list, or a page of one; the items are slices of the answer."""

    kind: str = ""
    api_version: str = msgspec.field(default="", name="apiVersion")
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: list[msgspec.Raw] | None = None


class WatchLine(msgspec.Struct):
    """One line of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, and what it is about."""

    type: str
    object: msgspec.Raw


class Outline(msgspec.Struct, rename="camel"):
    """What identifies an object, read where the rest may not decode."""

    name: str = ""
    namespace: str = ""
    resource_version: str = ""

    @property
    def key(self) -> str:
        """As KubeObject.key."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class _Outlined(msgspec.Struct):
    metadata: Outline = msgspec.field(default_factory=Outline)


class _Typed(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""


class Lines:
    """Puts the pieces of a stream together to lines.

    Attributes:
        n_waiting: how many bytes of a line have come whose end has not.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.n_waiting = 0

    def complete(self, piece: bytes) -> list[bytes]:
        """The lines that a piece completes; empty ones are left out."""
        first, line_end, others = piece.partition(b"\n")
        self._parts.append(first)
        self.n_waiting += len(first)
        if not line_end:
            return []
        *whole, last = others.split(b"\n")
        lines = [b"".join(self._parts), *whole]
        self._parts, self.n_waiting = [last], len(last)
        return [line for line in lines if line]


_read_line: Final = msgspec.json.Decoder(WatchLine).decode
_read_type: Final = msgspec.json.Decoder(_Typed).decode
_read_outline: Final = msgspec.json.Decoder(_Outlined).decode


def read_line(line: bytes) -> WatchLine:
    """Decode a line; what is too deep to be read is null."""
    return decode_nested(_read_line, line)


def outline_of(raw: msgspec.Raw) -> Outline:
    """Name and version of an object, empty where even they do not decode."""
    try:
        return decode_nested(_read_outline, raw).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Outline()


def foreign_type(kind: Kind, raw: msgspec.Raw) -> str:
    """The type of an object that is not of a kind, as `v2/Pod`; "" if it is, or names none, as the items of a list."""
    begin = bytes(memoryview(raw)[:128])
    is_usual = begin.startswith((b'{"metadata":', b'{"kind":"%s","apiVersion":"%s",' % _names(kind)))
    if is_usual or not kind.name:
        return ""
    try:
        found = decode_nested(_read_type, raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""  # the whole object does not decode, and has its message for that
    is_same = found.kind in ("", kind.name) and found.api_version in ("", kind.api_version)
    return "" if is_same else f"{found.api_version}/{found.kind}"


@cache
def _names(kind: Kind) -> tuple[bytes, bytes]:
    return kind.name.encode(), kind.api_version.encode()
