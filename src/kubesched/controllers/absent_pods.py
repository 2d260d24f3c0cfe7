"""Says why a workload of a manifest has no pods: it is suspended, has no replicas, matches no node, is not expanded."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from kubesched.api import Node
from kubesched.controllers.manifest_types import WorkloadSpec
from kubesched.documents import RawJson

_IMAGE: Final = "image"
_CONTAINERS: Final = ("containers", "steps")  # steps are those of Tekton
_DEPTH: Final = 8


class WithoutPods(NamedTuple):
    """A workload of a manifest that adds no pods.

    Attributes:
        place: its source.
        workload: `Kind namespace/name`.
        why: what follows the name.
        is_read: whether kubesched reads the kind; if not, the workload may have pods.
    """

    place: str
    workload: str
    why: str
    is_read: bool = True

    def __str__(self) -> str:
        return f"{self.place}: {self.workload} {self.why}"


def why_no_pods(kind: str, spec: WorkloadSpec, nodes: Sequence[Node]) -> str:
    """Why controllers create no pods for a workload, as what follows its name.

    Args:
        nodes: of the cluster.
    """
    if kind == "Job" and spec.suspend:
        return "is suspended (spec.suspend: true)"
    if kind == "Job":
        field = "parallelism" if spec.parallelism == 0 else "completions"
        return f"has 0 pods (spec.{field}: 0)"
    if kind == "DaemonSet":
        return f"would run on 0 of {len(nodes)} nodes: {_why_no_node(spec, nodes)}"
    return "has 0 replicas (spec.replicas: 0)"


def _why_no_node(spec: WorkloadSpec, nodes: Sequence[Node]) -> str:
    if not nodes:
        return "the cluster has none"
    wanted = (spec.template.spec.node_selector or {}).items()
    for key, value in wanted:
        if not any(node.labels.get(key) == value for node in nodes):
            return f"no node has {key}={value}"
    if len(wanted) > 1 and not any(wanted <= node.labels.items() for node in nodes):
        return f"no node has {' and '.join(f'{key}={value}' for key, value in wanted)}"
    affinity = spec.template.spec.affinity
    if affinity is not None and affinity.node_affinity is not None and affinity.node_affinity.required is not None:
        return "no node matches its node affinity, or its pods do not tolerate the taints of those that do"
    return "its pods do not tolerate the taints of the nodes"


def has_pod_template(raw: RawJson) -> bool:
    """Whether an object of a kind that is not read describes pods: somewhere it has containers with images."""
    return f'"{_IMAGE}"'.encode() in bytes(raw) and _describes_pods(msgspec.json.decode(raw), _DEPTH)


def _describes_pods(value: Any, depth: int) -> bool:
    if isinstance(value, list):
        return any(_describes_pods(item, depth - 1) for item in value) if depth else False
    if not isinstance(value, dict) or not depth:
        return False
    lists = [value.get(name) for name in _CONTAINERS]
    containers = [value.get("container"), *(item for some in lists if isinstance(some, list) for item in some)]
    if any(isinstance(item, dict) and isinstance(item.get(_IMAGE), str) for item in containers):
        return True
    return any(_describes_pods(item, depth - 1) for item in value.values())
