"""Decodes the lists and watches of an API server piece by piece, without dicts."""

from typing import Final

import msgspec

from kubesched.documents import decode_nested

__all__ = ["ListPage", "Outline", "WatchLine", "outline_of", "read_line", "split_lines"]


class ListMeta(msgspec.Struct, rename="camel"):
    """metadata of a list."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class ListPage(msgspec.Struct):
    """A list, or a page of one; the items are slices of the answer."""

    kind: str = ""
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


_read_line: Final = msgspec.json.Decoder(WatchLine).decode
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


def split_lines(rest: bytes, piece: bytes) -> tuple[list[bytes], bytes]:
    """The lines that a piece completes, and the beginning of the next one."""
    *lines, rest = (rest + piece).split(b"\n")
    return [line for line in lines if line], rest
