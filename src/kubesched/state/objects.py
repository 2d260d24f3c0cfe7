"""The objects of the cluster, by kind, namespace and name."""

from collections.abc import Callable, Iterable

from kubesched.api import KubeObject

Listener = Callable[[KubeObject | None, KubeObject | None], None]


class ObjectStore:
    """Objects by kind and key (`namespace/name`, or the name alone outside namespaces), in order of appearance.

    Example:
        objects = ObjectStore()
        objects.put("Namespace", make_object("Namespace", "shop", labels={"tier": "prod"}))
        assert objects.get("Namespace", "shop").labels == {"tier": "prod"}
    """

    def __init__(self) -> None:
        self._kinds: dict[str, dict[str, KubeObject]] = {}
        self._generations: dict[str, int] = {}
        self._listeners: dict[str, list[Listener]] = {}

    def listen(self, kind: str, listener: Listener) -> None:
        """Call `listener(before, after)` after every change of an object of a kind; one of the two may be None."""
        self._listeners.setdefault(kind, []).append(listener)

    def get(self, kind: str, key: str) -> KubeObject | None:
        """The object, or None."""
        objects = self._kinds.get(kind)
        return None if objects is None else objects.get(key)

    def list(self, kind: str) -> Iterable[KubeObject]:
        """All objects of a kind."""
        return self._kinds.get(kind, {}).values()

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
        if objects is None:
            objects = self._kinds[kind] = {}
        key = obj.key
        old = objects.get(key)
        objects[key] = obj
        self._count(kind)
        for listener in self._listeners.get(kind, ()):
            listener(old, obj)
        return old

    def remove(self, kind: str, key: str) -> KubeObject | None:
        """Remove an object. Returns: it, or None where there was none."""
        old = self._kinds.get(kind, {}).pop(key, None)
        if old is not None:
            self._count(kind)
            for listener in self._listeners.get(kind, ()):
                listener(old, None)
        return old

    def _count(self, kind: str) -> None:
        self._generations[kind] = self._generations.get(kind, 0) + 1

    def __contains__(self, kind: str) -> bool:
        return bool(self._kinds.get(kind))
