"""The trace of spot capacity: each worker of a job is a pod, whose priority says what kind of job it is."""

import io

import pytest

from kubesched.errors import InputError
from kubesched.replay import replay
from kubesched.traces import GPU, GPU_MODEL, GPU_SHARE, Trace, models_asked, read_trace

NODES = "gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,1,128,0\nA100-SXM4-80GB,8,128,3\n"
JOBS = """job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type
1,13,A100-SXM4-80GB,20,4,2,0,1000,Spot
2,57,A100-SXM4-80GB,8,8,1,100,50,HP
3,13,A10,1.5,0.5,1,10,20,HP
"""


def read(jobs: str = JOBS) -> Trace:
    return read_trace(io.BytesIO(jobs.encode()), io.BytesIO(NODES.encode()))


def test_workers_are_pods_in_the_namespace_of_their_organization() -> None:
    trace = read()
    assert [(one.pod.key, one.at, one.duration, one.pod.priority) for one in trace.arrivals] == [
        ("org-13/job-1-0", 0, 1000, 0),
        ("org-13/job-1-1", 0, 1000, 0),
        ("org-13/job-3-0", 10, 20, 1000),
        ("org-57/job-2-0", 100, 50, 1000),
    ]
    worker, part = trace.arrivals[0].pod, trace.arrivals[2].pod
    assert worker.requests == {"cpu": 20_000, GPU: 4}
    assert models_asked(worker) == ("A100-SXM4-80GB",)
    assert (part.requests, part.annotations) == ({"cpu": 1500, GPU: 1}, {GPU_SHARE: "500"})
    assert [(node.name, node.labels[GPU_MODEL]) for node in trace.nodes] == [
        ("node-0", "A10"),
        ("node-3", "A100-SXM4-80GB"),
    ]


def test_a_job_of_high_priority_evicts_spot_jobs_which_come_again() -> None:
    answer = replay(read())
    assert answer.n_evicted == 2
    assert {one.pod for one in answer.pods if one.bound == 150} == {"org-13/job-1-0", "org-13/job-1-1"}


def test_what_is_left_out_is_counted() -> None:
    assert read().notes == (
        "the workers of a job are single pods, not a gang: 1 job",
        "a part of a GPU is an annotation: 1 pod",
        "memory is not in the list of nodes: no pod requests any",
    )


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        (",HP", ",LP", 'line 3: job_type: found "LP"; expected HP or Spot'),
        (",8,8,", ",8,1.5,", 'line 3: gpu_request: found "1.5"; expected a part of one GPU, or a whole number of them'),
        (",100,50,", ",100,-50,", 'line 3: duration: found "-50"; expected a number of seconds, 0 or more'),
        (",100,50,", ",,50,", 'line 3: submit_time: found ""; expected a number of seconds, 0 or more'),
        (",worker_num", "", "no column worker_num; spot jobs have job_name"),
    ],
)
def test_a_fault_is_one_sentence_with_its_line(wrong: str, right: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(JOBS.replace(wrong, right, 1))
    assert str(caught.value).startswith(f"<stream>: {message}")
