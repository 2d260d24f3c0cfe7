"""The page of a live scheduler: the families of kube-scheduler, and what a few pods leave in them."""

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from kubesched.api import ActionType, ClusterEvent, EventResource, EventType, KubeObject, Pod
from kubesched.framework import Bind, CycleState, EventRegistration, Plugin, Status, Wait
from kubesched.metrics import PodResources, SchedulerMetrics
from kubesched.metrics.metrics_of_plugins import MetricsOfPlugins
from kubesched.metrics.released_metrics import ReleasedMetrics
from kubesched.release import Release
from kubesched.state import Nodes
from kubesched.testing import make_node, make_object, make_pod
from tests.extender.virtual_time import settle
from tests.live.fake_cluster import FakeCluster, lived

UPSTREAM = json.loads((Path(__file__).parent / "upstream_metrics.json").read_text())["families"]
UPSTREAM_MAP = (Path(__file__).parents[2] / "docs" / "upstream-map.md").read_text()
OURS = {"kubesched_scheduler_extender_call_duration_seconds"}
OF_CLAIMS = ("scheduler_resourceclaim_", "scheduler_dra_")  # in test_claims.py
UNRECORDED = {*OURS, "scheduler_permit_wait_duration_seconds", "leader_election_master_status"}


class Always(Random):
    """Measures the plugins of every cycle."""

    def random(self) -> float:
        return 0.0


class Page:
    """What is read of a page, before and after a story."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.metrics = SchedulerMetrics(self._tick, Always())
        self.registry = CollectorRegistry()

    def _tick(self) -> float:
        self.seconds += 0.001
        return self.seconds

    def register(self, cluster: FakeCluster) -> None:
        self.metrics.register(
            self.registry,
            cluster.live.scheduler,
            n_binding=lambda: cluster.live.n_binding,
            is_leader=lambda: True,
            lease_name="kube-scheduler",
        )
        self.registry.register(PodResources(cluster.live.cluster_state))

    def __getitem__(self, name: str) -> dict[str, float]:
        """The series of a sample by the values of their labels, in order of the labels' names."""
        return {
            " ".join(value for _, value in sorted(sample.labels.items())): sample.value
            for family in self.registry.collect()
            for sample in family.samples
            if sample.name == f"scheduler_{name}" and "le" not in sample.labels
        }

    def families(self) -> dict[str, Any]:
        """Types, labels and buckets of the page as a scraper reads it."""
        found: dict[str, Any] = {}
        for family in text_string_to_metric_families(generate_latest(self.registry).decode()):
            name = f"{family.name}_total" if family.type == "counter" else family.name
            entry = found.setdefault(name, {"type": family.type, "labels": set(), "buckets": []})
            for sample in family.samples:
                entry["labels"] |= {label for label in sample.labels if label != "le"}
                bound = sample.labels.get("le")
                if bound is not None and bound not in entry["buckets"]:
                    entry["buckets"].append(bound)
        return found


class Patient(Plugin):
    """Holds pods back in Permit that are labelled so."""

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | Wait:
        return Wait(60) if pod.labels.get("wait") else Status.SUCCESS


def pod(name: str, cpu: str = "1", priority: int = 0, **labels: str) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, priority=priority, labels=labels)


async def everything(cluster: FakeCluster) -> None:
    """Something for every family."""
    cluster.add(make_node("n", allocatable={"cpu": "4", "pods": "10"}), make_node("full", allocatable={"cpu": "1"}))
    limited = {"name": "c", "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1m"}}}
    cluster.add(make_pod("limited", priority=100, spec={"containers": [limited]}))
    cluster.add(pod("first"), pod("low", "2"), pod("waits", "100m", wait="yes"))
    await asyncio.sleep(100)
    cluster.add(pod("high", "2", priority=10))
    await asyncio.sleep(100)
    await settle()


def test_every_family_is_upstreams_or_explained() -> None:
    page = Page()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        await everything(cluster)

    lived(story, page.metrics, Patient)
    ours = page.families()
    for name, found in ours.items():
        if name in UNRECORDED:
            continue
        known = UPSTREAM[name]
        assert found["type"] == known["type"], name
        assert found["labels"] == set(known["labels"]), name
        assert found["buckets"] == known.get("buckets", []), name
    assert set(ours) >= UNRECORDED
    missing = {name for name in UPSTREAM if name not in ours and not name.startswith(OF_CLAIMS)}
    assert {name for name in missing if f"`{name}`" not in UPSTREAM_MAP} == set()


def test_a_bound_pod_counts_as_one_attempt_with_the_time_of_its_binding() -> None:
    page = Page()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        cluster.bind_seconds = 0.5
        cluster.add(make_node("n"), pod("p"))
        await settle()
        assert page["goroutines"] == {"binding": 1}
        assert page["cache_size"] == {"assumed_pods": 1, "nodes": 1, "pods": 1}
        assert page["inflight_events"]["PodPopped"] == 0
        await asyncio.sleep(1)

    lived(story, page.metrics)
    assert page["schedule_attempts_total"] == {"default-scheduler scheduled": 1}
    assert page["scheduling_attempt_duration_seconds_sum"] == {"default-scheduler scheduled": 0.5}
    assert page["scheduling_algorithm_duration_seconds_count"] == {"": 1}
    assert page["pod_scheduling_attempts_sum"] == {"": 1}
    assert page["pod_scheduling_sli_duration_seconds_sum"] == {"1": 0.5}
    assert page["queue_incoming_pods_total"] == {"UnschedulablePodAdd active": 1}
    assert page["event_handling_duration_seconds_count"] == {
        "NodeAdd": 1,
        "UnschedulablePodAdd": 1,
        "UnschedulablePodDelete": 1,
        "AssignedPodAdd": 1,
    }
    assert page["goroutines"] == {"binding": 0}
    assert page["cache_size"] == {"assumed_pods": 0, "nodes": 1, "pods": 1}


def counted(before: KubeObject, after: KubeObject) -> dict[str, float]:
    """The handled events of an update."""
    page, before_it = Page(), dict[str, float]()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        cluster.tell(before, EventType.ADDED)
        await settle()
        before_it.update(page["event_handling_duration_seconds_count"])
        cluster.tell(after)
        await settle()

    lived(story, page.metrics)
    counts = page["event_handling_duration_seconds_count"].items()
    return {label: n - before_it.get(label, 0) for label, n in counts if n > before_it.get(label, 0)}


TOLERATES = [{"key": "a", "operator": "Exists"}]


@pytest.mark.parametrize(
    ("kind", "changed", "labels"),
    [
        ("assigned", {"labels": {"a": "b"}}, {"AssignedPodUpdate": 1, "AssignedPodUpdatePodLabel": 1}),
        ("assigned", {"annotations": {"a": "b"}}, {"AssignedPodUpdate": 2}),
        ("waiting", {"labels": {"a": "b"}}, {"UnschedulablePodUpdate": 1, "UnschedulablePodUpdatePodLabel": 1}),
        ("waiting", {"annotations": {"a": "b"}}, {"UnschedulablePodUpdate": 1}),
        (
            "waiting",
            {"labels": {"a": "b"}, "tolerations": TOLERATES},
            {
                "UnschedulablePodUpdate": 1,
                "UnschedulablePodUpdatePodLabel": 1,
                "UnschedulablePodUpdatePodToleration": 1,
            },
        ),
        (
            "node",
            {"labels": {"a": "b"}, "taints": ["a:NoSchedule"]},
            {"NodeUpdateNodeLabel": 1, "NodeUpdateNodeTaint": 1},
        ),
        ("node", {"annotations": {"a": "b"}}, {"NodeUpdateNodeAnnotation": 1}),
        ("node", {"status": {"images": [{"names": ["app"], "sizeBytes": 5}]}}, {}),
        ("class", {"labels": {"a": "b"}}, {"storage.k8s.io/StorageClassUpdate": 1}),
    ],
)
def test_an_update_counts_for_each_property_as_in_kube_scheduler(
    kind: str, changed: dict[str, Any], labels: dict[str, float]
) -> None:
    def built(version: str, **more: Any) -> KubeObject:
        metadata = {"uid": "u1", "resourceVersion": version}
        if kind == "class":
            return make_object("StorageClass", "fast", metadata={**metadata, **more}, provisioner="example.com/disk")
        if kind == "node":
            return make_node("n", metadata=metadata, **more)
        return make_pod("p", node="elsewhere" if kind == "assigned" else "", metadata=metadata, **more)

    assert counted(built("1"), built("2", **changed)) == labels


def test_a_pod_that_fits_nowhere_is_unschedulable_and_its_plugin_is_named() -> None:
    page = Page()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        cluster.add(make_node("n", allocatable={"cpu": "2"}), pod("big", "3"))
        cluster.add(make_pod("gated", spec={"schedulingGates": [{"name": "example.com/gate"}]}))
        await settle()

    lived(story, page.metrics)
    assert page["schedule_attempts_total"] == {"default-scheduler unschedulable": 1}
    assert page["pending_pods"] == {"active": 0, "backoff": 0, "gated": 1, "unschedulable": 1}
    assert page["unschedulable_pods"] == {
        "NodeResourcesFit default-scheduler": 1,
        "SchedulingGates default-scheduler": 1,
    }
    assert page["pod_scheduling_attempts_count"] == {"": 0}
    assert page["preemption_attempts_total"] == {"": 1}


def test_a_binding_that_fails_is_an_error_and_no_preemption() -> None:
    page = Page()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        cluster.refusals[Bind] = "no"
        cluster.add(make_node("n"), pod("p"))
        await settle()

    lived(story, page.metrics)
    assert page["schedule_attempts_total"] == {"default-scheduler error": 1}
    assert page["pending_pods"] == {"active": 0, "backoff": 1, "gated": 0, "unschedulable": 0}
    assert page["framework_extension_point_duration_seconds_count"]["Bind default-scheduler Error"] == 1
    assert page["preemption_attempts_total"] == {"": 0}


def test_a_pod_of_another_scheduler_is_not_ours_to_count() -> None:
    page = Page()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        cluster.add(make_node("n"), make_pod("other", spec={"schedulerName": "another"}))
        await settle()

    lived(story, page.metrics)
    assert page["event_handling_duration_seconds_count"] == {"NodeAdd": 1}
    assert page["pending_pods"]["active"] == 0


def test_preemption_counts_its_victims_and_its_tasks() -> None:
    page = Page()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        cluster.add(make_node("n", allocatable={"cpu": "2", "pods": "10"}), pod("a"), pod("b"))
        await settle()
        cluster.add(pod("high", "2", priority=10))
        await asyncio.sleep(30)

    lived(story, page.metrics)
    assert page["preemption_victims_sum"] == {"": 2}
    assert page["preemption_victims_count"] == {"": 1}
    assert page["preemption_goroutines_execution_total"] == {"success": 1}
    assert page["schedule_attempts_total"] == {"default-scheduler scheduled": 3, "default-scheduler unschedulable": 1}
    assert page["pod_scheduling_sli_duration_seconds_count"] == {"1": 2, "2": 1}


def test_waiting_in_permit_is_measured() -> None:
    page = Page()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        cluster.add(make_node("n"), pod("p", wait="yes"))
        await asyncio.sleep(61)

    lived(story, page.metrics, Patient)
    assert page["permit_wait_duration_seconds_sum"] == {"Unschedulable": 60}
    assert page["framework_extension_point_duration_seconds_count"]["Permit default-scheduler Wait"] >= 1
    assert page["framework_extension_point_duration_seconds_count"]["Unreserve default-scheduler Success"] == 1


def test_a_pod_that_waited_too_long_is_counted_when_it_is_bound() -> None:
    """The plugin wants no event, so that only the flush after five minutes brings the pod back."""
    page = Page()
    asked: list[str] = []

    class SecondTime(Plugin):
        def pre_filter(self, state, pod, nodes):
            asked.append(pod.name)
            return Status.SUCCESS if len(asked) > 1 else Status.unschedulable("not yet")

        def events_to_register(self):
            return []

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        cluster.add(make_node("n"), pod("p"))
        await asyncio.sleep(400)

    lived(story, page.metrics, SecondTime)
    assert page["pod_scheduled_after_flush_total"] == {"": 1}
    assert page["pod_scheduling_attempts_sum"] == {"": 2}


def test_each_extension_point_is_measured_once_per_cycle_and_each_plugin_when_its_cycle_is_drawn() -> None:
    page = Page()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        cluster.add(make_node("a"), make_node("b"), make_node("off", unschedulable=True), pod("p"))
        await settle()

    lived(story, page.metrics)
    points = page["framework_extension_point_duration_seconds_count"]
    assert {point.split()[0] for point in points} == {
        "PreEnqueue",
        "PreFilter",
        "Filter",
        "PreScore",
        "Score",
        "Reserve",
        "Permit",
        "Bind",
    }
    assert set(points.values()) == {1}
    executed = page["plugin_execution_duration_seconds_count"]
    assert executed["Filter NodeUnschedulable Unschedulable"] == 1
    assert executed["Filter NodeName Success"] == 1
    assert executed["PreFilter NodePorts Skip"] == 1
    assert executed["Bind DefaultBinder Success"] == 1
    evaluated = page["plugin_evaluation_total"]
    assert evaluated["Filter NodeName default-scheduler"] == 3
    assert evaluated["Score NodeResourcesFit default-scheduler"] == 2
    assert evaluated["PreFilter NodeResourcesFit default-scheduler"] == 1
    assert evaluated["PreFilter NodePorts default-scheduler"] == 0
    assert evaluated["Filter NodePorts default-scheduler"] == 0


def names_of(release: Release) -> tuple[set[str], dict[str, float]]:
    """The families of a version, and the events that let pods into queues."""
    page = Page()

    async def story(cluster: FakeCluster) -> None:
        page.register(cluster)
        waiting = make_pod("p", metadata={"uid": "u"}, requests={"cpu": "1"})
        cluster.add(make_node("n"), waiting)
        await settle()
        labelled = replace(waiting.metadata, labels={"a": "b"}, resource_version="2")
        cluster.tell(replace(waiting, metadata=labelled))
        await asyncio.sleep(30)

    lived(story, page.metrics, WantsLabels, release=release)
    events = page["queue_incoming_pods_total"] | page["event_handling_duration_seconds_count"]
    return set(page.families()), events


class WantsLabels(Plugin):
    """Rejects a pod without labels."""

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        return Status.SUCCESS if pod.labels else Status.unresolvable("has no labels")

    def events_to_register(self) -> list[EventRegistration]:
        return [EventRegistration(ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_LABEL))]


def test_a_version_has_the_families_and_events_of_its_kube_scheduler() -> None:
    pages = {minor: names_of(Release(minor)) for minor in (33, 34, 36, 37)}
    flushed, doubled = "scheduler_pod_scheduled_after_flush_total", "scheduler_scheduler_cache_size"
    assert {minor for minor, (names, _) in pages.items() if flushed in names} == {36, 37}
    assert {minor for minor, (names, _) in pages.items() if doubled in names} == {33}
    assert pages[33][0] - {doubled} == pages[34][0] == pages[36][0] - {flushed}
    assert pages[36][0] == pages[37][0]
    assert pages[34][1] == pages[36][1]
    assert {"UnschedulablePodAdd active", "UnschedulablePodUpdatePodLabel"} <= pages[36][1].keys()
    assert not [event for event in pages[37][1] if event.startswith("UnschedulablePod")]
    assert {"UnscheduledPodAdd active", "UnscheduledPodUpdatePodLabel"} <= pages[37][1].keys()
    assert any(event.startswith("TargetPodUpdatePodLabel ") for event in pages[37][1])
    assert not [event for event in pages[37][1] if event.startswith("UnscheduledPodUpdatePodLabel ")]


@pytest.mark.parametrize(
    ("minor", "name"),
    [
        (34, ""),
        (35, "scheduler_resourceclaim_creates_total"),
        (36, "scheduler_resourceclaim_creates_total"),
        (37, "dynamic_resource_allocation_resourceclaim_creates_total"),
    ],
)
def test_created_claims_are_counted_under_the_name_of_the_version(minor: int, name: str) -> None:
    plugins = MetricsOfPlugins()
    plugins.of("DynamicResources").counter("resourceclaim_creates", "Claims.", ("status",)).add("success")
    samples = [one for family in ReleasedMetrics(plugins, Release(minor)).collect() for one in family.samples]
    assert [(one.name, one.value) for one in samples] == ([(name, 1)] if name else [])
