"""What a worker process does: it unpacks a runner once, keeps it for the tasks that follow, and carries out one task.

A worker keeps the runner that it used last and no other one, so its memory does not grow with the number of runners.
"""

import ctypes
import os
import pickle
import signal
import threading
import zlib
from collections.abc import Hashable
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from kubesched.engine import paused_gc

Task_contra = TypeVar("Task_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
_PR_SET_PDEATHSIG: Final = 1


class Runner(Protocol[Task_contra, Result_co]):
    """Carries out tasks of one kind about one content, such as runs on a cluster. It can be pickled.

    The result of a task depends on the runner and the task alone, not on the tasks before it.
    """

    def __call__(self, task: Task_contra, /) -> Result_co:
        """Carry out one task."""

    def close(self) -> None:
        """Give back what the tasks needed; a further task takes it again."""


class Packed(NamedTuple):
    """A runner as bytes.

    Attributes:
        key: the same for the same bytes.
        content: (bytes,) uint8: joblib maps an array into the memory of all workers, and Dask sends one without a copy.
        size: of the bytes before compression.
    """

    key: str
    content: npt.NDArray[np.uint8]
    size: int


class Failure(NamedTuple):
    """A task that raised an error in a worker, in words. The error itself is raised where the task is done again."""

    why: str


class _Kept:
    """The runner that this process used last."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # a Dask worker may have several threads
        self.key = ""
        self.runner: Runner[Any, Any] | None = None

    def of(self, key: str, content: npt.NDArray[np.uint8]) -> Runner[Any, Any]:
        if key != self.key or self.runner is None:
            if self.runner is not None:
                self.runner.close()
            self.key, self.runner = "", None  # two clusters at once might be too large
            with paused_gc(is_kept=True):
                self.runner = pickle.loads(zlib.decompress(content.data))
            self.key = key
        return self.runner


_KEPT: Final = _Kept()


def carry_out_one(key: str, content: npt.NDArray[np.uint8], index: Hashable, task: Any) -> tuple[Hashable, Any]:
    """One task in this process: its index, and the result or a Failure."""
    with _KEPT.lock:
        try:
            return index, _KEPT.of(key, content)(task)
        except Exception as error:  # noqa: BLE001 - the caller's process does the task again, and raises this
            return index, Failure(f"{type(error).__name__}: {error}")


def end_with(parent: int) -> None:
    """Have this process end when its parent ends, and leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked at the start of the worker
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):  # not Linux, or another C library: it ends after its task
        return
    if os.getppid() != parent:  # it ended before the call
        os._exit(1)
