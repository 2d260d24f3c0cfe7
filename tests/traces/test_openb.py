"""openb lists become nodes and pods as an API server has them, with times, and each fault is one sentence."""

import gzip
import io
from pathlib import Path

import pytest

from kubesched.errors import InputError
from kubesched.plugins import RequiredNodeAffinity
from kubesched.session import Simulator
from kubesched.traces import GPU, GPU_MODEL, GPU_SHARE, Trace, read_trace

NODES = """sn,cpu_milli,memory_mib,gpu,model
n1,64000,262144,2,P100
n2,32000,131072,0,
"""
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
late,8000,30517,0,0,,BE,Running,500,900,520
early,12000,16384,1,460,,LS,Running,100,400.0,100
picky,1000,1024,2,1000,V100M16|P100|P100,LS,Pending,100,160,
"""


def stream(text: str, name: str = "pods.csv") -> io.BytesIO:
    file = io.BytesIO(text.encode())
    file.name = name
    return file


def read(*texts: str, gpu_shares: bool = False) -> Trace:
    return read_trace(*map(stream, texts), gpu_shares=gpu_shares)


def test_nodes_offer_what_the_list_says() -> None:
    n1, n2 = read(NODES).nodes
    assert n1.status.allocatable == {"cpu": "64000m", "memory": "262144Mi", GPU: "2", "pods": "1000"}
    assert n1.labels[GPU_MODEL] == "P100"
    assert n1.labels["kubernetes.io/hostname"] == "n1"
    assert n2.status.allocatable == {"cpu": "32000m", "memory": "131072Mi", "pods": "1000"}
    assert GPU_MODEL not in n2.labels


def test_pods_come_in_the_order_of_time_and_run_from_their_binding() -> None:
    arrivals = read(PODS).arrivals
    assert [(one.pod.key, one.at, one.duration) for one in arrivals] == [
        ("default/early", 100.0, 300.0),
        ("default/picky", 100.0, 60.0),
        ("default/late", 500.0, 380.0),
    ]
    assert all(one.comes_again for one in arrivals)


def test_a_part_of_a_gpu_is_an_annotation_and_a_whole_gpu() -> None:
    early, picky, late = (one.pod for one in read(PODS).arrivals)
    assert early.requests == {"cpu": 12000, "memory": 16384 * 2**20, GPU: 1}
    assert early.annotations == {GPU_SHARE: "460"}
    assert picky.requests[GPU] == 2
    assert GPU not in late.requests
    assert late.annotations == {}


def test_with_shares_a_part_requests_thousandths_and_no_whole_gpu() -> None:
    trace = read(PODS, NODES, gpu_shares=True)
    early, picky, late = (one.pod.requests for one in trace.arrivals)
    assert (early.get(GPU), early[GPU_SHARE]) == (None, 460)
    assert (picky[GPU], picky[GPU_SHARE]) == (2, 2000)
    assert not {GPU, GPU_SHARE} & set(late)
    assert trace.nodes[0].status.allocatable[GPU_SHARE] == "2000"


def test_the_models_of_a_pod_are_a_required_node_affinity() -> None:
    trace = read(PODS, NODES.replace("P100", "T4"))
    picky = trace.arrivals[1].pod
    affinity = RequiredNodeAffinity((), picky.spec.affinity.node_affinity)
    assert [affinity.matches_node(node) for node in trace.nodes] == [False, False]
    assert [affinity.matches_node(node) for node in read(NODES).nodes] == [True, False]


def test_pods_and_nodes_are_a_cluster_to_simulate() -> None:
    trace = read(PODS, NODES)
    report = Simulator([*trace.nodes, *(one.pod for one in trace.arrivals)]).run()
    assert {one.pod: one.node for one in report.placements}["default/early"] == "n1"


def test_what_is_not_read_is_counted() -> None:
    assert read(PODS).notes == (
        "qos is not read: 3 pods",
        "pod_phase is not read: 3 pods",
        "never bound in the trace: 1 pod, which run for the time from creation to deletion",
        "a part of a GPU is an annotation: 1 pod, each of which requests a whole GPU",
    )


def test_a_list_without_times_has_pods_that_come_at_once_and_stay() -> None:
    trace = read("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,0,0\nb,1,1,0,0\n")
    assert [(one.at, one.duration) for one in trace.arrivals] == [(0.0, None), (0.0, None)]
    assert trace.notes == ("without creation_time: 2 pods, which come at 0",)


def test_packed_files_and_files_of_pandas_are_read(tmp_path: Path) -> None:
    (tmp_path / "pods.csv.gz").write_bytes(gzip.compress(PODS.encode()))
    lines = PODS.splitlines()
    (tmp_path / "pandas.csv").write_text(
        "\n".join(["," + lines[0], *(f"{i},{line}" for i, line in enumerate(lines[1:]))])
    )
    assert read_trace(tmp_path / "pods.csv.gz").arrivals == read_trace(tmp_path / "pandas.csv").arrivals


def test_a_trace_in_several_files_is_the_same_trace() -> None:
    heading, *lines = PODS.splitlines(keepends=True)
    assert read(*(heading + line for line in lines)).arrivals == read(PODS).arrivals


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        (
            "520",
            "950",
            'line 2: deletion_time: found "900"; expected scheduled_time 950 or later, as durations are not',
        ),
        ("900", "-900", 'line 2: deletion_time: found "-900"; expected a number of seconds, 0 or more'),
        ("8000", "many", 'line 2: cpu_milli: found "many"; expected a whole number, 0 or more'),
        ("8000", "0.5", 'line 2: cpu_milli: found "0.5"; expected a whole number, 0 or more'),
        (",460,", ",1460,", 'line 3: gpu_milli: found "1460"; expected 1 to 1000 thousandths of each GPU'),
        (",cpu_milli", ",cpu", "no column cpu_milli; openb pods have name, cpu_milli, memory_mib, num_gpu, gpu_milli"),
        (",qos", ",qoss", 'column "qoss" is not known; did you mean "qos"?'),
        (",qos", ",gpu_spec", 'column "gpu_spec" is there twice; expected each column once'),
        ("early", "late", "line 3: pod late is there twice, first in pods.csv: line 2; expected each name once"),
        ("early", "", 'line 3: name: found ""; expected a name'),
        (",LS", ",LS,", "line 3: found 12 cells; expected 11, as in the heading"),
    ],
)
def test_a_fault_is_one_sentence_with_its_line(wrong: str, right: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(PODS.replace(wrong, right, 1))
    assert str(caught.value).startswith(f"pods.csv: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n\n", "a,b\n1,2\n", "{}"])
def test_another_file_is_not_a_trace(text: str) -> None:
    expected = r"expected one of: JSON lines .*; openb pods \(name, cpu_milli"
    with pytest.raises(InputError, match=rf"pods.csv: not a trace: found .*; {expected}"):
        read(text)


def test_damaged_and_other_packing_is_refused() -> None:
    with pytest.raises(InputError, match="the gzip data ends in the middle; the file is cut"):
        read_trace(io.BytesIO(gzip.compress(PODS.encode())[:40]))
    with pytest.raises(InputError, match="compressed with bzip2; expected gzip"):
        read_trace(io.BytesIO(b"BZh91AY"))
    with pytest.raises(InputError, match="not UTF-8 text: byte 0 is not part of a character"):
        read_trace(io.BytesIO(b"\xe9\xe9"))


def test_a_name_in_two_files_is_refused() -> None:
    with pytest.raises(InputError, match=r"nodes.csv: node n1 is there twice, first in nodes.csv; expected each name"):
        read_trace(stream(NODES, "nodes.csv"), stream(NODES, "nodes.csv"))
