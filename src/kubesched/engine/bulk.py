"""Pauses the cyclic garbage collector while a hundred thousand objects are decoded."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

__all__ = ["paused_gc"]

_FULL_EVERY: Final = 4
_WORTH_MOVING: Final = 20_000  # new objects; to look at fewer costs less than to look at a program's whole heap
_kept_pauses: Final = count(1)
_FROZEN_AT_START: Final = gc.get_freeze_count()  # by Python 3.12 itself


@contextmanager
def paused_gc(*, is_kept: bool = False) -> Iterator[None]:
    """Switch the cyclic collector off inside the block: it rescans every new object, at 3-8 times the cost.

    Args:
        is_kept: what is made in the block stays, as a loaded cluster does, and counts as old afterwards: the next small
            collection does not look through all of it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    before = gc.get_count()[0]
    try:
        yield
    finally:
        if was_enabled:
            if is_kept and gc.get_count()[0] - before >= _WORTH_MOVING:
                _make_old()
            gc.enable()


def _make_old() -> None:
    """Move all objects into the oldest generation, mostly unseen; not where somebody has frozen some: they would thaw.

    To freeze resets the collector's own counts. With that alone, a program that loads cluster after cluster would never
    see a full collection, and dead simulators, which are cyclic, would pile up.
    """
    if gc.get_freeze_count() > _FROZEN_AT_START:
        return
    if next(_kept_pauses) % _FULL_EVERY == 0:
        gc.collect()
    else:
        gc.freeze()
        gc.unfreeze()
