"""Carries out tasks where it is worth it: here, on the cores of this machine, or on the Dask cluster that is connected.

Work begins in this process. If the rest would take longer than worker processes need to start, it goes to them. With a
Dask client, everything goes to its cluster. A result depends on its task alone, so it is the same wherever the task is
carried out, in whatever order, and however often it is begun.
"""

import logging
import multiprocessing
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any, Final, NamedTuple, TypeVar

from kubesched.parallel.dask_cluster import active_client, on_dask
from kubesched.parallel.local_cores import n_cores, on_cores
from kubesched.parallel.memory import room_for
from kubesched.parallel.sent_runners import packed
from kubesched.parallel.worker import Failure, Packed, Runner

Task = TypeVar("Task")
Result = TypeVar("Result")
_LOG: Final = logging.getLogger("kubesched.parallel")
_WORTH_SECONDS: Final = 3.0  # worker processes need about one until they have a cluster of 1,000 nodes
_LONG_SECONDS: Final = 5.0


class TaskGroup(NamedTuple):
    """Tasks about one content.

    Attributes:
        runner: makes what carries them out; called when its first task is due, perhaps again after a fault.
        tasks: small values.
    """

    runner: Callable[[], Runner[Any, Any]]
    tasks: Sequence[Any]


def results_of(runner: Runner[Task, Result], tasks: Sequence[Task], note: Callable[[], None]) -> list[Result]:
    """Carry out tasks about one content.

    Args:
        note: called after each task.
    Returns: what the runner returns for each, in their order.
    Raises:
        Exception: what a task raises; whichever comes first.
        WorkerError: as from `carry_out`.
    """
    results: dict[int, Result] = {}
    for _, i, result in carry_out([TaskGroup(lambda: runner, tasks)]):
        results[i] = result
        note()
    return [results[i] for i in range(len(tasks))]


def carry_out(parts: Sequence[TaskGroup], *, kept_because: str = "") -> Iterator[tuple[int, int, Any]]:
    """Carry out tasks.

    Args:
        kept_because: why no other process may share the work; empty if they may.

    Yields: the index of a part, the index of one of its tasks, and its result, as they come.
    Raises:
        Exception: what a task raises, in this process.
        WorkerError: the Dask cluster cannot carry them out.
    """
    work = _Work(parts)
    client = active_client()
    if kept_because:
        if client is not None:
            _LOG.warning("this process does all of the work, because %s", kept_because)
        yield from work.done_here()
    elif client is not None:
        yield from work.sent_to(partial(on_dask, client=client))
    else:
        yield from work.done_here(is_long=_is_long)
        yield from _shared_by_cores(work)
    yield from work.done_here()


def _shared_by_cores(work: "_Work") -> Iterator[tuple[int, int, Any]]:
    """What is done by worker processes; what is left when they are killed repeatedly stays undone."""
    most = 1 if multiprocessing.current_process().daemon else n_cores()
    while most > 1 and work.n_left > 1:
        n_left = work.n_left
        try:
            yield from work.sent_to(partial(_on_cores, most=most))
            return
        except BrokenProcessPool:
            _LOG.warning("a worker process was killed, perhaps for its memory; its work is done again")
            if work.n_left == n_left:
                most -= 1


def _on_cores(items: Iterator[tuple[Packed, Any, Any]], most: int) -> Iterator[tuple[Hashable, Any]]:
    """As many workers as there are cores, if there is memory; nothing is done where there is no room for two."""
    first = next(items, None)
    if first is None:
        return
    room = room_for(first[0].size)
    n_workers = most if room is None else min(most, room)
    if n_workers > 1:
        yield from on_cores(chain([first], items), n_workers)


def _is_long(seconds: Sequence[float], n_left: int) -> bool:
    """Whether the rest is worth worker processes, by what tasks have taken; the first of them loads a cluster, too."""
    if n_cores() == 1 or n_left <= 1:
        return False
    is_known = len(seconds) > 1 or seconds[0] > _LONG_SECONDS
    return is_known and min(seconds) * n_left > _WORTH_SECONDS


class _Work:
    """The tasks of some parts, and which of them are done.

    Attributes:
        n_left: how many tasks may be sent to workers.
    """

    def __init__(self, parts: Sequence[TaskGroup]) -> None:
        self._parts = parts
        self._left = [dict.fromkeys(range(len(part.tasks))) for part in parts]
        self._for_here: set[tuple[int, int]] = set()
        self._kept = set[int]()

    @property
    def n_left(self) -> int:
        n_kept = sum(len(self._left[i]) for i in self._kept)
        n_failed = sum(i not in self._kept for i, _ in self._for_here)
        return sum(map(len, self._left)) - n_kept - n_failed

    def done_here(
        self, is_long: Callable[[Sequence[float], int], bool] | None = None
    ) -> Iterator[tuple[int, int, Any]]:
        """Carry out what is left in this process.

        Args:
            is_long: called with the seconds of the tasks so far, and how many are left; true leaves the rest.
        """
        seconds: list[float] = []
        for i, part in enumerate(self._parts):
            if not self._left[i]:
                continue
            runner = part.runner()
            try:
                for j in [*self._left[i]]:
                    began = perf_counter()
                    result = runner(part.tasks[j])
                    seconds.append(perf_counter() - began)
                    self._note(i, j)
                    yield i, j, result
                    if is_long is not None and is_long(seconds, self.n_left):
                        return
            finally:
                runner.close()

    def sent_to(
        self, workers: Callable[[Iterator[tuple[Packed, Any, Any]]], Iterator[tuple[Any, Any]]]
    ) -> Iterator[tuple[int, int, Any]]:
        """Carry out what is left with workers; what fails there is left for this process."""
        for (i, j), result in workers(self._items()):
            if isinstance(result, Failure):
                _LOG.debug("a worker failed, and its task is done here: %s", result.why)
                self._for_here.add((i, j))
                continue
            self._note(i, j)
            yield i, j, result

    def _note(self, i: int, j: int) -> None:
        del self._left[i][j]
        self._for_here.discard((i, j))

    def _items(self) -> Iterator[tuple[Packed, tuple[int, int], Any]]:
        for i, part in enumerate(self._parts):
            left = [j for j in self._left[i] if (i, j) not in self._for_here]
            if not left or i in self._kept:
                continue
            try:
                content = packed(part.runner())
            except Exception as error:  # noqa: BLE001 - what a user's plugin holds may raise anything when it is pickled
                _LOG.warning("this process does all of the work, because a plugin cannot be sent: %s", error)
                self._kept.add(i)
                continue
            for j in left:
                yield content, (i, j), part.tasks[j]
