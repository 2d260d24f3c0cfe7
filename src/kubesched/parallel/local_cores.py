"""Carries out tasks in worker processes of this machine, through joblib's backend loky."""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, Final

from kubesched.parallel.worker import Packed, carry_out_one, end_with

_IDLE_SECONDS: Final = 60
"""How long workers wait for further tasks: they keep the memory of a cluster."""
_MAPPED_FROM: Final = "100K"
"""Smaller contents are sent with each task."""


def n_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def on_cores(tasks: Iterator[tuple[Packed, Any, Any]], n_workers: int) -> Iterator[tuple[Any, Any]]:
    """Carry out tasks, each of which is a content, an index and the task.

    Yields: the index of a task and its result, as they come.
    Raises:
        BrokenProcessPool: a worker was killed; the results of some tasks are missing.
    """
    import joblib

    calls = (joblib.delayed(carry_out_one)(packed.key, packed.content, i, task) for packed, i, task in tasks)
    with _quiet():
        with _interrupts_held():  # Ctrl-C in a worker that starts would print a traceback
            results = joblib.Parallel(
                n_jobs=n_workers,
                backend="loky",
                return_as="generator_unordered",
                batch_size=1,
                max_nbytes=_MAPPED_FROM,
                mmap_mode="r",
                idle_worker_timeout=_IDLE_SECONDS,
                initializer=_starting(os.getpid()),
            )(calls)
        with closing(results):
            yield from results


_INITIALIZERS: Final[dict[int, Any]] = {}


def _starting(parent: int) -> Any:
    """What a worker does first; always the same object, or joblib would start other workers for the next call."""
    return _INITIALIZERS.setdefault(parent, partial(end_with, parent))


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out joblib's advice about workers that stop, and about results that are not taken."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="joblib")
        yield


@contextmanager
def _interrupts_held() -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker  # not on Windows

    from joblib.externals.loky.backend import resource_tracker as tracker_of_loky

    for tracker in (resource_tracker, tracker_of_loky):  # to start one lets interrupts through
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
