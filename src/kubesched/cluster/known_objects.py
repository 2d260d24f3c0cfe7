"""Tracks the objects a listener has been sent and computes the next change events."""

from collections.abc import Iterator, Mapping

from kubesched.api import EventType, KubeObject, Unstructured, WatchEvent


class KnownObjects:
    """The objects of one kind by key; every event that comes out of a method has to be passed on, in order.

    An object that was re-created under its name, with another uid, is DELETED with its last state and then ADDED.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._objects: dict[str, KubeObject] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, key: str) -> KubeObject | None:
        """The object as the listener was last sent it."""
        return self._objects.get(key)

    def put(self, new: KubeObject, *, versions_hold: bool = True) -> Iterator[WatchEvent]:
        """Take in an object that exists; nothing comes out if it is known in this version.

        Args:
            versions_hold: whether the same version means the same object, as it does until etcd is restored.
        """
        old = self._objects.get(new.key)
        if old is not None and old.uid == new.uid:
            if versions_hold and _is_same(old, new):
                return
            self._objects[new.key] = new
            yield WatchEvent(EventType.MODIFIED, self._kind, new)
            return
        if old is not None:
            yield from self.remove(new.key)
        self._objects[new.key] = new
        yield WatchEvent(EventType.ADDED, self._kind, new)

    def remove(self, key: str, last: KubeObject | None = None) -> Iterator[WatchEvent]:
        """Let go of an object; nothing comes out if it was not known.

        Args:
            last: its last state, the known one by default.
        """
        old = self._objects.pop(key, None)
        if old is not None:
            yield WatchEvent(EventType.DELETED, self._kind, last or old)

    def replace(self, listed: Mapping[str, KubeObject], *, versions_hold: bool = True) -> Iterator[WatchEvent]:
        """Take in everything that exists: first what is gone, then what is new or changed."""
        for key in [key for key in self._objects if key not in listed]:
            yield from self.remove(key)
        for new in listed.values():
            yield from self.put(new, versions_hold=versions_hold)


def _is_same(old: KubeObject, new: KubeObject) -> bool:
    """Whether two readings are of one version. An Unstructured is compared whole where it has none."""
    version = new.metadata.resource_version
    same_version = old.metadata.resource_version == version
    return same_version and (version != "" or (isinstance(new, Unstructured) and old == new))
