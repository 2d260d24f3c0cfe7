"""What a live scheduler writes of claims, in which order, and what it does where somebody else was quicker."""

import asyncio
import functools
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from kubesched.testing import make_node, make_pod
from tests.extender.virtual_time import LoopClock, run
from tests.live.claim_server import ClaimServer, Document, claim_rejected, until
from tests.plugins.dynamic_resources.device_objects import (
    allocation,
    ask,
    claim,
    device,
    device_class,
    resource_slice,
    using,
)

UPSTREAM = json.loads((Path(__file__).parent / "upstream_metrics.json").read_text())["families"]
GPU = "example.com/gpu"
GUARD = "resource.kubernetes.io/delete-protection"
IN_PRE_BIND = 'running PreBind plugin "DynamicResources": '
OTHER = {"resource": "pods", "name": "other", "uid": "uid-other"}
CHANGED = 'Operation cannot be fulfilled on "mine": the object has been modified'


def on_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def started(*args: Any, **named: Any) -> None:
        run(test(*args, **named))

    return started


def cluster(*objects: Any, n: int = 2, **fields: Any) -> ClaimServer:
    """Two nodes with two devices each, and a class that serves a resource."""
    nodes = [make_node(f"n{i}", allocatable={"cpu": "8", "pods": "20"}) for i in range(1, n + 1)]
    slices = [resource_slice(f"n{i}", [device("gpu-0", **fields), device("gpu-1", **fields)]) for i in range(1, n + 1)]
    return ClaimServer(*nodes, *slices, device_class("gpu", resource=GPU), *objects)


def pod(name: str = "p", *claims: str, resource: str = "", **fields: Any) -> Any:
    requests = {"cpu": "1", **({resource: "1"} if resource else {})}
    return make_pod(name, requests=requests, spec={"resourceClaims": using(*claims)}, **fields)


def writes_to(server: ClaimServer, resource: str = "resourceclaims") -> list[str]:
    return [one for one in server.writes if f" {resource}" in one]


def given(document: Document, status: Document) -> None:
    document["status"] = {**status, "reservedFor": [OTHER]}


# --- order ---


@on_virtual_time
async def test_a_claim_and_the_claim_for_an_extended_resource_are_written_in_the_order_of_kube_scheduler():
    server = cluster(claim("mine", ask()), pod("p", "mine", resource=GPU))
    async with server.scheduling():
        await until(lambda: server.node_of("p"))
    (special,) = [name for name in server.documents["resourceclaims"] if name != "mine"]
    assert server.writes == [
        "PATCH pods/p/status",
        "PUT resourceclaims/mine",
        "PUT resourceclaims/mine/status",
        "POST resourceclaims",
        f"PUT resourceclaims/{special}",
        f"PUT resourceclaims/{special}/status",
        "PATCH pods/p/status",
        "POST pods/p/binding",
    ]
    for name in ("mine", special):
        written = server.claim(name)
        assert written["metadata"]["finalizers"] == [GUARD]
        assert [user["name"] for user in written["status"]["reservedFor"]] == ["p"]
        assert written["status"]["allocation"]["allocationTimestamp"]
    assert len(set(server.devices())) == 2
    assert server.metrics.plugins.samples() == {'scheduler_resourceclaim_creates_total{status="success"}': 1}


# --- conflicts ---


def meddled(server: ClaimServer, write: str, *changes: Callable[[], object]) -> None:
    """Somebody else is quicker, once for each change, whenever this is to be written."""
    left = list(changes)

    def before(asked: str) -> None:
        if asked == write and left:
            left.pop(0)()

    server.before = before


def labelled(server: ClaimServer, name: str = "mine") -> Callable[[], object]:
    return lambda: server.change(name, lambda one: one["metadata"].update(labels={"a": "b"}))


@pytest.mark.parametrize(("part", "n_finalizers", "n_status"), [("", 2, 1), ("/status", 1, 2)])
@on_virtual_time
async def test_a_claim_that_has_changed_is_read_again_and_written(part: str, n_finalizers: int, n_status: int):
    server = cluster(claim("mine", ask()))
    meddled(server, f"PUT resourceclaims/mine{part}", labelled(server))
    asked: list[str] = []
    meddle, server.before = server.before, lambda write: (asked.append(write), meddle(write))  # type: ignore[func-returns-value]
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.node_of("p"))
    assert (asked.count("PUT resourceclaims/mine"), asked.count("PUT resourceclaims/mine/status")) == (
        n_finalizers,
        n_status,
    )
    assert server.claim("mine")["metadata"]["labels"] == {"a": "b"}
    assert len(server.devices()) == 1


@on_virtual_time
async def test_a_claim_that_changes_all_the_time_fails_the_attempt_after_five_tries():
    server = cluster(claim("mine", ask()))
    meddled(server, "PUT resourceclaims/mine/status", *[labelled(server)] * 5)
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.message("p"))
        expected = f"{IN_PRE_BIND}add allocation and reservation to claim default/mine: {CHANGED}"
        assert server.message("p") == expected
        await until(lambda: server.node_of("p"))


@pytest.mark.parametrize("part", ["", "/status"])
@on_virtual_time
async def test_a_claim_that_another_scheduler_allocated_stays_as_it_is(part: str):
    server = cluster(claim("mine", ask()))
    theirs = allocation("n2", "gpu-1")
    meddled(server, f"PUT resourceclaims/mine{part}", lambda: server.change("mine", lambda one: given(one, theirs)))
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.message("p"))
        assert server.message("p") == f"{IN_PRE_BIND}claim default/mine got allocated elsewhere in the meantime"
        await until(lambda: server.node_of("p"))
    assert server.node_of("p") == "n2"
    assert server.devices() == [("n2", "gpu-1")]
    assert [user["name"] for user in server.claim("mine")["status"]["reservedFor"]] == ["other", "p"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda one: one["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z"), "deleted"),
        (lambda one: one["metadata"].update(uid="another"), "deleted"),
        (lambda one: one.update(status={}), "deallocated elsewhere"),
        (lambda one: given(one, allocation("n2", "gpu-1")), "allocated elsewhere"),
    ],
)
@on_virtual_time
async def test_a_plan_for_a_claim_that_is_not_what_it_was_comes_to_nothing(change: Any, text: str):
    server = cluster(claim("mine", ask(), status=allocation("n1", "gpu-0")))
    meddled(server, "PUT resourceclaims/mine/status", lambda: server.change("mine", change))
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.message("p"))
        assert server.message("p") == f"{IN_PRE_BIND}claim default/mine got {text} in the meantime"
        assert server.node_of("p") == ""


@on_virtual_time
async def test_a_claim_that_is_gone_fails_the_attempt_in_the_words_of_the_api_server():
    server = cluster(claim("mine", ask()))
    meddled(server, "PUT resourceclaims/mine/status", lambda: server.remove("mine"))
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.message("p"))
    text = 'add allocation and reservation to claim default/mine: resourceclaims "mine" not found'
    assert server.message("p") == f"{IN_PRE_BIND}{text}"


@on_virtual_time
async def test_two_pods_that_share_a_claim_are_both_its_users():
    server = cluster(claim("mine", ask()))
    server.lag = True
    async with server.scheduling():
        server.add(pod("p", "mine"))
        server.add(pod("q", "mine"))
        server.catch_up()
        await until(lambda: (server.catch_up(), server.node_of("p") and server.node_of("q"))[1])
    assert {user["name"] for user in server.claim("mine")["status"]["reservedFor"]} == {"p", "q"}
    assert len(server.devices()) == 1


# --- what fails ---


@pytest.mark.parametrize(
    ("write", "text"),
    [
        ("POST resourceclaims", "create claim for extended resources default/: no"),
        ("PATCH pods/p/status", "update pod default/p ExtendedResourceClaimStatus: no"),
    ],
)
@on_virtual_time
async def test_a_claim_for_extended_resources_is_deleted_where_binding_fails(write: str, text: str):
    server = cluster()
    refused: list[str] = []

    def refuse(asked: str) -> None:
        is_first = asked == write and not refused
        if is_first and (write.startswith("POST") or server.documents["resourceclaims"]):
            refused.append(asked)
            raise claim_rejected(asked, "no")

    server.before = refuse
    async with server.scheduling():
        server.add(pod("p", resource=GPU))
        await until(lambda: server.message("p"))
        assert server.message("p") == IN_PRE_BIND + text
        await until(lambda: not server.documents["resourceclaims"])
        await until(lambda: server.node_of("p"))
    assert len(server.documents["resourceclaims"]) == 1
    counts = server.metrics.plugins.samples()
    n_failed = counts.get('scheduler_resourceclaim_creates_total{status="failure"}', 0)
    assert n_failed == (write == "POST resourceclaims")


@on_virtual_time
async def test_devices_of_a_claim_that_was_written_stay_taken_while_the_watch_is_behind():
    server = cluster(claim("mine", ask()), claim("second", ask()), n=1)
    server.lag = True

    def refuse(asked: str) -> None:
        if asked == "POST pods/p/binding":
            raise claim_rejected(asked, "no")

    server.before = refuse
    async with server.scheduling() as live:
        server.add(pod("p", "mine"))
        server.catch_up()
        await until(lambda: "no" in server.message("p"))
        server.before = lambda write: None
        server.catch_up(1)  # the nomination; then comes the claim with its finalizer only
        server.catch_up(1)
        used = live.cluster_state.devices.in_use
        (taken,) = server.devices()
        assert used.is_taken(("gpu.example.com", *taken))
        server.catch_up()
        server.lag = False
        live.cluster_state.check_invariants()
        server.add(pod("q", "second"))
        await until(lambda: server.node_of("q"))
    assert len(set(server.devices())) == 2


@on_virtual_time
async def test_a_pod_that_is_not_bound_leaves_its_claim_allocated_and_without_users():
    server = cluster(claim("mine", ask()))

    def refuse(asked: str) -> None:
        if asked == "POST pods/p/binding":
            raise claim_rejected(asked, "no")

    server.before = refuse
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: "no" in server.message("p"))
        await until(lambda: writes_to(server)[-1] == "PATCH resourceclaims/mine/status")
        await asyncio.sleep(0.2)
        assert server.claim("mine")["status"]["reservedFor"] == []
        assert len(server.devices()) == 1


# --- devices that drivers attach ---

CONDITIONS = {"bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]}
LIMITED = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - {name: DynamicResources, args: {bindingTimeout: 30s}}
"""


def reported(server: ClaimServer, condition: str, name: str = "mine") -> None:
    """The driver reports a condition of each device of a claim."""
    results = server.claim(name)["status"]["allocation"]["devices"]["results"]
    conditions = [{"type": condition, "status": "True", "reason": "Why", "message": "so"}]
    where = [{key: one[key] for key in ("driver", "pool", "device")} for one in results]
    server.change(name, lambda one: one["status"].update(devices=[{**at, "conditions": conditions} for at in where]))


def counts(server: ClaimServer) -> dict[str, float]:
    """How many waits had which end."""
    name = "scheduler_dra_bindingconditions_allocations_total"
    prefix = f'{name}{{driver="gpu.example.com",profile="default-scheduler",status="'
    samples = server.metrics.plugins.samples()
    return {key.removeprefix(prefix).rstrip('"}'): n for key, n in samples.items() if key.startswith(name)}


def attaching(**fields: Any) -> ClaimServer:
    nodes = [make_node("n1", allocatable={"cpu": "8", "pods": "20"})]
    devices = [resource_slice("n1", [device("gpu-0", **CONDITIONS), device("gpu-1", **CONDITIONS)])]
    claims = [claim("mine", ask())]
    return ClaimServer(*nodes, *devices, device_class("gpu", resource=GPU), *claims, config=LIMITED, **fields)


@on_virtual_time
async def test_a_pod_is_bound_as_soon_as_its_driver_has_attached_the_device():
    server = attaching()
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.claim("mine").get("status"))
        await asyncio.sleep(12)
        assert server.node_of("p") == ""
        reported(server, "attached")
        await until(lambda: server.node_of("p"), 0.5)
    events = [(one.reason, one.note) for one in server.events if one.is_of_plugin]
    assert events == [("BindingConditionsPending", "waiting for binding conditions for device on node n1")]
    assert counts(server) == {"success": 1}
    waited = server.metrics.plugins.samples()
    sums = [
        n for name, n in waited.items() if name.startswith("scheduler_dra_bindingconditions_wait_duration_seconds_sum")
    ]
    assert sums == [pytest.approx(12, abs=0.5)]


@on_virtual_time
async def test_a_device_that_cannot_be_attached_is_given_back_and_another_attempt_allocates_anew():
    server = attaching()
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.claim("mine").get("status"))
        reported(server, "broken")
        await until(lambda: server.message("p"))
        failed = 'device binding failed: claim=mine, reason=Why, message="so"'
        assert server.message("p") == IN_PRE_BIND + failed
        await until(lambda: writes_to(server).count("PUT resourceclaims/mine/status") == 3)
        reported(server, "attached")
        await until(lambda: server.node_of("p"))
    assert writes_to(server) == [
        "PUT resourceclaims/mine",
        "PUT resourceclaims/mine/status",
        "PATCH resourceclaims/mine/status",  # no user
        "PUT resourceclaims/mine/status",  # no devices
        "PUT resourceclaims/mine/status",
    ]
    assert [user["name"] for user in server.claim("mine")["status"]["reservedFor"]] == ["p"]
    assert counts(server) == {"failure": 1, "success": 1}


@on_virtual_time
async def test_a_device_that_is_not_attached_in_time_is_given_back():
    server = attaching()
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.message("p"))
        assert server.message("p") == f"{IN_PRE_BIND}device binding timeout: context deadline exceeded"
        assert counts(server) == {"timeout": 1}
        await until(lambda: writes_to(server).count("PUT resourceclaims/mine/status") == 3)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda server: server.remove("mine"), 'could not find ResourceClaim "default/mine"'),
        (
            lambda server: server.change("mine", lambda one: one.update(status={})),
            "claim default/mine got deallocated elsewhere in the meantime",
        ),
    ],
)
@on_virtual_time
async def test_a_wait_for_a_claim_that_is_not_there_any_more_ends(change: Any, text: str):
    server = attaching()
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.claim("mine").get("status"))
        change(server)
        await until(lambda: server.message("p"), 5)
        assert server.message("p") == IN_PRE_BIND + text
        assert counts(server) == {"error": 1}
        assert server.node_of("p") == ""


@on_virtual_time
async def test_the_device_of_an_extended_resource_is_waited_for_as_well():
    server = attaching()
    async with server.scheduling():
        server.add(pod("p", resource=GPU))
        await until(lambda: "PATCH pods/p/status" in server.writes[1:])
        await asyncio.sleep(5)
        assert server.node_of("p") == ""
        (special,) = [name for name in server.documents["resourceclaims"] if name != "mine"]
        reported(server, "attached", special)
        await until(lambda: server.node_of("p"), 0.5)


@on_virtual_time
async def test_the_metrics_of_claims_are_those_of_kube_scheduler():
    server = attaching()
    async with server.scheduling():
        server.add(pod("p", "mine"))
        server.add(pod("q", resource=GPU))
        await until(lambda: counts(server).get("timeout"))
    for family in server.metrics.plugins.collect():
        known = UPSTREAM[f"{family.name}_total" if family.type == "counter" else family.name]
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        bounds = dict.fromkeys(sample.labels["le"] for sample in family.samples if "le" in sample.labels)
        assert (family.type, labels, list(bounds)) == (known["type"], set(known["labels"]), known.get("buckets", []))
    assert {family.name for family in server.metrics.plugins.collect()} == {
        "scheduler_resourceclaim_creates",
        "scheduler_dra_bindingconditions_allocations",
        "scheduler_dra_bindingconditions_wait_duration_seconds",
    }


@on_virtual_time
async def test_the_timeout_of_a_claim_that_another_pod_waits_for_counts_from_its_allocation():
    server = attaching()
    allocated = {**allocation("n1", "gpu-0")["allocation"], "allocationTimestamp": "2023-11-14T22:13:00Z"}  # 20 s ago
    allocated["devices"]["results"][0].update(CONDITIONS)
    server.claim("mine")["status"] = {"allocation": allocated}
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.message("p"), 11)
    assert server.message("p") == f"{IN_PRE_BIND}device binding timeout: claim=mine"


# --- pods that kube-scheduler v1.36.3 leaves pending forever ---


@pytest.mark.parametrize("is_allocated", [False, True])
@on_virtual_time
async def test_a_claim_that_a_pod_lists_twice_is_written_once(is_allocated: bool):
    server = cluster(claim("mine", ask(), status=allocation("n1", "gpu-0") if is_allocated else {}), n=1)
    async with server.scheduling():
        server.add(pod("p", "mine", "mine"))
        await until(lambda: server.node_of("p"), 1)
    assert writes_to(server).count("PUT resourceclaims/mine/status") == 1
    assert len(server.devices()) == len(server.claim("mine")["status"]["reservedFor"]) == 1


@on_virtual_time
async def test_an_allocation_without_a_time_stays_as_it_is():
    server = cluster(claim("mine", ask(), status=allocation("n1", "gpu-0")))
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.node_of("p"), 1)
    assert server.claim("mine")["status"]["allocation"] == allocation("n1", "gpu-0")["allocation"]


@pytest.mark.parametrize("is_allocated", [False, True])
@on_virtual_time
async def test_a_resource_of_a_device_plugin_needs_no_claim_beside_another_one(is_allocated: bool):
    status = allocation("plugin-1", "gpu-0") if is_allocated else {}
    objects = [
        make_node("plugin-1", allocatable={"cpu": "8", "pods": "20", GPU: "1"}),
        resource_slice("plugin-1", [device("gpu-0")]),
        device_class("gpu", resource=GPU),
        claim("mine", ask(), status=status),
    ]
    server = ClaimServer(*objects)
    async with server.scheduling():
        server.add(pod("p", "mine", resource=GPU))
        await until(lambda: server.node_of("p"), 1)
    assert list(server.documents["resourceclaims"]) == ["mine"]


# --- stops ---


@pytest.mark.parametrize("n_writes", range(1, 9))
@on_virtual_time
async def test_a_stop_after_any_write_loses_nothing_and_allocates_nothing_twice(n_writes: int):
    server = cluster(claim("mine", ask()), n=1)
    server.ends_after = n_writes
    async with server.scheduling():
        server.add(pod("p", "mine", resource=GPU))
        await until(lambda: len(server.writes) >= n_writes)
        await asyncio.sleep(1)
    server.ends_after = 1_000_000
    async with server.scheduling() as live:
        await until(lambda: server.node_of("p"))
        await asyncio.sleep(1)
        live.cluster_state.check_invariants()
    assert len(server.documents["resourceclaims"]) == 2
    assert server.devices() == [("n1", "gpu-0"), ("n1", "gpu-1")]
    for document in server.documents["resourceclaims"].values():
        assert [user["name"] for user in document["status"]["reservedFor"]] == ["p"]
    served = server.documents["pods"]["p"]["status"]["extendedResourceClaimStatus"]["resourceClaimName"]
    assert served in server.documents["resourceclaims"]


@on_virtual_time
async def test_a_pod_that_is_not_bound_after_a_restart_leaves_its_claim_without_users():
    server = cluster(claim("mine", ask()), n=1)
    server.ends_after = 3
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: len(server.writes) >= 3)
    server.ends_after = 1_000_000

    def refuse(asked: str) -> None:
        if asked == "POST pods/p/binding":
            raise claim_rejected(asked, "no")

    server.before = refuse
    async with server.scheduling():
        await until(lambda: "no" in server.message("p"))
        await until(lambda: "PATCH resourceclaims/mine/status" in server.writes)
        assert len(server.devices()) == 1


# --- deallocation ---


def elsewhere() -> ClaimServer:
    """A claim that is allocated on a node where its pod may not run."""
    status = {"allocation": {**allocation("n1", "gpu-0")["allocation"], "allocationTimestamp": "2026-01-01T00:00:00Z"}}
    return cluster(claim("mine", ask(), status=status))


@on_virtual_time
async def test_a_claim_is_deallocated_before_the_pod_hears_of_it_and_is_tried_again():
    server = elsewhere()
    async with server.scheduling():
        server.add(pod("p", "mine", node_selector={"kubernetes.io/hostname": "n2"}))
        await until(lambda: server.node_of("p"), 5)
    assert server.writes == [
        "PUT resourceclaims/mine/status",
        "PATCH pods/p/status",
        "PATCH pods/p/status",
        "PUT resourceclaims/mine",
        "PUT resourceclaims/mine/status",
        "POST pods/p/binding",
    ]
    assert [pool for pool, _ in server.devices()] == ["n2"]


@on_virtual_time
async def test_a_pod_says_why_its_claim_cannot_be_deallocated():
    server = elsewhere()

    def refuse(asked: str) -> None:
        if asked == "PUT resourceclaims/mine/status":
            raise claim_rejected(asked, "no")

    server.before = refuse
    async with server.scheduling():
        server.add(pod("p", "mine", node_selector={"kubernetes.io/hostname": "n2"}))
        await until(lambda: server.message("p"))
        causes = "1 node(s) didn't match Pod's node affinity/selector, 1 resourceclaim not available on the node"
        assert server.message("p") == f"0/2 nodes are available: {causes}. no"


# --- a search that takes too long ---


class Ticking(LoopClock):
    """A clock that goes on by a millisecond whenever it is read."""

    def __init__(self) -> None:
        super().__init__()
        self._read, self._seconds = self.monotonic, 0.0
        self.monotonic = self._tick

    def _tick(self) -> float:
        self._seconds += 0.001
        return self._read() + self._seconds


@on_virtual_time
async def test_a_search_that_takes_too_long_fails_the_attempt_and_names_the_node():
    config = LIMITED.replace(b"bindingTimeout: 30s", b"filterTimeout: 20ms")
    devices = [device(f"gpu-{i}", x=i % 14) for i in range(28)]
    hard = claim("mine", *[ask()] * 15, constraints=({"distinctAttribute": "gpu.example.com/x"},))
    nodes = [make_node(name, allocatable={"cpu": "8", "pods": "20"}) for name in ("n1", "n2")]
    slices = [resource_slice(name, devices) for name in ("n1", "n2")]
    objects = [*nodes, *slices, device_class("gpu"), hard, claim("easy", ask())]
    server = ClaimServer(*objects, config=config, clock=Ticking)
    async with server.scheduling():
        server.add(pod("p", "mine"))
        await until(lambda: server.message("p"))
        server.add(pod("q", "easy"))
        await until(lambda: server.node_of("q"))
    text = 'running "DynamicResources" filter plugin: node n1: timed out trying to allocate devices'
    assert server.message("p") == text
    assert server.claim("mine").get("status", {}) == {}


@on_virtual_time
async def test_a_claim_for_extended_resources_that_its_driver_has_changed_is_deleted_as_well():
    server, sent = attaching(), list[str]()
    server.before = sent.append
    async with server.scheduling():
        server.add(pod("p", resource=GPU))
        await until(lambda: "PATCH pods/p/status" in server.writes[1:])
        (special,) = [name for name in server.documents["resourceclaims"] if name != "mine"]
        reported(server, "broken", special)
        await until(lambda: special not in server.documents["resourceclaims"])
        assert sent.count(f"PUT resourceclaims/{special}") == 2  # with a finalizer, and without: no conflict
        await until(lambda: len(server.documents["resourceclaims"]) == 2)
        (special,) = [name for name in server.documents["resourceclaims"] if name != "mine"]
        await until(lambda: server.claim(special).get("status"))
        reported(server, "attached", special)
        await until(lambda: server.node_of("p"))
    assert "device binding failed: claim=p-extended" in server.message("p")
    deleted = server.writes.index("PATCH pods/p/status", 5)  # the condition
    assert [write.partition("/")[0] for write in server.writes[5:deleted]] == [
        "PUT resourceclaims",
        "DELETE resourceclaims",
    ]
