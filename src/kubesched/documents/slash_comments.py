"""Finds `//` and `/* */`, the comments of other languages, where they break a YAML or JSON text."""

import re
from typing import Final

_COMMENT: Final = re.compile(r"(?:^|[\s,{\[])(//|/\*)")
_STRINGS: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_MAX_ABOVE: Final = 3  # lines: a comment is often read as the beginning of the next line


def advice_on_comments(text: str | bytes, line: int, *, is_json: bool = False) -> str:
    """What to do about a comment on the line of a syntax error, or close above it; empty if there is none.

    Args:
        line: of the error, from 1.

    Example:
        assert advice_on_comments("// b", 1) == "line 1: comments in YAML begin with #, not with //"
    """
    lines = (text if isinstance(text, str) else text.decode(errors="replace")).split("\n")
    for number in range(min(line, len(lines)), max(line - _MAX_ABOVE, 1) - 1, -1):
        if found := _COMMENT.search(_STRINGS.sub('""', lines[number - 1])):
            words = "JSON has no comments; remove" if is_json else "comments in YAML begin with #, not with"
            return f"line {number}: {words} {found[1]}"
    return ""
