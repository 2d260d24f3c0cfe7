"""A dry run decides as always and writes nothing; what really happens to a pod ends what was decided for it."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from kubesched.api import EventType, KubeObject
from kubesched.framework import CycleState, Plugin, Status, Wait
from kubesched.live import DryRunWriter, LiveScheduler, SchedulerOptions, dry_run_setup, run_scheduler
from kubesched.scheduler import TieBreak
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.cluster.fake_timing import run
from tests.live.fake_api import FakeTiming, on_a_loop
from tests.live.read_only import kubeconfig_of, read_only_server
from tests.live.shown_cluster import ShownCluster
from tests.plugins.dynamic_resources.device_objects import (
    allocation,
    ask,
    claim,
    device,
    device_class,
    resource_slice,
    using,
)
from tests.plugins.one_plugin import read

SMALL = {"cpu": "2", "memory": "4Gi", "pods": "10"}


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The lines of the dry run so far: message, pod, node."""
    caplog.set_level(logging.INFO, logger="kubesched.dryrun")

    def lines() -> list[str]:
        records = [record for record in caplog.records if record.name == "kubesched.dryrun"]
        return [" ".join((r.message, r.__dict__["pod"], r.__dict__.get("node", ""))).strip() for r in records]

    return lines


class DryRun(ShownCluster):
    """A dry run over a cluster that a test shows."""

    def __init__(self, *plugins: type[Plugin], objects: list[KubeObject]) -> None:
        self.live = LiveScheduler(
            dry_run_setup(set_up(plugins=plugins)),
            DryRunWriter,
            clock=FakeTiming(),
            rng=Random(0),
            tie_break=TieBreak.FIRST,
        )
        self.live.feed.hand_over()
        self.live.feed.release()
        for obj in objects:
            self.show(obj)


@on_a_loop
async def test_a_decided_pod_counts_on_its_node_and_is_decided_once(log):
    dry = DryRun(objects=[make_node("n1", allocatable=SMALL), make_node("n2", allocatable=SMALL)])

    async def story():
        for name in ("a", "b", "c"):
            dry.show(make_pod(name, requests={"cpu": "1500m"}))
        await dry.until(lambda: len(log()) == 3)
        dry.show(make_pod("a", requests={"cpu": "1500m"}, labels={"x": "y"}), EventType.MODIFIED)
        await asyncio.sleep(0.05)
        assert sorted(log()) == ["unschedulable default/c", "would bind default/a n1", "would bind default/b n2"]

    await dry.while_running(story)


@on_a_loop
async def test_what_the_cluster_does_with_a_pod_replaces_the_decision(log):
    undone = []

    class Notes(Plugin):
        def reserve(self, state, pod, node_name):
            return Status.SUCCESS

        def unreserve(self, state, pod, node_name):
            undone.append((pod.name, node_name))

    dry = DryRun(Notes, objects=[make_node("n1", allocatable=SMALL), make_node("n2", allocatable=SMALL)])
    state = dry.live.cluster_state

    async def story():
        for name in ("same", "other", "gone"):
            dry.show(make_pod(name, requests={"cpu": "500m"}))
        await dry.until(lambda: len(log()) == 3)
        chosen = {line.split()[2].removeprefix("default/"): line.split()[3] for line in log()}
        elsewhere = "n2" if chosen["other"] == "n1" else "n1"
        dry.show(make_pod("same", node=chosen["same"], requests={"cpu": "500m"}), EventType.MODIFIED)
        dry.show(make_pod("other", node=elsewhere, requests={"cpu": "500m"}), EventType.MODIFIED)
        dry.show(make_pod("gone", requests={"cpu": "500m"}), EventType.DELETED)
        await dry.until(lambda: dry.live.n_binding == 0)
        assert sorted(undone) == [("gone", chosen["gone"]), ("other", chosen["other"])]
        assert (state.n_placed, state.assumed_uids) == (2, [])
        state.check_invariants()
        assert len(log()) == 3

    await dry.while_running(story)


def test_a_pod_that_was_deleted_is_said_to_be_gone():
    dry = DryRun(objects=[make_node("n1")])
    (binder,) = dry.live.scheduler.frameworks["default-scheduler"].profile.points["bind"]
    pod = make_pod("web")
    binding = binder.bind(CycleState(dry.live.cluster_state.pod_info(pod)), pod, "n1")
    binding.send(None)
    with pytest.raises(StopIteration) as end:
        binding.send(True)
    assert end.value.value.reasons == ("pod default/web is gone",)


@on_a_loop
async def test_victims_are_logged_and_stay(log):
    placed = make_pod("cheap", node="n1", requests={"cpu": "2"}, priority=0)
    dry = DryRun(objects=[make_node("n1", allocatable=SMALL), placed])

    async def story():
        dry.show(make_pod("urgent", requests={"cpu": "2"}, priority=100))
        await dry.until(lambda: len(log()) == 2)
        await asyncio.sleep(0.05)
        assert sorted(log()) == ["unschedulable default/urgent", "would evict default/cheap n1"]
        assert dry.live.cluster_state.n_placed == 1

    await dry.while_running(story)


@on_a_loop
async def test_a_pod_that_permit_holds_back_is_not_reported(log):
    class Pairs(Plugin):
        def permit(self, state, pod, node_name):
            others = list(self.handle.waiting_pods().values())
            for other in others:
                other.allow(self.name)
            return Status.SUCCESS if others else Wait(600)

    dry = DryRun(Pairs, objects=[make_node("n1", allocatable=SMALL)])

    async def story():
        dry.show(make_pod("a"))
        await dry.until(lambda: dry.live.scheduler.waiting_pods)
        assert log() == []
        dry.show(make_pod("b"))
        await dry.until(lambda: len(log()) == 2)

    await dry.while_running(story)


@on_a_loop
async def test_hooks_that_act_on_the_world_are_not_called(log):
    called = []

    class Acts(Plugin):
        def pre_bind(self, state, pod, node_name):
            called.append("pre_bind")
            return Status.SUCCESS

        def post_bind(self, state, pod, node_name):
            called.append("post_bind")

    dry = DryRun(Acts, objects=[make_node("n1", allocatable=SMALL)])

    async def story():
        dry.show(make_pod("a"))
        await dry.until(log)
        dry.show(make_pod("a", node="n1"), EventType.MODIFIED)
        await dry.until(lambda: dry.live.n_binding == 0)
        assert called == []

    await dry.while_running(story)


def test_the_process_only_lists_and_watches(tmp_path: Path, log: Callable[[], list[str]]) -> None:
    pods = [make_pod(f"p{i}", requests={"cpu": "1"}) for i in range(3)]
    server = read_only_server(make_node("n1", allocatable=SMALL), *pods)
    stop = asyncio.Event()

    async def story() -> None:
        async with server:
            options: SchedulerOptions = SchedulerOptions(
                endpoints=None, kubeconfig=kubeconfig_of(server, tmp_path), dry_run=True
            )
            running = asyncio.create_task(run_scheduler(set_up(), options, stop=stop, on_ready=lambda live: None))
            while len(log()) < 3:  # noqa: ASYNC110 - a log line sets no event
                await asyncio.sleep(0.01)
            stop.set()
            await running

    run(story())
    assert sorted(log()) == ["unschedulable default/p2", "would bind default/p0 n1", "would bind default/p1 n1"]
    assert {asked.method for asked in server.asked} == {"LIST", "WATCH"}


@on_a_loop
async def test_the_devices_of_claims_are_logged_taken_and_not_written(log, caplog):
    devices = resource_slice("n1", [device("gpu-0"), device("gpu-1")])
    others = (device_class("gpu", resource="example.com/gpu"), devices, claim("mine", ask()), claim("second", ask()))
    dry = DryRun(objects=[make_node("n1", allocatable=SMALL), *map(read, others)])

    async def story():
        dry.show(make_pod("a", spec={"resourceClaims": using("mine")}))
        dry.show(make_pod("b", requests={"example.com/gpu": "1"}))
        dry.show(make_pod("c", spec={"resourceClaims": using("second")}))
        await dry.until(lambda: len(log()) == 3)
        assert sorted(log()) == ["unschedulable default/c", "would bind default/a n1", "would bind default/b n1"]
        named = {r.__dict__["pod"]: r.__dict__.get("devices") for r in caplog.records if "pod" in r.__dict__}
        assert named["default/a"] == "default/mine=gpu.example.com/n1/gpu-0"
        assert named["default/b"] == "default/b-<extended-resources>=gpu.example.com/n1/gpu-1"
        dry.show(make_pod("a", spec={"resourceClaims": using("mine")}), EventType.DELETED)
        await dry.until(lambda: not dry.live.cluster_state.devices.in_use.is_taken(("gpu.example.com", "n1", "gpu-0")))

    await dry.while_running(story)


@on_a_loop
async def test_a_claim_that_would_be_given_back_is_logged_and_stays(caplog):
    caplog.set_level(logging.INFO, logger="kubesched.dryrun")
    status = {"allocation": {**allocation("n1", "gpu-0")["allocation"], "allocationTimestamp": "2026-01-01T00:00:00Z"}}
    nodes = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
    others = (device_class("gpu"), resource_slice("n1", [device("gpu-0")]), claim("mine", ask(), status=status))
    dry = DryRun(objects=[*nodes, *map(read, others)])

    async def story():
        on_n2 = {"nodeSelector": {"kubernetes.io/hostname": "n2"}}
        dry.show(make_pod("a", spec={"resourceClaims": using("mine"), **on_n2}))
        await dry.until(lambda: len(caplog.records) == 2)
        first, second = caplog.records
        assert (first.message, first.__dict__["claim"]) == ("would deallocate", "default/mine")
        assert "deallocation of ResourceClaim completed" in second.__dict__["reason"]
        assert dry.live.cluster_state.objects.get("ResourceClaim", "default/mine").status.allocation is not None

    await dry.while_running(story)
