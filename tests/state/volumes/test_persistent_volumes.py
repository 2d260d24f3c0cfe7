"""Free volumes follow the objects: the list of a class is kept while volumes are taken and given back."""

from kubesched.api import EventType, WatchEvent
from kubesched.state import ClusterState, VolumeWish
from tests.plugins.one_plugin import load, node, read
from tests.plugins.storage_objects import HOST, claim, one_of, volume

ANY = VolumeWish(0, "Filesystem", "", frozenset(), None)


def free(cluster_state: ClusterState, wish: VolumeWish = ANY, storage_class: str = "x") -> list[str]:
    """The free volumes that will do, smallest first."""
    persistent = cluster_state.volumes.persistent
    listed = persistent.free(storage_class)
    numbers = listed.numbers[:-1][listed.eligible(wish)]
    return [persistent.by_number(number).volume.name for number in numbers.tolist()]


def reached(cluster_state: ClusterState) -> dict[str, set[str]]:
    """The free volumes that each node reaches."""
    listed, nodes = cluster_state.volumes.persistent.free("x"), cluster_state.snapshot().nodes
    found: dict[str, set[str]] = {name: set() for name in nodes.names}
    for some in listed.reachable(listed.eligible(ANY), nodes):
        for name, group in zip(nodes.names, some.group.tolist(), strict=True):
            if group >= 0:
                numbers = listed.numbers[some.places[some.starts[group] : some.ends[group]]]
                by_number = cluster_state.volumes.persistent.by_number
                found[name] |= {by_number(number).volume.name for number in numbers.tolist()}
    return found


def after(items: list[dict], *changes: dict) -> ClusterState:
    """The state after these objects were put, the free volumes having been asked for before each."""
    cluster_state = load(items)
    for item in changes:
        free(cluster_state)
        cluster_state.apply(WatchEvent(EventType.MODIFIED, item["kind"], read(item)))
    return cluster_state


def test_free_volumes_come_smallest_first_and_equal_ones_in_order_of_appearance():
    items = [volume("b", "x", size="2Gi"), volume("c", "x"), volume("a", "x"), volume("other", "y")]
    assert free(load(items)) == ["c", "a", "b"]


def test_a_volume_is_free_again_when_it_is_given_back():
    items = [volume("a", "x"), volume("b", "x")]
    assert free(after(items, volume("a", "x", taker="c"))) == ["b"]
    assert free(after(items, volume("a", "x", taker="c"), volume("a", "x"))) == ["a", "b"]


def test_a_volume_that_changed_while_it_was_taken_comes_back_as_it_is_now():
    items = [volume("a", "x"), volume("b", "x", size="2Gi")]
    assert free(after(items, volume("a", "x", size="3Gi", taker="c"), volume("a", "x", size="3Gi"))) == ["b", "a"]


def test_a_volume_changes_its_class():
    cluster_state = after([volume("a", "x")], volume("a", "y"))
    assert (free(cluster_state), free(cluster_state, storage_class="y")) == ([], ["a"])


def test_the_list_of_a_class_is_kept_while_the_class_has_volumes():
    """Claims may name classes that no volume has."""
    cluster_state = load([volume("a", "x"), volume("b", "x", taker="c"), volume("other", "y")])
    assert [free(cluster_state, storage_class=name) for name in ("x", "y", "none", "nowhere")] == [
        ["a"],
        ["other"],
        [],
        [],
    ]
    lists = [cluster_state.sizes()["persistent volumes, lists"]]
    for name in "ab":
        cluster_state.apply(WatchEvent(EventType.DELETED, "PersistentVolume", read(volume(name, "x"))))
        assert free(cluster_state) == []
        lists.append(cluster_state.sizes()["persistent volumes, lists"])
    assert lists == [2, 2, 1]


def test_a_volume_comes_and_goes():
    cluster_state = after([volume("a", "x")], volume("b", "x", size="500Mi"))
    assert free(cluster_state) == ["b", "a"]
    cluster_state.apply(WatchEvent(EventType.DELETED, "PersistentVolume", read(volume("b", "x"))))
    assert free(cluster_state) == ["a"]


def test_a_volume_that_is_too_small_will_not_do():
    items = [volume("a", "x"), volume("b", "x", size="2Gi")]
    assert free(load(items), ANY._replace(size=(2**30 + 1) * 10**9)) == ["b"]


def test_reservations_follow_the_claim_ref():
    wanted = read(claim("c", "x"))
    cluster_state = after([volume("a", "x", taker="c"), volume("b", "x", taker="d")], volume("b", "x", taker="c"))
    assert [known.volume.name for known in cluster_state.volumes.persistent.reserved_for(wanted)] == ["a", "b"]
    cluster_state = after([volume("a", "x", taker="c")], volume("a", "x"))
    assert cluster_state.volumes.persistent.reserved_for(wanted) == []


def test_a_volume_is_reached_where_all_of_some_term_holds():
    nodes = [
        node("a", labels={HOST: "a"}),
        node("b", labels={HOST: "b", "disk": "ssd"}),
        node("c", labels={HOST: "c", "disk": "ssd"}),
    ]
    both = {
        "matchExpressions": [*one_of(HOST, "a", "b")["matchExpressions"], *one_of("disk", "ssd")["matchExpressions"]]
    }
    volumes = [
        volume("one", "x", on=("a",)),
        volume("either", "x", terms=[one_of(HOST, "a"), one_of(HOST, "b")]),
        volume("both", "x", terms=[both]),
        volume("everywhere", "x"),
    ]
    assert reached(load([*nodes, *volumes])) == {
        "a": {"one", "either", "everywhere"},
        "b": {"either", "both", "everywhere"},
        "c": {"everywhere"},
    }


def test_a_node_that_comes_later_reaches_its_volume():
    cluster_state = load([node("a", labels={HOST: "a"}), volume("a", "x", on=("a",)), volume("b", "x", on=("b",))])
    assert reached(cluster_state) == {"a": {"a"}}
    cluster_state.apply(WatchEvent(EventType.ADDED, "Node", read(node("b", labels={HOST: "b"}))))
    assert reached(cluster_state) == {"a": {"a"}, "b": {"b"}}
