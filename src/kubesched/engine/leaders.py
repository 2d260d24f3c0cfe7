"""The highest of many integers, kept in order while single ones change: no look at all of them for each change."""

from bisect import bisect_left, insort
from typing import Final

import numpy as np

from kubesched.engine.growing_columns import IntVector

_MOST: Final = 256  # kept in order: one look at all values finds so many
_BITS: Final = 32  # of a position in a key
_POSITION: Final = (1 << _BITS) - 1
_LOWEST: Final = -(2**63)


def first_leaders(values: IntVector, n: int) -> list[int]:
    """The positions of the n highest values, or of all where there are fewer; of equal ones the first comes first."""
    left = values.copy()
    positions = []
    for _ in range(min(n, len(left))):
        position = int(left.argmax())
        positions.append(position)
        left[position] = _LOWEST
    return positions


class Leaders:
    """Integers, of which the highest are known.

    Some of the highest are kept as sorted keys, each made of the value and the position. All other keys come after the
    last of these, so that a value that changes enters or leaves them by its key alone.

    Args:
        values: (n,) int64 within 31 bits; changed by `set` from now on.
    """

    __slots__ = ("_keys", "_last", "values")

    def __init__(self, values: IntVector) -> None:
        self.values = values
        self._keys: list[int] = []
        self._last: int | None = None  # the key after which the unknown ones come; None: not looked at yet

    def set(self, position: int, value: int) -> None:
        """Change one value."""
        if self._last is not None:
            old = position - (self.values.item(position) << _BITS)
            new = position - (value << _BITS)
            if old <= self._last:
                del self._keys[bisect_left(self._keys, old)]
            if new <= self._last:
                insort(self._keys, new)
        self.values[position] = value

    def first(self, n: int) -> list[int]:
        """As `first_leaders`, for a small n."""
        keys = self._keys
        if len(keys) < n and len(keys) < len(self.values):
            keys = self._look()
        return [key & _POSITION for key in keys[:n]]

    def ties(self) -> list[int] | None:
        """The positions of the highest value, ascending; None where some of them may not be known."""
        keys = self._keys or self._look()
        end = bisect_left(keys, (keys[0] | _POSITION) + 1)
        return None if end == len(keys) < len(self.values) else [key & _POSITION for key in keys[:end]]

    def without(self, position: int) -> "Leaders":
        """The same values without one of them; later ones move up."""
        left = Leaders(np.delete(self.values, position))
        if self._last is not None:
            own = position - (self.values.item(position) << _BITS)
            left._keys = [key - (key & _POSITION > position) for key in self._keys if key != own]
            left._last = self._last - (self._last & _POSITION >= position)
        return left

    def _look(self) -> list[int]:
        """Find the highest again."""
        keys = np.arange(len(self.values)) - (self.values << _BITS)
        if len(keys) > _MOST:
            keys = np.partition(keys, _MOST)[:_MOST]
        self._keys = sorted(keys.tolist())
        self._last = self._keys[-1]
        return self._keys
