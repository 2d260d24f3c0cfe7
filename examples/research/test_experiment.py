"""The experiment and its table, on the sample."""

import json
from functools import cache
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pytest
import table
from experiment import LOADS, POLICIES, Run, arrivals, run
from fragmentation import TaskClass, Workload, class_of, most_popular
from gpu_share import MOST

from kubesched import TieBreak, read_trace
from kubesched.testing import make_pod
from kubesched.traces import GPU_SHARE

SAMPLE = Path(__file__).parent / "sample"
TRACE = read_trace(SAMPLE / "nodes.csv", SAMPLE / "pods.csv", gpu_shares=True)
TOTAL = sum(int(node.status.allocatable[GPU_SHARE]) for node in TRACE.nodes)
PODS = [arrival.pod for arrival in TRACE.arrivals]


@cache
def ran(policy: str) -> Run:
    return run(TRACE, policy, 42)


def test_pods_arrive_until_the_load_is_reached_each_with_a_name_of_its_own():
    came = list(arrivals(PODS, TOTAL, Random(1)))
    asked = sum(pod.requests.get(GPU_SHARE, 0) for pod in came)
    assert 1.3 * TOTAL - 8000 < asked <= 1.3 * TOTAL
    assert len({pod.uid for pod in came}) == len({pod.key for pod in came}) == len(came)
    assert [pod.uid for pod in arrivals(PODS, TOTAL, Random(1))] == [pod.uid for pod in came]
    assert [pod.uid for pod in arrivals(PODS, TOTAL, Random(2))] != [pod.uid for pod in came]


def test_each_pod_of_the_list_arrives_once_before_any_arrives_again():
    few = PODS[:20]
    came = [pod.name.rpartition("-")[0] for pod in arrivals(few, TOTAL, Random(1))]
    assert sorted(came[:20]) == sorted(pod.name for pod in few)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_measures_what_it_says(policy: str):
    result = ran(policy)
    assert set(result.figures) == set(LOADS)
    for figures in result.figures.values():
        free = 100 - figures.gpu_allocation
        assert figures.fragmented_gpus == pytest.approx(free * figures.fragmentation_ratio / 100, abs=0.1)
    assert result.figures[90].gpu_allocation <= 90.5
    assert result.figures[130].gpu_allocation > result.figures[90].gpu_allocation


def test_a_run_can_be_repeated():
    again = run(TRACE, "BestFit", 42)
    assert msgspec.structs.replace(again, cpu_seconds=ran("BestFit").cpu_seconds) == ran("BestFit")


def test_fgd_leaves_the_least_fragmented():
    at_90 = {policy: ran(policy).figures[90].fragmented_gpus for policy in ("Random", "BestFit", "FGD")}
    assert at_90["FGD"] < at_90["BestFit"] < at_90["Random"]


def test_a_random_tie_break_gives_other_figures():
    assert run(TRACE, "GpuPacking", 42, tie_break=TieBreak.RANDOM).figures != ran("GpuPacking").figures


# --- fragmentation ---


def test_the_most_popular_classes_have_the_part_of_the_tasks_that_is_asked_for():
    common, rare, rarest = (TaskClass(cpu, 1000, 1) for cpu in (1, 2, 3))
    classes = most_popular([common] * 90 + [rare] * 8 + [rarest] * 2)
    assert [(one.cpu, round(one.popularity, 3)) for one in classes] == [(1, 0.918), (2, 0.082)]


def test_the_class_of_a_pod_is_what_it_requests():
    share, none = make_pod("a", requests={"cpu": "2", GPU_SHARE: 300}), make_pod("b", requests={"cpu": "500m"})
    assert class_of(share) == TaskClass(2000, 300, 1)
    assert class_of(none) == TaskClass(500, 1000, 0)


def test_the_class_of_a_pod_has_the_models_that_it_would_take(tmp_path: Path):
    file = tmp_path / "pods.csv"
    file.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\na,1000,1,2,1000,T4|A10\n")
    (arrival,) = read_trace(file, gpu_shares=True).arrivals
    assert class_of(arrival.pod) == TaskClass(1000, 1000, 2, ("T4", "A10"))


def fragmented(classes: list[TaskClass], cpu: int, *room: int) -> float:
    column = np.array([[*room, *[0] * (MOST - len(room))]]).T
    n_wanting = sum(one.n_gpus > 0 for one in classes)
    return float(Workload(classes).fragmented(np.array([cpu]), column, np.ones((n_wanting, 1), dtype=bool))[0])


def test_fragmentation_is_what_the_classes_cannot_use():
    half, two = TaskClass(1000, 500, 1), TaskClass(1000, 1000, 2)
    assert fragmented([half], 1000, 1000, 300, 0) == 300, "one GPU has too little"
    assert fragmented([half], 999, 1000, 300, 0) == 1300, "there is no CPU for it"
    assert fragmented([two], 1000, 1000, 999) == 1999, "one GPU is not enough"
    assert fragmented([two], 1000, 1000, 1000, 1) == 1
    assert fragmented([TaskClass(1, 0, 0)], 1000, 1000) == 1000, "a task without GPUs uses none"


def test_fragmentation_is_an_expectation():
    half, two = TaskClass(1, 500, 1, popularity=0.75), TaskClass(1, 1000, 2, popularity=0.25)
    assert fragmented([half, two], 1, 1000, 300) == 0.75 * 300 + 0.25 * 1300


# --- the table ---

PUBLISHED = """workload,figure,arrived_load_percent,policy,mean,standard_deviation,seeds
sample,gpu_allocation_percent,130,05-BestFit,50.00,0.50,10
sample,fragmentation_ratio_percent,90,05-BestFit,50.00,90.00,10
"""


def lines_of(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    table.main(["--nodes", str(SAMPLE / "nodes.csv"), *options, f"sample={SAMPLE / 'pods.csv'}"])
    return capsys.readouterr().out.splitlines()


def test_the_table_has_ours_beside_theirs_and_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "published.csv").write_text(PUBLISHED)
    results = tmp_path / "runs.jsonl"
    options = ["--published", str(tmp_path / "published.csv"), "--results", str(results), "--policies", "BestFit"]
    first = lines_of(capsys, *options, "--seeds", "1")
    assert first[2].startswith("| sample | BestFit | 50.00 ± 0.50 | ")
    assert "| **+" in first[2], "off by more than a standard deviation"
    assert first[2].count("**") == 2, "the other figure is within"
    results.write_bytes(results.read_bytes() + b'{"workload": "sam')  # as if the program had been killed
    second = lines_of(capsys, *options, "--seeds", "2")
    rows = [json.loads(line) for line in results.read_text().splitlines() if line.endswith("}")]
    assert [row["run"]["seed"] for row in rows] == [42, 43]
    assert second[-1].startswith("2 runs")
    assert len(second) == len(first)
