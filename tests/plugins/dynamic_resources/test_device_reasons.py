"""Why a node cannot serve the claims of a pod, in the words of explain."""

import json

import pytest

from kubesched import explain
from kubesched.api import decode_object
from kubesched.testing import make_node, make_pod
from tests.plugins.dynamic_resources.device_objects import (
    DRIVER,
    allocation,
    ask,
    claim,
    device,
    device_class,
    resource_slice,
    selecting,
    using,
)

MEMORY = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("80Gi")) >= 0'
MODEL = f'device.attributes["{DRIVER}"].model == "H100"'
CLASS = device_class("gpu", f'device.driver == "{DRIVER}"')


def gpu(name, memory="40Gi", **fields):
    return device(name, {"memory": {"value": memory}}, **fields)


def why(*objects, devices=None, claims=("c",), **on_slice):
    """What keeps a pod with claims from the only node."""
    documents = [CLASS, *objects, *([resource_slice("n1", devices, **on_slice)] if devices else [])]
    decoded = [decode_object(one["kind"], json.dumps(one).encode()) for one in documents]
    pod = make_pod("p", spec={"resourceClaims": using(*claims)})
    (row,) = explain([make_node("n1"), *decoded, pod], "default/p").rows
    (text,) = row.texts
    return text


def test_a_value_that_the_claim_does_not_want_is_named():
    wanted = claim("c", ask(selectors=selecting(MEMORY)))
    assert why(wanted, devices=[gpu("a"), gpu("b")]) == (
        "request r0: memory is 40Gi, the claim wants >= 80Gi (all 2 devices)"
    )


def test_each_reason_has_its_number_of_devices():
    wanted = claim("c", ask(2, selectors=selecting(MODEL)))
    taken = claim("other", ask(), status=allocation("n1", "a"))
    devices = [gpu("a", model="H100"), gpu("b", model="A100"), gpu("d", model="T4"), gpu("e", model="H100")]
    assert why(wanted, taken, devices=devices) == (
        "request r0: 1 of 4 devices will do, 2 are wanted "
        "(model is A100 or T4, the claim wants == H100 (2 devices), 1 device is taken); "
        "held by claim default/other, which no pod uses"
    )


def test_taken_devices_are_counted():
    taken = claim("other", ask(2), status=allocation("n1", "a", "b"))
    assert why(claim("c", ask()), taken, devices=[gpu("a"), gpu("b")]) == (
        "request r0: all 2 devices are taken; held by claim default/other, which no pod uses"
    )


@pytest.mark.parametrize(
    ("fields", "asked", "text"),
    [
        (
            {"taints": [{"key": "hot", "effect": "NoSchedule"}]},
            {},
            "request r0: taint hot:NoSchedule is not tolerated (1 device)",
        ),
        (
            {},
            {"capacity": {"requests": {"memory": "80Gi"}}},
            "request r0: memory is 40Gi, the claim wants >= 80Gi (1 device)",
        ),
        (
            {},
            {"selectors": selecting(f'"numa" in device.attributes["{DRIVER}"]')},
            f'request r0: "numa" in device.attributes["{DRIVER}"] does not hold (1 device)',
        ),
        ({}, {"count": 2}, "request r0: 1 device of class gpu, 2 are wanted"),
    ],
)
def test_what_keeps_a_request_from_a_device(fields, asked, text):
    assert why(claim("c", ask(**asked)), devices=[gpu("a", **fields)]) == text


def test_a_node_without_devices_of_the_class_says_so():
    other = resource_slice("n1", [device("nic")], driver="nic.example.com")
    assert why(claim("c", ask()), other) == "request r0: no device of class gpu"


def test_a_cluster_without_slices_says_so():
    assert why(claim("c", ask())) == "there are no ResourceSlices, so there are no devices"


def test_a_pool_that_is_being_updated_is_named():
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    assert why(claim("c", ask()), devices=[gpu("a")], pool=pool) == (
        f"request r0: 1 pool is being updated; pool {DRIVER}/n1"
    )


def test_a_pool_of_a_driver_that_the_class_does_not_select_is_not_a_reason():
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    other = resource_slice("n1", [device("nic")], driver="nic.example.com", pool=pool)
    assert why(claim("c", ask()), other) == "request r0: no device of class gpu"
    any_driver = device_class("any", f'"numa" in device.attributes["{DRIVER}"]')
    assert why(any_driver, claim("c", ask(class_name="any")), other) == (
        "request r0: 1 pool is being updated; pool nic.example.com/n1"
    )


def partition(name, **amounts):
    """A device that takes counters of gpu-0."""
    taken = {counter: {"value": amount} for counter, amount in amounts.items()}
    return {**gpu(name), "consumesCounters": [{"counterSet": "gpu-0", "counters": taken}]}


def why_of_partitions(have, *partitions):
    """What keeps a claim from partitions of gpu-0, of which the first one is taken."""
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    counters = [{"name": "gpu-0", "counters": {name: {"value": amount} for name, amount in have.items()}}]
    shared = resource_slice("n1", [], sharedCounters=counters, pool=pool)
    shared["metadata"]["name"] = "counters"
    del shared["spec"]["devices"]
    taken = claim("other", ask(), status=allocation("n1", partitions[0]["name"]))
    return why(claim("c", ask()), shared, taken, devices=list(partitions), pool=pool).partition(";")[0]


def test_of_a_counter_of_which_some_is_left_the_amounts_are_named():
    assert why_of_partitions({"memory": "40Gi"}, partition("a", memory="10Gi"), partition("b", memory="40Gi")) == (
        "request r0: 1 device is taken, memory of gpu-0: 30Gi of 40Gi left, the device takes 40Gi (1 device)"
    )


def test_counters_of_several_devices_are_one_phrase():
    names = ("s0", "s1", "s2")
    whole = partition("whole", **dict.fromkeys(names, "1"))
    parts = [partition(f"p{name}", **{name: "1"}) for name in names]
    assert why_of_partitions(dict.fromkeys(names, "1"), whole, *parts) == (
        "request r0: 3 counters of gpu-0 are used up by other devices (3 devices), 1 device is taken"
    )


def test_counters_that_other_devices_use_up_are_named():
    def partition(name):
        return {**gpu(name), "consumesCounters": [{"counterSet": "gpu-0", "counters": {"slices": {"value": "4"}}}]}

    counters = [{"name": "gpu-0", "counters": {"slices": {"value": "4"}}}]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    shared = resource_slice("n1", [], sharedCounters=counters, pool=pool)
    shared["metadata"]["name"] = "counters"
    del shared["spec"]["devices"]
    taken = claim("other", ask(), status=allocation("n1", "a"))
    assert why(claim("c", ask()), shared, taken, devices=[partition("a"), partition("b")], pool=pool) == (
        "request r0: 1 device is taken, slices of gpu-0 is used up by other devices (1 device); "
        "held by claim default/other, which no pod uses"
    )


def test_requests_that_fit_one_by_one_and_not_at_once():
    apart = ({"matchAttribute": f"{DRIVER}/numa", "requests": []},)
    wanted = claim("c", ask(2), constraints=apart)
    assert why(wanted, devices=[gpu("a", numa=0), gpu("b", numa=1)]) == (
        f"constraint matchAttribute {DRIVER}/numa: at most 1 device shares a numa, 2 are wanted"
    )
    assert why(claim("c", ask(), ask()), devices=[gpu("a")]) == (
        "its requests together want more devices than are free"
    )


@pytest.mark.parametrize(
    ("devices", "asks", "lack"),
    [
        ([gpu("a"), gpu("b")], [ask(2)], "no device has this attribute"),
        (
            [gpu("a", model="H100", numa=0), gpu("b", model="A100")],
            [ask(), ask(selectors=selecting(f'device.attributes["{DRIVER}"].model == "A100"'))],
            "no device for request r1 has this attribute",
        ),
    ],
)
def test_an_attribute_of_a_constraint_that_no_device_has_is_named(devices, asks, lack):
    wanted = claim("c", *asks, constraints=({"matchAttribute": f"{DRIVER}/numa", "requests": []},))
    assert why(wanted, devices=devices) == f"constraint matchAttribute {DRIVER}/numa: {lack}"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (f'true && device.attributes["{DRIVER}"].modle == "x"', 'modle == "x" fails: no such key: modle'),
        ("device.drivr ==", "device.drivr == does not compile: compilation failed: ERROR: <input>:1:16: Syntax error"),
    ],
)
def test_an_expression_that_fails_is_named_with_its_request(expression, text):
    wanted = claim("c", ask(), ask(selectors=selecting(expression)))
    found = why(wanted, devices=[gpu("a"), gpu("b")])
    assert found.startswith("request r1: ")
    assert text in found


def test_a_claim_that_is_allocated_elsewhere_says_where():
    assert why(claim("c", ask(), status=allocation("n2", "a")), devices=[gpu("a")]) == "claim c is allocated on n2"


UNREAD = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("80GB")) >= 0'
FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def test_an_expression_that_fails_for_taken_devices_is_not_one_that_does_not_hold():
    wanted = claim("c", ask(selectors=selecting(f'device.attributes["{DRIVER}"].modle == "x"')))
    taken = claim("other", ask(2), status=allocation("n1", "a", "b"))
    found = why(wanted, taken, devices=[gpu("a"), gpu("b")])
    assert found.startswith(
        f'request r0: device.attributes["{DRIVER}"].modle == "x" fails: no such key: modle (all 2 devices)'
    )


@pytest.mark.parametrize("status", [{}, allocation("n1", "a")])
def test_the_word_that_is_wrong_is_in_what_is_shown_of_a_long_expression(status):
    others = [claim("other", ask(), status=status)] if status else []
    found = why(claim("c", ask(selectors=selecting(UNREAD))), *others, devices=[gpu("a")])
    assert f'memory.compareTo(quantity("80GB")) >= 0 fails: {FORM}' in found
    key = f'device.attributes["{DRIVER}"].model.lowerAscii().startsWith("h") == device.attributes["{DRIVER}"].modle'
    found = why(claim("c", ask(selectors=selecting(key))), *others, devices=[gpu("a", model="H100")])
    assert '"].modle fails: no such key: modle' in found


def test_an_expression_of_the_class_that_fails_is_named_with_the_class():
    fabric = device_class("fabric", f'device.attributes["{DRIVER}"].rdma')
    found = why(fabric, claim("c", ask(class_name="fabric")), devices=[gpu("a")])
    assert found == f'request r0: class fabric: device.attributes["{DRIVER}"].rdma fails: no such key: rdma'


@pytest.mark.parametrize(
    ("numbers", "taken", "text"),
    [
        ((0, 0, 1, 1), "", "at most 2 devices share a numa, 3 are wanted"),
        ((0, 0, 1, 1), "d0", "at most 2 devices share a numa, 3 are wanted"),
        (
            (0, 0, 0, 1, 1),
            "d0",
            "at most 2 free devices share a numa, 3 are wanted; held by claim default/other, which no pod uses",
        ),
    ],
)
def test_holders_are_named_where_a_constraint_would_hold_without_them(numbers, taken, text):
    wanted = claim("c", ask(3), constraints=({"matchAttribute": f"{DRIVER}/numa"},))
    other = [claim("other", ask(), status=allocation("n1", taken))] if taken else []
    found = why(wanted, *other, devices=[gpu(f"d{i}", numa=n) for i, n in enumerate(numbers)])
    assert found == f"constraint matchAttribute {DRIVER}/numa: {text}"


def test_no_holders_follow_an_attribute_that_no_device_has():
    taken = claim("other", ask(), status=allocation("n1", "a"))
    wanted = claim("c", ask(2), constraints=({"matchAttribute": f"{DRIVER}/socket"},))
    assert why(wanted, taken, devices=[gpu("a"), gpu("b"), gpu("d")]) == (
        f"constraint matchAttribute {DRIVER}/socket: no device has this attribute"
    )
