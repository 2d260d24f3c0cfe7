"""Turns files into objects: splits every document, decodes and checks every object, and keeps each object once.

A bad object stops the reading with one sentence that says where it is, or is counted when bad objects are to be
left out.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import Final

import msgspec

from kubesched.admission import ObjectChecker, as_stored
from kubesched.api import (
    AUTOSCALER_STATUS,
    KINDS,
    Kind,
    KubeObject,
    Node,
    Pod,
    Unstructured,
    as_v1,
    compare_versions,
    decode_object,
    has_other_fields,
    kind_key,
    kind_named,
    plural_of,
    unread_name,
)
from kubesched.documents import RawJson
from kubesched.errors import InputError, ObjectError
from kubesched.release import numbers_of
from kubesched.snapshot.byte_sources import Source
from kubesched.snapshot.files import Files
from kubesched.snapshot.items import Item, ItemPlace, fault_of, items_of
from kubesched.snapshot.object_documents import FileDocument, Header
from kubesched.snapshot.parts import PartPool

Progress = Callable[[int, int], None]  # bytes read so far, bytes in all (0 when not known)

_PROGRESS_EVERY: Final = 2048  # objects
_CONFIG_MAP: Final = kind_named("v1/ConfigMap")


class ObjectReader:
    """Reads sources one after another into one collection of objects.

    Args:
        kinds: further kinds to read, as plugins name them. Those that a list names as complete are read as well.
    Raises:
        InputError: there is no such kind.
    Attributes:
        files: what is read; it has notes on it.
        skipped: objects of kinds that kubesched does not read, counted.
        bad: a sentence for each bad object that was left out.
        taken_at: the earliest time that a list has, None where none has one.
        server_versions: what the lists say of their API servers.
        kubelet_versions: those of the nodes of lists that do not say a version.
        listed_kinds: kinds that some list has completely.
    """

    def __init__(
        self, *, skip_bad_objects: bool = False, progress: Progress | None = None, kinds: Iterable[str] = ()
    ) -> None:
        self.files = Files()
        self.skipped: Counter[str] = Counter()
        self.bad: list[str] = []
        self.taken_at: datetime | None = None
        self.server_versions: set[str] = set()
        self.kubelet_versions: set[str] = set()
        self._has_version = False  # whether what is read now is of a list that says the version of its API server
        self.listed_kinds: frozenset[str] = frozenset()
        self._skip_bad = skip_bad_objects
        self._progress = progress
        self._further = {kind.key: kind for kind in map(kind_named, kinds) if kind.type is Unstructured}
        self._time = 0.0  # when what is read now came from the API server
        self._kept: dict[tuple[str, str, str], tuple[KubeObject, ItemPlace]] = {}
        self._checker = ObjectChecker()
        self._parts = PartPool()
        self._bytes_done = 0
        self._bytes_in_all = 0

    @property
    def objects(self) -> list[KubeObject]:
        """Each object once; one that came again with a higher resourceVersion takes the place of the first one."""
        return [known for known, _ in self._kept.values()]

    @property
    def places(self) -> list[ItemPlace]:
        """Where each of the objects is in its source, in the same order."""
        return [place for _, place in self._kept.values()]

    def read(self, sources: list[Source]) -> None:
        """Read every source.

        Raises:
            InputError: a file that cannot be read or taken apart; with its name.
            ObjectError: a bad object, unless those are left out; with file, document, item, name and field.
        """
        self._bytes_in_all += sum(source.size for source in sources) if all(s.size for s in sources) else 0
        for source in sources:
            for label, document in self.files.documents(source):
                self._read_document(document, label, source.size)
            self._bytes_done += source.size
            self._report(0)

    def read_listed(
        self, kind: Kind, items: Iterable[RawJson], label: str, n_before: int = 0, *, time: float = 0.0
    ) -> None:
        """Read objects that an API server listed.

        Args:
            kind: with its name.
            time: when that was, in seconds since 1970.
            label: how messages call the list.
            n_before: how many items of the list came before these.
        Raises:
            ObjectError: as with `read`.
        """
        self._time = time
        header = Header(kind.api_version, kind.name)
        for i, raw in enumerate(items, n_before + 1):
            self._read_item(Item(ItemPlace(label, item=i), header, raw))

    def _read_document(self, document: FileDocument, label: str, size: int) -> None:
        n_items = len(document.items or ()) or 1
        times = (self.taken_at, document.origin.taken_at)
        self.taken_at = min((time for time in times if time is not None), default=None)
        self.server_versions |= {document.origin.server_version} - {""}
        self._has_version = numbers_of(document.origin.server_version) is not None
        self.listed_kinds |= frozenset(document.origin.listed_kinds)
        for key in document.origin.listed_kinds:
            if key not in KINDS and (kind := _named_in_list(key)) is not None:
                self._further.setdefault(kind.key, kind)
        self._time = document.origin.taken_at.timestamp() if document.origin.taken_at is not None else 0.0
        for i, item in enumerate(items_of(document, label), 1):
            self._read_item(item, is_deleted=document.is_deleted)
            if i % _PROGRESS_EVERY == 0:
                self._report(size * i // n_items)

    def _report(self, within: int) -> None:
        if self._progress is not None:
            self._progress(self._bytes_done + within, self._bytes_in_all)

    def _read_item(self, item: Item, *, is_deleted: bool = False) -> None:
        try:
            self._read_object(item, is_deleted=is_deleted)
        except ObjectError as error:
            fault = fault_of(item, error)
            if not self._skip_bad:
                raise fault from error
            self.bad.append(str(fault))

    def _read_object(self, item: Item, *, is_deleted: bool) -> None:
        if item.fault is not None:
            raise item.fault
        kind, skipped = _classify(item.header.api_version, item.header.kind or "")
        if skipped:
            further = self._further_kind(item.header) if self._further else None
            further = _CONFIG_MAP if further is None and _is_autoscaler_status(item) else further
            if further is None:
                self.skipped[skipped] += 1
                return
            whole = decode_object(further, item.raw)
            whole.__dict__["source_time"] = self._time
            self._keep(further.key, whole, item.place)
            return
        read = as_stored(decode_object(kind, as_v1(kind, item.header.api_version or "", item.raw)))
        if isinstance(read, Pod):
            self._parts.share(read)
        elif isinstance(read, Node) and not self._has_version:
            self.kubelet_versions.add(read.status.node_info.kubelet_version)
        self._checker.check(read)
        if is_deleted:
            self._kept.pop(_key_of(kind, read), None)
        else:
            self._keep(kind, read, item.place)

    def _further_kind(self, header: Header) -> Kind | None:
        """The kind of an object among those that are read on request."""
        api_version, name = header.api_version or "", header.kind or ""
        found = self._further.get(f"{api_version}/{plural_of(name, api_version.rpartition('/')[0])}")
        return None if found is None else msgspec.structs.replace(found, name=name)

    def _keep(self, kind: str, read: KubeObject, place: ItemPlace) -> None:
        known = self._kept.setdefault(_key_of(kind, read), (read, place))
        if known[0] is not read and _is_newer(read, *known):
            self._kept[_key_of(kind, read)] = (read, place)


def _named_in_list(key: str) -> Kind | None:
    """A kind that a list names as complete; None where it is not one."""
    try:
        kind = kind_named(key)
    except InputError:
        return None
    return kind if kind.type is Unstructured else None


def _is_autoscaler_status(item: Item) -> bool:
    """Whether an object is the one ConfigMap that is read: that of cluster-autoscaler."""
    if item.header.kind != _CONFIG_MAP.name or AUTOSCALER_STATUS.encode() not in bytes(item.raw):
        return False
    return decode_object(_CONFIG_MAP, item.raw).name == AUTOSCALER_STATUS


def _key_of(kind: str, read: KubeObject) -> tuple[str, str, str]:
    return kind, read.metadata.namespace, read.metadata.name


@lru_cache(maxsize=4096)
def _classify(api_version: str | None, kind: str) -> tuple[str, str]:
    """The kind to read an object as, and empty; or anything, and the name to count it under as skipped.

    Raises:
        ObjectError: apiVersion is missing.
    """
    versions = [known.api_version for known in KINDS.values() if known.name == kind]
    if not versions:
        return "", unread_name(kind, (api_version or "").rpartition("/")[0])
    if not api_version:
        raise ObjectError(f"apiVersion is missing; expected {' or '.join(versions)}")
    group = api_version.rpartition("/")[0]
    key = kind_key(kind, group)
    if key and has_other_fields(key, api_version):
        return key, f"{kind} of {api_version}"
    return key, "" if key else unread_name(kind, group)


def _is_newer(read: KubeObject, kept: KubeObject, place: ItemPlace) -> bool:
    """Whether an object that came again replaces the one that is kept.

    Raises:
        ObjectError: they differ, and no resourceVersion says which one holds.
    """
    order = compare_versions(read.metadata.resource_version, kept.metadata.resource_version)
    if order:
        return order > 0
    if read == kept:
        return False
    raise ObjectError(
        f"is also at {place}, with other content, and no resourceVersion shows which one is newer; remove one"
    )
