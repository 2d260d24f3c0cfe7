"""Where text for people goes: colours on a terminal, plain text elsewhere, NO_COLOR honoured."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["text_console"]

_PIPE_WIDTH: Final = 120


@contextmanager
def text_console() -> Iterator["Console"]:
    """A console on standard output; what was printed to it is there when the block ends.

    Text is printed as it is: names and reasons may hold brackets that would pass for markup. In a pipe lines are as
    long as COLUMNS says, else 120 characters, and end without blanks.
    """
    from rich.console import Console

    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _PIPE_WIDTH
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    if console.is_terminal:
        yield console
        return
    with console.capture() as captured:
        yield console
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
