"""benchmarks/extender_throughput.py on a cluster so small that nothing is measured, only that it can be."""

import json
from pathlib import Path

import pytest

from campaigns.benchmarks.programs import ROOT, faults_of_runs, run


@pytest.mark.integration
@pytest.mark.timeout(120)
def test_a_run_shows_the_rate_and_what_it_cost_each_process(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    plugin = ROOT / "tests" / "integration" / "ranked_nodes.py"
    size = ("--rows", "names", "--nodes", "20", "--pods", "300", "--plugin", f"{plugin}:LargeNodes")
    done = run("extender_throughput", *size, "--json", figures)
    assert done.returncode == 0, done.stderr
    document = json.loads(figures.read_text())
    (row,) = document["rows"]
    assert list(faults_of_runs(document)) == []
    assert set(row["runs"][0]["call_ms"]) == {"prioritize"}  # this plugin has no filter
    assert done.stdout.count("| names ") == 1


def test_a_row_that_does_not_exist_is_named() -> None:
    done = run("extender_throughput", "--rows", "alone,nmes")
    assert done.returncode == 2
    assert done.stderr == (
        "extender_throughput.py: --rows: no row named nmes; "
        "there are alone, uncalled, bare, names, nodes, other, "
        "alone-100, uncalled-100, bare-100, names-100, nodes-100, other-100\n"
    )
