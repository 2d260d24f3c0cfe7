"""Words of a sentence: counts, lists of names, and the word that was meant where a name is spelt wrong."""

import difflib
import json
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


def did_you_mean(wrong: str, allowed: Iterable[str], likeness: float = 0.6) -> str:
    """`did you mean "x"?` for the nearest allowed word, or nothing where none is near. Case does not count.

    Args:
        likeness: how near a word has to be, from 0 to 1 for the same word.
    """
    by_lower = {word.lower(): word for word in allowed}
    near = difflib.get_close_matches(wrong.lower(), by_lower, n=1, cutoff=likeness)
    return meant(by_lower[word] for word in near)


def meant(words: Iterable[str], n_more: int = 0) -> str:
    """`did you mean "x" or "y" or one of 2 more?`; empty without words."""
    shown = [*map(quoted, words), *([f"one of {n_more} more"] if n_more > 0 else [])]
    return f"did you mean {' or '.join(shown)}?" if shown else ""


def quoted(text: str) -> str:
    """The text in double quotes, as Go's %q writes it."""
    return json.dumps(text, ensure_ascii=False)
