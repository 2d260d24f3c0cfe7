from random import Random

import pytest

from kubesched.errors import ClaimError
from kubesched.plugins.taken_volumes import TakenVolumes
from kubesched.plugins.volume_matching import matching_volumes, wish_of
from tests.plugins.one_plugin import load, node, read
from tests.plugins.storage_objects import HOST, ZONE, claim, one_of, volume

NODES = [node(name, labels={HOST: name, ZONE: f"z-{name}"}) for name in ("a", "b")]


def chosen(wanted: list[dict], *items: dict) -> list[tuple[str, ...]]:
    """The volume that each claim gets on node a, and on node b; empty for none."""
    cluster_state = load([*NODES, *wanted, *items])
    nodes, persistent = cluster_state.snapshot().nodes, cluster_state.volumes.persistent
    taken = TakenVolumes()
    found = []
    for one in wanted:
        numbers = matching_volumes(wish_of(read(one)), persistent, nodes, taken)
        found.append(tuple("" if n < 0 else persistent.by_number(n).volume.name for n in numbers.tolist()))
    return found


def test_the_smallest_volume_that_a_node_reaches_is_taken():
    items = [
        volume("a9", "x", size="9Gi", on=("a",)),
        volume("both", "x", size="5Gi"),
        volume("b3", "x", size="3Gi", on=("b",)),
    ]
    assert chosen([claim("c", "x", size="2Gi")], *items) == [("both", "b3")]
    assert chosen([claim("c", "x", size="4Gi")], *items) == [("both", "both")]
    assert chosen([claim("c", "x", size="6Gi")], *items) == [("a9", "")]


def test_a_second_claim_gets_what_the_first_one_leaves():
    items = [volume("a1", "x", on=("a",)), volume("a2", "x", size="2Gi", on=("a",)), volume("b1", "x", on=("b",))]
    assert chosen([claim("c", "x"), claim("d", "x")], *items) == [("a1", "b1"), ("a2", "")]


def test_terms_of_several_labels_and_of_several_values_are_reached_alike():
    both = {"matchExpressions": [*one_of(HOST, "a")["matchExpressions"], *one_of(ZONE, "z-a")["matchExpressions"]]}
    items = [volume("two", "x", on=("a", "b")), volume("term", "x", size="500Mi", terms=[both])]
    assert chosen([claim("c", "x", size="1Mi"), claim("d", "x", size="1Mi")], *items) == [("term", "two"), ("two", "")]


@pytest.mark.parametrize(
    ("said", "of_volume"),
    [
        ({"volumeMode": "Block"}, {}),
        ({"volumeAttributesClassName": "gold"}, {}),
        ({"modes": ("ReadWriteMany",)}, {}),
        ({"selector": {"matchLabels": {"tier": "gold"}}}, {}),
        ({}, {"phase": "Released"}),
        ({}, {"taker": "another"}),
        ({}, {"storage_class": "y"}),
    ],
)
def test_a_volume_of_another_kind_will_not_do(said: dict, of_volume: dict):
    of_volume = {"storage_class": "x", **of_volume}
    assert chosen([claim("c", "x", **said)], volume("pv", **of_volume)) == [("", "")]


def test_a_selector_chooses_by_label():
    items = [volume("plain", "x"), volume("gold", "x", size="8Gi", labels={"tier": "gold"})]
    assert chosen([claim("c", "x", selector={"matchLabels": {"tier": "gold"}})], *items) == [("gold", "gold")]


def test_a_reserved_volume_wins_at_once_even_where_it_cannot_be_reached():
    items = [volume("free", "x"), volume("kept", "x", size="9Gi", taker="c", on=("a",), phase="Bound")]
    assert chosen([claim("c", "x")], *items) == [("kept", "")]


def test_a_claim_that_is_mounted_twice_needs_another_volume():
    items = [volume("free", "x"), volume("kept", "x", size="9Gi", taker="c")]
    assert chosen([claim("c", "x")] * 2, *items) == [("kept", "kept"), ("free", "free")]


def test_a_volume_kept_for_an_earlier_claim_of_the_same_name_is_not_reserved():
    kept = volume("kept", "x", taker="c")
    kept["spec"]["claimRef"]["uid"] = "of-the-earlier-one"
    assert chosen([claim("c", "x")], kept) == [("", "")]


def test_a_selector_that_does_not_parse_is_a_fault():
    wrong = claim("c", "x", selector={"matchExpressions": [{"key": "k", "operator": "Near"}]})
    with pytest.raises(ClaimError, match=r"^error creating internal label selector for claim: default/c: "):
        wish_of(read(wrong))


MODES = ("Filesystem", "Block")


@pytest.mark.parametrize("seed", range(20))
def test_many_claims_get_what_they_would_get_one_by_one(seed: int):
    """On each node every claim gets the smallest volume there that is large enough, of its mode and still free."""
    rng = Random(seed)
    kinds = [(i, rng.randint(1, 6), rng.choice(MODES), rng.choice(["a", "b", ""])) for i in range(14)]
    wishes = sorted((rng.randint(1, 5), rng.choice(MODES)) for _ in range(12))
    items = [
        volume(f"v{i}", "x", size=f"{size}Gi", on=(host,) if host else None, volumeMode=mode)
        for i, size, mode, host in kinds
    ]
    wanted = [claim(f"c{i}", "x", size=f"{size}Gi", volumeMode=mode) for i, (size, mode) in enumerate(wishes)]
    found = chosen(wanted, *items)
    for column, node_name in enumerate(("a", "b")):
        free = sorted((size, i, mode) for i, size, mode, host in kinds if host in ("", node_name))
        expected = []
        for size, mode in wishes:
            fitting = [one for one in free if one[0] >= size and one[2] == mode]
            expected.append(f"v{fitting[0][1]}" if fitting else "")
            free = [one for one in free if one not in fitting[:1]]
        assert [names[column] for names in found] == expected
