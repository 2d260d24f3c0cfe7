"""Runners of the tests; worker processes import them."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from kubesched.errors import InputError


class Told:
    """Returns its name, the task, and where it ran; a task may misbehave, in a worker or everywhere."""

    def __init__(self, name: str = "told", *, bad: int = -1, how: str = "", size: int = 0) -> None:
        self.name = name
        self.parent = os.getpid()
        self.bad, self.how = bad, how
        self.ballast = np.random.default_rng(1).integers(0, 255, size, np.uint8)
        self.closed = 0
        self.unpacked = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self.unpacked = time.monotonic_ns()

    @property
    def is_worker(self) -> bool:
        return os.getpid() != self.parent

    def __call__(self, task: int) -> tuple[str, int, int, int]:
        if task == self.bad:
            self._misbehave(task)
        return self.name, task, os.getpid(), self.unpacked

    def _misbehave(self, task: int) -> None:
        if self.how == "raise" or (self.how == "raise in a worker" and self.is_worker):
            raise InputError(f"task {task}")
        if self.how == "die once" and self.is_worker and not Path(self.name).exists():
            Path(self.name).touch()
            os._exit(9)
        if self.how == "die in a worker" and self.is_worker:
            os._exit(9)
        if self.how == "sleep":
            time.sleep(60)

    def close(self) -> None:
        self.closed += 1


class Unsendable(Told):
    """Holds what cannot be pickled."""

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("no")
