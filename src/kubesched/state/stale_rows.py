"""The rows that a relation has to check again: marked ones, and those whose node object changed."""

from kubesched.state.columns import NodeColumns


class StaleRows:
    """A set of rows that is emptied when it is read; all rows at first."""

    def __init__(self, columns: NodeColumns) -> None:
        self._columns = columns
        self._generation = 0
        self._rows: set[int] = set()
        self._all = True

    def mark(self, row: int) -> None:
        """Something about the row changed."""
        self._rows.add(row)

    def mark_name(self, name: str) -> None:
        """Something about the node of this name changed; unknown names are ignored."""
        row = self._columns.row_of.get(name)
        if row is not None:
            self._rows.add(row)

    def mark_all(self) -> None:
        """Something about every row changed."""
        self._all = True

    def take(self) -> list[int]:
        """The rows that changed since the last call, free ones among them, ascending."""
        log = self._columns.node_log
        if not self._rows and not self._all and log.generation == self._generation:
            return []
        changed = log.since(self._generation)
        self._generation = log.generation
        if self._all or changed is None:
            rows = list(range(self._columns.n_rows))
        else:
            rows = sorted(self._rows.union(changed))
        self._rows.clear()
        self._all = False
        return rows
