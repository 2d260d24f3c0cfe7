"""Slices, claims and nodes come, change and go, in forks too; what is kept of devices follows."""

import json
import random
from typing import Any

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import EventType, WatchEvent
from kubesched.cel import Reads
from kubesched.state import ClusterState, Fork, PoolDevice
from kubesched.testing import make_node
from tests.properties.cluster_walk import HOST, read
from tests.properties.device_objects import READS, ZONE, changed, claim, device_objects, network_slices, slice_of
from tests.trials import examples

NODES = [f"n{i}" for i in range(6)]


class DeviceWalk:
    """A cluster whose devices change, and the documents that it has."""

    STEPS = (
        *("put_node", "put_node", "remove_node", "put_slice", "put_slices", "change", "change", "change"),
        *("put_claim", "put_claim", "put_claim", "remove", "fork", "revert", "revert", "commit"),
    )

    def __init__(self, seed: int) -> None:
        self.state = ClusterState()
        self.items: dict[tuple[str, str], dict] = {}
        self.forks: list[tuple[Fork, dict[tuple[str, str], dict]]] = []
        r = random.Random(seed)
        for name in NODES[:4]:
            self._put_node(name, r)
        for item in device_objects(NODES, r):
            self._put(item)

    def step(self, name: str, r: random.Random) -> None:
        if name == "put_node":
            self._put_node(r.choice(NODES), r)
        elif name == "remove_node":
            node = make_node(r.choice(NODES))
            self.state.apply(WatchEvent(EventType.DELETED, "Node", node))
        elif name == "put_slice":
            self._put(slice_of(r.choice(NODES), r))
        elif name == "put_slices":
            for item in network_slices(NODES, r):
                self._put(item)
        elif name == "put_claim":
            self._put(claim(f"devices-{r.randrange(6)}", self.slices, r))
        elif name == "fork":
            self.forks.append((self.state.fork(), dict(self.items)))
        elif name in ("revert", "commit"):
            self._close(name)
        elif self.items:
            item = r.choice(list(self.items.values()))
            if name == "change":
                self._put(changed(item, self.slices, r))
            else:
                del self.items[item["kind"], item["metadata"]["name"]]
                self.state.apply(WatchEvent(EventType.DELETED, item["kind"], read(item)))

    @property
    def slices(self) -> list[dict]:
        return [item for item in self.items.values() if item["kind"] == "ResourceSlice"]

    def look(self, r: random.Random) -> None:
        """Ask about some nodes, or all."""
        nodes = self.state.snapshot().nodes
        some = np.array(sorted(r.sample(range(len(nodes)), min(2, len(nodes)))), dtype=np.intp)
        self.state.devices.alike(nodes if r.random() < 0.5 else nodes.select(some), r.choice(READS))

    def _put_node(self, name: str, r: random.Random) -> None:
        node = make_node(name, labels={HOST: name, ZONE: r.choice(["z0", "z1"])})
        self.state.apply(WatchEvent(EventType.MODIFIED, "Node", node))

    def _put(self, item: dict) -> None:
        self.items[item["kind"], item["metadata"]["name"]] = item
        self.state.apply(WatchEvent(EventType.MODIFIED, item["kind"], read(item)))

    def _close(self, name: str) -> None:
        if self.forks:
            fork, items = self.forks.pop()
            getattr(fork, name)()
            if name == "revert":
                self.items = items


SCRIPTS = st.lists(st.tuples(st.sampled_from(DeviceWalk.STEPS), st.integers(0, 10**6)), min_size=5, max_size=25)


@examples(40)
@given(seed=st.integers(0, 2**16), script=SCRIPTS)
def test_what_is_kept_of_devices_is_what_a_fresh_load_has(seed: int, script: list[tuple[str, int]]) -> None:
    walk = DeviceWalk(seed)
    for name, number in script:
        r = random.Random(number)
        walk.look(r)
        walk.step(name, r)
        walk.state.check_invariants()


@examples(40)
@given(seed=st.integers(0, 2**16), script=SCRIPTS)
def test_every_row_whose_devices_changed_is_in_the_log(seed: int, script: list[tuple[str, int]]) -> None:
    walk = DeviceWalk(seed)
    devices, columns = walk.state.devices, walk.state.columns
    used = devices.in_use.of_pool

    def known() -> dict[int, tuple]:
        found = {}
        for row in columns.row_of.values():
            pools = devices.pools_of(row)
            found[row] = tuple(
                (p.driver, p.name, p.is_complete, p.is_valid, [d.spec for d in p.devices], used(p) if p.devices else ())
                for p in pools
            )
        return found

    for name, number in script:
        before, generation = known(), columns.device_log.generation
        walk.step(name, random.Random(number))
        logged = columns.device_log.since(generation)
        assert logged is not None
        assert {row for row, content in known().items() if content != before.get(row)} <= set(logged)


@examples(30)
@given(seed=st.integers(0, 2**16), script=SCRIPTS)
def test_nodes_are_alike_where_what_is_read_and_what_decides_is_equal(seed: int, script: list[tuple[str, int]]) -> None:
    walk = DeviceWalk(seed)
    for name, number in script:
        walk.step(name, random.Random(number))
    state, nodes = walk.state, walk.state.snapshot().nodes
    for reads in READS:
        numbers = state.devices.alike(nodes, reads).tolist()
        contents = [content(state, int(row), reads) for row in nodes.all_rows]
        pairs = {(number, text) for number, text in zip(numbers, contents, strict=True)}
        assert len(pairs) == len(set(numbers)) == len(set(contents))


def content(state: ClusterState, row: int, reads: Reads) -> str:
    """What a search may look at, apart from names, as text."""
    in_use = state.devices.in_use

    def device(one: PoolDevice) -> dict[str, Any]:
        written = json.loads(msgspec.json.encode(one.spec))
        attributes, capacity = written.get("attributes", {}), written.get("capacity", {})
        if one.spec.allow_multiple_allocations:
            shared = capacity
        else:
            shared = {
                name: value for name, value in capacity.items() if reads.capacity is None or name in reads.capacity
            }
        names = None if reads.attributes is None else {name.removeprefix(f"{one.driver}/") for name in reads.attributes}
        return {
            "read": {name: value for name, value in attributes.items() if names is None or name in names},
            "capacity": shared,
            "written": [written.get(name) for name in ("taints", "consumesCounters", "allowMultipleAllocations")],
            "in use": [in_use.is_taken(one.id), in_use.consumed(one.id)],
            "has": [bool(attributes), bool(capacity)],
        }

    pools = [
        [
            pool.driver,
            pool.is_complete,
            pool.is_valid,
            pool.counters,
            [device(one) for one in pool.devices],
            in_use.used_counters(pool.elsewhere),
        ]
        for pool in state.devices._slices.pools_of(row)
    ]
    return json.dumps(pools, sort_keys=True)


@examples(40)
@given(seed=st.integers(0, 2**16), script=SCRIPTS)
def test_the_devices_by_node_follow_every_change(seed: int, script: list[tuple[str, int]]) -> None:
    walk = DeviceWalk(seed)
    devices, row_of = walk.state.devices, walk.state.columns.row_of
    before = devices.by_node()
    copies = [(one.node, one.pools, one.uses) for one in before]
    for name, number in script:
        walk.step(name, random.Random(number))
        for one in devices.by_node():
            assert [pool for pool in one.pools if pool.devices] == [
                pool for pool in devices.pools_of(row_of[one.node]) if pool.devices
            ]
            assert [*one.uses] == [devices.in_use.of_pool(pool) for pool in one.pools]
    assert [(one.node, one.pools, one.uses) for one in before] == copies
    assert len(devices.by_node()) == devices.sizes()["devices by node"] == len(row_of)
