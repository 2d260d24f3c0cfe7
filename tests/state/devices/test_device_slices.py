"""Which pools of devices a node can use, as slices and nodes come, change and go."""

from typing import Any

import pytest

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.cel import compile_selector
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state import ClusterState, DevicePool
from kubesched.testing import make_node, make_object

DRIVER = "gpu.example.com"
ZONE = "topology.kubernetes.io/zone"


def device(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, **fields}


def slice_(name: str, devices: list[dict[str, Any]], generation: int = 1, count: int = 1, **where: Any) -> KubeObject:
    pool = {"name": where.pop("pool", "p"), "generation": generation, "resourceSliceCount": count}
    spec = {"driver": where.pop("driver", DRIVER), "pool": pool, "devices": devices, **where}
    return make_object("ResourceSlice", name, spec=spec)


def in_zone(zone: str) -> dict[str, Any]:
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]}


class Slices:
    """Three nodes; a and b are in zone 1, c in zone 2."""

    def __init__(self, *known: KubeObject, release: Release = DEFAULT_RELEASE) -> None:
        self.state = ClusterState(release)
        for name, zone in (("a", "1"), ("b", "1"), ("c", "2")):
            self.put(make_node(name, labels={ZONE: zone}))
        for one in known:
            self.put(one)

    def put(self, known: KubeObject) -> None:
        kind = "Node" if type(known).__name__ == "Node" else "ResourceSlice"
        self.state.apply(WatchEvent(EventType.MODIFIED, kind, known))

    def delete(self, known: KubeObject) -> None:
        kind = "Node" if type(known).__name__ == "Node" else "ResourceSlice"
        self.state.apply(WatchEvent(EventType.DELETED, kind, known))

    def pools(self, node: str) -> list[DevicePool]:
        return list(self.state.devices.pools_of(self.state.columns.row_of[node]))

    def names(self) -> dict[str, list[str]]:
        return {
            node: [f"{pool.name}/{one.name}" for pool in self.pools(node) for one in pool.devices]
            for node in self.state.columns.row_of
        }


def test_a_slice_belongs_to_the_node_that_it_names_matches_or_to_all():
    slices = Slices(
        slice_("named", [device("x")], nodeName="b", pool="named"),
        slice_("zone", [device("x")], nodeSelector=in_zone("1"), pool="zone"),
        slice_("all", [device("x")], allNodes=True, pool="all"),
    )
    assert slices.names() == {"a": ["all/x", "zone/x"], "b": ["all/x", "named/x", "zone/x"], "c": ["all/x"]}


def test_each_device_has_its_own_nodes_with_per_device_node_selection():
    devices = [
        device("everywhere", allNodes=True),
        device("on-b", nodeName="b"),
        device("zone-2", nodeSelector=in_zone("2")),
    ]
    slices = Slices(slice_("s", devices, perDeviceNodeSelection=True))
    assert slices.names() == {"a": ["p/everywhere"], "b": ["p/everywhere", "p/on-b"], "c": ["p/everywhere", "p/zone-2"]}
    slices.put(slice_("s", devices[1:], perDeviceNodeSelection=True))
    assert slices.names() == {"a": [], "b": ["p/on-b"], "c": ["p/zone-2"]}


def test_a_selector_may_name_nodes_and_one_that_does_not_parse_matches_none():
    field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c"]}]}
    broken = {"matchExpressions": [{"key": ZONE, "operator": "Like", "values": ["1"]}]}
    slices = Slices(slice_("s", [device("x")], nodeSelector={"nodeSelectorTerms": [field, broken, {}]}))
    assert slices.names() == {"a": [], "b": [], "c": ["p/x"]}


def test_only_the_highest_generation_of_the_slices_of_a_node_counts():
    slices = Slices(
        slice_("old", [device("x")], allNodes=True),
        slice_("new", [device("y")], generation=2, nodeSelector=in_zone("1")),
    )
    assert slices.names() == {"a": ["p/y"], "b": ["p/y"], "c": ["p/x"]}
    slices.delete(slice_("new", []))
    assert slices.names() == {"a": ["p/x"], "b": ["p/x"], "c": ["p/x"]}


def test_a_pool_is_complete_when_the_cluster_has_all_its_slices():
    one = slice_("one", [device("x")], count=2, nodeSelector=in_zone("1"))
    two = slice_("two", [device("y")], count=2, nodeSelector=in_zone("2"))
    slices = Slices(one)
    assert [slices.pools(node)[0].is_complete for node in "ab"] == [False, False]
    slices.put(two)
    assert [slices.pools(node)[0].is_complete for node in "abc"] == [True, True, True]
    slices.put(slice_("three", [device("z")], count=2, nodeSelector=in_zone("2")))
    assert [slices.pools(node)[0].is_complete for node in "abc"] == [False, False, False]


def test_pools_that_were_read_earlier_stay_as_they_were():
    slices = Slices(slice_("one", [device("x")], count=2, allNodes=True))
    (before,) = slices.pools("a")
    slices.put(slice_("two", [], count=2, nodeName="c"))
    assert (before.is_complete, slices.pools("a")[0].is_complete) == (False, True)


def test_nothing_is_kept_of_a_node_that_is_gone():
    slices = Slices(slice_("one", [device("x")], allNodes=True))
    slices.names()
    before = slices.state.sizes()
    slices.put(make_node("d"))
    slices.names()
    slices.delete(make_node("d"))
    slices.names()
    assert slices.state.sizes() == before


@pytest.mark.parametrize(
    ("devices", "is_valid"),
    [
        ([device("x"), device("x")], False),
        ([device("x", consumesCounters=[{"counterSet": "card", "counters": {"engines": {"value": "1"}}}])], True),
        ([device("x", consumesCounters=[{"counterSet": "card", "counters": {"memory": {"value": "1"}}}])], False),
        ([device("x", consumesCounters=[{"counterSet": "other", "counters": {"engines": {"value": "1"}}}])], False),
    ],
)
def test_a_pool_that_contradicts_itself_is_invalid(devices: list[dict[str, Any]], is_valid: bool):
    counters = {"sharedCounters": [{"name": "card", "counters": {"engines": {"value": "7"}}}]}
    slices = Slices(slice_("d", devices, count=2, allNodes=True), slice_("c", [], count=2, allNodes=True, **counters))
    (pool,) = slices.pools("a")
    assert pool.is_valid is is_valid
    assert pool.counters == {"card": {"engines": 7 * 10**9}}


CARD = {"sharedCounters": [{"name": "card", "counters": {"engines": {"value": "7"}}}]}


def part(name: str, engines: int = 1, **fields: Any) -> dict[str, Any]:
    """A device that consumes counters."""
    return device(
        name, consumesCounters=[{"counterSet": "card", "counters": {"engines": {"value": str(engines)}}}], **fields
    )


def test_counters_are_those_of_the_whole_pool():
    slices = Slices(
        slice_("card", [], count=3, nodeName="a", **CARD),
        slice_("on-a", [part("x")], count=3, nodeName="a"),
        slice_("on-b", [part("y", 5)], count=3, nodeName="b"),
    )
    assert slices.names() == {"a": ["p/x"], "b": ["p/y"], "c": []}
    pools = [slices.pools(node)[0] for node in "ab"]
    assert [(pool.is_valid, pool.counters, [one.name for one in pool.elsewhere]) for pool in pools] == [
        (True, {"card": {"engines": 7 * 10**9}}, ["y"]),
        (True, {"card": {"engines": 7 * 10**9}}, ["x"]),
    ]
    slices.put(
        slice_(
            "on-b",
            [device("y", consumesCounters=[{"counterSet": "other", "counters": {"engines": {}}}])],
            count=3,
            nodeName="b",
        )
    )
    assert [slices.pools(node)[0].is_valid for node in "ab"] == [False, False]


def test_two_counter_sets_of_one_name_make_a_pool_invalid():
    slices = Slices(
        slice_("one", [], count=3, nodeName="a", **CARD),
        slice_("two", [], count=3, nodeName="c", **CARD),
        slice_("on-b", [device("x")], count=3, nodeName="b"),
    )
    assert [[pool.is_valid for pool in slices.pools(node)] for node in "abc"] == [[False], [False], [False]]


def test_counters_belong_to_every_node_so_that_a_newer_generation_of_them_counts():
    slices = Slices(slice_("card", [], generation=2, nodeName="a", **CARD), slice_("on-b", [part("x")], nodeName="b"))
    (pool,) = slices.pools("b")
    assert (pool.devices, pool.is_complete, pool.is_valid) == ((), True, True)


def test_a_pool_of_counters_that_is_incomplete_is_there_on_every_node():
    card = slice_("card", [], count=2, nodeName="a", **CARD)
    slices = Slices(card, slice_("on-b", [device("x")], nodeName="b", pool="q"))
    slices.names()
    log = slices.state.columns.device_log
    assert [[(pool.name, pool.is_complete) for pool in slices.pools(node)] for node in "ab"] == [
        [("p", False)],
        [("p", False), ("q", True)],
    ]
    before = log.generation
    slices.put(slice_("on-a", [part("y")], count=2, nodeName="a"))
    assert log.since(before) == sorted(slices.state.columns.row_of.values())
    assert [[(pool.name, pool.is_complete) for pool in slices.pools(node)] for node in "abc"] == [
        [("p", True)],
        [("q", True)],
        [],
    ]


# As the real plugin of kube-scheduler v1.37.2 said.
def test_since_v1_37_counters_belong_to_their_own_nodes():
    card = slice_("card", [], generation=2, count=3, nodeName="a", **CARD)
    parts = (
        slice_("on-b", [part("x")], nodeName="b"),
        slice_("on-c", [part("y")], generation=2, count=3, nodeName="c"),
    )
    slices = Slices(card, *parts, release=Release(37))
    pools = {node: [(pool.is_complete, pool.is_valid) for pool in slices.pools(node)] for node in "abc"}
    assert pools == {"a": [(False, True)], "b": [(True, False)], "c": [(False, True)]}
    slices.put(slice_("card", [], generation=1, count=2, allNodes=True, **CARD))
    slices.put(slice_("on-b", [part("x")], count=2, nodeName="b"))
    assert [[(pool.is_complete, pool.is_valid) for pool in slices.pools(node)] for node in "ab"] == [[(True, True)]] * 2


def test_an_incomplete_pool_is_not_invalid():
    slices = Slices(slice_("s", [device("x"), device("x"), part("y")], count=2, nodeName="a"))
    (pool,) = slices.pools("a")
    assert (pool.is_complete, pool.is_valid) == (False, True)


def test_names_and_binding_conditions_count_of_all_devices_of_the_slices_of_a_node():
    elsewhere = device("x", nodeName="b", bindingConditions=["ready"])
    slices = Slices(
        slice_("1", [device("x", nodeName="a"), elsewhere], perDeviceNodeSelection=True),
        slice_("2", [device("z")], nodeName="a", pool="q"),
    )
    pools = [(pool.name, len(pool.devices), pool.is_valid, pool.has_binding_conditions) for pool in slices.pools("a")]
    assert pools == [("q", 1, True, False), ("p", 1, False, True)]


def test_pools_are_in_the_order_of_drivers_and_names_and_those_with_binding_conditions_last():
    waiting = device("x", bindingConditions=["ready"], bindingFailureConditions=["broken"])
    slices = Slices(
        slice_("1", [waiting], nodeName="a", driver="a.example.com"),
        slice_("2", [device("x")], nodeName="a", driver="b.example.com", pool="q"),
        slice_("3", [device("x")], nodeName="a", driver="b.example.com", pool="Z"),
        slice_("4", [device("x", bindsToNode=True)], allNodes=True, driver="b.example.com", pool="p"),
    )
    order = [(pool.driver[0], pool.name, pool.has_binding_conditions) for pool in slices.pools("a")]
    assert order == [("b", "Z", False), ("b", "p", False), ("b", "q", False), ("a", "p", True)]


def test_slices_of_a_pool_are_in_the_order_of_their_names():
    slices = Slices(*(slice_(name, [device(name)], count=3, nodeName="a") for name in ("s2", "s10", "s1")))
    assert slices.names()["a"] == ["p/s1", "p/s10", "p/s2"]


def test_a_node_that_comes_changes_its_labels_or_its_row_has_the_pools_of_its_name_and_labels():
    slices = Slices(
        slice_("late", [device("x")], nodeName="late", pool="late"),
        slice_("zone", [device("x")], nodeSelector=in_zone("2"), pool="zone"),
    )
    assert slices.names() == {"a": [], "b": [], "c": ["zone/x"]}
    slices.put(make_node("a", labels={ZONE: "2"}))
    slices.delete(make_node("b"))
    slices.put(make_node("late"))
    assert slices.names() == {"a": ["zone/x"], "c": ["zone/x"], "late": ["late/x"]}


def test_a_slice_that_changes_marks_the_rows_of_its_pool_and_no_others():
    slices = Slices(
        slice_("one", [device("x")], count=2, nodeSelector=in_zone("1")),
        slice_("other", [device("x")], nodeName="c", pool="other"),
    )
    slices.names()
    log, rows = slices.state.columns.device_log, slices.state.columns.row_of

    def marked(known: KubeObject) -> list[str]:
        before = log.generation
        slices.put(known)
        return [name for name, row in rows.items() if row in (log.since(before) or ())]

    assert marked(slice_("one", [device("y")], count=2, nodeSelector=in_zone("1"))) == ["a", "b"]
    assert marked(slice_("one", [device("y")], count=2, nodeSelector=in_zone("1"))) == []
    assert marked(slice_("two", [device("z")], count=2, nodeName="c")) == ["a", "b", "c"]
    assert marked(slice_("two", [device("z")], count=2, nodeName="b")) == ["a", "b", "c"]
    assert marked(slice_("other", [], nodeName="a", pool="other")) == ["a", "c"]


def test_an_attribute_is_found_by_its_qualified_name_and_bare_in_the_domain_of_the_driver():
    attributes = {"model": {"string": "A"}, "other.com/numa": {"int": 1}, f"{DRIVER}/index": {"int": 0}}
    slices = Slices(
        slice_("s", [device("x", attributes=attributes, capacity={"memory": {"value": "1Ki"}})], nodeName="a")
    )
    one = slices.pools("a")[0].devices[0]
    assert (one.driver, one.pool, one.name) == (DRIVER, "p", "x")
    named = (f"{DRIVER}/model", "other.com/numa", f"{DRIVER}/index", "other.com/model", "numa", f"{DRIVER}/numa")
    found = [one.attribute(name) for name in named]
    assert [attribute and (attribute.string, attribute.integer) for attribute in found] == [
        ("A", None),
        (None, 1),
        (None, 0),
        None,
        None,
        None,
    ]
    assert one.capacity == {"memory": 1024 * 10**9}


def test_a_device_is_what_selectors_see():
    attributes = {
        "model": {"string": "A"},
        "driverVersion": {"version": "1.3.0"},
        "fast": {"bool": False},
        "other.com/numa": {"int": 0},
    }
    known = device("x", attributes=attributes, capacity={"memory": {"value": "1Ki"}}, allowMultipleAllocations=True)
    slices = Slices(slice_("s", [known], nodeName="a"))
    one = slices.pools("a")[0].devices[0]
    own = f'device.attributes["{DRIVER}"]'
    for text in (
        f'device.driver == "{DRIVER}" && device.allowMultipleAllocations',
        f'{own}.model == "A" && {own}.fast == false && device.attributes["other.com"].numa == 0',
        f'{own}.driverVersion.isGreaterThan(semver("1.2.9"))',
        f'device.capacity["{DRIVER}"].memory.compareTo(quantity("1024")) == 0',
    ):
        assert compile_selector(text).matches(one.value)


def test_devices_that_selectors_cannot_tell_apart_are_read_alike():
    def of(node: str, **attributes: Any) -> dict[str, Any]:
        written = {"model": {"string": "A"}, "uuid": {"string": node}, **attributes}
        return device("x", attributes=written, capacity={"memory": {"value": "1Ki"}})

    slices = Slices(*(slice_(node, [of(node)], nodeName=node, pool=node) for node in "ab"))
    a, b = (slices.pools(node)[0].devices[0] for node in "ab")
    own = f'device.attributes["{DRIVER}"]'
    for text, is_alike in (
        (f'{own}.model == "A"', True),
        (f'"x" in {own}', True),
        (f'{own}.uuid == "a"', False),
        (f"{own}.size() == 2", False),
    ):
        reads = compile_selector(text).reads
        assert (a.read_by(reads) == b.read_by(reads)) is is_alike
