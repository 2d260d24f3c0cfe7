"""The tests of a copy of the source: what each executes, how long it takes, and whether one notices a change."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, groupby
from pathlib import Path
from subprocess import Popen
from typing import BinaryIO, Final, NamedTuple

import coverage
import pytest

from campaigns.mutations.mutants import Mutant

NOT_COPIED: Final = (".git", ".venv*", ".*_cache", ".hypothesis", ".campaign", "build", "dist")
NOT_RUN: Final = {
    *("tests/architecture", "tests/benchmarks", "tests/docs", "tests/examples", "tests/integration"),
    *("tests/campaigns/mutations", "tests/campaigns/weather"),
}
SHORT: Final = 1.0  # seconds; tests of the room itself that take longer do not come first
OPTIONS: Final = ("-q", "-p", "campaigns.mutations.plugin", "-p", "no:cacheprovider", "-p", "no:unraisableexception")
PHASE: Final = re.compile(r" \((setup|call|teardown)\)$")
COVERAGE: Final = """[run]
source_pkgs = kubesched
core = ctrace
parallel = true
sigterm = true
data_file = {data}
context = ${{PYTEST_CURRENT_TEST-}}
disable_warnings = no-data-collected, module-not-imported, module-not-measured
"""


class Run(NamedTuple):
    """What came of some tests.

    Attributes:
        seconds: by node id.
        failed: how each failed: collection, setup, call, teardown, timed out or crashed.
    """

    seconds: dict[str, float]
    failed: dict[str, str]


def run_pytest(copy: Path, *arguments: str, limit: float | None = None, **environment: str) -> Run:
    """Run tests of a copy; a run of more than `limit` seconds is ended, and counts as failed."""
    # With CI set, Hypothesis has the same examples each time; the test that pytest is in becomes a context of coverage.
    environment |= {"PYTHONPATH": str(copy / "src"), "CI": "1", "PYTEST_CURRENT_TEST": ""}
    with tempfile.TemporaryDirectory() as folder:
        outcome, log = Path(folder, "outcome"), Path(folder, "log")
        command = [sys.executable, "-m", "pytest", *OPTIONS, f"--outcome={outcome}", *arguments]
        with log.open("wb") as out, _started(command, copy, os.environ | environment, out) as process:
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                return Run({}, {"the run": "timed out"})
        run = Run(**json.loads(outcome.read_text())) if outcome.exists() else Run({}, {})
        if code == pytest.ExitCode.USAGE_ERROR and b"conftest" not in log.read_bytes():
            raise RuntimeError(f"{' '.join(command)}\n{log.read_text()}")
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and not run.failed:
            run.failed["the run"] = "crashed"
        return run


@contextlib.contextmanager
def _started(command: list[str], folder: Path, environment: dict[str, str], out: BinaryIO) -> Iterator[Popen[bytes]]:
    """A process that leaves none behind: it gets Ctrl-C first, for fixtures have processes of their own."""
    process = Popen(command, cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Recording:
    """Which tests execute each line.

    Attributes:
        seconds: what each test takes; tests that fail without any change are left out.
        failed: those.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        runs = [Run(*json.loads((folder / "run.json").read_text())) for folder in folders]
        self.failed = sorted(name for run in runs for name in run.failed)
        self.seconds = {n: seconds for run in runs for n, seconds in run.seconds.items() if n not in run.failed}
        self._data = [coverage.CoverageData(str(folder / "lines")) for folder in folders]
        for data in self._data:
            data.read()

    def tests_for(self, mutant: Mutant) -> set[str]:
        """The tests that execute what is changed. For what runs on import, those that execute anything of the file."""
        found: set[str] = set()
        for data in self._data:
            for name in data.measured_files():
                if name.endswith(f"/{mutant.path}"):
                    for line, contexts in data.contexts_by_lineno(name).items():
                        if not mutant.lines or line in mutant.lines:
                            found.update(PHASE.sub("", context) for context in contexts)
        return found & self.seconds.keys() or (set() if mutant.lines else set(self.seconds))

    def stages(self, mutant: Mutant, budget: float) -> list[list[str]]:
        """The tests to run, in two goes: the short ones of the room itself, then all others, each the fastest first.

        Args:
            budget: seconds of tests, as recorded; the slowest are left out.
        """

        def rank(name: str) -> tuple[bool, float]:
            is_near = name.startswith(f"tests/{mutant.room}/") and self.seconds[name] < SHORT
            return not is_near, self.seconds[name]

        ranked = sorted(self.tests_for(mutant), key=rank)
        spent = accumulate(self.seconds[name] for name in ranked)
        chosen = [name for name, total in zip(ranked, spent, strict=True) if total <= budget]
        return [list(tests) for _, tests in groupby(chosen, key=lambda name: rank(name)[0])]


def recorded(copy: Path, out: Path, tests: Sequence[str], jobs: int) -> Recording:
    """Run the tests of a copy once, and note what they execute. `out` keeps that for each of `tests`."""
    with ThreadPoolExecutor(jobs) as pool:
        return Recording(list(pool.map(lambda path: _record(copy, out, path), tests)))


def _record(copy: Path, out: Path, path: str) -> Path:
    folder = out / f"{path.replace('/', '-')}-{_fingerprint(copy / 'src', copy / path)}"
    if not (folder / "run.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / "coveragerc"
        settings.write_text(COVERAGE.format(data=folder / "lines"))
        run = run_pytest(copy, path, COVERAGE_PROCESS_START=str(settings))
        if not run.seconds:
            raise RuntimeError(f"{path}: no test was run: {run.failed}")
        data = coverage.Coverage(config_file=str(settings))
        data.combine()
        data.save()
        (folder / "run.json").write_text(json.dumps(run))
    return folder


def _fingerprint(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        for file in sorted([path] if path.is_file() else path.rglob("*.py")):
            digest.update(str(file.relative_to(path)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def judge(copy: Path, mutant: Mutant, number: int, recording: Recording, budget: float) -> tuple[str, str]:
    """Change a file of a copy, run the tests, and change it back.

    Args:
        number: differs from mutant to mutant.
    Returns: caught, timed out or survived, and the test that noticed. A test has to fail twice.
    """
    file = copy / mutant.path
    source, times = file.read_bytes(), file.stat()
    file.write_bytes(mutant.applied_to(source))
    os.utime(file, (times.st_atime, times.st_mtime + number))  # compiled modules are known by size and second
    try:
        return _first_to_notice(copy, recording, recording.stages(mutant, budget))
    finally:
        file.write_bytes(source)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def _first_to_notice(copy: Path, recording: Recording, stages: list[list[str]]) -> tuple[str, str]:
    for tests in stages:
        while failed := _run_chosen(copy, recording, tests):
            name, how = next(iter(failed.items()))
            if how == "timed out":
                return how, name
            if name not in tests or _run_chosen(copy, recording, [name]):
                return "caught", name
            tests = [other for other in tests if other != name]
    return "survived", ""


def _run_chosen(copy: Path, recording: Recording, tests: list[str]) -> dict[str, str]:
    """The failures, until the first one, of some tests in the order given."""
    if not tests:
        return {}
    seconds = [recording.seconds[name] for name in tests]
    chosen = copy / ".chosen.json"
    chosen.write_text(json.dumps(tests))
    options = ("-x", f"--chosen={chosen}", "-o", f"timeout={max(20, 5 * max(seconds)):.0f}")
    files = sorted({name.partition("::")[0] for name in tests})
    return run_pytest(copy, *options, *files, limit=120 + 10 * sum(seconds)).failed


def copy_tree(source: Path, target: Path) -> Path:
    """Copy all that tests need, with the time of each file, so that compiled modules stay valid."""
    return Path(shutil.copytree(source, target, ignore=shutil.ignore_patterns(*NOT_COPIED)))


def all_tests(root: Path) -> list[str]:
    """Every folder of tests, except those that measure, or run whole pages and commands."""
    files = [path.relative_to(root) for path in (root / "tests").rglob("test_*.py")]
    found = {Path(*path.parts[: 3 if path.parts[1] == "campaigns" else 2]) for path in files}
    return sorted(str(folder) for folder in found if str(folder) not in NOT_RUN)
