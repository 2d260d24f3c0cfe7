"""One run: a separate control plane, the objects of a shape, then one scheduler that places them."""

import http.client
import json
import os
import re
import socket
import ssl
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from benchmarks.scheduling.shapes import Document, Shape
from tests.integration.control_plane import ControlPlane
from tests.integration.extender_process import ExtenderProcess
from tests.integration.live_process import LiveProcess
from tests.integration.processes import Process
from tests.integration.scheduler_process import NO_FIELDS, SchedulerProcess

TICKS = os.sysconf("SC_CLK_TCK")
BARE = Path(__file__).with_name("bare.py")
OPEN = "--authorization-always-allow-paths=/*"
RATE = {"qps": 5000, "burst": 5000}  # kube-scheduler's default, 50, is what would be measured otherwise


class RunError(Exception):
    """A run that shows nothing."""


class Running(Protocol):
    """A scheduler that was started."""

    process: Process

    def stop(self) -> None: ...


@dataclass(frozen=True)
class Figures:
    """What one run showed.

    Attributes:
        placed: measured pods that were bound.
        seconds: from the first of them to the last.
        first_after: seconds from the start of the process to the first binding.
        cpu_seconds: of the scheduler, from its start to its last binding.
        peak_mib: its memory at most.
        quantiles: p99 in milliseconds, by histogram.
    """

    placed: int
    seconds: float
    first_after: float
    cpu_seconds: float
    peak_mib: float
    quantiles: Mapping[str, float]

    @property
    def pods_per_second(self) -> float:
        return (self.placed - 1) / self.seconds

    def as_document(self) -> dict[str, Any]:
        """All figures, for --json."""
        return {"podsPerSecond": self.pods_per_second, **asdict(self)}


class Bare:
    """The bare client."""

    def __init__(self, plane: ControlPlane, folder: Path, n_pods: int, n_nodes: int) -> None:
        kubeconfig = plane.kubeconfig(folder / "kubeconfig")
        self.process = Process("bare", [sys.executable, BARE, kubeconfig, str(n_pods), str(n_nodes)], folder / "log")

    def stop(self) -> None:
        self.process.stop()


class Bindings:
    """Counts the pods that get a node, as the API server shows it, in a separate thread.

    Attributes:
        times: when each of them got it, in order.
        by_name: the same by the name, as JSON has it.
        is_lost: whether the API server ended the watch, as it does with clients that it finds slow.
    """

    def __init__(self, plane: ControlPlane, prefix: str = "measured-") -> None:
        self.by_name: dict[bytes, float] = {}
        self.is_lost = False
        self._is_closed = False
        self._mark = f'"name":"{prefix}'.encode()
        version = plane.client.read_list("Pod", limit="1")["metadata"]["resourceVersion"]
        url = urlsplit(plane.url)
        trusted = ssl.create_default_context(cafile=plane.ca_file)
        trusted.verify_flags &= ~ssl.VERIFY_X509_STRICT
        self._connection = http.client.HTTPSConnection(url.hostname or "", url.port, context=trusted)
        path = f"/api/v1/pods?watch=1&resourceVersion={version}&fieldSelector=spec.nodeName%21%3D"
        self._connection.request("GET", path, headers={"Authorization": f"Bearer {plane.token}"})
        self._socket = self._connection.sock
        self._answer = self._connection.getresponse()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def times(self) -> list[float]:
        return list(self.by_name.values())

    def close(self) -> None:
        self._is_closed = True
        assert self._socket
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread; close would wait for it

    def _read(self) -> None:
        try:
            for line in self._answer:
                start = line.find(self._mark)
                if start < 0:
                    continue
                name = line[start : line.index(b'"', start + 8)]
                self.by_name.setdefault(name, time.monotonic())
        except (OSError, ValueError, AttributeError, http.client.HTTPException):  # closed
            pass
        self.is_lost = not self._is_closed


def run(who: str, shape: Shape, folder: Path, binary: Path, longest: float) -> Figures:
    """Measure once: everything is there when the scheduler starts.

    Args:
        who: `kube-scheduler`, `kube-scheduler-100`, `kubesched` or `bare`.
        folder: empty; takes logs and data.
        binary: the test control plane.
        longest: seconds after which the run ends with as many pods as are placed.
    Raises:
        RunError: fewer than two pods were placed.
        NotInTime: a program did not start.
    """
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(binary, folder / "control-plane"))
        _create(plane, shape.first)
        plane.client.create_all(shape.pods)
        bindings = Bindings(plane)
        stack.callback(bindings.close)
        config = stack.enter_context(_extender(plane, folder, shape.plugin))
        began = time.monotonic()
        scheduler = start(who, plane, folder, shape, config)
        stack.callback(scheduler.stop)
        stack.enter_context(_background(plane, shape))
        _wait_for(bindings, scheduler, len(shape.pods), began + longest)
        return _figures(bindings.times, began, scheduler)


def run_arriving(
    who: str, first: list[Document], pods: list[Document], rate: float, folder: Path, binary: Path
) -> Figures:
    """Measure how long pods take that come at a rate, with the scheduler's own histograms."""
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(binary, folder / "control-plane"))
        _create(plane, first)
        bindings = Bindings(plane)
        stack.callback(bindings.close)
        scheduler = start(who, plane, folder, Shape(first, pods))
        stack.callback(scheduler.stop)
        time.sleep(3)  # both have begun to wait by then
        began = time.monotonic()
        for i in range(0, len(pods), 10):
            time.sleep(max(began + i / rate - time.monotonic(), 0))
            plane.client.create_all(pods[i : i + 10])
        _wait_for(bindings, scheduler, len(pods), time.monotonic() + 60)
        figures = _figures(bindings.times, began, scheduler)
        return replace(figures, quantiles=quantiles(metrics(scheduler)))


def run_start(who: str, first: list[Document], pods: list[Document], folder: Path, binary: Path) -> Figures:
    """Measure how long a scheduler takes to start in a large cluster, until it has placed two pods."""
    return run(who, Shape(first, pods), folder, binary, 300)


HISTOGRAMS = {
    "algorithm": "scheduler_scheduling_algorithm_duration_seconds_bucket",
    "attempt": "scheduler_scheduling_attempt_duration_seconds_bucket",
    "pod": "scheduler_pod_scheduling_sli_duration_seconds_bucket",
}


def quantiles(metrics: Mapping[str, float], share: float = 0.99) -> dict[str, float]:
    """The quantile of each histogram in milliseconds, between the limits of its bucket, as Prometheus computes it."""
    return {name: 1000 * _quantile(metrics, family, share) for name, family in HISTOGRAMS.items()}


def _quantile(metrics: Mapping[str, float], family: str, share: float) -> float:
    buckets: dict[float, float] = {}
    for name, value in metrics.items():
        if name.startswith(family) and ('result="scheduled"' in name or "result=" not in name):
            limit = float(re.findall(r'[{,]le="([^"]*)"', name)[0])
            buckets[limit] = buckets.get(limit, 0) + value
    if not buckets or not buckets[float("inf")]:
        return float("nan")
    rank, lower, below = share * buckets[float("inf")], 0.0, 0.0
    for limit, count in sorted(buckets.items()):
        if count >= rank:
            return lower if limit == float("inf") else lower + (limit - lower) * (rank - below) / (count - below)
        lower, below = limit, count
    return lower


def _create(plane: ControlPlane, documents: list[Document]) -> None:
    """Create things, those of one kind at once, and give them the status that creation drops."""
    for kind in dict.fromkeys(document["kind"] for document in documents):
        plane.client.create_all([document for document in documents if document["kind"] == kind])
    for document in documents:
        if document["kind"] in ("PersistentVolume", "PersistentVolumeClaim"):
            name, namespace = document["metadata"]["name"], document["metadata"].get("namespace", "")
            plane.client.patch(document["kind"], name, {"status": document["status"]}, namespace, "status")


@contextmanager
def _extender(plane: ControlPlane, folder: Path, plugin: str) -> Iterator[dict[str, Any]]:
    """Start an extender, if there is a plugin for it. Yields: what a scheduler's configuration needs for it."""
    if not plugin:
        yield {}
        return
    options = ("--kubeconfig", str(plane.kubeconfig(folder / "kubeconfig")))
    extender = ExtenderProcess(folder / "extender", [plugin], *options, record=False)
    try:
        yield {"extenders": [extender.stanza]}
    finally:
        extender.stop()


def start(who: str, plane: ControlPlane, folder: Path, shape: Shape, config: Mapping[str, Any] = NO_FIELDS) -> Running:
    """Start a scheduler, or the bare client."""
    own = folder / who
    own.mkdir()
    if who == "bare":
        return Bare(plane, own, len(shape.pods), sum(document["kind"] == "Node" for document in shape.first))
    if who == "kubesched":
        return LiveProcess(plane, own, config, OPEN)
    percentage = int(who.rpartition("-")[2]) if who[-1].isdigit() else 0
    return SchedulerProcess(plane, own, {"percentageOfNodesToScore": percentage, **config})


@contextmanager
def _background(plane: ControlPlane, shape: Shape) -> Iterator[None]:
    """Let the background of a shape happen."""
    is_over = threading.Event()

    def go_on() -> None:
        for what, document in shape.background():
            if is_over.wait(shape.seconds):
                return
            if what == "create":
                plane.client.create(json.loads(json.dumps(document)))
            else:
                metadata = document["metadata"]
                plane.client.delete(document["kind"], metadata["name"], metadata.get("namespace", ""))

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _wait_for(bindings: Bindings, scheduler: Running, n_pods: int, end: float) -> None:
    while len(bindings.times) < n_pods and time.monotonic() < end and scheduler.process.is_running:
        if bindings.is_lost:
            raise RunError(f"the watch that counts was ended after {len(bindings.times)} pods; try again")
        time.sleep(0.05)


def _figures(times: list[float], began: float, scheduler: Running) -> Figures:
    if len(times) < 2:
        raise RunError(
            f"{len(times)} pods were placed; the end of the log:\n" + "\n".join(scheduler.process.logs()[-5:])
        )
    cpu_seconds, peak_mib = cost(scheduler.process.pid)
    return Figures(len(times), times[-1] - times[0], times[0] - began, cpu_seconds, peak_mib, {})


def cost(pid: int) -> tuple[float, float]:
    """CPU seconds of a process so far, and its memory at most in MiB."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # the bare client ends with its last pod
        return float("nan"), float("nan")
    peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
    return (int(fields[11]) + int(fields[12])) / TICKS, int(peak.split()[1]) / 1024


def metrics(scheduler: Running) -> dict[str, float]:
    """What a scheduler says of itself."""
    assert isinstance(scheduler, SchedulerProcess | LiveProcess)
    return scheduler.metrics()
