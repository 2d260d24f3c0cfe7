"""Small traces for tests."""

from collections.abc import Iterable

from kubesched.api import Node, Pod
from kubesched.testing import make_node, make_pod
from kubesched.traces import Arrival, NodeChange, Trace

SMALL = make_node("n1", allocatable={"cpu": "1"})


def pod(name: str, cpu: str = "1", **more: object) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, **more)


def arrival(at: float, name: str, duration: float | None = None, cpu: str = "1", **more: object) -> Arrival:
    return Arrival(at, pod(name, cpu, **more), duration, comes_again=True)


def trace(*arrivals: Arrival, nodes: Iterable[Node] = (SMALL,), changes: Iterable[NodeChange] = ()) -> Trace:
    return Trace(tuple(nodes), arrivals, tuple(changes), name="small")
