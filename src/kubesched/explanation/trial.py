"""Tries a change: a fork of the cluster state takes it in, the filters run, and the fork is reverted."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec
import numpy as np

from kubesched.api import EventType, KubeObject, Pod, Taint, WatchEvent, on_node
from kubesched.controllers import detached, is_bound_to_node, left_claims, successor_of
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.nodes_for_others import kept_for_others
from kubesched.framework import CycleState, Framework, Status, find_feasible
from kubesched.plugins import ClaimPlan, DynamicResources
from kubesched.session import best_of
from kubesched.state import ClusterState, Nodes

_MAX_FATES: Final = 20


class Move(msgspec.Struct, frozen=True):
    """A pod that makes way.

    Attributes:
        domains: (label key, value) of the nodes that it has to leave, beside its own one.
    """

    pod: Pod
    domains: frozenset[tuple[str, str]] = frozenset()


class Place(msgspec.Struct, frozen=True):
    """Where a pod goes that makes way.

    Attributes:
        edits: what puts it on the node, with what its claims for devices get there.
    """

    node: str
    edits: tuple[Edit, ...]


class Trial:
    """Runs the filters of a profile for one pod on a changed cluster.

    A fork of the cluster state takes the changes as events and gives the exact answer of a cluster that has them. What
    plugins log in the meantime is dropped: it would be about a cluster that does not exist.

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
            pod = change.pod(self.pod)
            nodes, self.fault = self._searched(pod, CycleState(self._state.pod_info(pod)))
            names: list[str] = [] if nodes is None else nodes.names
        return names

    def places(
        self, change: Change, node: str, moves: Iterable[Move], *, as_scored: bool = False
    ) -> "dict[str, Place]":
        """Find nodes for pods that make way, one after another, once the changed pod is on its node.

        Args:
            change: takes these pods away.
            node: of the changed pod.
            as_scored: whether the scores alone choose. By default, a pod goes to a node that taints keep for others
                only if it fits on no other node.
        Returns: `namespace/name` of those that have a place -> it. A pod that is not re-created has none.
        """
        found: dict[str, Place] = {}
        edits = [*change.edits]
        edits += self._putting(change.pod(self.pod), node, edits)
        for move in moves:
            with _silent(), applied(self._state, tuple(edits)):
                place = self._place(move, as_scored=as_scored)
            if place:
                left = [_edit_of(event) for event in left_claims(move.pod, self._state.objects.get, comes_back=True)]
                found[move.pod.key] = Place(place, (*left, *self._putting(move.pod, place, edits)))
                edits += found[move.pod.key].edits
        return found

    def _putting(self, pod: Pod, node: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """The edits that put a pod on a node, with what its claims for devices get there.

        Args:
            edits: what changes before.
        """
        has_claims = pod.spec.resource_claims or len(self._state.devices.classes)
        if not has_claims:
            return (placing(pod, node),)
        waiting = on_node(pod, "")
        with _silent(), applied(self._state, tuple(edits)):
            state = CycleState(self._state.pod_info(waiting))
            self._searched(waiting, state)
            claims = self._claims_on(state, node)
        return (*(_edit_of(event) for event in claims), placing(pod, node))

    def _claims_on(self, state: CycleState, node: str) -> list[WatchEvent]:
        """What becomes of the claims of a pod that was searched for a node."""
        plugins = (one for one in self._framework.profile.points["reserve"] if isinstance(one, DynamicResources))
        plans = (one.planned(state, node) for one in plugins)
        made = (claim for one in plans if isinstance(one, ClaimPlan) for claim in one.assumed)
        return [WatchEvent(EventType.MODIFIED, kind, claim) for kind, claim in made]

    def n_placed(self, change: Change, equal: Iterable[Pod]) -> int:
        """How many of the pod and equal ones get a node one after another in the changed cluster."""
        n = 0
        with _silent(), applied(self._state, change.edits):
            for one in (self.pod, *equal):
                pod = change.pod(one)
                state = CycleState(self._state.pod_info(pod))
                found, _ = self._searched(pod, state)
                if found is None:
                    break
                node = best_of(self._framework, state, found)
                for event in self._claims_on(state, node):
                    self._state.apply(event)
                self._state.apply(WatchEvent(EventType.MODIFIED, "Pod", on_node(pod, node)))
                n += 1
        return n

    def kept_for_others(self, pod: Pod, node: str) -> list[Taint]:
        """The taints that keep a node for other pods than this one, though it tolerates them.

        A node that the same fix adds has none: only a node like one that may be used is added.
        """
        if node not in self._state.columns.row_of:
            return []
        return kept_for_others(self._state.pod_info(pod), self._state.snapshot().node_info(node).node)

    def lost_because(self, pod: Pod) -> str:
        """Why no pod comes in the place of a placed one that makes way; empty where one comes, or may come."""
        successor = successor_of(pod, self._state.objects.get)
        is_lost = pod.node_name and successor.is_made is False and successor.is_loss
        return successor.why if is_lost else ""

    def _place(self, move: Move, *, as_scored: bool) -> str:
        """The node that the scores choose for a pod that has left; empty where it fits nowhere else."""
        if is_bound_to_node(move.pod) or self.lost_because(move.pod):
            return ""
        info_of = self._state.snapshot().node_info
        pod = on_node(move.pod, "")
        state = CycleState(self._state.pod_info(pod))
        found, _ = self._searched(pod, state)
        away = [
            position
            for position, name in enumerate(found.names if found is not None else ())
            if name != move.pod.node_name and move.domains.isdisjoint(info_of(name).labels.items())
        ]
        if found is None or not away:
            return ""
        if not as_scored:
            nodes = ((position, info_of(found.name(position)).node) for position in away)
            away = [position for position, node in nodes if not kept_for_others(state.pod, node)] or away
        return best_of(self._framework, state, found.select(np.array(away, dtype=np.intp)))

    def _searched(self, pod: Pod, state: CycleState) -> tuple[Nodes | None, Status | None]:
        """The nodes on which a pod fits, None for none, and the fault of a plugin on some other node."""
        if not self._framework.run_pre_enqueue(pod).is_success:
            return None, None
        diagnosis = find_feasible(self._framework, state, self._framework.handle.snapshot().nodes)
        self.is_undecided |= diagnosis.undecided is not None
        result = diagnosis.result
        fits = result is not None and bool(result.fits.any())
        return result.feasible if result is not None and fits else None, diagnosis.failure


def take_back(state: ClusterState, pending: Pod, evicted: Iterable[Pod]) -> None:
    """Undo a decision in a fork: a pod that has its node by it waits again, and those that it evicted are back."""
    placed = state.objects.get("Pod", pending.key)
    if placed is not None:
        state.apply(WatchEvent(EventType.DELETED, "Pod", placed))
    for pod in (pending, *evicted):
        state.apply(WatchEvent(EventType.ADDED, "Pod", pod))


def fates(framework: Framework, pod: Pod, node: str, victims: Sequence[Pod]) -> dict[str, str]:
    """What becomes of pods that are evicted for a pod which goes to a node.

    Returns: `namespace/name` -> `on NODE`, `pending` or `lost`, for the first victims.
    """
    trial, first = Trial(framework, pod), victims[:_MAX_FATES]
    gone = Change(edits=tuple(Edit("Pod", one.key, lambda _: None) for one in victims))
    places = trial.places(gone, node, map(Move, first), as_scored=True)
    left = {one.key: "lost" if trial.lost_because(one) else "pending" for one in first}
    return left | {key: f"on {place.node}" for key, place in places.items()}


def placing(pod: Pod, node: str) -> Edit:
    """The edit that puts a pod on a node."""
    return Edit("Pod", pod.key, lambda _: on_node(pod, node))


def _edit_of(event: WatchEvent) -> Edit:
    """An edit that leaves an object as an event has it."""
    after = None if event.type is EventType.DELETED else event.object
    return Edit(event.kind, event.object.key, lambda _: after)


@contextmanager
def applied(state: ClusterState, edits: tuple[Edit, ...]) -> Iterator[None]:
    """Change some objects of the cluster state for a while; pods are on their nodes as a load of the objects puts them.

    A changed pod is the last one to come.
    """
    after: dict[tuple[str, str], KubeObject | None] = {}
    for edit in sorted(edits, key=lambda edit: edit.kind == "Pod"):
        name = (edit.kind, edit.key)
        after[name] = edit.change(after.pop(name) if name in after else state.objects.get(*name))
    with state.fork():
        before = [state.objects.get(kind, key) for kind, key in after if kind == "Pod"]
        stay = _pods_beside(state, [key for kind, key in after if kind == "Pod"])
        for (kind, key), new in after.items():
            old = state.objects.get(kind, key)
            if old is not None and (new is None or (isinstance(new, Pod) and not new.node_name)):
                state.apply(WatchEvent(EventType.DELETED, kind, old))
            if new is not None:
                state.apply(WatchEvent(EventType.MODIFIED, kind, new))
        moved = [pod for pod in before if isinstance(pod, Pod)]
        _detach(state, moved)
        _release_claims(state, moved)
        changed = [pod.uid for pod in after.values() if isinstance(pod, Pod)]
        for node_name, uids in stay.items():
            state.arrange(node_name, [*uids, *changed])
        yield


def _detach(state: ClusterState, moved: Iterable[Pod]) -> None:
    """Detach the volumes of pods that are no longer on their nodes, as controllers would."""
    for attachment in detached(moved, state):
        state.apply(WatchEvent(EventType.DELETED, "VolumeAttachment", attachment))


def _release_claims(state: ClusterState, moved: Iterable[Pod]) -> None:
    """Take back the devices of pods that are on no node any more, as controllers would; the pods may come again."""
    for pod in moved:
        left = state.objects.get("Pod", pod.key)
        if pod.node_name and not (isinstance(left, Pod) and left.node_name):
            for event in left_claims(pod, state.objects.get, comes_back=True):
                state.apply(event)


def _pods_beside(state: ClusterState, keys: Iterable[str]) -> dict[str, list[str]]:
    """By the nodes that some pods are on, the uids of the other pods there in their order."""
    known = [pod for key in keys if isinstance(pod := state.objects.get("Pod", key), Pod)]
    uids, columns = {pod.uid for pod in known}, state.columns
    row_of = {pod.node_name: columns.row_of[pod.node_name] for pod in known if pod.node_name in columns.row_of}
    return {
        name: [info.pod.uid for info in columns.pods[row] if info.pod.uid not in uids] for name, row in row_of.items()
    }


@contextmanager
def _silent() -> Iterator[None]:
    """Drop what plugins log."""
    logger = logging.getLogger("kubesched.plugin")
    was_disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was_disabled
