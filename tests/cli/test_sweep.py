import csv
import json
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    nodes = [make_node(f"n{i}", allocatable={"cpu": "4", "memory": "8Gi", "pods": "20"}) for i in range(3)]
    return write(tmp_path, *nodes, *(make_pod(f"p{i}", requests={"cpu": "500m"}) for i in range(4)))


@pytest.fixture
def spec(cluster: Path, tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(
        f"snapshots: [{cluster.name}]\nconfigurations: [defaults, {{name: packed, pack: true}}]\nseeds: 2\n"
    )
    return path


def test_the_table_has_the_best_configuration_with_what_to_paste(spec: Path):
    result = run("sweep", spec)
    assert result.exit_code == 0, result.output
    assert "4 runs of 2 configurations on 1 snapshot: packed is best in nodes in use and pods pending." in result.output
    assert "type: MostAllocated" in result.output


def test_every_format_has_the_rows(spec: Path, tmp_path: Path):
    document = json.loads(run("sweep", spec, "-o", "json").output)
    assert [(row["configuration"], row["seed"]) for row in document["rows"]] == [
        ("defaults", 1),
        ("defaults", 2),
        ("packed", 1),
        ("packed", 2),
    ]
    rows = list(csv.DictReader(run("sweep", spec, "-o", "csv").output.splitlines()))
    assert [row["nodesInUse"] for row in rows] == ["3.0", "3.0", "1.0", "1.0"]
    assert len(run("sweep", spec, "-o", "jsonl").output.splitlines()) == 4
    assert "packed" in run("sweep", spec, "-o", "html").output


def test_options_replace_fields_and_rows_are_kept(spec: Path, tmp_path: Path):
    rows = tmp_path / "rows.csv"
    assert "4 runs" in run("sweep", spec, "--rows", rows).output
    assert "6 runs of 2 configurations on 1 snapshot, 4 of them kept from before" in (
        run("sweep", spec, "--rows", rows, "--seeds", 3).output
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "no snapshot is given"),
        (("--snapshot", "CLUSTER", "--rows", "CLUSTER"), "--rows"),
        (("--snapshot", "CLUSTER", "--pareto", "cpu"), "is not a figure"),
        (("--snapshot", "CLUSTER", "--on", "nonsense://x"), "not the address of a Dask scheduler"),
    ],
)
def test_what_is_not_valid_is_one_message(words: tuple[str, ...], expected: str, cluster: Path):
    result = run("sweep", *(str(cluster) if word == "CLUSTER" else word for word in words))
    assert result.exit_code == 2
    assert expected in result.output
    assert result.output.count("\n") == 1


def test_a_snapshot_that_is_not_there_is_the_reason_in_its_rows():
    result = run("sweep", "--snapshot", "gone.json")
    assert result.exit_code == 1
    assert "gone.json: no such file or folder" in result.output
