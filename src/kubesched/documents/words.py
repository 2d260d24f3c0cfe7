"""Words counts and lists of names in a sentence."""

import sys
from collections.abc import Iterable
from itertools import islice


def plural(n: int, thing: str, things: str = "") -> str:
    """The form of a noun that goes with a number: `plural(2, "pod") == "pods"`.

    Args:
        things: the other form where it does more than add an s, such as `nodes are` for `node is`.
    """
    return thing if n == 1 else things or f"{thing}s"


def count(n: int, thing: str, things: str = "") -> str:
    """A number of things: `1 pod`, `2,000 pods`.

    Args:
        things: as for `plural`.
    """
    return f"{n:,} {plural(n, thing, things)}"


def listed(names: Iterable[str], first: int = 3) -> str:
    """The first names of a list, and how many follow: `a, b, c and 2 more`.

    Args:
        first: how many to name. If only one more follows, it is named instead of counted.
    """
    named = list(names)
    if len(named) <= first + 1:
        return ", ".join(named)
    return f"{', '.join(islice(named, first))} and {len(named) - first:,} more"


def joined(words: Iterable[str], first: int = sys.maxsize) -> str:
    """Words as a sentence lists them: `a, b and c`; with a limit, many as `listed` has them.

    Args:
        first: as for `listed`.
    """
    every = list(words)
    if not 1 < len(every) <= first + 1:
        return listed(every, first)
    return f"{', '.join(every[:-1])} and {every[-1]}"
