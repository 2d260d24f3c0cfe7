"""`kubesched replay` reads a trace and its nodes, and prints the report in every format."""

import csv
import io
import json
from pathlib import Path

import pytest

from kubesched.cli.commands import main
from kubesched.snapshot import write_snapshot
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run
from tests.cli.live_server import api_server, kubeconfig_of

NODES = "sn,cpu_milli,memory_mib,gpu,model\nn1,4000,8192,1,T4\nn2,2000,8192,0,\n"
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time
a,3000,64,1,500,,0,100,0
b,3000,64,1,500,T4,10,60,10
c,1000,64,1,1000,H100,20,60,20
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "pods.csv").write_text(PODS)
    return tmp_path


def test_the_report_has_figures_waits_and_what_is_pending(files: Path) -> None:
    done = run("replay", "pods.csv", "--nodes", "nodes.csv")
    assert done.exit_code == 0
    first = "3 pods in 2m30s: 1 is pending at the end; median wait 45s, 95th percentile 1m26s."
    assert done.stdout.splitlines()[0] == first
    assert "no node has the GPU model that pods ask for, which stay pending: H100 (1 pod)" in done.stdout
    assert "nvidia.com/gpu requested, of all nodes" in done.stdout


def test_nodes_of_a_snapshot_take_the_place_of_those_of_the_trace(files: Path) -> None:
    write_snapshot([make_node("big", allocatable={"cpu": "64", "nvidia.com/gpu": "8"})], files / "cluster.json")
    done = run("replay", "pods.csv", "--nodes", "cluster.json", "-o", "json")
    document = json.loads(done.stdout)
    assert document["schema"] == "kubesched/replay/v1"
    assert document["figures"]["nodes_in_use"]["p95"] == 1
    assert [one["pod"] for one in document["left"]] == ["default/b", "default/c"]


def test_csv_and_json_lines_have_a_row_for_each_sample(files: Path) -> None:
    done = run("replay", "pods.csv", "--nodes", "nodes.csv", "--every", "10s", "-o", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["time"] for row in rows[:3]] == ["10.0", "20.0", "30.0"]
    assert [row["pending"] for row in rows[:3]] == ["0", "1", "2"]
    lines = run("replay", "pods.csv", "--nodes", "nodes.csv", "--every", "10s", "-o", "jsonl").stdout.splitlines()
    assert len(lines) == len(rows)
    assert json.loads(lines[0])["cpu_requested"] == 3000


def test_html_has_plots_and_needs_no_network(files: Path) -> None:
    page = run("replay", "pods.csv", "--nodes", "nodes.csv", "-o", "html").stdout
    assert page.count("<svg") >= 6
    assert "<polyline" in page
    assert "http" not in page.replace("http-equiv", "")


def test_parquet_needs_pyarrow_or_writes_the_series(files: Path) -> None:
    done = run("replay", "pods.csv", "--nodes", "nodes.csv", "-o", "parquet")
    if done.exit_code:
        assert "Parquet needs pyarrow, which is not installed: pip install pyarrow" in done.stderr
    else:
        assert done.stdout_bytes.startswith(b"PAR1")


def test_shares_of_gpus_request_no_whole_one(files: Path) -> None:
    done = run("replay", "pods.csv", "--nodes", "nodes.csv", "--gpu-shares", "-o", "json")
    assert "alibabacloud.com/gpu-milli" in json.loads(done.stdout)["resources"]


def test_bad_input_is_one_sentence(files: Path) -> None:
    done = run("replay", "pods.csv")
    assert done.exit_code == 2
    assert done.stderr == "kubesched: error: pods.csv has no nodes; expected a list of nodes, or a snapshot with some\n"
    done = run("replay", "nodes.csv")
    assert "nodes.csv has no pods; expected a list of pods with their times" in done.stderr
    done = run("replay", "pods.csv", "--nodes", "nodes.csv", "--every", "0s")
    assert "must be more than 0" in done.stderr


def test_the_command_is_in_the_help() -> None:
    assert "replay" in main.commands


def test_compare_takes_a_trace_in_the_place_of_a_snapshot(files: Path) -> None:
    done = run("compare", "pods.csv", "nodes.csv", "--pack", "-o", "json")
    document = json.loads(done.stdout)
    assert (document["schema"], document["runs"]) == ("kubesched/compare-replays/v1", 5)
    assert document["figures"]["pending"]["a"]["end"] == 1
    assert "MEAN A" in run("compare", "pods.csv", "nodes.csv", "--pack", "--seeds", "5").stdout
    done = run("compare", "pods.csv", "nodes.csv", "--pack", "--pods", "all")
    assert done.exit_code == 2
    assert "--pods and a trace are mutually exclusive: every pod of a trace is placed" in done.stderr


def test_a_live_cluster_is_recorded_as_a_whole_file(files: Path) -> None:
    with api_server([make_node("n1"), make_pod("a", node="n1")]) as (url, _):
        config = kubeconfig_of(url, files)
        done = run("replay", "--record", "day.jsonl.gz", "--for", "1s", "--anonymize", "--kubeconfig", config)
    assert done.exit_code == 0, done.stderr
    assert "wrote 1 node, 1 pod to day.jsonl.gz" in done.stderr
    assert not list(files.glob(".*part"))
    assert run("replay", "day.jsonl.gz", "-o", "json").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a TRACE, or record one with --record FILE; neither is given"),
        (["pods.csv", "--record", "a.jsonl"], "name a TRACE, or record one with --record FILE; both are given"),
        (["pods.csv", "--for", "5s"], "--for needs --record"),
        (["--record", "no/a.jsonl"], "no/a.jsonl: cannot be written: No such file or directory"),
    ],
)
def test_what_recording_excludes_and_needs(files: Path, words: list[str], message: str) -> None:
    done = run("replay", *words)
    assert done.exit_code == 2
    assert message in done.stderr
