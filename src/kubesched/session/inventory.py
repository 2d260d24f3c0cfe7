"""The objects of a session in the order of the snapshot that it would write, with a journal of what changes them."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final, TypeGuard

from kubesched.api import (
    EventType,
    KubeObject,
    Pod,
    WatchEvent,
    kind_of,
    rewritten,
    with_fields_of_json,
    without_ignored_fields,
)
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state import ClusterState

Key = tuple[str, str]
"""Kind, and `namespace/name` or the name alone."""

_STARTED: Final = [{"type": name, "status": "True"} for name in ("PodScheduled", "Ready")]
"""What a kubelet says of a pod that it has started."""

_Entry = tuple[Key, KubeObject | None, int | None]
"""A key, with its object and its position before a change; None for none."""

_Mark = tuple[int, frozenset[str]]
"""What `go_back` goes back to: the length of the journal, and the disturbed nodes."""


class Inventory:
    """What there is. A pod that gets a node moves to the end: it is the last one to arrive there.

    A session that is asked once needs no order of objects: it is found when it is first asked for.

    Args:
        objects: the cluster as it was given, `completed`.
        release: the version that decides. The fields that it does not read stay here.

    Attributes:
        disturbed: nodes that a pod has left: the order of the others there is another one now.
        is_found: whether the order is known.
    """

    def __init__(self, objects: Sequence[KubeObject], release: Release = DEFAULT_RELEASE) -> None:
        self.disturbed: set[str] = set()
        self.is_found = False
        self._objects = objects
        self._read = without_ignored_fields(release)
        self._told: list[WatchEvent] = []  # until then
        self._given: dict[Key, KubeObject] = {}
        self._now: dict[Key, KubeObject] = {}
        self._is_ordered = True  # whether `_now` is in the order of the positions
        self._position: dict[Key, int] = {}
        self._n_arrived = count(len(objects))
        self._pending: dict[Key, Pod] = {}
        self._journal: list[_Entry] = []
        self._n_marks = 0

    @property
    def is_as_given(self) -> bool:
        """Whether it is certain that nothing has changed."""
        return not self.is_found and not self._told

    def _find(self) -> None:
        """Number the objects, and then note what has happened to them."""
        if self.is_found:
            return
        self.is_found = True
        self._given = {key_of(one): one for one in self._objects}
        self._now = dict(self._given)
        self._position = {key: position for position, key in enumerate(self._now)}
        self._pending = {key: one for key, one in self._now.items() if _is_pending(one)}
        told, self._told = self._told, []
        for event in told:
            self.note(event)

    def get(self, key: Key) -> KubeObject | None:
        """An object as it is now; None where there is none."""
        self._find()
        return self._now.get(key)

    def of(self, kind: str) -> list[KubeObject]:
        """The objects of one kind."""
        return [one for (of_kind, _), one in self._in_order().items() if of_kind == kind]

    def objects(self) -> list[KubeObject]:
        """All objects."""
        return list(self._in_order().values())

    def written(self, objects: Iterable[KubeObject]) -> list[KubeObject]:
        """Some of the objects that there were at any time, whose JSON has what the session decided."""
        self._find()
        given = set(map(id, self._given.values()))
        return [one if id(one) in given else _as_written(one) for one in objects]

    def pending(self) -> list[Pod]:
        """The pods that wait for a node, as they are now."""
        self._find()
        position = self._position
        return [self._pending[key] for key in sorted(self._pending, key=position.__getitem__)]

    def put_in_order(self, cluster_state: ClusterState) -> None:
        """Have the pods of disturbed nodes in the order in which a loaded snapshot has them; ties may depend on it."""
        self._find()
        columns = cluster_state.columns
        for node in self.disturbed:
            row = columns.row_of.get(node)
            pods = [] if row is None else [info.pod for info in columns.pods[row]]
            pods.sort(key=lambda pod: self._position["Pod", pod.key])
            cluster_state.arrange(node, [pod.uid for pod in pods])
        self.disturbed.clear()

    def _in_order(self) -> dict[Key, KubeObject]:
        self._find()
        if not self._is_ordered:
            self._now = {key: self._now[key] for key in sorted(self._now, key=self._position.__getitem__)}
            self._is_ordered = True
        return self._now

    # --- changes ---

    def note(self, event: WatchEvent) -> None:
        """Note what an event changes."""
        if not self.is_found:
            self._told.append(event)
            return
        if event.type is not EventType.DELETED:
            self.put(event.object)
            return
        key = (event.kind, event.object.key)
        gone = self._now.get(key)
        self._write_down(key, gone)
        self._set(key, None, None)
        if isinstance(gone, Pod):
            self.disturbed.add(gone.node_name)

    def put(self, one: KubeObject) -> None:
        """Add an object, or put it in the place of an older one."""
        self._find()
        key = key_of(one)
        old = self._now.get(key)
        if old is one:
            return
        if self._read is not None and old is not None and self._read(old) is not old:
            one = with_fields_of_json(one)
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

    def mark(self) -> _Mark:
        """Write down what changes from now on. Returns: what `go_back` takes."""
        self._find()
        self._n_marks += 1
        return len(self._journal), frozenset(self.disturbed)

    def keep(self) -> None:
        """End the last mark, and keep what has changed since."""
        self._n_marks -= 1
        if not self._n_marks:
            self._journal.clear()

    def go_back(self, mark: _Mark) -> None:
        """End the last mark, and undo what has changed since."""
        length, disturbed = mark
        self._is_ordered &= len(self._journal) == length
        while len(self._journal) > length:
            self._set(*self._journal.pop())
        self.disturbed = set(disturbed)
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
    document = one.document
    spec, status = document.get("spec") or {}, document.get("status") or {}
    if spec.get("nodeName") == one.node_name:
        return one
    started = {**status, "phase": "Running", "conditions": _STARTED}
    started.pop("nominatedNodeName", None)
    return rewritten(one, lambda whole: whole.update(spec={**spec, "nodeName": one.node_name}, status=started))
