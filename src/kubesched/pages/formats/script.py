"""The end of a report as text to paste into a terminal: sentences are comments, and commands are as they are."""

from itertools import chain
from textwrap import wrap
from typing import Final

from kubesched.pages.formats.model import Level, Page, Paragraph, Part, Table

_WIDTH: Final = 110
_ZSH: Final = 'test -z "${ZSH_VERSION-}" || setopt interactive_comments'
"""Has zsh take comments at its prompt, as other shells do."""


def as_script(page: Page) -> str:
    """The verdict, which version decided, what the report does not model, and the appendix."""
    parts = (page.verdict, *map(Paragraph, page.closing), *page.appendix)
    return "\n".join([_ZSH, *chain.from_iterable(map(_lines, parts))])


def _lines(part: Part) -> list[str]:
    if isinstance(part, Table):
        return []
    if part.is_code:
        return [part.text]
    comments = [f"# {line}" for line in wrap(part.text, _WIDTH, break_on_hyphens=False)]
    return ["", *comments] if part.level is Level.HEADING else comments
