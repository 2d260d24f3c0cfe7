"""Returns free memory to the system, which glibc would otherwise keep for the next large body."""

import ctypes
from functools import cache
from typing import Any, Final

_M_MMAP_THRESHOLD: Final = -3
_LARGE: Final = 2**20  # bytes


def map_large_blocks() -> None:
    """Have glibc map each block of 1 MiB or more by itself, so that it is returned when it is freed.

    By default the size from which on this happens grows up to 32 MiB with the blocks that are freed. Then the body of a
    list leaves a hole in the heap, which fills with small blocks that live longer. With another C library, do nothing.
    """
    mallopt = _function("mallopt")
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)


def give_free_memory_back() -> None:
    """Call glibc's `malloc_trim`, which takes milliseconds; with another C library, do nothing."""
    trim = _function("malloc_trim")
    if trim is not None:
        trim(0)


@cache
def _function(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):  # TypeError: Windows requires a name
        return None
