"""Explanations of one pod in a small cluster."""

from collections.abc import Iterable

from kubesched.api import KubeObject, Pod
from kubesched.explanation import Explanation, explain, obstacles
from kubesched.testing import make_node, make_pod

SMALL = {"cpu": "2", "memory": "4Gi", "pods": "3"}


def ask(pod: Pod, *objects: KubeObject, config: str | None = None, plugins: Iterable[type] = ()) -> Explanation:
    return explain([*objects, pod], pod.key, config.encode() if config else None, plugins)


def why(pod: Pod, *objects: KubeObject) -> dict[str, str]:
    """Plugin -> what stands in the way on the first node."""
    return {obstacle.plugin: obstacle.text for obstacle in obstacles(ask(pod, *objects), 0)}


def profile(plugins: str) -> str:
    """A configuration whose only profile has these plugin sets."""
    kind = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    return f"{kind}profiles:\n- schedulerName: default-scheduler\n  plugins: {plugins}\n"


def three_nodes() -> list[KubeObject]:
    return [make_node(name, allocatable=SMALL, zone=zone) for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b"))]


def filling(node: str, **requests: str) -> Pod:
    """A running pod that takes room on a node."""
    return make_pod(f"on-{node}", node=node, requests=requests)
