"""benchmarks/extender_calls.py on a cluster so small that nothing is measured, only that it can be."""

from campaigns.benchmarks.programs import run


def test_each_run_counts_the_calls_and_what_they_add() -> None:
    done = run("extender_calls", "--nodes", "3", "--pods", "5", "--repeat", "1")
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")][2:]
    assert [[cell.strip() for cell in row[:3]] for row in rows] == [["0", "5", "10"]]
    assert all(float(cell) >= 0 for row in rows for cell in row[3:5])
    assert "ms a call" in done.stdout
