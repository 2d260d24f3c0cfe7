"""Quantities that are checked before anything is counted with them."""

from typing import Any

import msgspec
import pytest

from kubesched.api import check_amounts, decode_object
from kubesched.errors import ObjectError

META = {"metadata": {"name": "a", "namespace": "b"}}
BAD, GOOD = {"requests": {"cpu": "much"}}, {"requests": {"cpu": "100m", "memory": 2}}


def checked(kind: str, **fields: Any) -> None:
    check_amounts(decode_object(kind, msgspec.json.encode(META | fields)))


@pytest.mark.parametrize(
    ("kind", "fields", "field"),
    [
        ("Node", {"status": {"allocatable": {"pods": "=", "cpu": "1"}}}, "status.allocatable.pods"),
        (
            "Pod",
            {"spec": {"containers": [{"name": "x", "resources": GOOD}, {"name": "y", "resources": BAD}]}},
            "spec.containers[y].resources.requests.cpu",
        ),
        (
            "Pod",
            {"spec": {"containers": [], "initContainers": [{"name": "y", "resources": BAD}]}},
            "spec.initContainers[y].resources.requests.cpu",
        ),
        ("Pod", {"spec": {"containers": [], "overhead": {"cpu": ""}}}, "spec.overhead.cpu"),
        ("Pod", {"spec": {"containers": [], "resources": BAD}}, "spec.resources.requests.cpu"),
        ("Pod", {"spec": {"containers": []}, "status": {"resources": BAD}}, "status.resources.requests.cpu"),
        (
            "Pod",
            {"spec": {"containers": []}, "status": {"containerStatuses": [{"name": "x", "resources": BAD}]}},
            "status.containerStatuses[x].resources.requests.cpu",
        ),
        (
            "Pod",
            {
                "spec": {"containers": []},
                "status": {"initContainerStatuses": [{"name": "x", "allocatedResources": {"cpu": "1 "}}]},
            },
            "status.initContainerStatuses[x].allocatedResources.cpu",
        ),
        ("PersistentVolume", {"spec": {"capacity": {"storage": "1GiB"}}}, "spec.capacity.storage"),
        ("PersistentVolumeClaim", {"spec": {"resources": BAD}}, "spec.resources.requests.cpu"),
        ("CSIStorageCapacity", {"capacity": "x"}, "capacity"),
        (
            "ResourceSlice",
            {"spec": {"sharedCounters": [{"name": "a"}, {"name": "b", "counters": {"engines": {"value": "x"}}}]}},
            "spec.sharedCounters[1].counters.engines",
        ),
        (
            "ResourceSlice",
            {
                "spec": {
                    "devices": [{"consumesCounters": [{"counterSet": "a", "counters": {"engines": {"value": "x"}}}]}]
                }
            },
            "spec.devices[0].consumesCounters[0].counters.engines",
        ),
        (
            "ResourceSlice",
            {"spec": {"devices": [{}, {"capacity": {"memory": {"value": "80GB"}}}]}},
            "spec.devices[1].capacity.memory.value",
        ),
        (
            "ResourceSlice",
            {"spec": {"devices": [{"capacity": {"bw": {"value": "1", "requestPolicy": {"validValues": ["1", "x"]}}}}]}},
            "spec.devices[0].capacity.bw.requestPolicy.validValues[1]",
        ),
        (
            "ResourceSlice",
            {"spec": {"devices": [{"capacity": {"bw": {"requestPolicy": {"validRange": {"step": "x"}}}}}]}},
            "spec.devices[0].capacity.bw.requestPolicy.validRange.step",
        ),
        (
            "ResourceClaim",
            {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"capacity": {"requests": {"bw": "x"}}}}]}}},
            "spec.devices.requests[0].exactly.capacity.requests.bw",
        ),
        (
            "ResourceClaim",
            {"spec": {"devices": {"requests": [{"firstAvailable": [{}, {"capacity": {"requests": {"bw": "x"}}}]}]}}},
            "spec.devices.requests[0].firstAvailable[1].capacity.requests.bw",
        ),
        (
            "ResourceClaim",
            {"status": {"allocation": {"devices": {"results": [{"consumedCapacity": {"bw": "x"}}]}}}},
            "status.allocation.devices.results[0].consumedCapacity.bw",
        ),
    ],
)
def test_what_is_not_a_quantity_is_named_with_its_field(kind: str, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ObjectError) as raised:
        checked(kind, **fields)
    assert str(raised.value).startswith(f"{field}: ")
    assert "is not a quantity" in str(raised.value)


@pytest.mark.parametrize(
    "kind", ["Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "CSIStorageCapacity", "Service"]
)
def test_objects_without_quantities_pass(kind: str) -> None:
    checked(kind)


def test_good_quantities_pass() -> None:
    checked("Pod", spec={"containers": [{"name": "x", "resources": GOOD}], "overhead": {"cpu": "1e3"}})
