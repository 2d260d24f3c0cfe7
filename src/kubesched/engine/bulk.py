"""Pauses the cyclic garbage collector while a hundred thousand objects are decoded."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_FULL_AFTER: Final = 100_000  # new objects; a full collection looks at all objects of a program
_WORTH_MOVING: Final = 1_000  # new objects
_FROZEN_AT_START: Final = gc.get_freeze_count()  # by Python 3.12 itself
_new_since_full = 0
_new_until_count = 0


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
        n_new = gc.get_count()[0] - before
        if is_kept and n_new >= _WORTH_MOVING:
            _make_old(n_new, may_collect=was_enabled)
        if was_enabled:
            gc.enable()


def _make_old(n_new: int, *, may_collect: bool) -> None:
    """Move all objects into the oldest generation, mostly unseen; not where somebody has frozen some: they would thaw.

    To freeze resets the collector's own counts. With that alone, a program that loads cluster after cluster would never
    see a full collection, and dead simulators, which are cyclic, would pile up. A full collection for each load would
    cost a program with a large heap more than the loads themselves.

    Args:
        may_collect: false where the collector rests, as in a block within a block: then the objects are moved only, and
            do not count towards the next full collection.
    """
    global _new_since_full  # of the process, as the collector is
    if _is_frozen(n_new):
        return
    if may_collect:
        _new_since_full += n_new
        if _new_since_full >= _FULL_AFTER:
            _new_since_full = 0
            gc.collect()
            return
    gc.freeze()
    gc.unfreeze()


def _is_frozen(n_new: int) -> bool:
    """Whether somebody has frozen objects. To count them is to look at each, so what was frozen is taken to stay so for
    a while.
    """
    global _new_until_count
    _new_until_count -= n_new
    if _new_until_count > 0:
        return True
    is_frozen = gc.get_freeze_count() > _FROZEN_AT_START
    _new_until_count = _FULL_AFTER if is_frozen else 0
    return is_frozen
