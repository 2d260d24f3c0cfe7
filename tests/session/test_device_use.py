import pytest

from kubesched.session import DeviceCatalog, DeviceCounts, DeviceState, device_fills
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_object

DRIVER = "gpu.example.com"


def device(name, *, model="A100", **more):
    attributes = {"model": {"string": model}, "uuid": {"string": f"uuid-{name}"}}
    return {"name": name, "attributes": attributes, **more}


def slice_of(node, *devices, name="", count=1, generation=1, driver=DRIVER, **spec):
    pool = {"name": node, "generation": generation, "resourceSliceCount": count}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": list(devices), **spec}
    return make_object("ResourceSlice", name or f"slice-{node}", spec=spec)


def claim(name, *results, pods=()):
    allocation = {"devices": {"results": [{"request": "r", "driver": DRIVER, **one} for one in results]}}
    users = [{"resource": "pods", "name": pod, "uid": pod} for pod in pods]
    return make_object("ResourceClaim", name, status={"allocation": allocation, "reservedFor": users})


def device_class(name, expression):
    return make_object("DeviceClass", name, spec={"selectors": [{"cel": {"expression": expression}}]})


def catalog_of(*objects):
    state = ClusterState()
    state.load([(type(one).__name__, one) for one in objects])
    return DeviceCatalog(state)


def uses(*objects):
    return {one.device: one for one in catalog_of(*objects).uses()}


def test_a_device_is_taken_by_the_pods_of_its_claim():
    found = uses(
        make_node("n1"),
        slice_of("n1", device("a"), device("b")),
        claim("train", {"pool": "n1", "device": "a"}, pods=["p"]),
    )
    assert (found["a"].state, found["a"].claims, found["a"].pods) == (
        DeviceState.TAKEN,
        ("default/train",),
        ("default/p",),
    )
    assert (found["b"].state, found["b"].nodes) == (DeviceState.FREE, ("n1",))


def test_admin_access_takes_nothing():
    found = uses(
        make_node("n1"),
        slice_of("n1", device("a")),
        claim("monitor", {"pool": "n1", "device": "a", "adminAccess": True}),
    )
    assert found["a"].state is DeviceState.FREE


@pytest.mark.parametrize(
    ("slices", "why"),
    [
        ([slice_of("n1", device("a", taints=[{"key": "broken", "effect": "NoExecute"}]))], "taint broken:NoExecute"),
        ([slice_of("n1", device("a"), count=2)], "its pool is being updated"),
        ([slice_of("n1", device("a"), device("a"))], "its pool is invalid"),
    ],
)
def test_a_device_that_no_claim_can_have_says_why(slices, why):
    found = uses(make_node("n1"), *slices)["a"]
    assert (found.state, found.why) == (DeviceState.UNUSABLE, why)


def test_a_taint_without_an_effect_keeps_nobody_away():
    found = uses(make_node("n1"), slice_of("n1", device("a", taints=[{"key": "seen", "effect": "None"}])))
    assert found["a"].state is DeviceState.FREE


def test_a_shared_device_is_taken_when_nothing_is_left():
    nic = device("nic", allowMultipleAllocations=True, capacity={"bandwidth": {"value": "10"}})

    def share(amount):
        result = {"pool": "n1", "device": "nic", "shareID": "x", "consumedCapacity": {"bandwidth": amount}}
        return uses(make_node("n1"), slice_of("n1", nic), claim("c", result))["nic"]

    assert (share("4").state, share("4").used) == (DeviceState.SHARED, {"bandwidth": 4 * 10**9})
    assert share("10").state is DeviceState.TAKEN


def test_a_partition_whose_counters_are_used_up_cannot_be_had():
    def partition(name, amount):
        used = [{"counterSet": "gpu-0", "counters": {"memory": {"value": amount}}}]
        return device(name, consumesCounters=used)

    counters = [{"name": "gpu-0", "counters": {"memory": {"value": "40Gi"}}}]
    found = uses(
        make_node("n1"),
        slice_of("n1", partition("half", "20Gi"), partition("whole", "40Gi"), partition("other", "20Gi"), count=2),
        slice_of("n1", name="counters", count=2, devices=None, sharedCounters=counters),
        claim("c", {"pool": "n1", "device": "half"}),
    )
    assert {name: one.state.value for name, one in found.items()} == {
        "half": "taken",
        "whole": "unusable",
        "other": "free",
    }
    assert found["whole"].why == "memory of gpu-0: 20Gi of 40Gi left, the device takes 40Gi"


def test_every_counter_that_is_short_is_a_reason():
    names = ("memory", "engines", "encoders")

    def amounts(*values):
        return {name: {"value": value} for name, value in zip(names, values, strict=True)}

    def partition(name, *values):
        return device(name, consumesCounters=[{"counterSet": "gpu-0", "counters": amounts(*values)}])

    found = uses(
        make_node("n1"),
        slice_of("n1", partition("half", "20Gi", "2", "1"), partition("whole", "40Gi", "2", "1"), count=2),
        slice_of(
            "n1",
            name="counters",
            count=2,
            devices=None,
            sharedCounters=[{"name": "gpu-0", "counters": amounts("40Gi", "2", "1")}],
        ),
        claim("c", {"pool": "n1", "device": "half"}),
    )
    memory = "memory of gpu-0: 20Gi of 40Gi left, the device takes 40Gi"
    assert found["whole"].why == f"{memory}; 2 counters of gpu-0 are used up"


def test_devices_are_counted_by_driver_class_and_model():
    catalog = catalog_of(
        make_node("n1"),
        make_node("n2"),
        device_class("gpu", f'device.driver == "{DRIVER}"'),
        device_class("big", f'device.attributes["{DRIVER}"].model == "H100"'),
        device_class("wrong", "device.unknown == 1"),
        slice_of("n1", device("a"), device("b")),
        slice_of("n2", device("a", model="H100")),
        claim("c", {"pool": "n1", "device": "a"}),
    )
    fills = device_fills(catalog.now(), catalog.now())
    assert [(one.classes, one.model, one.after) for one in fills] == [
        (("big", "gpu"), "H100", DeviceCounts(free=1)),
        (("gpu",), "A100", DeviceCounts(free=1, taken=1)),
    ]


@pytest.mark.parametrize(
    ("attributes", "model"),
    [
        ({"productName": "A100", "type": "gpu"}, "A100"),
        ({"type": "gpu", "pciBusID": "00:1"}, "gpu"),
        ({"flavour": "fast"}, "fast"),
        ({"uuid": "1"}, ""),
        ({}, ""),
    ],
)
def test_the_model_is_what_tells_what_a_device_is(attributes, model):
    def made(name):
        written = {key: {"string": value if key != "uuid" else name} for key, value in attributes.items()}
        return {"name": name, "attributes": written}

    assert {one.model for one in uses(make_node("n1"), slice_of("n1", made("a"), made("b"))).values()} == {model}


def test_a_device_of_the_network_is_there_once_with_all_its_nodes():
    shared = slice_of("fabric", device("a"), nodeName=None, allNodes=True)
    found = catalog_of(make_node("n1"), make_node("n2"), shared).uses()
    assert [one.nodes for one in found] == [("n1", "n2")]


def test_the_catalog_follows_the_objects():
    state = ClusterState()
    state.load([("Node", make_node("n1")), ("ResourceSlice", slice_of("n1", device("a")))])
    catalog = DeviceCatalog(state)
    before = catalog.now()
    with state.fork():
        state.load([("ResourceClaim", claim("c", {"pool": "n1", "device": "a"}))])
        (fill,) = device_fills(before, catalog.now())
    assert (fill.before, fill.after) == (DeviceCounts(free=1), DeviceCounts(taken=1))
    assert catalog.now().counts == before.counts
