"""Characters that control a terminal, as escapes: names, reasons and answers of servers may hold them."""

import re
from collections.abc import Callable
from typing import Final

__all__ = ["escape_controls", "replace_controls"]

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, ends of lines and directions of Unicode, and halves of surrogates, which no file can hold."""


def escape_controls(text: str) -> str:
    r"""Text whose control characters are escapes, such as `\x1b`; tabulators and ends of lines stay."""
    return replace_controls(text, lambda control: repr(control)[1:-1])


def replace_controls(text: str, by: Callable[[str], str]) -> str:
    """Text whose control characters are what a function makes of each; tabulators and ends of lines stay."""
    return _CONTROLS.sub(lambda control: by(control[0]), text)
