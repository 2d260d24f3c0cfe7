import re

import pytest

from kubesched.errors import ClaimError
from kubesched.framework import VirtualClock
from kubesched.plugins.dynamic_resources.asks import NamedAsk, claim_ask
from kubesched.plugins.dynamic_resources.device_search import Shortage, search
from kubesched.plugins.dynamic_resources.patience import Patience
from kubesched.release import DEFAULT_RELEASE, Release
from tests.plugins.dynamic_resources.device_objects import (
    allocation,
    ask,
    claim,
    device,
    device_class,
    resource_slice,
    selecting,
    shared,
)
from tests.plugins.one_plugin import load, node, read

MODEL = 'device.attributes["gpu.example.com"].model == "{}"'


def found(
    devices: list[dict],
    *claims: dict,
    others: tuple[dict, ...] = (),
    release: Release = DEFAULT_RELEASE,
    **spec: object,
) -> object:
    """The names of the devices of each claim, or why there are none."""
    cluster = load([node("n"), device_class(), resource_slice("n", devices, **spec), *others], release=release)
    asks = [
        NamedAsk(claim_ask(read(one).spec.devices, cluster.objects), f"default/{one['metadata']['name']}")
        for one in claims
    ]
    chosen = search(cluster.devices.pools_of(0), cluster.devices, asks, Patience(VirtualClock(), 10))
    return chosen if isinstance(chosen, Shortage) else [[one.device.name for one in of] for of in chosen]


def test_an_earlier_request_makes_way_for_a_later_one():
    devices = [device("a", model="x"), device("b", model="y"), device("c", model="x")]
    x = ask(selectors=selecting(MODEL.format("x")))
    assert found(devices, claim("c", ask(), x, x)) == [["b", "a", "c"]]


def test_devices_of_one_request_are_in_the_order_of_the_pool():
    assert found([device(f"d{i}") for i in range(4)], claim("c", ask(3))) == [["d0", "d1", "d2"]]
    assert found([device("a")], claim("c", ask(2))) is Shortage.NOT_ENOUGH


def test_a_device_that_another_claim_has_is_taken():
    other = claim("other", ask(), status=allocation("n", "a"))
    assert found([device("a"), device("b")], claim("c", ask()), others=(other,)) == [["b"]]
    assert found([device("a")], claim("c", ask(adminAccess=True)), others=(other,)) == [["a"]]


def test_all_devices_are_all_or_none():
    every = {"deviceClassName": "gpu", "allocationMode": "All"}
    assert found([device("a"), device("b")], claim("c", every)) == [["a", "b"]]
    other = claim("other", ask(), status=allocation("n", "a"))
    assert found([device("a"), device("b")], claim("c", every), others=(other,)) is Shortage.NOT_ENOUGH
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 2}
    with pytest.raises(
        ClaimError, match=r"request r0: asks for all devices, but resource pool .*/n is currently being"
    ):
        found([device("a")], claim("c", every), pool=pool)


def test_matching_devices_are_found_behind_those_that_match_nothing():
    devices = [device("a", numa=0), device("b", numa=1), device("c", numa=1)]
    same = {"matchAttribute": "gpu.example.com/numa"}
    assert found(devices, claim("c", ask(2), constraints=(same,))) == [["b", "c"]]


def test_a_request_forgets_all_but_its_latest_value_as_upstream_does():
    devices = [device("a", numa=3), device("b", numa=2), device("c", numa=3)]
    apart = {"distinctAttribute": "gpu.example.com/numa"}
    assert found(devices, claim("c", ask(3), constraints=(apart,))) == [["a", "b", "c"]]
    assert found([devices[0], devices[2]], claim("c", ask(2), constraints=(apart,))) is Shortage.NOT_ENOUGH


def test_since_v1_37_the_values_of_all_devices_differ():
    devices = [device("a", numa=3), device("b", numa=2), device("c", numa=3), device("d", numa=4)]
    apart = {"distinctAttribute": "gpu.example.com/numa"}
    for asks in ([ask(3)], [ask(2), ask()], [ask(), ask(), ask()]):
        names = found(devices, claim("c", *asks, constraints=(apart,)), release=Release(37))
        assert names == [["a", "b", "d"]]
        assert found(devices[:3], claim("c", *asks, constraints=(apart,)), release=Release(37)) is Shortage.NOT_ENOUGH


def test_a_shared_device_serves_requests_as_long_as_there_is_some_left():
    nic, half = shared("nic", bandwidth={"value": "10G"}), ask(capacity={"requests": {"bandwidth": "5G"}})
    assert found([nic], claim("c", half, half)) == [["nic", "nic"]]
    assert found([nic], claim("c", half, half, half)) is Shortage.NOT_ENOUGH
    assert found([nic], claim("c", {**half, "count": 2})) is Shortage.NOT_ENOUGH


# As the real plugins of kube-scheduler v1.36.3 and v1.37.2 said.
def test_all_devices_are_those_of_which_enough_is_left_and_since_v1_37_others_too():
    nics = [shared("x", bandwidth={"value": "10G"}), shared("y", bandwidth={"value": "10G"})]
    every = {"deviceClassName": "gpu", "allocationMode": "All"}
    used = allocation("n", "x")
    used["allocation"]["devices"]["results"][0] |= {"shareID": "one", "consumedCapacity": {"bandwidth": "5G"}}
    other = claim("other", ask(), status=used)
    assert found(nics, claim("c", every), others=(other,)) == [["y"]]
    assert found(nics, claim("c", every), others=(other,), release=Release(37)) is Shortage.NOT_ENOUGH
    half = {**every, "capacity": {"requests": {"bandwidth": "5G"}}}
    assert found(nics, claim("c", half), others=(other,), release=Release(37)) == [["x", "y"]]
    alike = {"matchAttribute": "gpu.example.com/model"}
    for release, name in ((Release(36), "y"), (Release(37), "x")):
        with pytest.raises(ClaimError, match=f"cannot add device gpu.example.com/n/{name} because"):
            found(nics, claim("c", every, constraints=(alike,)), others=(other,), release=release)


def test_a_device_with_too_little_capacity_makes_no_request_forget_a_value():
    amounts = {"a": (9, 3), "b": (1, 2), "c": (9, 3)}
    devices = [device(name, {"m": {"value": str(amount)}}, numa=numa) for name, (amount, numa) in amounts.items()]
    apart = {"distinctAttribute": "gpu.example.com/numa"}
    wanted = claim("c", ask(2, capacity={"requests": {"m": "6"}}), constraints=(apart,))
    assert found(devices, wanted) is Shortage.NOT_ENOUGH


def test_partitions_share_the_counters_of_their_card():
    used = [{"counterSet": "card", "counters": {"engines": {"value": "4"}}}]
    devices = [{"name": name, "consumesCounters": used} for name in "abc"]
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 2}
    counters = resource_slice(
        "n", [], pool=pool, sharedCounters=[{"name": "card", "counters": {"engines": {"value": "8"}}}]
    )
    counters["metadata"]["name"] = "counters"
    assert found(devices, claim("c", ask(2)), pool=pool, others=(counters,)) == [["a", "b"]]
    assert found(devices, claim("c", ask(3)), pool=pool, others=(counters,)) is Shortage.NOT_ENOUGH


def test_an_invalid_pool_is_the_reason_where_nothing_is_found():
    assert found([device("a"), device("a")], claim("c", ask())) is Shortage.INVALID_POOLS


def test_too_many_devices_are_an_error():
    with pytest.raises(
        ClaimError, match=r"^claim default/c: number of requested devices 33 exceeds the claim limit of 32$"
    ):
        found([], claim("c", ask(33)))


@pytest.mark.parametrize(
    ("expression", "text"), [("device.foo", "CEL compile error: "), ("1/0 == 1", "CEL runtime error: ")]
)
def test_a_selector_that_fails_is_an_error(expression: str, text: str):
    with pytest.raises(ClaimError, match=rf"^claim default/c: selector #0: {text}"):
        found([device("a")], claim("c", ask(selectors=selecting(expression))))


ADVICE = "consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has()"


# Each as the real plugin of kube-scheduler v1.37.2 said.
@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("1/0 == 1", "#0 on device gpu.example.com/n/a: CEL runtime error: division by zero"),
        (
            'device.attributes["gpu.example.com"].numa == 1',
            f"#0 on device gpu.example.com/n/a: CEL runtime error: no such key: numa. {ADVICE} for optional fields",
        ),
        ("device.foo", "#0: CEL compile error: compilation failed: ERROR: <input>:1:7: undefined field 'foo'"),
    ],
)
def test_since_v1_37_an_error_names_the_device(expression: str, text: str):
    with pytest.raises(ClaimError, match=rf"^claim default/c: selector {re.escape(text)}"):
        found([device("a")], claim("c", ask(selectors=selecting(expression))), release=Release(37))


def test_a_search_over_equal_devices_ends_at_once():
    devices = [device(f"d{i}", model="x", uuid=f"GPU-{i}") for i in range(28)]
    asks = [ask(selectors=selecting(MODEL.format("x")))] * 14
    assert found(devices, claim("c", *asks, ask(selectors=selecting(MODEL.format("y"))))) is Shortage.NOT_ENOUGH


def of_their_own(n: int) -> list[dict]:
    """Requests that all devices meet, with a selector each."""
    return [ask(selectors=selecting(f'device.attributes["gpu.example.com"].index >= {i - 99}')) for i in range(n)]


def test_a_request_that_no_device_meets_ends_a_long_search():
    devices = [device(f"d{i}", model="x", index=i) for i in range(28)]
    unmet = ask(selectors=selecting(MODEL.format("y")))
    assert found(devices, claim("c", *of_their_own(14), unmet)) is Shortage.NOT_ENOUGH


def test_a_search_that_does_not_end_is_given_up():
    devices = [device(f"d{i}", model="y" if i < 3 else "x", index=i) for i in range(28)]
    two = ask(2, selectors=selecting(MODEL.format("y")))
    assert found(devices, claim("c", *of_their_own(12), two, two)) is Shortage.TOO_LONG


def test_a_search_over_many_claims_is_not_deep():
    devices = [device(f"d{i}") for i in range(2000)]
    claims = [claim(f"c{i}", ask(30)) for i in range(60)]
    chosen = found(devices, *claims)
    assert isinstance(chosen, list)
    assert chosen[-1][-1] == "d1799"


def consuming(name: str, engines: int, **fields: object) -> dict:
    """A device that several may have, and that uses engines of its card."""
    counters = [{"counterSet": "card", "counters": {"engines": {"value": str(engines)}}}]
    return {
        **shared(name, bw={"value": "2", "requestPolicy": {"default": "1"}}),
        "consumesCounters": counters,
        **fields,
    }


def found_on_card(devices: list[dict], *claims: dict, others: tuple[dict, ...] = ()) -> object:
    """The same on a card with seven engines."""
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 2}
    card = resource_slice(
        "n", [], pool=pool, sharedCounters=[{"name": "card", "counters": {"engines": {"value": "7"}}}]
    )
    return found(devices, *claims, others=({**card, "metadata": {"name": "card"}}, *others), pool=pool)


def has(device_name: str, **fields: object) -> dict:
    """A claim of others that has a device."""
    status = allocation("n", device_name)
    status["allocation"]["devices"]["results"][0] |= fields
    return claim("other", ask(), status=status)


SHARE = {"shareID": "00000000-0000-4000-8000-000000000000", "consumedCapacity": {"bw": "1"}}


def test_a_shared_device_uses_its_counters_once():
    both = [consuming("a", 5), consuming("b", 2)]
    assert found_on_card(both, claim("c", ask(), ask(), ask())) == [["a", "a", "b"]]
    assert found_on_card(both, claim("c", ask()), others=(has("a", **SHARE),)) == [["a"]]
    larger = [consuming("a", 5), consuming("b", 3)]
    assert found_on_card(larger, claim("c", ask(), ask(), ask())) is Shortage.NOT_ENOUGH
    admin = ask(adminAccess=True)
    assert found_on_card([consuming("a", 5)], claim("c", admin), others=(has("a", **SHARE),)) == [["a"]]


def test_devices_whose_counters_are_used_up_are_not_looked_at_for_constraints():
    devices = [consuming("a", 5, attributes={"numa": {"int": 0}}), consuming("b", 5, attributes={"numa": {"int": 1}})]
    every = {"deviceClassName": "gpu", "allocationMode": "All"}
    apart = {"matchAttribute": "gpu.example.com/numa"}
    assert found_on_card(devices, claim("c", every, constraints=(apart,))) is Shortage.NOT_ENOUGH


def test_a_share_that_is_given_back_in_the_search_gives_back_its_counters():
    devices = [consuming("a", 5), consuming("b", 3, attributes={"kind": {"string": "b"}})]
    wanted = ask(selectors=selecting('has(device.attributes["gpu.example.com"].kind)'))
    assert found_on_card(devices, claim("c", ask(), wanted)) == [["b", "b"]]


def test_a_device_is_not_free_for_requests_of_another_kind_than_that_which_has_it():
    assert found([shared("a")], claim("c", ask()), others=(has("a"),)) is Shortage.NOT_ENOUGH
    assert found([shared("a")], claim("c", ask(adminAccess=True)), others=(has("a"),)) == [["a"]]
    assert found([device("a")], claim("c", ask()), others=(has("a", **SHARE),)) is Shortage.NOT_ENOUGH
    assert found([device("a")], claim("c", ask(adminAccess=True)), others=(has("a", **SHARE),)) == [["a"]]
