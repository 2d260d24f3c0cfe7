"""Pauses the cyclic garbage collector while a hundred thousand objects are decoded, or made by a simulation."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_FULL_AFTER: Final = 100_000  # objects; a full collection looks at all objects of a program
_WORTH_MOVING: Final = 1_000  # new objects
_FROZEN_AT_START: Final = gc.get_freeze_count()  # by Python 3.12 itself
_made_old = 0  # objects that the collector's own counts have lost, since the start
_old_since_full = 0  # of these
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
    old, young = _made_old, gc.get_count()[0]
    try:
        yield
    finally:
        n_new = _made_old - old + gc.get_count()[0] - young
        if is_kept and n_new >= _WORTH_MOVING and not _is_frozen(n_new):
            _make_old()
        if was_enabled:
            _collect_after(_made_old - old)
            gc.enable()


def collect_young() -> None:
    """Free the cycles among the newest objects of a long block, without a look at the others."""
    global _made_old
    _made_old += gc.get_count()[0] - gc.collect(0)


def _make_old() -> None:
    """Move all objects into the oldest generation, mostly unseen."""
    global _made_old
    _made_old += gc.get_count()[0]
    gc.freeze()
    gc.unfreeze()


def _collect_after(n_old: int) -> None:
    """Collect fully after a number of objects.

    To freeze, and to collect the youngest, resets the collector's own counts. With that alone, a program that loads
    cluster after cluster would never see a full collection, and dead simulators, which are cyclic, would pile up. A
    full collection for each load would cost a program with a large heap more than the loads themselves.
    """
    global _old_since_full  # of the process, as the collector is
    _old_since_full += n_old
    if _old_since_full >= _FULL_AFTER:
        _old_since_full = 0
        gc.collect()


def _is_frozen(n_new: int) -> bool:
    """Whether somebody has frozen objects, which would thaw. To count them is to look at each, so what was frozen is
    taken to stay so for a while.
    """
    global _new_until_count
    _new_until_count -= n_new
    if _new_until_count > 0:
        return True
    is_frozen = gc.get_freeze_count() > _FROZEN_AT_START
    _new_until_count = _FULL_AFTER if is_frozen else 0
    return is_frozen
