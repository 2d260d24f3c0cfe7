"""The objects of a document, each with its place and the fields of the surrounding list."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kubesched.documents import RawJson, describe_json_fault
from kubesched.errors import ObjectError
from kubesched.snapshot.documents import Document, Header, read_header


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where an object is; `document` and `item` count from 1 and are 0 where there is no more than one."""

    label: str
    document: int = 0
    item: int = 0

    def __str__(self) -> str:
        document = f", document {self.document}" if self.document else ""
        item = f", item {self.item}" if self.item else ""
        return f"{self.label}{document}{item}"


def items_of(document: Document, label: str) -> Iterator[tuple[Place, Header, RawJson]]:
    """Yield each object of a list, or the one object that the document is, with the header for where it has none."""
    if document.items is None:
        yield Place(label, document.number), Header(), document.raw
        return
    inherited = _inherited(document.header)
    for i, raw in enumerate(document.items, 1):
        yield Place(label, document.number, i), inherited, raw


def _inherited(header: Header) -> Header:
    """What the items of a list are where they do not say: a PodList holds Pods."""
    if header.kind is None or header.kind == "List":
        return Header()
    return Header(header.api_version, header.kind.removesuffix("List"))


def header_of(raw: RawJson, inherited: Header) -> Header:
    """The object's own apiVersion and kind, or the inherited ones where it names no kind.

    Raises:
        ObjectError: it is not a map, or one of the two is not a string; or there is no kind at all.
    """
    try:
        header = read_header(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ObjectError(str(describe_json_fault(error, bytes(raw)))) from error
    if header.kind:
        return header
    if not inherited.kind:
        raise ObjectError("kind is missing; every object has apiVersion and kind")
    return inherited


def fault_of(place: Place, header: Header, raw: RawJson, error: ObjectError) -> ObjectError:
    """What is wrong with an object, with its place, kind and name."""
    who = " ".join(part for part in (header.kind, _name_in(raw)) if part)
    return ObjectError(f"{place}{f' ({who})' if who else ''}: {error}")


class _Named(msgspec.Struct):
    metadata: Any = None


def _name_in(raw: RawJson) -> str:
    """`namespace/name` as far as broken JSON lets it be known, else empty."""
    try:
        metadata = msgspec.json.decode(raw, type=_Named).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    if not isinstance(metadata, dict):
        return ""
    parts = (metadata.get("namespace"), metadata.get("name"))
    return "/".join(part for part in parts if isinstance(part, str) and part)
