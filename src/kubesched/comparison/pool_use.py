"""The nodes of each pool: how many are in use with each side, and what they cost."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec


class PoolUse(NamedTuple):
    """Some nodes of a pool: how many there are, what those with a price cost in an hour, and how many have none."""

    n_nodes: int = 0
    price: float = 0.0
    n_unpriced: int = 0

    @property
    def known_price(self) -> float | None:
        """What those with a price cost; None where there are nodes, and none has a price."""
        return None if self.n_nodes and self.n_unpriced == self.n_nodes else round(self.price, 6)

    @staticmethod
    def together(uses: "Mapping[str, PoolUse]") -> "PoolUse":
        """Those of all pools."""
        return PoolUse(*map(sum, zip(*uses.values(), strict=True)))


class PoolChange(msgspec.Struct, frozen=True, rename="camel"):
    """The nodes in use of a pool, in a run of each side with the median of all nodes in use.

    Attributes:
        pool: empty for the nodes without a pool, and for all nodes together.
        n_nodes: how many nodes it has.
        a, b: how many of them are in use.
        price_a, price_b: what these cost in an hour; None where none of them has a price.
        price: the same of all its nodes.
        unpriced, unpriced_a, unpriced_b: how many of them have no price, and are in no sum.
    """

    pool: str
    n_nodes: int
    a: int
    b: int
    price_a: float | None = None
    price_b: float | None = None
    price: float | None = None
    unpriced: int = 0
    unpriced_a: int = 0
    unpriced_b: int = 0


def pool_changes(
    every: Mapping[str, PoolUse], a: Mapping[str, PoolUse], b: Mapping[str, PoolUse]
) -> Iterator[PoolChange]:
    """The change of each pool, in alphabetical order; nothing where the nodes have no pools.

    Args:
        every: all nodes.
        a, b: those in use with each side.
    """
    has_prices = _has_prices(every)
    for pool in sorted(every) if any(every) else ():
        yield _change(pool, every[pool], a.get(pool, PoolUse()), b.get(pool, PoolUse()), has_prices=has_prices)


def change_of_all(every: Mapping[str, PoolUse], a: Mapping[str, PoolUse], b: Mapping[str, PoolUse]) -> PoolChange:
    """All pools as one."""
    return _change("", *map(PoolUse.together, (every, a, b)), has_prices=_has_prices(every))


def _has_prices(every: Mapping[str, PoolUse]) -> bool:
    return any(use.n_unpriced < use.n_nodes for use in every.values())


def _change(pool: str, every: PoolUse, a: PoolUse, b: PoolUse, *, has_prices: bool) -> PoolChange:
    change = PoolChange(pool, every.n_nodes, a.n_nodes, b.n_nodes)
    if not has_prices:
        return change
    prices = {"price": every.known_price, "price_a": a.known_price, "price_b": b.known_price}
    unpriced = {"unpriced": every.n_unpriced, "unpriced_a": a.n_unpriced, "unpriced_b": b.n_unpriced}
    return msgspec.structs.replace(change, **prices, **unpriced)
