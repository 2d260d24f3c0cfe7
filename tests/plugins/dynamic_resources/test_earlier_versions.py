"""Which nodes fit before v1.36, where most gates of devices are off, as the real plugins of v1.34.4 and v1.35.4 said.

They take any device that will do.
"""

from typing import Any

import pytest

from kubesched.framework import Status
from kubesched.plugins.dynamic_resources import DynamicResources
from kubesched.release import Release
from tests.plugins.dynamic_resources.device_objects import ask, claim, device, device_class, resource_slice, using
from tests.plugins.one_plugin import Asked, node, pod

FEW = "cannot allocate all claims"
CARD = {"sharedCounters": [{"name": "card", "counters": {"m": {"value": "8"}}}]}
PART = {"consumesCounters": [{"counterSet": "card", "counters": {"m": {"value": "4"}}}]}
WAITING = {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]}
APART = {"distinctAttribute": "gpu.example.com/numa"}
EVERY = {"deviceClassName": "gpu", "allocationMode": "All"}
HALF = ask(capacity={"requests": {"memory": "50"}})


def sliced(*specs: dict, count: int = 0) -> list[dict]:
    """Slices of one pool; those without a place are on node n."""
    pool = {"name": "p", "generation": 1, "resourceSliceCount": count or len(specs)}
    slices = [resource_slice("n", **{"devices": [], **one, "pool": pool}) for one in specs]
    for i, one in enumerate(slices):
        one["metadata"]["name"] = f"s{i}"
    return slices


def verdict(release: Release, asked: dict, *slices: dict, constraints: tuple[dict, ...] = ()) -> str:
    """Why the node does not fit; empty if it does."""
    items = [node("n"), device_class(), *slices, claim("c", asked, constraints=constraints)]
    one = Asked(DynamicResources(), items, pod("p", resourceClaims=using("c")), release=release)
    one.pre_filter()
    return "".join(one.filter().get("n", Status.SUCCESS).reasons)


@pytest.mark.parametrize(
    ("asked", "slices", "in_v1_34", "in_v1_35"),
    [
        (ask(), sliced(CARD, {"devices": [device("x", **PART)]}), FEW, FEW),
        (ask(), sliced(CARD, {"devices": [device("x", **PART), device("y")]}), "", ""),
        (EVERY, sliced(CARD, {"devices": [device("x", **PART), device("y")]}), FEW, FEW),
        (ask(), sliced({"devices": [device("y")]}, {**CARD, "sharedCounters": CARD["sharedCounters"] * 2}), "", ""),
        (
            ask(),
            sliced({"nodeName": None, "perDeviceNodeSelection": True, "devices": [{"name": "x", "allNodes": True}]}),
            FEW,
            FEW,
        ),
        (ask(), sliced({"devices": [device("x", **WAITING)]}), FEW, FEW),
        (EVERY, sliced({"devices": [device("x", **WAITING), device("y")]}), "", ""),
        (
            HALF,
            sliced({"devices": [device("x", {"memory": {"value": "9"}})]}),
            "claim default/c, request r0: has capacity requests, but the DRAConsumableCapacity feature is disabled",
            "",
        ),
        (ask(), sliced({"devices": [device("x", taints=[{"key": "k", "effect": "NoSchedule"}])]}), "", ""),
        (ask(), sliced({"devices": [device("x")]}, count=2), "", FEW),
    ],
)
def test_what_a_gate_that_is_off_means(asked: dict, slices: list[dict], in_v1_34: str, in_v1_35: str) -> None:
    assert verdict(Release(34), asked, *slices) == in_v1_34
    assert verdict(Release(35), asked, *slices) == in_v1_35


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (Release(34), ["", "", FEW]),
        (Release(35), ["claim default/c, constraint #0: empty constraint (unsupported constraint type?)"] * 3),
        (Release(36), [FEW, "", FEW]),
    ],
)
def test_distinct_attributes_need_consumable_capacity_and_v1_34_compares_none(
    release: Release, expected: list[str]
) -> None:
    def of_values(*values: Any) -> str:
        devices = [device(f"d{i}", **({} if value is None else {"numa": value})) for i, value in enumerate(values)]
        return verdict(release, ask(2), *sliced({"devices": devices}), constraints=(APART,))

    assert [of_values(1, 1), of_values(1, 2), of_values(1, None)] == expected


def test_all_devices_are_those_of_the_slices_of_the_node_before_v1_35() -> None:
    here, there = sliced({"devices": [device("x")]}, {"devices": [device("y")], "nodeName": "other"})
    assert "is currently being updated" in verdict(Release(34), EVERY, here, there)
    assert verdict(Release(35), EVERY, here, there) == ""
