"""The objects of the cluster, by kind, namespace and name."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import cast

from kubesched.api import KubeObject
from kubesched.state.journal import Fork

Listener = Callable[[KubeObject | None, KubeObject | None], None]


class ObjectStore:
    """Objects by kind and key (`namespace/name`, or the name alone outside namespaces), in order of appearance.

    Attributes:
        n_changes: how often objects of all kinds but pods have come, changed or gone.

    Example:
        objects = ObjectStore()
        objects.put("Namespace", make_object("Namespace", "shop", labels={"tier": "prod"}))
        assert objects.get("Namespace", "shop").labels == {"tier": "prod"}
    """

    def __init__(self) -> None:
        self._kinds: dict[str, dict[str, KubeObject | None]] = {}  # None keeps a place that a fork may need again
        self.n_changes = 0
        self._generations: dict[str, int] = {}
        self._listeners: dict[str, list[Listener]] = {}
        self._ordered_listeners: dict[str, list[Listener]] = {}  # those of them that keep the order of objects
        self._fork: Fork | None = None
        self._n_gaps: Counter[str] = Counter()  # kept places by kind

    def listen(self, kind: str, listener: Listener, *, keeps_order: bool = False) -> None:
        """Call `listener(before, after)` after every change of an object of a kind; one of the two may be None.

        Args:
            keeps_order: whether the listener relies on the order of appearance; when a fork that removed objects is
                reverted, all objects of the kind go and come again for it.
        """
        self._listeners.setdefault(kind, []).append(listener)
        if keeps_order:
            self._ordered_listeners.setdefault(kind, []).append(listener)

    def get(self, kind: str, key: str) -> KubeObject | None:
        """The object, or None."""
        objects = self._kinds.get(kind)
        return None if objects is None else objects.get(key)

    def list(self, kind: str) -> Iterable[KubeObject]:
        """All objects of a kind."""
        objects = self._kinds.get(kind, {}).values()
        if self._n_gaps[kind]:
            return [obj for obj in objects if obj is not None]
        return cast("Iterable[KubeObject]", objects)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of which there are or were objects."""
        return tuple(self._kinds)

    def generation(self, kind: str) -> int:
        """How often objects of a kind have come, changed or gone."""
        return self._generations.get(kind, 0)

    def put(self, kind: str, obj: KubeObject) -> KubeObject | None:
        """Store an object. Returns: the one that it replaced, or None."""
        objects = self._kinds.get(kind)
        key = obj.key
        if self._fork is not None:
            self._record_put(self._fork, kind, key)
        if objects is None:
            objects = self._kinds[kind] = {}
        old = objects.get(key)
        objects[key] = obj
        self._tell(kind, old, obj)
        return old

    def remove(self, kind: str, key: str) -> KubeObject | None:
        """Remove an object. Returns: it, or None where there was none."""
        objects = self._kinds.get(kind, {})
        old = objects.get(key)
        if old is not None:
            if self._fork is None:
                del objects[key]
            else:
                if self._fork.is_first(("listeners", kind)):
                    self._fork.record(self._tell_in_order, kind)
                self._fork.record(self._undo, kind, key, old)
                objects[key] = None
                self._n_gaps[kind] += 1
            self._tell(kind, old, None)
        return old

    def __contains__(self, kind: str) -> bool:
        return next(iter(self.list(kind)), None) is not None

    def _tell(self, kind: str, old: KubeObject | None, new: KubeObject | None) -> None:
        self._generations[kind] = self._generations.get(kind, 0) + 1
        self.n_changes += kind != "Pod"
        for listener in self._listeners.get(kind, ()):
            listener(old, new)

    # --- forks ---

    def record_to(self, fork: Fork | None) -> None:
        """Record in this fork from now on how to undo each change; None: there is no fork any more."""
        self._fork = fork
        if fork is None:
            for kind in +self._n_gaps:
                self._kinds[kind] = {key: obj for key, obj in self._kinds[kind].items() if obj is not None}
            self._n_gaps.clear()

    def _record_put(self, fork: Fork, kind: str, key: str) -> None:
        objects = self._kinds.get(kind)
        if objects is None:
            fork.record_entry(self._kinds, kind)
        elif key in objects:
            if objects[key] is None:  # it came back, and is the last of its kind now
                if fork.is_first(("order", kind)):
                    fork.record(self._restore_order, kind, (*objects,))
                fork.record(self._undo, kind, key, objects.pop(key))
                self._n_gaps[kind] -= 1
            else:
                fork.record(self._undo, kind, key, objects[key])
            return
        fork.record(self._undo_new, kind, key)

    def _undo(self, kind: str, key: str, before: KubeObject | None) -> None:
        now, self._kinds[kind][key] = self._kinds[kind][key], before
        self._n_gaps[kind] += (before is None) - (now is None)
        self._tell(kind, now, before)

    def _undo_new(self, kind: str, key: str) -> None:
        self._tell(kind, self._kinds[kind].pop(key), None)

    def _restore_order(self, kind: str, keys: tuple[str, ...]) -> None:
        objects = self._kinds[kind]
        self._kinds[kind] = {key: objects[key] for key in keys}

    def _tell_in_order(self, kind: str) -> None:
        for listener in self._ordered_listeners.get(kind, ()):
            for obj in self.list(kind):
                listener(obj, None)
            for obj in self.list(kind):
                listener(None, obj)
