"""Suggests the word that was meant where a name is spelt wrong."""

import difflib
import json
from collections.abc import Iterable


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
