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
    assert why(claim("c", ask()), devices=[gpu("a")], pool=pool) == "request r0: 1 pool is being updated"


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
        f"constraint matchAttribute {DRIVER}/numa: no choice of free devices meets it"
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
