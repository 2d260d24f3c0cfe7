"""Tries a change: the cluster state takes it in, the filters run, and the state takes it back."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from kubesched.admission import is_bound_to_node
from kubesched.api import EventType, KubeObject, Pod, WatchEvent
from kubesched.explanation.fix import Change, Edit, edited
from kubesched.framework import CycleState, Framework, Status, find_feasible
from kubesched.state import ClusterState


class Move(msgspec.Struct, frozen=True):
    """A pod that makes way.

    Attributes:
        domains: (label key, value) of the nodes that it has to leave, beside its own one.
    """

    pod: Pod
    domains: frozenset[tuple[str, str]] = frozenset()


class Trial:
    """Runs the filters of a profile for one pod on a changed cluster.

    The cluster state takes the changes as events and gives the exact answer of a cluster that has them. It is the same
    afterwards, with the pods of each node in the same order. What plugins log in the meantime is dropped: it would be
    about a cluster that does not exist.

    Args:
        framework: of the profile, over the state.
        pod: the pending pod.

    Attributes:
        fault: the fault of a plugin on some node that the last search for nodes of the pod met; None for none.
        is_undecided: whether kubesched cannot decide about some pod of the last change, the pod or one that makes way.
    """

    def __init__(self, framework: Framework, pod: Pod) -> None:
        self._framework = framework
        self._state: ClusterState = framework.handle.cluster_state
        self.pod = pod
        self.fault: Status | None = None
        self.is_undecided = False

    def feasible(self, change: Change) -> list[str]:
        """The nodes on which the changed pod fits in the changed cluster, in the snapshot's order.

        A node where a plugin fails is not one of them.
        """
        self.is_undecided = False
        with _silent(), applied(self._state, change.edits):
            found, self.fault = self._feasible(change.pod(self.pod))
        return found

    def places(self, change: Change, node: str, moves: Iterable[Move]) -> dict[str, str]:
        """Find nodes for pods that make way, one after another, once the changed pod is on its node.

        Args:
            change: takes these pods away.
            node: of the changed pod.
        Returns: `namespace/name` of those that have a place -> its node. A pod that belongs to its node has none.
        """
        found: dict[str, str] = {}
        edits = [*change.edits, placing(change.pod(self.pod), node)]
        for move in moves:
            with _silent(), applied(self._state, tuple(edits)):
                place = self._place(move)
            if place:
                found[move.pod.key] = place
                edits.append(placing(move.pod, place))
        return found

    def _place(self, move: Move) -> str:
        if is_bound_to_node(move.pod):
            return ""
        info_of = self._state.snapshot().node_info
        found, _ = self._feasible(_on(move.pod, ""))
        for name in found:
            if name != move.pod.node_name and move.domains.isdisjoint(info_of(name).labels.items()):
                return name
        return ""

    def _feasible(self, pod: Pod) -> tuple[list[str], Status | None]:
        """The nodes on which a pod fits, and the fault of a plugin on some other node."""
        if not self._framework.run_pre_enqueue(pod).is_success:
            return [], None
        diagnosis = find_feasible(
            self._framework, CycleState(self._state.pod_info(pod)), self._framework.handle.snapshot().nodes
        )
        self.is_undecided |= diagnosis.undecided is not None
        if diagnosis.result is None or not diagnosis.result.fits.any():
            return [], diagnosis.failure
        return diagnosis.result.feasible.names, diagnosis.failure


def placing(pod: Pod, node: str) -> Edit:
    """The edit that puts a pod on a node."""
    return Edit("Pod", pod.key, lambda _: _on(pod, node))


def _on(pod: Pod, node: str) -> Pod:
    """The pod on a node, without its nomination, which would keep room for it a second time."""
    spec = msgspec.structs.replace(pod.spec, node_name=node)
    return edited(pod, spec=spec, status=msgspec.structs.replace(pod.status, nominated_node_name=""))


@contextmanager
def applied(state: ClusterState, edits: tuple[Edit, ...]) -> Iterator[None]:
    """Change some objects of the cluster state for a while, and restore it with its pods in the same order."""
    before: dict[tuple[str, str], KubeObject | None] = {}
    pods = {edit.key for edit in edits if edit.kind == "Pod"}
    others = [edit for edit in edits if edit.kind != "Pod"]
    rows = _pods_of_rows(state, pods)
    try:
        for edit in others:
            old = state.objects.get(edit.kind, edit.key)
            before.setdefault((edit.kind, edit.key), old)
            _put(state, edit.kind, old, edit.change(old))
        _take_off(state, rows)
        after = {pod.key: pod for on_row in rows for pod in on_row}
        for edit in edits:
            if edit.kind == "Pod":
                changed = edit.change(after.pop(edit.key, None))
                if isinstance(changed, Pod):
                    after[edit.key] = changed
        _put_on(state, after.values())
        yield
    finally:
        _take_off(state, [[pod for key in pods if isinstance(pod := state.objects.get("Pod", key), Pod)], *rows])
        for (kind, key), old in reversed(before.items()):
            _put(state, kind, state.objects.get(kind, key), old)
        _put_on(state, (pod for on_row in rows for pod in on_row))


def _pods_of_rows(state: ClusterState, keys: set[str]) -> list[list[Pod]]:
    """All pods of the nodes that some of these pods are on, in NodeInfo order; then those on nodes that do not exist.

    All are taken off and put on again, because taking off a single one would change the order and free host ports
    that another one holds, too.
    """
    nodes = state.snapshot().nodes
    known = [pod for key in sorted(keys) if isinstance(pod := state.objects.get("Pod", key), Pod)]
    at = {pod.key: nodes.position_of(pod.node_name) for pod in known}
    positions = sorted({position for position in at.values() if position is not None})
    rows = [[info.pod for info in nodes.pods(position)] for position in positions]
    return [*rows, [pod for pod in known if at[pod.key] is None]]


def _take_off(state: ClusterState, rows: list[list[Pod]]) -> None:
    for on_row in rows:
        for pod in on_row:
            if state.objects.get("Pod", pod.key) is not None:
                state.apply(WatchEvent(EventType.DELETED, "Pod", pod))


def _put_on(state: ClusterState, pods: Iterable[Pod]) -> None:
    for pod in pods:
        state.apply(WatchEvent(EventType.ADDED, "Pod", pod))


def _put(state: ClusterState, kind: str, old: KubeObject | None, new: KubeObject | None) -> None:
    if new is not None:
        type_ = EventType.ADDED if old is None else EventType.MODIFIED
        state.apply(WatchEvent(type_, kind, new))
    elif old is not None:
        state.apply(WatchEvent(EventType.DELETED, kind, old))


@contextmanager
def _silent() -> Iterator[None]:
    """Drop what plugins log."""
    logger = logging.getLogger("kubesched.plugin")
    was_disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was_disabled
