"""Reads openb, the trace of a GPU cluster that Alibaba published in 2023: a list of nodes and lists of pods, as CSV.

Rule: https://github.com/alibaba/clusterdata, cluster-trace-gpu-v2023. CPU is in milli-CPU, memory in MiB, a share of a
GPU in thousandths, times in seconds.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from kubesched.api import Node
from kubesched.documents import count
from kubesched.traces.csv_table import CsvColumns, CsvRow, SeenNames, read_rows
from kubesched.traces.gpu_shares import GPU_MODEL, WHOLE, GpuRequest, gpus_of_node
from kubesched.traces.made_objects import traced_node, traced_pod
from kubesched.traces.trace import Arrival, Trace

NODES: Final = CsvColumns("openb nodes", ("sn", "cpu_milli", "memory_mib", "gpu"), ("model",))
PODS: Final = CsvColumns(
    "openb pods",
    ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"),
    ("gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time"),
)
_UNREAD: Final = ("qos", "pod_phase")


def read_nodes(text: str, where: str, *, shares: bool) -> Trace:
    """The trace with the nodes of a list."""
    names = SeenNames("node")
    return Trace(nodes=tuple(_node(row, names, shares=shares) for row in read_rows(text, where, NODES)))


def _node(row: CsvRow, names: SeenNames, *, shares: bool) -> Node:
    names.add(name := row.name("sn"), row.where)
    room = {"cpu": f"{row.amount('cpu_milli')}m", "memory": f"{row.amount('memory_mib')}Mi"}
    model = row.text("model")
    labels = {GPU_MODEL: model} if model else {}
    return traced_node(name, {**room, **gpus_of_node(row.amount("gpu"), shares=shares)}, labels)


def read_pods(text: str, where: str, *, shares: bool) -> Trace:
    """The trace with the pods of a list, in the order of their times, and in that of the list at equal times."""
    names = SeenNames("pod")
    left_out: Counter[str] = Counter()
    arrivals = [_arrival(row, names, left_out, shares=shares) for row in read_rows(text, where, PODS)]
    arrivals.sort(key=lambda one: one.at)
    return Trace(arrivals=tuple(arrivals), notes=tuple(_notes(left_out, shares=shares)))


def _arrival(row: CsvRow, names: SeenNames, left_out: Counter[str], *, shares: bool) -> Arrival:
    names.add(name := row.name("name"), row.where)
    for column in _UNREAD:
        left_out[column] += bool(row.text(column))
    gpus = _gpus(row)
    left_out["share"] += gpus.is_part
    room = {"cpu": f"{row.amount('cpu_milli')}m", "memory": f"{row.amount('memory_mib')}Mi"}
    pod = traced_pod(
        name,
        {**room, **gpus.requests(shares=shares)},
        annotations=gpus.annotations(),
        spec={"affinity": gpus.affinity()},
    )
    at = row.seconds("creation_time")
    left_out["time"] += at is None
    return Arrival(at or 0.0, pod, _duration(row, at or 0.0, left_out), comes_again=True)


def _gpus(row: CsvRow) -> GpuRequest:
    """The GPUs of a pod; the models without repetition, as the list has some twice."""
    n, share = row.amount("num_gpu"), row.amount("gpu_milli")
    if share > WHOLE or (n and not share):
        raise row.fault("gpu_milli", f"1 to {WHOLE} thousandths of each GPU")
    return GpuRequest(n, share, tuple(dict.fromkeys(filter(None, row.text("gpu_spec").split("|")))))


def _duration(row: CsvRow, at: float, left_out: Counter[str]) -> float | None:
    """From the time at which the pod was bound to its deletion; from its creation for one that was never bound."""
    bound, deleted = row.seconds("scheduled_time"), row.seconds("deletion_time")
    if deleted is None:
        left_out["end"] += at > 0
        return None
    left_out["unbound"] += bound is None
    begin = at if bound is None else bound
    if deleted < begin:
        since = "creation_time" if bound is None else "scheduled_time"
        raise row.fault("deletion_time", f"{since} {begin:g} or later, as durations are not negative")
    return deleted - begin


def _notes(left_out: Counter[str], *, shares: bool) -> Iterator[str]:
    for column in _UNREAD:
        if n := left_out[column]:
            yield f"{column} is not read: {count(n, 'pod')}"
    if n := left_out["unbound"]:
        yield f"never bound in the trace: {count(n, 'pod')}, which run for the time from creation to deletion"
    if n := left_out["end"]:
        yield f"without deletion_time: {count(n, 'pod')}, which never end"
    if n := left_out["time"]:
        yield f"without creation_time: {count(n, 'pod')}, which come at 0"
    if n := left_out["share"]:
        what = "which request no whole GPU" if shares else "each of which requests a whole GPU"
        yield f"a part of a GPU is an annotation: {count(n, 'pod')}, {what}"
