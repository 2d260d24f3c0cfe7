"""Forks of a cluster state: what changes after one can be taken back.

Theory of operation. While a fork is open, each change of the state begins with a record of the call that undoes it, in
the innermost fork. `revert` makes these calls, newest first, so that each of them finds the state as its change left
it: no inverse depends on later changes. It works on the same columns and relations as a change does,
so that change logs, generations and listeners see one more change and whatever was computed in between is computed
again. Orders are restored as well: where a change loses a place in an order, the place is part of the record.

Words of the field: cluster-autoscaler's ClusterSnapshot has Fork, Commit and Revert.
"""

from collections.abc import Callable, Hashable
from types import TracebackType
from typing import Any

from kubesched.errors import StateError

_Undo = tuple[Callable[..., object], tuple[Any, ...]]
"""A function and its arguments."""


class Fork:
    """The changes of a cluster state since `ClusterState.fork`, which `revert` takes back and `commit` keeps.

    Leaving its `with` reverts it, unless it was closed before. Forks are nested like a stack: to close one closes those
    inside it in the same way. What an inner fork keeps belongs to the outer one.

    Example:
        with FakeCluster(nodes=[make_node("n1")]) as cluster:
            with cluster.cluster_state.fork():
                cluster.put(make_pod("web", node="n1"))
                assert cluster.nodes.n_pods.tolist() == [1]
            assert cluster.nodes.n_pods.tolist() == [0]
    """

    __slots__ = ("_asked", "_calls", "_inner", "_is_open", "_outer", "_record_to")

    def __init__(self, outer: "Fork | None", record_to: "Callable[[Fork | None], None]") -> None:
        self._outer = outer
        self._inner: Fork | None = None
        self._record_to = record_to
        self._is_open = True
        self._calls: list[_Undo] = []
        self._asked: set[Hashable] = set()
        if outer is not None:
            outer._inner = self
        record_to(self)

    def __enter__(self) -> "Fork":
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._is_open:
            self.revert()

    def revert(self) -> None:
        """Take every change back.

        Raises:
            StateError: the fork was closed before.
        """
        self._close_inner(Fork.revert)
        while self._calls:
            function, arguments = self._calls.pop()
            function(*arguments)
        self._close()

    def commit(self) -> None:
        """Keep the changes, for the outer fork to take back if there is one.

        Raises:
            StateError: the fork was closed before.
        """
        self._close_inner(Fork.commit)
        outer = self._outer
        if outer is not None:
            outer._calls += self._calls
            outer._asked |= self._asked
        self._close()

    def _close_inner(self, close: "Callable[[Fork], None]") -> None:
        if not self._is_open:
            raise StateError("the fork was reverted or committed before")
        if self._inner is not None:
            close(self._inner)

    def _close(self) -> None:
        self._is_open = False
        if self._outer is not None:
            self._outer._inner = None
        self._record_to(self._outer)

    # --- for the parts of the state ---

    def record(self, function: Callable[..., object], *arguments: Any) -> None:
        """Note the call that undoes the change to come."""
        self._calls.append((function, arguments))

    def is_first(self, key: Hashable) -> bool:
        """Whether this is asked for the first time, for changes that one record undoes together."""
        is_first = key not in self._asked
        self._asked.add(key)
        return is_first

    def record_entry(self, table: dict[Any, Any], key: Hashable) -> None:
        """Note what a table has under a key, which will be set or deleted; a deleted one comes back as the last."""
        if key in table:
            self.record(table.__setitem__, key, table[key])
        else:
            self.record(table.pop, key, None)

    def record_order(self, table: dict[Any, Any]) -> None:
        """Note the order of a table, from which an entry will be deleted."""
        self.record(_restore_order, table, (*table,))


def _restore_order(table: dict[Any, Any], keys: tuple[Any, ...]) -> None:
    entries = dict(table)
    table.clear()
    table.update({key: entries[key] for key in keys})
