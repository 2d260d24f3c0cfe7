"""The pods that are counted on nodes, and how they come, change and go, so that a fork can take it back."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from kubesched.api import Pod, has_same_requests
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state.facts import ClusterFacts
from kubesched.state.journal import Fork
from kubesched.state.pod_info import PodInfo, Port


class PlacedPods(ClusterFacts):
    """Facts whose pods move. Its subclass ClusterState decides when they do."""

    def __init__(self, release: Release = DEFAULT_RELEASE) -> None:
        super().__init__(release)
        self._placed: dict[str, PodInfo] = {}  # by uid: assumed and added pods
        self._homeless: dict[str, dict[str, PodInfo]] = {}  # node that is not known -> its pods by uid
        self._fork: Fork | None = None  # the innermost one that is open

    def placed(self, uid: str) -> PodInfo | None:
        """The pod of this uid, if it is counted on a node."""
        return self._placed.get(uid)

    @property
    def n_placed(self) -> int:
        """How many pods are counted on a node, assumed ones among them."""
        return len(self._placed)

    @property
    def homeless(self) -> dict[str, list[PodInfo]]:
        """Pods bound to nodes that are not known, by node name."""
        return {name: list(pods.values()) for name, pods in self._homeless.items()}

    def arrange(self, node_name: str, uids: Iterable[str]) -> None:
        """Have the pods of a node in the order in which loading them would put them there: these first, then the rest.

        A host port that one of them holds is taken then, also if another one that held it has left.
        """
        row = self.columns.row_of.get(node_name)
        if row is None:
            return
        pods, place_of = self.columns.pods[row], {uid: place for place, uid in enumerate(uids)}
        ordered = sorted(pods, key=lambda info: place_of.get(info.pod.uid, len(place_of)))
        ports = self.columns.ports_on(row, pods)
        if ordered == pods and all(ports.values()):
            return
        if self._fork is not None:
            self._fork.record(self._undo_arrange, row, list(pods), ports)
        self.columns.arrange(row, ordered)
        self.columns.restore_ports(row, dict.fromkeys(ports, True))

    # --- the parts of a move ---

    def _arrived(self, pod: Pod) -> PodInfo:
        """Note a new pod that `_place_all` will put on its node."""
        uid = pod.metadata.uid
        self.objects.put("Pod", pod)
        self._keep(self._placed, uid)
        info = self._placed[uid] = PodInfo(pod, self.parts)
        return info

    def _place_all(self, infos: Sequence[PodInfo]) -> None:
        """As `_place` for each, on the nodes that they name; many cost less at once."""
        row_of = self.columns.row_of
        rows = [row_of[info.pod.spec.node_name] for info in infos]
        if self._fork is not None:
            for row, info in zip(rows, infos, strict=True):
                self._place(row, info)
            return
        self.columns.add_pods(rows, infos)
        for row, info in zip(rows, infos, strict=True):
            self._relate(row, info, 1)

    def _add(self, info: PodInfo) -> None:
        uid, node_name = info.pod.metadata.uid, info.pod.spec.node_name
        if self._fork is not None:
            self._fork.record_entry(self._placed, uid)
        self._placed[uid] = info
        row = self.columns.row_of.get(node_name)
        if row is None:
            self._set_within(self._homeless, node_name, uid, info)
        else:
            self._place(row, info)

    def _place(self, row: int, info: PodInfo) -> None:
        if self._fork is not None:
            self._fork.record(self._undo_place, row, info, self.columns.ports_on(row, (info,)))
        self.columns.add_pod(row, info)
        self._relate(row, info, 1)

    def _take_off(self, row: int, info: PodInfo) -> None:
        if self._fork is not None:
            self._fork.record(self._undo_take_off, row, info, info.place, self.columns.ports_on(row, (info,)))
        self._relate(row, info, -1)
        self.columns.remove_pod(row, info)

    def _renew(self, known: PodInfo, pod: Pod) -> bool:
        """Take a newer reading of a pod that holds what it held, on the node where it was; most say nothing new.

        Returns: whether this is one. A pod whose host port is free is not: every update takes its ports again.
        """
        old = known.pod
        if old is pod:
            self.objects.put("Pod", pod)
            return True
        if known.ports.value and not self.columns.has_ports_of(known):
            return False
        is_same = old.status == pod.status and old.metadata.is_same_but_for_version(pod.metadata)
        if old.spec != pod.spec or not (is_same or _holds_the_same(old, pod)):
            return False
        self.objects.put("Pod", pod)
        info = known.with_pod(pod)
        if self._fork is not None:
            self._fork.record_entry(self._placed, pod.metadata.uid)
        self._placed[pod.metadata.uid] = info
        if known.node_row < 0:
            self._set_within(self._homeless, pod.spec.node_name, pod.metadata.uid, info)
            return True
        if self._fork is not None:
            self._fork.record(partial(self.columns.renew_pod, info, known, is_same=is_same))
        self.columns.renew_pod(known, info, is_same=is_same)
        return True

    def _replace(self, known: PodInfo, pod: Pod) -> None:
        """A pod changed: it keeps its place in the row's order when it stays on its node."""
        if known.node_row >= 0 and known.pod.node_name == pod.node_name:
            self._reread(known, PodInfo(pod, self.parts))
        else:
            self._drop(known)
            self._add(PodInfo(pod, self.parts))

    def _reread(self, known: PodInfo, info: PodInfo) -> None:
        """One reading of a pod for another, on the same node and in the same place there."""
        row, uid = known.node_row, info.pod.uid
        self._keep(self._placed, uid)
        self._placed[uid] = info
        if row < 0:
            self._set_within(self._homeless, info.pod.node_name, uid, info)
            return
        if self._fork is not None:
            self._fork.record(self._undo_exchange, row, info, known, self.columns.ports_on(row, (known, info)))
        self._exchange(row, known, info)

    def _drop(self, known: PodInfo) -> None:
        uid = known.pod.uid
        if self._fork is not None:
            self._fork.record_entry(self._placed, uid)
        del self._placed[uid]
        if known.node_row >= 0:
            self._take_off(known.node_row, known)
        elif uid in self._homeless.get(known.pod.node_name, ()):
            self._delete_within(self._homeless, known.pod.node_name, uid)

    def _exchange(self, row: int, old: PodInfo, new: PodInfo) -> None:
        """One reading of a pod for another in the same place."""
        self._relate(row, old, -1)
        self.columns.replace_pod(row, old, new)
        self._relate(row, new, 1)

    def _keep(self, table: dict[Any, Any], key: object) -> None:
        """An open fork takes note of what a table has under a key, before that changes."""
        if self._fork is not None:
            self._fork.record_entry(table, key)

    def _set_within(self, tables: dict[Any, dict[str, Any]], name: object, key: str, value: object) -> None:
        """Set an entry of a table in a table of tables."""
        self._keep(tables, name)
        table = tables.setdefault(name, {})
        self._keep(table, key)
        table[key] = value

    def _delete_within(self, tables: dict[Any, dict[str, Any]], name: object, key: str) -> None:
        """Delete an entry of a table in a table of tables, and the table with its last one."""
        table = tables[name]
        if self._fork is not None:
            self._fork.record_order(table)
            self._fork.record_entry(table, key)
            self._fork.record_entry(tables, name)
        del table[key]
        if not table:
            del tables[name]

    # --- and back ---

    def _undo_place(self, row: int, info: PodInfo, ports: Mapping[Port, bool]) -> None:
        self._relate(row, info, -1)
        self.columns.remove_pod(row, info)
        self.columns.restore_ports(row, ports)

    def _undo_take_off(self, row: int, info: PodInfo, place: int, ports: Mapping[Port, bool]) -> None:
        self.columns.add_pod(row, info)
        self._relate(row, info, 1)
        self.columns.swap_in(info, place)
        self.columns.restore_ports(row, ports)

    def _undo_exchange(self, row: int, new: PodInfo, old: PodInfo, ports: Mapping[Port, bool]) -> None:
        self._exchange(row, new, old)
        self.columns.restore_ports(row, ports)

    def _undo_arrange(self, row: int, infos: list[PodInfo], ports: Mapping[Port, bool]) -> None:
        self.columns.arrange(row, infos)
        self.columns.restore_ports(row, ports)


def _holds_the_same(old: Pod, new: Pod) -> bool:
    """Whether a pod with the same spec requests the same, and is selected by the same."""
    return (
        has_same_requests(old.status, new.status)
        and old.metadata.labels == new.metadata.labels
        and old.metadata.deletion_timestamp == new.metadata.deletion_timestamp
        and old.key == new.key
    )
