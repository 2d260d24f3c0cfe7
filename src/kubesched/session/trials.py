"""Simulates one cluster repeatedly, each time with other changes, and takes them back without loading it again.

A Trials is at rest between two runs: placed pods are in the cluster state, pending pods are not, and the queue is
empty. Each run therefore begins as that of a Simulator that has just loaded `objects()`, and gives the same placements.
"""

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import msgspec

from kubesched.admission import is_new_and_bound
from kubesched.api import EventType, KubeObject, Pod, WatchEvent, completed, decode_object, kind_of, objects_of
from kubesched.scheduler import TieBreak
from kubesched.session.report import Fill, Report
from kubesched.session.session import Progress, Simulator
from kubesched.setup import ArgsLike, ConfigurationLike, ExtenderCalls, PluginLike, Profiles, Setup

Key = tuple[str, str]
"""Kind, and `namespace/name` or the name alone."""

_NO_ARGS: Mapping[str, ArgsLike] = {}


class Mark(msgspec.Struct, frozen=True, eq=False):
    """A moment to which a Trials can go back."""

    objects: dict[Key, KubeObject]
    pending: dict[Key, Pod]
    positions: dict[Key, int]
    n_changes: int
    bound: tuple[Pod, ...]


class Trials(Simulator):
    """A Simulator that runs as often as it is asked to, with changes between the runs. Close it at the end.

    The arguments are those of a Simulator. Plugins see the changes as events. A plugin that
    counts pods by itself has to follow these events, since no hook reports what is taken back.

    Example:
        trials = Trials(load_snapshot("cluster.json"))
        before = trials.mark()
        trials.change([make_pod("new", requests={"cpu": "1"})])
        print(trials.schedule().placements)
        trials.go_back(before)
        trials.close()
    """

    def __init__(
        self,
        snapshot: Iterable[KubeObject],
        configuration: ConfigurationLike | Setup | Profiles = None,
        plugins: Iterable[PluginLike] = (),
        plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
        *,
        tie_break: TieBreak = TieBreak.FIRST,
        seed: int = 0,
        extender_calls: ExtenderCalls | None = None,
    ) -> None:
        known = objects_of(snapshot)
        self._seed = seed
        self._n_arrived = count()
        self._given: dict[Key, KubeObject] = {}
        self._now: dict[Key, KubeObject] = {}  # in the order of the snapshot that `objects` returns
        self._pending: dict[Key, Pod] = {}  # those of them that wait for a node, in the same order
        self._position: dict[Key, int] = {}  # the same order, to sort by
        self._changed: list[Key] = []
        self._disturbed: set[str] = set()  # nodes that a pod has left: the order of the others is another one now
        super().__init__(
            known, configuration, plugins, plugin_args, tie_break=tie_break, seed=seed, extender_calls=extender_calls
        )
        for one in map(completed, known):
            self._given[_key(one)] = one
            self._remember(_key(one), one)
        self._changed.clear()

    # --- what there is ---

    def of(self, kind: str) -> list[KubeObject]:
        """The objects of one kind as they are now."""
        return [one for (known, _), one in self._now.items() if known == kind]

    def get(self, kind: str, key: str) -> KubeObject | None:
        """An object as it is now; None where there is none."""
        return self._now.get((kind, key))

    def objects(self, mark: Mark | None = None) -> list[KubeObject]:
        """The cluster as it is now, or was at a mark, complete enough for `write_snapshot`."""
        now = self._now if mark is None else mark.objects
        return [one if one is self._given.get(key) else _as_written(one) for key, one in now.items()]

    def pods_on(self, node: str) -> list[Pod]:
        """The pods that hold something of a node, in the order of `objects`."""
        self._put_in_order()
        row = self.cluster_state.columns.row_of.get(node)
        return [] if row is None else [info.pod for info in self.cluster_state.columns.pods[row]]

    def fill(self) -> Fill:
        """How full the nodes are."""
        return Fill(self.cluster_state.columns)

    # --- changes ---

    def change(self, changed: Iterable[KubeObject] = (), gone: Iterable[KubeObject] = ()) -> None:
        """Remove some objects, then add others or put them in the place of older ones. Pods arrive at the next run."""
        for one in gone:
            self._tell(WatchEvent(EventType.DELETED, kind_of(one), one))
        for one in changed:
            if isinstance(one, Pod) and is_new_and_bound(one):  # a kubelet sees it at the next run
                self._bound.append(one)
            elif isinstance(one, Pod) and not one.node_name:
                self._remember(_key(one), one)
            else:
                self._tell(WatchEvent(EventType.MODIFIED, kind_of(one), one))

    def mark(self) -> Mark:
        """Remember this moment."""
        return Mark(dict(self._now), dict(self._pending), dict(self._position), len(self._changed), tuple(self._bound))

    def go_back(self, mark: Mark) -> None:
        """Take back every change since a mark, and forget the marks after it."""
        keys = dict.fromkeys(self._changed[mark.n_changes :])
        del self._changed[mark.n_changes :]
        self._bound[:] = mark.bound
        self._now, self._pending, self._position = dict(mark.objects), dict(mark.pending), dict(mark.positions)
        objects = self.cluster_state.objects
        others: list[KubeObject] = []
        pods: list[Pod] = []
        for kind, key in keys:
            then, current = self._now.get((kind, key)), objects.get(kind, key)
            if then is current:
                continue
            if current is not None and (then is None or kind == "Pod"):
                super()._tell(WatchEvent(EventType.DELETED, kind, current))
            if isinstance(then, Pod):
                if then.node_name:
                    pods.append(then)
            elif then is not None:
                others.append(then)
        for one in (*others, *pods):
            super()._tell(WatchEvent(EventType.MODIFIED, kind_of(one), one))
        self._disturbed.update(pod.node_name for pod in pods)
        self._put_in_order()

    def _put_in_order(self) -> None:
        """Have the pods of disturbed nodes in the order in which a loaded snapshot has them; ties may depend on it."""
        columns = self.cluster_state.columns
        for node in self._disturbed:
            row = columns.row_of.get(node)
            keys = [] if row is None else [("Pod", info.pod.key) for info in columns.pods[row]]
            ordered = sorted(keys, key=self._position.__getitem__)
            if ordered == keys:
                continue
            for type_ in (EventType.DELETED, EventType.ADDED):
                for key in ordered:
                    super()._tell(WatchEvent(type_, "Pod", self._now[key]))
        self._disturbed.clear()

    # --- runs ---

    def schedule(self, progress: Progress | None = None) -> Report:
        """Schedule every pending pod, as `Simulator.run` does on the objects that there are now."""
        self._put_in_order()
        self.rng.seed(self._seed)
        self.scheduler.cycle.next_start = 0
        self._outcomes.clear()
        self.bound_placements.clear()
        self._errors.clear()
        self.cluster.evicted.clear()
        self.cluster.events.clear()
        self.pending = list(self._pending.values())
        before = Fill(self.cluster_state.columns)
        self.loop.run(self._place_all(progress))
        self._suspended.close()
        report = self._report(before)
        for pod in self.pending:
            current = self.cluster_state.objects.get("Pod", pod.key)
            if isinstance(current, Pod) and not current.node_name:
                super()._tell(WatchEvent(EventType.DELETED, "Pod", current))
        return report

    def _tell(self, event: WatchEvent) -> None:
        """Note what an event changes, and pass it on."""
        key = (event.kind, event.object.key)
        if event.type is EventType.DELETED:
            gone = self._now.pop(key, None)
            self._pending.pop(key, None)
            self._position.pop(key, None)
            self._changed.append(key)
            if isinstance(gone, Pod):
                self._disturbed.add(gone.node_name)
        else:
            self._remember(key, event.object)
        super()._tell(event)

    def _remember(self, key: Key, one: KubeObject) -> None:
        old = self._now.get(key)
        if old is one:
            return
        self._changed.append(key)
        if isinstance(one, Pod):
            if not one.node_name and not one.is_finished:
                self._pending[key] = one
            elif self._pending.pop(key, None) is not None:
                del self._now[key], self._position[key]  # it is the last one to arrive on its node
        self._now[key] = one
        self._position.setdefault(key, next(self._n_arrived))


def _key(one: KubeObject) -> Key:
    return kind_of(one), one.key


def _as_written(one: KubeObject) -> KubeObject:
    """An object whose JSON has what the simulation decided."""
    if not isinstance(one, Pod):
        return one
    document: dict[str, Any] = one.document
    document["spec"] = {**(document.get("spec") or {}), **({"nodeName": one.node_name} if one.node_name else {})}
    return decode_object("Pod", msgspec.json.encode(document))
