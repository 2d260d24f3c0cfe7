"""Reads the documents of sources, whatever form they have: lists, watch streams, exports of a simulator.

In folders and archives a file without Kubernetes objects is left out.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from kubesched.api import KINDS
from kubesched.documents import RawJson
from kubesched.errors import InputError
from kubesched.snapshot.documents import Document, Header, read_documents, read_header
from kubesched.snapshot.hints import kind_hint, text_hint
from kubesched.snapshot.sources import Source, Text, read_texts

__all__ = ["Files"]

_MAX_NAMED: Final = 3
_OF_KUBERNETES: Final = re.compile(rb"\b(?:apiVersion|kind)[\"']?\s*:")
_EVENTS: Final = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
_WITHOUT_OBJECT: Final = ("BOOKMARK", "ERROR")  # an API server ends an old watch with a Status
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


class _Status(msgspec.Struct):
    message: str = ""


_read_unnamed: Final = msgspec.json.Decoder(_Unnamed).decode
_read_status: Final = msgspec.json.Decoder(_Status).decode


class Files:
    """Reads sources one after another.

    Attributes:
        foreign: labels of the files that were left out.
        special: labels of what folders have that is not a file, such as pipes and links to nothing.
        scheduler_config: the KubeSchedulerConfiguration that an export or a written snapshot has, in JSON; empty
            without one.
    """

    def __init__(self) -> None:
        self.foreign: list[str] = []
        self.special: list[str] = []
        self.scheduler_config = b""

    @property
    def notes(self) -> list[str]:
        """What the user should know, one sentence each."""
        notes = []
        if self.foreign:
            files = "1 file" if len(self.foreign) == 1 else f"{len(self.foreign)} files"
            notes.append(f"left out {files} without Kubernetes objects: {_named(self.foreign)}")
        if self.special:
            notes.append(f"left out what is not a regular file: {_named(self.special)}")
        return notes

    def documents(self, source: Source) -> Iterator[tuple[str, Document]]:
        """Yield each document with the label of its file.

        Raises:
            InputError: a file cannot be read, or the one that the user named has no Kubernetes objects.
        """
        if source.path is None and source.stream is None:
            self.special.append(source.label)
            return
        for text in read_texts(source):
            documents = list(self._documents_of(text))
            if not text.is_named and not any(_is_of_kubernetes(one) for _, one in documents):
                self.foreign.append(text.label)
            else:
                yield from documents

    def _documents_of(self, text: Text) -> Iterator[tuple[str, Document]]:
        if not text.is_named and not _OF_KUBERNETES.search(text.data):
            return
        if text.is_named and (hint := text_hint(text.data)):
            raise InputError(f"{text.label}: {hint}")
        try:
            for document in read_documents(text.data, text.label):
                if text.is_named and (hint := _hint_on(document)):
                    raise InputError(f"{text.label}: {hint}")
                if document.header.kind or document.items is not None:
                    self._take_configuration(document.origin.scheduler_config)
                    yield text.label, document
                else:
                    yield from self._taken_apart(document, text.label)
        except InputError as error:
            if b"{{" in text.data and ("not valid YAML" in str(error) or "map key" in str(error)):
                advice = "it looks like a template; print its objects with `helm template CHART`"
                raise InputError(f"{error}; {advice}") from error
            raise

    def _taken_apart(self, document: Document, label: str) -> Iterator[tuple[str, Document]]:
        """What a document without a kind holds: the object of a watch event, the lists of an export; else itself."""
        try:
            read = _read_unnamed(document.raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            read = _Unnamed()
        if read.type in _EVENTS and bytes(read.object):
            if read.type not in _WITHOUT_OBJECT:
                is_deleted = read.type == "DELETED"
                yield label, Document(document.number, read.object, Header(kind="WatchEvent"), is_deleted=is_deleted)
        elif read.nodes is not None and read.pods is not None:
            self._take_configuration(read.scheduler_config)
            for name, kind in _EXPORTED.items():
                items = getattr(read, _FIELDS[name])
                header = Header(KINDS[kind].api_version, f"{kind}List")
                yield f"{label}: {name}", Document(document.number, document.raw, header, items or [])
        else:
            yield label, document

    def _take_configuration(self, configuration: dict[str, Any] | None) -> None:
        """Keep a configuration that comes with objects. Not every version of the simulator exports its type."""
        if configuration:
            self.scheduler_config = msgspec.json.encode({**_TYPE, **configuration})


_TYPE: Final = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def _named(labels: Sequence[str]) -> str:
    return ", ".join(labels[:_MAX_NAMED]) + (", ..." if len(labels) > _MAX_NAMED else "")


_FIELDS: Final = {field.encode_name: field.name for field in msgspec.structs.fields(_Unnamed)}


def _is_of_kubernetes(document: Document) -> bool:
    """Whether a document, or an item of an array, has a kind."""
    if document.header.kind or document.items is None:
        return bool(document.header.kind)
    return any(_has_kind(raw) for raw in document.items)


def _has_kind(raw: RawJson) -> bool:
    try:
        return bool(read_header(raw).kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _hint_on(document: Document) -> str:
    header = document.header
    message = ""
    if header.kind == "Status":
        try:
            message = _read_status(document.raw).message
        except (msgspec.DecodeError, UnicodeDecodeError):
            message = ""
    return kind_hint(header.kind, header.api_version, message)
