"""Which rows changed since when: the memory by which a cached column is brought up to date instead of computed anew."""

__all__ = ["ChangeLog"]


class ChangeLog:
    """An append-only list of changed rows, cut at the front. A generation is a place in it.

    Attributes:
        generation: the number of changes so far.
    """

    __slots__ = ("_limit", "_rows", "_start", "generation")

    def __init__(self, limit: int = 1024) -> None:
        self.generation = 0
        self._rows: list[int] = []
        self._start = 0  # the generation of the first kept change
        self._limit = limit

    def record(self, row: int) -> None:
        """Remember that a row changed."""
        self._rows.append(row)
        self.generation += 1
        if len(self._rows) > 2 * self._limit:
            cut = len(self._rows) - self._limit
            del self._rows[:cut]
            self._start += cut

    def keep(self, limit: int) -> None:
        """Keep at least this many changes from now on."""
        self._limit = max(limit, self._limit)

    def since(self, generation: int) -> list[int] | None:
        """The distinct rows that changed after a generation, ascending; None when the log begins later."""
        if generation < self._start:
            return None
        rows = self._rows[generation - self._start :]
        return rows if len(rows) < 2 else sorted(set(rows))
