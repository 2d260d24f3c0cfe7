"""Returns free memory to the system, which the C library would otherwise keep for the next large body."""

import ctypes
from functools import cache
from typing import Any

__all__ = ["give_free_memory_back"]


def give_free_memory_back() -> None:
    """Call glibc's `malloc_trim`, which takes milliseconds; with another C library, do nothing."""
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # TypeError: Windows requires a name
        return None
