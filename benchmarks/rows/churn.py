"""What happens in a busy cluster while a scheduler decides."""

import json
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from benchmarks import load
from benchmarks.rows import device_inputs
from kubesched import Simulator
from kubesched.api import EventType, WatchEvent, decode_object
from kubesched.framework import Decision

UPDATES_A_SECOND = 500
STARTS_A_SECOND = 50
CLAIMS_A_SECOND = 1000
PREPARED = 2000
RUNNING = 200

Object = dict[str, Any]
Line = tuple[EventType, str, bytes]  # what happened, kind, JSON


class Stream(NamedTuple):
    """Events that come again and again.

    Attributes:
        rate: how often some come in a second.
        lines: those that come together.
    """

    rate: int
    lines: Sequence[tuple[Line, ...]]


class Churn:
    """Applies the events that are due after each decision; seconds are CPU time of this process."""

    def __init__(self, simulator: Simulator, streams: Sequence[Stream]) -> None:
        self._simulator = simulator
        self._rates = [stream.rate for stream in streams]
        self._lines = [cycle(stream.lines) for stream in streams]
        self._began = 0.0
        self.counts = [0] * len(streams)

    def begin(self) -> None:
        """Start the clock."""
        self._began = time.process_time()

    def after(self, decision: Decision) -> None:
        """Take in what has come since the last decision."""
        seconds = time.process_time() - self._began
        for i, (rate, lines) in enumerate(zip(self._rates, self._lines, strict=True)):
            while self.counts[i] < seconds * rate:
                self.counts[i] += 1
                for line in next(lines):
                    self._tell(line)

    def _tell(self, line: Line) -> None:
        type_, kind, raw = line
        event = WatchEvent(type_, kind, decode_object(kind, raw))
        self._simulator.scheduler.handle_event(event)


def busy_cluster(n_nodes: int, n_pods: int) -> list[Stream]:
    """Updates without news; pods of others start, and earlier ones end.

    Args:
        n_nodes, n_pods: of the cluster that `inputs.churning` wrote.
    """
    updates = [(line,) for line in _updates(n_nodes, n_pods)]
    return [Stream(UPDATES_A_SECOND, updates), Stream(STARTS_A_SECOND, _starts_and_ends(n_nodes, n_pods))]


def busy_claims(n_nodes: int, n_pods: int) -> list[Stream]:
    """A claim of others gets a device, and an earlier one gives its device back.

    Args:
        n_nodes: of the cluster that `device_inputs` wrote.
    """
    shape = device_inputs.SHAPES["gpu8"]

    def line(i: int, *, is_allocated: bool) -> Line:
        device = {"pool": f"node-{7 * i % n_nodes:05}", "device": f"device-{1 + i % 7}"} if is_allocated else None
        raw = json.dumps(device_inputs.claim(f"other-{i:05}", shape, device)).encode()
        return EventType.MODIFIED, "ResourceClaim", raw

    taken = [line(i, is_allocated=True) for i in range(2 * RUNNING)]
    free = [line(i, is_allocated=False) for i in range(2 * RUNNING)]
    return [Stream(CLAIMS_A_SECOND, list(zip(taken, [*free[RUNNING:], *free[:RUNNING]], strict=True)))]


def _updates(n_nodes: int, n_pods: int) -> Iterator[Line]:
    """Of ten updates four are heartbeats of nodes, five statuses of pods, and one concerns a service."""
    for i in range(PREPARED):
        kind = "NPNPNPNPPS"[i % 10]
        if kind == "N":
            yield _modified("Node", _heartbeat(load.node(i * 7 % n_nodes), i))
        elif kind == "P":
            yield _modified("Pod", _restarted(load.pod(i * 11 % n_pods, n_nodes), i))
        else:
            yield _modified("Service", _with_endpoints(load.service(i % 50), i))


def _modified(kind: str, obj: Object) -> Line:
    obj["metadata"]["resourceVersion"] = "5000000"
    return EventType.MODIFIED, kind, json.dumps(obj).encode()


def _heartbeat(node: Object, i: int) -> Object:
    for condition in node["status"]["conditions"]:
        condition["lastHeartbeatTime"] = f"2026-01-02T00:{i // 60 % 60:02}:{i % 60:02}Z"
    return node


def _restarted(pod: Object, i: int) -> Object:
    for status in pod["status"]["containerStatuses"]:
        status["restartCount"] = i
    return pod


def _with_endpoints(service: Object, i: int) -> Object:
    service["metadata"]["annotations"] = {"endpoints.kubernetes.io/last-change-trigger-time": str(i)}
    return service


def _starts_and_ends(n_nodes: int, n_pods: int) -> list[tuple[Line, ...]]:
    """A pod that another scheduler placed, with the end of one that started RUNNING pods before."""
    lines = [json.dumps(load.pod(n_pods + i, n_nodes)).encode() for i in range(2 * RUNNING)]
    pairs = zip(lines, [*lines[RUNNING:], *lines[:RUNNING]], strict=True)
    return [((EventType.ADDED, "Pod", started), (EventType.DELETED, "Pod", ended)) for started, ended in pairs]
