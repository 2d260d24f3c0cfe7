"""Which resources device classes serve, as classes come, change and go."""

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.state import ClusterState
from kubesched.testing import make_object
from tests.device_cluster import GPU, device_class

IMPLICIT = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"
ASKED = {"cpu": 1000, GPU: 1, IMPLICIT: 2}


class Classes:
    def __init__(self) -> None:
        self.state = ClusterState()

    def put(self, known) -> None:
        self.state.apply(WatchEvent(EventType.MODIFIED, "DeviceClass", known))

    def delete(self, known) -> None:
        self.state.apply(WatchEvent(EventType.DELETED, "DeviceClass", known))

    def serving(self, requests=ASKED) -> dict[str, str]:
        return dict(self.state.devices.classes.serving(requests))


def test_a_class_serves_its_own_name_and_the_implicit_one() -> None:
    classes = Classes()
    assert classes.serving() == {}
    classes.put(device_class())
    assert classes.serving() == {IMPLICIT: "gpu.nvidia.com", GPU: "gpu.nvidia.com"}
    assert classes.serving({"cpu": 1000, GPU: 0, "example.com/fpga": 1}) == {}


def test_a_class_without_an_extended_resource_serves_the_implicit_name_alone() -> None:
    classes = Classes()
    classes.put(make_object("DeviceClass", "gpu.nvidia.com"))
    assert classes.serving() == {IMPLICIT: "gpu.nvidia.com"}


@pytest.mark.parametrize(
    "name",
    ["cpu", "memory", "ephemeral-storage", "pods", "hugepages-2Mi", "kubernetes.io/gpu", "requests.x.com/gpu", "a/b/c"],
)
def test_a_name_that_is_no_extended_resource_serves_nothing(name: str) -> None:
    classes = Classes()
    before = classes.state.sizes()
    classes.put(device_class(resource=name))
    assert classes.serving({**ASKED, name: 1}) == {IMPLICIT: "gpu.nvidia.com"}
    classes.delete(device_class(resource=name))
    assert classes.state.sizes() == before


def test_the_newest_of_several_classes_wins_and_the_first_by_name_among_equals() -> None:
    classes = Classes()
    classes.put(device_class("old", creationTimestamp="2026-01-01T00:00:00Z"))
    classes.put(device_class("b", creationTimestamp="2026-02-01T00:00:00Z"))
    classes.put(device_class("a", creationTimestamp="2026-02-01T00:00:00Z"))
    assert classes.serving({GPU: 1}) == {GPU: "a"}
    classes.delete(device_class("a"))
    assert classes.serving({GPU: 1}) == {GPU: "b"}


def test_a_class_that_changes_its_resource_or_goes_leaves_nothing_behind() -> None:
    classes = Classes()
    before = classes.state.sizes()
    classes.put(device_class())
    classes.put(device_class(resource="example.com/gpu"))
    assert classes.serving({GPU: 1, "example.com/gpu": 1}) == {"example.com/gpu": "gpu.nvidia.com"}
    classes.delete(device_class())
    assert classes.serving({"example.com/gpu": 1}) == {}
    assert classes.state.sizes() == before
