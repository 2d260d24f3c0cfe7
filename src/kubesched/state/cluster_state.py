"""The state of the cluster: takes events, updates columns and relations, and gives snapshots.

Theory of operation. ClusterFacts are what is known: NodeColumns (a row per node, sums over the pods on it), relations
between pods (PodGroups, TermCounts), and ObjectStore (all objects by kind and name). ClusterState is the only
one that changes them, with the steps of PlacedPods for pods: through `apply` (what a watch or a snapshot file says),
`assume` (a pod is counted on a node before the API server says so) and `forget` (it did not come to be). A pod is in
one of three states: unknown, assumed or added. `fork` begins changes that can be taken back. Invariants, checked by
`check_invariants`: every column equals what a fresh load of the same objects would give, and a pod is counted on
exactly one row.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from kubesched.api import (
    ActionType,
    ClusterEvent,
    EventResource,
    EventType,
    KubeObject,
    Node,
    Pod,
    ResourceClaim,
    WatchEvent,
    compare_versions,
    kind_of,
    without_ignored_fields,
)
from kubesched.errors import StateError
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state.cluster_events import StateChange, is_unchanged_node, node_updates, object_change, pod_updates
from kubesched.state.cluster_snapshot import Snapshot
from kubesched.state.invariants import check_invariants
from kubesched.state.journal import Fork
from kubesched.state.node_tree import NodeTree
from kubesched.state.placed_pods import PlacedPods
from kubesched.state.pod_info import PodInfo

_Assumed = tuple[str, KubeObject | None, KubeObject]
"""Kind, the object before, and as a plan expects it to become."""

_ADDED: Final = EventType.ADDED  # for each pod; in Python 3.11 ten times as quick as the member of its class
_DELETED: Final = EventType.DELETED
_NODE_ADDED = ClusterEvent(EventResource.NODE, ActionType.ADD)
_POD_QUEUED = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.ADD)
_POD_UPDATED = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE_OTHER)
_POD_ASSIGNED = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)


class ClusterState(PlacedPods):
    """Everything that the scheduler knows of the cluster.

    Fields that its release does not read are taken off by `apply`, `load` and `pod_info`, and nowhere else.
    """

    def __init__(self, release: Release = DEFAULT_RELEASE) -> None:
        super().__init__(release)
        self._read = without_ignored_fields(release)
        self._tree = NodeTree()
        self._assumed: dict[str, list[_Assumed]] = {}  # by the uid of the pod
        self._planned: dict[tuple[str, str], dict[str, None]] = {}  # kind, key -> the pods whose plans change it
        # kind, key -> a version that the watch has not shown yet, and what it showed last
        self._written: dict[tuple[str, str], tuple[str, KubeObject | None]] = {}
        self._snapshot: Snapshot | None = None

    def snapshot(self) -> Snapshot:
        """A read-only view, valid until the next change."""
        if self._snapshot is None:  # a view of the same rows stays good until nodes come or go
            self._snapshot = Snapshot(self, self._tree)
        return self._snapshot

    def pod_info(self, pod: Pod) -> PodInfo:
        """The pod with its parts, for hooks and for the queue."""
        return PodInfo(pod if self._read is None else self._read(pod), self.parts)

    # --- what a watch says ---

    def apply(self, event: WatchEvent) -> list[StateChange]:
        """Take in one event.

        Returns: the cluster events that it means, for pods that wait.
        """
        new = event.object if self._read is None else self._read(event.object)
        if isinstance(new, Pod):
            return self._apply_pod(event.type, new)
        if isinstance(new, Node):
            return self._apply_node(event.type, new)
        is_there = event.type is not _DELETED
        if not is_there:
            self._forget_written((event.kind, new.key))
            old = self.objects.remove(event.kind, new.key)
            changes = object_change(event.kind, old, None)
        else:
            name = event.kind, new.key
            is_planned = name in self._planned
            is_changed = is_planned or name in self._written
            watched = self._watched(*name) if is_changed else None
            if is_changed and self._is_outdated(event.kind, new):
                return []
            old = self.objects.put(event.kind, self._as_planned(event.kind, new) if is_planned else new)
            changes = object_change(event.kind, watched if is_changed else old, new)
        if event.kind == "Namespace" and (old.labels if old else {}) != (new.labels if is_there else {}):
            if self._fork is not None:
                self._fork.record(self._namespaces_changed)
            self._namespaces_changed()
        return changes

    def load(self, objects: Sequence[tuple[str, KubeObject]]) -> None:
        """Take in the objects of a snapshot, nodes first, so that pods find them; kinds as in KINDS."""
        if self._read is not None:
            objects = [(kind, self._read(obj)) for kind, obj in objects]
        for _, obj in objects:
            if isinstance(obj, Node):
                self._apply_node(_ADDED, obj)
        arriving: list[PodInfo] = []
        for kind, obj in objects:
            if isinstance(obj, Pod):
                is_known = obj.uid in self._placed or self.objects.get("Pod", obj.key) is not None
                if not is_known and obj.node_name in self.columns.row_of and not obj.is_finished:
                    arriving.append(self._arrived(obj))
                    continue
                if is_known:  # what happens to it now depends on where it is
                    self._place_all(arriving)
                    arriving = []
            if kind != "Node":
                self.apply(WatchEvent(_ADDED, kind, obj))
        self._place_all(arriving)
        self.columns.pod_table.settle()  # so that the first pod that asks does not pay for all
        self.volumes.prepare()

    def _apply_node(self, type_: EventType, node: Node) -> list[StateChange]:
        row = self.columns.row_of.get(node.name)
        if type_ is _DELETED:
            return [] if row is None else self._remove_node(row, node)
        self.objects.put("Node", node)
        if row is None:
            self._add_node(node)
            return [StateChange(_NODE_ADDED, None, node)]
        old = self.columns.nodes[row]
        assert old is not None
        if is_unchanged_node(old, node):
            if self._fork is not None:
                self._fork.record(self.columns.nodes.__setitem__, row, old)
            self.columns.nodes[row] = node
            return []
        if self._fork is not None:
            self._fork.record(self._undo_node_change, row, old, self.columns.image_sizes(old))
        self._change_node(row, node)
        self._tree.update(node, self._fork)
        return node_updates(old, node)

    def _add_node(self, node: Node) -> None:
        if self._fork is not None:
            self._fork.record(self._undo_node_addition, node.name)
        row = self.columns.add_node(node)
        self._tree.add(node, self._fork)
        self._snapshot = None
        self._keep(self._homeless, node.name)
        for info in self._homeless.pop(node.name, {}).values():
            self._place(row, info)

    def _remove_node(self, row: int, node: Node) -> list[StateChange]:
        old = self.objects.remove("Node", node.name)
        homeless = list(self.columns.pods[row])
        for info in homeless:
            self._take_off(row, info)
        if homeless:
            self._keep(self._homeless, node.name)
            self._homeless[node.name] = {info.pod.uid: info for info in homeless}
        if self._fork is not None:
            known = self.columns.nodes[row]
            assert known is not None
            if self._fork.is_first("rows"):
                self._fork.record_order(self.columns.row_of)
            self._fork.record(self._undo_node_removal, row, known, self.columns.image_sizes(known))
        self.columns.remove_node(row)
        self._tree.remove(node.name, self._fork)
        self._snapshot = None
        return [StateChange(ClusterEvent(EventResource.NODE, ActionType.DELETE), old or node, None)]

    def _apply_pod(self, type_: EventType, pod: Pod) -> list[StateChange]:
        if type_ is _DELETED or pod.is_finished:
            return self._remove_pod(pod)
        uid = pod.metadata.uid
        known = self._placed.get(uid)
        if known is not None and self._renew(known, pod):
            if self._pop_plan(uid) is None:
                return [StateChange(_POD_UPDATED, known.pod, pod)]
            return [StateChange(_POD_ASSIGNED, None, pod)]
        old = self.objects.get("Pod", pod.key)
        if isinstance(old, Pod) and old.uid != pod.uid:  # its deletion was missed
            return self._remove_pod(old) + self._apply_pod(type_, pod)
        self.objects.put("Pod", pod)
        if not pod.spec.node_name:
            if isinstance(old, Pod) and not old.node_name:
                return pod_updates(EventResource.UNSCHEDULABLE_POD, old, pod)
            return [StateChange(_POD_QUEUED, None, pod)]
        if known is None:
            self._add(PodInfo(pod, self.parts))
        else:
            if known.pod is not pod:
                self._replace(known, pod)
            if uid not in self._assumed:
                return pod_updates(EventResource.ASSIGNED_POD, known.pod, pod)
            plan = self._pop_plan(uid) or []
            if known.pod.node_name != pod.node_name:  # bound by somebody else: the plan came to nothing
                self._take_back(plan)
        return [StateChange(_POD_ASSIGNED, None, pod)]

    def _remove_pod(self, pod: Pod) -> list[StateChange]:
        old = self.objects.remove("Pod", pod.key)
        known = self._placed.get(pod.uid)
        if known is not None:
            self._take_back(self._pop_plan(pod.uid) or [])
            self._drop(known)
            return [StateChange(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE), known.pod, None)]
        if old is None:
            return []
        return [StateChange(ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.DELETE), old, None)]

    # --- assume and forget ---

    def assume(self, info: PodInfo, node_name: str, objects: Sequence[tuple[str, KubeObject]] = ()) -> PodInfo:
        """Count a pod on a node although the API server has not said so.

        Args:
            info: the pending pod.
            objects: (kind, object) that the plan changes too, such as claims and volumes that Reserve took.
        Returns: the pod as it is on the node.
        Raises:
            StateError: the pod is counted already.
        """
        uid = info.pod.metadata.uid
        if uid in self._placed:
            raise StateError(f"pod {uid}({info.pod.key}) is in the cache, so can't be assumed")
        placed = info.with_pod(_changed(info.pod, spec=msgspec.structs.replace(info.pod.spec, node_name=node_name)))
        if self._fork is not None:
            self._fork.record_entry(self._assumed, uid)
        self._assumed[uid] = []
        if objects:
            self.assume_objects(uid, objects)
        self._add(placed)
        return placed

    def _watched(self, kind: str, key: str) -> KubeObject | None:
        """An object without what plans have changed since the watch showed it.

        Rule: kube-scheduler v1.36 asks hints about an update with the object that it had seen, not an assumed one.
        """
        if (kind, key) in self._written:
            return self._written[kind, key][1]
        plans = (self._assumed[uid] for uid in self._planned.get((kind, key), ()))
        before = {id(assumed): earlier for plan in plans for _, earlier, assumed in plan}
        watched = self.objects.get(kind, key)
        while watched is not None and id(watched) in before:
            watched = before[id(watched)]
        return watched

    def _as_planned(self, kind: str, new: KubeObject) -> KubeObject:
        """A newer version of an object that plans change: a claim keeps the devices that a plan is about to write."""
        current = self.objects.get(kind, new.key)
        if not isinstance(new, ResourceClaim) or not isinstance(current, ResourceClaim) or new.status.allocation:
            return new
        planned = msgspec.structs.replace(new, status=current.status)
        planned.__dict__.update(new.__dict__)
        is_planned = False
        for uid in self._planned[kind, new.key]:
            plan = self._assumed[uid]
            if any(assumed is current for _, _, assumed in plan):
                is_planned = True
                self._keep(self._assumed, uid)
                self._assumed[uid] = [(k, new, planned) if a is current else (k, b, a) for k, b, a in plan]
        return planned if is_planned else new

    def assume_objects(self, uid: str, objects: Sequence[tuple[str, KubeObject]]) -> None:
        """Let an assumed pod's plan change further objects."""
        self._keep(self._assumed, uid)
        self._assumed[uid] = [*self._assumed[uid], *((kind, self.objects.put(kind, obj), obj) for kind, obj in objects)]
        for kind, obj in objects:
            self._set_within(self._planned, (kind, obj.key), uid, None)

    def replace_assumed(self, uid: str, kind: str, provisional: KubeObject, created: KubeObject) -> None:
        """Let an object that an assumed pod's plan made up have the name under which it was created."""
        self.assume_objects(uid, [(kind, created)])
        self._assumed[uid] = [one for one in self._assumed[uid] if one[2] is not provisional]
        self._delete_within(self._planned, (kind, provisional.key), uid)
        self.objects.remove(kind, provisional.key)

    def note_written(self, uid: str, written: KubeObject) -> None:
        """Let an object that an assumed pod's plan changes stay as the API server has it, if the plan is taken back.

        The watch shows a write later than its answer, and shows what was there before first. Until then, the object
        would look as if it had not been written: the devices of a claim would be free for others.
        """
        kind = kind_of(written)
        current = self.objects.get(kind, written.key)
        name, version = (kind, written.key), written.metadata.resource_version
        if current is None or uid not in self._assumed or not _is_before(current.metadata.resource_version, version):
            return
        watched = self._watched(*name)
        self._keep(self._assumed, uid)
        self._assumed[uid] = [(k, written if (k, a.key) == name else b, a) for k, b, a in self._assumed[uid]]
        self._keep(self._written, name)
        self._written[name] = version, watched

    def _is_outdated(self, kind: str, new: KubeObject) -> bool:
        """Whether the watch shows a version before one that was written; else it has caught up."""
        written, _ = self._written.get((kind, new.key), ("", None))
        if _is_before(new.metadata.resource_version, written):
            return True
        self._forget_written((kind, new.key))
        return False

    def _forget_written(self, name: tuple[str, str]) -> None:
        if name in self._written:
            self._keep(self._written, name)
            del self._written[name]

    def assume_annotations(self, uid: str, annotations: Mapping[str, str]) -> PodInfo:
        """Let an assumed pod carry what its Binding will write, so that others on the node see what it holds.

        Returns: the pod as it is on the node now.
        """
        known = self._placed[uid]
        metadata = known.pod.metadata
        merged = {**(metadata.annotations or {}), **annotations}
        info = known.with_pod(_changed(known.pod, metadata=msgspec.structs.replace(metadata, annotations=merged)))
        self._reread(known, info)
        return info

    def forget(self, pod: Pod) -> None:
        """Take an assumed pod back, and the objects that it was assumed with.

        Raises:
            StateError: the pod is added, not assumed.
        """
        known = self._placed.get(pod.uid)
        if known is None:
            return
        replaced = self._pop_plan(pod.uid)
        if replaced is None:
            raise StateError(f"pod {pod.uid}({pod.key}) is not assumed, so it cannot be removed or forgotten")
        self._drop(known)
        self._take_back(replaced)

    def _pop_plan(self, uid: str) -> list[_Assumed] | None:
        """What a pod was assumed with, no longer kept; None if it was not assumed."""
        if self._fork is not None:
            self._fork.record_entry(self._assumed, uid)
        plan = self._assumed.pop(uid, None)
        if plan:
            for name in {(kind, assumed.key) for kind, _, assumed in plan}:
                self._delete_within(self._planned, name, uid)
        return plan

    def _take_back(self, plan: list[_Assumed]) -> None:
        """Restore what a plan changed and the API server has not sent since. Later plans may depend on this one."""
        for kind, before, assumed in reversed(plan):
            if self.objects.get(kind, assumed.key) is not assumed:
                for uid in self._planned.get((kind, assumed.key), ()):
                    other = self._assumed[uid]
                    self._keep(self._assumed, uid)
                    self._assumed[uid] = [(k, before if b is assumed else b, a) for k, b, a in other]
            elif before is None:
                self.objects.remove(kind, assumed.key)
            else:
                self.objects.put(kind, before)

    def is_assumed(self, pod: Pod) -> bool:
        """Whether the pod is counted on a node that the API server has not confirmed."""
        return pod.uid in self._assumed

    @property
    def assumed_uids(self) -> list[str]:
        """The uids of all assumed pods."""
        return list(self._assumed)

    def check_invariants(self) -> None:
        """Assert that everything that is kept equals what counting again gives, and that every pod has one place."""
        check_invariants(self, self._tree, self._placed, self.homeless)
        assert self._assumed.keys() <= self._placed.keys()
        planned = {(kind, obj.key, uid) for uid, plan in self._assumed.items() for kind, _, obj in plan}
        assert planned == {(*name, uid) for name, uids in self._planned.items() for uid in uids}
        assert all(self._planned.values()), "an object that no plan changes is given back"

    # --- forks ---

    def fork(self) -> Fork:
        """Begin changes that can be taken back: `with cluster_state.fork(): ...` leaves everything as it was."""
        fork = Fork(self._fork, self._record_to)
        fork.record(self._undo_refresh, *self._tree.listed())
        return fork

    def _record_to(self, fork: Fork | None) -> None:
        self._fork = fork
        self.objects.record_to(fork)

    def _undo_refresh(self, listing: list[str], is_stale: bool) -> None:
        if self._tree.restore_listing(listing, is_stale):
            self._snapshot = None

    def _undo_node_addition(self, name: str) -> None:
        self.columns.remove_node(self.columns.row_of[name])
        self._snapshot = None

    def _undo_node_removal(self, row: int, node: Node, image_sizes: Mapping[str, int]) -> None:
        self.columns.add_node(node, row)
        self.columns.restore_image_sizes(image_sizes)
        self._snapshot = None


def _is_before(version: str, other: str) -> bool:
    """Whether a resourceVersion is older than another one; false where they cannot be compared."""
    order = compare_versions(version, other)
    return order is not None and order < 0


def _changed(pod: Pod, **fields: object) -> Pod:
    """A copy with other fields that keeps the JSON which the pod was decoded from."""
    changed = msgspec.structs.replace(pod, **fields)
    source = pod.__dict__.get("raw_source")
    if source is not None:
        changed.__dict__["raw_source"] = source
    return changed
