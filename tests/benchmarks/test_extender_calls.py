"""benchmarks/extender_calls.py on a cluster so small that nothing is measured, only that it can be."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_run_counts_the_calls_and_what_they_add() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "extender_calls.py"), "--nodes", "3", "--pods", "5"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([*command, "--repeat", "2"], capture_output=True, text=True, timeout=50, env=environment)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")][2:]
    assert [[cell.strip() for cell in row[:3]] for row in rows] == [["0", "5", "10"], ["1", "5", "10"]]
    assert all(float(cell) >= 0 for row in rows for cell in row[3:5])
    assert "ms a call" in done.stdout
