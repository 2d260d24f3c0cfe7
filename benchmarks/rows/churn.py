"""What happens in a busy cluster while a scheduler decides: updates without news; pods of others start and end."""

import json
import time
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from benchmarks import load
from kubesched import Simulator
from kubesched.api import EventType, WatchEvent, decode_object
from kubesched.framework import Decision

UPDATES_A_SECOND = 500
STARTS_A_SECOND = 50
PREPARED = 2000
RUNNING = 200

Object = dict[str, Any]
Line = tuple[EventType, str, bytes]  # what happened, kind, JSON


class Churn:
    """Applies the events that are due after each decision; seconds are CPU time of this process.

    Args:
        n_nodes, n_pods: of the cluster that `inputs.churning` wrote.
    """

    def __init__(self, simulator: Simulator, n_nodes: int, n_pods: int) -> None:
        self._simulator = simulator
        self._updates = cycle(list(_updates(n_nodes, n_pods)))
        self._starts_and_ends = cycle(_starts_and_ends(n_nodes, n_pods))
        self._began = 0.0
        self.n_updates = self.n_starts = 0

    def begin(self) -> None:
        """Start the clock."""
        self._began = time.process_time()

    def after(self, decision: Decision) -> None:
        """Take in what has come since the last decision."""
        seconds = time.process_time() - self._began
        while self.n_updates < seconds * UPDATES_A_SECOND:
            self.n_updates += 1
            self._tell(next(self._updates))
        while self.n_starts < seconds * STARTS_A_SECOND:
            self.n_starts += 1
            self._tell(next(self._starts_and_ends))  # one starts
            self._tell(next(self._starts_and_ends))  # an earlier one ends

    def _tell(self, line: Line) -> None:
        type_, kind, raw = line
        event = WatchEvent(type_, kind, decode_object(kind, raw))
        self._simulator.scheduler.handle_event(event)


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


def _starts_and_ends(n_nodes: int, n_pods: int) -> list[Line]:
    """A pod that another scheduler placed, and the end of one that started RUNNING pods before, in turn."""
    lines = [json.dumps(load.pod(n_pods + i, n_nodes)).encode() for i in range(2 * RUNNING)]
    found: list[Line] = []
    for started, ended in zip(lines, [*lines[RUNNING:], *lines[:RUNNING]], strict=True):
        found += [(EventType.ADDED, "Pod", started), (EventType.DELETED, "Pod", ended)]
    return found
