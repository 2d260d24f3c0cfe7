"""Short names for nodes whose names all end in the same domain."""

from collections.abc import Iterable

__all__ = ["common_domain"]


def common_domain(names: Iterable[str]) -> str:
    """The end that all names share, from their first dot on, such as `.eu-west-1.compute.internal`; else empty."""
    domains = {name.partition(".")[1] + name.partition(".")[2] for name in names}
    return domains.pop() if len(domains) == 1 else ""
