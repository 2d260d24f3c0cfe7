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
