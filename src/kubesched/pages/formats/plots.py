"""Draws lines over time as SVG inside of a page: no script, no network."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from kubesched.documents import escape_controls
from kubesched.pages.formats.durations import time_words
from kubesched.pages.formats.model import Plot

_WIDTH: Final = 760
_HEIGHT: Final = 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 10, 22
_COLOURS: Final = ("#1f4e79", "#c55a11", "#548235", "#7f6000", "#7030a0", "#808080")


def plot_lines(plot: Plot) -> Iterator[str]:
    """A plot as lines of HTML; nothing where nothing was measured."""
    values = [value for line in plot.lines.values() for value in line if value is not None]
    if not values:
        return
    top = 1.0 if plot.is_share and max(values) <= 1 else max(values) or 1.0
    yield f"<figure><figcaption>{_text(plot.title)}</figcaption>"
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{_text(plot.title)}" width="100%">'
    for share in (0.0, 0.5, 1.0):
        y = _y(share)
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="currentColor" stroke-opacity=".2"/>'
        yield _label(_LEFT - 6, y + 4, "end", _amount(share * top, is_share=plot.is_share))
    begin, end = plot.times[0], plot.times[-1]
    yield _label(_LEFT, _HEIGHT - 4, "start", time_words(begin))
    yield _label(_WIDTH - _RIGHT, _HEIGHT - 4, "end", time_words(end))
    for i, line in enumerate(plot.lines.values()):
        colour = _COLOURS[i % len(_COLOURS)]
        for points in _pieces(plot.times, line, top):
            yield f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>'
    yield "</svg>"
    names = (
        f'<span style="color:{_COLOURS[i % len(_COLOURS)]}">&#9632; {_text(name)}</span>'
        for i, name in enumerate(plot.lines)
    )
    yield f"<p>{' '.join(names)}</p></figure>"


def _pieces(times: Sequence[float], line: Sequence[float | None], top: float) -> Iterator[str]:
    """The points of each stretch without a gap."""
    begin, span = times[0], (times[-1] - times[0]) or 1.0
    piece: list[str] = []
    for time, value in zip(times, line, strict=True):
        if value is None:
            if piece:
                yield " ".join(piece)
            piece = []
        else:
            x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * (time - begin) / span
            piece.append(f"{x:.1f},{_y(value / top):.1f}")
    if piece:
        yield " ".join(piece)


def _y(share: float) -> float:
    return round(_TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - share), 1)


def _label(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x}" y="{y}" font-size="11" text-anchor="{anchor}" fill="currentColor">{_text(text)}</text>'


def _amount(value: float, *, is_share: bool) -> str:
    return f"{value:.0%}" if is_share else f"{value:,.4g}"


def _text(text: str) -> str:
    return escape(escape_controls(text))
