"""Runs the queue sort plugin for the queue: whatever the plugin does, the heaps of the queue stay heaps.

A pod for which the plugin fails comes first, so that its attempt ends at once, as an error. Keys that cannot be
compared with each other are not one pod's fault: such pods are tried in the order in which the queue got them, after
the others.
"""

from typing import Any, Final

import numpy as np

from kubesched.framework import HOOK_FAULTS, Framework, Plugin, Status, answer_text, fault, located_line
from kubesched.queue import QueuedPodInfo


class QueueOrder:
    """The order of pods in the queue.

    Attributes:
        has_key: whether the plugin sorts by `sort_key`; else by `less`.
    """

    def __init__(self, framework: Framework) -> None:
        plugin: Plugin = framework.profile.points["queueSort"][0]
        self.has_key = plugin.defines("sort_key")
        self._hook: Any = plugin.sort_key if self.has_key else plugin.less
        self._name = plugin.name
        self._handle = framework.handle
        self._example: tuple[Any, ...] | None = None
        self._types: list[type] = []
        self.is_asked = False  # whether the hook runs now, while a heap is being changed

    def fault_of(self, queued: QueuedPodInfo) -> Status | None:
        """Why a pod that was popped had no place in the order; forgotten once it is returned."""
        return queued.sort_faults.pop() if queued.sort_faults else None

    def sort_key(self, queued: QueuedPodInfo) -> Any:
        """The plugin's key, or a substitute."""
        try:
            key = self._ask(queued)
            if not isinstance(key, tuple):
                raise TypeError(f"sort_key must return a tuple; found {answer_text(key)}")
        except HOOK_FAULTS as error:
            self._blame(queued, error)
            return _FOREMOST
        queued.sort_faults.clear()
        if self._example is None:
            self._example, self._types = key, [*map(type, key)]
        elif [*map(type, key)] != self._types and not _are_comparable(key, self._example):
            self._handle.logger.warning(
                "QueueSort plugin %s: cannot compare %s with %s",
                self._name,
                answer_text(key),
                answer_text(self._example),
            )
            return _LooseKey(key)
        return key

    def less(self, a: QueuedPodInfo, b: QueuedPodInfo) -> bool:
        """The plugin's answer; false where it has none."""
        try:
            return self._asked(a, b)
        except HOOK_FAULTS as error:
            self._handle.logger.warning("QueueSort plugin %s: %s", self._name, located_line(error))
        for queued in (a, b):
            try:
                self._asked(queued, queued)
            except HOOK_FAULTS as error:
                self._blame(queued, error)
        return False

    def _asked(self, a: QueuedPodInfo, b: QueuedPodInfo) -> bool:
        answer = self._ask(a, b)
        if not isinstance(answer, bool | np.bool_):
            raise TypeError(f"less must return a bool; found {answer_text(answer)}")
        return bool(answer)

    def _ask(self, *queued: QueuedPodInfo) -> Any:
        self.is_asked = True
        try:
            return self._hook(*queued)
        finally:
            self.is_asked = False

    def _blame(self, queued: QueuedPodInfo, error: BaseException) -> None:
        queued.sort_faults[:] = [fault(f'running QueueSort plugin "{self._name}"', error).by(self._name)]


class _Foremost:
    """A key before all others."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return True

    def __gt__(self, other: object) -> bool:
        return False


_FOREMOST: Final = _Foremost()


class _LooseKey:
    """A key that gives way where it cannot be compared."""

    __slots__ = ("_key",)

    def __init__(self, key: tuple[Any, ...]) -> None:
        self._key = key

    def __lt__(self, other: object) -> bool:
        theirs = other._key if isinstance(other, _LooseKey) else other
        return isinstance(theirs, tuple) and _are_comparable(self._key, theirs) and self._key < theirs

    def __gt__(self, other: object) -> bool:
        theirs = other._key if isinstance(other, _LooseKey) else other
        return not isinstance(theirs, tuple) or not _are_comparable(self._key, theirs) or self._key > theirs


def _are_comparable(mine: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """Whether no pair of elements refuses to be compared."""
    try:
        for a, b in zip(mine, theirs, strict=False):
            bool(a < b)
    except HOOK_FAULTS:
        return False
    return True
