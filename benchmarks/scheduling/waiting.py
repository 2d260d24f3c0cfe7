"""One run of the row `waiting`: thousands of pods wait in vain, events happen, and pods come that fit."""

import math
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.scheduling.run import Bindings, RunError, Running, cost, metrics, start
from benchmarks.scheduling.shapes import Document, Shape
from benchmarks.scheduling.storms import Request, Storm, fitting
from tests.integration.api_client import ApiError
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import wait_until

_BETWEEN = 0.25  # seconds between two pods that fit
_MAKERS = 8


@dataclass(frozen=True)
class Wait:
    """How long pods that fit waited while others did in vain.

    Attributes:
        bound, created: pods that fit.
        milliseconds: from the creation of each bound one to its binding, as the API server shows it, sorted.
        events: how many a second happened.
        share: of a core that the scheduler used meanwhile.
        peak_mib: its memory at most.
    """

    bound: int
    created: int
    milliseconds: tuple[float, ...]
    events: float
    share: float
    peak_mib: float

    def quantile(self, share: float) -> float:
        """Milliseconds; infinite where that many were not bound."""
        rank = int(share * (self.created - 1))
        return self.milliseconds[rank] if rank < len(self.milliseconds) else math.inf


def run_waiting(who: str, storm: Storm, rate: float, seconds: float, folder: Path, binary: Path) -> Wait:
    """Measure how long pods that fit wait while events happen that concern thousands of others.

    Args:
        rate: events a second.
        seconds: how long they happen; a pod that fits comes each quarter of a second.
    """
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(binary, folder / "control-plane"))
        plane.store(map(as_stored, [*storm.first, *storm.waiting]))
        scheduler = start(who, plane, folder, Shape([], []))
        stack.callback(scheduler.stop)
        wait_until(lambda: _n_tried(scheduler) >= len(storm.waiting), "all to be tried", seconds=600)
        wait_until(lambda: _n_told(plane) >= len(storm.waiting), "all conditions to be written", seconds=600, every=3)
        bindings = Bindings(plane, "fitting-")
        stack.callback(bindings.close)
        time.sleep(2)
        makers = stack.enter_context(closing(Makers(plane, storm.happens(), rate)))
        used, began = cost(scheduler.process.pid)[0], time.monotonic()
        created: dict[bytes, float] = {}
        while (now := time.monotonic()) < began + seconds:
            name = f"fitting-{len(created):05}"
            created[f'"name":"{name}'.encode()] = now
            plane.client.create(fitting(len(created) - 1))
            time.sleep(max(began + len(created) * _BETWEEN - time.monotonic(), 0))
        events = makers.n_made / seconds
        share = (cost(scheduler.process.pid)[0] - used) / seconds
        makers.close()
        time.sleep(1)
        if bindings.is_lost:
            raise RunError("the watch that counts was ended; try again")
        waits = sorted(1000 * (bindings.by_name[name] - at) for name, at in created.items() if name in bindings.by_name)
        return Wait(len(waits), len(created), tuple(waits), events, share, cost(scheduler.process.pid)[1])


def as_stored(document: Document) -> Document:
    """A document with what the API server adds to it."""
    metadata = {"uid": str(uuid.uuid4()), "creationTimestamp": "2026-01-01T00:00:00Z", **document["metadata"]}
    made: Document = {**document, "metadata": metadata}
    if document["kind"] == "Pod":
        spec = {"schedulerName": "default-scheduler", "restartPolicy": "Always", **document["spec"]}
        made |= {"spec": spec, "status": {"phase": "Pending", **document.get("status", {})}}
    return made


def _n_tried(scheduler: Running) -> float:
    pending = metrics(scheduler)
    waiting = ('scheduler_pending_pods{queue="unschedulable"}', 'scheduler_pending_pods{queue="gated"}')
    return sum(pending.get(name, 0) for name in waiting)


def _n_told(plane: ControlPlane) -> int:
    """How many pods have a condition that says why they wait; what is left to write would count as the storm's."""
    conditions = [pod.get("status", {}).get("conditions", ()) for pod in plane.client.read_list("Pod")["items"]]
    return sum(any(condition["type"] == "PodScheduled" for condition in of_pod) for of_pod in conditions)


class Makers:
    """Threads that let events happen at a rate.

    Attributes:
        n_made: events so far.
    """

    def __init__(self, plane: ControlPlane, happens: Iterator[list[Request]], rate: float) -> None:
        self.n_made = 0
        self._client = plane.new_client(_MAKERS)
        self._happens = happens
        self._rate = rate
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._began = time.monotonic()
        self._threads = [threading.Thread(target=self._go_on) for _ in range(_MAKERS)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End; may be called twice."""
        if not self._is_over.is_set():
            self._is_over.set()
            for thread in self._threads:
                thread.join()
            self._client.close()

    def _go_on(self) -> None:
        while True:
            with self._lock:
                requests, due = next(self._happens), self._began + self.n_made / self._rate
                self.n_made += 1
            if self._is_over.wait(max(due - time.monotonic(), 0)):
                return
            for method, path, body in requests:
                with suppress(ApiError):  # gone, or there already
                    self._client.call(method, path, body)
