"""Lets a cluster in which no word comes twice live for half an hour, and watches the memory of its scheduler.

python -m campaigns.uniques.campaign [--minutes 30]

The live scheduler with its metrics, over a cluster in memory and on a virtual clock, so that it takes some
minutes. workload.py describes what comes and goes: labels, hostnames, zones, resources, images, taints, topology keys,
ports, claims, classes, namespaces, gates, schedulers and priorities have new names each time. Harm is:

- memory at the end, resident or in blocks of Python's allocator, is more than 10% above the most of the first
  two thirds, after which what is kept for pods to come is full;
- a table of the cluster state, the kept columns, the queue or the page of metrics is larger than then;
- once all objects are gone, something of them is left.

The exit code is 1 when there was harm.
"""

import argparse
import asyncio
import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from prometheus_client import CollectorRegistry, generate_latest

from campaigns.uniques.workload import Workload
from kubesched.metrics import PodResources, SchedulerMetrics
from tests.live.fake_cluster import FakeCluster, lived

GROWTH = 0.10
MEASURES = ("MiB", "blocks", "page")  # of the process and the page of metrics; the others are tables
SPARE = 8  # entries by which a small table may differ
AFTER_SECONDS = 700.0  # in which what waits for a deadline, such as the flush of the queue, is over
MIB = 2**20


@dataclass
class Account:
    """What came of a run.

    Attributes:
        n_bound: pods that were bound.
        minutes: what there was at the end of each: MiB, blocks, and the sizes of tables.
        after: the same after all objects are gone.
    """

    n_pods: int = 0
    minutes: list[dict[str, float]] = field(default_factory=list)
    after: dict[str, float] = field(default_factory=dict)

    @property
    def warm(self) -> dict[str, float]:
        """The most that there was at the end of a minute of the first two thirds of the run: how many pods are placed
        at a moment goes up and down.
        """
        first = self.minutes[: (len(self.minutes) - 1) * 2 // 3 + 1]
        return {name: max(sizes[name] for sizes in first) for name in first[-1]}

    def harm(self) -> list[str]:
        """What is larger than it may be."""
        return [
            f"{name} grew from {before:,.0f} to {after:,.0f}"
            for name, before in self.warm.items()
            if (after := self.minutes[-1][name]) > before * (1 + GROWTH) + (0 if name in MEASURES else SPARE)
        ]

    def left(self) -> dict[str, float]:
        """Tables in which something is left that was not there before."""
        return {name: size for name, size in self.after.items() if size > SPARE and name not in MEASURES}


def run(minutes: int, minute_seconds: int = 60, note: Callable[[Account], object] = lambda account: None) -> Account:
    """Live for so many minutes, then without objects; after each minute, `note` is called."""
    account = Account()
    metrics = SchedulerMetrics(time.perf_counter, Random(0))
    registry = CollectorRegistry()

    async def story(cluster: FakeCluster) -> None:
        _register(metrics, registry, cluster)
        workload = Workload(cluster)
        for _ in range(minutes):
            for _ in range(minute_seconds):
                workload.second()
                await asyncio.sleep(1)
            account.minutes.append(_sizes(cluster, registry))
            note(account)
        account.n_pods = workload.n_pods
        workload.end()
        await asyncio.sleep(AFTER_SECONDS)
        _forget_what_is_kept_for_pods_to_come(cluster)
        account.after = _sizes(cluster, registry)

    lived(story, metrics)
    return account


def _register(metrics: SchedulerMetrics, registry: CollectorRegistry, cluster: FakeCluster) -> None:
    live = cluster.live
    metrics.register(
        registry, live.scheduler, n_binding=lambda: live.n_binding, is_leader=lambda: True, lease_name="kube-scheduler"
    )
    registry.register(PodResources(live.cluster_state))


def _sizes(cluster: FakeCluster, registry: CollectorRegistry) -> dict[str, float]:
    live = cluster.live
    gc.collect()
    return {
        "MiB": _rss(),
        "blocks": sys.getallocatedblocks(),
        "page": len(generate_latest(registry)),
        "queue": len(live.scheduler.queue),
        "columns": sum(len(framework.cache) for framework in live.scheduler.frameworks.values()),
        "column bytes": sum(framework.cache.n_bytes for framework in live.scheduler.frameworks.values()),
        **live.cluster_state.sizes(),
    }


def _forget_what_is_kept_for_pods_to_come(cluster: FakeCluster) -> None:
    state = cluster.live.cluster_state
    for framework in cluster.live.scheduler.frameworks.values():
        framework.cache.evict()
    state.groups.forget_all()
    state.parts.forget_recent()


def _row(sizes: dict[str, float]) -> str:
    return ", ".join(f"{name} {size:,.0f}" for name, size in sizes.items() if size)


def _rss() -> float:
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / MIB
    except OSError:
        return 0.0


def main() -> int:
    """Run, and print a row for each minute."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--minutes", type=int, default=30)
    began = time.monotonic()
    account = run(p.parse_args().minutes, note=lambda account: print(_row(account.minutes[-1]), flush=True))
    print(_row(account.after))
    print(f"{account.n_pods:,} pods in {time.monotonic() - began:.0f} s")
    harm = [*account.harm(), *(f"{size:,.0f} left in {name}" for name, size in account.left().items())]
    print("\n".join(["harm:", *harm] if harm else ["harm: none"]))
    return 1 if harm else 0


if __name__ == "__main__":
    sys.exit(main())
