"""PersistentVolumes by name, by the claim that they are reserved for, and the free ones by storage class."""

import msgspec

from kubesched.api import KubeObject, PersistentVolume, PersistentVolumeClaim
from kubesched.state.objects import ObjectStore
from kubesched.state.volumes.claims import storage_class_of
from kubesched.state.volumes.free_volumes import FreeVolumes
from kubesched.state.volumes.known_volume import KnownVolume, Reaches


class PersistentVolumes:
    """All PersistentVolumes, kept up to date with the objects."""

    def __init__(self, objects: ObjectStore) -> None:
        self._reaches = Reaches()
        self._known: dict[str, KnownVolume] = {}  # by name
        self._by_number: dict[int, KnownVolume] = {}
        self._next_number = 0
        self._reserved: dict[str, dict[int, KnownVolume]] = {}  # claim key -> number -> volume
        self._of_class: dict[str, dict[int, KnownVolume]] = {}  # class -> number -> volume
        self._free: dict[str, FreeVolumes] = {}  # by class that has volumes, made when asked for
        self._none = FreeVolumes([])
        objects.listen("PersistentVolume", self._changed, keeps_order=True)
        for volume in objects.list("PersistentVolume"):
            self._changed(None, volume)

    def find(self, name: str) -> KnownVolume | None:
        """The volume of this name, or None."""
        return self._known.get(name)

    def by_number(self, number: int) -> KnownVolume:
        """The volume of this number, which must exist."""
        return self._by_number[number]

    def reserved_for(self, claim: PersistentVolumeClaim) -> list[KnownVolume]:
        """Volumes of the claim's class whose claimRef names the claim, in order of appearance."""
        named = self._reserved.get(claim.key)
        if not named:
            return []
        class_name = storage_class_of(claim)
        of_class = [known for _, known in sorted(named.items()) if known.class_name == class_name]
        return [known for known in of_class if _claim_uid(known) in ("", claim.uid)]

    def free(self, class_name: str) -> FreeVolumes:
        """The volumes of a class that a claim can have for the asking."""
        volumes = self._free.get(class_name)
        if volumes is None:
            members = self._of_class.get(class_name)
            if members is None:  # not kept: claims may name any number of classes without volumes
                return self._none
            volumes = self._free[class_name] = FreeVolumes([known for known in members.values() if known.is_free])
        return volumes

    def sizes(self) -> dict[str, int]:
        """Entries of every table."""
        return {
            "volumes": len(self._known),
            "numbers": len(self._by_number),
            "reserved": len(self._reserved),
            "classes": len(self._of_class),
            "lists": len(self._free),
            "listed": sum(len(free) for free in self._free.values()),
            "reaches": len(self._reaches),
        }

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        before = self._known.pop(old.name, None) if old is not None else None
        if before is not None:
            self._drop_reservation(before)
            del self._by_number[before.number]
            _pop_within(self._of_class, before.class_name, before.number)
        after = None
        if isinstance(new, PersistentVolume):
            number = before.number if before is not None else self._take_number()
            after = self._known[new.name] = self._by_number[number] = KnownVolume(new, number, self._reaches)
            self._of_class.setdefault(after.class_name, {})[number] = after
            ref = new.spec.claim_ref
            if ref is not None:
                self._reserved.setdefault(f"{ref.namespace}/{ref.name}", {})[number] = after
        self._bring_up_to_date(before, after)

    def _take_number(self) -> int:
        self._next_number += 1
        return self._next_number - 1

    def _bring_up_to_date(self, before: KnownVolume | None, after: KnownVolume | None) -> None:
        """Switch a volume on or off in the list of its class; one that the list does not have causes a rebuild."""
        is_same = before is not None and after is not None and _has_same_shape(before.volume, after.volume)
        if before is not None and not is_same and before.class_name in self._free:
            self._drop(before)
        if after is not None and after.class_name in self._free:
            is_listed = self._free[after.class_name].switch(after.number, is_free=after.is_free)
            if after.is_free and not is_listed:
                del self._free[after.class_name]
        if before is not None and before.class_name not in self._of_class:
            self._free.pop(before.class_name, None)

    def _drop(self, known: KnownVolume) -> None:
        """Take a volume off the list of its class; the list itself goes when most of it is gone."""
        free = self._free[known.class_name]
        free.drop(known.number)
        if free.is_mostly_gone:
            del self._free[known.class_name]

    def _drop_reservation(self, known: KnownVolume) -> None:
        ref = known.volume.spec.claim_ref
        if ref is not None:
            _pop_within(self._reserved, f"{ref.namespace}/{ref.name}", known.number)


def _pop_within(table: dict[str, dict[int, KnownVolume]], key: str, number: int) -> None:
    del table[key][number]
    if not table[key]:
        del table[key]


def _claim_uid(known: KnownVolume) -> str:
    ref = known.volume.spec.claim_ref
    return ref.uid if ref is not None else ""


def _has_same_shape(a: PersistentVolume, b: PersistentVolume) -> bool:
    """Whether two versions of a volume differ at most in its claim."""
    return (
        msgspec.structs.replace(a.spec, claim_ref=None) == msgspec.structs.replace(b.spec, claim_ref=None)
        and a.labels == b.labels
        and storage_class_of(a) == storage_class_of(b)
    )
