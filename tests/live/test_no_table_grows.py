"""Weeks of churn in front of a live scheduler: once their objects are gone, no table has an entry more than before."""

import asyncio
from collections import Counter

from kubesched.api import EventType, Pod, WatchEvent
from kubesched.framework import Plugin, Status
from kubesched.metrics import SchedulerMetrics
from kubesched.testing.builders import make_pod
from tests.live.fake_cluster import FakeCluster, lived
from tests.properties.test_nothing_only_grows import N_NODES, Weeks, node
from tests.tables import tables_of

BOUNDED = {
    "ChangeLog._rows",  # by the number of rows, see docs/decisions/memory.md; a week is too short to fill them
    "Histograms._children",  # by plugins and extension points; one cycle of ten is measured, so some come late
    "Histogram._cells",
    "_FewRows._matrices",  # one for each matrix of the columns; the rows that changed last decide which are read
}


class LiveWeeks(Weeks):
    """The weeks as a live scheduler sees them; a pod that is asked about is a pending pod."""

    def __init__(self, cluster: FakeCluster) -> None:
        self.live, self.cluster_state = cluster.live, cluster.live.cluster_state
        (self.framework,) = self.live.scheduler.frameworks.values()
        self.n_bound = self.n_evictors = 0
        self.gone = {}
        for i in range(N_NODES):
            self.put("Node", node(f"stays-{i}", "a"))
        self.gone.clear()

    def put(self, kind: str, obj) -> None:
        self.live.feed([WatchEvent(EventType.MODIFIED, kind, obj)])
        self.gone[kind, obj.key] = obj

    def delete_all(self) -> None:
        for (kind, _), obj in reversed(self.gone.items()):
            self.live.feed([WatchEvent(EventType.DELETED, kind, obj)])
        self.gone.clear()

    def ask(self, pod: Pod) -> None:
        self.put("Pod", pod)

    async def live_week(self, number: int) -> None:
        """Pods fill the nodes, some of higher priority evict three of them, and then the week comes."""
        for i in range(N_NODES):
            self.put("Pod", make_pod(f"fills-{number}-{i}", requests={"cpu": "60"}))
        await asyncio.sleep(30)
        for i in range(3):
            self.put("Pod", make_pod(f"urgent-{number}-{i}", requests={"cpu": "60"}, priority=9))
        await asyncio.sleep(30)
        self.week(number)
        await asyncio.sleep(100)
        pods = [one for one in self.cluster_state.objects.list("Pod") if isinstance(one, Pod)]
        bound = [pod.name for pod in pods if pod.node_name]
        self.n_bound += len(bound)
        self.n_evictors += sum(name.startswith("urgent") for name in bound)
        self.delete_all()
        await asyncio.sleep(1000)
        self.sizes()  # drops what is kept for pods to come


def sizes_after_weeks(*plugins: type[Plugin]) -> tuple[Counter[str], Counter[str]]:
    """The tables after one week and after four."""
    sizes: list[Counter[str]] = []
    metrics = SchedulerMetrics()

    async def story(cluster: FakeCluster) -> None:
        weeks = LiveWeeks(cluster)
        for number in range(4):
            await weeks.live_week(number)
            sizes.append(tables_of(cluster.live, metrics))
        assert weeks.n_bound > 4 * N_NODES
        assert weeks.n_evictors == 4 * 3

    lived(story, metrics, *plugins)
    return sizes[0], sizes[-1]


def test_no_table_of_a_live_scheduler_keeps_an_entry_of_what_is_gone() -> None:
    first, last = sizes_after_weeks()
    assert {name for name in last if last[name] > first[name]} <= BOUNDED
    reached = ("Backlog._events", "Evictions._preemptors", "Nominator._by_node", "ObjectStore._kinds", "Waits._readers")
    assert set(reached) <= set(last)


class KeepsPods(Plugin):
    """A plugin that forgets to forget."""

    def __init__(self, args=None) -> None:
        super().__init__(args)
        self.seen: dict[str, list[str]] = {}

    def filter(self, state, pod, node) -> Status:
        self.seen.setdefault(pod.name, []).append(node.name)
        return Status.SUCCESS


def test_a_table_that_keeps_every_pod_is_found() -> None:
    first, last = sizes_after_weeks(KeepsPods)
    assert {name for name in last if last[name] > first[name]} - BOUNDED == {"KeepsPods.seen"}
