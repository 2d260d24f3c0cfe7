"""Characters that control a terminal, as escapes: names, reasons and answers of servers may hold them."""

import re
from typing import Final

__all__ = ["escape_controls"]

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, ends of lines and directions of Unicode, and halves of surrogates, which no file can hold."""


def escape_controls(text: str) -> str:
    r"""Text whose control characters are escapes, such as `\x1b`; tabulators and ends of lines stay."""
    return _CONTROLS.sub(lambda control: repr(control[0])[1:-1], text)
