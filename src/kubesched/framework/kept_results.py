"""The results of filters that pods with equal parts share, until a row changes.

A pod that fits nowhere changes no row. So where a thousand equal pods are tried one after another, the filters, what
they say in words, and what PostFilter plugins find out, are the same for all of them.
"""

from collections.abc import Sequence
from typing import Final

from kubesched.engine import ChangeLog
from kubesched.framework.column_cache import KeptColumn
from kubesched.framework.verdicts import FilterResult
from kubesched.state import Nodes

_MOST: Final = 16


class KeptResults:
    """Results of one profile by the columns that they are made of.

    Args:
        logs: the changes that make columns stale. With the first of them all results go.
    """

    def __init__(self, logs: Sequence[ChangeLog]) -> None:
        self._logs = logs
        self._generations: list[int] = []
        self._results: dict[tuple[object, ...], FilterResult] = {}

    def __len__(self) -> int:
        return len(self._results)

    def find(self, columns: Sequence[KeptColumn], nodes: Nodes) -> FilterResult | None:
        """The result that an equal pod got on the same rows; None if there is none.

        Args:
            columns: all that it depends on, in the order of the filters.
        """
        if self._generations != self._generations_now():
            self._results.clear()
            return None
        known = self._results.get(tuple(columns))
        return known if known is not None and known.nodes is nodes else None

    def keep(self, result: FilterResult) -> None:
        """Have equal pods get a result, if it depends on columns alone."""
        if result.columns is None or result.compiled is not None:
            return
        now = self._generations_now()
        if self._generations != now:
            self._generations = now
            self._results.clear()
        elif len(self._results) >= _MOST:
            del self._results[next(iter(self._results))]
        result.compiled = {}
        self._results[tuple(result.columns)] = result

    def _generations_now(self) -> list[int]:
        return [log.generation for log in self._logs]
