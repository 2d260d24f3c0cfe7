"""What a fork takes back never happened: a cluster that was never given it is the same, in all values and orders."""

import copy
import gc
import random
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle.generate import APPS
from kubesched.api import KubeObject
from kubesched.framework import Framework
from kubesched.state import ClusterState, DevicePool, Fork
from tests.properties.cluster_walk import Walk, as_pod, generated, key_of, read
from tests.properties.device_objects import KINDS, READS, changed
from tests.properties.test_cluster_state import assert_same_columns, described
from tests.properties.test_column_cache import OTHER_ARGS, framework_of, is_pending, opinions
from tests.trials import examples

FEATURES = (
    *("attachments", "budgets", "capacity", "claims", "devices", "ephemeral", "host-ports", "image-sizes"),
    *("inline-disks", "local", "migrated", "pod-level", "resize", "selectors", "zones"),
)
ACTIONS = ("fork", "fork", "revert", "revert", "commit", "look", "look")


class ForkedWalk(Walk):
    """A walk that can be taken back together with what it knows of its cluster, and that changes more kinds."""

    STEPS = (
        *Walk.STEPS,
        *(
            "assume_with_objects",
            "assume_with_objects",
            "assume_more",
            "assume_devices",
            "annotate",
            "load_some",
            "renew_pod",
        ),
        *("change_other", "change_other", "put_back_other", "move_pod", "put_back_pod", "relabel_namespace"),
        "arrange",
    )

    def __init__(self, seed: int, features: tuple[str, ...] = ()) -> None:
        self.gone_others: dict[Any, dict] = {}
        super().__init__(seed, features)
        self._pod_numbers = iter(range(1000, 10**6))  # which can be copied
        self.forks: list[tuple[Fork, dict[str, Any]]] = []

    # --- forks ---

    def fork(self) -> None:
        known = {name: copy.copy(value) for name, value in vars(self).items() if name not in ("cluster_state", "forks")}
        self.forks.append((self.cluster_state.fork(), known))

    def revert(self) -> None:
        fork, known = self.forks.pop()
        fork.revert()
        vars(self).update(known)

    def commit(self) -> None:
        self.forks.pop()[0].commit()

    # --- more steps ---

    def _assume_with_objects(self, r: random.Random) -> None:
        waiting = [pod for pod in self.pending if pod["metadata"]["uid"] not in self.assumed]
        claims = [item for item in self.others.values() if item["kind"] == "PersistentVolumeClaim"]
        volumes = [item for item in self.others.values() if item["kind"] == "PersistentVolume"]
        if waiting and claims and volumes:
            pod, node = r.choice(waiting), self._some_node(r)
            plan = [planned_claim(r.choice(claims), r), planned_volume(r.choice(volumes), r)]
            info = self.cluster_state.pod_info(as_pod(pod))
            self.cluster_state.assume(info, node, [(item["kind"], read(item)) for item in plan])
            self.assumed[pod["metadata"]["uid"]] = node

    def _assume_more(self, r: random.Random) -> None:
        claims = [item for item in self.others.values() if item["kind"] == "PersistentVolumeClaim"]
        if self.assumed and claims:
            plan = [planned_claim(r.choice(claims), r)]
            uid = r.choice(sorted(self.assumed))
            self.cluster_state.assume_objects(uid, [(item["kind"], read(item)) for item in plan])

    def _assume_devices(self, r: random.Random) -> None:
        claims = [item for item in self.others.values() if item["kind"] == "ResourceClaim"]
        if self.assumed and claims:
            allocated = changed(r.choice(claims), self._slices, r)
            uid = r.choice(sorted(self.assumed))
            self.cluster_state.assume_objects(uid, [("ResourceClaim", read(allocated))])

    def _annotate(self, r: random.Random) -> None:
        if self.assumed:
            self.cluster_state.assume_annotations(r.choice(sorted(self.assumed)), {"device": str(r.random())})

    def _load_some(self, r: random.Random) -> None:
        nodes = [r.choice(self._node_pool) for _ in range(2)]
        pods = [self._new_pod(r, self._some_node(r)) for _ in range(4)]
        self.cluster_state.load([(item["kind"], read(item)) for item in (*nodes, *pods)])
        for item in (*nodes, *pods):
            self._table(item)[key_of(item)] = item

    def _renew_pod(self, r: random.Random) -> None:
        """A newer reading, with or without something that rules can see."""
        pods = [pod for pod in self.pods.values() if pod["metadata"]["uid"] not in self.assumed]
        if pods:
            pod = copy.deepcopy(r.choice(pods))
            pod["metadata"]["resourceVersion"] = str(r.randrange(10**6))
            if r.random() < 0.5:
                pod["metadata"]["annotations"] = {"seen": str(r.random())}
            self._put(pod)

    def _change_other(self, r: random.Random) -> None:
        if not self.others:
            return
        item = copy.deepcopy(r.choice(list(self.others.values())))
        kind = item["kind"]
        if kind == "Service":
            item["spec"]["selector"] = r.choice([None, {"app": r.choice(APPS)}])
        elif kind == "PersistentVolume":
            item = planned_volume(item, r)
        elif kind == "PersistentVolumeClaim":
            item = planned_claim(item, r)
        elif kind == "PodDisruptionBudget":
            item["status"] = {"disruptionsAllowed": r.randrange(3)}
        elif kind == "CSINode":
            item["spec"]["drivers"] = item["spec"]["drivers"][: r.randrange(2)]
        elif kind in KINDS:
            item = changed(item, self._slices, r)
        self._put(item)

    def _put_back_other(self, r: random.Random) -> None:
        if self.gone_others:
            self._put(self.gone_others.pop(r.choice(list(self.gone_others))))

    def _move_pod(self, r: random.Random) -> None:
        """Deleted here, and there again under the same name, as the pods of a StatefulSet are."""
        pods = [pod for pod in self.pods.values() if pod["metadata"]["uid"] not in self.assumed]
        if pods:
            pod = copy.deepcopy(r.choice(pods))
            self._remove(pod)
            pod["metadata"]["uid"] += "-again"
            pod["spec"]["nodeName"] = self._some_node(r)
            self._put(pod)

    def _put_back_pod(self, r: random.Random) -> None:
        """Deleted and there again as it was."""
        if self.pods:
            pod = r.choice(list(self.pods.values()))
            self._remove(pod)
            self._put(pod)

    def _arrange(self, r: random.Random) -> None:
        state, name = self.cluster_state, self._some_node(r)
        row = state.columns.row_of.get(name)
        uids = [] if row is None else [info.pod.uid for info in state.columns.pods[row]]
        state.arrange(name, r.sample(uids, len(uids) // 2))

    def _relabel_namespace(self, r: random.Random) -> None:
        names = [item for item in self.others.values() if item["kind"] == "Namespace"]
        if names:
            item = copy.deepcopy(r.choice(names))
            item["metadata"]["labels"] = {"team": r.choice(["red", "blue", "green"])}
            self._put(item)

    @property
    def _slices(self) -> list[dict]:
        return [item for item in self.others.values() if item["kind"] == "ResourceSlice"]

    def _remove(self, item: dict) -> None:
        super()._remove(item)
        if item["kind"] not in ("Node", "Pod"):
            self.gone_others[key_of(item)] = item


def planned_claim(item: dict, r: random.Random) -> dict:
    return {**item, "spec": {**item["spec"], "volumeName": f"planned-{r.randrange(3)}"}}


def planned_volume(item: dict, r: random.Random) -> dict:
    ref = r.choice([None, {"namespace": "default", "name": f"claim-{r.randrange(3)}"}])
    spec = {key: value for key, value in item["spec"].items() if key != "claimRef"} | ({"claimRef": ref} if ref else {})
    return {**item, "spec": spec, "status": {"phase": r.choice(["Available", "Bound"])}}


def kept(script: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The steps of a script that no fork takes back; a fork that stays open is reverted in the end."""
    levels: list[list[tuple[str, int]]] = [[]]
    for name, number in script:
        if name == "fork":
            levels.append([])
        elif name == "revert":
            if len(levels) > 1:
                levels.pop()
        elif name == "commit":
            if len(levels) > 1:
                inner = levels.pop()
                levels[-1] += inner
        else:
            levels[-1].append((name, number))
    return levels[0]


class Walker:
    """Follows a script; looks at the cluster with a framework that keeps its columns from one look to the next."""

    def __init__(self, seed: int, features: tuple[str, ...], config: bytes | None = None) -> None:
        self.walk = ForkedWalk(seed, features)
        self.framework: Framework = framework_of(self.walk.cluster_state, config)
        pool = generated(seed, pending=4, features=features)
        self.probes = [as_pod(item) for item in pool if is_pending(item)]

    def follow(self, script: Iterable[tuple[str, int]]) -> None:
        for name, number in script:
            if name == "fork":
                self.walk.fork()
            elif name in ("revert", "commit"):
                if self.walk.forks:
                    getattr(self.walk, name)()
            elif name == "look":
                self.look()
            else:
                self.walk.step(name, number)
        while self.walk.forks:
            self.walk.revert()

    def look(self) -> list[dict[str, Any]]:
        state = self.walk.cluster_state
        state.groups.group("look", lambda pod: pod.labels.get("app") == "web").by_domain("topology.kubernetes.io/zone")
        state.snapshot().places(0)
        return [opinions(self.framework, state.pod_info(pod)) for pod in self.probes] + [alike_devices(state)]


def whole(state: ClusterState) -> dict[str, Any]:
    """All that a state holds in all its orders. Rows at the end that no node has are left out, and so are numbers."""
    columns = state.columns
    n_rows = 1 + max(columns.row_of.values(), default=-1)
    objects = {kind: [described_object(obj) for obj in state.objects.list(kind)] for kind in state.objects.kinds}
    volumes = state.volumes.persistent
    classes = sorted({known.class_name for known in volumes._known.values()})
    return {
        "columns": described(state),
        "rows": list(columns.row_of.items()),
        "free rows": sorted(row for row in columns.rows.free if row < n_rows),
        "pods": [[described_pod(info) for info in pods] for pods in columns.pods[:n_rows]],
        "places": [[info.place for info in pods] for pods in columns.pods[:n_rows]],
        "ports": {entry: used[:n_rows].tolist() for entry, used in columns.ports.items()},
        "images": {name: (image.size, sorted(image.rows)) for name, image in columns.images.items()},
        "objects": {kind: of_kind for kind, of_kind in objects.items() if of_kind},
        "zones": [(zone, list(names)) for zone, names in state._tree._zones.items()],
        "order": [columns.names[row] for row in state.snapshot().order()],
        "homeless": {name: [described_pod(info) for info in infos] for name, infos in state.homeless.items()},
        "placed": {uid: described_pod(info) for uid, info in state._placed.items()},
        "assumed": {
            uid: [(kind, described_object(before), described_object(after)) for kind, before, after in plan]
            for uid, plan in state._assumed.items()
        },
        "planned": {name: list(uids) for name, uids in state._planned.items()},
        "services": {app: list(state.services.selecting("default", {"app": app})) for app in APPS},
        "budgets": [[(b.key, b.allowed) for b in state.disruption_budgets.of(name)] for name in ("default", "prod")],
        "reserved": {
            key: [known.volume.name for _, known in sorted(reserved.items())]
            for key, reserved in volumes._reserved.items()
        },
        "free volumes": {name: free_volumes(state, name) for name in classes},
        "attached": attached(state),
        "devices": devices(state),
        "CSI nodes": {
            driver: {name: int(limits[row]) for name, row in columns.row_of.items()}
            for driver, limits in state.volumes.csi_nodes.limits.items()
        },
    }


def alike_devices(state: ClusterState) -> dict[str, list[list[str]]]:
    """The nodes whose devices are alike, by what is read of them."""
    nodes = state.snapshot().nodes
    found: dict[str, list[list[str]]] = {}
    for reads in READS:
        groups: dict[int, list[str]] = {}
        for name, number in zip(nodes.names, state.devices.alike(nodes, reads).tolist(), strict=True):
            groups.setdefault(number, []).append(name)
        found[str(reads)] = sorted(sorted(names) for names in groups.values())
    return found


def devices(state: ClusterState) -> dict[str, Any]:
    known = state.devices
    pools = {name: [described_pool(pool) for pool in known.pools_of(row)] for name, row in state.columns.row_of.items()}
    ids = {device for of_row in pools.values() for pool in of_row for device in pool["devices"]}
    in_use = {one: (known.in_use.is_taken(one), known.in_use.consumed(one), known.in_use.holders(one)) for one in ids}
    return {"pools": pools, "in use": in_use, "classes": known.classes.serving({"example.com/gpu": 1})}


def described_pool(pool: DevicePool) -> dict[str, Any]:
    fields = {name: getattr(pool, name) for name in pool.__struct_fields__}
    return fields | {name: [device.id for device in fields[name]] for name in ("devices", "elsewhere")}


def free_volumes(state: ClusterState, class_name: str) -> list[str]:
    free = state.volumes.persistent.free(class_name)
    return [known.volume.name for known, is_free in zip(free._members, free._is_free, strict=True) if is_free]


def attached(state: ClusterState) -> dict[str, Any]:
    found, rows = state.volumes.attached, state.columns.row_of
    held = {driver: {name: int(column[row]) for name, row in rows.items()} for driver, column in found.held.items()}
    names = state.columns.names
    pod_rows = {volume: sorted(names[row] for row in of_volume) for volume, of_volume in found.pod_rows.items()}
    return {"held": held, "pods": pod_rows, "faults": {names[row]: fault for row, fault in found.faults.items()}}


def described_object(obj: Any) -> bytes | None:
    return None if obj is None else msgspec.json.encode(obj)


def described_pod(info: Any) -> tuple[bytes, str]:
    return msgspec.json.encode(info.pod), info.pod.uid


SCRIPTS = st.lists(
    st.tuples(st.sampled_from([*ForkedWalk.STEPS, *ACTIONS]), st.integers(0, 10**6)), min_size=4, max_size=40
)
SOME_FEATURES = st.lists(st.sampled_from(FEATURES), max_size=5, unique=True).map(tuple)


@pytest.mark.parametrize("config", [None, OTHER_ARGS], ids=["defaults", "other args"])
@examples(12)
@given(seed=st.integers(0, 2**16), script=SCRIPTS, features=SOME_FEATURES)
def test_what_is_taken_back_never_happened(
    config: bytes | None, seed: int, script: list[tuple[str, int]], features: tuple[str, ...]
) -> None:
    forked, twin = Walker(seed, features, config), Walker(seed, features, config)
    forked.follow(script)
    twin.follow(kept(script))
    forked.walk.cluster_state.check_invariants()
    mine, others = whole(forked.walk.cluster_state), whole(twin.walk.cluster_state)
    assert {key for key in others if mine[key] != others[key]} == set()
    assert forked.look() == twin.look()
    assert_same_columns(forked.walk.cluster_state, forked.walk.fresh())


@examples(12)
@given(seed=st.integers(0, 2**16), script=SCRIPTS, features=SOME_FEATURES)
def test_the_invariants_hold_inside_of_forks(
    seed: int, script: list[tuple[str, int]], features: tuple[str, ...]
) -> None:
    walker = Walker(seed, features)
    for name, number in [("fork", 0), *script]:
        if name == "look":
            walker.look()
        elif name == "fork":
            walker.walk.fork()
        elif name in ("revert", "commit"):
            if len(walker.walk.forks) > 1:
                getattr(walker.walk, name)()
        else:
            walker.walk.step(name, number)
        walker.walk.cluster_state.check_invariants()
    assert_same_columns(walker.walk.cluster_state, walker.walk.fresh())


@examples(12)
@given(seed=st.integers(0, 2**16), script=SCRIPTS, features=SOME_FEATURES)
def test_listeners_know_the_objects_again(seed: int, script: list[tuple[str, int]], features: tuple[str, ...]) -> None:
    walker = Walker(seed, features)
    state = walker.walk.cluster_state
    before = known_objects(state)
    known = dict(before)

    def listen(kind: str) -> None:
        def listener(old: KubeObject | None, new: KubeObject | None) -> None:
            key = (kind, (old or new).key)  # type: ignore[union-attr]
            assert known.get(key) == described_object(old)
            known.pop(key, None)
            if new is not None:
                known[key] = described_object(new)

        state.objects.listen(kind, listener)

    for kind in {kind for kind, _ in before}:
        listen(kind)
    walker.follow([("fork", 0), *(step for step in script if step[0] not in ("revert", "commit"))])
    assert known == before


def known_objects(state: ClusterState) -> dict[tuple[str, str], bytes | None]:
    return {(kind, obj.key): described_object(obj) for kind in state.objects.kinds for obj in state.objects.list(kind)}


def test_thousands_of_forks_leave_nothing_behind() -> None:
    walker, r = Walker(7, FEATURES[:8]), random.Random(7)

    def steps(n: int) -> list[tuple[str, int]]:
        return [(r.choice(ForkedWalk.STEPS), r.randrange(10**6)) for _ in range(n)]

    def some_forks(n: int) -> dict[str, int]:
        for _ in range(n):
            inner = [("fork", 0), *steps(2), (r.choice(["revert", "commit"]), 0)]
            walker.follow([("fork", 0), *steps(2), *inner, *steps(1)])
        state = walker.walk.cluster_state
        walker.framework.cache.evict()
        state.groups.forget_all()
        state.parts.forget_recent()
        walker.look()
        gc.collect()
        return state.sizes() | {"rows": state.columns.n_rows}

    first, later = some_forks(200), some_forks(1000)
    grown = {name for name, size in later.items() if size > first[name] + 20}  # what a look asks for differs a little
    assert not grown
    walker.walk.cluster_state.check_invariants()
