"""The objects of a document, each with its place and the fields of the surrounding list."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubesched.api import KINDS, kind_key
from kubesched.controllers import GROUPS
from kubesched.documents import RawJson, describe_json_fault, on_one_line
from kubesched.errors import ObjectError
from kubesched.snapshot.object_documents import FileDocument, Header, read_document, read_header
from kubesched.snapshot.unusable_input import unnamed_hint

_MAX_DEPTH: Final = 5


class ItemPlace(msgspec.Struct, frozen=True, gc=False):
    """Where an object is; `document` and `item` count from 1 and are 0 where there is no more than one."""

    label: str
    document: int = 0
    item: int = 0

    def __str__(self) -> str:
        document = f", document {self.document}" if self.document else ""
        item = f", item {self.item}" if self.item else ""
        return f"{self.label}{document}{item}"


class Item(msgspec.Struct, frozen=True, gc=False):
    """An object, or what is in the place of one.

    Attributes:
        header: its apiVersion and kind, or those that the list gives it.
        fault: why it is not an object.
    """

    place: ItemPlace
    header: Header
    raw: RawJson
    fault: ObjectError | None = None


def items_of(document: FileDocument, label: str, depth: int = 0) -> Iterator[Item]:
    """Yield each object of a list, also of the lists in it, or the one object that the document is."""
    if document.items is None:
        yield _item(ItemPlace(label, document.number), Header(), document.raw)
        return
    inherited = _inherited(document.header)
    for i, raw in enumerate(document.items, 1):
        item = _item(ItemPlace(label, document.number, i), inherited, raw)
        if not _may_be_list(item):
            yield item
        elif depth < _MAX_DEPTH:
            inner = read_document(raw, str(item.place))
            yield from [item] if inner.items is None else items_of(inner, str(item.place), depth + 1)
        else:
            yield msgspec.structs.replace(item, fault=ObjectError(f"lists are nested more than {_MAX_DEPTH} deep"))


def _item(place: ItemPlace, inherited: Header, raw: RawJson) -> Item:
    """An object with its own apiVersion and kind, or with the inherited ones where it names no kind.

    It has a fault if it is not a map, one of the two is not a string, or there is no kind at all.
    """
    try:
        header = read_header(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Item(place, inherited, raw, ObjectError(str(describe_json_fault(error, bytes(raw)))))
    if header.kind or inherited.kind:
        return Item(place, header if header.kind else inherited, raw)
    hint = unnamed_hint(_read_keys(raw), place.label)
    text = f"kind is missing; every object has apiVersion and kind{hint and f'; {hint}'}"
    return Item(place, inherited, raw, ObjectError(text))


def _may_be_list(item: Item) -> bool:
    """Whether an item is an array, or has the kind of a list."""
    if item.fault is not None:
        return bytes(memoryview(item.raw)[:1]) == b"["
    return (item.header.kind or "").endswith("List")


def _inherited(header: Header) -> Header:
    """What the items of a list are where they do not say: a PodList holds Pods."""
    if header.kind is None or header.kind == "List":
        return Header()
    return Header(header.api_version, header.kind.removesuffix("List"))


def fault_of(item: Item, error: ObjectError) -> ObjectError:
    """What is wrong with an object, with its place, kind and name."""
    who = " ".join(part for part in (item.header.kind, _name_in(item.raw)) if part)
    return ObjectError(f"{item.place}{f' ({on_one_line(who)})' if who else ''}: {error}")


def in_namespace(item: Item, namespace: str) -> Item:
    """An object in a namespace, if it can be in one and names none.

    Raises:
        ObjectError: it names another one, which `kubectl apply -n` refuses too.
    """
    kind, version = item.header.kind or "", item.header.api_version or ""
    read = KINDS.get(kind_key(kind, version.rpartition("/")[0]))
    if not (read.namespaced if read is not None else kind in GROUPS):
        return item
    document = msgspec.json.decode(item.raw)
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return item
    if (written := metadata.get("namespace") or namespace) != namespace:
        fault = f"metadata.namespace: found {written!r}; expected {namespace!r}, which -n names"
        raise fault_of(item, ObjectError(fault))
    document["metadata"] = {**metadata, "namespace": namespace}
    return msgspec.structs.replace(item, raw=msgspec.Raw(msgspec.json.encode(document)))


_read_keys: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


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
