"""Gauges are read in another thread than the scheduler's."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry

from kubesched.api import EventType
from kubesched.metrics import SchedulerMetrics
from kubesched.plugins import SchedulingGates
from kubesched.scheduler import Scheduler
from kubesched.testing import make_node, make_pod
from tests.scheduler.driving import Driven, Steps


@contextmanager
def restless_threads() -> Iterator[None]:
    """Threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def registry_of(scheduler: Scheduler) -> CollectorRegistry:
    registry = CollectorRegistry()
    SchedulerMetrics().register(registry, scheduler)
    return registry


def test_the_page_can_be_read_while_pods_come_and_go() -> None:
    gate = {"schedulingGates": [{"name": "example.com/gate"}]}
    driven = Driven(SchedulingGates(), Steps())
    gated = [make_pod(f"gated-{i}", metadata={"uid": f"g{i}"}, spec=gate) for i in range(300)]
    for pod in gated:
        driven.tell(pod)
    registry = registry_of(driven.scheduler)
    faults: list[RuntimeError] = []

    def read() -> None:
        try:
            for _ in range(150):
                list(registry.collect())
        except RuntimeError as error:
            faults.append(error)

    reader = threading.Thread(target=read)
    with restless_threads():
        reader.start()
        while reader.is_alive():
            for pod in gated:
                driven.tell(pod, EventType.DELETED)
                driven.tell(pod)
        reader.join()
    assert faults == []


def test_without_leader_election_there_is_no_gauge_of_it() -> None:
    driven = Driven(Steps(), objects=[make_node("n")])
    registry = registry_of(driven.scheduler)
    assert registry.get_sample_value("scheduler_cache_size", {"type": "nodes"}) == 1
    assert "leader_election_master_status" not in {family.name for family in registry.collect()}
