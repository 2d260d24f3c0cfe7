"""Splits the bytes of a file into documents: JSON values one after another, or YAML, each with its kind.

The items of a list stay slices of the file (`msgspec.Raw`): no dict is made per object. There may be `---` between
JSON values, and the log sections that `kubectl cluster-info dump` writes to standard output.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Final

import msgspec

from kubesched.api import KINDS
from kubesched.documents import RawJson, RepeatedKey, describe_json_fault, read_yaml
from kubesched.errors import InputError, YamlError

_TRAILING: Final = re.compile(r"trailing characters \(byte (\d+)\)")
_AT_BYTE: Final = re.compile(r"(?:JSON is malformed: )?(.*) \(byte (\d+)\)")
_BETWEEN: Final = re.compile(rb"(?:\s|---[^\n]*|==== START logs [^\n]*\n(?s:.*?)==== END logs [^\n]*)*")
_USUAL_HEADER: Final = re.compile(rb'\s*\{\s*"apiVersion"\s*:\s*"([^"\\]*)"\s*,\s*"kind"\s*:\s*"([^"\\]*)"')
_LIST_KINDS: Final = {"List", *(f"{kind.name}List" for kind in KINDS.values())}
_JSON_FAULTS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


_NO_METADATA: Final = msgspec.Raw(b"{}")


class Header(msgspec.Struct, rename="camel", gc=False):
    """What an object says it is; None where it does not say."""

    api_version: str | None = None
    kind: str | None = None


class ListOrigin(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """What `write_snapshot` writes into the metadata of a list.

    Attributes:
        taken_at: when the objects were read from the API server.
        listed_kinds: kinds that are there completely.
        scheduler_config: the KubeSchedulerConfiguration that the objects came with.
        server_version: what the API server says of itself at `/version`, such as `v1.36.3`.
    """

    taken_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    listed_kinds: tuple[str, ...] = ()
    scheduler_config: dict[str, Any] | None = None
    server_version: str = ""


class _List(Header):
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET
    metadata: msgspec.Raw = _NO_METADATA


class FileDocument(msgspec.Struct, frozen=True):
    """One JSON value or YAML document that is a map.

    Attributes:
        number: its place in the file, from 1; 0 for a single JSON value.
        raw: the JSON.
        header: apiVersion and kind.
        items: of a list of objects, its items; None for everything else.
        is_deleted: whether it is the object of a watch event that says so.
        repeated_keys: of a YAML document, the keys that a map has twice; the last value counts.
        origin: of a list of objects, what its metadata has.
        unread: the fields of that which have something else, as JSON.
    """

    number: int
    raw: RawJson
    header: Header
    items: list[msgspec.Raw] | None = None
    is_deleted: bool = False
    repeated_keys: tuple[RepeatedKey, ...] = ()
    origin: ListOrigin = ListOrigin()
    unread: Mapping[str, str] = MappingProxyType({})


_read_header: Final = msgspec.json.Decoder(Header).decode
_read_origin: Final = msgspec.json.Decoder(ListOrigin).decode
_read_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_read_list: Final = msgspec.json.Decoder(_List).decode
_read_array: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


def read_documents(data: bytes, label: str) -> Iterator[FileDocument]:
    """Yield the documents of a file; empty YAML documents are left out.

    Args:
        label: how messages call the file. In one named .yaml or .yml, what is not JSON is read as YAML though it begins
            with `{`.
    Raises:
        InputError: the file is neither JSON nor YAML, or a document is not an object.
    """
    if data.lstrip()[:1] not in (b"{", b"["):
        yield from _yaml_documents(data, label)
        return
    try:
        yield from list(_json_documents(data, label))
    except InputError:
        if not re.search(r"\.ya?ml(\.\w+)?$", label):
            raise
        yield from _yaml_documents(data, label)


def read_header(raw: RawJson) -> Header:
    """Read apiVersion and kind of an object, quickly where they come first, as kubectl writes them.

    Raises:
        msgspec.DecodeError: the JSON is not an object, or one of them is not a string.
        UnicodeDecodeError: one of them is not UTF-8.
    """
    usual = _USUAL_HEADER.match(raw)
    return Header(usual[1].decode(), usual[2].decode()) if usual else _read_header(raw)


def read_document(raw: RawJson, label: str) -> FileDocument:
    """Read one JSON value, such as a list in a list.

    Raises:
        InputError: it is not an object or an array.
    """
    return _document(raw, 0, label)


def _yaml_documents(data: bytes, label: str) -> Iterator[FileDocument]:
    try:
        for number, document in enumerate(read_yaml(data), 1):
            if document.value is not None:
                read = _document(msgspec.json.encode(document.value), number, label)
                repeated = tuple(key for key in document.repeated_keys if not key.is_merged)
                yield msgspec.structs.replace(read, repeated_keys=repeated) if repeated else read
    except YamlError as error:
        advice = "; found a tab, expected spaces" if _has_tab(data, error) else ""
        raise InputError(f"{label}: {error}{advice}") from error


def _has_tab(data: bytes, error: YamlError) -> bool:
    """Whether a line that is not YAML begins with a tab."""
    if not error.is_syntax or error.at is None:
        return False
    line = error.at[0]
    return b"".join(data.splitlines()[line - 1 : line]).lstrip(b" -").startswith(b"\t")


def _json_documents(data: bytes, label: str) -> Iterator[FileDocument]:
    view = memoryview(data)
    number, start = 1, _skip(data, 0)
    while start < len(data):
        end = len(data)
        try:
            document = _document(view[start:], number if number > 1 else 0, label)
        except _JSON_FAULTS as error:
            end = _end_of_value(error, data, start)
            if not end:
                raise InputError(f"{label}: {_syntax_fault(error, data, start)}") from error
            is_alone = number == 1 and _skip(data, end) == len(data)
            document = _document(view[start:end], 0 if is_alone else number, label)
        yield document
        number, start = number + 1, _skip(data, end)


def _skip(data: bytes, position: int) -> int:
    """Where the next JSON value begins."""
    between = _BETWEEN.match(data, position)
    return between.end() if between else position


def _end_of_value(error: Exception, data: bytes, start: int) -> int:
    """Where a JSON value ends that something follows, read off the decoder's complaint; 0 if it has another."""
    trailing = _TRAILING.search(str(error))
    if not trailing:
        return 0
    end = start + int(trailing[1]) - 1
    return max(data.rfind(b"}", start, end), data.rfind(b"]", start, end)) + 1


def _document(raw: RawJson, number: int, label: str) -> FileDocument:
    """A JSON value as a document. Lists are arrays and kinds of lists; those of unknown kinds if they have items."""
    where = f"{label}: document {number}" if number else label
    if bytes(memoryview(raw)[:1]) == b"[":
        return FileDocument(number, raw, Header(), _read_array(raw))
    items: object = msgspec.UNSET
    metadata = _NO_METADATA
    try:
        read = _read_list(raw)
        header, items, metadata = Header(read.api_version, read.kind), read.items, read.metadata
    except msgspec.ValidationError as error:
        header = _read_odd_header(raw, where)
        if header.kind in _LIST_KINDS:
            raise InputError(f"{where}: {describe_json_fault(error, bytes(raw))}") from error
    has_items = items is not msgspec.UNSET and (header.kind or "").endswith("List")
    if not has_items and header.kind not in _LIST_KINDS:
        return FileDocument(number, raw, header)
    origin, unread = _origin(metadata)
    return FileDocument(number, raw, header, items if isinstance(items, list) else [], origin=origin, unread=unread)


def _origin(metadata: msgspec.Raw) -> tuple[ListOrigin, dict[str, str]]:
    """What the metadata of a list has, and the fields that have something else, as JSON."""
    try:
        return _read_origin(metadata), {}
    except _JSON_FAULTS:
        return _readable_origin(metadata)


def _readable_origin(metadata: msgspec.Raw) -> tuple[ListOrigin, dict[str, str]]:
    origin, unread = ListOrigin(), {}
    try:
        given = _read_fields(metadata)
    except _JSON_FAULTS:  # it is not a map
        return origin, {}
    for field in msgspec.structs.fields(ListOrigin):
        raw = given.get(field.encode_name, msgspec.Raw(b""))
        try:
            value = msgspec.json.decode(raw, type=field.type) if raw else field.default
            origin = msgspec.structs.replace(origin, **{field.name: value})
        except _JSON_FAULTS:
            unread[field.encode_name] = bytes(raw).decode(errors="replace")
    return origin, unread


def _read_odd_header(raw: RawJson, where: str) -> Header:
    try:
        return _read_header(raw)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {describe_json_fault(error, bytes(raw))}") from error


def _syntax_fault(error: Exception, data: bytes, start: int) -> str:
    if str(error) == "Input data was truncated":
        return f"the JSON that begins at byte {start} ends in the middle; the file is cut after {len(data)} bytes"
    placed = _AT_BYTE.fullmatch(str(error))
    if placed is None:
        return f"not valid JSON: {describe_json_fault(error, b'')}"
    position = min(start + int(placed[2]), len(data))
    line = data.count(b"\n", 0, position) + 1
    column = position - data.rfind(b"\n", 0, position)
    return f"line {line}, column {column}: not valid JSON: {placed[1]}"
