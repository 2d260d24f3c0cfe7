"""Characters that control a terminal, turn the direction of text or are invisible, as escapes.

Names, reasons, answers of servers and files may have them. Whatever prints such text, a report, an error or a log,
prints the escapes.
"""

import re
from collections.abc import Callable
from typing import Final

_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # of terminals
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # directions and ends of lines of Unicode
    "\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"  # invisible
    "\ud800-\udfff]"  # halves of surrogates, which no file can hold
)
"""The joiners U+200C and U+200D stay: words of some languages and many emoji need them."""
_SURROGATES: Final = 0x10000  # from here on JSON writes a character as two


def escape_controls(text: str) -> str:
    r"""Text whose control characters are escapes, such as `\x1b`; tabulators and ends of lines stay."""
    return replace_controls(text, lambda control: repr(control)[1:-1])


def on_one_line(text: str) -> str:
    """Text for a comment, of which the end of a line would be the end; control characters are escapes."""
    return escape_controls(" ".join(text.split()))


def escape_in_json(text: str) -> str:
    """The same JSON without raw control characters, which are only inside of its texts."""
    return replace_controls(text, _json_escape)


def replace_controls(text: str, by: Callable[[str], str]) -> str:
    """Text whose control characters are what a function makes of each; tabulators and ends of lines stay."""
    return _CONTROLS.sub(lambda control: by(control[0]), text)


def _json_escape(control: str) -> str:
    code = ord(control)
    if code < _SURROGATES:
        return f"\\u{code:04x}"
    high, low = divmod(code - _SURROGATES, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
