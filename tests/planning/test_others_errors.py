"""A pod that waits and gets an Error from its own claim says nothing about other pods."""

from kubesched.planning import drain, fit
from kubesched.testing import make_node, make_object, make_pod
from tests.planning.drain_clusters import owned_by

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "10"}
BROKEN = {
    "requests": [
        {
            "name": "gpu",
            "exactly": {
                "deviceClassName": "gpu",
                "selectors": [{"cel": {"expression": "device.attributes['x.example'].nothing == 'a'"}}],
            },
        }
    ]
}


def cluster():
    devices = [{"name": "gpu-0", "attributes": {"x.example/model": {"string": "a"}}}]
    spec = {
        "driver": "x.example",
        "pool": {"name": "n1", "resourceSliceCount": 1},
        "nodeName": "n1",
        "devices": devices,
    }
    waiting = make_pod(
        "waiting",
        spec={
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
            "containers": [{"name": "c", "image": "x"}],
        },
    )
    return [
        make_node("n1", allocatable=ROOM),
        make_node("n2", allocatable=ROOM),
        make_object("DeviceClass", "gpu", spec={}),
        make_object("ResourceSlice", "n1", spec=spec),
        make_object("ResourceClaim", "gpu", namespace="default", spec={"devices": BROKEN}),
        make_pod("web", node="n1", requests={"cpu": "1"}, metadata=owned_by("ReplicaSet", "web")),
        waiting,
    ]


def test_a_drain_is_known() -> None:
    result = drain(cluster(), ["n1"])
    assert result.n_failed_before == 1
    assert (result.faults, result.could_go) == ((), True)


def test_a_fit_is_known() -> None:
    result = fit(cluster(), {"cpu": 1}, replicas=2)
    assert result.report.faults
    assert (result.faults, result.is_known, result.n_fit) == ((), True, 2)
