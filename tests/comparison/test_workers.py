"""Runs in worker processes give what runs in this process give, whatever happens to a worker."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kubesched.comparison import Candidate, compare, packed, workers
from kubesched.errors import InputError
from kubesched.pages.comparisons.comparison_document import as_document
from tests.comparison.small_clusters import random_cluster

TASKS = [(side, seed) for side in (0, 1) for seed in range(1, 6)]
PARENT = os.getpid()


@pytest.fixture(autouse=True)
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_FEWEST_PLACEMENTS", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    of_test_runner, count = threading.active_count() - 1, threading.active_count
    monkeypatch.setattr(threading, "active_count", lambda: count() - of_test_runner)


def carried_out(run: Callable[[int, int], object]) -> tuple[list[object], int]:
    """The results, and how many runs were noted."""
    noted: list[None] = []
    return workers.run_all(run, TASKS, 1, lambda: noted.append(None)), len(noted)


def is_worker() -> bool:
    return os.getpid() != PARENT


def test_a_comparison_in_workers_equals_one_in_this_process(monkeypatch: pytest.MonkeyPatch):
    in_workers = compare(random_cluster(1), None, packed(Candidate("packed")), seeds=5, pods="all")
    monkeypatch.setattr(workers, "_FEWEST_PLACEMENTS", 10**9)
    here = compare(random_cluster(1), None, packed(Candidate("packed")), seeds=5, pods="all")
    assert as_document(in_workers) == as_document(here)


def test_workers_do_the_work_and_each_run_is_noted_once():
    results, n_noted = carried_out(lambda side, seed: (side, seed, is_worker()))
    assert results == [(*task, True) for task in TASKS]
    assert n_noted == len(TASKS)


def test_what_a_failing_worker_leaves_is_done_here():
    def run(side: int, seed: int) -> tuple[int, int]:
        if is_worker() and seed == 3:
            raise OSError("no")
        return side, seed

    assert carried_out(run) == (TASKS, len(TASKS))


def test_what_a_killed_worker_leaves_is_done_here():
    def run(side: int, seed: int) -> tuple[int, int]:
        if is_worker() and seed == 3:
            os._exit(9)
        return side, seed

    assert carried_out(run) == (TASKS, len(TASKS))


def test_an_error_is_raised_in_this_process():
    def run(side: int, seed: int) -> None:
        raise InputError(f"seed {seed}")

    with pytest.raises(InputError, match="seed 1"):
        carried_out(run)


def test_nothing_is_forked_beside_another_thread():
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        assert carried_out(lambda side, seed: is_worker())[0] == [False] * len(TASKS)
    finally:
        ended.set()
        thread.join()


def test_a_worker_ends_with_a_parent_that_is_killed(tmp_path: Path):
    started = tmp_path / "started"
    os.mkfifo(started)

    def run(side: int, seed: int) -> None:
        started.write_text(f"{os.getpid()}\n")
        time.sleep(60)

    parent = os.fork()
    if not parent:
        with suppress(BaseException):
            workers.run_all(run, TASKS[:2], 1, lambda: None)
        os._exit(1)
    with started.open() as told:
        pid = int(told.readline())
    os.kill(parent, signal.SIGTERM)
    os.waitpid(parent, 0)
    assert _ends(pid)


def _ends(pid: int) -> bool:
    """Whether a process ends within some seconds; one that nobody waits for counts as ended."""
    status = Path(f"/proc/{pid}/stat")
    for _ in range(500):
        if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False
