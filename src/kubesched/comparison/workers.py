"""Carries out runs in worker processes where there are several cores.

A worker is a fork: it has the cluster and the plugins already, and sends back what is kept of each run. A run depends
on its side and its seed alone, so it does not matter who carries it out. What the workers leave undone, because a
plugin failed or a worker was killed, the caller's process does itself; so an error is raised where it can be handled.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Final, TypeVar

T = TypeVar("T")
Task = tuple[int, int]
"""The side and the seed of a run."""

_FEWEST_PLACEMENTS: Final = 3_000  # fewer take less than about a second
_PR_SET_PDEATHSIG: Final = 1
_MOST_WORKERS: Final = 8  # each may need as much memory as the cluster


def run_all(
    run: Callable[[int, int], T], tasks: Sequence[Task], n_placements: int, note: Callable[[], None]
) -> list[T]:
    """Carry out all runs.

    Args:
        run: carries out one; called with its side and its seed, in any process.
        n_placements: what a run costs, in placements of pods.
        note: called after each run.
    Returns: what the runs returned, in the order of the tasks.
    """
    done: dict[int, T] = {}
    n_workers = min(_n_workers(), len(tasks)) if n_placements * len(tasks) >= _FEWEST_PLACEMENTS else 1
    if n_workers > 1:
        for i, result in _from_workers(run, tasks, n_workers):
            done[i] = result
            note()
    for i, task in enumerate(tasks):
        if i not in done:
            done[i] = run(*task)
            note()
    return [done[i] for i in range(len(tasks))]


def _n_workers() -> int:
    """As many as there are cores; 1 where a fork is not safe: beside other threads, and on systems other than Linux."""
    if sys.platform != "linux" or threading.active_count() > 1 or multiprocessing.current_process().daemon:
        return 1
    return min(len(os.sched_getaffinity(0)), _MOST_WORKERS)


def _from_workers(run: Callable[[int, int], T], tasks: Sequence[Task], n: int) -> Iterator[tuple[int, T]]:
    """The index of a task with its result, as they come; some may be missing at the end."""
    context = multiprocessing.get_context("fork")
    readers, workers = [], []
    for first in range(n):
        reader, writer = context.Pipe(duplex=False)
        worker = context.Process(
            target=_work, args=(run, tasks, range(first, len(tasks), n), reader, writer, os.getpid())
        )
        worker.daemon = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's threads, which do nothing at this time
            worker.start()
        writer.close()  # else the end of the worker would not be seen
        readers.append(reader)
        workers.append(worker)
    try:
        while readers:
            for ready in wait(readers):
                assert isinstance(ready, Connection)
                try:
                    yield ready.recv()
                except (EOFError, OSError):
                    readers.remove(ready)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _work(
    run: Callable[[int, int], T],
    tasks: Sequence[Task],
    mine: Sequence[int],
    reader: Connection,
    writer: Connection,
    parent: int,
) -> None:
    _end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends every process of the terminal, without a traceback
    reader.close()  # else the end of the parent would not be seen
    for i in mine:
        try:
            writer.send((i, run(*tasks[i])))
        except Exception:  # noqa: BLE001 - the parent carries the run out again, and raises this
            return


def _end_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, which a worker would only see after its run."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):  # another C library
        return
    if os.getppid() != parent:  # it ended before the call
        os._exit(1)
