"""Makes the columns of a table as wide as a terminal allows, and folds their texts.

Where a table is too wide, its texts are folded between words. If that is not enough, headings are broken into lines,
then bars go, then columns go from the right. A word is broken only if the columns together have no room for it.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from kubesched.pages.formats.model import Align, Cell, Column

_BAR: Final = 10
_GAP: Final = 3
_EDGES: Final = 2
_LONGEST: Final = (48, 24, 12)  # longer texts are folded, in narrow terminals earlier; before bars go only the longest
_NARROWEST: Final = 12  # where a column would go otherwise
_FEWEST: Final = 2
_HEADING: Final = 14  # as long as a broken heading should be
_HEADING_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])\s?|[A-Z]?[^A-Z\s]+\s?|\s+")
_WORDS: Final = re.compile(r"(?:^[-+] )?\S+")  # a mark stays with its word
_BREAKS: Final = re.compile(r".*[-/=,.:_]", re.DOTALL)


class Fitting(NamedTuple):
    """What of a table fits.

    Attributes:
        n_shown: how many columns, from the left.
        widths: of each column, without the gap; None for as wide as their texts.
    """

    n_shown: int
    has_bars: bool
    widths: Sequence[int] | None


def fitting(columns: list[Column], cells: Sequence[Sequence[Cell]], width: int, *, wide: bool = False) -> Fitting:
    """Fit a table into a width; if needed, headings are broken, in place.

    Args:
        wide: whether all columns are shown in any case, with their bars.
    """
    room = width - _EDGES + _GAP
    n = len(columns)
    whole = _whole(columns, cells, has_bars=True)
    if sum(whole) <= room:
        return Fitting(n, True, None)
    if not wide and sum(_folded_to(_LONGEST[0], columns, cells, whole)) > room:
        columns[:] = [msgspec.structs.replace(column, heading=_broken(column.heading)) for column in columns]
        whole = _whole(columns, cells, has_bars=True)
    has_bars = wide or sum(_folded_to(_LONGEST[0], columns, cells, whole)) <= room
    if not has_bars:
        whole = _whole(columns, cells, has_bars=False)
    narrow = _folded_to(_NARROWEST, columns, cells, whole)  # the words of texts are broken, but no name of a node
    least = [
        min(width, _NARROWEST + _GAP) if column.align is Align.TEXT and not any(row[i].bar for row in cells) else width
        for i, (column, width) in enumerate(zip(columns, narrow, strict=True))
    ]
    while not wide and n > _FEWEST and sum(least[:n]) > room:
        n -= 1
    if wide and sum(least) > room:
        return Fitting(n, True, None)
    widths = least[:n]
    for longest in reversed(_LONGEST):
        widths = _spread(widths, _folded_to(longest, columns, cells, whole)[:n], room)
    return Fitting(n, has_bars, [width - _GAP for width in _spread(widths, whole[:n], room)])


def _folded_to(
    longest: int, columns: Sequence[Column], cells: Sequence[Sequence[Cell]], whole: Sequence[int]
) -> list[int]:
    """The width of each column, with its gap, if longer texts are folded without breaking a word."""
    widths = []
    for i, column in enumerate(columns):
        if column.align is Align.NUMBER or any(row[i].bar for row in cells):
            widths.append(whole[i])
            continue
        texts = (*column.heading.splitlines(), *(row[i].text for row in cells))
        word = max((len(word) for text in texts for word in _WORDS.findall(text)), default=0)
        widths.append(min(whole[i], max(longest, word) + _GAP))
    return widths


def _whole(columns: Sequence[Column], cells: Sequence[Sequence[Cell]], *, has_bars: bool) -> list[int]:
    """The width of each column whose texts are not folded, with its gap."""
    widths = []
    for i, column in enumerate(columns):
        texts = (cell_text(row[i], has_bars=has_bars, ascii_only=True) for row in cells)
        lines = [*column.heading.splitlines(), *(line for text in texts for line in text.splitlines())]
        widths.append(max(map(len, lines), default=0) + _GAP)
    return widths


def _spread(least: Sequence[int], wanted: Sequence[int], room: int) -> list[int]:
    """The widths of columns that share some room: those that lack most get what is left."""
    widths = list(least)
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    while sum(widths) < room:
        lacking = [most - width for most, width in zip(wanted, widths, strict=True)]
        if max(lacking) <= 0:
            break
        widths[lacking.index(max(lacking))] += 1
    return widths


def _broken(heading: str) -> str:
    """The heading in lines of few characters, broken between words and in names of plugins before capitals."""
    lines = [""]
    for word in _HEADING_WORDS.findall(heading):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > _HEADING:
            lines.append("")
        lines[-1] += word
    return "\n".join(line.strip() for line in lines)


def fold(text: str, width: int) -> str:
    """The text in lines of a width, broken between words; in longer words after punctuation, if it has any."""
    return "\n".join(folded for line in text.split("\n") for folded in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    lines = [""]
    for whole_word in _WORDS.findall(line):
        word = whole_word
        if lines[-1] and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
            continue
        while len(word) > width:
            found = _BREAKS.match(word[2:width])
            cut = 2 + found.end() if found else width
            lines.append(word[:cut])
            word = word[cut:]
        lines.append(word)
    return [line for line in lines if line]


def cell_text(cell: Cell, *, has_bars: bool, ascii_only: bool) -> str:
    """What a cell shows."""
    if cell.bar is None or not has_bars:
        return cell.text
    return f"{_bar(*cell.bar, ascii_only=ascii_only)} {cell.text}"


def _bar(before: float, after: float, *, ascii_only: bool) -> str:
    """What both have in full blocks, the difference in grey ones."""
    full, new, rest = "#+." if ascii_only else "█▒·"
    low, high = sorted(min(_BAR, max(0, round(share * _BAR))) for share in (before, after))
    return full * low + new * (high - low) + rest * (_BAR - high)
