"""Collects what an API server lists into the objects of a cluster, with the checks that files get."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from kubesched.api import KINDS, Kind, kind_named
from kubesched.documents import RawJson
from kubesched.engine import paused_gc
from kubesched.release import Release
from kubesched.snapshot.byte_sources import SourceLike, find_sources
from kubesched.snapshot.cluster_objects import ClusterObjects
from kubesched.snapshot.loading import completed_cluster
from kubesched.snapshot.missing import effects_of_refusals
from kubesched.snapshot.reader import ObjectReader


class ListedObjects:
    """The objects of one cluster, page by page.

    Args:
        manifests, skip_bad_objects, release: as for `load_snapshot`.
        kinds: those that are listed in addition to KINDS.
    Attributes:
        kinds: what is to be listed.
    Raises:
        InputError: there is no such manifest, or no such kind.
    """

    def __init__(
        self,
        *,
        manifests: Iterable[SourceLike] = (),
        kinds: Collection[str] = (),
        skip_bad_objects: bool = False,
        release: Release | None = None,
    ) -> None:
        self._release = release
        further = {kind.key: kind for kind in map(kind_named, kinds)}
        self.kinds = tuple({**KINDS, **further}.values())
        self._manifests = find_sources(manifests)
        self._reader = ObjectReader(skip_bad_objects=skip_bad_objects, kinds=kinds)
        self._n_items: dict[str, int] = {}

    def add(self, kind: Kind, items: Sequence[RawJson], label: str, time: float = 0.0) -> None:
        """Take in a page.

        Args:
            kind: with its name.
            time: when it was listed, in seconds since 1970.
        Raises:
            ObjectError: a bad object, unless those are left out; with its place in the list, its name and the field.
        """
        n_before = self._n_items.get(label, 0)
        self._n_items[label] = n_before + len(items)
        with paused_gc():
            self._reader.read_listed(kind, items, label, n_before, time=time)

    def finish(
        self, *, refused: Mapping[str, str], taken_at: datetime, server_version: str = "", notes: Iterable[str] = ()
    ) -> ClusterObjects:
        """Everything that was taken in, with the objects of the manifests.

        Args:
            refused: the keys of kinds that could not be listed, and why; a note says what is decided without each.
            notes: further ones.
        Raises:
            InputError: a manifest cannot be read, or is not valid.
        """
        with paused_gc(is_kept=True):
            cluster = completed_cluster(self._reader, self._manifests, self._release, server_version)
        notes = (*cluster.notes, *effects_of_refusals(cluster, refused), *notes)
        listed_kinds = frozenset(kind.key for kind in self.kinds) - refused.keys()
        return msgspec.structs.replace(
            cluster, notes=notes, taken_at=taken_at, listed_kinds=listed_kinds, server_version=server_version
        )
