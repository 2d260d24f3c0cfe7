"""Memory for large bodies: pages cost only what is written to them, and the next body reuses them.

The system gives a page when it is first written to, so announcing a size takes nothing. The first write to a page takes
microseconds, more than the copy itself. So pages of bodies that were read are kept for the next ones for a short while.
"""

import mmap
from typing import Final

_STEP: Final = 2**20  # bytes; sizes are rounded up to it, so that bodies of about one size fit into the same pages
_LARGEST_KEPT: Final = 2**25  # bytes, some 2,300 whole nodes; larger ones go back at once
_PRIVATE: Final = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


class MemoryPages:
    """Gives pages and takes them back.

    Attributes:
        spare: pages that are free, all together at most the limit.
    """

    def __init__(self, limit: int) -> None:
        """Keep at most so many bytes."""
        self.spare: list[mmap.mmap] = []
        self._limit = limit
        self._is_used = False

    def take(self, size: int) -> mmap.mmap:
        """Pages for at least so many bytes.

        Raises:
            OSError: the system has no addresses left.
        """
        self._is_used = True
        rounded = -(-size // _STEP) * _STEP
        for pages in self.spare:
            if rounded <= len(pages) <= rounded + _STEP:  # larger ones hold more memory than the body will be charged
                self.spare.remove(pages)
                return pages
        return mmap.mmap(-1, rounded, **_PRIVATE)

    def give(self, pages: mmap.mmap) -> None:
        """Take pages back that are no longer read, and keep them unless they are too many."""
        if len(pages) > _LARGEST_KEPT:
            pages.close()
            return
        self.spare.append(pages)
        while sum(map(len, self.spare)) > self._limit:
            self.spare.pop(0).close()

    def release_unused(self) -> None:
        """Give back to the system what was not needed since the last call."""
        if not self._is_used:
            while self.spare:
                self.spare.pop().close()
        self._is_used = False
