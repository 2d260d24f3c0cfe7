"""What the guide says of its OneDevice: a device goes to one pod, comes back when that ends, and survives a restart."""

import asyncio
from typing import Any

from kubesched.api import EventType, Pod
from kubesched.framework import Plugin
from kubesched.session import Simulator
from kubesched.testing import FakeCluster, make_node, make_pod
from tests.docs.pages import ROOT, read_blocks
from tests.extender.test_binder import Bound, error_of
from tests.extender.virtual_time import run

DEVICE = "example.com/device"
TAKEN = "the device on node n1 is taken"
TWO = (make_pod("a"), make_pod("b"))


def of_the_guide() -> type[Plugin]:
    page = (ROOT / "docs/guides/extender.md").read_text(encoding="utf-8")
    (block,) = [one for one in read_blocks(page) if one.options.get("file") == "one_device.py"]
    names: dict[str, Any] = {"__name__": "one_device"}
    exec(block.text, names)
    found: type[Plugin] = names["OneDevice"]
    return found


OneDevice = of_the_guide()


def holder(name: str = "a", **status: str) -> Pod:
    return make_pod(name, node="n1", annotations={DEVICE: "0"}, status=status)


def bound(*pods: Pod) -> Bound:
    return Bound(OneDevice(), pods=pods)


def test_of_two_pods_that_are_bound_at_once_one_gets_the_device() -> None:
    async def story() -> list[str]:
        both = bound(*TWO)
        both.api.open.clear()
        calls = [both.task("a"), both.task("b")]
        await asyncio.wait((calls[1],))
        both.api.open.set()
        return [error_of(await call) for call in calls]

    assert run(story()) == ["", TAKEN]


def test_the_device_is_held_before_the_watch_shows_it_and_free_when_the_pod_has_ended() -> None:
    async def story() -> list[str]:
        one = bound(*TWO)
        said = [error_of(await one.call("a")), error_of(await one.call("b"))]
        one.show(holder(), EventType.MODIFIED)
        said.append(error_of(await one.call("b")))
        one.show(holder(phase="Succeeded"), EventType.MODIFIED)
        return [*said, error_of(await one.call("b"))]

    assert run(story()) == ["", TAKEN, TAKEN, ""]


def test_a_binding_that_fails_gives_the_device_back() -> None:
    async def story() -> list[str]:
        one = bound(*TWO)
        one.api.error = "no"
        said = [error_of(await one.call("a"))]
        one.api.error = ""
        return [*said, error_of(await one.call("b"))]

    assert run(story()) == ['running Bind plugin "DefaultBinder": no', ""]


def test_an_extender_that_starts_again_knows_what_is_held() -> None:
    async def story() -> tuple[str, str]:
        again = bound(holder(), make_pod("b"))
        return error_of(await again.call("b")), error_of(await again.call("b", "n2"))

    assert run(story()) == (TAKEN, "")
    filtered = FakeCluster(OneDevice(), nodes=[make_node("n1"), make_node("n2")], pods=[holder()]).filter(make_pod("b"))
    assert {name: status.message for name, status in filtered.items()} == {
        "n1": "node(s) had no free device",
        "n2": "",
    }


def test_the_pod_that_asks_for_the_device_itself_does_not_hold_it() -> None:
    async def story() -> str:
        return error_of(await bound(make_pod("a", annotations={DEVICE: "0"})).call("a"))

    assert run(story()) == ""


def test_a_simulation_hands_out_the_same() -> None:
    report = Simulator([make_node("n1"), make_node("n2"), holder("old"), *TWO], plugins=[OneDevice]).run()
    assert [placement.node for placement in report.placements] == ["n2", ""]
