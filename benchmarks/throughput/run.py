"""One run: a control plane of its own, nodes and pods, then a stock kube-scheduler, with or without our extender."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import load
from tests.integration.control_plane import ControlPlane
from tests.integration.extender_process import ExtenderProcess
from tests.integration.scheduler_process import SchedulerProcess, parsed_metrics

FIRST_POLL_SECONDS, POLL_SECONDS = 0.02, 0.5  # a look at its metrics costs kube-scheduler some 10 ms
TIMEOUT = "30s"
VERBS = ("filter", "prioritize")
SCHEDULED = 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"}'
CPU = "process_cpu_seconds_total"


UNCALLED = {
    "urlPrefix": "http://127.0.0.1:9",
    "filterVerb": "filter",
    "managedResources": [{"name": "example.com/nobody-asks-for-it"}],
}
"""With any extender kube-scheduler no longer reuses what it found for the last pod alike (opportunistic batching)."""


OTHER = {
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "weight": 1,
    "nodeCacheCapable": True,
    "httpTimeout": TIMEOUT,
}


class RunError(Exception):
    """A run that shows nothing."""


@dataclass(frozen=True)
class Row:
    """What kube-scheduler is given.

    Attributes:
        name: as in --rows.
        form: what it sends to our extender, `names` or `nodes`; `uncalled` for an extender whose resource no pod asks
            for, `bare` for one that decides nothing, `other` for somebody else's, both with names; empty for none.
        percentage: its percentageOfNodesToScore; 0 stands for its default.
    """

    name: str
    form: str
    percentage: int


ROWS = tuple(
    Row(f"{form or 'alone'}{f'-{percentage}' * bool(percentage)}", form, percentage)
    for percentage in (0, 100)
    for form in ("", "uncalled", "bare", "names", "nodes", "other")
)


@dataclass(frozen=True)
class Sample:
    """What has been counted so far.

    Attributes:
        seconds: of a clock.
        placed: pods that kube-scheduler has bound.
        calls: of each verb.
        call_seconds: in our extender, from the headers of a call to its answer, of each verb.
        cpu_seconds: by process.
    """

    seconds: float
    placed: float
    calls: dict[str, float]
    call_seconds: dict[str, float]
    cpu_seconds: dict[str, float]


@dataclass(frozen=True)
class Figures:
    """What one run showed, from the first bound pod to the last, or until the time was over.

    Attributes:
        placed: pods bound in that time.
        seconds: how long it took.
        call_ms: by verb, the mean time of a call in our extender.
        share: our extender's share of the time.
        cpu_ms: by process, CPU time for each pod.
    """

    placed: int
    seconds: float
    call_ms: dict[str, float]
    share: float
    cpu_ms: dict[str, float]

    @property
    def pods_per_second(self) -> float:
        return self.placed / self.seconds

    def as_document(self) -> dict[str, Any]:
        """All figures, for --json."""
        return {"podsPerSecond": self.pods_per_second, **asdict(self)}


def run(
    row: Row, folder: Path, binary: Path, plugin: str, other: str, n_nodes: int, n_pods: int, longest: float
) -> Figures:
    """Measure once.

    Args:
        folder: empty; takes logs and data.
        binary: the test control plane.
        plugin: what the extender serves.
        other: URL of the other extender.
        longest: seconds after which the run ends with as many pods as are placed.
    Raises:
        RunError: no pod was placed in the time that counts.
        NotInTime: a program did not start.
    """
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(binary, folder / "control-plane"))
        plane.client.create_all([_new(load.node(i)) for i in range(n_nodes)])
        plane.client.create_all([_pending(i) for i in range(n_pods)])
        extender = _extender(row, plane, folder / "extender", plugin) if row.form in ("names", "nodes") else None
        config: dict[str, Any] = {"percentageOfNodesToScore": row.percentage}
        if row.form == "uncalled":
            config["extenders"] = [UNCALLED]
        if row.form == "bare":
            other = stack.enter_context(bare_extender())
        if row.form in ("bare", "other"):
            config["extenders"] = [{**OTHER, "urlPrefix": other}]
        if extender:
            stack.callback(extender.stop)
            config["extenders"] = [{**extender.stanza, "httpTimeout": TIMEOUT}]
        (folder / "kube-scheduler").mkdir()
        scheduler = SchedulerProcess(plane, folder / "kube-scheduler", config)
        stack.callback(scheduler.stop)
        _wait_for(scheduler, 1, FIRST_POLL_SECONDS, longest)
        first = _sample(plane, scheduler, extender)
        _wait_for(scheduler, n_pods, POLL_SECONDS, longest)
        return _figures(first, _sample(plane, scheduler, extender))


@contextmanager
def bare_extender() -> Iterator[str]:
    """Gives its URL."""
    command = [sys.executable, str(Path(__file__).with_name("bare.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _extender(row: Row, plane: ControlPlane, folder: Path, plugin: str) -> ExtenderProcess:
    options = ["--http-timeout", TIMEOUT]
    if row.form == "names":
        options += ["--kubeconfig", str(plane.kubeconfig(folder.parent / "kubeconfig"))]
    return ExtenderProcess(folder, [plugin], *options, record=False)


def _new(document: dict[str, Any]) -> dict[str, Any]:
    """An object as it is sent to be created: the server makes up the rest."""
    made_up = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
    metadata = {name: value for name, value in document["metadata"].items() if name not in made_up}
    return {**document, "metadata": metadata}


def _pending(i: int) -> dict[str, Any]:
    """A pod of benchmarks/load.py before it was placed."""
    pod = _new(load.pod(i, 1))
    del pod["status"], pod["spec"]["nodeName"]
    pod["metadata"]["namespace"] = pod["spec"]["serviceAccountName"] = "default"
    return pod


def _wait_for(scheduler: SchedulerProcess, n_placed: int, poll_seconds: float, longest: float) -> None:
    """Until so many pods are placed, or so much time is over."""
    end = time.monotonic() + longest
    while scheduler.metrics().get(SCHEDULED, 0) < n_placed and time.monotonic() < end:
        time.sleep(poll_seconds)


def _sample(plane: ControlPlane, scheduler: SchedulerProcess, extender: ExtenderProcess | None) -> Sample:
    seconds, of_scheduler = time.monotonic(), scheduler.metrics()
    of_extender = parsed_metrics(extender.get("/metrics")) if extender else {}
    duration = "kubesched_extender_request_duration_seconds"
    return Sample(
        seconds,
        of_scheduler.get(SCHEDULED, 0),
        {verb: of_extender.get(f'{duration}_count{{verb="{verb}"}}', 0) for verb in VERBS},
        {verb: of_extender.get(f'{duration}_sum{{verb="{verb}"}}', 0) for verb in VERBS},
        {
            "kube-scheduler": of_scheduler[CPU],
            "extender": of_extender.get(CPU, 0),
            "API server": parsed_metrics(plane.client.text("/metrics"))[CPU],
        },
    )


def _figures(first: Sample, last: Sample) -> Figures:
    placed, seconds = last.placed - first.placed, last.seconds - first.seconds
    if not placed:
        raise RunError(f"{last.placed:g} pods were placed, and then none: ask for more --pods or --seconds")
    in_calls = {verb: last.call_seconds[verb] - first.call_seconds[verb] for verb in VERBS}
    calls = {verb: last.calls[verb] - first.calls[verb] for verb in VERBS}
    return Figures(
        int(placed),
        seconds,
        {verb: 1000 * in_calls[verb] / calls[verb] for verb in VERBS if calls[verb]},
        sum(in_calls.values()) / seconds,
        {name: 1000 * (used - first.cpu_seconds[name]) / placed for name, used in last.cpu_seconds.items()},
    )
