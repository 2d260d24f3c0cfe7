"""benchmarks/extender_throughput.py on a cluster so small that nothing is measured, only that it can be."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "extender_throughput.py"), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)


@pytest.mark.integration
@pytest.mark.timeout(120)
def test_a_run_shows_the_rate_and_what_it_cost_each_process(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    plugin = ROOT / "tests" / "integration" / "ranked_nodes.py"
    size = ("--rows", "names", "--nodes", "20", "--pods", "300", "--plugin", f"{plugin}:LargeNodes")
    done = run(*size, "--json", figures)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(figures.read_text())["rows"]
    (one,) = row["runs"]
    assert 0 < one["placed"] <= 300
    assert one["podsPerSecond"] == one["placed"] / one["seconds"]
    assert set(one["call_ms"]) == {"prioritize"}  # this plugin has no filter
    assert 0 < one["share"] < 1
    assert min(one["cpu_ms"].values()) > 0
    assert done.stdout.count("| names ") == 1


def test_a_row_that_does_not_exist_is_named() -> None:
    done = run("--rows", "alone,nmes")
    assert done.returncode == 2
    assert done.stderr == (
        "extender_throughput.py: --rows: no row named nmes; "
        "there are alone, uncalled, bare, names, nodes, other, "
        "alone-100, uncalled-100, bare-100, names-100, nodes-100, other-100\n"
    )
