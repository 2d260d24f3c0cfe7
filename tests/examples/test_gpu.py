"""The pods of examples/gpu wait for the reasons that its README gives."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.clusters import run

GPU = Path(__file__).parents[2] / "examples" / "gpu"
CLUSTER = GPU / "cluster.yaml"
ROW = re.compile(
    r"^\| `(?P<pod>[\w-]+)` \| (?P<message>[^|]+) \| `(?P<node>[\w-]+)` \| (?P<why>[^|]+) \|$", re.MULTILINE
)
ROWS = [found.groupdict() for found in ROW.finditer((GPU / "README.md").read_text())]
FIT = {"by-resource", "prefers-x24"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["pod"])
def test_a_pod_waits_for_the_reason_in_the_readme(row: dict[str, str]) -> None:
    result = run("explain", CLUSTER, f"ml/{row['pod']}", "--node", row["node"], "-o", "json")
    answer = json.loads(result.stdout)
    assert row["message"] in (answer.get("error") or answer["message"])
    assert row["why"] in answer["asked"][0]["verdict"]


def test_the_readme_names_every_pending_pod() -> None:
    lines = map(json.loads, run("simulate", CLUSTER, "-o", "jsonl").stdout.splitlines())
    nodes = {line["pod"].removeprefix("ml/"): line.get("node") for line in lines}
    assert {name: node for name, node in nodes.items() if node} == dict.fromkeys(FIT, "train-b")
    assert nodes.keys() - FIT == {row["pod"] for row in ROWS}
