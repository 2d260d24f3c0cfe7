"""The objects of a session in the order of the snapshot that it would write, with a journal of what changes them."""

from collections.abc import Iterable
from itertools import count
from typing import TypeGuard

from kubesched.api import EventType, KubeObject, Pod, WatchEvent, kind_of, rewritten

Key = tuple[str, str]
"""Kind, and `namespace/name` or the name alone."""

_Entry = tuple[Key, KubeObject | None, int | None]
"""A key, with its object and its position before a change; None for none."""


class Inventory:
    """What there is. A pod that gets a node moves to the end: it is the last one to arrive there.

    Args:
        objects: the cluster as it was given, `completed`.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._given = {key_of(one): one for one in objects}
        self._now = dict(self._given)
        self._is_ordered = True  # whether `_now` is in the order of the positions
        self._position = {key: position for position, key in enumerate(self._now)}
        self._n_arrived = count(len(self._now))
        self._pending = {key: one for key, one in self._now.items() if _is_pending(one)}
        self._journal: list[_Entry] = []
        self._n_marks = 0

    def get(self, key: Key) -> KubeObject | None:
        """An object as it is now; None where there is none."""
        return self._now.get(key)

    def of(self, kind: str) -> list[KubeObject]:
        """The objects of one kind."""
        return [one for (of_kind, _), one in self._in_order().items() if of_kind == kind]

    def objects(self) -> list[KubeObject]:
        """All objects."""
        return list(self._in_order().values())

    def written(self, objects: Iterable[KubeObject]) -> list[KubeObject]:
        """Some of the objects that there were at any time, whose JSON has what the session decided."""
        return [one if one is self._given.get(key_of(one)) else _as_written(one) for one in objects]

    def pending(self) -> list[Pod]:
        """The pods that wait for a node."""
        position = self._position
        return [self._pending[key] for key in sorted(self._pending, key=position.__getitem__)]

    def position(self, key: Key) -> int:
        """Where an object is among the others."""
        return self._position[key]

    def _in_order(self) -> dict[Key, KubeObject]:
        if not self._is_ordered:
            self._now = {key: self._now[key] for key in sorted(self._now, key=self._position.__getitem__)}
            self._is_ordered = True
        return self._now

    # --- changes ---

    def note(self, event: WatchEvent) -> KubeObject | None:
        """Note what an event changes. Returns: the object that is gone, if one is."""
        key = (event.kind, event.object.key)
        if event.type is not EventType.DELETED:
            self.put(event.object)
            return None
        gone = self._now.get(key)
        self._write_down(key, gone)
        self._set(key, None, None)
        return gone

    def put(self, one: KubeObject) -> None:
        """Add an object, or put it in the place of an older one."""
        key = key_of(one)
        old = self._now.get(key)
        if old is one:
            return
        self._write_down(key, old)
        position = self._position.get(key)
        if key in self._pending and not _is_pending(one):
            del self._now[key]  # it is the last one to arrive on its node
            position = None
        self._set(key, one, next(self._n_arrived) if position is None else position)

    def _write_down(self, key: Key, old: KubeObject | None) -> None:
        if self._n_marks:
            self._journal.append((key, old, self._position.get(key)))

    def _set(self, key: Key, one: KubeObject | None, position: int | None) -> None:
        if one is None or position is None:
            self._now.pop(key, None)
            self._position.pop(key, None)
        else:
            self._now[key], self._position[key] = one, position
        if one is not None and _is_pending(one):
            self._pending[key] = one
        else:
            self._pending.pop(key, None)

    def mark(self) -> int:
        """Write down what changes from now on. Returns: what `go_back` takes."""
        self._n_marks += 1
        return len(self._journal)

    def keep(self) -> None:
        """End the last mark, and keep what has changed since."""
        self._n_marks -= 1
        if not self._n_marks:
            self._journal.clear()

    def go_back(self, mark: int) -> None:
        """End the last mark, and undo what has changed since."""
        self._is_ordered &= len(self._journal) == mark
        while len(self._journal) > mark:
            self._set(*self._journal.pop())
        self.keep()


def key_of(one: KubeObject) -> Key:
    """The kind and the key of an object."""
    return kind_of(one), one.key


def _is_pending(one: KubeObject) -> TypeGuard[Pod]:
    return isinstance(one, Pod) and not one.node_name and not one.is_finished


def _as_written(one: KubeObject) -> KubeObject:
    """An object whose JSON has what the session decided."""
    if not isinstance(one, Pod) or not one.node_name:
        return one
    return rewritten(
        one, lambda document: document.update(spec={**(document["spec"] or {}), "nodeName": one.node_name})
    )
