"""Try the properties in the tests on many times as many generated inputs as `make test` does.

    python -m campaigns.properties.campaign [--times 40] [--jobs 2] [FILE...]

Runs each test file that uses Hypothesis, or takes its seeds from tests/trials.py. Hypothesis draws different examples
in each run, and prints those that fail. The exit code is 1 when a test failed.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARKS = ("from hypothesis import", "from tests.trials import")


def files_with_properties(folder: Path) -> list[Path]:
    """The test files of a folder whose inputs are generated."""
    return [file for file in sorted(folder.rglob("test_*.py")) if any(mark in file.read_text() for mark in MARKS)]


def run(files: Sequence[Path], times: int, *arguments: str) -> int:
    """Run test files with so many times their inputs. Returns: the exit code of pytest."""
    environment = {**os.environ, "KUBESCHED_TRIALS_TIMES": str(times)}
    environment.pop("CI", None)  # with it, the examples are always the same
    options = ("-q", "-c", "pyproject.toml", f"--timeout={120 * times}", *arguments)
    command = [sys.executable, "-m", "pytest", *options, *map(str, files)]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--times", type=int, default=40, help="by how much the number of inputs is multiplied (default 40)")
    p.add_argument("--jobs", type=int, default=2, help="test processes (default 2)")
    p.add_argument("files", type=Path, nargs="*", metavar="FILE", help="test files (default all)")
    options = p.parse_args()
    files = options.files or files_with_properties(ROOT / "tests")
    return 1 if run(files, options.times, "-n", str(options.jobs)) else 0


if __name__ == "__main__":
    sys.exit(main())
