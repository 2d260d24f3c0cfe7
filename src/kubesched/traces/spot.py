"""Reads the trace of GPU jobs on spot capacity that Alibaba published in 2026: a list of nodes and one of jobs, as CSV.

Rule: https://github.com/alibaba/clusterdata, cluster-trace-v2026-spot-gpu. CPU is in cores, times are in seconds. A job
has some workers, each of which requests its cpu and GPUs.
"""

from collections import Counter
from typing import Final

from kubesched.api import Node
from kubesched.documents import count
from kubesched.traces.csv_table import CsvColumns, CsvRow, SeenNames, read_rows
from kubesched.traces.gpu_shares import GPU_MODEL, WHOLE, GpuRequest, gpus_of_node
from kubesched.traces.made_objects import traced_node, traced_pod
from kubesched.traces.trace import Arrival, Trace

SPOT_NODES: Final = CsvColumns("spot nodes", ("node_name", "gpu_model", "gpu_capacity_num", "cpu_num"))
SPOT_JOBS: Final = CsvColumns(
    "spot jobs",
    ("job_name", "gpu_model", "cpu_request", "gpu_request", "worker_num", "submit_time", "duration", "job_type"),
    ("organization",),
)
_PRIORITIES: Final = {"HP": 1000, "Spot": 0}
"""The priority of each type of job: one of high priority evicts spot jobs."""


def read_spot_nodes(text: str, where: str, *, shares: bool) -> Trace:
    """The trace with the nodes of a list."""
    names = SeenNames("node")
    nodes = tuple(_node(row, names, shares=shares) for row in read_rows(text, where, SPOT_NODES))
    return Trace(nodes=nodes, notes=("memory is not in the list of nodes: no pod requests any",))


def _node(row: CsvRow, names: SeenNames, *, shares: bool) -> Node:
    names.add(name := row.name("node_name"), row.where)
    model = row.text("gpu_model")
    room = {"cpu": f"{row.amount('cpu_num')}", **gpus_of_node(row.amount("gpu_capacity_num"), shares=shares)}
    return traced_node(f"node-{name}", room, {GPU_MODEL: model} if model else {})


def read_spot_jobs(text: str, where: str, *, shares: bool) -> Trace:
    """The trace with the pods of a list of jobs, in the order of their times."""
    names = SeenNames("job")
    counts: Counter[str] = Counter()
    arrivals = [one for row in read_rows(text, where, SPOT_JOBS) for one in _workers(row, names, counts, shares=shares)]
    arrivals.sort(key=lambda one: one.at)
    notes = [f"the workers of a job are single pods, not a gang: {count(counts['gangs'], 'job')}"]
    if n := counts["share"]:
        notes.append(f"a part of a GPU is an annotation: {count(n, 'pod')}")
    return Trace(arrivals=tuple(arrivals), notes=tuple(notes))


def _workers(row: CsvRow, names: SeenNames, counts: Counter[str], *, shares: bool) -> list[Arrival]:
    names.add(name := row.name("job_name"), row.where)
    if (kind := row.text("job_type")) not in _PRIORITIES:
        raise row.fault("job_type", " or ".join(_PRIORITIES))
    n_workers, at, duration = row.amount("worker_num"), row.seconds("submit_time"), row.seconds("duration")
    if at is None:
        raise row.fault("submit_time", "a number of seconds, 0 or more")
    counts["gangs"] += n_workers > 1
    gpus, cpu = _gpus(row), row.seconds("cpu_request") or 0.0
    counts["share"] += n_workers * gpus.is_part
    namespace = f"org-{row.text('organization')}" if row.text("organization") else "default"
    return [
        Arrival(
            at,
            traced_pod(
                f"job-{name}-{worker}",
                {"cpu": f"{round(1000 * cpu)}m", **gpus.requests(shares=shares)},
                namespace=namespace,
                annotations=gpus.annotations(),
                spec={"affinity": gpus.affinity(), "priority": _PRIORITIES[kind]},
            ),
            duration,
            comes_again=True,
        )
        for worker in range(n_workers)
    ]


def _gpus(row: CsvRow) -> GpuRequest:
    """The GPUs of a worker: whole ones, or a part of one."""
    asked = row.seconds("gpu_request") or 0.0
    if asked > 1 and not asked.is_integer():
        raise row.fault("gpu_request", "a part of one GPU, or a whole number of them")
    share = WHOLE if asked >= 1 else round(WHOLE * asked)
    n = int(asked) if asked >= 1 else int(share > 0)
    model = row.text("gpu_model")
    return GpuRequest(n, share, (model,) if model else ())
