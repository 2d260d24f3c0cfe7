"""The table of benchmarks/engine.py on clusters so small that nothing is measured, only that it can be."""

import json
from pathlib import Path

import pytest
from benchmarks.rows.row import ROWS, Row, find_rows
from benchmarks.rows.runs import Result

from campaigns.benchmarks.programs import faults_of_rows, run


def result(row: Row, value: float, n_nodes: int, peak_mib: float = 100) -> Result:
    return Result(row, n_nodes, [{"peakMib": peak_mib, "seconds": 1, "cpuSeconds": 1}], [value], None, None)


def test_rows_are_measured_beside_the_oracle(tmp_path: Path) -> None:
    oracle, figures = tmp_path / "oracle", tmp_path / "figures.json"
    oracle.write_text(
        '#!/bin/sh\ncase "$2" in -sample) rate=7;; *) rate=2;; esac\necho "{\\"podsPerSecond\\": $rate}"\n'
    )
    oracle.chmod(0o755)
    small = ("--nodes", "30", "--repeat", "1", "--rows", "basic,preemption")
    done = run("engine", *small, "--oracle", oracle, "--json", figures)
    assert done.returncode == 0, done.stderr
    document = json.loads(figures.read_text())
    assert list(faults_of_rows(document)) == []
    basic, preemption = document["rows"]
    assert (basic["oracleEveryNode"], basic["oracleSampled"]) == (2, 7)
    cells = [cell.strip() for cell in done.stdout.splitlines()[-2].strip("|").split("|")]
    assert cells[0] == "basic"
    assert cells[5:8] == ["2", "7", f"{basic['median'] / 2:,.0f} / {basic['median'] / 7:,.0f}"]
    preemption["runs"][0]["victims"] -= 1
    assert len(list(faults_of_rows(document))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rows", "basic,basci"), "no row named basci; there are basic, node-affinity"),
        (("--oracle", "nowhere"), "--oracle: nowhere is no file"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(arguments: tuple[str, ...], message: str) -> None:
    done = run("engine", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_target_counts_only_at_its_own_size() -> None:
    basic, load = find_rows("basic,load")
    assert result(basic, 10_000, 5000).is_met is True
    assert result(basic, 9_999, 5000).is_met is False
    assert result(basic, 9_999, 500).is_met is None
    assert result(load, 5.0, 5000, 1536).is_met is True
    assert result(load, 5.1, 5000, 1536).is_met is False
    assert result(load, 4.0, 5000, 1537).is_met is False


def test_rows_have_names_of_their_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
