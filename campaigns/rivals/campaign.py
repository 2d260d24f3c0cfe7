"""Has kube-scheduler and kubesched bind pods to the same nodes, and counts the nodes with too many.

python -m campaigns.rivals.campaign [--runs 5] [--nodes 50] [--room 10] [--pods 600]

All pods are created as fast as the API server takes them, more than there is room for. They belong to kube-scheduler,
to kubesched, or half to each; a last row gives each scheduler nodes of its own by a node selector. No kubelet rejects
anything, and etcd's history shows what was bound where there was no room. The first pods come when the schedulers run.
"""

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from campaigns.faults.history import read
from campaigns.faults.run import RecordedPlane
from kubesched.api import KubeObject
from kubesched.testing import make_node, make_pod
from tests.integration.build import find_binary
from tests.integration.cleaning import clear
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until
from tests.integration.scheduler_process import SchedulerProcess

THEIRS, OURS = "default-scheduler", "kubesched"
MODES = {
    "kube-scheduler alone": (THEIRS,),
    "kubesched alone": (OURS,),
    "both, same nodes": (THEIRS, OURS),
    "both, own nodes": (THEIRS, OURS),
}
QUIET_SECONDS = 2.0


class Plan(NamedTuple):
    """How much there is: each node has room for `room` pods."""

    nodes: int
    room: int
    pods: int


class Outcome(NamedTuple):
    """What came of one run.

    Attributes:
        too_many: pods that were bound where there was no room.
        full: nodes that got too many.
        seconds: from the first pod to the last Binding.
    """

    bound: int
    too_many: int
    full: int
    seconds: float


def compete(plane: RecordedPlane, folder: Path, mode: str, plan: Plan) -> Outcome:
    """Let the schedulers of a mode place the pods of a plan."""
    clear(plane.client)
    revision = plane.etcd.revision()
    plane.client.create_all(_nodes(plan))
    schedulers = [_started(name, plane, folder) for name in MODES[mode]]
    try:
        began = time.monotonic()
        plane.client.create_all(_pods(mode, plan))
        ended = _until_quiet(plane)
    finally:
        for scheduler in schedulers:
            scheduler.stop()
    history = read(plane.etcd.changes(revision))
    too_many = Counter(one.node for one in history.bound if one.shortage)
    return Outcome(len(history.bound), too_many.total(), len(too_many), ended - began)


def _started(name: str, plane: RecordedPlane, folder: Path) -> LiveProcess | SchedulerProcess:
    place = folder / name
    place.mkdir(parents=True)
    return (LiveProcess if name == OURS else SchedulerProcess)(plane, place, {"profiles": [{"schedulerName": name}]})


def _nodes(plan: Plan) -> Iterator[KubeObject]:
    for n in range(plan.nodes):
        room = {"cpu": str(plan.room), "memory": "64Gi", "pods": "110"}
        yield make_node(f"node-{n}", labels={"example.com/for": (THEIRS, OURS)[n % 2]}, allocatable=room)


def _pods(mode: str, plan: Plan) -> Iterator[KubeObject]:
    names = MODES[mode]
    for n in range(plan.pods):
        name = names[n % len(names)]
        selector = {"example.com/for": name} if mode == "both, own nodes" else {}
        yield make_pod(f"pod-{n}", requests={"cpu": "1"}, node_selector=selector, spec={"schedulerName": name})


def _until_quiet(plane: RecordedPlane) -> float:
    """Wait until every pod is decided and no more is bound for a while. Returns: when the last one was bound."""
    last = (-1, time.monotonic())

    def is_quiet() -> bool:
        nonlocal last
        pods = plane.client.read_all("Pod", "default")
        n_bound = sum(1 for pod in pods if pod["spec"].get("nodeName"))
        if n_bound != last[0]:
            last = (n_bound, time.monotonic())
        is_decided = all(pod["spec"].get("nodeName") or pod["status"].get("conditions") for pod in pods)
        return is_decided and time.monotonic() - last[1] > QUIET_SECONDS

    wait_until(is_quiet, "all pods", seconds=120)
    return last[1]


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--runs", type=int, default=5, help="of each mode, in turn (default 5)")
    p.add_argument("--nodes", type=int, default=50)
    p.add_argument("--room", type=int, default=10, help="pods that fit on a node (default 10)")
    p.add_argument("--pods", type=int, default=600)
    options = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no process is left behind
    plan = Plan(options.nodes, options.room, options.pods)
    outcomes: dict[str, list[Outcome]] = {mode: [] for mode in MODES}
    with (
        tempfile.TemporaryDirectory() as name,
        RecordedPlane(find_binary(print), Path(name) / "control-plane") as plane,
    ):
        for run in range(options.runs):
            for mode in MODES:
                outcomes[mode].append(compete(plane, Path(name) / f"{mode} {run}", mode, plan))
                print(run, mode, outcomes[mode][-1], flush=True)
    print("| schedulers | runs | bound | pods too many | nodes with too many | runs with any | pods/s |")
    print("|---|---|---|---|---|---|---|")
    for mode, some in outcomes.items():
        print(row(mode, some, plan))
    return 0


def row(mode: str, outcomes: list[Outcome], plan: Plan) -> str:
    """One row of the table, over all runs of a mode."""
    bound, too_many = sum(one.bound for one in outcomes), sum(one.too_many for one in outcomes)
    full, n_nodes = sum(one.full for one in outcomes), plan.nodes * len(outcomes)
    any_of_them = sum(1 for one in outcomes if one.too_many)
    rate = bound / sum(one.seconds for one in outcomes)
    return (
        f"| {mode} | {len(outcomes)} | {bound} | {too_many} ({too_many / bound:.1%}) | {full} of {n_nodes} "
        f"({full / n_nodes:.1%}) | {any_of_them} | {rate:.0f} |"
    )


if __name__ == "__main__":
    sys.exit(main())
