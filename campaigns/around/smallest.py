"""The smallest cluster around a pod that waits, and what it has to keep of the whole one."""

from collections.abc import Iterator
from pathlib import Path

from kubesched import explain
from kubesched.api import Pod
from kubesched.capture import smallest_around
from kubesched.explanation import Explanation
from kubesched.setup import set_up
from kubesched.snapshot import ClusterObjects

EXAMPLES = Path(__file__).parents[2] / "examples"
CLUSTERS = {
    "shop": EXAMPLES / "shop" / "cluster.json.gz",
    **{name: EXAMPLES / "clusters" / f"{name}.json.gz" for name in ("bare-metal", "eks", "gke")},
}
MOST_OBJECTS = {"shop": 150}  # of 3,555; two of its pods need about a hundred, the others fewer than 30
MOST_OBJECTS_ELSEWHERE = 20
FIXES = 3


def pending(cluster: ClusterObjects) -> list[Pod]:
    """The first pod that waits of each controller, and each that has none."""
    waiting = [pod for pod in cluster.of(Pod) if not pod.node_name and pod.scheduler_name == "default-scheduler"]
    owners = {pod.metadata.controller.name if pod.metadata.controller else pod.key: pod for pod in reversed(waiting)}
    return list(owners.values())


def faults(name: str, cluster: ClusterObjects, pod: str) -> Iterator[str]:
    """What is wrong with the smallest cluster around a pod."""
    small = smallest_around(cluster, pod, set_up())
    before, after = explain(cluster, pod), explain(small, pod)
    if _reasons(after) != _reasons(before):
        yield f"{pod}: the reasons are {_reasons(after)}, of the whole cluster {_reasons(before)}"
    if _fixes(after) != _fixes(before):
        yield f"{pod}: the first fixes are {_fixes(after)}, of the whole cluster {_fixes(before)}"
    if len(small) >= MOST_OBJECTS.get(name, MOST_OBJECTS_ELSEWHERE):
        yield f"{pod}: {len(small)} objects are left"


def _reasons(explanation: Explanation) -> set[tuple[str, ...]]:
    return {status.reasons for status in explanation.rejections.values()}


def _fixes(explanation: Explanation) -> list[str]:
    return [fix.kind for fix in explanation.fixes[:FIXES]]
