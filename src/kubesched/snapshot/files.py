"""Reads the documents of sources, whatever form they have: lists, watch streams, exports of a simulator.

In folders and archives a file without Kubernetes objects is left out.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubesched.api import KINDS, Kind
from kubesched.documents import RawJson, count, escape_controls, listed, shorten
from kubesched.errors import InputError, YamlError
from kubesched.snapshot.byte_sources import Source, Text, read_texts
from kubesched.snapshot.object_documents import FileDocument, Header, read_documents, read_header
from kubesched.snapshot.unusable_input import broken_hint, is_template, kind_hint, text_hint

_OF_KUBERNETES: Final = re.compile(rb"\b(?:apiVersion|kind)[\"']?\s*:")
_LIST_NAME: Final = re.compile(r"([A-Za-z]+)\.json(?:\.\w+)?$")
_BY_PLURAL: Final = {kind.plural: kind for kind in KINDS.values() if kind.plural != "podgroups"}
_PREFERRED: Final = re.compile(r"/\w+-preferredversion/")
_EVENTS: Final = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
_EXPORTED: Final = {  # the lists in an export of kube-scheduler-simulator
    "nodes": "Node",
    "pods": "Pod",
    "pvs": "PersistentVolume",
    "pvcs": "PersistentVolumeClaim",
    "storageClasses": "StorageClass",
    "priorityClasses": "PriorityClass",
    "namespaces": "Namespace",
}


class _Unnamed(msgspec.Struct, rename="camel"):
    """A document without a kind."""

    type: str | None = None
    object: msgspec.Raw = msgspec.Raw()
    nodes: list[msgspec.Raw] | None = None
    pods: list[msgspec.Raw] | None = None
    pvs: list[msgspec.Raw] | None = None
    pvcs: list[msgspec.Raw] | None = None
    storage_classes: list[msgspec.Raw] | None = None
    priority_classes: list[msgspec.Raw] | None = None
    namespaces: list[msgspec.Raw] | None = None
    scheduler_config: dict[str, Any] | None = None
    items: list[msgspec.Raw] | None = None


class _Status(msgspec.Struct):
    message: str = ""


class _Outline(msgspec.Struct):
    metadata: msgspec.Raw = msgspec.Raw()


_read_unnamed: Final = msgspec.json.Decoder(_Unnamed).decode
_read_outline: Final = msgspec.json.Decoder(_Outline).decode
_read_status: Final = msgspec.json.Decoder(_Status).decode


class Files:
    """Reads sources one after another.

    Args:
        are_manifests: whether they have new objects, of which none may be left out; else those of a cluster.
    Attributes:
        foreign: labels of the files that were left out.
        templates: labels of the templates that were left out.
        special: labels of what folders have that is not a file, such as pipes and links to nothing.
        repeated_keys: of the files that have a key twice in a map, where, by their labels; the last value counts.
        broken_watches: how the watches ended that broke off, by the labels of their files.
        unread_metadata: fields of the metadata of lists that are not what is written there, by label and name.
        scheduler_config: the KubeSchedulerConfiguration that an export or a written snapshot has, in JSON; empty
            without one.
    """

    def __init__(self, *, are_manifests: bool = False) -> None:
        self._are_manifests = are_manifests
        self.foreign: list[str] = []
        self.templates: list[str] = []
        self.special: list[str] = []
        self.repeated_keys: dict[str, list[str]] = {}
        self.broken_watches: dict[str, str] = {}
        self.unread_metadata: dict[tuple[str, str], str] = {}
        self._copies: dict[str, str] = {}
        self.scheduler_config = b""

    @property
    def notes(self) -> list[str]:
        """What the user should know, one sentence each."""
        notes = []
        if self.foreign:
            notes.append(
                f"left out {count(len(self.foreign), 'file')} without Kubernetes objects: {listed(self.foreign)}"
            )
        if self.templates:
            advice = "`helm template CHART` prints the objects of a chart"
            notes.append(
                f"left out {count(len(self.templates), 'file')} with templates: {listed(self.templates)}; {advice}"
            )
        if self.special:
            notes.append(f"left out what is not a regular file: {listed(self.special)}")
        notes += [f"{label}: {listed(keys)}; the last value counts" for label, keys in self.repeated_keys.items()]
        notes += [
            f"{label}: the watch broke off with {shorten(message)}; later changes are missing"
            for label, message in self.broken_watches.items()
        ]
        notes += [
            f"{label}: metadata.{name} is {escape_controls(text):.60}, which is not what a snapshot has there; it does "
            "not count"
            for (label, name), text in self.unread_metadata.items()
        ]
        return notes

    def documents(self, source: Source) -> Iterator[tuple[str, FileDocument]]:
        """Yield each document with the label of its file.

        Raises:
            InputError: a file cannot be read, or the one that the user named has no Kubernetes objects.
        """
        if source.path is None and source.stream is None:
            self.special.append(source.label)
            return
        for text in read_texts(source):
            if self._is_copy(text):
                continue
            yield from self._documents_of(text)

    def _is_copy(self, text: Text) -> bool:
        """Whether a file is the second copy of one object: Velero stores each as it is served, and once more below
        `v1-preferredversion`.
        """
        if text.is_named:
            return False
        return self._copies.setdefault(_PREFERRED.sub("/", text.label), text.label) != text.label

    def _documents_of(self, text: Text) -> Iterator[tuple[str, FileDocument]]:
        if text.is_named and (hint := text_hint(text.data, is_manifest=self._are_manifests)):
            raise InputError(f"{text.label}: {hint}")
        kind = _kind_of_list(text.label)
        parsed = self._parsed(text) if text.is_named or kind or _OF_KUBERNETES.search(text.data) else []
        if parsed is None:
            self.templates.append(text.label)
            return
        documents = [one for document in parsed for one in self._taken_apart(document, text)]
        if kind is not None:
            documents = [(label, _with_kind(one, kind)) for label, one in documents]
        if not text.is_named and not any(_is_of_kubernetes(one) for _, one in documents):
            self.foreign.append(text.label)
        else:
            for document in parsed:
                for key in document.repeated_keys:
                    place = f"line {key.line}, column {key.column}: {key.text}"
                    self.repeated_keys.setdefault(text.label, []).append(place)
            yield from documents

    def _parsed(self, text: Text) -> list[FileDocument] | None:
        """The documents of a text; None for a template that may be left out."""
        try:
            return list(read_documents(text.data, text.label))
        except InputError as error:
            fault = error.__cause__
            may_leave_out = not (text.is_named or self._are_manifests)
            if (
                may_leave_out
                and isinstance(fault, YamlError)
                and is_template(text.data, fault.at[0] if fault.at else 0)
            ):
                return None
            hint = broken_hint(text.data, is_manifest=self._are_manifests)
            raise InputError(f"{error}; {hint}" if hint else str(error)) from error

    def _taken_apart(self, document: FileDocument, text: Text) -> Iterator[tuple[str, FileDocument]]:
        """What a document without a kind holds: the object of a watch event, the lists of an export; else itself."""
        label = text.label
        if text.is_named and (hint := self._hint_on(document)):
            raise InputError(f"{label}: {hint}")
        if document.header.kind or document.items is not None:
            self._take_configuration(document.origin.scheduler_config)
            self.unread_metadata.update({(label, name): text for name, text in document.unread.items()})
            yield label, document
            return
        try:
            read = _read_unnamed(document.raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            read = _Unnamed()
        if read.type in _EVENTS and bytes(read.object):
            if read.type == "ERROR":  # an API server ends an old watch with a Status
                self.broken_watches[label] = _status_in(read.object).message
            elif read.type != "BOOKMARK":
                is_deleted = read.type == "DELETED"
                yield (
                    label,
                    FileDocument(document.number, read.object, Header(kind="WatchEvent"), is_deleted=is_deleted),
                )
        elif read.nodes is not None and read.pods is not None:
            self._take_configuration(read.scheduler_config)
            for name, kind in _EXPORTED.items():
                items = getattr(read, _FIELDS[name])
                header = Header(KINDS[kind].api_version, f"{kind}List")
                yield f"{label}: {name}", FileDocument(document.number, document.raw, header, items or [])
        elif read.items is not None:
            yield label, msgspec.structs.replace(document, items=read.items)
        else:
            yield label, document

    def _hint_on(self, document: FileDocument) -> str:
        header = document.header
        message = _status_in(document.raw).message if header.kind == "Status" else ""
        return kind_hint(header.kind, header.api_version, message, is_manifest=self._are_manifests)

    def _take_configuration(self, configuration: dict[str, Any] | None) -> None:
        """Keep a configuration that comes with objects. Not every version of the simulator exports its type."""
        if configuration:
            self.scheduler_config = msgspec.json.encode({**_TYPE, **configuration})


_TYPE: Final = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


_FIELDS: Final = {field.encode_name: field.name for field in msgspec.structs.fields(_Unnamed)}


def _kind_of_list(label: str) -> Kind | None:
    """The kind that the name of a file has in the plural, such as `ns/default/Pods.json` in an old Sonobuoy archive."""
    named = _LIST_NAME.search(label)
    return _BY_PLURAL.get(named[1].lower()) if named else None


def _with_kind(document: FileDocument, kind: Kind) -> FileDocument:
    """A document with this kind for its items, if it is a list of objects without one."""
    if document.header.kind or not document.items or any(_has_kind(raw) for raw in document.items):
        return document
    if not all(map(_has_metadata, document.items)):
        return document
    return msgspec.structs.replace(document, header=Header(kind.api_version, f"{kind.name}List"))


def _has_metadata(raw: RawJson) -> bool:
    try:
        return bytes(_read_outline(raw).metadata) not in (b"", b"null")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _is_of_kubernetes(document: FileDocument) -> bool:
    """Whether a document, or an item of an array, has a kind."""
    if document.header.kind or document.items is None:
        return bool(document.header.kind)
    return any(_has_kind(raw) for raw in document.items)


def _has_kind(raw: RawJson) -> bool:
    try:
        return bool(read_header(raw).kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _status_in(raw: RawJson) -> _Status:
    """A Status as far as it can be read."""
    try:
        return _read_status(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Status()
