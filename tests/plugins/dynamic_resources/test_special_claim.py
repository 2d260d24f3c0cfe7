import pytest

from kubesched.plugins.dynamic_resources.special_claim import special_claim
from tests.plugins.one_plugin import read_pod

GPU = "example.com/gpu"


def pod_of(shapes: str) -> dict:
    """Containers such as `i3 s1 c1`: init containers, sidecars and containers with so many devices."""
    lists: dict[str, list[dict]] = {"initContainers": [], "containers": []}
    for i, shape in enumerate(shapes.split()):
        container = {"name": f"k{i}", "resources": {"requests": {GPU: shape[1:]} if shape[1:] != "0" else {}}}
        if shape[0] == "s":
            container["restartPolicy"] = "Always"
        lists["containers" if shape[0] == "c" else "initContainers"].append(container)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": lists}


# Each as the real plugin of kube-scheduler v1.36.3 said.
@pytest.mark.parametrize(
    ("shapes", "counts"),
    [
        ("i3 s1 c1", {0: 1, 1: 1, 2: 1}),
        ("i3 i4 s1 c1", {1: 2, 2: 1, 3: 1}),
        ("s1 i1 c1", {0: 1, 2: 1}),
        ("i4 s1 i5 c1", {1: 1, 2: 4, 3: 1}),
        ("i2 i1 c0", {0: 2}),
    ],
)
def test_init_containers_use_the_devices_of_later_containers(shapes: str, counts: dict[int, int]):
    requests = special_claim(read_pod(pod_of(shapes)), {GPU: "gpu"}).requests
    assert {one.name: one.exactly.count for one in requests if one.exactly} == {
        f"container-{i}-request-0": count for i, count in counts.items()
    }


def test_requests_are_in_byte_order_and_numbered_among_the_resources_of_their_container():
    document = pod_of(" ".join(["c1"] * 11))
    document["spec"]["containers"][2]["resources"]["requests"]["cpu"] = "1"
    names = [one.name for one in special_claim(read_pod(document), {GPU: "gpu"}).requests]
    assert names[:4] == [f"container-{i}-request-0" for i in (0, 1, 10)] + ["container-2-request-1"]


def test_a_container_is_mapped_to_the_requests_that_serve_it():
    mappings = special_claim(read_pod(pod_of("i3 c1")), {GPU: "gpu"}).mappings
    assert [(one.container_name, one.request_name) for one in mappings] == [
        ("k1", "container-1-request-0"),
        ("k0", "container-1-request-0"),
        ("k0", "container-0-request-0"),
    ]
