"""The sample of a trace is what its script makes."""

import gzip
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples/traces"


def test_the_sample_is_what_the_script_makes() -> None:
    made = subprocess.run([sys.executable, FOLDER / "make_day.py", "0"], capture_output=True, check=True)
    assert made.stdout == gzip.decompress((FOLDER / "day.jsonl.gz").read_bytes())
