"""The configurations that a claim gets with its devices, each as the real plugin of that version wrote it."""

import random

import pytest

from kubesched.plugins.dynamic_resources.allocation import allocated
from kubesched.plugins.dynamic_resources.asks import claim_ask
from kubesched.plugins.dynamic_resources.device_search import ChosenDevice
from kubesched.release import Release
from tests.plugins.dynamic_resources.device_objects import ask, claim, device, device_class, resource_slice
from tests.plugins.one_plugin import load, node, pod, read

BOTH, ONE, OTHER, TWO = ["r0", "r1"], ["r0"], ["r1"], ["r1", "r0", "else"]


def config(parameter: str, *requests: str) -> dict:
    return {
        "opaque": {"driver": "d", "parameters": {"of": parameter}},
        **({"requests": [*requests]} if requests else {}),
    }


def written(classes: list[str], requests: list[str], release: Release) -> list[tuple[str, list[str] | None]]:
    """What a claim with a request for each of some classes gets, if its own configuration names requests."""
    of_class = [{**one, "spec": {"config": [config(one["metadata"]["name"])]}} for one in map(device_class, {*classes})]
    devices = [device(f"d{i}") for i in range(len(classes))]
    cluster = load([node("n"), *of_class, resource_slice("n", devices)], release=release)
    document = claim("c", *(ask(class_name=name) for name in classes))
    document["spec"]["devices"]["config"] = [config("claim", *requests)]
    one, pools = read(document), cluster.devices.pools_of(0)
    asks = claim_ask(one.spec.devices, cluster.objects).requests
    chosen = tuple(ChosenDevice(of[0], found) for of, found in zip(asks, pools[0].devices, strict=True))
    class_of = lambda name: cluster.objects.get("DeviceClass", name)  # noqa: E731
    result = allocated(one, chosen, "n", read(pod("p")), class_of=class_of, rng=random.Random(0), release=release)
    entries = result.document["status"]["allocation"]["devices"]["config"]
    return [(entry["opaque"]["parameters"]["of"], entry.get("requests")) for entry in entries]


@pytest.mark.parametrize(
    ("classes", "requests", "in_v1_36", "in_v1_37"),
    [
        (["gpu", "gpu"], [], [("gpu", BOTH), ("claim", None)], [("gpu", None), ("claim", None)]),
        (["gpu", "gpu"], ONE, [("gpu", BOTH), ("claim", ONE)], [("gpu", None), ("claim", ONE)]),
        (["gpu", "gpu"], BOTH, [("gpu", BOTH), ("claim", BOTH), ("claim", BOTH)], [("gpu", None), ("claim", None)]),
        (["gpu", "gpu"], TWO, [("gpu", BOTH), ("claim", TWO), ("claim", TWO)], [("gpu", None), ("claim", None)]),
        (["gpu", "gpu"], ["else"], [("gpu", BOTH)], [("gpu", None)]),
        (
            ["gpu", "nic"],
            OTHER,
            [("gpu", ONE), ("nic", OTHER), ("claim", OTHER)],
            [("gpu", ONE), ("nic", OTHER), ("claim", OTHER)],
        ),
    ],
)
def test_a_configuration_names_the_requests_that_it_is_for(
    classes: list[str], requests: list[str], in_v1_36: list, in_v1_37: list
):
    assert written(classes, requests, Release(36)) == in_v1_36
    assert written(classes, requests, Release(37)) == in_v1_37
